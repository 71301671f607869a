"""Tables in the output of nsys and nvprof: as CSV, or as text with a ruler of dashes below the header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_RULER: Final = re.compile(r"\s*-{2,}(?: +-{2,})+\s*")
_UNIT: Final = re.compile(r"\s*\(([^()]*)\)\s*$")
_FIRST_COLUMNS: Final = ("start", "time", "time(%)", "time (%)", "type")
_SYNONYMS: Final = {
    "avg": "average", "med": "median", "min": "minimum", "max": "maximum", "num calls": "calls",
    "operations": "count", "grid size": "gridxyz", "block size": "blockxyz",
}  # fmt: skip
_TIMES: Final = {
    "ns": 1e9, "nsec": 1e9, "nanoseconds": 1e9, "us": 1e6, "usec": 1e6, "microseconds": 1e6, "ms": 1e3, "msec": 1e3,
    "milliseconds": 1e3, "s": 1.0, "sec": 1.0, "seconds": 1.0,
}  # fmt: skip
"""How many of a unit a second has."""


@dataclass
class Table:
    """A table: the line above it, its columns by meaning with their units, and its rows."""

    heading: str
    columns: Sequence[str]
    units: Sequence[str]
    line: int
    rows: list[list[str]] = field(default_factory=list)

    def index(self, column: str) -> int | None:
        """Position of a column; None if the table has none."""
        return self.columns.index(column) if column in self.columns else None

    def cell(self, row: Sequence[str], column: str) -> str:
        """The text of a row in a column; empty where there is none."""
        at = self.index(column)
        text = row[at].strip() if at is not None and at < len(row) else ""
        return "" if text == "None" else text

    def per_second(self, column: str) -> float | None:
        """How many of the unit of a column a second has; None where no unit is stated."""
        at = self.index(column)
        return per_second(self.units[at]) if at is not None else None


def per_second(unit: str) -> float | None:
    """How many of a unit of time a second has; None if it is none."""
    return _TIMES.get(unit.strip().lower())


def number(text: str) -> float:
    """A number with or without separators; NaN if it is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return float("nan")


def sizes(cells: Sequence[str]) -> tuple[int, ...] | None:
    """A grid or block of three cells; None if they are none."""
    found = [number(cell) for cell in cells]
    return tuple(int(size) for size in found) if len(found) == 3 and all(size >= 1 for size in found) else None


def find_tables(lines: Sequence[str]) -> Iterator[Table]:
    """Every table of a text."""
    heading, table = "", None
    spans: list[tuple[int, int]] | None = None
    position = 0
    while position < len(lines):
        line = (
            lines[position].split("\r")[-1]
            if lines[position].rstrip("\r").count("\r")
            else lines[position].rstrip("\r")
        )
        below = lines[position + 1].rstrip("\r") if position + 1 < len(lines) else ""
        if _RULER.fullmatch(below) and line.strip():
            if table is not None:
                yield table
            spans = [match.span() for match in re.finditer("-+", below)]
            table = _table(heading, _cut(line, spans), position + 1)
            position += 1
        elif _is_csv_header(line):
            if table is not None:
                yield table
            spans = None
            table = _table(heading, next(csv.reader([line])), position + 1)
        elif not line.strip():
            if table is not None:
                yield table
            table = None
        elif table is not None and spans is not None:
            table.rows.append(_cut(line, spans))
        elif table is not None and "," in line:
            table.rows.append(next(csv.reader([line])))
        else:
            heading = line.strip()
        position += 1
    if table is not None:
        yield table


def _table(heading: str, header: Sequence[str], line: int) -> Table:
    names, units = [], []
    for column in header:
        found = _UNIT.search(column)
        name = _UNIT.sub("", column).strip().lower()
        names.append(_SYNONYMS.get(name, name))
        units.append(found[1] if found else "")
    return Table(heading, names, units, line)


def _is_csv_header(line: str) -> bool:
    cells = [cell.strip().strip('"').lower() for cell in line.split(",")]
    first = _UNIT.sub("", cells[0]) if len(cells) > 2 else ""
    return (first in _FIRST_COLUMNS or cells[0] in _FIRST_COLUMNS) and any(
        _UNIT.sub("", cell) in ("name", "duration", "operation", "range") for cell in cells[1:]
    )


def _cut(line: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Cells of a line below a ruler; the last one may be longer than the ruler."""
    return [line[start : end if n < len(spans) - 1 else None].strip() for n, (start, end) in enumerate(spans)]
