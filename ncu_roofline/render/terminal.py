"""The table for a terminal: what is known per launch group (or launch), then the findings."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import Columns, rows
from ncu_roofline.checks import Finding
from ncu_roofline.render.format import UNKNOWN, percent, quantity, seconds, shape, short_kernel
from ncu_roofline.vocabulary import TIERS, Severity, work_unit

SORT_KEYS: Final = ("time", "fraction", "headroom", "kernel", "launch")

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_KERNEL_WIDTH: Final = 24
_KERNEL_WIDEST: Final = 72
_KERNEL_NARROWEST: Final = 12
_LEGEND: Final = (
    "fraction: time at the ceiling that binds / measured time (>= where something that may bind is not known); "
    "in brackets: share of the ceiling of the same path or tier."
)
_UTILIZATION_TITLES: Final = {
    "sm__throughput": "SM",
    "gpu__compute_memory_throughput": "memory",
    "gpu__dram_throughput": "DRAM",
    "dram__throughput": "DRAM",
    "lts__throughput": "L2",
    "l1tex__throughput": "L1",
}


@dataclass(frozen=True)
class _Column:
    """A column: its title, the text of a row, and its rank where the terminal is narrow (0: always shown)."""

    title: str
    cell: Callable[[Mapping[str, Any]], str]
    drop: int = 0
    left: bool = False


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
    groups = _sorted(rows(analysis.groups(per_launch=per_launch)), sort)
    shown = groups[:top]
    for line in _heading(analysis):
        console.print(line, soft_wrap=True, markup=False)
    _print_table(console, shown)
    if len(shown) < len(groups):
        console.print(f"{len(groups) - len(shown)} more not shown (--top {top}).", markup=False)
    console.print(_summary(analysis.columns), soft_wrap=True, markup=False)
    if any(percent(group["bound.fraction"]) != UNKNOWN for group in shown):
        console.print(_LEGEND, soft_wrap=True, markup=False)
    if not quiet:
        for finding in analysis.finding_list:
            _print_finding(console, finding)
    return stream.getvalue()


def _sorted(groups: list[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
    """Groups by a key; what is not known comes last. The default order is by time."""
    if sort == "launch":
        return sorted(groups, key=lambda group: group["launches"][0])
    if sort == "kernel":
        return sorted(groups, key=lambda group: group["kernel"] or "")
    if sort == "fraction":
        return sorted(groups, key=lambda group: np.nan_to_num(group["bound.fraction"], nan=np.inf))
    if sort == "headroom":
        return sorted(groups, key=lambda group: -np.nan_to_num(group["bound.headroom"], nan=-np.inf))
    return groups


def _heading(analysis: Analysis) -> list[str]:
    columns = analysis.columns
    names = ("device", "device_ordinal", "cc", "map")
    identities = list(zip(*(columns[name].tolist() for name in ("input", *names)), strict=True))
    lines = []
    for position, item in enumerate(analysis.inputs):
        skipped = f", {_count(item.skipped_lines, 'line')} skipped" if item.skipped_lines else ""
        lines.append(f"{item.path}: {item.form}, {_count(item.launches, 'launch')}{skipped}")
        for number, device, ordinal, cc, map_id in dict.fromkeys(identities):
            if number == position:
                place = "" if ordinal is None else f"device {ordinal}: "
                capability = "CC not stated" if cc is None else f"CC {cc}"
                name = device or "device name not in the report"
                lines.append(f"  {place}{name}, {capability}, metric map {map_id}")
    return lines


def _print_table(console: Console, rows: Sequence[Mapping[Any, Any]]) -> None:
    """The table with the columns that have something to say, the least important left out if it is narrow."""
    speaking = [column for column in _columns(rows) if any(column.cell(row) != UNKNOWN for row in rows)]
    cells = {id(column): [column.cell(row) for row in rows] for column in speaking}
    widths = {id(column): 2 + max(len(column.title), *map(len, cells[id(column)])) for column in speaking}
    room = console.width - _KERNEL_WIDTH
    kept: set[int] = set()
    for column in sorted(speaking, key=lambda column: column.drop):
        if column.drop == 0 or widths[id(column)] <= room:
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
        console.print(f"Left out at this width: {', '.join(left_out)}.", soft_wrap=True, markup=False)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[_Column]:
    """All columns, in order; whether one has anything to say is decided from its cells."""
    tiers = [tier for tier in TIERS if any(f"{tier}.rate" in row for row in rows)]
    columns = [
        _Column("launch", lambda row: _positions(row["launches"]), drop=6, left=True),
        _Column("n", lambda row: str(row["invocations"]) if row["invocations"] > 1 else UNKNOWN, drop=7),
        _Column("grid", lambda row: shape(row["grid"]), drop=11),
        _Column("block", lambda row: shape(row["block"]), drop=12),
        _Column("time", lambda row: seconds(row["time"])),
        _Column("share", lambda row: percent(row["share"]), drop=4),
        _Column("bound by", lambda row: row["bound.by"] or UNKNOWN, left=True),
        _Column("fraction", _fraction),
        _Column("headroom", _headroom, drop=5),
        _Column("work", _work, drop=2, left=True),
    ]
    columns += [
        _Column(tier.upper(), _rate_cell(tier), drop) for tier, drop in zip(tiers, (3, 8, 9, 9, 9, 9), strict=False)
    ]
    if not any(row["bound.by"] for row in rows):
        columns += _utilization_columns(rows)
    return columns


def _utilization_columns(rows: Sequence[Mapping[str, Any]]) -> list[_Column]:
    """Throughput percentages as ncu gives them; of several launches the range, since a mean would say nothing."""
    names = dict.fromkeys(
        key.removeprefix("utilization.").removesuffix(".low")
        for row in rows
        for key in row
        if key.startswith("utilization.") and key.endswith(".low")
    )
    titles = {_UTILIZATION_TITLES.get(name, name): name for name in reversed(names)}
    return [
        _Column(f"{title} busy", _range_cell(f"utilization.{name}"), drop=10)
        for title, name in reversed(titles.items())
    ]


def _range_cell(name: str) -> Callable[[Mapping[str, Any]], str]:
    def cell(row: Mapping[str, Any]) -> str:
        low, high = percent(row[f"{name}.low"]), percent(row[f"{name}.high"])
        return low if low == high else f"{low.removesuffix('%')}-{high}"

    return cell


def _rate_cell(tier: str) -> Callable[[Mapping[str, Any]], str]:
    """Bytes per second; where no time is known, the bytes themselves."""

    def cell(row: Mapping[str, Any]) -> str:
        rate = quantity(row[f"{tier}.rate"], "B/s")
        known = rate if rate != UNKNOWN else quantity(row[f"{tier}.bytes"], "B")
        return _with_share(known, row[f"{tier}.share"])

    return cell


def _with_share(text: str, share: float) -> str:
    of_ceiling = percent(share)
    return text if of_ceiling == UNKNOWN else f"{text} ({of_ceiling})"


def _fraction(row: Mapping[str, Any]) -> str:
    return percent(row["bound.fraction"], at_least=not row["bound.complete"])


def _headroom(row: Mapping[str, Any]) -> str:
    text = seconds(row["bound.headroom"])
    return text if row["bound.complete"] or text == UNKNOWN else f"<={text}"


def _work(row: Mapping[str, Any]) -> str:
    path = row["leading.path"]
    if not isinstance(path, str):
        return UNKNOWN
    return _with_share(f"{path} {quantity(row['leading.rate'], work_unit(path) + '/s')}", row["leading.share"])


def _positions(launches: Sequence[int]) -> str:
    """Launch positions as ranges, cut where there are many: ``0-3,7``."""
    ranges: list[list[int]] = []
    for number in launches:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in ranges[:3]]
    return ",".join(parts) + (",..." if len(ranges) > 3 else "")


def _summary(columns: Columns) -> str:
    """Totals of all shown launches; the application bound is the sum of the bounds of its launches."""
    time, bound = columns["time"], columns["bound.time"]
    timed, bounded = ~np.isnan(time), ~np.isnan(time) & ~np.isnan(bound)
    total = f"total time {seconds(time[timed].sum())}" if timed.any() else "none with a time"
    parts = [_count(len(time), "launch"), total]
    if bounded.any() and bounded.sum() == timed.sum():
        sign = "" if columns["bound.complete"].all() else ">="
        allowed = bound[bounded].sum()
        parts.append(f"sum of bounds {sign}{seconds(allowed)} ({percent(allowed / time[bounded].sum())})")
    if (~timed).any() and timed.any():
        parts.append(f"{_count(int((~timed).sum()), 'launch')} without a time")
    return ", ".join(parts) + "."


def _count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{plural if number != 1 else ''}"


def _print_finding(console: Console, finding: Finding) -> None:
    launches = f" [launch {_positions(finding.launches)}]" if finding.launches else ""
    head = Text(finding.severity.label, style=_STYLES[finding.severity])
    console.print(
        head.append(f" {finding.code} {finding.name}{launches}: {finding.message}", style="default"),
        soft_wrap=True,
    )
    if finding.help:
        console.print(Text(f"  {finding.help}"), soft_wrap=True)
