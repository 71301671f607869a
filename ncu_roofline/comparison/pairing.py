"""Which kernel groups of two sides do the same job: never by position or id.

Rules are tried from the strictest on; each takes what the ones before it left over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from ncu_roofline.comparison.side import Key
from ncu_roofline.timings import base_name, kind_in

SAME: Final = "same kernel, grid, block and range"
GIVEN: Final = "--pair"


@dataclass(frozen=True)
class Pair:
    """Places of groups on each side that are compared as a whole, and the rule that put them together."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    rule: str


@dataclass(frozen=True)
class Pairing:
    """Pairs, and the places of groups that only one side has."""

    pairs: tuple[Pair, ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]
    unused: tuple[str, ...] = ()
    """Pairs of expressions that found nothing on a side."""


_Place = Callable[[Key], Hashable]

_RULES: Final[tuple[tuple[str, _Place], ...]] = (
    (SAME, lambda key: key),
    ("same kernel, grid, block and range on another device of the same kind", lambda key: replace(key, device=0)),
    ("same kernel, grid and block, another range", lambda key: replace(key, range=None)),
    ("same kernel and range, another grid or block", lambda key: replace(key, grid=None, block=None)),
    ("same kernel, another grid or block", lambda key: (key.kernel, key.device, key.product)),
    ("same name without template arguments, grid, block and range", lambda key: replace(key, kernel=_base(key))),
    ("same name without template arguments and range", lambda key: (_base(key), key.range, key.device, key.product)),
    ("same name without template arguments", lambda key: (_base(key), key.device, key.product)),
    ("same NVTX range", lambda key: (key.range, kind_in(key.kernel), key.device, key.product) if key.range else None),
)


def pair(before: Sequence[Key], after: Sequence[Key], given: Sequence[tuple[str, str]] = ()) -> Pairing:
    """Groups of both sides that belong together.

    Args:
        before: groups of the first side.
        after: of the second.
        given: pairs of regular expressions; what the first finds in names of one side and the second in those of the
            other is compared as two sets, before any rule.

    """
    products = [{key.product for key in side} for side in (before, after)]
    if None in products[0] | products[1] or products[0].isdisjoint(products[1]):
        # What one report does not say, or no kernel has in common, tells nobody apart.
        before, after = ([replace(key, product=None) for key in side] for side in (before, after))
    left, right = list(range(len(before))), list(range(len(after)))
    pairs: list[Pair] = []
    unused = []
    for one, other in given:
        first = tuple(place for place in left if re.search(one, before[place].kernel))
        second = tuple(place for place in right if re.search(other, after[place].kernel))
        if first and second:
            pairs.append(Pair(first, second, f"{GIVEN} {one}={other}"))
            left, right = _without(left, first), _without(right, second)
        else:
            unused.append(f"{one}={other}")
    for rule, place_of in _RULES:
        found = [Pair(first, second, rule) for first, second in _matches(before, after, left, right, place_of)]
        pairs += found
        left = _without(left, chain.from_iterable(one.before for one in found))
        right = _without(right, chain.from_iterable(one.after for one in found))
    return Pairing(tuple(pairs), tuple(left), tuple(right), tuple(unused))


def _matches(
    before: Sequence[Key], after: Sequence[Key], left: Sequence[int], right: Sequence[int], place_of: _Place
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Sets of groups on both sides that a rule puts in one place; groups for which it has none stay."""
    places: dict[Hashable, tuple[list[int], list[int]]] = {}
    for side, keys, numbers in ((0, before, left), (1, after, right)):
        for number in numbers:
            place = place_of(keys[number])
            if place is not None:
                places.setdefault(place, ([], []))[side].append(number)
    return [(tuple(first), tuple(second)) for first, second in places.values() if first and second]


def _without(places: Sequence[int], taken: Iterable[int]) -> list[int]:
    gone = frozenset(taken)
    return [place for place in places if place not in gone]


def _base(key: Key) -> str:
    return base_name(key.kernel)
