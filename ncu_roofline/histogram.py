"""The opcode histogram: executed warp instructions by opcode with its modifiers, as counters.

A metric map names an opcode as ``opcode:HMMA.884.F32.F32``, which counts every instruction of that opcode whatever
modifiers follow. Where a histogram was collected, an opcode that it does not list was not executed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.arrays import FloatArray, sum_known
from ncu_roofline.readers import opcode_columns
from ncu_roofline.vocabulary import OPCODE

_INSTANCE: Final = re.compile(r"([A-Z][A-Z0-9_.]*):\s*([0-9][0-9.,]*)")
_TOTAL: Final = re.compile(r"\s*([0-9][0-9.,]*)\s*\(")


def read_histograms(cells: pl.DataFrame, launches: int, separator: str) -> dict[str, FloatArray]:
    """Opcodes of printed histograms over the launches; NaN where none was printed.

    A cell is the total with its instances, ``1,500 (FFMA: 1,000; LDG.E: 500)``. One whose instances do not add up to
    its total is not used.

    Args:
        cells: printed cells of histograms (schema ``CELL_SCHEMA``).
        launches: number of launches.
        separator: what groups digits in this file.

    """
    found: dict[int, dict[str, float]] = {}
    for launch, text in cells.select("launch", "text").iter_rows():
        counts: dict[str, float] = {}
        for opcode, count in _INSTANCE.findall(text):
            counts[opcode] = counts.get(opcode, 0.0) + _whole(count, separator)
        total = _TOTAL.match(text)
        if total and counts and sum(counts.values()) == _whole(total[1], separator):
            found[launch] = counts
    return opcode_columns(found, launches)


def opcode_counters(opcodes: Mapping[str, FloatArray], used: AbstractSet[str]) -> dict[str, FloatArray]:
    """The used counters of opcodes, each the sum over the opcodes that it names."""
    if not opcodes:
        return {}
    none = 0.0 * next(iter(opcodes.values()))
    return {
        name: sum_known([none, *_named(opcodes, name).values()]) for name in sorted(used) if name.startswith(OPCODE)
    }


def describe(opcodes: Mapping[str, FloatArray], counter: str, launch: int) -> str:
    """The entries of a launch's histogram that a counter adds up."""
    named = _named(opcodes, counter)
    return ", ".join(f"{opcode}: {column[launch]:.0f}" for opcode, column in named.items() if column[launch] > 0)


def _named(opcodes: Mapping[str, FloatArray], counter: str) -> dict[str, FloatArray]:
    name = counter.removeprefix(OPCODE)
    return {opcode: column for opcode, column in opcodes.items() if f"{opcode}.".startswith(f"{name}.")}


def _whole(text: str, separator: str) -> float:
    digits = text.rstrip(".,").replace(separator, "")
    return float(digits) if digits.isdecimal() else np.nan
