"""Who the launches of an input are: numbered in order of first appearance, identity read once per launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.arrays import Columns, objects, repeated
from ncu_roofline.readers.lines import Header, LineLog, is_whole_record
from ncu_roofline.readers.report import IDENTITY_COLUMNS
from ncu_roofline.readers.rows import IDS, Positions, Rows, parse

_NAMES: Final = {
    "ncu_id": "ID",
    "process": "Process ID",
    "kernel": "Kernel Name",
    "context": "Context",
    "stream": "Stream",
    "block": "Block Size",
    "grid": "Grid Size",
    "device_ordinal": "Device",
    "cc": "CC",
    "invocations": "Invocations",
}
# The names of the NVTX columns list the fields of their cells; these parts of them do not change.
_NVTX_PARTS: Final = {"nvtx_push_pop": "Push/Pop_Range", "nvtx_start_stop": "Start/Stop_Range"}

_KEY: Final = ("run", *IDS, "kernel", "block", "grid", "device_ordinal", "invocations")


def identity_columns(header: Header) -> dict[str, int]:
    """Positions of the identity columns that a table has."""
    found = {name: header.index(column) for name, column in _NAMES.items()}
    for name, part in _NVTX_PARTS.items():
        found[name] = next((n for n, column in enumerate(header.columns) if part in column), None)
    return {name: position for name, position in found.items() if position is not None}


@dataclass
class Launches:
    """Collects launches over the blocks and runs of an input.

    On a raw page (``wide``) every row is one. Elsewhere rows of one run, process and id that follow each other are one
    launch, and sequences of them with the same kernel and shape, too; ids restart when several outputs are put into one
    file, so an id alone is not a key.
    """

    wide: bool
    identities: list[pl.DataFrame] = field(default_factory=list)
    """Of each row on a raw page, else of each sequence of rows that belong together."""
    count: int = 0
    _sizes: list[Positions] = field(default_factory=list)

    @property
    def rows(self) -> Positions:
        """How many rows each sequence has."""
        return np.concatenate(self._sizes)

    def sequence(self, header: Header, rows: Rows, log: LineLog) -> tuple[pl.Series, Rows]:
        """Position of the identity of every row; identities are read from the first of rows that belong together.

        A row whose identity cannot be read is damaged: it is logged and left out of the rows that are returned.
        """
        positions = self._begins(header, rows.frame)
        identities = self._identities(header, rows, positions)
        if identities is None:
            block = rows.records(positions)
            damaged = np.array([not is_whole_record(record) for record in block.records()])
            if not damaged.any():
                damaged[:] = True
            for line in block.lines[damaged].tolist():
                log.add("damaged", line)
            return self.sequence(header, rows.without(positions[damaged]), log)
        self.identities.append(identities)
        sequence = np.arange(self.count, self.count + identities.height, dtype=np.int32)
        self.count += identities.height
        self._sizes.append(np.diff(positions, append=rows.frame.height))
        return pl.Series(np.repeat(sequence, self._sizes[-1])), rows

    def _begins(self, header: Header, frame: pl.DataFrame) -> Positions:
        """Rows that do not belong to the one before them."""
        if self.wide:
            return np.arange(frame.height)
        identity = IDS if "ncu_id" in frame.columns else identity_columns(header)
        changes = [_changes(frame[name]) for name in (*identity, "run") if name in frame.columns]
        return np.unique(np.concatenate([np.zeros(min(frame.height, 1), np.intp), *changes]))

    def launches(self) -> tuple[Columns, pl.Series]:
        """Identity of every launch as columns (None: not printed), and the launch of every sequence."""
        table = pl.concat(self.identities)
        numbers = pl.int_range(table.height, dtype=pl.Int32, eager=True)
        if not self.wide and table.select("run", *IDS).is_duplicated().any():
            launches = table.select(_KEY).unique(maintain_order=True).with_row_index("launch")
            numbers = table.join(launches, on=_KEY, how="left", nulls_equal=True, maintain_order="left")["launch"]
            numbers = numbers.cast(pl.Int32)
            table = table.filter(numbers.is_first_distinct())
        return _columns(table.select(pl.col(IDENTITY_COLUMNS).exclude("line").replace("", None), "line")), numbers

    def _identities(self, header: Header, rows: Rows, positions: Positions) -> pl.DataFrame | None:
        """Identity of the launches that begin at some rows; columns ``IDENTITY_COLUMNS`` and ``run``.

        None when one of the records cannot be read.

        On the details page their records alone are parsed for it: the other rows of a launch only repeat it.
        """
        present = identity_columns(header)
        if set(present) <= set(rows.frame.columns):
            found = rows.frame.select(list(present)).cast(pl.String)
            found = found if self.wide else found[positions]
        else:
            parsed = parse(header, rows.records(positions), present)
            if parsed is None:
                return None
            found = parsed
        absent = [
            pl.lit(None, dtype=pl.String).alias(name)
            for name in IDENTITY_COLUMNS
            if name not in present and name != "line"
        ]
        run = rows.frame["run"][positions] if "run" in rows.frame.columns else pl.lit(0, pl.Int64)
        return found.with_columns(*absent, line=rows.lines(positions), run=run).select(*IDENTITY_COLUMNS, "run")


def _changes(column: pl.Series) -> Positions:
    """Rows whose value is not that of the row before; the first may be among them."""
    if not column.dtype.is_integer() or column.null_count():
        return column.ne_missing(column.shift()).arg_true().to_numpy().astype(np.intp)
    values = column.to_numpy()
    return 1 + np.flatnonzero(values[1:] != values[:-1])


def _columns(table: pl.DataFrame) -> Columns:
    """The columns of a table as objects; what is the same in every row is one object."""
    distinct = table.select(pl.all().n_unique()).row(0)
    return {
        column.name: repeated(column[0], len(column)) if number == 1 else objects(column.to_list())
        for column, number in zip(table, distinct, strict=True)
    }
