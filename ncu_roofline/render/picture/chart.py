"""What a roofline chart shows: the roofs of one device at the clocks of the run, and a mark for every kernel group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import BoolArray, FloatArray
from ncu_roofline.budget import ApplicationBound
from ncu_roofline.render.picture.frame import Frame
from ncu_roofline.vocabulary import (
    NEVER_BINDING_PATHS,
    TIERS,
)

COMPUTE: Final = "compute"
FAR_FROM_ALL: Final = "far"
NOT_KNOWN: Final = "unknown"


@dataclass(frozen=True)
class Roof:
    """A ceiling: bandwidth of a tier (byte/s) or peak of a path (FLOP/s), with where it is from and its clock in Hz."""

    name: str
    value: float
    source: str
    clock: float

    @property
    def is_tier(self) -> bool:
        """Whether it is the bandwidth of a tier."""
        return self.name in TIERS


@dataclass(frozen=True)
class Use:
    """Work on a path or bytes at a tier: in all, per second, and as a share of the ceiling; NaN is not known.

    ``known``: of how many launches of the group it is.
    """

    total: float
    rate: float
    share: float
    known: int


@dataclass(frozen=True)
class Mark:
    """A kernel group; NaN and None are not known.

    ``path`` is the floating-point one that is drawn, ``rate`` its work per second; ``intensity``: that over the bytes
    per second of each tier (FLOP/byte); ``tier`` is the one at which it is drawn. ``leading`` is the path nearest to
    its ceiling, which may do no FLOP, with its rate; ``all_intensity``: FLOP of all paths over the bytes of each tier;
    ``busy``: throughput percentages of ncu, the lowest and the highest of the launches; ``ledger``: columns of the
    group's ledger (``group_launches``), empty where no problem is given.
    """

    number: int
    name: str
    full_name: str
    launches: int
    members: tuple[int, ...]
    """Positions of its launches."""
    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    time: float
    is_timed: bool
    """Whether the time is that of all launches."""
    share: float
    path: str | None
    rate: float
    work: Mapping[str, Use]
    traffic: Mapping[str, Use]
    leading: tuple[str | None, float]
    busy: Mapping[str, tuple[float, float]]
    ledger: Mapping[str, Any]
    intensity: Mapping[str, float]
    all_intensity: Mapping[str, float]
    bound: str | None
    fraction: float
    complete: bool
    tier: str | None
    kind: str
    """What its colour says: a tier, ``compute``, ``far`` or ``unknown``."""
    wrong: bool
    """Whether an error names a launch of it, or it lies above a ceiling."""

    @property
    def label(self) -> str:
        """Its number, with ``!`` where it is wrong."""
        return f"{self.number}{'!' if self.wrong else ''}"

    @property
    def is_on_chart(self) -> bool:
        """Whether it has a place on logarithmic axes."""
        return self.tier is not None

    @property
    def usage(self) -> dict[str, float]:
        """Share of the ceiling of everything that may bind, where it is known."""
        return usage(self.traffic, self.work)


@dataclass(frozen=True)
class Rest:
    """Groups beyond those with a mark: how many, their launches and share of the time, and where they lie."""

    groups: int
    launches: int
    share: float
    intensity: FloatArray
    rate: FloatArray


@dataclass(frozen=True)
class Chart:
    """One device: its roofs, its groups in the order of the table, and the frame."""

    device: str
    cc: str | None
    clock: tuple[float, float]
    """Lowest and highest SM clock of the launches in Hz."""
    roofs: tuple[Roof, ...]
    others: tuple[Roof, ...]
    """Ceilings of other sources that stand beside those in use."""
    marks: tuple[Mark, ...]
    rest: Rest
    frame: Frame
    time: float
    bound: ApplicationBound | None
    mine: BoolArray
    """The launches of the device."""

    @property
    def tiers(self) -> tuple[Roof, ...]:
        """Bandwidths."""
        return tuple(roof for roof in self.roofs if roof.is_tier)

    @property
    def paths(self) -> tuple[Roof, ...]:
        """Peaks of paths."""
        return tuple(roof for roof in self.roofs if not roof.is_tier)

    @property
    def groups(self) -> int:
        """Number of kernel groups."""
        return len(self.marks) + self.rest.groups

    @property
    def launches(self) -> int:
        """Number of launches."""
        return sum(mark.launches for mark in self.marks) + self.rest.launches

    @property
    def outside(self) -> tuple[Mark, ...]:
        """Groups that lie beyond the frame."""
        return tuple(mark for mark in self.marks if mark.tier and not self.holds(mark.intensity[mark.tier], mark.rate))

    def holds(self, intensity: float, rate: float) -> bool:
        """Whether a place (FLOP/byte, FLOP/s) lies in the frame."""
        return 0.0 <= self.frame.x(intensity) <= 1.0 and 0.0 <= self.frame.y(rate) <= 1.0


def only_roofs(device: str, roofs: Sequence[Roof], frame: Frame) -> Chart:
    """The roofs of a machine, on which somebody else draws."""
    none = np.zeros(0)
    return Chart(
        device=device, cc=None, clock=(math.nan, math.nan), roofs=tuple(roofs), others=(), marks=(),
        rest=Rest(0, 0, 0.0, none, none), frame=frame, time=math.nan, bound=None, mine=np.zeros(0, np.bool_),
    )  # fmt: skip


def usage(traffic: Mapping[str, Use], work: Mapping[str, Use]) -> dict[str, float]:
    """Share of the ceiling of everything that may bind, where it is known."""
    return {
        name: use.share
        for name, use in (*traffic.items(), *work.items())
        if not math.isnan(use.share) and name not in NEVER_BINDING_PATHS
    }
