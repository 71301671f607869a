"""Rules on what is taken together (X): inputs that repeat each other, ranks without a kernel, averages of averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, FloatArray, mapped, numbered
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.formats import shape
from ncu_roofline.timings import with_arguments
from ncu_roofline.wording import count, some

_SAME: Final = 1e-3
"""Share by which two printings of one number differ at most: ncu prints three digits or more."""
_CANDIDATES: Final = 8
"""How many launches of one process and id are looked at."""
_SHOWN: Final = 3
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
    owners: dict[object, list[int]] = {}
    inputs = view.columns["input"].tolist()
    amounts = [
        view.floats("time"),
        *(view.floats(name) for name in view.matching("*.count") + view.matching("*.bytes")),
    ]
    identity = list(zip(*(view.labels(name).tolist() for name in _KNOWN), _kernels(view), strict=True))
    for launch, key in enumerate(_keys(view)):
        earlier = [other for other in owners.get(key, ()) if inputs[other] != inputs[launch]] if key else []
        verdicts = {other: _agree(identity, amounts, other, launch) for other in earlier}
        twin = next((other for other, agrees in verdicts.items() if agrees), None)
        if same and twin is not None:
            found.setdefault((inputs[twin], inputs[launch]), np.zeros(view.size, np.bool_))[launch] = True
        if not same and earlier and all(agrees is False for agrees in verdicts.values()):
            found.setdefault((inputs[earlier[0]], inputs[launch]), np.zeros(view.size, np.bool_))[launch] = True
        if key and len(owners.setdefault(key, [])) < _CANDIDATES:
            owners[key].append(launch)
    return found


def _keys(view: View) -> Iterator[object]:
    """Process and id of each launch; of an entry without an id process, kernel and shape; None: nothing is known."""
    names = ("process", "ncu_id", "kernel", "grid", "block", "device_ordinal")
    for process, number, *rest in zip(*(view.labels(name).tolist() for name in names), strict=True):
        if process is not None and number is not None:
            yield process, number
        else:
            yield (process, *rest) if rest[0] is not None else None


def _agree(identity: Sequence[tuple[object, ...]], amounts: Sequence[FloatArray], one: int, two: int) -> bool | None:
    """Whether two launches agree; None where they have no number in common."""
    pairs = zip(identity[one], identity[two], strict=True)
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return False
    known = [(column[one], column[two]) for column in amounts if not np.isnan(column[one] + column[two])]
    if not known:
        return None
    return all(abs(a - b) <= _SAME * max(abs(a), abs(b)) for a, b in known)


def _kernels(view: View) -> list[str | None]:
    """Kernel names as all forms print them: a binary report has namespaces that a table leaves out."""
    names = mapped(lambda name: None if name is None else with_arguments(name), view.labels("kernel").tolist())
    return list(names.tolist())


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
