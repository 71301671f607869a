"""All that is known of a job: bounds of the launches, steps of a timeline, and the triage of kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ncu_roofline.arrays import BoolArray, Columns, FloatArray
from ncu_roofline.budget.application import ApplicationBound, application_bound, resource_seconds
from ncu_roofline.budget.step import Step, devices_apart, steps_of
from ncu_roofline.budget.triage import Triage, triage
from ncu_roofline.errors import UsageError
from ncu_roofline.launch_filter import inside_range
from ncu_roofline.maps import MetricMap
from ncu_roofline.timings import Timeline
from ncu_roofline.wording import some

_SHOWN: Final = 8
"""Ranges that are offered where one is not found."""


@dataclass(frozen=True)
class DeviceBound:
    """The launches of one input and device of the reports; no bound where no launch has one and a time."""

    name: str
    bound: ApplicationBound | None
    launches: int


@dataclass(frozen=True)
class Budget:
    """What a job takes and could take; without a timeline there are no steps.

    ``call``: seconds of the host for each kernel that it launches; NaN: not known. ``apart``: why fractions of the
    reports are not used for devices of the timeline, or may not be those of them.
    """

    bounds: tuple[DeviceBound, ...]
    timeline: Timeline | None
    steps: tuple[Step, ...]
    triage: tuple[Triage, ...]
    call: float
    apart: tuple[str, ...] = ()


def budget_of(
    columns: Columns, maps: Mapping[str, MetricMap], groups: Columns, paths: Sequence[str],
    *, timeline: Timeline | None = None, nvtx: str | None = None, call: float = math.nan,
) -> Budget:  # fmt: skip
    """The budget of the launches of some reports.

    Args:
        columns: the roofline table.
        maps: metric maps by name.
        groups: launches taken together.
        paths: names of the inputs.
        timeline: what devices did in the whole job.
        nvtx: a range of the timeline, ``RANGE`` or ``DOMAIN@RANGE``; None: all of it.
        call: seconds of the host for each kernel that it launches; NaN: that of the timeline.

    Raises:
        UsageError: if nothing in the timeline was launched inside the range.

    """
    needed = resource_seconds(columns, maps)
    bounds = tuple(_bounds(columns, needed, paths))
    if timeline is None:
        return Budget(bounds, None, (), triage(columns, needed, groups, call), call)
    steps = steps_of(columns, needed, timeline, None if nvtx is None else _inside(timeline, nvtx))
    if math.isnan(call):
        # Of several devices the host that is slowest: what is said of it is then the worst.
        call = max((one.host_time / one.launches for one in steps if one.call > 0), default=math.nan)
    judged = triage(columns, needed, groups, call)
    return Budget(bounds, timeline, steps, judged, call, devices_apart(columns, timeline))


def _bounds(columns: Columns, needed: Mapping[str, FloatArray], paths: Sequence[str]) -> list[DeviceBound]:
    """The bound of the launches of each input and device."""
    places = list(zip(columns["input"].tolist(), columns["device_ordinal"].tolist(), strict=True))
    found = []
    for place in dict.fromkeys(places):
        mine = (columns["input"] == place[0]) & (columns["device_ordinal"] == place[1])
        name = f"{paths[place[0]]}, {columns['device'][mine][0] or 'device not stated'}"
        launches = int(columns["invocations"][mine].sum())
        found.append(DeviceBound(name, application_bound(columns, needed, mine), launches))
    return found


def _inside(timeline: Timeline, nvtx: str) -> BoolArray:
    keep = inside_range(timeline.activities["nvtx"], nvtx)
    if not keep.any():
        known = dict.fromkeys(name for pairs in timeline.activities["nvtx"] for _, name in pairs or ())
        offer = f"ranges are {some(list(known), _SHOWN)}" if known else "it has no NVTX ranges around launches"
        raise UsageError("nvtx", nvtx, f"selects no activity of the timeline; {offer}")
    return keep
