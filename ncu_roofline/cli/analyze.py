"""``ncu-roofline analyze``: reports in, table or JSON out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ncu_roofline.cli import figures, options
from ncu_roofline.cli.output import STANDARD, Output, is_terminal, terminal_width, write_all
from ncu_roofline.cli.selection import required
from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from ncu_roofline.analysis import Analysis

_FORMATS = ("table", "json", "csv", "parquet", "markdown")
_SORT_KEYS = ("time", "fraction", "headroom", "kernel", "launch")


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="REPORT...")
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="table", show_default=True)
@options.output
@click.option("--kernel", metavar="REGEX", help="Only launches whose kernel name contains a match.")
@click.option("--launch", metavar="N[,N-M]", help="Only these launches, counted from 0 over all inputs.")
@click.option("--nvtx", metavar="RANGE", help="Only launches inside this NVTX range (RANGE or DOMAIN@RANGE).")
@click.option("--per-launch", is_flag=True, help="One row per launch instead of per kernel and shape.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the first N rows of the table.")
@click.option(
    "--sort", type=click.Choice(_SORT_KEYS), default="time", show_default=True,
    help="Longest time, lowest fraction or largest headroom first; or by kernel name or position.",
)  # fmt: skip
@options.of_analysis
@click.option(
    "--require", metavar="NAME[,NAME]",
    help="Exit with 1 unless every launch has these tiers and paths, such as dram,fp32.",
)  # fmt: skip
@options.fail_on
@options.strict
@click.option("--html", metavar="FILE", help="Also write the report as one HTML file, which needs nothing beside it.")
@click.option(
    "--plotlyjs", metavar="inline|none|cdn|FILE", default="inline", show_default=True,
    help="plotly.js of the page: in it, left out (static charts only), loaded from the network, or a bundle of yours.",
)  # fmt: skip
@click.option(
    "--figure", metavar="FILE",
    help="Also draw the roofline: out.svg (or .png) and out-dark.svg, or out.pdf; more for each further device.",
)  # fmt: skip
@click.option(
    "--figure-size", type=click.Choice(figures.SIZES), default=figures.SCREEN, show_default=True,
    help="paper: one column of 86 mm, a panel for each path, letters for the groups, and a text for the caption.",
)  # fmt: skip
@click.option(
    "--axes", metavar="LOW:HIGH,LOW:HIGH",
    help="Axes of figure and page in FLOP/byte and FLOP/s (0.01:1000,1e9:1e14) instead of those of the machine.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Leave out the findings below the table, and the progress.")
def analyze(
    inputs: tuple[str, ...],
    format_: str,
    output: str | None,
    kernel: str | None,
    launch: str | None,
    nvtx: str | None,
    per_launch: bool,
    top: int | None,
    sort: str,
    require: str | None,
    fail_on: str,
    strict: bool,
    html: str | None,
    plotlyjs: str,
    figure: str | None,
    figure_size: str,
    axes: str | None,
    quiet: bool,
    **how: Any,
) -> None:
    """Analyse CSV reports of Nsight Compute; `-` is standard input.

    Prints time, work, traffic, what binds and how far from it each kernel is. Filters select launches; shares
    still refer to all launches of the device.
    """
    names = required(require)
    analysis = options.analysed(*inputs, quiet=quiet, kernel=kernel, launch=launch, nvtx=nvtx, **how)
    unmet = analysis.lacking(names)
    frame = figures.frame(axes) if axes is not None else None
    drawn = figures.figures(analysis, figure, frame, figure_size) if figure is not None else {}
    outputs = [Output(name, "--figure", content) for name, content in drawn.items()]
    if html is not None:
        from ncu_roofline.render.html import to_html

        page = to_html(analysis, frame, figures.library(plotlyjs), options.command_line(analysis))
        outputs.append(Output(html, "--html", page))
    rendered = _render(analysis, format_, output, per_launch=per_launch, top=top, sort=sort, quiet=quiet)
    outputs.append(Output(output or STANDARD, "--output", rendered))
    # Reports that were found in a folder are inputs as well.
    write_all(outputs, (*inputs, *analysis.places))
    for name, launches in unmet.items():
        click.echo(
            f"required: {name} is not known for {len(launches)} of {len(analysis)} launches, first for launch "
            f"{launches[0]}",
            err=True,
        )
    if options.fails(analysis, fail_on, strict=strict) or unmet:
        raise click.exceptions.Exit(options.FINDINGS_EXIT)


def _render(
    analysis: Analysis, format_: str, output: str | None, *, per_launch: bool, top: int | None, sort: str, quiet: bool
) -> str | bytes:
    if format_ == "json":
        return analysis.to_json()
    if format_ in ("csv", "parquet"):
        from ncu_roofline.render.columns import to_csv, to_parquet

        if format_ == "csv":
            return to_csv(analysis)
        if output is None and is_terminal():
            raise UsageError("--format", "parquet", "is binary: write it to a file with -o FILE")
        return to_parquet(analysis)
    if format_ == "markdown":
        from ncu_roofline.render.markdown import render_markdown

        return render_markdown(analysis, per_launch=per_launch, top=top, sort=sort, quiet=quiet)
    from ncu_roofline.render.terminal import render_table

    color = output is None and is_terminal() and "NO_COLOR" not in os.environ
    return render_table(
        analysis, width=terminal_width(), color=color, per_launch=per_launch, top=top, sort=sort, quiet=quiet
    )
