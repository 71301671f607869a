"""What a table of launch groups shows, apart from how it is laid out: columns, cells, heading, totals, legend.

Shared by the outputs for people (terminal, Markdown).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import BoolArray, Columns, rows
from ncu_roofline.checks import Finding
from ncu_roofline.collect import COLLECT
from ncu_roofline.conditions import Conditions
from ncu_roofline.formats import UNKNOWN, percent, quantity, seconds, shape
from ncu_roofline.vocabulary import DEFAULT_DOMAIN, KERNEL, PATHS, TIERS, work_unit
from ncu_roofline.wording import count

_LEGEND: Final = (
    "fraction: time at the ceiling that binds / measured time (>= where something that may bind is not known); "
    "in brackets: share of the ceiling of the same path or tier."
)
_BUSY_LEGEND: Final = (
    "busy: throughput in percent of its peak as ncu gives it (active: over the cycles in which the unit worked). No "
    "byte or FLOP counters with a known peak were collected, so there is no roofline; the busiest unit is the first to "
    "look at."
)
_PART_LEGEND: Final = "9 of 10: value of 9 of the 10 launches, the others lack the counter (>= for a sum)."
_TIMING_LEGEND: Final = (
    "timing: time of the same launches from elsewhere (--timing), ~ where it was found by a part of the name only; it "
    "is in no fraction and no bound."
)
_LEDGER_LEGEND: Final = (
    "useful, compulsory: what the problem needs (--work, --expect), work per second and bytes of all launches; in "
    "brackets: executed over useful work, bytes of DRAM over compulsory ones. Other columns are of what was executed."
)
UTILIZATION_TITLES: Final = {
    "sm__throughput": "SM",
    "gpu__compute_memory_throughput": "memory",
    "gpu__dram_throughput": "DRAM",
    "dram__throughput": "DRAM",
    "lts__throughput": "L2",
    "l1tex__throughput": "L1",
}
"""Throughput percentages of ncu, as tables call them."""

_RANGES_SHOWN: Final = 20


@dataclass(frozen=True)
class Column:
    """A column: its title, the text of a row, and its rank where the terminal is narrow (0: always shown)."""

    title: str
    cell: Callable[[Mapping[str, Any]], str]
    rank: float = 0
    left: bool = False


def sort_groups(groups: list[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
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


def heading(analysis: Analysis) -> list[str]:
    """What was read, and the ceilings of each device at the clocks of the run."""
    columns = analysis.columns
    names = ("device", "device_ordinal", "cc", "map")
    identities = list(zip(*(columns[name].tolist() for name in ("input", *names)), strict=True))
    lines = []
    for position, item in enumerate(analysis.inputs):
        skipped = f", {count(item.skipped_lines, 'line')} skipped" if item.skipped_lines else ""
        number = f"[{position}] " if len(analysis.inputs) > 1 else ""
        lines.append(f"{number}{item.path}: {item.form}, {count(item.launches, 'launch')}{skipped}")
        lines += measured_with(item.conditions)
        for identity in dict.fromkeys(identities):
            if identity[0] == position:
                _, device, ordinal, cc, map_id = identity
                place = "" if ordinal is None else f"device {ordinal}: "
                capability = "CC not stated" if cc is None else f"CC {cc}"
                name = device or "device name not in the report"
                lines.append(f"  {place}{name}, {capability}, metric map {map_id}")
                launches = np.array([other == identity for other in identities])
                clock = _sm_clock(columns, launches)
                if clock:
                    lines.append(f"  {clock}")
                ceilings = _ceilings(columns, launches)
                if ceilings:
                    lines.append(f"  ceilings: {', '.join(ceilings)}")
    return lines


def measured_with(known: Conditions) -> list[str]:
    """A line on how the counters were measured, with ncu's defaults where nothing was asked for; none if not known."""
    of = (
        ("cache control", known.cache_control, known.cache_control_source),
        ("clock control", known.clock_control, known.clock_control_source),
        ("replay", known.replay_mode, known.replay_mode_source),
    )
    said = [f"{name} {value} ({source})" for name, value, source in of if value is not None]
    if known.ncu_version is not None:
        said.append(f"ncu {known.ncu_version.partition(' ')[0]}")
    return [f"  measured with {', '.join(said)}"] if said else []


def _sm_clock(columns: Columns, launches: BoolArray) -> str:
    """The measured clock of the SMs against their highest one; empty where it was not measured."""
    measured, highest = (columns[f"clocks.{name}"][launches] for name in ("sm", "sm_highest"))
    if np.isnan(measured).all():
        return ""
    low, high = (quantity(value, "Hz") for value in (np.nanmin(measured), np.nanmax(measured)))
    text = f"SM clock {low}" + (f" to {high}" if high != low else "")
    if np.isnan(highest).all():
        return text
    return f"{text}, at most {quantity(np.nanmax(highest), 'Hz')} ({percent(np.nanmax(measured) / np.nanmax(highest))})"


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


def columns_of(rows: Sequence[Mapping[str, Any]], *, several_inputs: bool) -> list[Column]:
    """The columns that have something to say about some row, in order."""
    tiers = [tier for tier in TIERS if any(f"{tier}.rate" in row for row in rows)]
    columns = [
        Column("launch", lambda row: positions(row["launches"]), 9, left=True),
        Column("n", lambda row: str(row["invocations"]) if row["invocations"] > 1 else UNKNOWN, 4),
        Column("grid", lambda row: shape(row["grid"]), 10),
        Column("block", lambda row: shape(row["block"]), 11),
        Column("time", _time),
        Column("timing", _timing, 1.5),
        Column("share", lambda row: percent(row["share"]), 2),
        Column("bound by", lambda row: row["bound.by"] or UNKNOWN, left=True),
        Column("fraction", _fraction),
        Column("headroom", _headroom, 1),
        Column("work", _work, 5, left=True),
    ]
    columns += [Column(tier.upper(), _rate_cell(tier), 6 + n if n else 3) for n, tier in enumerate(tiers)]
    if any("ledger" in row for row in rows):
        columns += [Column("useful", _useful, 1.2), Column("compulsory", _compulsory, 1.3)]
    if any("ranks" in row for row in rows):
        columns[6:6] = [
            Column("ranks", lambda row: str(row["ranks"]), 1),
            Column("per rank", _per_rank, 2.5),
        ]
    elif several_inputs:
        columns.insert(0, Column("in", lambda row: f"[{row['input']}]", left=True))
    if not any(row["bound.by"] for row in rows):
        columns += _utilization_columns(rows)
    return [column for column in columns if any(column.cell(row) != UNKNOWN for row in rows)]


def _utilization_columns(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Throughput percentages as ncu gives them, the highest ranking first.

    Of several launches the range is shown, since a mean would say nothing. Over active cycles it is another number,
    which stands in only where there is none over all of them.
    """
    titles: dict[str, str] = {}
    for kind, which in (("utilization", "busy"), ("utilization_active", "active")):
        of_kind = {}
        for column in _columns_of_kind(rows, kind):
            name = column.partition(".")[2]
            of_kind[UTILIZATION_TITLES.get(name, name)] = column
        titles |= {f"{unit} {which}": column for unit, column in of_kind.items() if f"{unit} busy" not in titles}

    def highest(column: str) -> float:
        return max(float(np.nan_to_num(row[f"{column}.high"])) for row in rows)

    ranks = {column: rank for rank, column in enumerate(sorted(titles.values(), key=highest, reverse=True))}
    return [Column(title, _range_cell(column), 0.1 + ranks[column] / 10) for title, column in titles.items()]


def _columns_of_kind(rows: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """The columns of a kind of throughput that groups have, without their end."""
    found = dict.fromkeys(key.removesuffix(".low") for row in rows for key in row if key.endswith(".low"))
    return [name for name in found if name.partition(".")[0] == kind]


def _range_cell(name: str) -> Callable[[Mapping[str, Any]], str]:
    def cell(row: Mapping[str, Any]) -> str:
        low, high = percent(row[f"{name}.low"]), percent(row[f"{name}.high"])
        return low if low == high else f"{low.removesuffix('%')}-{high}"

    return cell


def _timing(row: Mapping[str, Any]) -> str:
    """Time from elsewhere, marked where it was found by a part of the name only."""
    text = seconds(row.get("external.time", np.nan))
    return f"~{text}" if text != UNKNOWN and row["external.weak"] else text


def _per_rank(row: Mapping[str, Any]) -> str:
    """Time of the fastest and the slowest rank, and which that is."""
    fastest, slowest = (seconds(row[f"rank.{name}.time"]) for name in ("fastest", "slowest"))
    number, ordinal = row["rank.slowest"]
    if fastest == slowest:
        return slowest
    device = "" if ordinal in (None, 0) else f" device {ordinal}"
    return f"{fastest} to {slowest} [{number}]{device}"


def _rate_cell(tier: str) -> Callable[[Mapping[str, Any]], str]:
    """Bytes per second; where no time is known, the bytes themselves."""

    def cell(row: Mapping[str, Any]) -> str:
        rate = quantity(row[f"{tier}.rate"], "B/s")
        known = rate if rate != UNKNOWN else _at_least(quantity(row[f"{tier}.bytes"], "B"), row, f"{tier}.known")
        return _of_launches(_with_share(known, row[f"{tier}.share"]), row, f"{tier}.known")

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
    text = _with_share(f"{path} {quantity(row['leading.rate'], work_unit(path) + '/s')}", row["leading.share"])
    return _of_launches(text, row, f"{path}.known")


def _is_partly_known(row: Mapping[str, Any]) -> bool:
    """Whether some launches of a group lack a quantity that is shown."""
    shown = ("timed", f"{row['leading.path']}.known", *(f"{tier}.known" for tier in TIERS))
    return any(0 < row.get(name, 0) < len(row["launches"]) for name in shown)


def _time(row: Mapping[str, Any]) -> str:
    return _of_launches(_at_least(seconds(row["time"]), row, "timed"), row, "timed")


def _at_least(text: str, row: Mapping[str, Any], known: str) -> str:
    """A sum, marked as a lower bound where some launches of the group lack it."""
    return text if text == UNKNOWN or row[known] == len(row["launches"]) else f">={text}"


def _of_launches(text: str, row: Mapping[str, Any], known: str) -> str:
    """A value with how many launches of the group it is of, where some lack it."""
    some, every = row[known], len(row["launches"])
    return text if text == UNKNOWN or some in (0, every) else f"{text}, {some} of {every}"


def _useful(row: Mapping[str, Any]) -> str:
    """Useful work per second (without a time: the work), and executed over useful work."""
    unit = row["ledger.unit"]
    rate = quantity(row["ledger.rate"], f"{unit}/s")
    said = rate if rate != UNKNOWN else quantity(row["ledger.work"], unit)
    least = "" if row["ledger.complete"] else ">="
    return said if np.isnan(row["ledger.padding"]) else f"{said} ({least}x{row['ledger.padding']:.4g})"


def _compulsory(row: Mapping[str, Any]) -> str:
    """Compulsory bytes, and measured over compulsory bytes of DRAM."""
    said = quantity(row["ledger.compulsory"], "B")
    return said if np.isnan(row["ledger.traffic"]) else f"{said} (x{row['ledger.traffic']:.4g})"


def positions(launches: Sequence[int]) -> str:
    """Launch positions as ranges, cut where there are many: ``0-3,7``."""
    ranges: list[list[int]] = []
    for number in launches:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in ranges[:3]]
    return ",".join(parts) + (",..." if len(ranges) > 3 else "")


def commands(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Every command that findings ask for, once, with the codes of these findings."""
    asked: dict[str, list[str]] = {}
    for finding in findings:
        if finding.help.startswith(COLLECT):
            codes = asked.setdefault(finding.help.removeprefix(COLLECT), [])
            codes += [finding.code] if finding.code not in codes else []
    return asked


def advice(finding: Finding) -> str:
    """What a finding advises; empty for a command, which stands with the others below."""
    return "" if finding.help.startswith(COLLECT) else finding.help


def below(analysis: Analysis, shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """What stands below the table: totals, NVTX ranges, and how to read the groups that are shown."""
    return [*_device_totals(analysis), *_range_lines(analysis), *_legend(shown)]


def _device_totals(analysis: Analysis) -> list[str]:
    """Totals of the shown launches of each input and device; the bound is the sum of the bounds of the launches."""
    columns, counts = analysis.columns, analysis.columns["adds_up"]
    devices = list(zip(columns["input"].tolist(), columns["device_ordinal"].tolist(), strict=True))
    lines = []
    if analysis.aggregate:
        whole = _totals(columns, counts)
        lines.append(f"{count(len(set(devices)), 'rank')} together (times of all added up): {whole}")
    for device in dict.fromkeys(devices):
        mine = np.array([other == device for other in devices])
        place = f"[{device[0]}] " if len(analysis.inputs) > 1 else ""
        place += f"device {device[1]}: " if len({d for d in devices if d[0] == device[0]}) > 1 else ""
        beside = int((mine & ~counts).sum()) if (mine & counts).any() else 0
        contain = "it contains" if beside == 1 else "they contain"
        ranges = f" Plus {count(beside, 'range')}, not added because {contain} launches." if beside else ""
        lines.append(place + _totals(columns, mine & counts if beside else mine) + ranges)
    return lines


def _range_lines(analysis: Analysis) -> list[str]:
    """One line per NVTX range, the longest first; nothing where the report has none."""
    groups = rows(analysis.ranges())
    if not groups:
        return []
    shown = groups[:_RANGES_SHOWN]
    more = f", the {len(shown)} longest of {len(groups)}" if len(groups) > len(shown) else ""
    lines = [f"NVTX ranges (a launch counts in every range around it{more}):"]
    for group in shown:
        place = f"[{group['input']}] " if len(analysis.inputs) > 1 else ""
        domain = "" if group["domain"] == DEFAULT_DOMAIN else f"{group['domain']}@"
        parts = [count(len(group["launches"]), "launch"), seconds(group["time"])]
        parts += [f"{percent(group['share'])} of the time"] if not np.isnan(group["share"]) else []
        if group["bound.by"]:
            parts.append(f"mostly bound by {group['bound.by']}, fraction {_fraction(group)}")
        lines.append(f"  {place}{domain}{group['range']}: {', '.join(part for part in parts if part != UNKNOWN)}")
    return lines


def _totals(columns: Columns, mine: BoolArray) -> str:
    time, bound, kinds = (columns[name][mine] for name in ("time", "bound.time", "kind"))
    timed, bounded = ~np.isnan(time), ~np.isnan(time) & ~np.isnan(bound)
    total = f"total time {seconds(time[timed].sum())}" if timed.any() else "none with a time"
    noun = "launch" if (kinds == KERNEL).all() else kinds[0] if len(set(kinds)) == 1 else "entry"
    parts = [count(len(time), str(noun).replace("-", " ")), total]
    if bounded.any():
        sign = "" if columns["bound.complete"][mine].all() else ">="
        of = "" if bounded.sum() == timed.sum() else f" of the {count(int(bounded.sum()), 'launch')} that have one"
        allowed = bound[bounded].sum()
        parts.append(f"sum of bounds{of} {sign}{seconds(allowed)} ({percent(allowed / time[bounded].sum())})")
    if (~timed).any() and timed.any():
        parts.append(f"{count(int((~timed).sum()), 'launch')} without a time")
    return ", ".join(parts) + "."


def _legend(shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """How to read what was shown."""
    lines = []
    if any(percent(group["bound.fraction"]) != UNKNOWN for group in shown):
        lines.append(_LEGEND)
    if any(isinstance(group.get("ledger"), str) for group in shown):
        lines.append(_LEDGER_LEGEND)
    if any(_is_partly_known(group) for group in shown):
        lines.append(_PART_LEGEND)
    busy = any(key.startswith(("utilization.", "utilization_active.")) for group in shown for key in group)
    if busy and not any(group["bound.by"] for group in shown):
        lines.append(_BUSY_LEGEND)
    if any(_timing(group) != UNKNOWN for group in shown):
        lines.append(_TIMING_LEGEND)
    return lines
