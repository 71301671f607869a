"""Tables of a text: every header found by content, each read by the module of its form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    identities: list[pl.DataFrame] = field(default_factory=list)

    def columns(self) -> Columns:
        """Identity of every launch as columns."""
        table = pl.concat(self.identities)
        return {name: objects(table[name].to_list()) for name in IDENTITY_COLUMNS}

    def number(self, header: Header, run: int, block: Block, frame: pl.DataFrame) -> npt.NDArray[np.int32]:
        """Launch position of every record; the identity of a new launch is read from its first record."""
        ids = frame["ncu_id"].to_numpy()
        processes = frame["process"].to_numpy() if "process" in frame.columns else np.zeros(len(ids), np.int64)
        changed = (np.diff(ids, prepend=ids[0]) != 0) | (np.diff(processes, prepend=processes[0]) != 0)
        begins = np.concatenate(([0], np.flatnonzero(changed)))
        numbers = np.empty(len(begins), np.int32)
        new: list[int] = []
        keys = zip(processes[begins].tolist(), ids[begins].tolist(), strict=True)
        for position, (process, ncu_id) in enumerate(keys):
            count = len(self.numbers)
            numbers[position] = self.numbers.setdefault((run, process, ncu_id), count)
            if len(self.numbers) > count:
                new.append(int(begins[position]))
        if new:
            self.identities.append(_identities(header, block, frame, np.array(new)))
        return np.repeat(numbers, np.diff(np.append(begins, len(ids))))


def read_tables(path: str, text: Text, names: AbstractSet[str] | None, digest: Callable[[], str]) -> RawReport:
    """Read every table of a text; all tables of one input have to be of one form.

    Args:
        path: how the input is called in messages.
        text: its content as UTF-8.
        names: printed metric names and labels to keep; None keeps all.
        digest: gives the SHA-256 of the input, which may be on its way in another thread.

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
                numbers = launches.number(header, run, block, frame)
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
        sha256=digest(),
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
    identity = _identity_columns(header)
    if form == details.FORM:
        columns = {name: identity[name] for name in ("ncu_id", "process") if name in identity} | details.columns(header)
    else:
        columns = identity | raw.columns(header, names)
    frame = _parse(header, block, columns)
    if frame is None:
        block = _whole_records(block, log)
        frame = _parse(header, block, columns)
    if frame is None:
        raise InputError(path, "these lines cannot be split into rows", "Export the report again.", int(block.lines[0]))
    if not frame.height:
        return
    keys = ["ncu_id", "process"] if "process" in frame.columns else ["ncu_id"]
    frame = frame.with_columns(pl.col(keys).cast(pl.Int64, strict=False))
    if "process" in keys:
        frame = frame.with_columns(pl.col("process").fill_null(-1))
    id_is_number = frame["ncu_id"].is_not_null()
    last = "last" if "last" in frame.columns else "text"
    whole = id_is_number & frame["overflow"].is_null()
    if header.quoted:
        whole &= frame[last].is_not_null()
    if not whole.all():
        for position in (~whole).arg_true():
            log.add("damaged" if id_is_number[position] else "foreign", int(block.lines[position]))
        block, frame = block.keep(whole.arg_true().to_numpy()), frame.filter(whole)
    if frame.height:
        yield block, frame


def _parse(header: Header, block: Block, columns: dict[str, int]) -> pl.DataFrame | None:
    """Columns by name as text; None when the parser sees other rows than the block has records."""
    if not len(block.starts):
        return pl.DataFrame(schema=dict.fromkeys([*columns, "overflow"], pl.String))
    # Two names may stand for one column: the last metric of a raw page also tells whether a row is whole.
    wanted = columns | {"overflow": len(header.columns)}
    positions = [f"c{position}" for position in dict.fromkeys(wanted.values())]
    try:
        frame = pl.read_csv(block.data, columns=positions, infer_schema=False)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError):
        return None
    if frame.height != len(block.starts):
        return None
    return frame.select(pl.col(f"c{position}").alias(name) for name, position in wanted.items())


def _whole_records(block: Block, log: LineLog) -> Block:
    """The records whose quoting is right, looked at one by one; the others are logged as damaged."""
    whole = np.array([is_whole_record(record) for record in block.records()])
    for position in np.flatnonzero(~whole):
        log.add("damaged", int(block.lines[position]))
    return block.keep(np.flatnonzero(whole))


def _identities(header: Header, block: Block, frame: pl.DataFrame, records: npt.NDArray[np.intp]) -> pl.DataFrame:
    """Identity of the launches that begin at some records; columns ``IDENTITY_COLUMNS``.

    On the details page their records alone are parsed for it: the other rows of a launch only repeat it.
    """
    present = _identity_columns(header)
    if not set(present) <= set(frame.columns):
        parsed = _parse(header, block.keep(records), present)
        assert parsed is not None, "records that were rows are rows"
    else:
        parsed = frame.select(list(present))[records].cast(pl.String)
    absent = [pl.lit(None, dtype=pl.String).alias(name) for name in _IDENTITY_NAMES if name not in present]
    return parsed.with_columns(*absent, pl.Series("line", block.lines[records])).select(IDENTITY_COLUMNS)


def _identity_columns(header: Header) -> dict[str, int]:
    found = {name: header.index(column) for name, column in _IDENTITY_NAMES.items()}
    return {name: position for name, position in found.items() if position is not None}
