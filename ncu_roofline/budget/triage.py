"""Which side of the ridge a kernel group is on, what to hold it against there, and what to look at when it is far away.

Every statement carries the numbers it rests on; where a counter is missing the check is named as not made. The order is
that in which much is lost: no overlap costs up to a factor of two, a late host up to ten.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import Columns, FloatArray, rows, unknown
from ncu_roofline.formats import number, percent, seconds
from ncu_roofline.vocabulary import TIERS, work_unit

FAR: Final = 0.7
"""Fraction of the bound below which the checks are made."""
_OVERLAPS: Final = 1.15
"""Time over the sum of both sides up to which their sum explains it."""
_BOTH: Final = 1.1
"""Sum of both sides over the larger one from which the smaller one matters."""
_TAIL: Final = 0.1
"""Share of the last wave that idles from which it is said."""
_LOW_OCCUPANCY: Final = 0.5
_BUSY_LINK: Final = 0.5
_LINKS: Final = ("nvlink", "sysmem")


@dataclass(frozen=True)
class Statement:
    """One check of a group: what it says (None: nothing is wrong there), and the numbers or what is missing for it."""

    check: str
    says: str | None
    evidence: str


@dataclass(frozen=True)
class Triage:
    """A group by its side: the metric that accepts it, and checks where it is far from its bound.

    ``side``: ``left`` of the ridge (a tier binds), ``right`` (a path binds), or None. ``metric``: what is held against
    what, with ``rate``, ``ceiling`` and ``share`` of it; ``fraction``: of the bound, in which what shares a pipe adds
    up. ``arithmetic`` and ``memory``: seconds of a launch at the ceilings of its busiest pipe and tier, beside its
    measured ``time``; NaN is not known.
    """

    kernel: str | None
    grid: tuple[int, ...] | None
    launches: tuple[int, ...]
    side: str | None
    metric: str
    rate: float
    ceiling: float
    share: float
    fraction: float
    complete: bool
    time: float
    arithmetic: float
    memory: float
    statements: tuple[Statement, ...]


def triage(
    columns: Columns, needed: Mapping[str, FloatArray], groups: Columns, call: float = math.nan
) -> tuple[Triage, ...]:
    """Every group, in the order given.

    Args:
        columns: the roofline table.
        needed: seconds of each resource (``resource_seconds``).
        groups: launches taken together (``Analysis.groups``).
        call: seconds of the host for each kernel that it launches; NaN: not known.

    """
    none = unknown(len(columns["launch"]))
    arithmetic = reduce(np.fmax, (load for name, load in needed.items() if name.endswith(" pipe")), none)
    memory = reduce(np.fmax, (load for name, load in needed.items() if not name.endswith(" pipe")), none)
    return tuple(_triage(group, columns, arithmetic, memory, call) for group in rows(groups))


def _triage(
    group: Mapping[str, Any], columns: Columns, arithmetic: FloatArray, memory: FloatArray, call: float
) -> Triage:
    at = np.searchsorted(columns["launch"], group["launches"])
    time, needed, moved = (
        _of_one(values[at], columns["invocations"][at]) for values in (columns["time"], arithmetic, memory)
    )
    by = group["bound.by"]
    side = None if by is None else "left" if by in TIERS else "right"
    rate, share = (math.nan, math.nan) if by is None else (float(group[f"{by}.rate"]), float(group[f"{by}.share"]))
    unit = "B" if by in TIERS else work_unit(str(by))
    metric = "nothing has both an amount and a ceiling" if by is None else f"{by} {unit}/s over its ceiling"
    is_far = group["bound.fraction"] < FAR and time > 0
    statements = tuple(_checks(group, columns, at, (time, needed, moved), call)) if is_far else ()
    ceiling = rate / share if share > 0 else math.nan
    return Triage(
        group["kernel"], group["grid"], tuple(group["launches"]), side, metric, rate, ceiling, share,
        float(group["bound.fraction"]), bool(group["bound.complete"]),
        time, needed, moved, statements,
    )  # fmt: skip


def _of_one(values: FloatArray, invocations: npt.NDArray[np.int64]) -> float:
    """Seconds of one launch: the sum of what is known over the launches of which it is; NaN where none is."""
    known = ~np.isnan(values)
    return float(values[known].sum() / invocations[known].sum()) if known.any() else math.nan


def _checks(
    group: Mapping[str, Any], columns: Columns, at: Any, times: tuple[float, float, float], call: float
) -> Iterator[Statement]:
    yield _overlap(*times)
    yield _host(times[0], call)
    yield _communication(group)
    yield _occupancy(columns, at)
    yield _waves(columns, at)
    yield _parallelism(group, columns, at)


def _overlap(time: float, arithmetic: float, memory: float) -> Statement:
    name = "no overlap"
    if math.isnan(arithmetic + memory + time) or max(arithmetic, memory) == 0:
        return Statement(name, None, "not checked: time, or arithmetic or memory at its ceiling, is not known")
    whole = arithmetic + memory
    numbers = f"{seconds(arithmetic)} arithmetic + {seconds(memory)} memory = {seconds(whole)}, took {seconds(time)}"
    larger = max(arithmetic, memory)
    if time <= _OVERLAPS * whole and whole > _BOTH * larger:
        says = f"arithmetic and memory may run one after the other: overlap gains up to {whole / larger:.3g}x"
        return Statement(name, says, numbers)
    return Statement(name, None, f"does not explain it: {numbers}")


def _host(time: float, call: float) -> Statement:
    name = "host"
    if math.isnan(call) or math.isnan(time):
        return Statement(name, None, "not checked: how long a launch takes the host is not known (a timeline says it)")
    numbers = f"a launch runs {seconds(time)}, launching it takes the host {seconds(call)}"
    if time < call:
        says = f"the host cannot stay ahead: it needs {call / time:.3g} times as long; fuse launches, or launch graphs"
        return Statement(name, says, numbers)
    return Statement(name, None, f"not the cause: {numbers}")


def _communication(group: Mapping[str, Any]) -> Statement:
    name = "communication"
    shares = {tier: float(group[f"{tier}.share"]) for tier in _LINKS if f"{tier}.share" in group}
    known = {tier: share for tier, share in shares.items() if not math.isnan(share)}
    if not known:
        return Statement(name, None, "not checked: traffic of NVLink and system memory was not collected with ceilings")
    numbers = ", ".join(f"{tier} at {percent(share)} of its ceiling" for tier, share in known.items())
    if max(known.values()) > _BUSY_LINK:
        return Statement(name, "waits for a link, whose time the other tiers do not contain", numbers)
    return Statement(name, None, f"not the cause: {numbers}")


def _occupancy(columns: Columns, at: Any) -> Statement:
    name = "occupancy"
    found = _mean(columns, "occupancy", at)
    if math.isnan(found):
        return Statement(name, None, "not checked: sm__warps_active.avg.pct_of_peak_sustained_active was not collected")
    numbers = f"{percent(found)} of the warps that fit were active"
    registers, spills = _mean(columns, "registers", at), _mean(columns, "spills", at)
    numbers += f", {number(registers)} registers per thread" if not math.isnan(registers) else ""
    numbers += f", {number(spills)} spill instructions" if spills > 0 else ""
    if found < _LOW_OCCUPANCY:
        return Statement(
            name, "few warps hide latency: look at registers, shared memory and the size of blocks", numbers
        )
    return Statement(name, None, f"not low: {numbers}")


def _waves(columns: Columns, at: Any) -> Statement:
    name = "waves and tail"
    waves = _mean(columns, "waves", at)
    if math.isnan(waves) or waves <= 0:
        return Statement(name, None, "not checked: launch__waves_per_multiprocessor was not collected")
    whole = math.ceil(waves)
    idle = 1.0 - waves / whole
    numbers = f"{waves:.2f} waves of blocks run in the time of {whole}"
    if idle > _TAIL:
        which = "only" if whole == 1 else "last"
        return Statement(name, f"the {which} wave leaves up to {idle:.0%} of the SMs without blocks", numbers)
    return Statement(name, None, f"not the cause: {numbers}")


def _parallelism(group: Mapping[str, Any], columns: Columns, at: Any) -> Statement:
    name = "parallelism"
    sms = _mean(columns, "sm_count", at)
    if group["grid"] is None or math.isnan(sms):
        return Statement(name, None, "not checked: the grid or the number of SMs is not known")
    blocks = math.prod(group["grid"])
    numbers = f"{blocks} blocks on {sms:.0f} SMs"
    if blocks < sms:
        return Statement(name, f"too few blocks: {1 - blocks / sms:.0%} of the SMs have none", numbers)
    return Statement(name, None, f"not the cause: {numbers}")


def _mean(columns: Columns, name: str, at: Any) -> float:
    """A property of the launches of a group, which they share: the mean of those of which it is known."""
    if name not in columns:
        return math.nan
    values = np.asarray(columns[name], np.float64)[at]
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
