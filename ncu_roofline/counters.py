"""Total, rate and own peak of a base counter, from whichever rollups a report has.

The order of recipes is that of the contract, "Amounts". Everything is element-wise over launches: a launch
uses the first recipe for which its own values are there. This module knows rollups and units of the chip
(the part of a name before ``__``), not architectures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, FloatArray, first_known, ratio, unknown
from ncu_roofline.vocabulary import OPCODE

CodeArray = npt.NDArray[np.int8]

NO_RECIPE: Final = -1

Template = tuple[tuple[str, ...], str | None]
"""Factors and a divisor. Each is a metric (``{x}``: the counter, ``{unit}``: its unit), ``time``, or the name
of another quantity of ``_TEMPLATES``."""

_TEMPLATES: Final[dict[str, tuple[Template, ...]]] = {
    "total": (
        (("{x}.sum",), None),
        (("{x}.sum.per_cycle_elapsed", "cycles"), None),
        (("{x}.sum.per_second", "time"), None),
        # The name without rollup, as reports of 2019 have it.
        (("{x}",), None),
    ),
    "rate": (
        (("total",), "time"),
        (("{x}.sum.per_second",), None),
        (("{x}.sum.per_cycle_elapsed", "clock"), None),
    ),
    "peak": (
        (("{x}.sum.peak_sustained", "clock"), None),
        (("{x}.avg.peak_sustained", "instances", "clock"), None),
        # Instances x clock, where only the cycles of all instances together are known.
        (("{x}.avg.peak_sustained", "{unit}__cycles_elapsed.sum"), "time"),
        (("rate",), "share"),
    ),
    "share": (
        (("{x}.sum.pct_of_peak_sustained_elapsed",), None),
        (("{x}.avg.pct_of_peak_sustained_elapsed",), None),
    ),
    "instances": ((("{unit}__cycles_elapsed.sum",), "{unit}__cycles_elapsed.avg"),),
    "duration": ((("elapsed",), "frequency"),),
    # A sum over units is never a duration.
    "elapsed": ((("{x}.avg",), None), (("{x}.max",), None)),
    "frequency": ((("{x}.avg.per_second",), None),),
}
"""Quantities of a counter, each with its recipes in the order of the contract."""

PEAK_OF_PERCENTAGE: Final = [factors for factors, _ in _TEMPLATES["peak"]].index(("rate",))
"""The recipe of a peak that comes from a percentage."""

PEAK_OF_DEVICE: Final = len(_TEMPLATES["peak"])
"""The recipe of a peak whose own percentage has too few digits: other launches of the device give it per cycle."""

PEAK_TOO_COARSE: Final = PEAK_OF_DEVICE + 1
"""Stands for a peak that only a percentage gives whose printed digits leave too much of it open: it is not known."""

OF_DEVICE: Final = "peak per cycle of the device's other launches x clock"
"""What that recipe is called."""

KNOWN_TO: Final = 0.05
"""Largest share of a peak that the printed digits of its percentage may leave open, half their last step."""

_TWINS: Final = {"sm": "smsp", "smsp": "sm"}
"""The same events, counted per SM or per SM sub-partition."""

_CLOCK_DOMAINS: Final = {"sm": ("smsp", "gpc"), "smsp": ("sm", "gpc"), "l1tex": ("sm", "smsp", "gpc")}
"""Units that run at the same clock; their cycles stand in for a unit's own when it printed none."""

AMOUNTS: Final = tuple(factors[0].removeprefix("{x}") for factors, _ in _TEMPLATES["total"])
"""Rollups that give a total, or a rate."""

PEAKS: Final = tuple(factors[0].removeprefix("{x}") for factors, _ in (*_TEMPLATES["peak"][:2], *_TEMPLATES["share"]))
"""Rollups that give an own peak."""

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


PER_UNIT: Final = (".avg", ".max", ".min")
"""Rollups over the units of the chip, which are no totals."""


@dataclass(frozen=True)
class Recipe:
    """One way to a quantity of a counter: the product of the factors over the divisor.

    ``number`` is its position in the contract's order; ``counter`` the spelling of the counter that it reads.
    """

    number: int
    counter: str
    factors: tuple[str, ...]
    divisor: str | None = None


@dataclass(frozen=True)
class Resolved:
    """Values of shape (launches,), NaN where unknown, and the recipe code of each (``NO_RECIPE``: none)."""

    value: FloatArray
    recipe: CodeArray


@dataclass(frozen=True)
class CounterView:
    """The metrics of some launches and their duration (NaN: unknown), in base units.

    ``rounding`` is half the printed step of each metric (none: exact), ``device`` the number of the device of each
    launch: a peak per cycle is the same for all launches of one (None: each launch on its own).
    """

    values: Mapping[str, FloatArray]
    time: FloatArray
    rounding: Mapping[str, FloatArray] = field(default_factory=dict)
    device: npt.NDArray[np.intp] | None = None

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
    if counter.startswith(OPCODE):
        return frozenset({counter})
    return _cycles_of(unit_of(counter)).union(
        spelling + rollup for spelling in spellings(counter) for rollup in ROLLUPS
    )


@cache
def _cycles_of(unit: str) -> frozenset[str]:
    """Metrics of the cycles and the clock of a unit."""
    domains = (unit, *_CLOCK_DOMAINS.get(unit, ()))
    rollups = (".avg", ".sum", ".max", ".avg.per_second")
    return frozenset(f"{domain}__cycles_elapsed{rollup}" for domain in domains for rollup in rollups)


@cache
def recipes(quantity: str, counter: str) -> tuple[Recipe, ...]:
    """The recipes of a quantity of a base counter, best first.

    Quantities are ``total``, ``rate``, ``peak``, ``clock``, ``cycles`` and those that these are made of. Every
    spelling of the counter is tried before the next recipe.
    """
    unit = unit_of(counter)
    if quantity == "clock":
        domains = (unit, *_CLOCK_DOMAINS.get(unit, ()))
        return tuple(Recipe(n, counter, (f"{d}__cycles_elapsed.avg.per_second",)) for n, d in enumerate(domains))
    if quantity == "cycles":
        units = (unit, *([_TWINS[unit]] if unit in _TWINS else []))
        averages = [Recipe(n, counter, (f"{u}__cycles_elapsed.avg",)) for n, u in enumerate(units)]
        return (*averages, Recipe(len(units), counter, ("clock", "time")))
    found = []
    for number, (factors, divisor) in enumerate(_TEMPLATES[quantity]):
        reads_counter = any("{" in name for name in factors)
        for spelling in spellings(counter) if reads_counter else (counter,):
            names = [name.format(x=spelling, unit=unit_of(spelling)) for name in factors]
            under = divisor.format(x=spelling, unit=unit_of(spelling)) if divisor else None
            found.append(Recipe(number, spelling, tuple(names), under))
    return tuple(found)


def is_quantity(factor: str) -> bool:
    """Whether a factor of a recipe is a quantity with recipes of its own, not a metric or the time."""
    return factor in _TEMPLATES or factor in ("clock", "cycles")


def recipe_text(quantity: str, number: int) -> str:
    """A recipe in words, such as ``counter.sum.per_second x time``."""
    if (quantity, number) == ("peak", PEAK_OF_DEVICE):
        return OF_DEVICE
    if (quantity, number) == ("peak", PEAK_TOO_COARSE):
        return "not known, its percentage has too few digits"
    factors, divisor = _TEMPLATES[quantity][number]
    text = " x ".join(name.format(x="counter", unit="unit") for name in factors)
    return f"{text} / {divisor}" if divisor else text


def is_collected(view: CounterView, counter: str) -> bool:
    """Whether a total or rate of a base counter may be had for any launch."""
    return any(spelling + rollup in view.values for spelling in spellings(counter) for rollup in AMOUNTS)


def per_unit(view: CounterView, counter: str) -> tuple[str, BoolArray] | None:
    """A metric with a value per unit of a base counter, which is no total, and where nothing else is known of it."""
    names = [spelling + rollup for spelling in spellings(counter) for rollup in PER_UNIT]
    known = [name for name in names if name in view.values]
    if not known:
        return None
    has_any = np.any([~np.isnan(view.values[name]) for name in known], axis=0)
    return known[0], np.asarray(has_any & np.isnan(total(view, counter).value) & np.isnan(rate(view, counter).value))


def clock(view: CounterView, counter: str) -> FloatArray:
    """Clock of a counter's unit in Hz: ``<unit>__cycles_elapsed.avg.per_second``, else that of its clock domain."""
    return _resolve(view, "clock", counter).value


def total(view: CounterView, counter: str) -> Resolved:
    """Total of a base counter; an average or maximum over instances is never taken for one."""
    return _resolve(view, "total", counter)


def rate(view: CounterView, counter: str) -> Resolved:
    """Events per second of a base counter."""
    return _resolve(view, "rate", counter)


def own_peak(view: CounterView, counter: str) -> Resolved:
    """Highest events per second of a base counter at the clock of the run.

    One that comes from a percentage counts only where the printed digits leave less than ``KNOWN_TO`` of it open. Else
    the launch of the same device whose peak is known best gives it per cycle. Where none does, the recipe is
    ``PEAK_TOO_COARSE``: there is a peak, and it is not known.
    """
    resolved = _resolve(view, "peak", counter)
    # A peak of zero or infinity (0 % of peak) says nothing.
    usable = np.isfinite(resolved.value) & (resolved.value > 0)
    is_share = resolved.recipe == PEAK_OF_PERCENTAGE
    doubt = np.where(is_share, _doubt(view, "peak", counter), 0.0) if is_share.any() else np.zeros(len(usable))
    usable &= doubt < KNOWN_TO
    value, recipe = np.where(usable, resolved.value, np.nan), np.where(usable, resolved.recipe, NO_RECIPE)
    if usable.all() or not (usable.any() or _possible(view, "share", counter)):
        return Resolved(value, recipe.astype(np.int8))
    happened = rate(view, counter).value
    has_share = ~np.isnan(_resolve(view, "share", counter).value)
    recipe[~usable & has_share & (happened > 0)] = PEAK_TOO_COARSE
    if view.device is not None and usable.any():
        lacking = ~usable & ~np.isnan(happened)
        speed = clock(view, counter)
        of_device = _best_of_device(view.device, ratio(value, speed), doubt) * speed
        lacking &= ~np.isnan(of_device)
        value, recipe = np.where(lacking, of_device, value), np.where(lacking, PEAK_OF_DEVICE, recipe)
    return Resolved(value, recipe.astype(np.int8))


def _best_of_device(device: npt.NDArray[np.intp], per_cycle: FloatArray, doubt: FloatArray) -> FloatArray:
    """The peak per cycle of each launch's device: that of its launch with the least doubt, the first of equal ones."""
    known = np.flatnonzero(~np.isnan(per_cycle))[::-1]
    order = known[np.argsort(-doubt[known], kind="stable")]
    best = unknown(int(device.max(initial=0)) + 1)
    # Of several values for one place the last one stays.
    best[device[order]] = per_cycle[order]
    return best[device]


def _doubt(view: CounterView, quantity: str, counter: str) -> FloatArray:
    """Share of a quantity that the printed digits of what it is made of leave open; those of the time are left out."""
    ways = _possible(view, quantity, counter)
    position = first_known(_apply(view, way) for way in ways)[1]
    result = np.zeros(len(view.time))
    for place, way in enumerate(ways):
        mine = position == place
        if mine.any():
            names = (*way.factors, *([way.divisor] if way.divisor else []))
            result[mine] += np.sum([_doubt_in(view, name, way.counter) for name in names], axis=0)[mine]
    return result


def _doubt_in(view: CounterView, name: str, counter: str) -> FloatArray:
    """The same of a factor of a recipe."""
    if is_quantity(name):
        return _doubt(view, name, counter)
    half = view.rounding.get(name)
    return np.zeros(len(view.time)) if half is None else np.nan_to_num(ratio(half, view.get(name)))


def activity(view: CounterView, counter: str) -> FloatArray:
    """Any measure of how much a counter counted; only "zero", "more" and NaN (not measured) have meaning."""
    return first_known([view.get(x + rollup) for rollup in _ACTIVITY for x in spellings(counter)])[0]


def duration_from_cycles(view: CounterView, counter: str) -> FloatArray:
    """Cycles over cycles per second of a cycle counter, in seconds."""
    return _resolve(view, "duration", counter).value


def _resolve(view: CounterView, quantity: str, counter: str) -> Resolved:
    """The first recipe that is known, per launch."""
    ways = _possible(view, quantity, counter)
    if not ways:
        return Resolved(unknown(len(view.time)), np.full(len(view.time), NO_RECIPE, np.int8))
    value, position = first_known(_apply(view, way) for way in ways)
    recipe = np.full(len(position), NO_RECIPE, np.int8)
    for place, way in enumerate(ways):
        recipe[position == place] = way.number
    return Resolved(value, recipe)


def _possible(view: CounterView, quantity: str, counter: str) -> list[Recipe]:
    """The recipes whose metrics were collected for some launch."""
    return [way for way in recipes(quantity, counter) if _is_possible(view, way)]


def _is_possible(view: CounterView, recipe: Recipe) -> bool:
    """Whether every metric of a recipe was collected for some launch."""
    names = [*recipe.factors, *([recipe.divisor] if recipe.divisor else [])]
    return all(is_quantity(name) or name == "time" or name in view.values for name in names)


def _apply(view: CounterView, recipe: Recipe) -> FloatArray:
    value = _factor(view, recipe.factors[0], recipe.counter)
    for name in recipe.factors[1:]:
        value = value * _factor(view, name, recipe.counter)
    return value if recipe.divisor is None else ratio(value, _factor(view, recipe.divisor, recipe.counter))


def _factor(view: CounterView, name: str, counter: str) -> FloatArray:
    if is_quantity(name):
        return _resolve(view, name, counter).value
    return view.time if name == "time" else view.get(name)
