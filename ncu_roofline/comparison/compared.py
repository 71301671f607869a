"""Two sides compared: pairs with verdict and cause, what only one side has, and whether they may be compared at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import median
from typing import Final

import numpy as np

from ncu_roofline.arrays import FloatArray
from ncu_roofline.checks import Finding
from ncu_roofline.comparison.decompose import Factors, State, decompose
from ncu_roofline.comparison.noise import EQUAL, Noise, Spread, noise, spread
from ncu_roofline.comparison.pairing import Pair, pair
from ncu_roofline.comparison.side import BOUND, LAUNCHES, REGISTERS, SPILLS, TIME, Key, Side, total_name
from ncu_roofline.vocabulary import PATHS, TIERS, amount_prefix


class Verdict(Enum):
    """What becomes of a time."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    INDISTINGUISHABLE = "indistinguishable"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True)
class Compared:
    """A pair, or the whole job: times in seconds, amounts before and after, and the factors of the change.

    ``amounts``: totals of the pair by column (``launches``, ``bound.time``, ``traffic.dram.bytes`` ...), medians over
    the samples, NaN where a side does not know them. ``peaks``: capacities by path and tier, per second. ``bound``:
    what binds before and after.
    """

    name: str
    before_keys: tuple[Key, ...]
    after_keys: tuple[Key, ...]
    rule: str
    before: Spread
    after: Spread
    noise: Noise
    verdict: Verdict
    factors: Factors | None
    amounts: Mapping[str, tuple[float, float]]
    peaks: Mapping[str, tuple[float, float]]
    bound: tuple[str | None, str | None]
    complete: bool
    clock: tuple[float, float] = (math.nan, math.nan)
    """SM clock in Hz, the median over groups and samples."""

    @property
    def ratio(self) -> float:
        """Time after over time before, 1 where they differ in their last digits only; NaN where one is not known."""
        if math.isclose(self.after.median, self.before.median, rel_tol=EQUAL):
            return 1.0
        return self.after.median / self.before.median if self.before.median > 0 else math.nan

    @property
    def is_changed(self) -> bool:
        """Whether the time is not the same or not known, or an amount changed."""
        fractions = [self.value("bound.fraction", side) for side in (0, 1)]
        return self.ratio != 1.0 or any(
            not math.isclose(before, after, rel_tol=EQUAL)
            for before, after in (*self.amounts.values(), fractions)
            if not math.isnan(before) and not math.isnan(after)
        )

    def value(self, name: str, side: int) -> float:
        """A quantity of the pair on a side (0: before, 1: after), by the names of columns."""
        time = (self.before, self.after)[side].median
        if name == TIME:
            return time
        if name == "bound.fraction":
            return self._of(BOUND, side) / time if time > 0 else math.nan
        if name == "bound.headroom":
            return time - self._of(BOUND, side)
        if name.endswith(".rate"):
            return (
                self._of(total_name(name.split(".", 1)[1].removesuffix(".rate")), side) / time if time > 0 else math.nan
            )
        return self._of(name, side)

    def _of(self, name: str, side: int) -> float:
        return self.amounts.get(name, (math.nan, math.nan))[side]


@dataclass(frozen=True)
class Alone:
    """A kernel group that one side has only: its key, its time in seconds, and what is known of it.

    ``of`` has only that side.
    """

    key: Key
    time: float
    of: Compared


@dataclass(frozen=True)
class Comparison:
    """The whole job, its pairs (those that changed most first), what is new and gone, and the findings."""

    before: Side
    after: Side
    whole: Compared
    pairs: tuple[Compared, ...]
    gone: tuple[Alone, ...]
    new: tuple[Alone, ...]
    unused_pairs: tuple[str, ...] = ()
    finding_list: tuple[Finding, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """That of the whole job."""
        return self.whole.verdict

    def to_json(self) -> str:
        """The comparison as JSON text (schema ncu-roofline/comparison/1)."""
        from ncu_roofline.render.comparison import to_json  # Renderers come after this module.

        return to_json(self)


PRINTED: Final = 5e-4
"""Share below which single times are the same: ncu prints three to four digits of a time."""
WHOLE: Final = "whole job"


def compared(before: Side, after: Side, given: Sequence[tuple[str, str]] = ()) -> Comparison:
    """Both sides, paired and judged by time; findings are not in it yet.

    Args:
        before: the first side.
        after: the second.
        given: ``--pair``: regular expressions of names that belong together.

    """
    found = pair(before.keys, after.keys, given)
    pairs = [_pair(before, after, one) for one in found.pairs]
    return Comparison(
        before=before,
        after=after,
        whole=_whole(before, after),
        pairs=tuple(sorted(pairs, key=lambda one: -_change(one))),
        gone=_alone(before, after, found.gone, side=0),
        new=_alone(before, after, found.new, side=1),
        unused_pairs=found.unused,
    )


def incomparable(comparison: Comparison) -> Comparison:
    """The same where times may not be held against each other: no verdict but that."""
    return replace(
        comparison,
        whole=replace(comparison.whole, verdict=Verdict.INCOMPARABLE),
        pairs=tuple(replace(one, verdict=Verdict.INCOMPARABLE) for one in comparison.pairs),
    )


def _change(one: Compared) -> float:
    """By how many seconds the time changed."""
    change = abs(one.after.median - one.before.median)
    return 0.0 if math.isnan(change) else change


def _pair(before: Side, after: Side, one: Pair) -> Compared:
    sides = ((before, one.before), (after, one.after))
    times = [_sum(side.amount(TIME), places) for side, places in sides]
    states = [_state(side, places) for side, places in sides]
    side, places = sides[1] if one.after else sides[0]
    named = side.keys[places[0]].kernel
    more = len(places) - 1
    return Compared(
        name=f"{named} and {more} more" if more else named,
        before_keys=tuple(before.keys[place] for place in one.before),
        after_keys=tuple(after.keys[place] for place in one.after),
        rule=one.rule,
        before=spread(times[0]),
        after=spread(times[1]),
        noise=noise(times[0], times[1]),
        verdict=_verdict(times[0], times[1]),
        factors=decompose(states[0], states[1], {**before.resources, **after.resources}),
        amounts=_amounts(sides),
        peaks={
            name: (states[0].capacities.get(name, math.nan), states[1].capacities.get(name, math.nan))
            for name in {**states[0].capacities, **states[1].capacities}
        },
        bound=(_bound_by(before, one.before), _bound_by(after, one.after)),
        complete=all(before.complete[place] for place in one.before) and all(after.complete[n] for n in one.after),
        clock=(_clock(before, one.before), _clock(after, one.after)),
    )


def _whole(before: Side, after: Side) -> Compared:
    everything = (before.in_total, after.in_total)
    times = [before.totals().tolist(), after.totals().tolist()]
    return Compared(
        name=WHOLE,
        before_keys=before.keys,
        after_keys=after.keys,
        rule="",
        before=spread(times[0]),
        after=spread(times[1]),
        noise=noise(times[0], times[1]),
        verdict=_verdict(times[0], times[1]),
        factors=None,
        amounts=_amounts(((before, everything[0]), (after, everything[1]))),
        peaks={},
        bound=(_bound_by(before, everything[0]), _bound_by(after, everything[1])),
        complete=all(before.complete) and all(after.complete),
    )


def _verdict(before: Sequence[float], after: Sequence[float]) -> Verdict:
    """By time; what repeats cannot tell apart is indistinguishable, and so is what is equal."""
    one, two = spread(before), spread(after)
    if not one.samples or not two.samples:
        return Verdict.INCOMPARABLE
    known = noise(before, after)
    if known.is_known:
        # Medians that moved against the means say that a few samples stand out, and nothing else.
        is_faster, is_slower = two.median < one.median, two.median > one.median
        if known.is_significant and (is_faster if known.difference < 0.0 else is_slower):
            return Verdict.IMPROVED if is_faster else Verdict.REGRESSED
        return Verdict.INDISTINGUISHABLE
    if math.isclose(one.median, two.median, rel_tol=PRINTED):
        return Verdict.INDISTINGUISHABLE
    return Verdict.IMPROVED if two.median < one.median else Verdict.REGRESSED


def _sum(values: FloatArray, places: Sequence[int]) -> list[float]:
    """Sum over groups of each sample; not known where one of them is not."""
    if not places:
        return [math.nan]
    if len(places) == 1:
        return [float(value) for value in values[places[0]]]
    return [float(value) for value in values[list(places)].sum(axis=0)]


def _median(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return median(known) if known else math.nan


def _clock(side: Side, places: Sequence[int]) -> float:
    return _median(side.amount("clocks.sm")[list(places)].ravel().tolist())


def _state(side: Side, places: Sequence[int]) -> State:
    totals = {name: _median(_sum(side.amount(total_name(name)), places)) for name in side.collected}
    bound = _median(_sum(side.amount(BOUND), places))
    return State(_median(_sum(side.amount(TIME), places)), totals, _capacities(side, places, totals), bound)


def _capacities(side: Side, places: Sequence[int], totals: Mapping[str, float]) -> dict[str, float]:
    """Capacity of each path and tier over groups: their total over the time that it needs at the peak of each."""
    found = {}
    for name in side.collected:
        peaks = side.amount(f"{amount_prefix(name)}.peak")[list(places)]
        amounts = side.amount(total_name(name))[list(places)]
        needed = _median([float(value) for value in (amounts / peaks).sum(axis=0)])
        highest = peaks[~np.isnan(peaks)]
        found[name] = totals[name] / needed if needed > 0 else float(highest.max()) if len(highest) else math.nan
    return found


def _amounts(sides: Sequence[tuple[Side, Sequence[int]]]) -> dict[str, tuple[float, float]]:
    """Totals on both sides; what no side knows is left out."""
    every = [LAUNCHES, BOUND, SPILLS, *(total_name(name) for name in (*PATHS, *TIERS))]
    names = [name for name in every if any(name in side.amounts for side, _ in sides)]
    pairs = {name: tuple(_median(_sum(side.amount(name), places)) for side, places in sides) for name in names}
    pairs[REGISTERS] = tuple(_most(side.amount(REGISTERS)[list(places)]) for side, places in sides)
    return {name: (one, two) for name, (one, two) in pairs.items() if not (math.isnan(one) and math.isnan(two))}


def _most(values: FloatArray) -> float:
    """The highest, not known where one group has none."""
    highest = [float(np.nanmax(row)) if not np.isnan(row).all() else math.nan for row in values]
    return max(highest) if highest and not any(map(math.isnan, highest)) else math.nan


def _bound_by(side: Side, places: Sequence[int]) -> str | None:
    """What binds most of the time of groups."""
    weights: dict[str | None, float] = {}
    for place in places:
        time = _median(side.amount(TIME)[place].tolist())
        by = side.bound_by[place]
        weights[by] = weights.get(by, 0.0) + (0.0 if math.isnan(time) else time)
    return max(weights, key=lambda by: weights[by]) if weights else None


def _alone(before: Side, after: Side, places: Sequence[int], *, side: int) -> tuple[Alone, ...]:
    """Groups of one side, the longest first."""
    mine = (before, after)[side]
    found = []
    for place in places:
        of = _pair(before, after, Pair((place,), (), "") if side == 0 else Pair((), (place,), ""))
        found.append(Alone(mine.keys[place], (of.before, of.after)[side].median, of))
    return tuple(sorted(found, key=lambda one: -np.nan_to_num(one.time)))
