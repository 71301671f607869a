"""Rules on what is taken together (X): inputs that repeat each other, ranks without a kernel, averages of averages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import mapped, numbered
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.timings import base_name
from ncu_roofline.wording import count, some

_SAME_TIME: Final = 0.02
"""Share by which two times of one launch differ that were printed in other forms; times of two runs differ by more."""
_SHOWN: Final = 3
_IDS: Final = ("process", "ncu_id", "grid", "block")


def launches_repeated(view: View) -> Iterator[Evidence]:
    """Two inputs have the same launches.

    Process, id, kernel, shape and time of all their launches are equal, as of a report that was given twice or in two
    forms. Every sum counts them twice; shares and the longest kernels of each input are right.
    """
    for first, second, same in _pairs(view):
        if same:
            a, b = view.inputs[first], view.inputs[second]
            yield Evidence(
                view.launches_of(b),
                f"{b.path} has the {count(b.launches, 'launch')} of {a.path} again: sums over both count them twice.",
                "Give each report once.",
            )


def ids_repeated(view: View) -> Iterator[Evidence]:
    """Launches of two inputs have the same process and id, and are not the same.

    Process ids come again, in containers and after a restart, and ids begin at 0 in every run. Launches are kept apart
    by their input; what joins reports by id would mix them. Positions in the table count over all inputs.
    """
    for first, second, same in _pairs(view):
        if not same:
            a, b = view.inputs[first], view.inputs[second]
            yield Evidence(
                view.launches_of(b),
                f"{b.path} and {a.path} have other launches under the same process and id: they are kept apart.",
            )


def _pairs(view: View) -> Iterator[tuple[int, int, bool]]:
    """Each input with the first one before it that shares a process and id, and whether all of their launches agree."""
    if len(view.inputs) < 2 or view.captures_apart is not None:
        return
    owners: dict[tuple[object, object], int] = {}
    for number, facts in enumerate(view.inputs):
        rows = slice(facts.first_launch, facts.first_launch + facts.launches)
        keys = list(zip(view.labels("process")[rows].tolist(), view.labels("ncu_id")[rows].tolist(), strict=True))
        known = [key for key in keys if None not in key]
        earlier = next((owners[key] for key in known if key in owners), None)
        if earlier is not None:
            yield earlier, number, _agree(view, earlier, rows)
        for key in known:
            owners.setdefault(key, number)


def _agree(view: View, first: int, rows: slice) -> bool:
    facts = view.inputs[first]
    others = slice(facts.first_launch, facts.first_launch + facts.launches)
    if any(view.labels(name)[rows].tolist() != view.labels(name)[others].tolist() for name in _IDS):
        return False
    # A binary report prints namespaces that a table leaves out.
    mine, theirs = (mapped(_bare, view.labels("kernel")[part].tolist()).tolist() for part in (rows, others))
    if mine != theirs:
        return False
    one, two = view.floats("time")[rows], view.floats("time")[others]
    return bool(np.allclose(one, two, rtol=_SAME_TIME, atol=0.0, equal_nan=True))


def _bare(name: str | None) -> str | None:
    return None if name is None else base_name(name)


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
        said = [f"{keys[number][2]} on {on[number]} of {len(names)}" for number in np.flatnonzero(fewer)]
        yield Evidence(np.asarray(fewer[groups]), f"not on all {len(names)} ranks: {some(said, _SHOWN)}.")


def _numbers(view: View, *names: str) -> tuple[npt.NDArray[np.intp], list[tuple[object, ...]]]:
    return numbered(zip(*(view.labels(name).tolist() for name in names), strict=True))


def percentages_averaged(view: View) -> Iterator[Evidence]:
    """Percentages of several launches were averaged by ncu.

    An entry of ``--print-summary`` has the average of each percentage, which is not the percentage of the sums: a short
    launch weighs as much as a long one. Hit rates and throughputs of such an entry hold for launches that are alike;
    amounts and times are right as sums.
    """
    merged = view.floats("invocations") > 1
    known = np.zeros(view.size, np.bool_)
    names = [*view.matching("utilization.*"), *view.matching("hit_rate.*")]
    for name in names:
        known |= ~np.isnan(view.floats(name))
    hit = merged & known
    if hit.any():
        yield Evidence(
            hit,
            f"percentages of {count(int(hit.sum()), 'entry')} are averages over launches, not shares of their sums.",
            "Export without --print-summary to see every launch.",
        )
