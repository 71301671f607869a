"""Arithmetic of intervals of time: what is covered, what lies between, and what runs alone. Whole columns, seconds."""

from __future__ import annotations

import numpy as np

from ncu_roofline.arrays import FloatArray


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


def shared(start: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of each interval the time in which it is the only one, and its part of all time, each instant divided evenly."""
    times = np.unique(np.concatenate([start, end]))
    begins, ends = np.searchsorted(times, start), np.searchsorted(times, end)
    running = np.cumsum(np.bincount(begins, minlength=len(times)) - np.bincount(ends, minlength=len(times)))[:-1]
    lengths = np.diff(times)
    alone = np.append(0.0, np.cumsum(np.where(running == 1, lengths, 0.0)))
    part = np.append(0.0, np.cumsum(lengths / np.maximum(running, 1)))
    return alone[ends] - alone[begins], part[ends] - part[begins]
