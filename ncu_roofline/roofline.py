"""The roofline arithmetic: t >= max over resources of the sum of amount / capacity.

Pure numpy on arrays over launches. A resource is a pipe, a memory tier, or a data path that tiers share;
members of one resource add up, different resources overlap. Knows no counters, maps or outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, FloatArray, highest, nothing, ratio, sum_known, unknown


@dataclass(frozen=True)
class Member:
    """An amount that occupies a resource: total, rate per second and capacity per second, NaN where unknown.

    ``pipe`` is the name of the pipe for work, None for memory.
    """

    id: str
    resource: str
    pipe: str | None
    total: FloatArray
    rate: FloatArray
    peak: FloatArray


@dataclass(frozen=True)
class Bound:
    """The bound of each launch: what binds, the time it allows, and how near the launch came to it."""

    by: npt.NDArray[np.object_]
    pipe: npt.NDArray[np.object_]
    time: FloatArray
    fraction: FloatArray
    headroom: FloatArray


def bound(members: Sequence[Member], time: FloatArray, *, undecided: BoolArray) -> Bound:
    """Bound of every launch from the members that are known.

    Args:
        members: amounts with their capacities; what must not bind is not passed.
        time: measured seconds, NaN where unknown.
        undecided: launches in which something that may bind is known to be missing; ``by`` stays None.

    """
    nobody = nothing(len(time))
    if not members:
        none = unknown(len(time))
        return Bound(nobody, nobody.copy(), none, none.copy(), none.copy())
    loads = np.stack([ratio(member.rate, member.peak) for member in members])
    times = np.stack([ratio(member.total, member.peak) for member in members])
    # With rates only the loads decide; with totals only the times do. With a time both say the same.
    weights = np.where(np.isnan(loads).all(axis=0), times, loads)
    names = list(dict.fromkeys(member.resource for member in members))
    usage = np.stack(
        [
            sum_known([w for w, member in zip(weights, members, strict=True) if member.resource == name])
            for name in names
        ]
    )
    known = ~np.isnan(usage).all(axis=0)
    binding = highest(list(np.where(np.isnan(usage), -1.0, usage)))
    value = usage[binding, np.arange(len(time))]
    in_binding = np.stack([binding == names.index(member.resource) for member in members])
    leading = highest(list(np.where(in_binding & ~np.isnan(weights), weights, -1.0)))
    untimed = np.isnan(time)
    only_totals = (np.isnan(loads) & ~np.isnan(times)).any(axis=0)
    from_loads = ~np.isnan(loads).all(axis=0)
    # Totals and rates of different members cannot be compared without a time.
    mixed = untimed & only_totals & from_loads
    decided = known & (value > 0) & ~undecided & ~mixed
    by = np.array([member.id for member in members], dtype=object)[leading]
    pipe = np.array([member.pipe for member in members], dtype=object)[leading]
    by[~decided] = None
    pipe[~decided] = None
    fraction = np.where(from_loads, value, np.nan)
    return Bound(by=by, pipe=pipe, time=fraction * time, fraction=fraction, headroom=time - fraction * time)
