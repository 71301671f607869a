"""One kind of problem at many sizes: every combination of the values of a sweep, and where its bound changes sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from ncu_roofline.errors import UsageError
from ncu_roofline.ledger.bound import LedgerBound, ledger_bound
from ncu_roofline.ledger.kinds import problems_of
from ncu_roofline.ledger.problem import Kind, Ledger
from ncu_roofline.machine import Machine

_SWEEP: Final = "--sweep"
_SAME: Final = 1e-9
"""Share by which two times may be apart and are the same."""
_HALVINGS: Final = 200
"""Enough to find a number to the last bit."""


@dataclass(frozen=True)
class Case:
    """One problem: the values that are swept, its ledger, its bound."""

    swept: Mapping[str, Any]
    ledger: Ledger
    bound: LedgerBound

    @property
    def rate(self) -> float:
        """Operations per second at the bound; NaN where a side is not known."""
        return self.ledger.work / self.bound.time if self.bound.complete and self.bound.time > 0 else math.nan


def cases(
    name: str, kind: Kind, given: Mapping[str, Any], sweep: Mapping[str, Sequence[Any]], machine: Machine
) -> tuple[Case, ...]:
    """Every combination of swept values, the last one varying fastest.

    Raises:
        UsageError: with everything that is wrong with a combination.

    """
    found = []
    for combination in product(*sweep.values()):
        swept = dict(zip(sweep, combination, strict=True))
        values = {**given, **swept}
        problems = [message for _, message in problems_of(name, kind, values)]
        if problems:
            raise UsageError("model", name, "; ".join(problems))
        ledger = kind.ledger(values)
        found.append(Case(swept, ledger, ledger_bound(ledger, machine)))
    return tuple(found)


def crossing(kind: Kind, given: Mapping[str, Any], parameter: str, machine: Machine) -> float:
    """The value of a parameter at which arithmetic and memory take equally long; NaN where there is none.

    Found between the smallest value (at least 1) and the largest that a problem can have, not rounded to a whole
    number. Beyond it the other side binds.
    """

    def values(value: float) -> dict[str, Any]:
        return {**given, parameter: value}

    def more_memory(value: float) -> float:
        bound = ledger_bound(kind.ledger(values(value)), machine)
        apart = bound.memory - bound.compute
        # Where both go to the same limit, rounding says nothing.
        return apart if not abs(apart) <= _SAME * max(bound.memory, bound.compute) else 0.0

    def is_possible(value: float) -> bool:
        return not kind.impossible(kind.complete(values(value)))

    low, high = _possible(max(kind.parameters[parameter].least, 1.0), is_possible)
    if math.isnan(low):
        return math.nan
    at_low, at_high = more_memory(low), more_memory(high)
    if not at_low * at_high < 0:
        return math.nan
    return _edge(low, high, lambda value: more_memory(value) * at_low > 0)


def _possible(least: float, is_possible: Callable[[float], bool]) -> tuple[float, float]:
    """The smallest and the largest value that a problem can have, as far as one range holds them; NaN: none."""
    scale = [least * 2.0**power for power in range(80)]
    found = [place for place, value in enumerate(scale) if is_possible(value)]
    if not found:
        return math.nan, math.nan
    low, high = scale[found[0]], scale[found[-1]]
    if found[0] > 0:
        low = _edge(scale[found[0] - 1], low, lambda value: not is_possible(value))
    if found[-1] + 1 < len(scale):
        high = _edge(high, scale[found[-1] + 1], is_possible)
        high = high if is_possible(high) else math.nextafter(high, 0.0)
    return low, high


def _edge(low: float, high: float, is_before: Callable[[float], bool]) -> float:
    """Where something that holds at the lower end stops doing so: the first value at which it does not."""
    for _ in range(_HALVINGS):
        middle = math.sqrt(low) * math.sqrt(high)
        if is_before(middle):
            low = middle
        else:
            high = middle
    return high
