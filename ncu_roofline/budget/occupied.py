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
    parts = [merged(start[group == number], end[group == number]) for number in range(groups)]
    begins = np.concatenate([part[0] for part in parts])
    ends = np.concatenate([part[1] for part in parts])
    numbers = np.repeat(np.arange(groups), [len(part[0]) for part in parts])
    # The sum of the numbers of what runs tells which group it is where it is one.
    times = np.concatenate([ends, begins])
    order = np.argsort(times, kind="stable")
    running = np.cumsum(np.repeat([-1, 1], len(begins))[order])
    which = np.cumsum(np.concatenate([-numbers, numbers])[order])
    lengths = np.diff(times[order])
    single = running[:-1] == 1
    return np.bincount(which[:-1][single], lengths[single], minlength=groups).astype(np.float64)
