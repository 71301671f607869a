"""The frame of a roofline chart: its axes come from the machine, so that two reports of one GPU have the same.

Both axes are logarithmic; positions inside are given in decades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_WIDEN: Final = 2
"""Decades by which points may widen the frame on each side; what lies beyond is shown at its edge."""
_WITHOUT_MACHINE: Final = (1e-2, 1e3)
_ABOVE: Final = 1.8
"""Highest edge over the highest ceiling."""


@dataclass(frozen=True)
class Frame:
    """Lowest and highest intensity (FLOP/byte) and rate (FLOP/s), and whether points widened it."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    widened: bool = False

    def x(self, intensity: float) -> float:
        """Place of an intensity between 0 (left) and 1 (right); below 0 and above 1 it is outside."""
        return math.log10(intensity / self.x_low) / math.log10(self.x_high / self.x_low)

    def y(self, rate: float) -> float:
        """Place of a rate between 0 (bottom) and 1 (top)."""
        return math.log10(rate / self.y_low) / math.log10(self.y_high / self.y_low)

    def decades_of_x(self) -> list[float]:
        """Whole powers of ten between the edges."""
        return _decades(self.x_low, self.x_high)

    def decades_of_y(self) -> list[float]:
        """The same of rates."""
        return _decades(self.y_low, self.y_high)


def fixed_frame(text: str) -> Frame:
    """The frame that ``0.01:1000,1e9:1e14`` describes: intensities in FLOP/byte, then rates in FLOP/s.

    Raises:
        ValueError: if it is no pair of ranges of numbers above zero, each of at least a decade.

    """
    ranges = [tuple(float(value) for value in part.split(":")) for part in text.split(",")]
    (x_low, x_high), (y_low, y_high) = ranges
    for low, high in ((x_low, x_high), (y_low, y_high)):
        if not (math.isfinite(high) and low > 0.0 and 10.0 * low <= high):
            raise ValueError(text)
    return Frame(x_low, x_high, y_low, y_high)


def frame_of(bandwidths: Sequence[float], peaks: Sequence[float], points: Sequence[tuple[float, float]]) -> Frame:
    """The frame of a machine, widened by whole decades where points lie outside.

    Args:
        bandwidths: ceilings of the tiers, the slowest of them first (byte/s).
        peaks: ceilings of the paths (FLOP/s).
        points: (intensity, rate) of what is drawn, all above zero.

    """
    ridges = [peak / bandwidth for peak in peaks for bandwidth in bandwidths]
    if ridges:
        x_low = 10.0 ** (math.floor(math.log10(min(ridges))) - 2)
        x_high = 10.0 ** (math.ceil(math.log10(max(ridges))) + 1)
    else:
        x_low, x_high = _WITHOUT_MACHINE
    if bandwidths:
        y_low = _half_decade(bandwidths[0] * x_low)
        y_high = _ABOVE * max(peaks, default=bandwidths[0] * x_high)
    else:
        highest = max([*peaks, *(rate for _, rate in points)], default=1e12)
        y_low, y_high = 10.0 ** (math.floor(math.log10(highest)) - 5), 10.0 ** math.ceil(math.log10(_ABOVE * highest))
    machine = Frame(x_low, x_high, y_low, y_high)
    below_x, above_x = _outside([x for x, _ in points], x_low, x_high)
    below_y, above_y = _outside([y for _, y in points], y_low, y_high)
    if not any((below_x, above_x, below_y, above_y)):
        return machine
    return Frame(
        x_low * 10.0**-below_x, x_high * 10.0**above_x, y_low * 10.0**-below_y, y_high * 10.0**above_y, widened=True
    )


def _outside(values: Sequence[float], low: float, high: float) -> tuple[int, int]:
    """Whole decades by which values lie below and above, at most ``_WIDEN``."""
    below = max((math.ceil(math.log10(low / value)) for value in values if value < low), default=0)
    above = max((math.ceil(math.log10(value / high)) for value in values if value > high), default=0)
    return min(below, _WIDEN), min(above, _WIDEN)


def _half_decade(value: float) -> float:
    return math.pow(10.0, math.floor(2.0 * math.log10(value)) / 2.0)


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]
