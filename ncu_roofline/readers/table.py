"""Tables of a text: every header found by content, each read by the module of its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.errors import InputError
from ncu_roofline.readers import details, raw, summary
from ncu_roofline.readers.launches import Launches, identity_columns
from ncu_roofline.readers.lines import Header, LineLog, find_header, is_record
from ncu_roofline.readers.log import is_log, read_log
from ncu_roofline.readers.newlines import Text, line_at
from ncu_roofline.readers.report import IDENTITY_COLUMNS, PRINTED_SCHEMA, Progress, RawReport, numbered_cells
from ncu_roofline.readers.rewritten import restored
from ncu_roofline.readers.rows import IDS, Table, rows_of_blocks, rows_of_input
from ncu_roofline.readers.sniff import RAW_PAGE, explain_no_launches, explain_no_table, other_page

_MESSAGES_BYTES = 1 << 20
_PAGE_LINES, _PAGE_BYTES = 4, 1 << 12
"""Where the header of a page stands that names a kernel above its table of instructions."""
_UNIT_LINES = 20
"""How many lines a row of units may have, whose cells may have line breaks as any other."""
_NAMES_BYTES = 1 << 18
"""How much of a table shows whether its metrics are printed as label and name: the first launch."""


def read_tables(
    path: str, text: Text, names: AbstractSet[str] | None, digest: Callable[[], str], progress: Progress | None = None
) -> RawReport:
    """Read every table of a text; all tables of one input have to be of one form.

    A text without such tables that has launches as ncu prints them for people is read as that.

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
    if header is not None and header.line <= _PAGE_LINES and (page := other_page(path, text[:_PAGE_BYTES])):
        raise page
    rewritten = ""
    if (turned_back := restored(path, text, header)) is not None:
        text, rewritten, log = turned_back.text, turned_back.how, LineLog()
        header = find_header(text, 0, 1, log)
    if header is None:
        if is_log(text):
            return read_log(path, text, names, digest)
        raise explain_no_table(path, text[:_MESSAGES_BYTES])
    first, form = header, _form(path, header)
    launches = Launches(wide=form == raw.FORM)
    cells: list[pl.DataFrame] = []
    printed = pl.DataFrame(schema=PRINTED_SCHEMA)
    rules: list[npt.NDArray[np.int64]] = []
    while header is not None:
        if form != _form(path, header):
            raise InputError(
                path,
                "tables of two forms are in one file",
                "Keep each page in a file of its own.",
                header.line,
            )
        units, start, line = _units_row(path, form, text, header, log)
        columns = _wanted_columns(form, header, names)
        begin = b"" if form == raw.FORM else text[start : start + _NAMES_BYTES]
        table = Table(
            path,
            text,
            header,
            start,
            line,
            columns,
            _kept(form, columns, names, begin),
            form != raw.FORM,
        )
        next_header: Header | None = None
        whole = rows_of_input(table, at) if header is first else None
        for part in rows_of_blocks(table, log, at) if whole is None else [whole]:
            if isinstance(part, Header):
                next_header = part
                break
            sequence, rows = launches.sequence(header, part, log)
            if form == raw.FORM:
                cells.append(raw.cells(rows, sequence, printed.height))
            else:
                found, rules_of = details.cells(rows, sequence)
                cells.append(found)
                rules.append(rules_of)
        if form == raw.FORM:
            printed = pl.concat([printed, raw.printed(columns, units)])
        header = next_header
    if not launches.identities:
        raise explain_no_launches(path, first.line, text[:_MESSAGES_BYTES], log.counts.get("damaged", 0))
    identities, launch_of = launches.launches()
    all_cells = pl.concat(cells)
    if form != raw.FORM:
        all_cells, printed = numbered_cells(all_cells)
    return RawReport(
        path=path,
        digest=digest,
        form=form,
        launches=identities,
        cells=all_cells.with_columns(launch_of.gather(all_cells["launch"]).alias("launch")),
        printed=printed,
        skipped=log.result(),
        rule_rows=int(sum(part.sum() for part in rules)),
        rewritten=rewritten,
        rows_of_launch=None
        if form == raw.FORM
        else _per_launch([launches.rows, *(-part for part in rules)], launch_of),
    )


def _per_launch(parts: Sequence[npt.NDArray[np.int64]], launch_of: pl.Series) -> npt.NDArray[np.int64]:
    """A number of each launch, from those of its sequences, which count on from part to part."""
    of_sequence = np.zeros(len(launch_of), np.int64)
    for part in parts:
        of_sequence[: len(part)] += part
    return np.bincount(launch_of.to_numpy(), of_sequence).astype(np.int64)


def _form(path: str, header: Header) -> str:
    for form in (details, summary, raw):
        if form.matches(header):
            return str(form.FORM)
    raise InputError(
        path,
        "the table header has 'Kernel Name' but neither 'ID' with columns of metrics nor 'Metric Name'",
        f"Export a report with `{RAW_PAGE}`.",
        line=header.line,
    )


def _units_row(path: str, form: str, text: Text, header: Header, log: LineLog) -> tuple[dict[str, str], int, int]:
    """Units by column of a raw page, the offset of its first record and the line of it.

    Lines of ncu or the application may stand between the header and the units.
    """
    start, line = header.body, header.line + 1
    if form != raw.FORM:
        return {}, start, line
    while start < len(text):
        row, end = line_at(text, start)
        lines = 1
        while row.count(b'"') % 2 and end < len(text) and lines < _UNIT_LINES:
            more, end = line_at(text, end)
            row, lines = row + more, lines + 1
        units = raw.units(header, row)
        if units:
            return units, end, line + lines
        if is_record(row, quoted=header.quoted):
            break
        row, end = line_at(text, start)
        log.skip("foreign", row, line)
        start, line = end, line + 1
    if start >= len(text):
        raise explain_no_launches(path, header.line, text[:_MESSAGES_BYTES], 0)
    raise InputError(
        path,
        "the raw page has no row of units below its header: another program has removed it",
        f"Without units its numbers have no meaning. Analyse the table that ncu wrote, or export it again: {RAW_PAGE}",
        line,
        is_damaged=True,
    )


def _wanted_columns(form: str, header: Header, names: AbstractSet[str] | None) -> dict[str, int]:
    """Positions of the columns that are parsed in every row."""
    identity = identity_columns(header)
    if form == raw.FORM:
        columns = identity | raw.columns(header, names)
    elif form == summary.FORM:
        columns = summary.columns(header)
    else:
        columns = {name: identity[name] for name in IDS if name in identity} | details.columns(header)
    return columns


def _kept(form: str, columns: Mapping[str, int], names: AbstractSet[str] | None, begin: bytes) -> list[pl.Expr]:
    """What is kept of the parsed columns of every row of a table that begins like this."""
    if form == raw.FORM:
        return raw.kept(columns)
    identity = [name for name in columns if name in IDENTITY_COLUMNS]
    with_label = details.has_label_and_name(begin)
    return [*map(pl.col, identity), *details.kept(columns, names, with_label=with_label)]
