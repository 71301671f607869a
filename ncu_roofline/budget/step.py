"""A whole step on a timeline: how long it took, what could be left of it, and the list of where the difference is.

Times are those of the timeline; what a kernel could reach is its fraction under ncu, where bound and time were measured
together. No byte or clock of one is paired with a time of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ncu_roofline.arrays import BoolArray, Columns, FloatArray, nothing, numbered, objects, ratio, unknown
from ncu_roofline.budget.application import resource_seconds
from ncu_roofline.budget.occupied import Numbers, alone, covered, covered_within, merged
from ncu_roofline.devices import product_of
from ncu_roofline.grouping import group_over_ranks
from ncu_roofline.maps import MetricMap
from ncu_roofline.measured import same_device
from ncu_roofline.timings import (
    COPY,
    GIVEN,
    GRAPH,
    KERNEL,
    TRANSFER,
    UNLOCKED,
    Timeline,
    TimingConditions,
    Timings,
    join,
)

COMMUNICATION: Final = "communication"
"""Kernels that move data between devices."""
_COMMUNICATES: Final = re.compile(
    r"nccl|rccl|nvshmem|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all", re.IGNORECASE
)

HOST, SYNCHRONISATION, QUEUED, NOT_ISSUED = "host", "synchronisation", "queued", "unknown"


@dataclass(frozen=True)
class Item:
    """One place where time could be won: seconds of the step, and how many times as fast it would be without them.

    ``at_most``: the seconds are an upper bound, since something that may bind is not known.
    """

    kind: str
    """``kernel``, ``communication``, ``transfer``, ``copy``, ``host``, ``synchronisation`` or ``queued``."""
    name: str
    seconds: float
    speedup: float
    evidence: str
    at_most: bool = False


@dataclass(frozen=True)
class Step:
    """What one device did; all times in seconds.

    ``span`` from its first to its last activity is ``busy`` (something runs) and ``idle``; ``idle_by`` says why: the
    next launch was not issued yet (``host``), nor could it be since the host waited (``synchronisation``), or it was
    issued and had not begun (``queued``); ``unknown`` without its call. ``kernels``: sum of the durations of kernels,
    of which ``overlapped`` ran beside another one. ``exposed``: time in which only communication, transfers, copies or
    graphs ran. ``call``: median duration of the calls that launched kernels.

    ``groups``: ``kernel``, ``grid``, ``block``, ``launches``, ``time``, ``alone`` (nothing else ran), ``fraction`` and
    ``complete`` of ncu, ``match`` (``strong``, ``weak``, None), ``bound.by``, ``could`` (at the bound; as
    it is where no fraction is known) and ``kind``, longest first.

    ``serial``: kernels at their bounds and everything else as it is, one after the other; ``by_stream``: the same of
    the busiest stream alone; ``aggregate``: the busiest resource alone, ``resource``, of the kernels with a fraction.
    """

    device: int
    span: float
    busy: float
    idle_by: Mapping[str, float]
    kernels: float
    overlapped: float
    exposed: Mapping[str, float]
    graphs: float
    launches: int
    call: float
    streams: int
    groups: Columns
    known_share: float
    serial: float
    by_stream: float
    aggregate: float
    resource: str | None
    items: tuple[Item, ...]

    @property
    def idle(self) -> float:
        """Time in which nothing ran."""
        return self.span - self.busy

    @property
    def complete(self) -> bool:
        """Whether every known fraction is a whole one."""
        known = ~np.isnan(self.groups["fraction"])
        return bool(self.groups["complete"][known].all())


def steps_of(
    columns: Columns, maps: Mapping[str, MetricMap], timeline: Timeline, keep: BoolArray | None = None
) -> tuple[Step, ...]:
    """The step of every device of a timeline.

    Args:
        columns: the roofline table of ncu, a sample of the launches.
        maps: metric maps by name.
        timeline: what the devices did.
        keep: activities that belong to the step; None: all.

    """
    activities = timeline.activities
    kept = np.ones(len(activities["start"]), np.bool_) if keep is None else keep
    known = _known_groups(columns, maps, usable=not devices_apart(columns, timeline))
    steps = []
    for device in dict.fromkeys(activities["device"][kept].tolist()):
        mine = kept & (activities["device"] == device)
        steps.append(_step(device, {name: column[mine] for name, column in activities.items()}, timeline, known))
    return tuple(steps)


@dataclass(frozen=True)
class _Known:
    """Groups of ncu as times that can be joined, what they reached, and seconds of each resource over their time."""

    timings: Timings
    groups: Columns
    shares: Mapping[str, FloatArray]


def devices_apart(columns: Columns, timeline: Timeline) -> str:
    """Why fractions of the report are not those of the timeline's devices; empty if nothing speaks against it."""
    ours = list(dict.fromkeys(columns["device"].tolist()))
    theirs = timeline.device_names
    if not theirs or None in ours or any(_may_be_one(mine, other) for mine in ours for other in theirs):
        return ""
    return (
        f"The report is of {', '.join(ours)} and the timeline of {', '.join(theirs)}: no fraction of the one is used "
        "for the other."
    )


def _may_be_one(name: str, other: str) -> bool:
    product = product_of(name)
    return same_device(name, other) or (product is not None and product == product_of(other))


def _known_groups(columns: Columns, maps: Mapping[str, MetricMap], *, usable: bool) -> _Known:
    if not usable:
        columns = {name: column[:0] for name, column in columns.items()}
    groups = group_over_ranks(columns | {"device_time": columns["total_time"]})
    members = [np.searchsorted(columns["launch"], launches) for launches in groups["launches"]]
    size = len(members)
    first = [rows[0] for rows in members]
    table: Columns = {name: groups[name] for name in ("kernel", "grid", "block")}
    table |= {
        "mangled": columns["mangled"][first] if size else nothing(0),
        "device": nothing(size),
        "time": groups["time"],
        "samples": np.ones(size, np.int64),
        "statistic": objects([GIVEN] * size),
    }
    loads = resource_seconds(columns, maps)
    shares = {
        resource: ratio(np.array([seconds[rows].sum() for rows in members]), groups["time"])
        for resource, seconds in loads.items()
    }
    return _Known(Timings("ncu", "ncu", table, TimingConditions(None, UNLOCKED)), groups, shares)


def _step(device: int, activities: Columns, timeline: Timeline, known: _Known) -> Step:
    start, end = activities["start"], activities["end"]
    is_kernel = activities["kind"] == KERNEL
    names = activities["kernel"]
    talks = np.array([bool(name) and _COMMUNICATES.search(name) is not None for name in names.tolist()])
    kinds = np.where(talks, COMMUNICATION, activities["kind"])
    codes, keys = numbered(
        zip(*(activities[name].tolist() for name in ("kernel", "grid", "block")), kinds.tolist(), strict=True)
    )
    duration = end - start
    groups = _groups(codes, keys, activities, duration, known)
    groups["alone"] = alone(start, end, codes, len(keys))
    could = np.where(np.isnan(groups["fraction"]), groups["time"], groups["time"] * np.minimum(groups["fraction"], 1.0))
    groups["could"] = could
    scale = ratio(could, groups["time"])[codes]
    streams = np.bincount(activities["stream"], duration * scale)
    kernel_time = float(duration[is_kernel].sum())
    has_fraction = ~np.isnan(groups["fraction"])
    known_time = float(groups["time"][has_fraction].sum())
    aggregate, resource = _aggregate(groups, known)
    span, busy = float(end.max() - start.min()), covered(start, end)
    idle = _idle(activities, timeline.waits)
    exposed = {
        kind: busy - covered(start[kinds != kind], end[kinds != kind])
        for kind in (COMMUNICATION, TRANSFER, COPY, GRAPH)
        if (kinds == kind).any()
    }
    order = np.argsort(-groups["time"], kind="stable")
    step = Step(
        device=device,
        span=span,
        busy=busy,
        idle_by=idle,
        kernels=kernel_time,
        overlapped=kernel_time - covered(start[is_kernel], end[is_kernel]),
        exposed=exposed,
        graphs=float(duration[kinds == GRAPH].sum()),
        launches=int(is_kernel.sum()),
        call=_median(activities["returned"][is_kernel] - activities["issued"][is_kernel]),
        streams=len(set(activities["stream"].tolist())),
        groups={name: column[order] for name, column in groups.items()},
        known_share=known_time / kernel_time if kernel_time > 0 else np.nan,
        serial=float(could.sum()),
        by_stream=float(streams.max()),
        aggregate=aggregate,
        resource=resource,
        items=(),
    )
    return replace(step, items=tuple(sorted(_items(step), key=lambda item: -item.seconds)))


def _groups(
    codes: Numbers, keys: Sequence[tuple[object, ...]], activities: Columns, duration: FloatArray, known: _Known
) -> Columns:
    """Kernels of one name and shape, and everything else of one kind, with what ncu knows of them."""
    size = len(keys)
    columns = list(zip(*keys, strict=True))
    groups: Columns = {
        name: objects(values) for name, values in zip(("kernel", "grid", "block", "kind"), columns, strict=True)
    }
    first = np.unique(codes, return_index=True)[1]
    groups["mangled"] = activities["mangled"][first]
    groups["launches"] = np.bincount(codes, minlength=size)
    groups["time"] = np.bincount(codes, duration, minlength=size)
    launches = {name: groups[name] for name in ("kernel", "mangled", "grid", "block")}
    launches |= {
        "input": np.zeros(size, np.int64),
        "device_ordinal": nothing(size),
        "invocations": np.ones(size, np.int64),
    }
    found = join(launches, [known.timings])
    row, match = found["external.row"], found["external.match"]
    # Without a name nothing can be meant.
    row = np.where(groups["kernel"] == None, -1, row)  # noqa: E711 (element by element)
    has_row = row >= 0
    fraction, complete, by = unknown(size), np.ones(size, np.bool_), nothing(size)
    fraction[has_row] = known.groups["bound.fraction"][row[has_row]]
    complete[has_row] = known.groups["bound.complete"][row[has_row]]
    by[has_row] = known.groups["bound.by"][row[has_row]]
    groups |= {"row": row, "match": match, "fraction": fraction, "complete": complete, "bound.by": by}
    return groups


def _aggregate(groups: Columns, known: _Known) -> tuple[float, str | None]:
    """Seconds of the busiest resource over all kernels with a fraction, and which it is."""
    has_fraction = ~np.isnan(groups["fraction"])
    rows, time = groups["row"][has_fraction], groups["time"][has_fraction]
    loads = {resource: float((time * share[rows]).sum()) for resource, share in known.shares.items()}
    resource = max(loads, key=lambda name: loads[name], default=None)
    return (loads[resource], resource) if resource is not None and len(rows) else (np.nan, None)


def _idle(activities: Columns, waits: Columns) -> dict[str, float]:
    """Gaps between activities by what they waited for."""
    begins, ends = merged(activities["start"], activities["end"])
    low, high = ends[:-1], begins[1:]
    following = np.searchsorted(activities["start"], high)
    issued = activities["issued"][following]
    traced = ~np.isnan(issued)
    until = np.clip(np.where(traced, issued, low), low, high)
    waited = covered_within(waits["start"], waits["end"], low, until)
    return {
        HOST: float((until - low - waited)[traced].sum()),
        SYNCHRONISATION: float(waited[traced].sum()),
        QUEUED: float((high - until)[traced].sum()),
        NOT_ISSUED: float((high - low)[~traced].sum()),
    }


def _median(values: FloatArray) -> float:
    found = values[~np.isnan(values)]
    return float(np.median(found)) if len(found) else np.nan


def _items(step: Step) -> Iterator[Item]:
    """Where time could be won."""
    groups = step.groups
    for place in np.flatnonzero(groups["fraction"] < 1.0):
        fraction = float(groups["fraction"][place])
        seconds = float(groups["alone"][place]) * (1.0 - fraction)
        said = f"{'at least ' if not groups['complete'][place] else ''}{fraction:.1%} of its bound under ncu"
        by = groups["bound.by"][place]
        said += f" ({by})" if by else ""
        said += ", found by a part of its name" if groups["match"][place] == "weak" else ""
        if seconds > 0:
            yield _item(
                step, KERNEL, str(groups["kernel"][place]), seconds, said, at_most=not groups["complete"][place]
            )
    for kind, said in (
        (COMMUNICATION, "only kernels that move data between devices ran"),
        (TRANSFER, "only copies between device and host, or two devices, ran"),
        (COPY, "only copies and fills on the device ran"),
    ):
        if step.exposed.get(kind, 0.0) > 0:
            yield _item(step, kind, f"{kind} that nothing hides", step.exposed[kind], said)
    for kind, name, said in (
        (HOST, "launches issued late", "nothing ran, and the call of the next activity had not begun"),
        (SYNCHRONISATION, "host waited", "nothing ran, and the host was in a call that waits for the device"),
        (QUEUED, "gaps after the launch", "nothing ran although the next activity had been issued"),
    ):
        if step.idle_by[kind] > 0:
            yield _item(step, kind, name, step.idle_by[kind], said)


def _item(step: Step, kind: str, name: str, seconds: float, evidence: str, *, at_most: bool = False) -> Item:
    left = step.span - seconds
    return Item(kind, name, seconds, step.span / left if left > 0 else np.inf, evidence, at_most)
