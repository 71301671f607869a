"""``ncu-roofline check``: the findings of a report alone, for people, code scanning and CI."""

from __future__ import annotations

from typing import Any

import click

from ncu_roofline.cli import options
from ncu_roofline.cli.output import write

_FORMATS = ("text", "json", "markdown", "sarif", "junit")


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="REPORT...")
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True)
@options.output
@click.option("--kernel", metavar="REGEX", help="Only launches whose kernel name contains a match.")
@click.option("--launch", metavar="N[,N-M]", help="Only these launches, counted from 0 over all inputs.")
@options.of_analysis
@options.fail_on
@options.strict
@click.option(
    "--write-baseline", metavar="FILE", help="Write a file that accepts what was found, once its reasons are filled in."
)
def check(
    inputs: tuple[str, ...],
    format_: str,
    output: str | None,
    kernel: str | None,
    launch: str | None,
    fail_on: str,
    strict: bool,
    write_baseline: str | None,
    **how: Any,
) -> None:
    """Say which numbers of reports are wrong, doubtful or may not be paired, and why.

    Exits with 1 on a finding of the severity of --fail-on or above. `ncu-roofline rules CODE` explains a finding.
    """
    from ncu_roofline.acceptance import baseline_of
    from ncu_roofline.render import checks

    analysis = options.analysed(*inputs, kernel=kernel, launch=launch, **how)
    render = {
        "text": checks.to_text, "json": lambda found: found.to_json(), "markdown": checks.to_markdown,
        "sarif": checks.to_sarif, "junit": checks.to_junit,
    }[format_]  # fmt: skip
    if write_baseline is not None:
        write(baseline_of(analysis), write_baseline, inputs, option="--write-baseline")
    write(render(analysis), output, inputs)
    if options.fails(analysis, fail_on, strict=strict):
        raise click.exceptions.Exit(options.FINDINGS_EXIT)
