"""One kind of problem at many sizes: every combination of the values of a sweep, and where its bound changes sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from ncu_roofline.errors import UsageError
from ncu_roofline.ledger.bound import LedgerBound, ledger_bound
from ncu_roofline.ledger.kinds import problems_of
from ncu_roofline.ledger.problem import LARGEST, Kind, Ledger
from ncu_roofline.machine import Machine

_SWEEP: Final = "--sweep"
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

    Found between the smallest value and the largest that a problem can have, not rounded to a whole number. Beyond it
    the other side binds.
    """

    def more_memory(value: float) -> float:
        bound = ledger_bound(kind.ledger({**given, parameter: value}), machine)
        return bound.memory - bound.compute

    low, high = max(kind.parameters[parameter].least, 1e-6), LARGEST
    at_low, at_high = more_memory(low), more_memory(high)
    if math.isnan(at_low * at_high) or at_low * at_high > 0:
        return math.nan
    for _ in range(_HALVINGS):
        middle = math.sqrt(low) * math.sqrt(high)
        if more_memory(middle) * at_low > 0:
            low = middle
        else:
            high = middle
    return high
