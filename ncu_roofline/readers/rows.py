"""The rows of a table: its records parsed into the needed columns, rows that are not whole left out and logged."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.errors import InputError
from ncu_roofline.readers.lines import (
    Block,
    Header,
    LineLog,
    blocks,
    is_record,
    is_whole_record,
    split_record,
)
from ncu_roofline.readers.newlines import Lines, Offsets, Text, records_at

Positions = npt.NDArray[np.intp]

IDS: Final = ("ncu_id", "process")
"""Identity columns that are numbers; every record has one of them, save those of a summary."""

WHOLE_BYTES: Final = 2 << 30
"""Largest input that is parsed at once: its columns take up to half of its size in memory."""

_PIECES: Final = ("POLARS_CSV_CHUNK_SIZE", str(4 << 20))
"""How the parser is told how many bytes of a file to read at once: it has no option for it."""

LAST: Final = "last"
"""A column that is filled in every whole row, where it is not the column of the values."""

_SHAPE: Final = ("is_row", "is_full", "fits")
"""Whether a row begins with a number as its id, whether it has a last cell, and whether it has none too many."""


@dataclass(frozen=True)
class Table:
    """Where the records of a table begin (offset and line), and the positions of the columns to parse."""

    path: str
    text: Text
    header: Header
    start: int
    line: int
    columns: Mapping[str, int]
    kept: Sequence[pl.Expr]
    """What is kept of each row, said of these columns: all of them take a third of the input's size in memory."""
    repeats: bool
    """Whether the same header again begins another run of this table."""


@dataclass(frozen=True)
class Rows:
    """Rows as the kept columns (with ``run``, where there may be several), their lines and their records by position.

    Large arrays cost more to get from the system than to fill, so what is needed of few rows is not made for all.
    """

    frame: pl.DataFrame
    lines: Callable[[Positions], Offsets]
    """1-based line in the input."""
    records: Callable[[Positions], Block]

    def without(self, positions: Positions) -> Rows:
        """The other rows."""
        kept = np.delete(np.arange(self.frame.height), positions)
        return Rows(
            self.frame[kept.tolist()],
            lambda wanted: self.lines(kept[wanted]),
            lambda wanted: self.records(kept[wanted]),
        )


def rows_of_input(table: Table, at: Callable[[int], None]) -> Rows | None:
    """All rows parsed at once; None unless each line to the end of the input is a whole record.

    It takes half the time of parsing blocks, which have to be cut and copied.
    """
    text, header = table.text, table.header
    # Without an id a row cannot be told from a repeated header.
    if not 0 < len(text) - table.start <= WHOLE_BYTES or not any(name in table.columns for name in IDS):
        return None
    last_line = text[max(text.rfind(b"\n", table.start, len(text) - 1) + 1, table.start) :]
    if not is_record(last_line[:2], quoted=header.quoted) or last_line.count(b'"') % 2:
        return None
    with ThreadPoolExecutor(1) as other:
        # The search is here, since it tells the caller how far it is.
        parsing = other.submit(_parsed, table)
        lines = Lines.of(text, table.start, at)
        frame = parsing.result()
    if frame is None:
        return None
    # No row is less than a line, so as many lines as rows means that each is one.
    if frame.height != len(lines) or not frame.select(pl.all_horizontal(pl.col(_SHAPE).all())).item():
        return None

    def records(positions: Positions) -> Block:
        found = records_at(text, lines.starts(positions), lines.ends(positions))
        return Block.of(header.prefix, found, table.line + positions, np.zeros_like(positions))

    return Rows(frame.drop(_SHAPE), lambda positions: table.line + positions, records)


def _parsed(table: Table) -> pl.DataFrame | None:
    """What is kept of everything behind the header; None if it cannot be read as rows."""
    try:
        with _small_pieces():
            frame = _scan(table).collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError, TypeError, ValueError):
        return None
    # Later steps look at whole columns, which are slow in many pieces.
    return frame.rechunk()


@contextmanager
def _small_pieces() -> Iterator[None]:
    """Let the parser read a file in pieces that are small enough to use their memory again.

    New memory takes it as long as the parsing. A size that the user has chosen stays.
    """
    name, size = _PIECES
    if name in os.environ:
        yield
        return
    os.environ[name] = size
    try:
        yield
    finally:
        os.environ.pop(name, None)


def _scan(table: Table) -> pl.LazyFrame:
    """What is kept of everything behind the header, and the shape of each row."""
    columns = table.columns
    return (
        pl.scan_csv(
            # A relative path could be taken for a home folder or an address.
            str(Path(table.path).resolve()) if isinstance(table.text, mmap.mmap) else table.text,
            has_header=False,
            skip_lines=table.line - 1,
            # The parser checks the quotes of texts only; names get their type afterwards.
            schema={f"c{position}": pl.String() for position in range(len(table.header.columns) + 1)}
            | {f"c{columns[name]}": pl.UInt32() for name in IDS if name in columns},
            missing_columns="insert",
            glob=False,
        )
        .select(_select(table.header, columns))
        .select(*table.kept, *_shape(columns))
    )


def rows_of_blocks(table: Table, log: LineLog, at: Callable[[int], None]) -> Iterator[Rows | Header]:
    """The rows block by block; the header of the next table comes last.

    Raises:
        InputError: if lines cannot be split into rows.

    """
    for block in blocks(table.text, table.header, table.start, table.line, log, repeats=table.repeats, at=at):
        if isinstance(block, Header):
            yield block
            return
        frame = parse(table.header, block, table.columns)
        if frame is None:
            block = _whole_records(block.as_utf8(), log)
            frame = parse(table.header, block, table.columns)
        if frame is None:
            problem = "these lines cannot be split into rows"
            raise InputError(table.path, problem, "Export the report again.", int(block.lines[0]))
        ids = [name for name in IDS if name in frame.columns]
        texts, frame = frame, frame.with_columns(pl.col(ids).cast(pl.Int64, strict=False))
        is_of_process = _is_of_process(texts, frame) if table.repeats else pl.lit(True)
        frame = frame.select(*table.kept, *_shape(table.columns), is_of_process.alias("is_of_process"))
        whole = (
            frame["is_row"]
            & frame["is_of_process"]
            & (frame["is_full"] | _is_uncut(table, block, frame["is_full"]))
            & frame["fits"]
        )
        if not whole.all():
            is_row = frame["is_row"]
            for position in (~whole).arg_true():
                log.add("damaged" if is_row[position] else "foreign", int(block.lines[position]))
            block, frame = block.keep(whole.arg_true().to_numpy()), frame.filter(whole)
        if frame.height:
            frame = frame.drop(*_SHAPE, "is_of_process").with_columns(run=block.runs)
            yield Rows(frame, block.lines.__getitem__, block.keep)


def parse(header: Header, block: Block, columns: Mapping[str, int]) -> pl.DataFrame | None:
    """Columns by name as text, with ``overflow`` where a row is too long.

    None when the parser sees other rows than the block has records.
    """
    if not len(block.starts):
        return pl.DataFrame(schema=dict.fromkeys([*columns, "overflow"], pl.String))
    positions = [f"c{position}" for position in dict.fromkeys([*columns.values(), len(header.columns)])]
    try:
        frame = pl.read_csv(block.data, columns=positions, infer_schema=False)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError):
        return None
    if frame.height != len(block.starts):
        return None
    return frame.select(_select(header, columns))


def _select(header: Header, columns: Mapping[str, int]) -> list[pl.Expr]:
    """The wanted columns under their names, and the one behind the last.

    Two names may stand for one column: the last metric of a raw page also tells whether a row is whole.
    """
    wanted = {**columns, "overflow": len(header.columns)}
    return [pl.col(f"c{position}").alias(name) for name, position in wanted.items()]


def _shape(columns: Collection[str]) -> list[pl.Expr]:
    """The columns ``_SHAPE`` of rows with these columns."""
    first = next((name for name in IDS if name in columns), None)
    last = LAST if LAST in columns else "text"
    return [
        ((pl.col(first) >= 0).fill_null(False) if first else pl.lit(True)).alias("is_row"),
        pl.col(last).is_not_null().alias("is_full"),
        pl.col("overflow").is_null().alias("fits"),
    ]


def _is_of_process(texts: pl.DataFrame, numbers: pl.DataFrame) -> pl.Series:
    """Whether each row has a number as its process, or none: with anything else it belongs to no launch."""
    if "process" not in texts.columns:
        return pl.Series(np.ones(texts.height, np.bool_))
    return numbers["process"].is_not_null() | texts["process"].fill_null("").is_in([""])


def _is_uncut(table: Table, block: Block, is_full: pl.Series) -> pl.Series:
    """Whether each row without quotes has all cells: an empty one at its end looks like a row that was cut."""
    uncut = np.zeros(len(is_full), np.bool_)
    if not table.header.quoted:
        last = table.columns[LAST if LAST in table.columns else "text"]
        for position in (~is_full).arg_true():
            uncut[position] = len(split_record(block.record(position)) or ()) > last
    return pl.Series(uncut)


def _whole_records(block: Block, log: LineLog) -> Block:
    """The records whose quoting is right, looked at one by one; the others are logged as damaged."""
    whole = np.array([is_whole_record(record) for record in block.records()])
    for position in np.flatnonzero(~whole):
        log.add("damaged", int(block.lines[position]))
    return block.keep(np.flatnonzero(whole))
