"""The table that mixbench prints: groups of columns for single, double, half precision and integer operations.

Sources: README and kernels of ekondis/mixbench. GFLOPS and GB/sec are decimal, a multiply-add is two operations,
half precision is half2. Bandwidth is that of the rows with the fewest compute iterations. Runs of the older,
alternating kernels (no operation at all in the first row) touch less memory with every iteration: in the project's
own results their GB/sec goes from two thirds of what the memory gives to twice as much.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.measured.model import Entry, ToolResult
from ncu_roofline.quantities import GIGA, scaled

MIXBENCH: Final = "mixbench"
BANDWIDTH_COLUMN: Final = "GB/sec"

_PATHS: Final = {"single precision ops": "fp32", "double precision ops": "fp64", "half precision ops": "fp16"}
_FLOP_COLUMNS: Final = ["Flops/byte", "ex.time", "GFLOPS", BANDWIDTH_COLUMN]
_OP_COLUMNS: Final = ["Iops/byte", "ex.time", "GIOPS", BANDWIDTH_COLUMN]
_INTEGERS: Final = "GIOPS count a multiply-add as two operations, the path int counts it as one instruction"

_HEAD: Final = re.compile(r"\s*Experiment ID\s*,")
_RULE: Final = re.compile(r"\s*-{20,}\s*")
_CPU: Final = re.compile(r"^\s*mixbench-cpu\b", re.MULTILINE)
_DEVICE: Final = re.compile(r"^Device:\s*([^/\n]+)", re.MULTILINE)
_MEMORY: Final = re.compile(r"^Memory bandwidth:\s*([0-9.]+) GB/sec", re.MULTILINE)
_BUFFER: Final = re.compile(r"^Buffer size:\s*([0-9]+) ?MB", re.MULTILINE)
_CACHE: Final = re.compile(r"^L2 cache size:\s*([0-9]+) ?KB", re.MULTILINE)

_STREAM_RULE: Final = 4
"""How many times the last cache the data of a bandwidth benchmark has to be (run rules of STREAM)."""
_MEMORY_BOUND: Final = 0.8
"""Above this share of the bandwidth a row is not taken to be limited by compute."""


@dataclass(frozen=True)
class _Row:
    line: int
    numbers: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class _Group:
    """Four columns of one kind of operation, beginning at ``first``."""

    name: str
    first: int
    floating: bool


def read_mixbench(path: Path, text: str) -> ToolResult | None:
    """Read one run, or None when the text has no table of mixbench.

    Raises:
        InputError: the text has such a table and cannot be used.

    """
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if _HEAD.match(line)]
    if not heads:
        return None
    if len(heads) > 1:
        raise InputError(str(path), f"has {len(heads)} tables of mixbench; give one run", line=heads[1] + 1)
    if _CPU.search(text):
        raise InputError(str(path), "is a run of mixbench-cpu: its ceilings are those of a CPU")
    groups = _groups(path, lines, heads[0])
    rows, closed = _rows(path, lines, heads[0])
    level = _bandwidth(groups, rows, text)
    found = {group.name: _peak(group, rows, level) for group in groups if group.floating}
    peaks = tuple(peak for peak in found.values() if peak is not None)
    stated = {peak.name: _PATHS[peak.name.lower()] for peak in peaks if peak.name.lower() in _PATHS}
    stated |= {BANDWIDTH_COLUMN: "dram"} if level else {}
    device = _DEVICE.search(text)
    return ToolResult(
        MIXBENCH,
        str(path),
        () if level is None else (level,),
        peaks,
        stated=stated,
        left_out={group.name: _INTEGERS for group in groups if not group.floating}
        | {name: "was not measured on that device" for name, peak in found.items() if peak is None},
        device=device[1].strip() if device else None,
        notes=() if closed else ("no line closes the table: it may have been cut off before its highest values",),
    )


def _groups(path: Path, lines: Sequence[str], head: int) -> list[_Group]:
    names = _cells(lines[head])
    columns = _cells(lines[head + 1]) if head + 1 < len(lines) else []
    groups = []
    for first, name in enumerate(names):
        if first == 0 or not name:
            continue
        here = columns[first : first + 4]
        if columns[:1] != ["Compute iters"] or here not in (_FLOP_COLUMNS, _OP_COLUMNS):
            expected = f"Compute iters, then {', '.join(_FLOP_COLUMNS)} under each kind of operation"
            raise InputError(str(path), f"columns of mixbench are not as expected: {expected}", line=head + 2)
        groups.append(_Group(name, first, floating=here == _FLOP_COLUMNS))
    if not groups:
        raise InputError(str(path), "the table of mixbench names no kind of operation", line=head + 1)
    return groups


def _rows(path: Path, lines: Sequence[str], head: int) -> tuple[list[_Row], bool]:
    """Rows below the two header lines, and whether a line of dashes ends them."""
    width = len(_cells(lines[head + 1]))
    rows: list[_Row] = []
    for number, line in enumerate(lines[head + 2 :], start=head + 3):
        if _RULE.fullmatch(line):
            return _some(path, rows, head), True
        if not line.strip():
            continue
        texts = [cell.removesuffix("(ind)") for cell in _cells(line)]  # Windows prints -nan(ind)
        try:
            numbers = [float(text) for text in texts]
        except ValueError:
            numbers = []
        if len(numbers) != width:
            raise InputError(str(path), f"is not a row of {width} numbers, as mixbench prints", line=number)
        rows.append(_Row(number, numbers, texts))
    return _some(path, rows, head), False


def _some(path: Path, rows: list[_Row], head: int) -> list[_Row]:
    if not rows:
        raise InputError(str(path), "the table of mixbench has no rows", line=head + 1)
    return rows


def _bandwidth(groups: Sequence[_Group], rows: Sequence[_Row], text: str) -> Entry | None:
    """The highest GB/sec of the rows with the fewest compute iterations, None where there is no number.

    Kinds of operation that touch enough memory go first. A bandwidth that the memory cannot have, of whichever
    kind, throws doubt on all.
    """
    fewest = min(row.numbers[0] for row in rows)
    first = [row for row in rows if row.numbers[0] == fewest]
    levels = [(group, _level(group, row)) for row in first for group in groups]
    usable = [(group, level) for group, level in levels if _usable(level.value)]
    if not usable:
        return None
    large = [level for group, level in usable if _is_large(group, text)]
    highest = max((level for _, level in usable), key=_value)
    best = max(large, key=_value) if large else highest
    memory = _MEMORY.search(text)
    if memory and 0 < scaled(memory[1], GIGA) < highest.value:
        doubt = f"{highest.words} is above the {memory[1]} GB/sec calculated there for the memory: a cache took part"
        return replace(best, doubt=doubt)
    if any(row.numbers[group.first] == 0 for group in groups for row in first):
        return replace(best, doubt="the alternating kernels of this run do not go through memory evenly")
    if not large:
        return replace(best, doubt=f"the data is less than {_STREAM_RULE} times the L2, which may have taken part")
    return best


def _level(group: _Group, row: _Row) -> Entry:
    printed = row.texts[group.first + 3]
    words = f"{printed} GB/sec of {group.name} at {row.texts[0]} compute iterations"
    return Entry(BANDWIDTH_COLUMN, scaled(printed, GIGA), row.line, words)


def _is_large(group: _Group, text: str) -> bool:
    """Whether the data of a kind of operation is large beside the L2, as far as the run says.

    Double precision goes over the whole buffer, the others have as many elements of half the size.
    """
    buffer, cache = _BUFFER.search(text), _CACHE.search(text)
    if buffer is None or cache is None:
        return True
    share = 1 if _PATHS.get(group.name.lower()) == "fp64" else 2
    return int(buffer[1]) * 1024 >= share * _STREAM_RULE * int(cache[1])


def _value(entry: Entry) -> float:
    return entry.value


def _peak(group: _Group, rows: Sequence[_Row], level: Entry | None) -> Entry | None:
    """The row with the highest GFLOPS of a group, None where none was measured."""
    measured = [row for row in rows if _usable(row.numbers[group.first + 2])]
    if not measured:
        return None
    row = max(measured, key=lambda row: row.numbers[group.first + 2])
    printed = row.texts[group.first + 2]
    doubt = None
    if level and scaled(row.texts[group.first + 3], GIGA) > _MEMORY_BOUND * level.value:
        doubt = "its highest row is still limited by memory"
    words = f"{printed} GFLOPS of {group.name} at {row.texts[0]} compute iterations"
    return Entry(group.name, scaled(printed, GIGA), row.line, words, doubt)


def _usable(number: float) -> bool:
    """A kind of operation that the device does not have is printed as 0, inf or nan."""
    return math.isfinite(number) and number > 0


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.split(",")]
    return cells[:-1] if cells[-1] == "" else cells
