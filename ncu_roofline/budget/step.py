"""A whole step on a timeline: how long it took, what could be left of it, and the list of where the difference is.

Times are those of the timeline; what a kernel could reach is its fraction under ncu, where bound and time were measured
together. No byte or clock of one is paired with a time of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import (
    BoolArray,
    Columns,
    FloatArray,
    ObjectArray,
    mapped,
    nothing,
    numbered_rows,
    objects,
    unknown,
)
from ncu_roofline.budget.occupied import covered, covered_within, merged, shared
from ncu_roofline.devices import product_of
from ncu_roofline.grouping import leading_bound
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
    base_name,
    join,
)

COMMUNICATION: Final = "communication"
"""Kernels that move data between devices."""
OUTSIDE: Final = "outside"
"""What ran in the time of the step and does not belong to it."""
_COMMUNICATES: Final = re.compile(
    r"^(nccl|rccl|nvshmem|multimem_)|(?<![A-Za-z])(all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|cross_device_reduce)"
    r"|AllReduce|AllGather|ReduceScatter|AllToAll"
)

_NOISE: Final = 1e-12
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
    """What one device (None: not told which) did; all times in seconds.

    ``span`` from its first to its last activity is ``busy`` (something runs) and ``idle``; ``idle_by`` says why: the
    next launch was not issued yet (``host``), nor could it be since the host waited (``synchronisation``), or it was
    issued and had not begun (``queued``); ``unknown`` without its call. ``kernels``: sum of the durations of kernels,
    of which ``overlapped`` ran beside another one. ``exposed``: time in which only communication, transfers, copies or
    graphs ran. ``calls`` launched the kernels (one call may launch a graph of many), ``call`` is their median duration,
    NaN where none was traced.

    ``groups``: ``kernel``, ``grid``, ``block``, ``launches``, ``time`` (sum of durations), ``alone`` (while nothing
    else ran), ``part`` (each instant divided among what ran in it, so that all parts make ``busy``), ``fraction`` and
    ``complete`` of ncu, ``match`` (``strong``, ``weak``, None), ``bound.by``, ``could`` (the part at the
    bound; as it is without a fraction) and ``kind``, longest first.

    ``serial``: kernels at their bounds and everything else as it is, one after the other; ``by_stream``: the same of
    the busiest stream alone; ``aggregate``: the busiest resource alone, ``resource``, of the kernels with a fraction.
    """

    device: int | None
    span: float
    busy: float
    idle_by: Mapping[str, float]
    kernels: float
    overlapped: float
    exposed: Mapping[str, float]
    graphs: float
    launches: int
    calls: int
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
    def host_time(self) -> float:
        """Seconds of the host in calls that launch kernels."""
        return self.calls * self.call

    @property
    def complete(self) -> bool:
        """Whether every known fraction is a whole one."""
        known = ~np.isnan(self.groups["fraction"])
        return bool(self.groups["complete"][known].all())


def steps_of(
    columns: Columns, needed: Mapping[str, FloatArray], timeline: Timeline, keep: BoolArray | None = None
) -> tuple[Step, ...]:
    """The step of every device of a timeline.

    Args:
        columns: the roofline table of ncu, a sample of the launches.
        needed: seconds of each resource (``resource_seconds``).
        timeline: what the devices did.
        keep: activities that belong to the step; None: all. What else ran in its time hides gaps, and no more.

    """
    activities = timeline.activities
    kept = np.ones(len(activities["start"]), np.bool_) if keep is None else keep
    steps = []
    known: dict[str | None, _Known] = {}
    for device in dict.fromkeys(activities["device"][kept].tolist()):
        mine = activities["device"] == device
        begin, end = activities["start"][mine & kept].min(), activities["end"][mine & kept].max()
        mine &= (activities["end"] > begin) & (activities["start"] < end)
        window = {name: column[mine] for name, column in activities.items()}
        window["start"], window["end"] = np.maximum(window["start"], begin), np.minimum(window["end"], end)
        name = timeline.devices.get(device)
        if name not in known:
            known[name] = _known_groups(columns, needed, name)
        steps.append(_step(device, window, kept[mine], timeline.waits, known[name]))
    return tuple(steps)


def devices_apart(columns: Columns, timeline: Timeline) -> tuple[str, ...]:
    """What to say of devices of a timeline that are not, or may not be, those of the reports."""
    said = []
    for device in dict.fromkeys(timeline.activities["device"].tolist()):
        name = timeline.devices.get(device)
        others = ~_may_be_of(columns, name)
        if name is None:
            which = f"what device {device} is" if device >= 0 else "which device did what"
            said.append(f"The timeline does not say {which}: the reports are taken to be of it.")
        elif others.any():
            names = ", ".join(dict.fromkeys(columns["device"][others].tolist()))
            said.append(
                f"Device {device} is {name}: no fraction is used of the {others.sum()} launches of the reports that "
                f"ran on {names}."
            )
    return tuple(said)


def _may_be_of(columns: Columns, device: str | None) -> BoolArray:
    """Launches against which nothing speaks that they ran on a device."""

    def may_be(name: str | None) -> bool:
        product = product_of(name)
        return (
            name is None
            or device is None
            or same_device(name, device)
            or (product is not None and product == product_of(device))
        )

    return mapped(may_be, columns["device"].tolist()).astype(np.bool_)


@dataclass(frozen=True)
class _Known:
    """Groups of ncu as times that can be joined, what they reached, and seconds of each resource over their time."""

    timings: Timings
    fraction: FloatArray
    complete: BoolArray
    by: ObjectArray
    shares: Mapping[str, FloatArray]


def _known_groups(columns: Columns, needed: Mapping[str, FloatArray], device: str | None) -> _Known:
    """Launches of one name and shape over all reports that may be of a device, as far as they have bound and time."""
    usable = _may_be_of(columns, device) & ~np.isnan(columns["time"]) & ~np.isnan(columns["bound.time"])
    columns = {name: column[usable] for name, column in columns.items()}
    codes, keys = numbered_rows([columns[name] for name in ("kernel", "grid", "block")])
    size = len(keys)
    first = np.unique(codes, return_index=True)[1]
    time, bound = (np.bincount(codes, columns[name], minlength=size) for name in ("time", "bound.time"))
    table: Columns = {name: columns[name][first] for name in ("kernel", "grid", "block", "mangled")} | {
        "device": nothing(size),
        "time": time,
        "samples": np.ones(size, np.int64),
        "statistic": objects([GIVEN] * size),
    }
    shares = {
        # Above its ceiling a kernel is at its bound, and no more is promised.
        resource: np.bincount(codes, np.nan_to_num(seconds[usable]), minlength=size) / np.maximum(time, bound)
        for resource, seconds in needed.items()
    }
    return _Known(
        Timings("ncu", "ncu", table, TimingConditions(None, UNLOCKED)),
        bound / time,
        np.bincount(codes, ~columns["bound.complete"], minlength=size) == 0,
        leading_bound(columns, codes, size),
        shares,
    )


def _step(device: int, activities: Columns, inside: BoolArray, waits: Columns, known: _Known) -> Step:
    start, end = activities["start"], activities["end"]
    duration = end - start
    codes, keys = numbered_rows([*(activities[name] for name in ("kernel", "grid", "block", "kind")), inside])
    kind_of_group = mapped(lambda key: _kind_of(key[0], key[3]) if key[4] else OUTSIDE, keys)
    kinds = kind_of_group[codes]
    groups = _groups(codes, keys, activities, duration, known) | {"kind": kind_of_group}
    alone, part = shared(start, end)
    groups["alone"], groups["part"] = (np.bincount(codes, values, minlength=len(keys)) for values in (alone, part))
    reached = np.where(np.isnan(groups["fraction"]), 1.0, np.minimum(groups["fraction"], 1.0))
    groups["could"] = groups["part"] * reached
    own = groups["kind"] != OUTSIDE
    is_kernel = inside & (activities["kind"] == KERNEL)
    kernel_time = float(duration[is_kernel].sum())
    span, busy = float(end.max() - start.min()), covered(start, end)
    calls, call = _calls(activities, is_kernel)
    order = np.flatnonzero(own)[np.argsort(-groups["time"][own], kind="stable")]
    shown = {name: column[order] for name, column in groups.items()}
    has_fraction = ~np.isnan(shown["fraction"])
    aggregate, resource = _aggregate(shown, known)
    step = Step(
        device=device if device >= 0 else None,
        span=span,
        busy=busy,
        idle_by=_idle(activities, _waits_of(waits, activities)),
        kernels=kernel_time,
        overlapped=_above_noise(kernel_time - covered(start[is_kernel], end[is_kernel]), kernel_time),
        exposed={
            kind: _above_noise(busy - covered(start[kinds != kind], end[kinds != kind]), busy)
            for kind in (COMMUNICATION, TRANSFER, COPY, GRAPH)
            if (kinds == kind).any()
        },
        graphs=float(duration[kinds == GRAPH].sum()),
        launches=int(is_kernel.sum()),
        calls=calls,
        call=call,
        streams=len(set(activities["stream"][inside].tolist())),
        groups=shown,
        known_share=float(shown["time"][has_fraction].sum()) / kernel_time if kernel_time > 0 else np.nan,
        serial=float(shown["could"].sum()),
        by_stream=float(np.bincount(activities["stream"][inside], (part * reached[codes])[inside]).max()),
        aggregate=aggregate,
        resource=resource,
        items=(),
    )
    return replace(step, items=tuple(sorted(_items(step), key=lambda item: -item.seconds)))


def _above_noise(value: float, of: float) -> float:
    """A difference of sums, 0 where it is their rounding."""
    return value if value > _NOISE * of else 0.0


def _calls(activities: Columns, is_kernel: BoolArray) -> tuple[int, float]:
    """How many calls launched kernels, and their median duration (NaN where none was traced)."""
    traced = is_kernel & (activities["call"] >= 0)
    first = np.unique(activities["call"][traced], return_index=True)[1]
    took = (activities["returned"] - activities["issued"])[traced][first]
    return len(took), float(np.median(took)) if len(took) else np.nan


def _kind_of(kernel: str | None, kind: str) -> str:
    return COMMUNICATION if kernel and _COMMUNICATES.search(base_name(kernel)) else kind


def _groups(
    codes: npt.NDArray[np.intp],
    keys: list[tuple[object, ...]],
    activities: Columns,
    duration: FloatArray,
    known: _Known,
) -> Columns:
    """Kernels of one name and shape, and everything else of one kind, with what ncu knows of them."""
    size = len(keys)
    columns = zip(*(key[:3] for key in keys), strict=True)
    groups: Columns = {name: objects(values) for name, values in zip(("kernel", "grid", "block"), columns, strict=True)}
    groups["mangled"] = activities["mangled"][np.unique(codes, return_index=True)[1]]
    groups["launches"] = np.bincount(codes, minlength=size)
    groups["time"] = np.bincount(codes, duration, minlength=size)
    launches = {name: groups[name] for name in ("kernel", "mangled", "grid", "block")} | {
        "input": np.zeros(size, np.int64),
        "device_ordinal": nothing(size),
        "invocations": np.ones(size, np.int64),
    }
    found = join(launches, [known.timings])
    # Without a name nothing can be meant.
    row = np.where(groups["kernel"] == None, -1, found["external.row"])  # noqa: E711 (element by element)
    has_row = row >= 0
    fraction, complete, by = unknown(size), np.ones(size, np.bool_), nothing(size)
    fraction[has_row] = known.fraction[row[has_row]]
    complete[has_row] = known.complete[row[has_row]]
    by[has_row] = known.by[row[has_row]]
    return groups | {
        "row": row, "match": found["external.match"], "fraction": fraction, "complete": complete, "bound.by": by
    }  # fmt: skip


def _aggregate(groups: Columns, known: _Known) -> tuple[float, str | None]:
    """Seconds of the busiest resource over all kernels with a fraction, and which it is."""
    has_fraction = ~np.isnan(groups["fraction"])
    rows, time = groups["row"][has_fraction], groups["part"][has_fraction]
    loads = {resource: float((time * share[rows]).sum()) for resource, share in known.shares.items()}
    resource = max(loads, key=lambda name: loads[name], default=None)
    return (loads[resource], resource) if resource is not None and len(rows) else (np.nan, None)


def _waits_of(waits: Columns, activities: Columns) -> Columns:
    """Waits of the processes of some activities; of all where an activity does not tell its process."""
    processes = np.unique(activities["process"])
    mine = (processes < 0).any() | np.isin(waits["process"], processes)
    return {name: column[mine] for name, column in waits.items()}


def _idle(activities: Columns, waits: Columns) -> dict[str, float]:
    """Gaps between activities by what they waited for."""
    begins, ends = merged(activities["start"], activities["end"])
    low, high = ends[:-1], begins[1:]
    following = np.searchsorted(activities["start"], high)
    issued = activities["issued"][following]
    traced = ~np.isnan(issued)
    until = np.clip(np.where(traced, issued, low), low, high)
    waited = covered_within(waits["start"], waits["end"], low, until)
    late = np.maximum(until - low - waited, 0.0)
    return {
        HOST: float(late[traced].sum()),
        SYNCHRONISATION: float(waited[traced].sum()),
        QUEUED: float((high - until)[traced].sum()),
        NOT_ISSUED: float((high - low)[~traced].sum()),
    }


def _items(step: Step) -> Iterator[Item]:
    """Where time could be won."""
    groups = step.groups
    # What nothing hides of communication is an item of its own.
    for place in np.flatnonzero((groups["fraction"] < 1.0) & (groups["kind"] == KERNEL)):
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
        (HOST, "nothing was issued", "nothing ran, and the call of the next activity had not begun"),
        (SYNCHRONISATION, "host waited", "nothing ran, and the host was in a call that waits for the device"),
        (QUEUED, "gaps after the launch", "nothing ran although the next activity had been issued"),
        (NOT_ISSUED, "gaps of unknown cause", "nothing ran, and the call of the next activity is not in the timeline"),
    ):
        if step.idle_by[kind] > 0:
            yield _item(step, kind, name, step.idle_by[kind], said)


def _item(step: Step, kind: str, name: str, seconds: float, evidence: str, *, at_most: bool = False) -> Item:
    left = step.span - seconds
    return Item(kind, name, seconds, step.span / left if left > 0 else np.inf, evidence, at_most)
