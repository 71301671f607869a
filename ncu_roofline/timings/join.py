"""Times of other producers given to launches, by what they are and never by where they stand.

Strong: the mangled name is equal; or the full name in the form in which tools agree, with grid and block, the n-th
launch of the one to the n-th of the other. Weak: the name alone, where the producer tells no shape and the launches
have one; a name that was cut; the bare name with grid and block. A name that several kernels share is never enough.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import Columns, nothing, unknown
from ncu_roofline.timings import names
from ncu_roofline.timings.model import SINGLE, Timings

STRONG: Final = "strong"
WEAK: Final = "weak"

_Key = Any
"""A name and a shape, or None."""
_Row = dict[str, Any]
_KeyOf = Callable[[_Row], _Key]


def join(launches: Columns, timings: Sequence[Timings]) -> Columns:
    """Times for launches; the first file that has one for a launch gives it.

    Args:
        launches: columns ``input``, ``kernel``, ``mangled``, ``grid``, ``block``, ``device_ordinal``, ``invocations``.
        timings: what was read.

    Returns:
        columns ``external.time`` (seconds, of all invocations), ``external.file`` and ``external.row`` (numbers of the
        file and of the row in it, -1: none),
        ``external.match``, ``external.samples``, ``external.statistic`` and ``external.kernel``; of traces also
        ``external.rows`` and ``external.launches``, how often trace and input have this launch.

    """
    size = len(launches["kernel"])
    result: Columns = {
        "external.time": unknown(size),
        "external.file": np.full(size, -1),
        "external.row": np.full(size, -1),
        "external.match": nothing(size),
        "external.samples": np.zeros(size, np.int64),
        "external.statistic": nothing(size),
        "external.kernel": nothing(size),
        "external.rows": np.zeros(size, np.int64),
        "external.launches": np.zeros(size, np.int64),
    }
    for number, found in enumerate(timings):
        _join_one(launches, found, number, result)
    return result


def _join_one(launches: Columns, found: Timings, number: int, result: Columns) -> None:
    ours, theirs = _rows(launches, launches["device_ordinal"]), _rows(found.columns, found.columns["device"])
    devices = {row["device"] for row in theirs}
    are_folded = len(devices) > 1 and not {row["device"] for row in ours} <= devices
    if len(devices) < 2 or are_folded:
        # One device, or it cannot be told which of them is meant.
        for row in (*ours, *theirs):
            row["device"] = None
    inputs = launches["input"].tolist()
    for match, of_launch, of_row in _LEVELS:
        # Every level looks at all launches, so that the n-th of them stays the n-th.
        keys, places = [of_launch(row) for row in ours], _places([of_row(row) for row in theirs])
        if of_row in (_cut, _cut_without_shape):
            places = _completed(places, keys)
        if of_launch not in (_mangled, _exact):
            _leave_out_shared(keys, places, ours, theirs, by_shape=of_row in _WITHOUT_SHAPE)
        traced = {key for key, rows in places.items() if all(found.columns["statistic"][row] == SINGLE for row in rows)}
        seen: dict[_Key, int] = {}
        counts = Counter(zip(inputs, keys, strict=True))
        for launch, (key, part) in enumerate(zip(keys, inputs, strict=True)):
            rows = places.get(key, []) if key is not None else []
            occurrence = seen[part, key] = seen.get((part, key), -1) + 1
            # A trace has a row for each launch; a summary has one, which stands for all of them.
            at = occurrence if key in traced else 0 if len(rows) == 1 else len(rows)
            if at < len(rows) and result["external.file"][launch] < 0:
                kind = _doubt(
                    ours[launch], theirs[rows[at]], WEAK if are_folded else match, is_mangled=of_row is _mangled
                )
                if kind is not None:
                    if key in traced:
                        result["external.rows"][launch] = len(rows)
                        result["external.launches"][launch] = counts[part, key]
                    _give(result, launch, found, rows[at], number, kind, int(launches["invocations"][launch]))


def _doubt(mine: _Row, other: _Row, match: str, *, is_mangled: bool) -> str | None:
    """The match of two rows, given what their names say of namespaces; None if they are of two kernels."""
    if is_mangled or mine["kernel"] is None or other["kernel"] is None:
        return match
    (function, arguments), (other_function, other_arguments) = map(names.qualified, (mine["kernel"], other["kernel"]))
    if function and other_function and function != other_function:
        return None
    return WEAK if arguments and other_arguments and arguments != other_arguments else match


def _rows(table: Columns, devices: Any) -> list[_Row]:
    columns = [table[name].tolist() for name in ("kernel", "mangled", "grid", "block")]
    names_of = ("kernel", "mangled", "grid", "block", "device")
    return [dict(zip(names_of, row, strict=True)) for row in zip(*columns, devices.tolist(), strict=True)]


def _places(keys: Sequence[_Key]) -> dict[_Key, list[int]]:
    places: dict[_Key, list[int]] = {}
    for row, key in enumerate(keys):
        if key is not None:
            places.setdefault(key, []).append(row)
    return places


def _completed(places: dict[_Key, list[int]], keys: Sequence[_Key]) -> dict[_Key, list[int]]:
    """Rows with cut names, under the name of the only launches whose name begins like that."""
    by_shape: dict[_Key, list[str]] = {}
    for name, shape in sorted({key for key in keys if key is not None}, key=lambda key: str(key[0])):
        by_shape.setdefault(shape, []).append(name)
    whole: dict[_Key, list[int]] = {}
    for (begin, shape), rows in places.items():
        candidates = by_shape.get(shape, [])
        first = bisect_left(candidates, begin)
        meant = [name for name in candidates[first : first + 2] if name.startswith(begin)]
        if len(meant) == 1:
            whole.setdefault((meant[0], shape), []).extend(rows)
    return whole


def _leave_out_shared(
    keys: Sequence[_Key], places: dict[_Key, list[int]], ours: Sequence[_Row], theirs: Sequence[_Row], *, by_shape: bool
) -> None:
    """Leave out keys that several kernels share, in the report or in the times, or several shapes of one kernel."""
    kernels: dict[_Key, set[Any]] = {}
    for key, row in zip(keys, ours, strict=True):
        if key in places:
            shape = (row["grid"], row["block"]) if by_shape else None
            kernels.setdefault(key, set()).add((names.exact(row["kernel"]), shape))
    for key, rows in list(places.items()):
        if len(kernels.get(key, ())) > 1 or len({names.exact(theirs[row]["kernel"]) for row in rows}) > 1:
            del places[key]


def _give(result: Columns, launch: int, found: Timings, row: int, number: int, match: str, invocations: int) -> None:
    columns = found.columns
    result["external.time"][launch] = columns["time"][row] * invocations
    result["external.file"][launch], result["external.row"][launch] = number, row
    result["external.match"][launch] = match
    result["external.samples"][launch] = columns["samples"][row]
    result["external.statistic"][launch] = columns["statistic"][row]
    result["external.kernel"][launch] = columns["kernel"][row]


def _shape(row: _Row) -> _Key:
    return None if row["grid"] is None or row["block"] is None else (row["grid"], row["block"], row["device"])


def _mangled(row: _Row) -> _Key:
    return None if row["mangled"] is None else (row["mangled"], _shape(row))


def _exact(row: _Row) -> _Key:
    return _named(row, names.exact, shape=_shape(row))


def _with_arguments(row: _Row) -> _Key:
    return _named(row, names.with_arguments, shape=_shape(row))


def _name(row: _Row) -> _Key:
    return _named(row, names.normalised, shape=_shape(row))


def _name_alone(row: _Row) -> _Key:
    return None if row["kernel"] is None else (names.normalised(row["kernel"]), None)


def _name_without_shape(row: _Row) -> _Key:
    return _name_alone(row) if _shape(row) is None else None


def _operation(row: _Row) -> _Key:
    found = None if row["kernel"] is None else names.operation(row["kernel"])
    return None if found is None else (found, None)


def _cut(row: _Row) -> _Key:
    return _named(row, names.beginning, shape=_shape(row))


def _cut_without_shape(row: _Row) -> _Key:
    begin = None if row["kernel"] is None or _shape(row) is not None else names.beginning(row["kernel"])
    return None if begin is None else (begin, None)


def _base(row: _Row) -> _Key:
    return _named(row, names.base_name, shape=_shape(row))


def _named(row: _Row, form: Callable[[str], str | None], *, shape: _Key) -> _Key:
    name = None if row["kernel"] is None or shape is None else form(row["kernel"])
    return None if name is None else (name, shape)


_LEVELS: Final[tuple[tuple[str, _KeyOf, _KeyOf], ...]] = (
    (STRONG, _mangled, _mangled),
    (STRONG, _exact, _exact),
    (STRONG, _with_arguments, _with_arguments),
    (STRONG, _name, _name),
    (WEAK, _name_alone, _name_without_shape),
    (WEAK, _operation, _operation),
    (WEAK, _name, _cut),
    (WEAK, _name_alone, _cut_without_shape),
    (WEAK, _base, _base),
)
_WITHOUT_SHAPE: Final = (_name_without_shape, _operation, _cut_without_shape)
