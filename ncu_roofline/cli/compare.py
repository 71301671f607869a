"""``ncu-roofline compare``: before and after, a gate for CI, and everything for a pull request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from ncu_roofline.cli import figures, messages, options
from ncu_roofline.cli.output import STANDARD, Output, write_all
from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from ncu_roofline.comparison import Comparison, GateResult, Side
    from ncu_roofline.render.picture import Frame
    from ncu_roofline.scrub import Scrubber

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
@options.of_reports
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
    from ncu_roofline.comparison import to_json

    if save_baseline is not None and scrub_kernels:
        raise UsageError("--scrub-kernels", save_baseline, "a baseline finds kernels by their names")
    read = [_gate(text) for text in gates or (_DEFAULT_GATE,) if text != "never"]
    given = [_pair(text) for text in pairs]
    frame = figures.frame(axes) if axes is not None else None
    if scrub or scrub_kernels:
        messages.scrub([*inputs, *more_before, *more_after], kernels=scrub_kernels)
    names = _names(inputs, more_before, more_after, single=save_baseline is not None)
    if len(names) == 1:
        _refuse_outputs()
    sides, places = _read(names, how | {"per_launch": per_launch, "quiet": quiet})
    made = _scrubber(sides, kernels=scrub_kernels) if scrub or scrub_kernels else None
    outputs = []
    if save_baseline is not None:
        outputs.append(Output(save_baseline, "--save-baseline", to_json(_kept(sides[-1], made))))
    results: tuple[GateResult, ...] = ()
    if len(sides) > 1:
        comparison, results = _compared(sides, given, read, made, allow_missing=allow_missing)
        outputs += _files(comparison, results, html, figure, pr_kit, frame)
        text = _rendered(comparison, results, format_, top, quiet=quiet)
        outputs.append(Output(output or STANDARD, "--output", text))
    write_all(outputs, [*inputs, *more_before, *more_after, *places])
    _exit(results)


def _read(names: list[list[str]], how: dict[str, Any]) -> tuple[list[Side], list[str]]:
    """The sides, and every file that was read for them."""
    found = [_side(mine, how=how) for mine in names]
    sides = [side for side, _ in found]
    if len({key.occurrence is None for side in sides for key in side.keys}) > 1:
        given = " ".join(name for mine in names for name in mine)
        raise UsageError("--per-launch", given, "one side has occurrences and the other has not")
    return sides, [place for _, places in found for place in places]


def _compared(
    sides: list[Side],
    pairs: list[tuple[str, str]],
    gates: list[Any],
    made: Scrubber | None,
    *,
    allow_missing: bool,
) -> tuple[Comparison, tuple[GateResult, ...]]:
    """The comparison and what becomes of its gates, with names as they may be shown."""
    from ncu_roofline.comparison import judge_gates, scrubbed, scrubbed_gate
    from ncu_roofline.pipeline import compare as compare_sides

    comparison = compare_sides(sides[0], sides[1], pair=pairs)
    results = _allowed(judge_gates(comparison, gates), missing=allow_missing)
    if made is None:
        return comparison, results
    # Gates and pairs name kernels as the reports do, so that names go last.
    return scrubbed(comparison, made), tuple(scrubbed_gate(one, made) for one in results)


def _scrubber(sides: list[Side], *, kernels: bool) -> Scrubber:
    from ncu_roofline.comparison import scrubber_of

    return scrubber_of(*sides, kernels=kernels)


def _allowed(results: tuple[GateResult, ...], *, missing: bool) -> tuple[GateResult, ...]:
    """With ``--allow-missing`` a gate without evidence passes, and says so."""
    from ncu_roofline.comparison import Outcome

    return tuple(
        replace(result, outcome=Outcome.PASSED, detail=f"allowed without evidence: {result.detail}")
        if missing and result.outcome is Outcome.NO_EVIDENCE
        else result
        for result in results
    )


def _exit(results: tuple[GateResult, ...]) -> None:
    from ncu_roofline.comparison import Outcome

    failed = [result for result in results if result.outcome is not Outcome.PASSED]
    for result in failed:
        click.echo(f"gate {result.outcome.value}: {result.gate.text}: {result.message}", err=True)
    if failed:
        raise click.exceptions.Exit(options.FINDINGS_EXIT)


def _refuse_outputs() -> None:
    """One side alone is for a baseline; what asks for a comparison would be left undone in silence."""
    context = click.get_current_context()
    for name in ("gates", "html", "figure", "pr_kit", "output", "format_", "pairs"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(one.opts[0] for one in context.command.params if one.name == name)
            raise UsageError(option, str(context.params[name]), "needs two sides, and one is given")


def _kept(side: Side, made: Scrubber | None) -> Side:
    from ncu_roofline.comparison import scrubbed_side

    return side if made is None else scrubbed_side(side, made)


def _names(
    inputs: tuple[str, ...], more_before: tuple[str, ...], more_after: tuple[str, ...], *, single: bool
) -> list[list[str]]:
    """The reports of one or two sides."""
    if len(inputs) > 2 or (len(inputs) == 1 and not single):
        raise UsageError(
            "BEFORE AFTER", " ".join(inputs), "are two: give further repeats with --before and --after, or as a folder"
        )
    if len(inputs) == 1:
        return [[inputs[0], *more_before, *more_after]]
    return [[inputs[0], *more_before], [inputs[1], *more_after]]


def _side(names: list[str], *, how: dict[str, Any]) -> tuple[Side, tuple[str, ...]]:
    """A baseline or analysed reports, and every file that was read for it."""
    from ncu_roofline.cli.progress import ReadingProgress
    from ncu_roofline.comparison import from_json, is_baseline, side_of
    from ncu_roofline.pipeline import analyze

    if any(map(is_baseline, names)):
        if len(names) > 1:
            raise UsageError("BEFORE AFTER", " ".join(names), "a baseline is a side of its own")
        return from_json(names[0]), tuple(names)
    arguments = dict(how)
    arguments["map"] = arguments.pop("map_")
    per_launch, quiet = arguments.pop("per_launch"), arguments.pop("quiet")
    analysis = analyze(*names, progress=None if quiet else ReadingProgress(), **arguments)
    return side_of(analysis, per_launch=per_launch), analysis.places


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
) -> list[Output]:
    """Further files."""
    from ncu_roofline.comparison import to_json
    from ncu_roofline.render import comparison as render

    files: list[Output] = []
    if html is not None:
        files.append(Output(html, "--html", render.to_html(comparison, gates, frame)))
    if figure is not None:
        if Path(figure).suffix.lower() != ".svg":
            raise UsageError("--figure", figure, "is no name of an SVG (out.svg)")
        files += [Output(name, "--figure", text) for name, text in _drawings(comparison, figure, frame).items()]
    if kit is not None:
        folder = Path(kit)
        contents = _drawings(comparison, str(folder / "roofline.svg"), frame) | {
            str(folder / "comment.md"): render.to_markdown(comparison, gates, picture="roofline"),
            str(folder / "report.html"): render.to_html(comparison, gates, frame),
            str(folder / "junit.xml"): render.to_junit(comparison, gates),
            str(folder / "findings.sarif"): render.to_sarif(comparison, gates),
            str(folder / "comparison.json"): render.to_json(comparison, gates),
            str(folder / "baseline.json"): to_json(comparison.after),
        }
        files += [Output(name, "--pr-kit", text, makes_folder=True) for name, text in contents.items()]
    return files


def _drawings(comparison: Comparison, name: str, frame: Frame | None) -> dict[str, str | bytes]:
    from ncu_roofline.render.comparison import to_svg

    return figures.light_and_dark(name, lambda colors: to_svg(comparison, colors, frame))
