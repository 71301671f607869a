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
from ncu_roofline.arrays import BoolArray, Columns, rows
from ncu_roofline.checks import Finding
from ncu_roofline.collect import COLLECT
from ncu_roofline.render.format import UNKNOWN, percent, quantity, seconds, shape, short_kernel
from ncu_roofline.vocabulary import PATHS, TIERS, Severity, work_unit

SORT_KEYS: Final = ("time", "fraction", "headroom", "kernel", "launch")

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_KERNEL_WIDTH: Final = 24
_KERNEL_WIDEST: Final = 72
_KERNEL_NARROWEST: Final = 12
_LEGEND: Final = (
    "fraction: time at the ceiling that binds / measured time (>= where something that may bind is not known); "
    "in brackets: share of the ceiling of the same path or tier."
)
_BUSY_LEGEND: Final = (
    "busy: throughput in percent of its peak as ncu gives it. The report has no amounts with ceilings of their own, "
    "so that nothing is said to bind; the highest of them is the first to look at."
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
    rank: float = 0
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
        console.print(line, markup=False)
    _print_table(console, shown, several_inputs=len(analysis.inputs) > 1)
    if len(shown) < len(groups):
        console.print(f"{len(groups) - len(shown)} more not shown (--top {top}).", markup=False)
    for line in [*_summary(analysis), *_legend(shown)]:
        console.print(line, markup=False)
    if not quiet:
        _print_findings(console, analysis.finding_list)
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
    """What was read, and the ceilings of each device at the clocks of the run."""
    columns = analysis.columns
    names = ("device", "device_ordinal", "cc", "map")
    identities = list(zip(*(columns[name].tolist() for name in ("input", *names)), strict=True))
    lines = []
    for position, item in enumerate(analysis.inputs):
        skipped = f", {_count(item.skipped_lines, 'line')} skipped" if item.skipped_lines else ""
        number = f"[{position}] " if len(analysis.inputs) > 1 else ""
        lines.append(f"{number}{item.path}: {item.form}, {_count(item.launches, 'launch')}{skipped}")
        for identity in dict.fromkeys(identities):
            if identity[0] == position:
                _, device, ordinal, cc, map_id = identity
                place = "" if ordinal is None else f"device {ordinal}: "
                capability = "CC not stated" if cc is None else f"CC {cc}"
                name = device or "device name not in the report"
                lines.append(f"  {place}{name}, {capability}, metric map {map_id}")
                ceilings = _ceilings(columns, np.array([other == identity for other in identities]))
                if ceilings:
                    lines.append(f"  ceilings: {', '.join(ceilings)}")
    return lines


def _ceilings(columns: Columns, launches: BoolArray) -> list[str]:
    """The highest ceiling of every tier and of every path with work; clocks may differ between launches."""
    texts = []
    for tier in TIERS:
        peak = columns.get(f"traffic.{tier}.peak")
        if peak is not None and not np.isnan(peak[launches]).all():
            texts.append(f"{tier} {quantity(np.fmax.reduce(peak[launches]), 'B/s')}")
    for path in PATHS:
        peak = columns.get(f"work.{path}.peak")
        if peak is not None:
            works = launches & (np.nan_to_num(columns[f"work.{path}.rate"]) > 0) & ~np.isnan(peak)
            if works.any():
                texts.append(f"{path} {quantity(peak[works].max(), work_unit(path) + '/s')}")
    return texts


def _print_table(console: Console, rows: Sequence[Mapping[Any, Any]], *, several_inputs: bool) -> None:
    """The table with the columns that have something to say, the least important left out if it is narrow."""
    candidates = _columns(rows, several_inputs=several_inputs)
    speaking = [column for column in candidates if any(column.cell(row) != UNKNOWN for row in rows)]
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


def _columns(rows: Sequence[Mapping[str, Any]], *, several_inputs: bool) -> list[_Column]:
    """All columns, in order; whether one has anything to say is decided from its cells."""
    tiers = [tier for tier in TIERS if any(f"{tier}.rate" in row for row in rows)]
    columns = [
        _Column("launch", lambda row: _positions(row["launches"]), 9, left=True),
        _Column("n", lambda row: str(row["invocations"]) if row["invocations"] > 1 else UNKNOWN, 4),
        _Column("grid", lambda row: shape(row["grid"]), 10),
        _Column("block", lambda row: shape(row["block"]), 11),
        _Column("time", lambda row: seconds(row["time"])),
        _Column("share", lambda row: percent(row["share"]), 2),
        _Column("bound by", lambda row: row["bound.by"] or UNKNOWN, left=True),
        _Column("fraction", _fraction),
        _Column("headroom", _headroom, 1),
        _Column("work", _work, 5, left=True),
    ]
    columns += [_Column(tier.upper(), _rate_cell(tier), 6 + n if n else 3) for n, tier in enumerate(tiers)]
    if several_inputs:
        columns.insert(0, _Column("in", lambda row: f"[{row['input']}]", left=True))
    if not any(row["bound.by"] for row in rows):
        columns += _utilization_columns(rows)
    return columns


def _utilization_columns(rows: Sequence[Mapping[str, Any]]) -> list[_Column]:
    """Throughput percentages as ncu gives them, the highest ranking first.

    Of several launches the range is shown, since a mean would say nothing.
    """
    names = dict.fromkeys(
        key.removeprefix("utilization.").removesuffix(".low")
        for row in rows
        for key in row
        if key.startswith("utilization.") and key.endswith(".low")
    )
    titles = {_UTILIZATION_TITLES.get(name, name): name for name in reversed(names)}

    def highest(name: str) -> float:
        return max(float(np.nan_to_num(row[f"utilization.{name}.high"])) for row in rows)

    ranks = {name: rank for rank, name in enumerate(sorted(titles.values(), key=highest, reverse=True))}
    return [
        _Column(f"{title} busy", _range_cell(f"utilization.{name}"), 0.1 + ranks[name] / 10)
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


def _summary(analysis: Analysis) -> list[str]:
    """Totals of the shown launches of each input and device; the bound is the sum of the bounds of the launches."""
    columns = analysis.columns
    devices = list(zip(columns["input"].tolist(), columns["device_ordinal"].tolist(), strict=True))
    lines = []
    for device in dict.fromkeys(devices):
        mine = np.array([other == device for other in devices])
        place = f"[{device[0]}] " if len(analysis.inputs) > 1 else ""
        place += f"device {device[1]}: " if len({d for d in devices if d[0] == device[0]}) > 1 else ""
        lines.append(place + _totals({name: columns[name][mine] for name in ("time", "bound.time", "bound.complete")}))
    return lines


def _totals(columns: Columns) -> str:
    time, bound = columns["time"], columns["bound.time"]
    timed, bounded = ~np.isnan(time), ~np.isnan(time) & ~np.isnan(bound)
    total = f"total time {seconds(time[timed].sum())}" if timed.any() else "none with a time"
    parts = [_count(len(time), "launch"), total]
    if bounded.any():
        sign = "" if columns["bound.complete"].all() else ">="
        of = "" if bounded.sum() == timed.sum() else f" of the {_count(int(bounded.sum()), 'launch')} that have one"
        allowed = bound[bounded].sum()
        parts.append(f"sum of bounds{of} {sign}{seconds(allowed)} ({percent(allowed / time[bounded].sum())})")
    if (~timed).any() and timed.any():
        parts.append(f"{_count(int((~timed).sum()), 'launch')} without a time")
    return ", ".join(parts) + "."


def _legend(shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """How to read what was shown."""
    lines = []
    if any(percent(group["bound.fraction"]) != UNKNOWN for group in shown):
        lines.append(_LEGEND)
    busy = any(key.startswith("utilization.") for group in shown for key in group)
    if busy and not any(group["bound.by"] for group in shown):
        lines.append(_BUSY_LEGEND)
    return lines


def _count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{plural if number != 1 else ''}"


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Findings, then every command that they ask for, once and on one line, so that it can be copied."""
    commands: dict[str, list[str]] = {}
    for finding in findings:
        launches = f" [launch {_positions(finding.launches)}]" if finding.launches else ""
        head = Text(finding.severity.label, style=_STYLES[finding.severity])
        console.print(head.append(f" {finding.code} {finding.name}{launches}: {finding.message}", style="default"))
        if finding.help.startswith(COLLECT):
            commands.setdefault(finding.help.removeprefix(COLLECT), []).append(finding.code)
        elif finding.help:
            console.print(Text(f"  {finding.help}"))
    for command, codes in commands.items():
        console.print(Text(f"To collect all that is missing ({', '.join(dict.fromkeys(codes))}):"))
        console.print(Text(command), soft_wrap=True)
