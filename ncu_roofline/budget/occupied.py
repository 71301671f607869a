"""Arithmetic of intervals of time: what is covered, what lies between, and what runs alone. Whole columns, seconds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import FloatArray

Numbers = npt.NDArray[np.intp]


def merged(start: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intervals without overlap that cover the same, in ascending order."""
    if not len(start):
        return start, end
    order = np.argsort(start, kind="stable")
    begins, latest = start[order], np.maximum.accumulate(end[order])
    is_first = np.append(True, begins[1:] > latest[:-1])
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(begins)) - 1
    return begins[first], latest[last]


def covered(start: FloatArray, end: FloatArray) -> float:
    """Time that intervals cover, counted once where they overlap."""
    begins, ends = merged(start, end)
    return float((ends - begins).sum())


def covered_within(start: FloatArray, end: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """How much of each window from ``low`` to ``high`` the intervals cover."""
    begins, ends = merged(start, end)
    if not len(begins):
        return np.zeros(len(low))
    places = np.column_stack([begins, ends]).reshape(-1)
    so_far = np.append(0.0, np.cumsum(ends - begins))
    at_places = np.column_stack([so_far[:-1], so_far[1:]]).reshape(-1)
    inside = np.interp(high, places, at_places) - np.interp(low, places, at_places)
    return np.asarray(np.where(high > low, inside, 0.0))


def alone(start: FloatArray, end: FloatArray, group: Numbers, groups: int) -> FloatArray:
    """Time in which only intervals of one group run, for each group."""
    times = np.unique(np.concatenate([start, end]))
    begins, ends, numbers = _merged_by_group(
        np.searchsorted(times, start), np.searchsorted(times, end), group, len(times)
    )
    # The sum of the numbers of what runs tells which group it is where it is one.
    places = np.concatenate([begins, ends])
    running = np.cumsum(np.bincount(places, np.repeat([1, -1], len(begins)), minlength=len(times)))
    which = np.cumsum(np.bincount(places, np.concatenate([numbers, -numbers]), minlength=len(times)))
    single = running[:-1] == 1
    owner = np.rint(which[:-1][single]).astype(np.intp)
    return np.bincount(owner, np.diff(times)[single], minlength=groups).astype(np.float64)


def _merged_by_group(start: Numbers, end: Numbers, group: Numbers, size: int) -> tuple[Numbers, Numbers, Numbers]:
    """Intervals of whole numbers below ``size`` without overlap inside of each group, and the group of each."""
    # Groups are put one behind the other, so that none reaches into the next.
    start, end = start + group * size, end + group * size
    order = np.argsort(start, kind="stable")
    begins, latest = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.append(True, begins[1:] > latest[:-1]))
    last = np.append(first[1:], len(begins)) - 1
    return begins[first] % size, latest[last] % size, group[order][first]
