"""Ceilings: what each resource could do at most, each with its source and clock.

The default is the report's own peak at the clock of that run. DRAM without one falls back to the device
attributes of the report (2 x bus width x memory clock). An unknown ceiling stays unknown: another GPU's
numbers are never used. Knows no counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, FloatArray

REPORT: Final = "report"
ATTRIBUTES: Final = "attributes"

_DATA_RATE: Final = 2.0
"""Transfers per memory clock: the attribute holds the clock at which two transfers a cycle give the
datasheet bandwidth (checked on V100, T4, A100, A10, A40, RTX 3080, 4080 S, 5060 Ti, H100, H800, GH200, B200)."""


@dataclass(frozen=True)
class Ceiling:
    """A roof over the launches: value per second, source name or None, clock in Hz (NaN where unknown)."""

    value: FloatArray
    source: npt.NDArray[np.object_]
    clock: FloatArray


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
    return Ceiling(
        np.where(use, fallback.value, preferred.value),
        np.where(use, fallback.source, preferred.source),
        np.where(use, fallback.clock, preferred.clock),
    )


def _sources(known: BoolArray, name: str) -> npt.NDArray[np.object_]:
    sources = np.full(len(known), None, dtype=object)
    sources[known] = name
    return sources
