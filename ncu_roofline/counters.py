"""Total, rate and own peak of a base counter, from whichever rollups a report has.

The order of recipes is that of the contract, "Amounts". Everything is element-wise over launches: a launch
uses the first recipe for which its own values are there. This module knows rollups and units of the chip
(the part of a name before ``__``), not architectures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import FloatArray, first_known, ratio, unknown

CodeArray = npt.NDArray[np.int8]

NO_RECIPE: Final = -1

TOTAL_RECIPES: Final = (
    "{x}.sum",
    "{x}.sum.per_cycle_elapsed x cycles",
    "{x}.sum.per_second x time",
    "{x} (name without rollup)",
)
RATE_RECIPES: Final = ("total / time", "{x}.sum.per_second", "{x}.sum.per_cycle_elapsed x clock")
PEAK_RECIPES: Final = (
    "{x}.sum.peak_sustained x clock",
    "{x}.avg.peak_sustained x instances x clock",
    "rate of {x} / its percentage of peak",
)

_TWINS: Final = {"sm": "smsp", "smsp": "sm"}
"""The same events, counted per SM or per SM sub-partition."""

_CLOCK_DOMAINS: Final = {"sm": ("smsp", "gpc"), "smsp": ("sm", "gpc"), "l1tex": ("sm", "smsp", "gpc")}
"""Units that run at the same clock; their cycles stand in for a unit's own when it printed none."""

_AMOUNTS: Final = (".sum", ".sum.per_cycle_elapsed", ".sum.per_second", "")
_PEAK_SHARES: Final = (".sum.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_elapsed")
_ACTIVITY: Final = (
    ".sum", ".avg", ".sum.per_cycle_elapsed", ".sum.per_second", ".sum.pct_of_peak_sustained_active",
    ".avg.pct_of_peak_sustained_active", ".sum.pct_of_peak_sustained_elapsed",
    ".avg.pct_of_peak_sustained_elapsed",
)  # fmt: skip

ROLLUPS: Final = (
    "", ".sum", ".avg", ".max", ".sum.per_cycle_elapsed", ".sum.per_second", ".avg.per_second",
    ".sum.peak_sustained", ".avg.peak_sustained", ".sum.pct_of_peak_sustained_active",
    ".avg.pct_of_peak_sustained_active", ".sum.pct_of_peak_sustained_elapsed",
    ".avg.pct_of_peak_sustained_elapsed",
)  # fmt: skip
"""Every rollup of a base counter that this module may read."""


@dataclass(frozen=True)
class Resolved:
    """Values of shape (launches,), NaN where unknown, and the recipe code of each (``NO_RECIPE``: none)."""

    value: FloatArray
    recipe: CodeArray


@dataclass(frozen=True)
class CounterView:
    """The metrics of some launches and their duration (NaN: unknown), in base units."""

    values: Mapping[str, FloatArray]
    time: FloatArray

    def get(self, metric: str) -> FloatArray:
        """A metric with rollup; NaN where it was not collected."""
        found = self.values.get(metric)
        return unknown(len(self.time)) if found is None else found


def unit_of(counter: str) -> str:
    """The unit of the chip that counts: ``lts`` for ``derived__lts__lts2xbar_bytes``."""
    return counter.removeprefix("derived__").partition("__")[0]


def spellings(counter: str) -> tuple[str, ...]:
    """The counter and, for ``sm__`` and ``smsp__``, the same counter of the other unit; ``sm__`` first."""
    unit, separator, rest = counter.partition("__")
    twin = _TWINS.get(unit)
    if twin is None:
        return (counter,)
    return tuple(sorted((counter, twin + separator + rest)))


def metrics_of(counter: str) -> frozenset[str]:
    """Every metric name that may be read for a base counter, the cycles and clock of its unit included."""
    names = {spelling + rollup for spelling in spellings(counter) for rollup in ROLLUPS}
    unit = unit_of(counter)
    for domain in (unit, *_CLOCK_DOMAINS.get(unit, ())):
        names |= {f"{domain}__cycles_elapsed{rollup}" for rollup in (".avg", ".sum", ".max", ".avg.per_second")}
    return frozenset(names)


def is_collected(view: CounterView, counter: str) -> bool:
    """Whether a total or rate of a base counter may be had for any launch."""
    return any(spelling + rollup in view.values for spelling in spellings(counter) for rollup in _AMOUNTS)


def clock(view: CounterView, unit: str) -> FloatArray:
    """Clock of a unit in Hz: ``<unit>__cycles_elapsed.avg.per_second``, else that of its clock domain."""
    domains = (unit, *_CLOCK_DOMAINS.get(unit, ()))
    return first_known([view.get(f"{domain}__cycles_elapsed.avg.per_second") for domain in domains])[0]


def cycles(view: CounterView, unit: str) -> FloatArray:
    """Elapsed cycles of a unit: its average, that of its twin, else clock x time."""
    domains = (unit, *([_TWINS[unit]] if unit in _TWINS else []))
    averages = [view.get(f"{domain}__cycles_elapsed.avg") for domain in domains]
    return first_known([*averages, clock(view, unit) * view.time])[0]


def total(view: CounterView, counter: str) -> Resolved:
    """Total of a base counter; recipe codes index ``TOTAL_RECIPES``.

    An average or maximum over instances is never taken for a total.
    """
    sources: Sequence[Callable[[str], FloatArray]] = (
        lambda x: view.get(f"{x}.sum"),
        lambda x: view.get(f"{x}.sum.per_cycle_elapsed") * cycles(view, unit_of(x)),
        lambda x: view.get(f"{x}.sum.per_second") * view.time,
        view.get,
    )
    return _by_recipe(counter, sources)


def rate(view: CounterView, counter: str) -> Resolved:
    """Events per second of a base counter; recipe codes index ``RATE_RECIPES``."""
    with_time = ratio(total(view, counter).value, view.time)
    sources: Sequence[Callable[[str], FloatArray]] = (
        lambda _: with_time,
        lambda x: view.get(f"{x}.sum.per_second"),
        lambda x: view.get(f"{x}.sum.per_cycle_elapsed") * clock(view, unit_of(x)),
    )
    return _by_recipe(counter, sources)


def own_peak(view: CounterView, counter: str) -> Resolved:
    """Highest events per second of a base counter at the clock of the run; codes index ``PEAK_RECIPES``."""
    measured = rate(view, counter).value
    sources: Sequence[Callable[[str], FloatArray]] = (
        lambda x: view.get(f"{x}.sum.peak_sustained") * clock(view, unit_of(x)),
        lambda x: view.get(f"{x}.avg.peak_sustained") * _instances(view, unit_of(x)) * clock(view, unit_of(x)),
        lambda x: ratio(measured, first_known([view.get(x + share) for share in _PEAK_SHARES])[0]),
    )
    resolved = _by_recipe(counter, sources)
    # A peak of zero or infinity (0 % of peak) says nothing.
    usable = np.isfinite(resolved.value) & (resolved.value > 0)
    return Resolved(
        np.where(usable, resolved.value, np.nan), np.where(usable, resolved.recipe, NO_RECIPE).astype(np.int8)
    )


def activity(view: CounterView, counter: str) -> FloatArray:
    """Any measure of how much a counter counted; only "zero", "more" and NaN (not measured) have meaning."""
    return first_known([view.get(x + rollup) for rollup in _ACTIVITY for x in spellings(counter)])[0]


def duration_from_cycles(view: CounterView, counter: str) -> FloatArray:
    """Cycles over cycles per second of a cycle counter, in seconds; a sum over units is never used."""
    spelled = spellings(counter)
    elapsed = first_known([view.get(f"{x}.{rollup}") for rollup in ("avg", "max") for x in spelled])[0]
    return ratio(elapsed, first_known([view.get(f"{x}.avg.per_second") for x in spelled])[0])


def _instances(view: CounterView, unit: str) -> FloatArray:
    return ratio(view.get(f"{unit}__cycles_elapsed.sum"), view.get(f"{unit}__cycles_elapsed.avg"))


def _by_recipe(counter: str, sources: Sequence[Callable[[str], FloatArray]]) -> Resolved:
    """The first source that is known, tried for every spelling of a counter before the next source."""
    candidates = [source(spelling) for source in sources for spelling in spellings(counter)]
    value, position = first_known(candidates)
    recipe = np.where(position >= 0, position // len(spellings(counter)), NO_RECIPE)
    return Resolved(value, recipe.astype(np.int8))
