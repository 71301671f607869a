"""Options that mean the same in every command."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from ncu_roofline.cli import messages
from ncu_roofline.cli.progress import ReadingProgress
from ncu_roofline.cli.selection import selected
from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncu_roofline.analysis import Analysis

FINDINGS_EXIT = 1

_Command = TypeVar("_Command", bound="Callable[..., Any]")

output = click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output (-).")
cc = click.option("--cc", metavar="X.Y", help="Compute capability of launches whose report does not state it.")
map_ = click.option("--map", "map_", metavar="FILE", help="A metric map that answers first for its architectures.")
locale = click.option(
    "--locale", type=click.Choice(["auto", "c", "european"]), default="auto", show_default=True,
    help="Number format of the reports.",
)  # fmt: skip
device = click.option("--device", metavar="NAME", help="Product of launches whose report does not state it.")
ceilings = click.option(
    "--ceilings", metavar="FILE", help="Measured ceilings: own YAML, or a file of ERT, mixbench or BabelStream."
)
peak_source = click.option(
    "--peak-source", type=click.Choice(["report", "device", "measured"]), default="report", show_default=True,
    help="Which ceilings come first: the report's own peaks, the device table, or those of --ceilings.",
)  # fmt: skip
conditions = click.option(
    "--conditions", metavar="NAME=VALUE", help="How the counters were measured, such as cache=none,clock=boost."
)
session = click.option(
    "--session", metavar="FILE", help="Session page of the reports (ncu --page session --csv), which says how."
)
timing = click.option(
    "--timing", metavar="FILE", multiple=True,
    help="Times of the same kernels from nsys, PyTorch, nvprof, another report or an own CSV; may be given again.",
)  # fmt: skip
claims = click.option(
    "--claims", metavar="FILE", help="What somebody says of the kernels (YAML); each claim becomes a finding."
)
expect = click.option(
    "--expect", metavar="SPEC", multiple=True,
    help="Problem that launches solve, as gemm:m=64,n=64,k=64,dtype=bf16,kernel=REGEX, or YAML; may be given again.",
)  # fmt: skip
work = click.option(
    "--work", metavar="FILE", multiple=True,
    help="Problems that launches solve (YAML): kernel, grid or NVTX range to ledger; may be given again.",
)  # fmt: skip
scrub = click.option(
    "--scrub",
    is_flag=True,
    help="Replace paths, users, hosts, addresses and PCI ids in the output by the same word each.",
)
scrub_kernels = click.option("--scrub-kernels", is_flag=True, help="The same, and the names of kernels.")
merge = click.option(
    "--merge",
    is_flag=True,
    help="The inputs are captures of the same launches with different counters: put them together.",
)
aggregate = click.option(
    "--aggregate", is_flag=True, help="The inputs are ranks: take launches of one kernel and shape together over all."
)
partial = click.option("--partial", is_flag=True, help="Analyse the whole launches of a damaged binary report.")


select_codes = click.option(
    "--select", metavar="CODE[,CODE]", help="Only findings of these codes or of codes that begin so, such as C,P301."
)
ignore_codes = click.option("--ignore", metavar="CODE[,CODE]", help="No findings of these codes.")
baseline = click.option("--baseline", metavar="FILE", help="Findings that were accepted, with the reason for each.")
fail_on = click.option(
    "--fail-on", type=click.Choice(["note", "warning", "error", "never"]), default="error", show_default=True,
    help="Exit with 1 on a finding of this severity or above.",
)  # fmt: skip


strict = click.option(
    "--strict", is_flag=True, help="Exit with 1 if the value or unit of a cell cannot be understood (R105, R121)."
)


def fails(analysis: Analysis, fail_on: str, *, strict: bool = False) -> bool:
    """Whether an analysis has a finding of a severity or above, or, if ``strict``, a cell that was not understood."""
    from ncu_roofline.checks import NOT_UNDERSTOOD
    from ncu_roofline.vocabulary import Severity

    if strict and any(finding.code in NOT_UNDERSTOOD for finding in analysis.finding_list):
        return True
    worst = analysis.worst()
    return fail_on != "never" and worst is not None and worst >= Severity[fail_on.upper()]


_OF_REPORTS: Final = (cc, device, ceilings, peak_source, map_, locale, conditions)
_OF_ANALYSIS: Final = (
    *_OF_REPORTS, session, partial, merge, aggregate, timing, claims, expect, work, scrub, scrub_kernels, select_codes,
    ignore_codes, baseline,
)  # fmt: skip


def of_reports(command: _Command) -> _Command:
    """The options that say what reports leave open; ``pipeline.analyze`` takes them."""
    return _with(_OF_REPORTS, command)


def of_analysis(command: _Command) -> _Command:
    """The options that say how reports are analysed; ``analysed`` takes them."""
    return _with(_OF_ANALYSIS, command)


def _with(chosen: tuple[Callable[[_Command], _Command], ...], command: _Command) -> _Command:
    """A command with options, which help shows in this order."""
    for option in reversed(chosen):
        command = option(command)
    return command


def analysed(
    *inputs: str,
    cc: str | None,
    device: str | None,
    ceilings: str | None,
    peak_source: str,
    map_: str | None,
    locale: str,
    conditions: str | None,
    session: str | None,
    partial: bool,
    merge: bool,
    aggregate: bool,
    timing: tuple[str, ...],
    claims: str | None,
    expect: tuple[str, ...],
    work: tuple[str, ...],
    scrub: bool,
    scrub_kernels: bool,
    select: str | None,
    ignore: str | None,
    baseline: str | None,
    quiet: bool = False,
    kernel: str | None = None,
    launch: str | None = None,
    nvtx: str | None = None,
) -> Analysis:
    """Analyse reports as the options of ``of_analysis`` say, and take the launches that others select.

    What is scrubbed is so in messages on standard error, too.

    Raises:
        NcuRooflineError: if a report cannot be read or an option has no meaning.

    """
    from ncu_roofline.acceptance import read_baseline, with_findings
    from ncu_roofline.pipeline import analyze

    if claims is not None and (kernel, launch, nvtx) != (None, None, None):
        raise UsageError(
            "--claims", claims, "goes with all launches: a claim names its own by kernel, grid and block; leave out "
            "--kernel, --launch and --nvtx",
        )  # fmt: skip
    made = None
    if scrub or scrub_kernels:
        places = (*inputs, *filter(None, (ceilings, map_, session, baseline, claims, *timing, *expect, *work)))
        made = messages.scrub(places, kernels=scrub_kernels)
    if peak_source == "measured" and ceilings is None:
        raise UsageError("--peak-source", peak_source, "needs a file of measured ceilings (--ceilings FILE)")
    analysis = analyze(
        *inputs, map=map_, cc=cc, device=device, ceilings=ceilings, peak_source=peak_source, locale=locale,
        conditions=conditions, session=session, partial=partial, merge=merge, aggregate=aggregate, timing=timing,
        claims=claims, expect=expect, work=work, progress=None if quiet else ReadingProgress(made),
    )  # fmt: skip
    analysis = with_findings(
        analysis, select=_codes(select), ignore=_codes(ignore),
        accepted=read_baseline(Path(baseline)) if baseline else (),
    )  # fmt: skip
    shown = analysis
    if made is not None:
        shown = analysis.scrubbed(kernels=scrub_kernels)
        messages.scrub_by(shown.scrubber)
    # Options name launches as the report does.
    return shown.select(selected(analysis, shown, kernel=kernel, launch=launch, nvtx=nvtx))


def _codes(text: str | None) -> list[str]:
    return [code.strip().upper() for code in (text or "").split(",") if code.strip()]


def command_line(analysis: Analysis) -> str:
    """The command that is running, with names of files without their folders and nothing that was to be scrubbed."""
    context = click.get_current_context()
    words = ["ncu-roofline", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP):
            continue
        value = context.params[name]
        for one in value if isinstance(value, tuple) else (value,):
            option = [] if isinstance(parameter, click.Argument) else [parameter.opts[-1]]
            words += option + ([] if isinstance(one, bool) else [_without_folder(str(one))])
    said = shlex.join(words)
    return said if analysis.scrubber is None else analysis.scrubber.text(said)


def _without_folder(text: str) -> str:
    return Path(text).name if os.sep in text and Path(text).parent.is_dir() else text
