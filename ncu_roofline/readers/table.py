"""Tables of a text: every header found by content, each read by the module of its form."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.arrays import Columns, objects
from ncu_roofline.errors import InputError
from ncu_roofline.readers import details, raw
from ncu_roofline.readers.lines import (
    Block,
    Header,
    LineLog,
    Text,
    blocks,
    find_header,
    first_record_line,
    is_whole_record,
    split_record,
)
from ncu_roofline.readers.report import CELL_SCHEMA, IDENTITY_COLUMNS, RawReport
from ncu_roofline.readers.sniff import explain_no_launches, explain_no_table

_IDENTITY_NAMES = {
    "ncu_id": "ID",
    "process": "Process ID",
    "kernel": "Kernel Name",
    "context": "Context",
    "stream": "Stream",
    "block": "Block Size",
    "grid": "Grid Size",
    "device_ordinal": "Device",
    "cc": "CC",
}
_MESSAGES_BYTES = 1 << 20


@dataclass
class _Launches:
    """Launches in order of first appearance, keyed by run, process and id."""

    numbers: dict[tuple[int, int, int], int] = field(default_factory=dict)
    identities: list[dict[str, str | int | None]] = field(default_factory=list)

    def columns(self) -> Columns:
        """Identity of every launch as columns."""
        return {name: objects(identity[name] for identity in self.identities) for name in IDENTITY_COLUMNS}

    def number(
        self,
        header: Header,
        run: int,
        block: Block,
        processes: npt.NDArray[np.int64],
        ids: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Launch position of every record; the identity of a new launch is read from its first record."""
        changed = np.flatnonzero((np.diff(ids, prepend=ids[0]) != 0) | (np.diff(processes, prepend=processes[0]) != 0))
        begins = np.concatenate(([0], changed))
        numbers = np.empty(len(begins), np.int32)
        new: list[int] = []
        for position, begin in enumerate(begins):
            key = (run, int(processes[begin]), int(ids[begin]))
            known = self.numbers.setdefault(key, len(self.numbers))
            if known == len(self.identities) + len(new):
                new.append(int(begin))
            numbers[position] = known
        self.identities += _identities(header, block, new)
        return np.repeat(numbers, np.diff(np.append(begins, len(ids))))


def read_tables(path: str, sha256: str, text: Text, names: AbstractSet[str] | None) -> RawReport:
    """Read every table of a text; all tables of one input have to be of one form.

    Raises:
        InputError: if there is no table, no launch, or a table of a form that is not read.

    """
    log = LineLog()
    header = find_header(text, 0, 1, log)
    if header is None:
        raise explain_no_table(path, text[:_MESSAGES_BYTES])
    launches = _Launches()
    cells: list[pl.DataFrame] = []
    rule_rows = 0
    first, run = header, 0
    while header is not None:
        form = _form(path, header)
        if form != _form(path, first):
            raise InputError(
                path,
                "tables of two forms are in one file",
                "Keep each page in a file of its own.",
                header.line,
            )
        units, start, line = _units_row(form, text, header)
        next_header: Header | None = None
        for item in blocks(text, header, start, line, log):
            if isinstance(item, Header):
                next_header = item
                break
            for block, frame in _parsed(path, form, header, item, names, log):
                numbers = launches.number(header, run, block, _integers(frame, "process"), _integers(frame, "ncu_id"))
                if form == details.FORM:
                    part, rules = details.cells(frame, numbers, block.lines, names)
                    rule_rows += rules
                else:
                    part = raw.cells(frame, numbers, block.lines, units)
                cells.append(part)
        header, run = next_header, run + 1
    if not launches.identities:
        raise explain_no_launches(path, first.line, text[:_MESSAGES_BYTES])
    return RawReport(
        path=path,
        sha256=sha256,
        form=_form(path, first),
        launches=launches.columns(),
        cells=pl.concat(cells) if cells else pl.DataFrame(schema=CELL_SCHEMA),
        skipped=log.result(),
        rule_rows=rule_rows,
    )


def _form(path: str, header: Header) -> str:
    if "Metric Value" in header.columns and "ID" in header.columns:
        return details.FORM
    if "Invocations" in header.columns:
        raise InputError(
            path,
            "this is a --print-summary table, in which launches are merged; this version does not read it",
            "Export without --print-summary.",
            header.line,
        )
    if "Metric Name" not in header.columns and "ID" in header.columns:
        return raw.FORM
    raise InputError(path, "the table header has 'Kernel Name' but no 'ID' and metric columns", line=header.line)


def _units_row(form: str, text: Text, header: Header) -> tuple[dict[str, str], int, int]:
    """Units by column of a raw page, the offset of its first record and the line of it."""
    if form != raw.FORM:
        return {}, header.body, header.line + 1
    row, end = first_record_line(text, header)
    units = raw.units(header, row)
    return (units, end, header.line + 2) if units else ({}, header.body, header.line + 1)


def _parsed(
    path: str, form: str, header: Header, block: Block, names: AbstractSet[str] | None, log: LineLog
) -> Iterator[tuple[Block, pl.DataFrame]]:
    """The needed columns of a block, rows that are damaged left out and logged; nothing if none is whole."""
    columns = details.columns(header) if form == details.FORM else raw.columns(header, names)
    columns = {"ncu_id": header.columns.index("ID")} | columns
    process = header.index("Process ID")
    if process is not None:
        columns["process"] = process
    frame = _parse(header, block, columns)
    if frame is None:
        block = _whole_records(block, log)
        frame = _parse(header, block, columns)
    if frame is None:
        raise InputError(path, "these lines cannot be split into rows", "Export the report again.", int(block.lines[0]))
    if not frame.height:
        return
    id_is_number = frame["ncu_id"].cast(pl.Int64, strict=False).is_not_null().to_numpy()
    last = "last" if "last" in frame.columns else "text"
    whole = (
        id_is_number
        & frame["overflow"].is_null().to_numpy()
        & (frame[last].is_not_null().to_numpy() | (not header.quoted))
    )
    for position in np.flatnonzero(~whole):
        log.add("damaged" if id_is_number[position] else "foreign", int(block.lines[position]))
    if not whole.all():
        block, frame = block.keep(whole), frame.filter(pl.Series(whole))
    if frame.height:
        yield block, frame


def _parse(header: Header, block: Block, columns: dict[str, int]) -> pl.DataFrame | None:
    """Columns by name as text; None when the parser sees other rows than the block has records."""
    if not len(block.starts):
        return pl.DataFrame(schema=dict.fromkeys([*columns, "overflow"], pl.String))
    width = len(header.columns)
    prefix = ",".join(f"c{position}" for position in range(width + 1)).encode() + b"\n"
    # Two names may stand for one column: the last metric of a raw page also tells whether a row is whole.
    wanted = columns | {"overflow": width}
    positions = [f"c{position}" for position in dict.fromkeys(wanted.values())]
    try:
        frame = pl.read_csv(prefix + block.data, columns=positions, infer_schema=False)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError):
        return None
    if frame.height != len(block.starts):
        return None
    return frame.select(pl.col(f"c{position}").alias(name) for name, position in wanted.items())


def _whole_records(block: Block, log: LineLog) -> Block:
    """The records whose quoting is right, looked at one by one; the others are logged as damaged."""
    keep = np.array([is_whole_record(block.record(position)) for position in range(len(block.starts))])
    for position in np.flatnonzero(~keep):
        log.add("damaged", int(block.lines[position]))
    return block.keep(keep)


def _integers(frame: pl.DataFrame, name: str) -> npt.NDArray[np.int64]:
    if name not in frame.columns:
        return np.zeros(frame.height, np.int64)
    return frame[name].cast(pl.Int64, strict=False).fill_null(-1).to_numpy()


def _identities(header: Header, block: Block, positions: list[int]) -> list[dict[str, str | int | None]]:
    """Identity of the launches whose first records are given."""
    identities = []
    indices = {name: header.index(column) for name, column in _IDENTITY_NAMES.items()}
    for position in positions:
        cells = split_record(block.record(position)) or []
        identity: dict[str, str | int | None] = {
            name: cells[index] if index is not None and index < len(cells) else None for name, index in indices.items()
        }
        identity["line"] = int(block.lines[position])
        identities.append(identity)
    return identities
