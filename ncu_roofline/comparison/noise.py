"""How sure a difference of times is, from repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median, variance
from typing import Final

_STUDENT_975: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Quantiles of Student's t of 1 to 30 degrees of freedom at 97.5 % (NIST/SEMATECH e-Handbook, 1.3.6.7.2)."""
_STUDENT_80: Final = (
    1.376, 1.061, 0.978, 0.941, 0.920, 0.906, 0.896, 0.889, 0.883, 0.879, 0.876, 0.873, 0.870, 0.868, 0.866, 0.865,
    0.863, 0.862, 0.861, 0.860, 0.859, 0.858, 0.858, 0.857, 0.856, 0.856, 0.855, 0.855, 0.854, 0.854,
)  # fmt: skip
"""The same at 80 %."""
EQUAL: Final = 1e-9
"""Share below which numbers that were computed are the same."""
_NORMAL_975, _NORMAL_80 = 1.960, 0.842


@dataclass(frozen=True)
class Spread:
    """Samples of a time in seconds: their median, the fastest and the slowest, and how many."""

    median: float
    low: float
    high: float
    samples: int


@dataclass(frozen=True)
class Noise:
    """What repeats say of a difference: the smallest one that is significant, and the smallest that is found reliably.

    Both are shares of the mean time before. ``significant``: Welch's t test of the means at 5 %; ``detectable``: found
    in four of five comparisons; ``is_significant``: whether these means differ, by ``difference`` seconds. NaN where a
    side has one sample only.
    """

    significant: float
    detectable: float
    is_significant: bool = False
    difference: float = math.nan

    @property
    def is_known(self) -> bool:
        """Whether both sides have repeats."""
        return not math.isnan(self.significant)


def spread(samples: Sequence[float]) -> Spread:
    """Median and range of the samples that are known."""
    known = [sample for sample in samples if not math.isnan(sample)]
    if not known:
        return Spread(math.nan, math.nan, math.nan, 0)
    return Spread(median(known), min(known), max(known), len(known))


def noise(before: Sequence[float], after: Sequence[float]) -> Noise:
    """What can be told apart with these samples."""
    one, two = ([sample for sample in side if not math.isnan(sample)] for side in (before, after))
    if len(one) < 2 or len(two) < 2 or not mean(one) > 0:
        return Noise(math.nan, math.nan)
    parts = [variance(side) / len(side) for side in (one, two)]
    error = math.sqrt(sum(parts))
    # Welch and Satterthwaite; without any variance the number of degrees of freedom does not matter.
    below = sum(part**2 / (len(side) - 1) for part, side in zip(parts, (one, two), strict=True))
    freedom = int(error**4 / below) if below > 0 else len(_STUDENT_975)
    sure, often = _quantile(_STUDENT_975, _NORMAL_975, freedom), _quantile(_STUDENT_80, _NORMAL_80, freedom)
    difference = mean(two) - mean(one)
    # Without any variance the last digits of sums are not a difference.
    is_significant = abs(difference) > max(sure * error, EQUAL * mean(one))
    return Noise(sure * error / mean(one), (sure + often) * error / mean(one), is_significant, difference)


def _quantile(table: Sequence[float], normal: float, freedom: int) -> float:
    return table[max(freedom, 1) - 1] if freedom <= len(table) else normal
