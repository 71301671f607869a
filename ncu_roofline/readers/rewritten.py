"""Tables of ncu that another program has written again: turned back where that can be done in one way only.

pandas puts a column of row numbers in front and makes floats of ids, spreadsheets separate cells with semicolons, and
some scripts exchange rows and columns. Lines keep their numbers unless rows and columns were exchanged. What cannot be
turned back is named.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.readers.lines import Header
from ncu_roofline.readers.newlines import Text, line_at
from ncu_roofline.readers.sniff import RAW_PAGE

_SEPARATORS: Final = (";", "\t", "|")
_HEAD_BYTES: Final = 1 << 16
_NUMBERS: Final = ("ID", "Process ID", "Context", "Stream", "Device", "Invocations")
_WHOLE: Final = re.compile(r"([0-9]+)[.,]0*")
_ROW_NUMBERS: Final = re.compile(r"|#|index|Unnamed: 0(?:\.[0-9]+)?|level_[0-9]")
_FLOAT_ID: Final = re.compile(rb'(?:"?"?,.*\n)?"?[0-9]+\.0*"?,')
"""The first row, maybe behind the row of units, has an id that is a float."""
_LONGEST_CELL: Final = 1 << 30
_CELL_LINES: Final = 40
"""How many lines a row may have: a quote that is open for longer is a damaged one."""
_TOP_LINES: Final = 3
_TOP_BYTES: Final = 100
_ID_FIRST: Final = re.compile(rb'"?ID"?[,;\t|]')
_IDENTITY: Final = frozenset({"ID", "Kernel Name"})


@dataclass(frozen=True)
class Restored:
    """A table as ncu writes it, and what was done to the input to get it, in words."""

    text: bytes
    how: str


def restored(path: str, text: Text, header: Header | None) -> Restored | None:
    """The table as ncu writes it; None if nothing shows that another program wrote it again.

    Args:
        path: how the input is called in messages.
        text: its content.
        header: the first table header in it, where one was found.

    Raises:
        InputError: if what was done to the table cannot be undone.

    """
    if header is not None and _ROW_NUMBERS.fullmatch(header.columns[0]):
        rows = _without_row_numbers(_rows(text, ","))
        if not _has_header(rows):
            raise _pivoted(path, header)
        return Restored(_written(rows), "a column of row numbers was taken off")
    if header is not None and _FLOAT_ID.match(text[header.body : header.body + _HEAD_BYTES]):
        return Restored(_written(_rows(text, ",")), "its ids were made floats")
    if header is not None and not (header.columns[0] == "Kernel Name" and "ID" not in header.columns):
        return None
    head = text[:_HEAD_BYTES]
    for separator in _SEPARATORS:
        if header is None and separator.encode() in head and _has_header(_rows(head, separator)):
            rows = _without_row_numbers(_rows(text, separator))
            name = {"\t": "tabs"}.get(separator, f"{separator!r}")
            return Restored(_written(rows), f"its cells are separated by {name} instead of commas")
    for separator in (",", *_SEPARATORS) if _may_be_turned(text) else ():
        if separator.encode() in head and (turned := _turned(_rows(text, separator))):
            how = "its rows and columns were exchanged; lines are counted after turning it back"
            return Restored(_written(turned), how)
    if header is not None:
        raise _pivoted(path, header)
    return None


def _pivoted(path: str, header: Header) -> InputError:
    return InputError(
        path,
        "the table has one row per kernel and a column per metric, but neither launches (ID) nor units: it was pivoted "
        "by another program",
        f"Analyse the table that ncu wrote, or export it again: {RAW_PAGE}",
        header.line,
    )


def _rows(text: Text, separator: str) -> list[list[str]]:
    """All rows of a text, messages of ncu among them as one cell."""
    csv.field_size_limit(_LONGEST_CELL)
    rows: list[list[str]] = []
    for record in _records(text[:].decode("utf-8", "replace")):
        if record.startswith("=="):
            rows.append([record])
            continue
        try:
            rows += csv.reader(io.StringIO(record, newline=""), delimiter=separator)
        except csv.Error:
            rows.append([record])
    return rows


def _records(text: str) -> Iterator[str]:
    """Lines, those of a cell with line breaks together; a quote that is never closed is one of its own line."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        record, end = lines[number].rstrip("\r"), number + 1
        quotes = record.count('"')
        while quotes % 2 and end < min(len(lines), number + _CELL_LINES):
            record, quotes, end = f"{record}\n{lines[end]}", quotes + lines[end].count('"'), end + 1
        if quotes % 2:
            record, end = lines[number].rstrip("\r"), number + 1
        yield record
        number = end


def _is_header(row: Sequence[str]) -> bool:
    return set(row) >= _IDENTITY or {"Metric Name", "Invocations"} <= set(row)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    return any(map(_is_header, rows))


def _without_row_numbers(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Rows of the table without the columns of row numbers before the others; lines before the header stay."""
    begin, names = next(((number, row) for number, row in enumerate(rows) if _is_header(row)), (0, [""]))
    added = next((place for place, name in enumerate(names) if not _ROW_NUMBERS.fullmatch(name)), 0)
    return [*rows[:begin], *(row[added:] if len(row) > 1 else row for row in rows[begin:])] if added else rows


def _may_be_turned(text: Text) -> bool:
    """Whether one of the first lines begins with the name of the column of ids."""
    start = 0
    for _ in range(_TOP_LINES):
        line, start = line_at(text, start)
        if _ID_FIRST.match(line[:_TOP_BYTES]):
            return True
    return False


def _turned(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Rows made of columns, if the first cells of the rows are the names of columns; else nothing."""
    table = [row for row in rows if row]
    names = {row[0] for row in table}
    if not (names >= _IDENTITY and any("__" in name for name in names)) or len({len(row) for row in table}) != 1:
        return []
    if _ROW_NUMBERS.fullmatch(table[0][0]):
        table = table[1:]
    return list(zip(*table, strict=True))


def _written(rows: Sequence[Sequence[str]]) -> bytes:
    """A table with every cell in quotes, numbers of the identity as ncu writes them."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    header: Sequence[str] = ()
    for row in rows:
        if _is_header(row):
            header = row
            writer.writerow(row)
        elif header and len(row) > 1:
            writer.writerow(
                [_cell(name, cell) for name, cell in zip(header, row, strict=False)] + list(row[len(header) :])
            )
        else:
            stream.write(" ".join(row) + "\n")
    return stream.getvalue().encode()


def _cell(name: str, cell: str) -> str:
    """A cell as ncu writes it: floats that stand for ids are whole, and the compute capability has its minor number."""
    if cell.lower() == "nan" and "__" not in name and name != "Metric Value":
        return ""
    if name in _NUMBERS and (whole := _WHOLE.fullmatch(cell)):
        return whole[1]
    if name == "CC":
        return f"{cell}.0" if cell.isdigit() else cell.replace(",", ".")
    return cell
