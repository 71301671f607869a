"""Splitting a text into table headers and blocks of whole records, every other line accounted for.

ncu writes its CSV between its own messages and the application's output, and quoted cells may contain line
breaks. A record starts with its numeric id, so a line that starts otherwise is a continuation of an open
quoted cell, a repeated header, or foreign. Nothing here knows what the columns mean.
"""

from __future__ import annotations

import bisect
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray
from ncu_roofline.readers.newlines import BLOCK_BYTES, Offsets, Text, forget, line_end, line_starts
from ncu_roofline.readers.report import REPLAY, SkippedLines

_FIRST_BLOCK_BYTES: Final = 256 << 10
"""Size of the first block of a table, which may be a short one of many; the next blocks grow."""

_PROFILING: Final = b'==PROF== Profiling "'
_MESSAGES: Final = (b"==ERROR==", b"==WARNING==", REPLAY.encode())
_LINES_KEPT: Final = 20
_QUOTE: Final = 0x22
_CELL: Final = rb'(?:"(?:[^"]|"")*"|[^",\r\n]*)'
_WHOLE_RECORD: Final = re.compile(_CELL + rb"(?:," + _CELL + rb")*\r?\n?")
_GPUS: Final = b'"GPU ID","GPU Name",'
_GLUED_ROW: Final = re.compile(rb'"\d+","\d+","')


@dataclass(frozen=True)
class Header:
    """Column names of a table and where its first record begins."""

    columns: tuple[str, ...]
    line: int
    body: int
    quoted: bool
    row: bytes

    def index(self, name: str) -> int | None:
        """Position of the first column with this name, or None."""
        return self.columns.index(name) if name in self.columns else None

    @property
    def prefix(self) -> bytes:
        """A line with short unique names for the parser, and one name more, which shows rows that are too long."""
        return ",".join(f"c{position}" for position in range(len(self.columns) + 1)).encode() + b"\n"


@dataclass(frozen=True)
class Block:
    """A line of column names, then whole records.

    Of each record: its offset, its 1-based line in the input, and its run, the number of headers before it less one.
    """

    data: bytes
    starts: Offsets
    lines: Offsets
    runs: Offsets

    @classmethod
    def of(cls, prefix: bytes, records: Sequence[bytes], lines: Offsets, runs: Offsets) -> Block:
        """A block of a line of column names and some records."""
        starts = len(prefix) + np.cumsum([0, *map(len, records)], dtype=np.int64)[:-1]
        return cls(b"".join([prefix, *records]), starts, lines, runs)

    @property
    def prefix(self) -> bytes:
        """The line of column names."""
        return self.data[: self.starts[0]] if len(self.starts) else self.data

    def keep(self, positions: npt.NDArray[np.intp]) -> Block:
        """The block with only the records at some positions."""
        ends = np.append(self.starts[1:], len(self.data))
        records = [self.data[self.starts[position] : ends[position]] for position in positions]
        return Block.of(self.prefix, records, self.lines[positions], self.runs[positions])

    def record(self, position: int) -> bytes:
        """One record as bytes."""
        end = self.starts[position + 1] if position + 1 < len(self.starts) else len(self.data)
        return self.data[self.starts[position] : end]

    def as_utf8(self) -> Block:
        """The block with bytes that are no UTF-8 (an output in another encoding) replaced."""
        records = [record.decode("utf-8", "replace").encode() for record in self.records()]
        return Block.of(self.prefix, records, self.lines, self.runs)

    def records(self) -> Iterator[bytes]:
        """Every record as bytes."""
        ends = np.append(self.starts[1:], len(self.data))
        for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True):
            yield self.data[start:end]


@dataclass
class LineLog:
    """Collects skipped lines by kind while a text is read."""

    counts: dict[str, int] = field(default_factory=dict)
    lines: dict[str, list[int]] = field(default_factory=dict)
    messages: list[tuple[int, str]] = field(default_factory=list)
    profiled: int = 0

    def skip(self, kind: str, content: bytes, line: int) -> None:
        """Count a line that is not part of a table, unless it is blank; keep what ncu says in it."""
        if content.strip():
            self.add(kind, line)
            # Application replay says so once for every pass.
            self.profiled += content.startswith(_PROFILING) and b"pplication replay" not in content
            if content.startswith(_MESSAGES) and len(self.messages) < _LINES_KEPT:
                self.messages.append((line, content.decode("utf-8", "replace").strip()))

    def add(self, kind: str, line: int) -> None:
        """Count a line; the first line numbers of each kind are kept."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        kept = self.lines.setdefault(kind, [])
        bisect.insort(kept, line)
        del kept[_LINES_KEPT:]

    @property
    def run(self) -> int:
        """How many headers were repeated so far."""
        return self.counts.get("header", 0)

    def result(self) -> SkippedLines:
        """The log as a frozen value."""
        lines = {kind: tuple(lines) for kind, lines in self.lines.items()}
        return SkippedLines(dict(self.counts), lines, tuple(self.messages), self.profiled)


@dataclass
class _HeaderWords:
    """The words that headers have, found in ascending order; no part of a text is searched twice for one of them."""

    text: Text
    kernel: int = -1
    """The next "Kernel Name" at or behind the last begin; the length of the text if there is none."""
    searched: int = 0
    """How far there is no "Metric Name" that was not found yet."""

    def next(self, begin: int) -> int:
        """Offset of the next of the words at or after an offset that is not below the last one; -1: none."""
        if self.kernel < begin:
            hit = self.text.find(b"Kernel Name", begin)
            self.kernel = hit if hit >= 0 else len(self.text)
        metric = self.text.find(b"Metric Name", max(begin, self.searched), self.kernel)
        self.searched = metric if metric >= 0 else self.kernel
        first = metric if metric >= 0 else self.kernel
        return first if first < len(self.text) else -1


def find_header(text: Text, start: int, line: int, log: LineLog) -> Header | None:
    """The next table header at or after an offset; the lines before it are logged as preface."""
    begin = start
    words = _HeaderWords(text)
    while (hit := words.next(begin)) >= 0:
        row_start = text.rfind(b"\n", start, hit) + 1 or start
        row_end = line_end(text, hit)
        columns = _header_columns(text[row_start:row_end])
        if columns:
            skipped = text[start:row_start].split(b"\n")[:-1]
            for number, content in enumerate(skipped, start=line):
                log.skip("preface", content, number)
            row = text[row_start:row_end]
            return Header(columns, line + len(skipped), row_end, row.startswith(b'"'), row)
        begin = row_end
    return None


def blocks(
    text: Text, header: Header, start: int, line: int, log: LineLog, *, repeats: bool, at: Callable[[int], None]
) -> Iterator[Block | Header]:
    """Blocks of records from an offset to the end of the text or to the next header, which comes last.

    Where a table ``repeats``, the same header again begins another run of it; a raw page has other units below each.
    ``at`` is told the offset behind every block that was used.
    """
    size = _FIRST_BLOCK_BYTES
    while start < len(text):
        end = _block_end(text, start, min(size, BLOCK_BYTES), quoted=header.quoted)
        size *= 4
        with memoryview(text) as view, view[start:end] as part:
            data = b"".join((header.prefix, part))
        offsets = line_starts(data, len(header.prefix))
        block, next_header = _clean(data, offsets, line, log, header, header.row if repeats else None)
        if len(block.starts):
            yield block
        if next_header is not None:
            found = find_header(text, _line_offset(text, start, next_header), line + next_header, log)
            if found is not None:
                log.add("header", found.line)
                yield found
            return
        forget(text, start, end)
        at(end)
        line += len(offsets)
        start = end


def is_whole_record(record: bytes) -> bool:
    """Whether a record consists of cells that are quoted as a whole or not at all."""
    return _WHOLE_RECORD.fullmatch(record) is not None


def split_record(record: bytes) -> list[str] | None:
    """The cells of one record by the standard library's reader, or None when it is not one whole record."""
    try:
        rows = list(csv.reader(io.StringIO(record.decode("utf-8", "replace"), newline=""), strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _clean(
    data: bytes, offsets: Offsets, line: int, log: LineLog, header: Header, again: bytes | None
) -> tuple[Block, int | None]:
    """Drop and log what is not part of a record; stop in front of another header and return its position.

    ``again`` is a header that begins another run of the table.
    """
    first_run, begins = log.run, []
    is_record = _starts_record(np.frombuffer(data, np.uint8), offsets, quoted=header.quoted)
    ends = np.append(offsets[1:], len(data))
    if _GPUS in data:
        _leave_out_gpus(data, offsets, ends, is_record)
    keep = is_record.copy()
    odd_lines = np.flatnonzero(~is_record)
    sequences = np.split(odd_lines, np.flatnonzero(np.diff(odd_lines) > 1) + 1) if len(odd_lines) else []
    next_header: int | None = None
    for sequence in sequences:
        record = int(sequence[0]) - 1
        is_open = record >= 0 and _odd_quotes(data, int(offsets[record]), int(ends[record]))
        for position in map(int, sequence):
            content = data[offsets[position] : ends[position]]
            if is_open:
                keep[position] = True
                is_open = content.count(b'"') % 2 == 0
            elif content == again:
                begins.append(position)
                log.add("header", line + position)
            elif (b"Kernel Name" in content or b"Metric Name" in content) and _header_columns(content):
                next_header = position
                break
            else:
                log.skip("damaged" if _GLUED_ROW.search(content) else "foreign", content, line + position)
        if next_header is not None:
            keep[next_header:] = False
            break
        if is_open:  # The quoted cell was never closed: nothing in these lines can be trusted.
            keep[record : int(sequence[-1]) + 1] = False
            log.add("damaged", line + record)
    starts = is_record & keep
    if header.quoted and starts.any():
        last = int(np.flatnonzero(starts)[-1])
        if keep[last:].all() and _odd_quotes(data, int(offsets[last]), len(data)):
            keep[last:] = starts[last:] = False
            log.add("damaged", line + last)
    positions = np.flatnonzero(starts)
    lines, runs = line + positions, np.searchsorted(begins, positions).astype(np.int64) + first_run
    if keep.all():
        return Block(data, offsets[starts], lines, runs), next_header
    lengths = np.where(keep, ends - offsets, 0)
    shifted = int(offsets[0]) + np.cumsum(lengths) - lengths
    return Block(_kept(data, offsets, ends, keep), shifted[starts], lines, runs), next_header


def _leave_out_gpus(data: bytes, offsets: Offsets, ends: Offsets, is_record: BoolArray) -> None:
    """Take rows of the table of GPUs, which ncu prints below the section "NUMA Affinity", for what they are."""
    is_of_gpus = False
    for position in range(len(offsets)):
        content = data[offsets[position] : ends[position]]
        is_of_gpus = content.startswith(_GPUS) or (
            is_of_gpus and bool(is_record[position]) and not _GLUED_ROW.match(content)
        )
        is_record[position] &= not is_of_gpus


def _kept(data: bytes, offsets: Offsets, ends: Offsets, keep: BoolArray) -> bytes:
    """What comes before the lines, and the lines that are kept."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], keep.astype(np.int8), [0]))))
    pieces = [data[offsets[first] : ends[last - 1]] for first, last in zip(edges[::2], edges[1::2], strict=True)]
    return b"".join([data[: int(offsets[0])], *pieces])


def _block_end(text: Text, start: int, size: int, *, quoted: bool) -> int:
    """The end of a block: in front of a record, since the one before it may go on over several lines."""
    while start + size < len(text):
        newline = text.rfind(b"\n", start, start + size)
        while newline > start and not is_record(text[newline + 1 : newline + 3], quoted=quoted):
            newline = text.rfind(b"\n", start, newline)
        if newline > start:
            return newline + 1
        size *= 2
    return len(text)


def is_record(begin: bytes, *, quoted: bool) -> bool:
    """Whether a line that begins like this is a record: a numeric id, quoted as the header is."""
    return begin[:1] == b'"' and begin[1:2].isdigit() if quoted else begin[:1].isdigit()


def _header_columns(row: bytes) -> tuple[str, ...]:
    """Column names when a line is a table header, else nothing."""
    cells = split_record(row)
    if cells is None:
        return ()
    names = tuple(cell.strip() for cell in cells)
    long_form = "Metric Name" in names and ("Kernel Name" in names or "Invocations" in names)
    wide_form = "Kernel Name" in names and any("__" in name for name in names)
    return names if long_form or wide_form else ()


def _starts_record(array: npt.NDArray[np.uint8], offsets: Offsets, *, quoted: bool) -> BoolArray:
    """Whether each line starts with a numeric id, quoted as the header is."""
    first = array[offsets]
    digit = array[np.minimum(offsets + 1, len(array) - 1)] if quoted else first
    is_digit = (digit >= 0x30) & (digit <= 0x39)
    return is_digit & (first == _QUOTE) if quoted else is_digit


def _odd_quotes(raw: bytes, begin: int, end: int) -> bool:
    return raw.count(b'"', begin, end) % 2 == 1


def _line_offset(text: Text, start: int, lines: int) -> int:
    """The offset behind a number of lines."""
    for _ in range(lines):
        start = line_end(text, start)
    return start
