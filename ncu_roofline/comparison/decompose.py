"""Why a time changed: factors of work, traffic, ceilings and efficiency whose product is the ratio of the times.

The bound of a group is T(W, Q, C): the largest, over resources, of the sum of amount over capacity (``roofline``), with
the work W of its paths, the bytes Q of its tiers and the capacities C. Going from one side to the other, each of the
three is changed in each possible order, and the change of log T that goes with it is averaged over the orders. So no
order is preferred, exchanging the sides inverts every factor, and the product of the three is the ratio of the bounds.
What is left is the efficiency, the share of the bound in the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from ncu_roofline.vocabulary import TIERS

_ALIKE: Final = 0.01
_PARTS: Final = ("work", "traffic", "ceilings")


@dataclass(frozen=True)
class State:
    """One side of a pair: seconds, amount and capacity of every path and tier that may bind, the sum of its bounds.

    ``bound`` is the sum of the bounds of its launches, NaN where it is not known.
    """

    time: float
    totals: Mapping[str, float]
    capacities: Mapping[str, float]
    bound: float = math.nan


@dataclass(frozen=True)
class Factors:
    """Factors of the time from before to after; below 1 made it faster. Their product is ``time``.

    Without a bound on both sides only ``time`` and ``efficiency`` are known, and the latter is all of it; so it is
    where the launches of a side are bound by different things, of which sums know nothing.
    """

    time: float
    work: float
    traffic: float
    ceilings: float
    efficiency: float
    has_bound: bool


def decompose(before: State, after: State, resources: Mapping[str, str]) -> Factors:
    """The factors of a pair, over the paths and tiers that both sides know."""
    ratio = after.time / before.time if before.time > 0 else math.nan
    names = [name for name in resources if all(_is_known(state, name) for state in (before, after))]
    states = {
        choice: _bound(
            names, resources,
            {name: (after if choice[0 if name not in TIERS else 1] else before).totals[name] for name in names},
            (after if choice[2] else before).capacities,
        )
        for choice in ((w, q, c) for w in (0, 1) for q in (0, 1) for c in (0, 1))
    }  # fmt: skip
    if not (_is_alike(before, states[0, 0, 0]) and _is_alike(after, states[1, 1, 1])):
        return Factors(ratio, 1.0, 1.0, 1.0, ratio, has_bound=False)
    if not names or not math.isfinite(ratio) or ratio <= 0.0 or any(value <= 0.0 for value in states.values()):
        return Factors(ratio, 1.0, 1.0, 1.0, ratio, has_bound=False)
    logs = dict.fromkeys(_PARTS, 0.0)
    orders = list(permutations(range(len(_PARTS))))
    for order in orders:
        at = [0, 0, 0]
        for part in order:
            begin = math.log(states[at[0], at[1], at[2]])
            at[part] = 1
            logs[_PARTS[part]] += (math.log(states[at[0], at[1], at[2]]) - begin) / len(orders)
    work, traffic, ceilings = (math.exp(logs[name]) for name in _PARTS)
    return Factors(ratio, work, traffic, ceilings, ratio / (work * traffic * ceilings), has_bound=True)


def _is_alike(state: State, of_sums: float) -> bool:
    """Whether the bound of the sums is the sum of the bounds, so that the launches are bound by the same."""
    return math.isnan(state.bound) or abs(of_sums - state.bound) <= _ALIKE * state.bound


def _is_known(state: State, name: str) -> bool:
    total, capacity = state.totals.get(name, math.nan), state.capacities.get(name, math.nan)
    return not math.isnan(total) and capacity > 0


def _bound(
    names: list[str], resources: Mapping[str, str], totals: Mapping[str, float], capacities: Mapping[str, float]
) -> float:
    """Seconds that the busiest resource needs."""
    loads: dict[str, float] = {}
    for name in names:
        loads[resources[name]] = loads.get(resources[name], 0.0) + totals[name] / capacities[name]
    return max(loads.values(), default=0.0)
