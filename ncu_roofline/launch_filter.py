"""Which launches an entry of a user's file means: by kernel name, grid, block and NVTX range."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import BoolArray, Columns, ObjectArray, mapped

KEYS: Final = ("kernel", "grid", "block", "nvtx")


@dataclass(frozen=True)
class LaunchFilter:
    """Launches of kernels whose name has a match, with a grid and a block, inside an NVTX range; None: any."""

    kernel: re.Pattern[str] | None = None
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    nvtx: str | None = None
    """``RANGE`` in any domain, or ``DOMAIN@RANGE``."""

    def launches(self, table: Columns) -> BoolArray:
        """The launches of a table that are meant."""
        meant = np.ones(len(table["launch"]), np.bool_)
        if self.kernel is not None:
            search = self.kernel.search
            meant &= mapped(lambda name: search(name or "") is not None, table["kernel"].tolist()).astype(np.bool_)
        for key, shape in (("grid", self.grid), ("block", self.block)):
            if shape is not None:
                meant &= mapped(shape.__eq__, table[key].tolist()) == True  # noqa: E712 (element by element)
        if self.nvtx is not None:
            meant &= inside_range(table["nvtx"], self.nvtx)
        return meant


def inside_range(ranges: ObjectArray, text: str) -> BoolArray:
    """Launches inside an NVTX range, ``RANGE`` in any domain or ``DOMAIN@RANGE``."""

    def is_inside(pairs: tuple[tuple[str, str], ...] | None) -> bool:
        return any(text in (name, f"{domain}@{name}") for domain, name in pairs or ())

    return mapped(is_inside, ranges.tolist()).astype(np.bool_)


def launch_filter(entry: Mapping[str, Any]) -> LaunchFilter:
    """The filter of an entry without problems."""
    grid, block = (tuple(entry[key]) if entry.get(key) is not None else None for key in ("grid", "block"))
    kernel = re.compile(entry["kernel"]) if entry.get("kernel") is not None else None
    return LaunchFilter(kernel, grid, block, entry.get("nvtx"))


def problem_of(key: str, value: Any) -> str:
    """What is wrong with the value of one of ``KEYS``; empty if nothing is."""
    if key == "kernel":
        return _problem_of_pattern(value)
    if key == "nvtx":
        return "" if isinstance(value, str) and value else f"{value!r} must be a text that is not empty"
    is_shape = isinstance(value, list) and len(value) == 3 and all(type(number) is int for number in value)
    return "" if is_shape and min(value) > 0 else f"{value!r} must be three numbers such as [512, 1, 1]"


def _problem_of_pattern(value: Any) -> str:
    if not isinstance(value, str) or not value:
        return f"{value!r} must be a text that is not empty"
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    return ""
