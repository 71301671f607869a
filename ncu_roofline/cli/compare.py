"""``ncu-roofline compare``: before and after, a gate for CI, and everything for a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ncu_roofline.cli import figures, messages, options
from ncu_roofline.cli.output import write
from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from ncu_roofline.comparison import Comparison, GateResult, Side
    from ncu_roofline.render.picture import Frame

_FORMATS = ("text", "json", "markdown", "junit", "sarif")
_DEFAULT_GATE: Final = "finding:error"
_SEVERITIES: Final = ("note", "warning", "error")


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="BEFORE AFTER")
@click.option("--before", "more_before", multiple=True, metavar="REPORT", help="A further report of the side before.")
@click.option("--after", "more_after", multiple=True, metavar="REPORT", help="A further report of the side after.")
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True)
@options.output
@click.option(
    "--pair", "pairs", multiple=True, metavar="REGEX=REGEX",
    help="Kernels before and after that are compared as a whole; several of them.",
)  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the N pairs that changed most.")
@click.option(
    "--fail-on", "--gate", "gates", multiple=True, metavar="GATE",
    help="Exit with 1 if it holds: time>5%, traffic.dram.bytes>1%, bound.fraction<0.7:REGEX, finding:SEVERITY, or "
    "never; several of them. Default: finding:error.",
)  # fmt: skip
@click.option("--allow-missing", is_flag=True, help="A gate without evidence passes.")
@click.option("--save-baseline", metavar="FILE", help="Write the last side as a file that stands for it later.")
@click.option("--html", metavar="FILE", help="Also write a page with both sides on one roofline.")
@click.option("--figure", metavar="FILE.svg", help="Also draw both sides on one roofline, light and dark.")
@click.option(
    "--pr-kit", metavar="DIR",
    help="Write comment.md, report.html, roofline.svg and -dark.svg, junit.xml, findings.sarif, comparison.json and "
    "baseline.json there.",
)  # fmt: skip
@click.option("--axes", metavar="LOW:HIGH,LOW:HIGH", help="Axes of figure and page in FLOP/byte and FLOP/s.")
@click.option(
    "--per-launch", is_flag=True, help="Compare each occurrence of a kernel, not all of its launches together."
)
@options.scrub
@options.scrub_kernels
@options.cc
@options.device
@options.ceilings
@options.peak_source
@options.map_
@options.locale
@options.conditions
@options.partial
@click.option("--quiet", is_flag=True, help="Leave out the findings below the table, and the progress.")
def compare(
    inputs: tuple[str, ...],
    more_before: tuple[str, ...],
    more_after: tuple[str, ...],
    format_: str,
    output: str | None,
    pairs: tuple[str, ...],
    top: int | None,
    gates: tuple[str, ...],
    allow_missing: bool,
    save_baseline: str | None,
    html: str | None,
    figure: str | None,
    pr_kit: str | None,
    axes: str | None,
    per_launch: bool,
    scrub: bool,
    scrub_kernels: bool,
    quiet: bool,
    **how: Any,
) -> None:
    """Compare two sides: is it faster, why, and what binds now.

    BEFORE and AFTER are a report, a folder of repeats, or a baseline. One side alone is for --save-baseline.
    """
    from ncu_roofline.comparison import (
        Outcome,
        judge_gates,
        scrubbed,
        scrubbed_gate,
        scrubbed_side,
        scrubber_of,
        to_json,
    )
    from ncu_roofline.pipeline import compare as compare_sides

    read = [_gate(text) for text in gates or (_DEFAULT_GATE,) if text != "never"]
    given = [_pair(text) for text in pairs]
    frame = figures.frame(axes) if axes is not None else None
    every = [*inputs, *more_before, *more_after]
    if scrub or scrub_kernels:
        messages.scrub(every, kernels=scrub_kernels)
    how |= {"per_launch": per_launch, "quiet": quiet}
    sides = _sides(inputs, more_before, more_after, single=save_baseline is not None, how=how)
    made = scrubber_of(*sides, kernels=scrub_kernels) if scrub or scrub_kernels else None
    if save_baseline is not None:
        kept = sides[-1] if made is None else scrubbed_side(sides[-1], made)
        write(to_json(kept), save_baseline, every, option="--save-baseline")
    if len(sides) == 1:
        return
    comparison = compare_sides(sides[0], sides[1], pair=given)
    results = judge_gates(comparison, read)
    if made is not None:
        # Gates and pairs name kernels as the reports do.
        comparison, results = scrubbed(comparison, made), tuple(scrubbed_gate(one, made) for one in results)
    for name, content in _files(comparison, results, html, figure, pr_kit, frame).items():
        write(content, name, every)
    write(_rendered(comparison, results, format_, top, quiet=quiet), output, every)
    bad = {Outcome.FAILED} if allow_missing else {Outcome.FAILED, Outcome.NO_EVIDENCE}
    failed = [result for result in results if result.outcome in bad]
    for result in failed:
        click.echo(f"gate {result.outcome.value}: {result.gate.text}: {result.message}", err=True)
    if failed:
        raise click.exceptions.Exit(options.FINDINGS_EXIT)


def _sides(
    inputs: tuple[str, ...],
    more_before: tuple[str, ...],
    more_after: tuple[str, ...],
    *,
    single: bool,
    how: dict[str, Any],
) -> list[Side]:
    """One or two sides, each a baseline or analysed reports."""
    if len(inputs) > 2 or (len(inputs) == 1 and not single):
        raise UsageError(
            "BEFORE AFTER", " ".join(inputs), "are two: give further repeats with --before and --after, or as a folder"
        )
    if len(inputs) == 1 and (more_before or more_after):
        return [_side([inputs[0], *more_before, *more_after], how=how)]
    more = (more_before, more_after)
    return [_side([name, *more[place]], how=how) for place, name in enumerate(inputs)]


def _side(names: list[str], *, how: dict[str, Any]) -> Side:
    from ncu_roofline.cli.progress import ReadingProgress
    from ncu_roofline.comparison import from_json, is_baseline, side_of
    from ncu_roofline.pipeline import analyze

    if any(map(is_baseline, names)):
        if len(names) > 1:
            raise UsageError("BEFORE AFTER", " ".join(names), "a baseline is a side of its own")
        return from_json(names[0])
    arguments = dict(how)
    arguments["map"] = arguments.pop("map_")
    per_launch, quiet = arguments.pop("per_launch"), arguments.pop("quiet")
    analysis = analyze(*names, progress=None if quiet else ReadingProgress(), **arguments)
    return side_of(analysis, per_launch=per_launch)


def _gate(text: str) -> Any:
    from ncu_roofline.comparison import read_gate

    return read_gate(f"finding:{text}" if text in _SEVERITIES else text)


def _pair(text: str) -> tuple[str, str]:
    import re

    before, sign, after = text.partition("=")
    try:
        re.compile(before), re.compile(after)
    except re.error as error:
        raise UsageError("--pair", text, f"is no pair of regular expressions: {error}") from error
    if not (sign and before and after):
        raise UsageError("--pair", text, "is not REGEX=REGEX")
    return before, after


def _rendered(
    comparison: Comparison, gates: tuple[GateResult, ...], format_: str, top: int | None, *, quiet: bool
) -> str:
    from ncu_roofline.render import comparison as render

    if format_ == "text":
        return render.to_text(comparison, gates, top=top, quiet=quiet)
    return {
        "json": render.to_json, "markdown": render.to_markdown, "junit": render.to_junit, "sarif": render.to_sarif,
    }[format_](comparison, gates)  # fmt: skip


def _files(
    comparison: Comparison,
    gates: tuple[GateResult, ...],
    html: str | None,
    figure: str | None,
    kit: str | None,
    frame: Frame | None,
) -> dict[str, str]:
    """Further files by their names."""
    from ncu_roofline.comparison import to_json
    from ncu_roofline.render import comparison as render

    files: dict[str, str] = {}
    if html is not None:
        files[html] = render.to_html(comparison, gates, frame)
    if figure is not None:
        path = Path(figure)
        if path.suffix.lower() != ".svg":
            raise UsageError("--figure", figure, "is no name of an SVG (out.svg)")
        files |= _drawings(comparison, path, frame)
    if kit is not None:
        folder = Path(kit)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError("--pr-kit", kit, f"cannot be made: {error.strerror}") from error
        drawings = _drawings(comparison, folder / "roofline.svg", frame)
        files |= drawings | {
            str(folder / "comment.md"): render.to_markdown(comparison, gates, picture="roofline" if drawings else None),
            str(folder / "report.html"): render.to_html(comparison, gates, frame),
            str(folder / "junit.xml"): render.to_junit(comparison, gates),
            str(folder / "findings.sarif"): render.to_sarif(comparison, gates),
            str(folder / "comparison.json"): render.to_json(comparison, gates),
            str(folder / "baseline.json"): to_json(comparison.after),
        }
    return files


def _drawings(comparison: Comparison, path: Path, frame: Frame | None) -> dict[str, str]:
    from ncu_roofline.render.comparison import to_svg
    from ncu_roofline.render.picture import DARK, LIGHT

    return {
        str(path): to_svg(comparison, LIGHT, frame),
        str(path.with_name(f"{path.stem}-dark{path.suffix}")): to_svg(comparison, DARK, frame),
    }
