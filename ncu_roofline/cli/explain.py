"""``ncu-roofline explain``: how the numbers of one launch came about."""

from __future__ import annotations

from typing import Any

import click

from ncu_roofline.cli import options
from ncu_roofline.cli.output import write


@click.command()
@click.argument("report", metavar="REPORT")
@click.argument("launch", type=click.IntRange(min=0), metavar="LAUNCH")
@click.argument("quantity", required=False, metavar="[QUANTITY]")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.of_analysis
def explain(report: str, launch: int, quantity: str | None, format_: str, output: str | None, **how: Any) -> None:
    """Show how the numbers of a launch came about.

    LAUNCH is the position that tables and JSON show, from 0. QUANTITY is a tier (dram, l2, l1), a path (fp32,
    tensor.bf16), time, bound, or a column such as work.fp32.count; without it everything is explained: formula,
    the numbers put in, every printed cell with its line and rounding, the entry of the metric map, the ceiling
    with its source and clock.
    """
    from ncu_roofline.render.explanation import to_json, to_text

    explanation = options.analysed(report, **how).explain(launch, quantity)
    write(to_json(explanation) if format_ == "json" else to_text(explanation), output, [report])
