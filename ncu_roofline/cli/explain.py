"""``ncu-roofline explain``: how the numbers of one launch came about."""

from __future__ import annotations

import click

from ncu_roofline.cli import options
from ncu_roofline.cli.output import write
from ncu_roofline.cli.progress import ReadingProgress


@click.command()
@click.argument("report", metavar="REPORT")
@click.argument("launch", type=click.IntRange(min=0), metavar="LAUNCH")
@click.argument("quantity", required=False, metavar="[QUANTITY]")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.cc
@options.device
@options.ceilings
@options.peak_source
@options.map_
@options.locale
def explain(
    report: str,
    launch: int,
    quantity: str | None,
    format_: str,
    output: str | None,
    cc: str | None,
    device: str | None,
    ceilings: str | None,
    peak_source: str,
    map_: str | None,
    locale: str,
) -> None:
    """Show how the numbers of a launch came about.

    LAUNCH is the position that tables and JSON show, from 0. QUANTITY is a tier (dram, l2, l1), a path (fp32,
    tensor.bf16), time, bound, or a column such as work.fp32.count; without it everything is explained: formula,
    the numbers put in, every printed cell with its line and rounding, the entry of the metric map, the ceiling
    with its source and clock.
    """
    from ncu_roofline.pipeline import analyze as run
    from ncu_roofline.render.explanation import to_json, to_text

    analysis = run(
        report, map=map_, cc=cc, device=device, ceilings=ceilings, peak_source=peak_source, locale=locale,
        progress=ReadingProgress(),
    )  # fmt: skip
    explanation = analysis.explain(launch, quantity)
    write(to_json(explanation) if format_ == "json" else to_text(explanation), output, [report])
