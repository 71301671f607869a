"""Launches taken together: amounts, times and bounds are summed; no rate or percentage is ever averaged.

Works on the dotted columns of the roofline table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import (
    BoolArray,
    Columns,
    FloatArray,
    ObjectArray,
    nothing,
    numbered,
    numbered_rows,
    objects,
    ratio,
    unknown,
)
from ncu_roofline.vocabulary import (
    CORE_TIERS,
    FLOP_PATHS,
    NEVER_BINDING_PATHS,
    PATHS,
    RANGE,
    TIERS,
    Extent,
    amount_prefix,
)

GROUP_KEY: Final = ("input", "device_ordinal", "cc", "kind", "kernel", "grid", "block")
RANK_KEY: Final = ("device", "cc", "kind", "kernel", "grid", "block")
DEVICE_KEY: Final = ("input", "device_ordinal")

Codes = npt.NDArray[np.intp]


def adds_up(columns: Columns) -> BoolArray:
    """Entries whose times may be added up: a range has the launches inside it, so it is not added to those beside it.

    Where an input has nothing but ranges on a device, they are added up. Decided once over all entries of the inputs:
    a selection of them keeps what was decided, in the column ``adds_up``.
    """
    is_range = np.asarray(columns["kind"] == RANGE)
    if not is_range.any():
        return ~is_range
    codes, size = _codes(columns, DEVICE_KEY)
    others = np.bincount(codes, ~is_range, minlength=size) > 0
    return np.asarray(~(is_range & others[codes]))


def device_time(columns: Columns) -> FloatArray:
    """Time of all launches on the device of each launch, in seconds; not known where none has a time."""
    codes, size = _codes(columns, DEVICE_KEY)
    return _sum(np.where(columns["adds_up"], columns["time"], np.nan), codes, size)[codes]


def group_over_ranks(columns: Columns) -> Columns:
    """Groups of one device name, CC, kernel, grid and block over all ranks (inputs and devices), longest first.

    Columns: those of ``group_launches``, with times, work and bytes of all ranks, so that rates are those of a device
    and shares those of the time of all; and ``ranks``, how many have such launches, ``rank.fastest`` and
    ``rank.slowest`` as (input, device ordinal) with ``rank.fastest.time`` and ``rank.slowest.time``, the sum of their
    launches.
    """
    result = _groups(columns | {"device_time": columns["total_time"]}, RANK_KEY)
    return _longest_first(result | _ranks(columns))


def _ranks(columns: Columns) -> Columns:
    """How many ranks have launches of each group, and the fastest and slowest of them."""
    codes, size = _codes(columns, RANK_KEY)
    parts, count = _codes(columns, (*RANK_KEY, *DEVICE_KEY))
    _, first = np.unique(parts, return_index=True)
    group, time = codes[first], _sum(columns["time"], parts, count)
    names = objects(zip(*(columns[name][first].tolist() for name in DEVICE_KEY), strict=True))
    order = np.lexsort((np.nan_to_num(time, nan=-np.inf), group))
    begins = np.searchsorted(group[order], np.arange(size + 1))
    result: Columns = {"ranks": np.diff(begins)}
    for name, at in (("fastest", order[begins[:-1]]), ("slowest", order[begins[1:] - 1])):
        result |= {f"rank.{name}": names[at], f"rank.{name}.time": time[at]}
    return result


def group_launches(columns: Columns, *, per_launch: bool = False) -> Columns:
    """Groups of one input, device, CC, kernel, grid and block, longest first, those without a time last.

    ``per_launch`` makes every launch a group of its own.

    Columns: the key; ``launches`` (positions); ``invocations``; ``time``; ``share`` of the time on its device;
    ``bound.by`` (what binds most of the time), ``bound.time``, ``bound.fraction``, ``bound.headroom``,
    ``bound.complete``; ``leading.path``, ``leading.rate``, ``leading.share`` of the path that comes nearest to its
    ceiling; ``timed`` (launches with a time); ``external.time`` (of times from elsewhere, where there are any) and
    ``external.weak``, whether one was found by a part of its name only; ``<tier>.rate``, ``<tier>.share`` and
    ``<tier>.bytes``; ``<path>.rate``, ``<path>.share`` and ``<path>.count`` of what is certainly work (not of an upper
    bound), each with ``.known``, of how many launches these are: where some launches lack a quantity, all of a group
    are of the launches that have them all; ``may_divide``, whether those with the same ``.known`` are of the same
    launches, so that they may be divided by each other; ``utilization.<name>.low`` and
    ``.high``, the same of ``utilization_active``; where there are ledgers (``--work``, ``--expect``) ``ledger`` (that
    of the first launch), ``ledger.unit``, ``ledger.work``, ``ledger.executed``, ``ledger.compulsory`` and
    ``ledger.moved`` of all launches of a group that has a ledger for each of them, and ``ledger.rate``,
    ``ledger.padding`` and ``ledger.traffic`` of these sums.
    """
    return _longest_first(_groups(columns, GROUP_KEY, per_launch=per_launch))


def _groups(columns: Columns, key: Sequence[str], *, per_launch: bool = False) -> Columns:
    codes, size = _codes(columns, ("launch",) if per_launch else key)
    result, order, begins = _together(columns, key, codes, size)
    result["invocations"] = np.bincount(codes, columns["invocations"], minlength=size).astype(np.int64)
    result["timed"] = np.bincount(codes, ~np.isnan(columns["time"]), minlength=size).astype(np.int64)
    known, result["may_divide"] = _known(columns, codes, size)
    result |= _paths(columns, codes, size, known)
    if "external.time" in columns:
        result["external.time"] = whole_sum(columns["external.time"], codes, size)
        result["external.weak"] = np.bincount(codes, columns["external.match"] == "weak", minlength=size) > 0
    if "ledger" in columns:
        result |= _ledgers(columns, codes, size, order[begins])
    for tier in TIERS:
        if f"traffic.{tier}.rate" in columns:
            result |= _amount_of(columns, tier, codes, size, known[tier])
    for name in [column for column in columns if column.startswith(("utilization.", "utilization_active."))]:
        result[f"{name}.low"] = np.fmin.reduceat(columns[name][order], begins)
        result[f"{name}.high"] = np.fmax.reduceat(columns[name][order], begins)
    return result


def _ledgers(columns: Columns, codes: Codes, size: int, first: Codes) -> Columns:
    """Both ledgers of each group, and what they are of one another: sums over sums."""
    moved = columns.get("traffic.dram.bytes", unknown(len(codes)))
    amounts = {"work": columns["ledger.work"], "executed": columns["ledger.executed"],
               "compulsory": columns["traffic.dram.compulsory"], "moved": moved}  # fmt: skip
    titles, _ = numbered(columns["ledger"].tolist())
    # A group with several ledgers, or with some for a part of its launches only, has none as a whole.
    is_one = np.bincount(codes, titles != titles[first][codes], minlength=size) == 0
    sums = {name: np.where(is_one, whole_sum(values, codes, size), np.nan) for name, values in amounts.items()}
    return {f"ledger.{name}": values for name, values in sums.items()} | {
        "ledger": np.where(is_one, columns["ledger"][first], nothing(size)),
        "ledger.unit": columns["ledger.unit"][first],
        "ledger.complete": np.bincount(codes, ~columns["ledger.complete"], minlength=size) == 0,
        "ledger.rate": ratio(sums["work"], whole_sum(columns["time"], codes, size)),
        "ledger.padding": ratio(sums["executed"], sums["work"]),
        "ledger.traffic": ratio(sums["moved"], sums["compulsory"]),
    }


def group_ranges(columns: Columns) -> Columns:
    """NVTX ranges of each input and device, longest first; a launch counts once in every range around it.

    A result over a range beside its launches does not count.

    Columns: ``input``, ``device_ordinal``, ``domain``, ``range``, ``launches`` (positions), ``time``, ``share`` of
    the time on the device, and the ``bound.`` columns of ``group_launches``.
    """
    distinct = [
        tuple(dict.fromkeys(ranges or ())) if counts else ()
        for ranges, counts in zip(columns["nvtx"], columns["adds_up"], strict=True)
    ]
    rows = np.repeat(np.arange(len(distinct)), [len(ranges) for ranges in distinct])
    names = (
        "launch",
        "kind",
        "time",
        "device_time",
        "adds_up",
        *DEVICE_KEY,
        "bound.by",
        "bound.time",
        "bound.fraction",
        "bound.complete",
    )
    inside = {name: columns[name][rows] for name in names}
    inside["domain"] = objects(domain for ranges in distinct for domain, _ in ranges)
    inside["range"] = objects(name for ranges in distinct for _, name in ranges)
    key = (*DEVICE_KEY, "domain", "range")
    return _longest_first(_together(inside, key, *_codes(inside, key))[0])


def _together(
    columns: Columns, key: Sequence[str], codes: Codes, size: int
) -> tuple[Columns, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """What every kind of group has: key, positions, time, share, bound; the order by group, and where each begins."""
    order = np.argsort(codes, kind="stable")
    begins = np.searchsorted(codes[order], np.arange(size))
    first = order[begins]
    time = _sum(columns["time"], codes, size)
    result: Columns = {name: columns[name][first] for name in key}
    result["launches"] = objects(
        tuple(part.tolist()) for part in np.split(columns["launch"][order], begins[1:]) if size
    )
    result["time"] = time
    result["share"] = ratio(time, columns["device_time"][first])
    result["share"][np.bincount(codes, ~columns["adds_up"], minlength=size) > 0] = np.nan
    return result | _bound(columns, codes, size), order, begins


def _longest_first(groups: Columns) -> Columns:
    """Groups by their time, those without one last."""
    order = np.argsort(-np.nan_to_num(groups["time"], nan=-np.inf), kind="stable")
    return {name: column[order] for name, column in groups.items()}


def _codes(columns: Columns, key: Sequence[str]) -> tuple[Codes, int]:
    """Number of the group of each launch, groups in order of first appearance, and how many there are."""
    codes, keys = numbered_rows([columns[name] for name in key])
    return codes, len(keys)


def _bound(columns: Columns, codes: Codes, size: int) -> Columns:
    both = ~np.isnan(columns["bound.time"]) & ~np.isnan(columns["time"])
    measured = _sum(np.where(both, columns["time"], np.nan), codes, size)
    bound = _sum(np.where(both, columns["bound.time"], np.nan), codes, size)
    # With rates only the launch nearest to its ceiling stands for the group.
    highest = unknown(size)
    np.fmax.at(highest, codes, columns["bound.fraction"])
    incomplete = np.bincount(codes, ~columns["bound.complete"], minlength=size)
    return {
        "bound.by": leading_bound(columns, codes, size),
        "bound.time": _sum(columns["bound.time"], codes, size),
        "bound.fraction": np.where(np.isnan(measured), highest, ratio(bound, measured)),
        "bound.headroom": measured - bound,
        "bound.complete": incomplete == 0,
    }


def leading_bound(columns: Columns, codes: Codes, size: int) -> ObjectArray:
    """What binds most of the time of each group; None where for most of it nothing can be said."""
    time, fraction = columns["time"], columns["bound.fraction"]
    # Without times the launches that are nearer to their ceiling stand for the group.
    weight = np.where(np.isnan(time), np.where(np.isnan(fraction), 1.0, fraction), time)
    by = columns["bound.by"]
    best, leading = np.zeros(size), nothing(size)
    for name in dict.fromkeys(by.tolist()):
        mine = by == name if name is not None else by == None  # noqa: E711
        amount = np.bincount(codes[mine], weight[mine], minlength=size)
        leading[amount > best] = name
        best = np.maximum(best, amount)
    return leading


def _known(columns: Columns, codes: Codes, size: int) -> tuple[dict[str, BoolArray], BoolArray]:
    """Launches of which each tier and path counts in its group, and the groups whose values may be divided.

    Those are the launches with an amount and a time and, where some launch of the group has them, all other core tiers
    and floating-point paths; if there are none such, those with the amount (and a time, if any has both). A part of an
    amount counts only where no launch of the group has the whole. An upper bound of the work on a path does not count
    itself, and takes nothing from the others. Values of a group may be divided by each other where some launches have
    all, or all launches that have any have the same, and as many of them count.
    """
    found, measured = {}, {}
    for name in (*TIERS, *PATHS):
        prefix = amount_prefix(name)
        if f"{prefix}.rate" in columns:
            extent = columns[f"{prefix}.extent"]
            exact = np.asarray(extent == Extent.EXACT.label)
            counts = exact | np.asarray(extent == Extent.AT_LEAST.label)
            if name in TIERS:
                counts = np.asarray(extent != None)  # noqa: E711 (element by element)
            counts &= ~np.isnan(columns[f"{prefix}.{'bytes' if name in TIERS else 'count'}"])
            found[name] = np.where(_any(exact & counts, codes, size), exact & counts, counts)
            measured[name] = found[name] | np.asarray(extent == Extent.AT_MOST.label)
    timed = ~np.isnan(columns["time"])
    both = {name: counts & timed for name, counts in found.items()}
    every = np.ones(len(codes), np.bool_)
    shared = [measured[name] for name in found if name in (*CORE_TIERS, *FLOP_PATHS)]
    common = np.all([timed, *(mine & timed | ~_any(mine & timed, codes, size) for mine in shared)], axis=0)
    has_common = _any(common, codes, size)
    lacking = np.any([every & False, *(_any(mine, codes, size) & ~mine for mine in shared)], axis=0)
    lacking &= np.any([every & False, *shared], axis=0)
    may_divide = np.bincount(codes, has_common | ~_any(lacking, codes, size), minlength=size) > 0
    common |= ~has_common
    return {
        name: np.where(_any(mine, codes, size), mine & (common | ~_any(mine & common, codes, size)), found[name])
        for name, mine in both.items()
    }, may_divide


def _any(hit: BoolArray, codes: Codes, size: int) -> BoolArray:
    """For each launch, whether some launch of its group is hit."""
    return np.asarray((np.bincount(codes, hit, minlength=size) > 0)[codes])


def _paths(columns: Columns, codes: Codes, size: int, known: Mapping[str, BoolArray]) -> Columns:
    """Every path, and the leading one: nearest to its ceiling; without any ceiling, that with the highest rate."""
    result: Columns = {}
    path, rate, share = nothing(size), unknown(size), unknown(size)
    for name in PATHS:
        if f"work.{name}.rate" not in columns:
            continue
        result |= _amount_of(columns, name, codes, size, known[name])
        own_rate, own_share = result[f"{name}.rate"], result[f"{name}.share"]
        nearer = (np.nan_to_num(own_share, nan=-1.0) > np.nan_to_num(share, nan=-1.0)) & (own_rate > 0)
        faster = np.isnan(share) & np.isnan(own_share) & (own_rate > np.nan_to_num(rate))
        take = nearer | faster
        if name in NEVER_BINDING_PATHS:
            take &= path == None  # noqa: E711
        path[take], rate[take], share[take] = name, own_rate[take], own_share[take]
    return result | {"leading.path": path, "leading.rate": rate, "leading.share": share}


def _amount_of(columns: Columns, name: str, codes: Codes, size: int, mine: BoolArray) -> Columns:
    """Amount, rate and share of the ceiling of each group at a tier or on a path, over some launches: sums over sums.

    Without times or amounts only a group of one launch has a rate.
    """
    prefix, amount = amount_prefix(name), "bytes" if name in TIERS else "count"
    total, rate, peak = (columns[f"{prefix}.{column}"] for column in (amount, "rate", "peak"))
    if name in PATHS:
        extent = columns[f"{prefix}.extent"]
        rate = np.where((extent == Extent.EXACT.label) | (extent == Extent.AT_LEAST.label), rate, np.nan)
    alone = np.bincount(codes, minlength=size) == 1
    single_rate, single_share = unknown(size), unknown(size)
    single_rate[codes], single_share[codes] = rate, ratio(rate, peak)
    total, time = np.where(mine, total, np.nan), np.where(mine, columns["time"], np.nan)
    whole, whole_time = _sum(total, codes, size), _sum(time, codes, size)
    needed = np.where(mine, ratio(total, peak), 0.0)
    share = ratio(whole_sum(needed, codes, size), whole_time)
    return {
        f"{name}.rate": np.where(alone, single_rate, ratio(whole, whole_time)),
        f"{name}.share": np.where(alone, single_share, share),
        f"{name}.{amount}": whole,
        f"{name}.known": np.bincount(codes, mine, minlength=size).astype(np.int64),
    }


def whole_sum(values: FloatArray, codes: Codes, size: int) -> FloatArray:
    """Sum per group, not known where one value is not known."""
    return np.bincount(codes, values, minlength=size).astype(np.float64)


def _sum(values: FloatArray, codes: Codes, size: int) -> FloatArray:
    """Sum per group of what is known, not known where nothing is."""
    known = ~np.isnan(values)
    total = np.bincount(codes[known], values[known], minlength=size)
    return np.where(np.bincount(codes[known], minlength=size) > 0, total, np.nan)
