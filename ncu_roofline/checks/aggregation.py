"""Rules on what is taken together (X): inputs that repeat each other, ranks without a kernel, averages of averages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, ObjectArray, mapped, numbered, numbered_rows
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.formats import shape
from ncu_roofline.timings import with_arguments
from ncu_roofline.wording import count, some

_SAME: Final = 1e-3
"""Share by which two printings of one number differ at most: ncu prints three digits or more."""
_CANDIDATES: Final = 8
"""How many launches of one process and id are looked at."""
_SHOWN: Final = 3
Launches = npt.NDArray[np.intp]

_KNOWN: Final = ("grid", "block", "device_ordinal", "device", "cc", "stream")


def launches_repeated(view: View) -> Iterator[Evidence]:
    """Launches of one input are those of another one again.

    Process, id, kernel, shape and device are equal, and so are time and every amount that both have, to the digits that
    ncu prints: a report that was given twice, in two forms, or with a part of itself. Every sum counts them twice.
    """
    for (first, second), launches in _shared(view, same=True).items():
        a, b = view.inputs[first], view.inputs[second]
        yield Evidence(
            launches,
            f"{b.path} has {count(int(launches.sum()), 'launch')} of {a.path} again: sums over both count them twice.",
            "Give each report once.",
        )


def ids_repeated(view: View) -> Iterator[Evidence]:
    """Launches of two inputs have the same process and id, and are not the same.

    Process ids come again, in containers and after a restart, and ids begin at 0 in every run. Launches are kept apart
    by their input; what joins reports by id would mix them. Positions in the table count over all inputs.
    """
    for (first, second), launches in _shared(view, same=False).items():
        a, b = view.inputs[first], view.inputs[second]
        yield Evidence(
            launches,
            f"{b.path} and {a.path} have other launches under the same process and id "
            f"({count(int(launches.sum()), 'launch')}): they are kept apart.",
        )


def _shared(view: View, *, same: bool) -> dict[tuple[int, int], BoolArray]:
    """Launches that have the process and id of one of an earlier input, by both inputs.

    ``same``: those that agree with it in everything that both know and in a number at least; else those that agree with
    none.
    """
    found: dict[tuple[int, int], BoolArray] = {}
    if len(view.inputs) < 2 or view.captures_apart is not None:
        return found
    inputs = view.columns["input"]
    twin, stranger, open_ = np.full(view.size, -1), np.full(view.size, -1), np.zeros(view.size, np.bool_)
    for one, two in _pairs(view):
        agrees, apart = _agree(view, one, two)
        twin[two[agrees]] = one[agrees]
        stranger[two[apart]] = one[apart]
        open_[two[~agrees & ~apart]] = True
    owner = twin if same else np.where((twin < 0) & ~open_, stranger, -1)
    hit = np.flatnonzero(owner >= 0)
    codes, pairs = numbered_rows([inputs[owner[hit]], inputs[hit]])
    for number, pair in enumerate(pairs):
        found[pair] = np.zeros(view.size, np.bool_)
        found[pair][hit[codes == number]] = True
    return found


def _pairs(view: View) -> Iterator[tuple[Launches, Launches]]:
    """Launches with the same process and id in different inputs, the earlier ones first, the farthest pairs first."""
    codes, _ = numbered(_keys(view))
    order = np.argsort(codes, kind="stable")
    inputs = view.columns["input"][order]
    for distance in range(min(_CANDIDATES, view.size - 1), 0, -1):
        alike = (codes[order[distance:]] == codes[order[:-distance]]) & (inputs[distance:] != inputs[:-distance])
        if alike.any():
            yield order[:-distance][alike], order[distance:][alike]


def _keys(view: View) -> Iterator[object]:
    """Process and id of each launch; of an entry without an id process, kernel and shape."""
    names = ("process", "ncu_id", "kernel", "grid", "block", "device_ordinal")
    for launch, (process, number, *rest) in enumerate(zip(*(view.labels(n).tolist() for n in names), strict=True)):
        if process is not None and number is not None:
            yield process, number
        else:
            # Without a name it is not known to be anything else's launch.
            yield (process, *rest) if rest[0] is not None else launch


def _agree(view: View, one: Launches, two: Launches) -> tuple[BoolArray, BoolArray]:
    """Whether launches agree in everything that both know and in a number at least, and whether they differ in some."""
    apart, common = np.zeros(len(one), np.bool_), np.zeros(len(one), np.bool_)
    for values in (*(view.labels(name) for name in _KNOWN), _kernels(view)):
        mine, theirs = values[one], values[two]
        apart |= (mine != theirs) & (mine != None) & (theirs != None)  # noqa: E711 (element by element)
    for name in ("time", *view.matching("*.count"), *view.matching("*.bytes")):
        a, b = view.floats(name)[one], view.floats(name)[two]
        known = ~np.isnan(a + b)
        common |= known
        apart |= known & (np.abs(a - b) > _SAME * np.fmax(np.abs(a), np.abs(b)))
    return common & ~apart, apart


def _kernels(view: View) -> ObjectArray:
    """Kernel names as all forms print them: a binary report has namespaces that a table leaves out."""
    return mapped(lambda name: None if name is None else with_arguments(name), view.labels("kernel").tolist())


def ranks_missing(view: View) -> Iterator[Evidence]:
    """A kernel ran on some of the ranks only (``--aggregate``).

    Its sums, rates and the fastest and slowest rank are those of the ranks that have it; the others are not counted as
    zero.
    """
    if not view.aggregate:
        return
    ranks, names = _numbers(view, "input", "device_ordinal")
    groups, keys = _numbers(view, "device", "cc", "kernel", "grid", "block")
    present = np.zeros((len(names), len(keys)), np.bool_)
    present[ranks, groups] = True
    on = present.sum(axis=0)
    fewer = on < len(names)
    if fewer.any():
        said = [
            f"{keys[number][2]} with grid {shape(keys[number][3])} on {on[number]} of {len(names)}"
            for number in np.flatnonzero(fewer)
        ]
        yield Evidence(np.asarray(fewer[groups]), f"not on all {len(names)} ranks: {some(said, _SHOWN)}.")


def _numbers(view: View, *names: str) -> tuple[npt.NDArray[np.intp], list[tuple[Any, ...]]]:
    return numbered_rows([view.labels(name) for name in names])


def percentages_averaged(view: View) -> Iterator[Evidence]:
    """Percentages of several launches were averaged by ncu.

    An entry of ``--print-summary`` has the average of each percentage, which is not the percentage of the sums: a short
    launch weighs as much as a long one. Hit rates and throughputs of such an entry hold for launches that are alike;
    amounts and times are right as sums.
    """
    merged = view.floats("invocations") > 1
    known = np.zeros(view.size, np.bool_)
    names = [*view.matching("utilization.*"), *view.matching("utilization_active.*"), *view.matching("hit_rate.*")]
    for name in names:
        known |= ~np.isnan(view.floats(name))
    hit = merged & known
    if hit.any():
        yield Evidence(
            hit,
            f"percentages of {count(int(hit.sum()), 'entry')} are averages over launches, not shares of their sums.",
            "Export without --print-summary to see every launch.",
        )


def products_of_averages(view: View) -> Iterator[Evidence]:
    """Work or bytes of several launches are a product of averages.

    A summary has the average of each metric. Where it has no count, work is the average rate times the average number
    of cycles (or time), which is the true average only if all launches are alike: a launch that is both longer and
    faster than the others makes it too low.
    """
    merged = view.floats("invocations") > 1
    names, hit = [], np.zeros(view.size, np.bool_)
    for column in (*view.matching("work.*.recipe"), *view.matching("traffic.*.recipe")):
        recipes = view.labels(column)
        mine = merged & mapped(_is_product, recipes.tolist()).astype(np.bool_)
        if mine.any():
            names.append(column.removesuffix(".recipe").partition(".")[2])
            hit |= mine
    if hit.any():
        yield Evidence(
            hit,
            f"{', '.join(names)} of {count(int(hit.sum()), 'entry')} are products of averages over launches (a rate x "
            "cycles or time): they are right only if the launches are alike.",
            "Export without --print-summary, or collect the counts (.sum).",
        )


def _is_product(recipe: str | None) -> bool:
    """Whether a recipe makes a total of a rate."""
    return recipe is not None and "; total: counter.sum.per_" in recipe
