"""What a roofline chart shows: the roofs of one device at the clocks of the run, and a mark for every kernel group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import BoolArray, Columns, rows
from ncu_roofline.render.picture.frame import Frame, frame_of
from ncu_roofline.render.picture.names import short_names
from ncu_roofline.vocabulary import CORE_TIERS, FLOP_PATHS, TIERS, Severity, amount_prefix

FAR: Final = 0.4
"""Share of every ceiling below which a group is far from all of them."""
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
class Mark:
    """A kernel group; NaN and None are not known.

    ``intensity``: FLOP/byte of the leading path at each tier; ``usage``: share of the ceiling of each tier and of the
    path. ``tier`` is the one at which it is drawn.
    """

    number: int
    name: str
    full_name: str
    launches: int
    time: float
    share: float
    path: str | None
    rate: float
    intensity: Mapping[str, float]
    usage: Mapping[str, float]
    bound: str | None
    fraction: float
    complete: bool
    tier: str | None
    kind: str
    """What its colour says: a tier, ``compute``, ``far`` or ``unknown``."""
    wrong: bool
    """Whether a finding that is an error names a launch of it, as where it lies above a ceiling."""

    @property
    def label(self) -> str:
        """Its number, with ``!`` where it is wrong."""
        return f"{self.number}{'!' if self.wrong else ''}"

    @property
    def is_on_chart(self) -> bool:
        """Whether it has a place on logarithmic axes."""
        return self.tier is not None


@dataclass(frozen=True)
class Chart:
    """One device: its roofs, its groups in the order of the table, and the frame."""

    device: str
    cc: str | None
    clock: tuple[float, float]
    """Lowest and highest SM clock of the launches in Hz."""
    roofs: tuple[Roof, ...]
    marks: tuple[Mark, ...]
    frame: Frame
    time: float

    @property
    def tiers(self) -> tuple[Roof, ...]:
        """Bandwidths."""
        return tuple(roof for roof in self.roofs if roof.is_tier)

    @property
    def outside(self) -> tuple[Mark, ...]:
        """Groups that lie beyond the frame."""
        return tuple(mark for mark in self.marks if mark.tier and not self._holds(mark.intensity[mark.tier], mark.rate))

    def _holds(self, intensity: float, rate: float) -> bool:
        return 0.0 <= self.frame.x(intensity) <= 1.0 and 0.0 <= self.frame.y(rate) <= 1.0

    @property
    def paths(self) -> tuple[Roof, ...]:
        """Peaks of paths."""
        return tuple(roof for roof in self.roofs if not roof.is_tier)


def charts(analysis: Analysis, frame: Frame | None = None) -> tuple[Chart, ...]:
    """A chart for each device (input, ordinal and name), in the order of its first launch.

    Args:
        analysis: what is drawn.
        frame: the axes of all of them; those of each machine if there are none.

    """
    columns = analysis.columns
    keys = list(zip(*(columns[name].tolist() for name in ("input", "device_ordinal", "device", "cc")), strict=True))
    groups = rows(analysis.groups())
    places = {int(launch): place for place, launch in enumerate(columns["launch"])}
    names = short_names([group["kernel"] for group in groups])
    errors = [finding for finding in analysis.finding_list if finding.severity == Severity.ERROR]
    wrong = frozenset(launch for finding in errors for launch in finding.launches)
    found = []
    for key in dict.fromkeys(keys):
        mine = np.array([other == key for other in keys])
        of_device = [
            (number, name, group)
            for number, (name, group) in enumerate(zip(names, groups, strict=True), start=1)
            if keys[places[group["launches"][0]]] == key
        ]
        found.append(_chart(columns, mine, of_device, key, wrong, frame))
    return tuple(found)


def _chart(
    columns: Columns,
    mine: BoolArray,
    groups: Sequence[tuple[int, str, dict[str, Any]]],
    key: tuple[Any, ...],
    wrong: frozenset[int],
    frame: Frame | None,
) -> Chart:
    roofs = _roofs(columns, mine)
    marks = tuple(_mark(number, name, group, wrong) for number, name, group in groups)
    points = [(mark.intensity[tier], mark.rate) for mark in marks if mark.is_on_chart for tier in mark.intensity]
    tiers = [roof.value for roof in roofs if roof.is_tier]
    clock = columns["clocks.sm"][mine]
    known = clock[~np.isnan(clock)]
    _, _, device, cc = key
    return Chart(
        device=device or "device not named in the report",
        cc=cc,
        clock=(float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan),
        roofs=roofs,
        marks=marks,
        frame=frame or frame_of(tiers, [roof.value for roof in roofs if not roof.is_tier], points),
        time=float(np.nansum(columns["time"][mine])),
    )


def _roofs(columns: Columns, mine: BoolArray) -> tuple[Roof, ...]:
    """The highest ceiling of every core tier, and of every floating-point path that has work."""
    roofs = []
    for name in (*CORE_TIERS, *FLOP_PATHS):
        prefix = amount_prefix(name)
        if f"{prefix}.peak" not in columns:
            continue
        works = name in CORE_TIERS or columns[f"{prefix}.rate"] > 0
        peak = np.where(mine & works, columns[f"{prefix}.peak"], np.nan)
        if not np.isnan(peak).all():
            at = int(np.nanargmax(peak))
            source, clock = columns[f"{prefix}.peak_source"][at], columns[f"{prefix}.peak_clock"][at]
            roofs.append(Roof(name, float(peak[at]), str(source), float(clock)))
    return tuple(roofs)


def _mark(number: int, name: str, group: Mapping[str, Any], wrong: frozenset[int]) -> Mark:
    path, rate = group["leading.path"], float(group["leading.rate"])
    has_work = isinstance(path, str) and path in FLOP_PATHS and rate > 0
    intensity = {
        tier: rate / float(group[f"{tier}.rate"])
        for tier in CORE_TIERS
        if has_work and float(group.get(f"{tier}.rate", math.nan)) > 0
    }
    usage = {
        tier: float(group[f"{tier}.share"])
        for tier in CORE_TIERS
        if not math.isnan(float(group.get(f"{tier}.share", math.nan)))
    }
    if has_work and not math.isnan(float(group["leading.share"])):
        usage[str(path)] = float(group["leading.share"])
    bound, complete = group["bound.by"], bool(group["bound.complete"])
    kind = _kind(bound, usage, complete=complete)
    return Mark(
        number=number,
        name=name,
        full_name=group["kernel"] or "",
        launches=len(group["launches"]),
        time=float(group["time"]),
        share=float(group["share"]),
        path=str(path) if isinstance(path, str) else None,
        rate=rate,
        intensity=intensity,
        usage=usage,
        bound=bound,
        fraction=float(group["bound.fraction"]),
        complete=complete,
        tier=bound if bound in intensity else next((tier for tier in CORE_TIERS if tier in intensity), None),
        kind=kind,
        wrong=not wrong.isdisjoint(group["launches"]),
    )


def _kind(bound: str | None, usage: Mapping[str, float], *, complete: bool) -> str:
    if bound is None:
        return NOT_KNOWN
    if complete and usage and max(usage.values()) < FAR:
        return FAR_FROM_ALL
    return bound if bound in TIERS else COMPUTE
