"""Ceilings: what each resource could do at most, each with its source and clock.

The default is the report's own peak at the clock of that run, for DRAM else the device attributes of the report
(2 x bus width x memory clock), else the device table: dense operations per cycle times the SM clock of that run. An
unknown ceiling stays unknown: another GPU's numbers are never used. Knows no counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, FloatArray, nothing, unknown
from ncu_roofline.devices import DeviceMatch
from ncu_roofline.measured import MeasuredCeilings
from ncu_roofline.vocabulary import PATHS

REPORT: Final = "report"
ATTRIBUTES: Final = "attributes"
DEVICE: Final = "device"
MEASURED: Final = "measured"

ORDERS: Final = {
    REPORT: (REPORT, ATTRIBUTES, DEVICE),
    DEVICE: (DEVICE, REPORT, ATTRIBUTES),
    MEASURED: (MEASURED, REPORT, ATTRIBUTES, DEVICE),
}
"""Which source is asked first, by what the user prefers; a measured ceiling enters a bound only on demand."""

_DATA_RATE: Final = 2.0
"""Transfers per memory clock: the attribute holds the clock at which two transfers a cycle give the
datasheet bandwidth (checked on V100, T4, A100, A10, A40, RTX 3080, 4080 S, 5060 Ti, H100, H800, GH200, B200)."""


@dataclass(frozen=True)
class Ceiling:
    """A roof over the launches: value per second, source name or None, clock in Hz (NaN where unknown)."""

    value: FloatArray
    source: npt.NDArray[np.object_]
    clock: FloatArray


@dataclass(frozen=True)
class Offers:
    """Ceilings of some launches that do not come from their counters, by tier or path.

    ``at_run``: the device table at the SM clock of the run. ``published``: the device table at its own clocks.
    ``measured``: a user's file. ``prefer`` is a key of ``ORDERS``.
    """

    at_run: Mapping[str, Ceiling] = field(default_factory=dict)
    published: Mapping[str, Ceiling] = field(default_factory=dict)
    measured: Mapping[str, Ceiling] = field(default_factory=dict)
    prefer: str = REPORT


def chosen_ceiling(name: str, report: Ceiling, attributes: Ceiling | None, offers: Offers) -> Ceiling:
    """The ceiling of a tier or path that enters the bound: the first that is known in the preferred order."""
    known = {
        REPORT: report,
        ATTRIBUTES: attributes,
        DEVICE: offers.at_run.get(name),
        MEASURED: offers.measured.get(name),
    }
    found = [ceiling for source in ORDERS[offers.prefer] if (ceiling := known[source]) is not None]
    return reduce(first_of, found)


def from_device(
    matches: Sequence[DeviceMatch], match_of: npt.NDArray[np.intp], sm_clock: FloatArray
) -> tuple[dict[str, Ceiling], dict[str, Ceiling]]:
    """Ceilings of the device table at the SM clock of the run (Hz), and at the clocks of the published peaks.

    Args:
        matches: what the device names of the launches mean.
        match_of: the match of each launch, shape (launches,).
        sm_clock: NaN where it was not measured; then there is no ceiling at the run's clock.

    """
    at_run, published = {}, {}
    sm_clock = np.where(sm_clock > 0, sm_clock, np.nan)
    for path in PATHS:
        rate = _of_matches((match.rate(path) for match in matches), match_of)
        if not np.isnan(rate).all():
            clock = _of_matches((match.device.clock(path) if match.device else None for match in matches), match_of)
            at_run[path] = _ceiling(rate * sm_clock, DEVICE, sm_clock)
            published[path] = _ceiling(rate * clock, DEVICE, clock)
    bandwidth = _of_matches(
        (match.device.dram_bandwidth if match.device and not match.is_slice else None for match in matches), match_of
    )
    if not np.isnan(bandwidth).all():
        at_run["dram"] = published["dram"] = _ceiling(bandwidth, DEVICE, unknown(len(match_of)))
    return at_run, published


def from_file(measured: MeasuredCeilings, applies: BoolArray) -> dict[str, Ceiling]:
    """Ceilings that a user measured, for the launches to which they apply."""
    return {
        name: _ceiling(
            np.where(applies, ceiling.value, np.nan),
            MEASURED,
            np.where(applies, np.nan if ceiling.clock is None else ceiling.clock, np.nan),
        )
        for name, ceiling in measured.ceilings.items()
    }


def _of_matches(values: Iterable[float | None], match_of: npt.NDArray[np.intp]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], np.float64)[match_of]


def _ceiling(value: FloatArray, source: str, clock: FloatArray) -> Ceiling:
    known = ~np.isnan(value)
    return Ceiling(value, _sources(known, source), np.where(known, clock, np.nan))


def from_report(peak: FloatArray, clock: FloatArray) -> Ceiling:
    """The report's own peak."""
    known = ~np.isnan(peak)
    return Ceiling(peak, _sources(known, REPORT), np.where(known, clock, np.nan))


def dram_from_attributes(memory_clock: FloatArray, bus_width: FloatArray) -> Ceiling:
    """DRAM bandwidth in byte/s from memory clock (Hz) and bus width (bit); unknown where either is 0."""
    value = _DATA_RATE * bus_width / 8.0 * memory_clock
    known = value > 0
    return Ceiling(
        np.where(known, value, np.nan),
        _sources(known, ATTRIBUTES),
        np.where(known, memory_clock, np.nan),
    )


def first_of(preferred: Ceiling, fallback: Ceiling) -> Ceiling:
    """Element-wise the preferred ceiling, else the other."""
    use = np.isnan(preferred.value)
    if not use.any():
        return preferred
    return Ceiling(
        np.where(use, fallback.value, preferred.value),
        np.where(use, fallback.source, preferred.source),
        np.where(use, fallback.clock, preferred.clock),
    )


def _sources(known: BoolArray, name: str) -> npt.NDArray[np.object_]:
    sources = nothing(len(known))
    sources[known] = name
    return sources
