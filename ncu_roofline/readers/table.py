"""Tables of a text: every header found by content, each read by the module of its form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

import numpy as np
import polars as pl

from ncu_roofline.errors import InputError
from ncu_roofline.readers import details, raw, summary
from ncu_roofline.readers.launches import Launches, identity_columns
from ncu_roofline.readers.lines import (
    Block,
    Header,
    LineLog,
    Text,
    blocks,
    find_header,
    is_record,
    is_whole_record,
    line_at,
    split_record,
)
from ncu_roofline.readers.report import CELL_SCHEMA, Progress, RawReport
from ncu_roofline.readers.sniff import explain_no_launches, explain_no_table

_MESSAGES_BYTES = 1 << 20


def read_tables(
    path: str, text: Text, names: AbstractSet[str] | None, digest: Callable[[], str], progress: Progress | None = None
) -> RawReport:
    """Read every table of a text; all tables of one input have to be of one form.

    Args:
        path: how the input is called in messages.
        text: its content as UTF-8.
        names: printed metric names and labels to keep; None keeps all.
        digest: gives the SHA-256 of the input.
        progress: is told how far reading is.

    Raises:
        InputError: if there is no table, no launch, or a table of a form that is not read.

    """

    def at(offset: int) -> None:
        if progress is not None:
            progress(path, offset, len(text))

    log = LineLog()
    header = find_header(text, 0, 1, log)
    if header is None:
        raise explain_no_table(path, text[:_MESSAGES_BYTES])
    launches = Launches(_parse, wide=_form(path, header) == raw.FORM)
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
        units, start, line = _units_row(path, form, text, header, log)
        next_header: Header | None = None
        for item in blocks(text, header, start, line, log, at=at):
            if isinstance(item, Header):
                next_header = item
                break
            for block, frame in _parsed(path, form, header, item, names, log):
                numbers = launches.number(header, run, block, frame)
                if form == raw.FORM:
                    cells.append(raw.cells(frame, numbers, block.lines, units))
                else:
                    part, rules = details.cells(frame, numbers, block.lines, names)
                    cells.append(part)
                    rule_rows += rules
        header, run = next_header, run + 1
    if not launches.identities:
        raise explain_no_launches(path, first.line, text[:_MESSAGES_BYTES])
    return RawReport(
        path=path,
        digest=digest,
        form=_form(path, first),
        launches=launches.columns(),
        cells=pl.concat(cells) if cells else pl.DataFrame(schema=CELL_SCHEMA),
        skipped=log.result(),
        rule_rows=rule_rows,
    )


def _form(path: str, header: Header) -> str:
    for form in (details, summary, raw):
        if form.matches(header):
            return str(form.FORM)
    raise InputError(path, "the table header has 'Kernel Name' but no columns of metrics", line=header.line)


def _units_row(path: str, form: str, text: Text, header: Header, log: LineLog) -> tuple[dict[str, str], int, int]:
    """Units by column of a raw page, the offset of its first record and the line of it.

    Lines of ncu or the application may stand between the header and the units.
    """
    start, line = header.body, header.line + 1
    if form != raw.FORM:
        return {}, start, line
    while start < len(text):
        row, end = line_at(text, start)
        units = raw.units(header, row)
        if units:
            return units, end, line + 1
        if is_record(row, quoted=header.quoted):
            break
        log.skip("foreign", row, line)
        start, line = end, line + 1
    raise InputError(
        path, "the raw page has no row of units below its header", "Without units its numbers have no meaning.", line
    )


def _parsed(
    path: str, form: str, header: Header, block: Block, names: AbstractSet[str] | None, log: LineLog
) -> Iterator[tuple[Block, pl.DataFrame]]:
    """The needed columns of a block, rows that are damaged left out and logged; nothing if none is whole."""
    if form == raw.FORM:
        columns = identity_columns(header) | raw.columns(header, names)
    elif form == summary.FORM:
        columns = summary.columns(header)
    else:
        keys = [name for name in ("ncu_id", "process") if name in identity_columns(header)]
        columns = {name: identity_columns(header)[name] for name in keys} | details.columns(header)
    frame = _parse(header, block, columns)
    if frame is None:
        block = _whole_records(block.as_utf8(), log)
        frame = _parse(header, block, columns)
    if frame is None:
        raise InputError(path, "these lines cannot be split into rows", "Export the report again.", int(block.lines[0]))
    if not frame.height:
        return
    keys = [name for name in ("ncu_id", "process") if name in frame.columns]
    frame = frame.with_columns(pl.col(keys).cast(pl.Int64, strict=False))
    id_is_number = frame[keys[0]].is_not_null() if keys else pl.Series([True]).new_from_index(0, frame.height)
    last = "last" if "last" in frame.columns else "text"
    empty = frame[last].is_null()
    if not header.quoted and empty.any():
        # Without quotes an empty cell at the end of a row looks like a row that was cut: count the cells.
        width = columns[last] + 1
        cut = [len(split_record(block.record(position)) or ()) < width for position in empty.arg_true()]
        empty = pl.Series(np.isin(np.arange(frame.height), empty.arg_true().to_numpy()[cut]))
    whole = id_is_number & frame["overflow"].is_null() & ~empty
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
