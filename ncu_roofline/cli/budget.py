"""``ncu-roofline budget``: what a whole step takes, what it could take, and where the difference is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ncu_roofline.cli import figures, messages, options
from ncu_roofline.cli.output import STANDARD, Output, write_all
from ncu_roofline.cli.progress import ReadingProgress
from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from ncu_roofline.budget import Budget


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="REPORT...")
@click.option("--timeline", metavar="FILE", help="SQLite export of nsys of the whole job, with its streams and gaps.")
@click.option("--nvtx", metavar="RANGE", help="Only what was launched inside this NVTX range of the timeline.")
@click.option(
    "--launch-time", metavar="TIME", help="What a launch takes the host, such as 3 us; a timeline measures it."
)
@click.option(
    "--format", "format_", type=click.Choice(["table", "json", "markdown"]), default="table", show_default=True
)
@options.output
@click.option(
    "--top", type=click.IntRange(min=1), default=12, show_default=True, metavar="N", help="Rows that are shown."
)
@click.option("--figure", metavar="FILE", help="Also draw times against both bounds: out.svg (.png) and out-dark.svg.")
@options.of_reports
@options.session
@options.partial
@options.merge
@options.aggregate
@options.scrub
@options.scrub_kernels
@options.fail_on
@click.option("--quiet", is_flag=True, help="Leave out the progress.")
def budget(
    inputs: tuple[str, ...],
    timeline: str | None,
    nvtx: str | None,
    launch_time: str | None,
    format_: str,
    output: str | None,
    top: int,
    figure: str | None,
    scrub: bool,
    scrub_kernels: bool,
    fail_on: str,
    map_: str | None,
    quiet: bool,
    **how: Any,
) -> None:
    """Say what a whole step takes, what it could take, and where the difference is.

    The reports are ncu's, of some of the launches; the timeline is nsys's, of all of them. Without a timeline the
    serial and the aggregate bound of the launches remain.
    """
    from ncu_roofline.budget import scrubbed
    from ncu_roofline.pipeline import analyze
    from ncu_roofline.render import budget_report as render

    call = _launch_time(launch_time)
    if nvtx is not None and timeline is None:
        raise UsageError("--nvtx", nvtx, "selects activities of a timeline: give --timeline FILE")
    places = [*inputs, *filter(None, (timeline, map_, how["ceilings"], how["session"]))]
    made = messages.scrub(places, kernels=scrub_kernels) if scrub or scrub_kernels else None
    analysis = analyze(*inputs, map=map_, progress=None if quiet else ReadingProgress(made), **how)
    places += analysis.places
    try:
        found = analysis.budget(timeline, nvtx=nvtx, launch_time=call)
    except UsageError as error:
        if not scrub_kernels:
            raise
        # The names of ranges say as much as those of kernels.
        raise UsageError("--nvtx", str(nvtx), "selects nothing of the timeline") from error
    if made is not None:
        # Kernels are found by their names, which go only now.
        analysis = replace(analysis, places=tuple(places)).scrubbed(kernels=scrub_kernels)
        messages.scrub_by(analysis.scrubber)
        found = scrubbed(found, analysis.scrubber or made)
    drawn = _figures(found, figure, top) if figure is not None else []
    text = {
        "table": lambda: render.to_text(found, analysis, top),
        "json": lambda: render.to_json(found, analysis),
        "markdown": lambda: render.to_markdown(found, analysis, top),
    }[format_]()
    write_all([*drawn, Output(output or STANDARD, "--output", text)], places)
    if options.fails(analysis, fail_on):
        raise click.exceptions.Exit(options.FINDINGS_EXIT)


def _launch_time(text: str | None) -> float:
    from ncu_roofline.quantities import TIME, is_plain, read_quantity

    if text is None:
        return math.nan
    if is_plain(text):
        raise UsageError("--launch-time", text, "needs its unit, such as '3 us'")
    try:
        return read_quantity(text, TIME)
    except ValueError as error:
        raise UsageError("--launch-time", text, str(error)) from error


def _figures(found: Budget, figure: str, top: int) -> list[Output]:
    from ncu_roofline.formats import short_kernel
    from ncu_roofline.render.picture.bars import Bar, to_bars

    shown = [one for one in found.triage[:top] if one.time > 0]
    bars = [Bar(short_kernel(one.kernel, 34), one.time, one.arithmetic, one.memory) for one in shown]
    if not bars:
        raise UsageError("--figure", figure, "has nothing to draw: no launch has a time")
    title = "Time of a launch against its bounds"
    drawn = figures.light_and_dark(figure, lambda colors: to_bars(title, bars, found.call, colors))
    return [Output(name, "--figure", content) for name, content in drawn.items()]
