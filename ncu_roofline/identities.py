"""Equations that counters of one launch have to satisfy: parts and total, rate and time, percentage and peak.

Both sides carry the rounding of what was printed. Knows counters and maps; what a broken equation means is said by the
checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np

from ncu_roofline.arrays import BoolArray, FloatArray, ratio
from ncu_roofline.counters import spellings, unit_of
from ncu_roofline.maps import Alternative, MetricMap

TOLERANCE: Final = 0.01
"""Both sides may differ by this share and by their rounding (contract, "Severity and exit codes")."""

_TOTALS: Final = (".sum", ".sum.per_second", ".sum.per_cycle_elapsed")


@dataclass(frozen=True)
class Identity:
    """An equation in words, its two sides over the launches in base units, and where it does not hold."""

    text: str
    left: FloatArray
    right: FloatArray
    broken: BoolArray


@dataclass(frozen=True)
class _Value:
    """Printed numbers and half the step to which they were rounded."""

    text: str
    value: FloatArray
    half: FloatArray

    def __mul__(self, other: _Value) -> _Value:
        half = np.abs(self.value) * other.half + np.abs(other.value) * self.half
        return _Value(f"{self.text} x {other.text}", self.value * other.value, half)

    def __add__(self, other: _Value) -> _Value:
        return _Value(f"{self.text} + {other.text}", self.value + other.value, self.half + other.half)

    def __truediv__(self, other: _Value) -> _Value:
        value = ratio(self.value, other.value)
        half = ratio(self.half + np.abs(value) * other.half, np.abs(other.value))
        return _Value(f"{self.text} / {other.text}", value, half)


@dataclass(frozen=True)
class _Printed:
    values: Mapping[str, FloatArray]
    rounding: Mapping[str, FloatArray]

    def get(self, metric: str) -> _Value | None:
        if metric not in self.values:
            return None
        return _Value(metric, self.values[metric], self.rounding[metric])


def check_identities(
    metric_map: MetricMap, values: Mapping[str, FloatArray], rounding: Mapping[str, FloatArray]
) -> tuple[Identity, ...]:
    """The equations of a map that do not hold for some launch.

    Args:
        metric_map: names the counters, and the alternatives that are the same amount.
        values: metric with rollup -> values of shape (launches,), base units.
        rounding: half the printed step of each value, in the same unit.

    """
    printed = _Printed(values, rounding)
    pairs = [*_same_amounts(metric_map, printed), *_same_counters(metric_map, printed)]
    identities = (_identity(left, right) for left, right in pairs)
    return tuple(identity for identity in identities if identity.broken.any())


def _identity(left: _Value, right: _Value) -> Identity:
    apart = np.abs(left.value - right.value)
    largest = np.fmax(np.abs(left.value), np.abs(right.value))
    broken = apart > TOLERANCE * largest + left.half + right.half
    return Identity(f"{left.text} = {right.text}", left.value, right.value, np.asarray(broken))


def _same_amounts(metric_map: MetricMap, printed: _Printed) -> Iterator[tuple[_Value, _Value]]:
    """Alternatives of a path or measure with one ceiling are the same amount, counted in other parts."""
    entries = [path.alternatives for path in metric_map.paths.values()]
    entries += [measure.alternatives for tier in metric_map.tiers.values() for measure in tier.measures]
    for alternatives in entries:
        by_peak: dict[tuple[str, ...], list[Alternative]] = {}
        for alternative in (alternative for alternative in alternatives if not alternative.is_separate):
            by_peak.setdefault(tuple(alternative.parts[0].peak), []).append(alternative)
        for same in by_peak.values():
            yield from _agreeing(same, printed)


def _agreeing(same: Sequence[Alternative], printed: _Printed) -> Iterator[tuple[_Value, _Value]]:
    for rollup in _TOTALS:
        known = [total for alternative in same if (total := _total(alternative, rollup, printed)) is not None]
        if len(known) > 1:
            yield from ((known[0], other) for other in known[1:])
            return


def _total(alternative: Alternative, rollup: str, printed: _Printed) -> _Value | None:
    terms = []
    for part in alternative.parts:
        for counter, weight in part.work.items():
            value = _first(printed.get(spelling + rollup) for spelling in spellings(counter))
            if value is None:
                return None
            text = value.text if weight == 1 else f"{weight} x {value.text}"
            terms.append(_Value(text, weight * value.value, weight * value.half))
    return reduce(lambda a, b: a + b, terms)


def _same_counters(metric_map: MetricMap, printed: _Printed) -> Iterator[tuple[_Value, _Value]]:
    """Rollups of one counter: rate x time, per cycle x cycles, percentage of peak."""
    time = _first(printed.get(metric) for metric in metric_map.time)
    for counter in sorted({name for base in metric_map.base_counters() for name in spellings(base)}):
        total, rate, per_cycle, peak, share = (
            printed.get(counter + rollup)
            for rollup in (*_TOTALS, ".sum.peak_sustained", ".sum.pct_of_peak_sustained_elapsed")
        )
        cycles = printed.get(f"{unit_of(counter)}__cycles_elapsed.avg")
        if total and rate and time:
            yield total, rate * time
        if total and per_cycle and cycles:
            yield total, per_cycle * cycles
        if share and peak and per_cycle:
            yield share, per_cycle / peak
        elif share and peak and total and cycles:
            yield share * peak * cycles, total


def _first(found: Iterable[_Value | None]) -> _Value | None:
    return next((value for value in found if value is not None), None)
