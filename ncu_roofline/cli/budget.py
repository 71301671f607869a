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
    from ncu_roofline.analysis import Analysis
    from ncu_roofline.arrays import BoolArray
    from ncu_roofline.render.budget_report import Budget, DeviceBound
    from ncu_roofline.timings import Timeline


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
@options.cc
@options.device
@options.ceilings
@options.peak_source
@options.map_
@options.locale
@options.conditions
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
    from ncu_roofline.pipeline import analyze
    from ncu_roofline.render import budget_report as render

    call = _launch_time(launch_time)
    places = [*inputs, *filter(None, (timeline, map_, how["ceilings"], how["session"]))]
    made = messages.scrub(places, kernels=scrub_kernels) if scrub or scrub_kernels else None
    analysis = analyze(*inputs, map=map_, progress=None if quiet else ReadingProgress(made), **how)
    found = _found(analysis, timeline, nvtx, call, top)
    if made is not None:
        known = replace(analysis, places=(*analysis.places, *places))
        found = render.scrubbed(found, known.scrubbed(kernels=scrub_kernels))
        messages.scrub_by(found.analysis.scrubber)
    drawn = _figures(found, figure) if figure is not None else []
    write_text = {"table": render.to_text, "json": render.to_json, "markdown": render.to_markdown}[format_]
    write_all([*drawn, Output(output or STANDARD, "--output", write_text(found))], (*places, *analysis.places))
    if options.fails(analysis, fail_on):
        raise click.exceptions.Exit(options.FINDINGS_EXIT)


def _found(analysis: Analysis, path: str | None, nvtx: str | None, call: float, top: int) -> Budget:
    """The bounds of a report, the steps of a timeline, and the triage of the kernels."""
    from ncu_roofline.budget import devices_apart, steps_of, triage
    from ncu_roofline.render.budget_report import Budget
    from ncu_roofline.timings import read_timeline

    if nvtx is not None and path is None:
        raise UsageError("--nvtx", nvtx, "selects activities of a timeline: give --timeline FILE")
    if path is None:
        judged = triage(analysis.columns, analysis.maps, analysis.groups(), call)
        return Budget(analysis, _bounds(analysis), None, (), judged, call, top)
    read = read_timeline(path)
    steps = steps_of(analysis.columns, analysis.maps, read, _inside(read, nvtx))
    if math.isnan(call):
        # Of several devices the host that is slowest: what is said of it is then the worst.
        call = max((one.host_time / one.launches for one in steps if one.call > 0), default=math.nan)
    judged = triage(analysis.columns, analysis.maps, analysis.groups(), call)
    apart = devices_apart(analysis.columns, read)
    return Budget(analysis, _bounds(analysis), read, steps, judged, call, top, apart)


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


def _inside(timeline: Timeline, nvtx: str | None) -> BoolArray | None:
    from ncu_roofline.launch_filter import inside_range

    if nvtx is None:
        return None
    keep = inside_range(timeline.activities["nvtx"], nvtx)
    if not keep.any():
        known = sorted({name for pairs in timeline.activities["nvtx"] for _, name in pairs or ()})
        offer = f"ranges are {', '.join(known[:8])}" if known else "the timeline has no NVTX ranges around launches"
        raise UsageError("--nvtx", nvtx, f"selects no activity; {offer}")
    return keep


def _bounds(analysis: Analysis) -> list[DeviceBound]:
    """The bound of the launches of each input and device."""
    from ncu_roofline.budget import application_bound
    from ncu_roofline.render.budget_report import DeviceBound

    columns = analysis.columns
    places = list(zip(columns["input"].tolist(), columns["device_ordinal"].tolist(), strict=True))
    found = []
    for place in dict.fromkeys(places):
        mine = (columns["input"] == place[0]) & (columns["device_ordinal"] == place[1])
        name = f"{analysis.inputs[place[0]].path}, {columns['device'][mine][0] or 'device not stated'}"
        found.append(DeviceBound(name, application_bound(columns, analysis.maps, mine), int(mine.sum())))
    return found


def _figures(found: Budget, figure: str) -> list[Output]:
    from ncu_roofline.formats import short_kernel
    from ncu_roofline.render.picture.bars import Bar, to_bars

    shown = [one for one in found.triage[: found.top] if one.time > 0]
    bars = [Bar(short_kernel(one.kernel, 34), one.time, one.arithmetic, one.memory) for one in shown]
    if not bars:
        raise UsageError("--figure", figure, "has nothing to draw: no launch has a time")
    title = "Time of a launch against its bounds"
    drawn = figures.light_and_dark(figure, lambda colors: to_bars(title, bars, found.call, colors))
    return [Output(name, "--figure", content) for name, content in drawn.items()]
