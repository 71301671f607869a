"""The bandwidths that BabelStream (once GPU-STREAM) prints, as a table or with ``--csv``.

Source: main.cpp of UoB-HPC/BabelStream, versions 1 to 5. A function's number is its bytes over its shortest time;
MB is 10^6 and MiB, with ``--mibibytes``, 2^20 byte. ``Init`` and ``Read`` are copies from and to the host.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.measured.model import Entry, ToolResult
from ncu_roofline.quantities import BANDWIDTH, GIBI, GIGA, MEBI, MEGA, read_quantity, scaled

BABELSTREAM: Final = "BabelStream"
_ALL: Final = ("Copy", "Mul", "Add", "Triad")
"""What a complete run has in every version; Dot came with version 3, Nstream is a run of its own."""
_FUNCTIONS: Final = (*_ALL, "Dot", "Nstream")

_TABLE: Final = re.compile(r"Function\s+(MBytes/sec|MiBytes/sec)\s+Min \(sec\)\s+Max\s+Average\s*")
_CSV: Final = re.compile(
    r"function,num_times,n_elements,sizeof,"
    r"(max_mbytes_per_sec|max_mibytes_per_sec|gbytes_per_sec|gibytes_per_sec)(?:,\w+)*\s*"
)
_TRIAD_ONLY: Final = re.compile(r"Bandwidth \((GB/s|GiB/s)\):\s*(\S+)\s*")
_FACTORS: Final = {
    "MBytes/sec": MEGA,
    "MiBytes/sec": MEBI,
    "max_mbytes_per_sec": MEGA,
    "max_mibytes_per_sec": MEBI,
    "gbytes_per_sec": GIGA,
    "gibytes_per_sec": GIBI,
    "GB/s": GIGA,
    "GiB/s": GIBI,
}
_DEVICE: Final = re.compile(r"^Using \S+ device (.+?)(?: \(compute_units=\d+\))?\s*$", re.MULTILINE)
_ARRAY: Final = re.compile(r"^Array size: ([0-9.]+ [KMG]i?B)", re.MULTILINE)
_FAILED: Final = re.compile(r"^Validation failed on (\S+?)\.?(?:\s|$)", re.MULTILINE)


@dataclass(frozen=True)
class _Form:
    """Unit of the numbers below a header, and how a row is split; a CSV row has the number in the fifth column."""

    unit: str
    separator: str | None
    column: int
    width: int


def read_babelstream(path: Path, text: str) -> ToolResult | None:
    """Read one run, or None when the text has no table of BabelStream.

    Raises:
        InputError: the text has such a table and cannot be used.

    """
    lines = text.splitlines()
    if not any(_TABLE.fullmatch(line) or _CSV.fullmatch(line) for line in lines):
        return None
    levels = _with_doubts(_entries(path, lines), _FAILED.findall(text))
    _check_complete(path, [entry.name for entry in levels])
    sound = [entry for entry in levels if entry.doubt is None]
    best = max(sound, key=lambda entry: entry.value) if sound else None
    device = _DEVICE.search(text)
    array = _ARRAY.search(text)
    notes = [] if device else ["the file does not name the device on which it was measured"]
    if array:
        notes.append(f"arrays of {array[1]}: a cache of more than a quarter of that may have taken part")
    return ToolResult(
        BABELSTREAM,
        str(path),
        levels,
        stated={best.name: "dram"} if best else {},
        unstated="not the highest",
        device=device[1] if device else None,
        notes=tuple(notes),
    )


def _entries(path: Path, lines: Sequence[str]) -> list[Entry]:
    entries: list[Entry] = []
    form: _Form | None = None
    for number, line in enumerate(lines, start=1):
        form = _form(line) or form
        triad = _TRIAD_ONLY.fullmatch(line)
        name = re.split(r"[\s,]", line, maxsplit=1)[0]
        if form and triad:
            entries.append(_entry(path, number, "Triad", triad[2], triad[1]))
        elif form and name in _FUNCTIONS:
            cells = line.split(form.separator)
            if len(cells) != form.width:
                raise InputError(str(path), f"the row of {name} has not {form.width} cells", line=number)
            entries.append(_entry(path, number, name, cells[form.column], form.unit))
    return entries


def _form(line: str) -> _Form | None:
    if match := _TABLE.fullmatch(line):
        return _Form(match[1], None, 1, 5)
    if match := _CSV.fullmatch(line):
        return _Form(match[1], ",", 4, line.count(",") + 1)
    return None


def _entry(path: Path, line: int, name: str, printed: str, unit: str) -> Entry:
    try:
        read_quantity(float(printed), BANDWIDTH)
    except ValueError as error:
        raise InputError(str(path), f"{name}: {printed!r} is no bandwidth", line=line) from error
    return Entry(name, scaled(printed, _FACTORS[unit]), line, f"{name}, {printed} {unit}")


def _with_doubts(entries: Sequence[Entry], failed: Sequence[str]) -> tuple[Entry, ...]:
    """A wrong sum says something of Dot; a wrong array of every function."""
    arrays = any(not name.startswith("sum") for name in failed)
    doubted = {entry.name for entry in entries if arrays or (failed and entry.name == "Dot")}
    return tuple(
        replace(entry, doubt="its result was wrong (validation failed)") if entry.name in doubted else entry
        for entry in entries
    )


def _check_complete(path: Path, names: Sequence[str]) -> None:
    if not names:
        raise InputError(str(path), "the table of BabelStream has no rows")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(str(path), f"has more than one run of BabelStream ({twice[0]} twice); give one run")
    missing = [name for name in _ALL if name not in names]
    if missing and tuple(names) not in {("Triad",), ("Nstream",)}:
        raise InputError(str(path), f"the table of BabelStream was cut off: no {', '.join(missing)}")
