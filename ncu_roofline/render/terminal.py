"""The table for a terminal: what is known per launch group (or launch), then the findings."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import rows
from ncu_roofline.checks import Finding
from ncu_roofline.formats import short_kernel, visible
from ncu_roofline.render.group_table import (
    advice,
    below,
    columns_of,
    commands,
    heading,
    positions,
    sort_groups,
)
from ncu_roofline.vocabulary import Severity

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_KERNEL_WIDTH: Final = 24
_KERNEL_WIDEST: Final = 72
_KERNEL_NARROWEST: Final = 12


def render_table(
    analysis: Analysis,
    *,
    width: int,
    color: bool,
    per_launch: bool = False,
    top: int | None = None,
    sort: str = "time",
    quiet: bool = False,
) -> str:
    """The analysis as text of a given width; ANSI colours only on request."""
    stream = io.StringIO()
    system: Any = "standard" if color else None
    console = Console(file=stream, width=width, force_terminal=color, color_system=system, highlight=False)
    groups = sort_groups(rows(analysis.groups(per_launch=per_launch)), sort)
    shown = groups[:top]
    for line in heading(analysis):
        console.print(line, markup=False)
    _print_table(console, shown, several_inputs=len(analysis.inputs) > 1)
    if len(shown) < len(groups):
        console.print(f"{len(groups) - len(shown)} more not shown (--top {top}).", markup=False)
    for line in below(analysis, shown):
        console.print(line, markup=False)
    if not quiet:
        _print_findings(console, analysis.finding_list)
    return stream.getvalue()


def _print_table(console: Console, rows: Sequence[Mapping[Any, Any]], *, several_inputs: bool) -> None:
    """The table with the columns that have something to say, the least important left out if it is narrow."""
    speaking = columns_of(rows, several_inputs=several_inputs)
    cells = {id(column): [column.cell(row) for row in rows] for column in speaking}
    widths = {id(column): 2 + max(len(column.title), *map(len, cells[id(column)])) for column in speaking}
    room = console.width - _KERNEL_WIDTH
    kept: set[int] = set()
    # Stop at the first that does not fit: a wider terminal never shows less of what matters.
    for column in sorted(speaking, key=lambda column: column.rank):
        if column.rank and widths[id(column)] > room:
            break
        kept.add(id(column))
        room -= widths[id(column)]
    columns = [column for column in speaking if id(column) in kept]
    left_out = [column.title for column in speaking if id(column) not in kept]
    kernel_width = max(min(room + _KERNEL_WIDTH, _KERNEL_WIDEST), _KERNEL_NARROWEST)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column("kernel", no_wrap=True, overflow="crop", max_width=kernel_width)
    for column in columns:
        table.add_column(column.title, no_wrap=True, justify="left" if column.left else "right")
    for number, row in enumerate(rows):
        name = short_kernel(row["kernel"], kernel_width)
        table.add_row(Text(name), *(Text(cells[id(column)][number]) for column in columns))
    console.print(table)
    if left_out:
        console.print(f"Left out at this width: {', '.join(left_out)}.", markup=False)


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Findings, then every command that they ask for, once and on one line, so that it can be copied."""
    for finding in findings:
        launches = f" [launch {positions(finding.launches)}]" if finding.launches else ""
        head = Text(finding.severity.label, style=_STYLES[finding.severity])
        console.print(
            head.append(f" {finding.code} {finding.name}{launches}: {visible(finding.message)}", style="default")
        )
        if text := advice(finding):
            console.print(Text(f"  {text}"))
    for command, codes in commands(findings).items():
        console.print(Text(f"To collect all that is missing ({', '.join(codes)}):"))
        console.print(Text(command), soft_wrap=True)
