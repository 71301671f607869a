"""One kind of problem at many sizes: every combination of the values of a sweep, and where its bound changes sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
_HALVINGS: Final = 120
"""Enough to find a number to the last bit."""
_DENSE: Final = 4096
"""Up to here every whole number is looked at: only some of them may be possible, such as multiples."""


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
    """The first value of a parameter at which arithmetic and memory take equally long; NaN where there is none.

    Looked for among the values that a problem can have, and not rounded to a whole number. Where the sides only come
    near each other, or are equal everywhere, there is none.
    """

    def bound_of(value: float) -> LedgerBound:
        return ledger_bound(kind.ledger({**given, parameter: value}), machine)

    def is_on(side: int, value: float) -> bool:
        bound = bound_of(value)
        return (bound.memory - bound.compute) * side > 0

    def sign(value: float) -> int:
        bound = bound_of(value)
        apart = bound.memory - bound.compute
        # Where both go to the same limit, rounding says nothing.
        return 0 if not abs(apart) > _SAME * max(bound.memory, bound.compute) else 1 if apart > 0 else -1

    # Values without a side say nothing of where the sides change, but the first one may be where they are equal.
    start: tuple[float, int] | None = None
    decided: tuple[float, int] | None = None
    for value in possible_values(kind, given, parameter):
        side = sign(value)
        start = start or (value, side)
        if side and decided and decided[1] != side:
            return _edge(decided[0], value, partial(is_on, decided[1]))
        decided = (value, side) if side else decided
    return start[0] if start and decided and not start[1] else math.nan


def possible_values(kind: Kind, given: Mapping[str, Any], parameter: str) -> Iterator[float]:
    """Values that a parameter can have beside the others, ascending: small ones all, larger ones in steps of 1/64."""
    what = kind.parameters[parameter]
    fractions = [] if what.whole else [2.0 ** (power / 4) for power in range(-80, 0)]
    larger = [step * 2.0**power for power in range(6, 74) for step in range(64, 128)]
    for value in (*fractions, *map(float, range(1, _DENSE + 1)), *larger):
        if not what.problem(value) and not kind.impossible(kind.complete({**given, parameter: value})):
            yield value


def _edge(low: float, high: float, is_before: Callable[[float], bool]) -> float:
    """Where something that holds at the lower end stops doing so: the first value at which it does not."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if is_before(middle):
            low = middle
        else:
            high = middle
    return high
