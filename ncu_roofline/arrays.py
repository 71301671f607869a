"""Small numpy helpers for columns in which NaN means "not known"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ObjectArray = npt.NDArray[np.object_]
Columns = dict[str, npt.NDArray[Any]]
"""A table: columns of one length by name; NaN and None are not known."""

Codes = npt.NDArray[np.integer[Any]]
"""Whole numbers, 0 or more, that stand for something else."""

_Item = TypeVar("_Item")

_PART = 1 << 15
"""Elements of a large column that are worked on at once."""


def objects(values: Iterable[object]) -> ObjectArray:
    """A column of Python objects (texts, tuples), None where not known."""
    items = list(values)
    return np.fromiter(items, object, len(items))


def mapped(function: Callable[[Any], object], items: Sequence[object]) -> ObjectArray:
    """A function of each element, called once for elements that are equal."""
    numbers, distinct = numbered(items)
    return objects(map(function, distinct))[numbers]


def numbered(items: Iterable[_Item]) -> tuple[npt.NDArray[np.intp], list[_Item]]:
    """Number of each element among the distinct ones, and these in order of first appearance."""
    each = list(items)
    if each and each.count(each[0]) == len(each):
        # Most of what a report says of its launches is the same for all of them.
        return np.zeros(len(each), np.intp), each[:1]
    distinct = list(dict.fromkeys(each))
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(numbers.__getitem__, each), np.intp, len(each)), distinct


def numbered_rows(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.intp], list[tuple[Any, ...]]]:
    """Number of each row of some columns among the distinct rows, and these in order of first appearance."""
    numbers, firsts = combined([numbered(column.tolist())[0] for column in columns])
    return numbers, list(zip(*(column[firsts].tolist() for column in columns), strict=True))


def combined(columns: Sequence[Codes]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Number of each combination of codes among the distinct ones by first appearance; where each appears first."""
    numbers, firsts = renumbered(columns[0])
    for codes in columns[1:]:
        numbers, firsts = renumbered(numbers * (int(codes.max(initial=0)) + 1) + codes)
    return numbers, firsts


def renumbered(codes: Codes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Whole numbers, 0 or more, as numbers among the distinct ones by first appearance; where each appears first."""
    if not len(codes):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    if codes.max() > 2 * len(codes) + 1000:
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return np.argsort(order)[number], first[order]
    # Without sorting, and by parts: large arrays cost more to get than to fill.
    parts = [slice(begin, begin + _PART) for begin in range(0, len(codes), _PART)]
    first_of = np.full(int(codes.max()) + 1, -1, np.intp)
    for part in reversed(parts):
        # Of several values for one place the last one stays, so it is filled from the end.
        first_of[codes[part][::-1]] = np.arange(part.start, part.start + len(codes[part]))[::-1]
    firsts = np.sort(first_of[first_of >= 0])
    number_of = np.empty(len(first_of), np.intp)
    number_of[codes[firsts]] = np.arange(len(firsts))
    numbers = np.empty(len(codes), np.intp)
    for part in parts:
        numbers[part] = number_of[codes[part]]
    return numbers, firsts


def joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """One column after the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def nothing(size: int) -> ObjectArray:
    """A column of objects in which nothing is known."""
    return repeated(None, size)


def repeated(item: object, size: int) -> ObjectArray:
    """A column of one and the same object (``np.full`` makes a new text for every row)."""
    result = np.empty(size, object)
    result.fill(item)
    return result


def unknown(size: int) -> FloatArray:
    """A column in which nothing is known."""
    return np.full(size, np.nan)


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Element-wise quotient; not known where the denominator is zero or not known."""
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def first_known(candidates: Iterable[FloatArray]) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Element-wise the first candidate that is known, and its position (-1: none).

    Candidates are asked for only as long as something is open.
    """
    remaining = iter(candidates)
    value = next(remaining)
    open_places = np.isnan(value)
    position = -open_places.astype(np.int8)
    number = 0
    while open_places.any() and (candidate := next(remaining, None)) is not None:
        number += 1
        fill = open_places & ~np.isnan(candidate)
        if not fill.any():
            continue
        value = np.where(fill, candidate, value)
        np.copyto(position, number, where=fill)
        open_places &= ~fill
    return value, position


def highest(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.intp]:
    """Element-wise the position of the largest value, the first of equal ones."""
    # One column after the other: ``argmax`` over the short axis takes ten times as long.
    position, best = np.zeros(columns[0].shape, np.intp), columns[0]
    for number, column in enumerate(columns[1:], start=1):
        more = column > best
        np.copyto(position, number, where=more)
        best = np.where(more, column, best)
    return position


def sum_known(columns: Sequence[FloatArray]) -> FloatArray:
    """Element-wise sum of what is known; not known where none is."""
    total = np.zeros(columns[0].shape)
    any_known = np.zeros(columns[0].shape, np.bool_)
    for column in columns:
        is_known = ~np.isnan(column)
        np.add(total, column, out=total, where=is_known)
        any_known |= is_known
    return np.where(any_known, total, np.nan)


def rows(columns: Columns) -> list[dict[str, Any]]:
    """A small table as one dictionary of Python values per row, for renderers."""
    lists = [column.tolist() for column in columns.values()]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]
