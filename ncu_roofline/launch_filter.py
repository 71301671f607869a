"""Which launches an entry of a user's file means: by kernel name, grid and block."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import BoolArray, Columns, mapped

KEYS: Final = ("kernel", "grid", "block")


@dataclass(frozen=True)
class LaunchFilter:
    """Launches of kernels whose name has a match, with a grid and a block; None: any."""

    kernel: re.Pattern[str] | None = None
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None

    def launches(self, table: Columns) -> BoolArray:
        """The launches of a table that are meant."""
        meant = np.ones(len(table["launch"]), np.bool_)
        if self.kernel is not None:
            search = self.kernel.search
            meant &= mapped(lambda name: search(name or "") is not None, table["kernel"].tolist()).astype(np.bool_)
        for key, shape in (("grid", self.grid), ("block", self.block)):
            if shape is not None:
                meant &= mapped(shape.__eq__, table[key].tolist()) == True  # noqa: E712 (element by element)
        return meant


def launch_filter(entry: Mapping[str, Any]) -> LaunchFilter:
    """The filter of an entry without problems."""
    grid, block = (tuple(entry[key]) if entry.get(key) is not None else None for key in ("grid", "block"))
    return LaunchFilter(re.compile(entry["kernel"]) if entry.get("kernel") is not None else None, grid, block)


def problem_of(key: str, value: Any) -> str:
    """What is wrong with the value of one of ``KEYS``; empty if nothing is."""
    if key == "kernel":
        return _problem_of_pattern(value)
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
