"""Who the launches of an input are: numbered in order of first appearance, identity read once per launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.arrays import Columns, objects
from ncu_roofline.readers.lines import Block, Header
from ncu_roofline.readers.report import IDENTITY_COLUMNS

Parse = Callable[[Header, Block, dict[str, int]], pl.DataFrame | None]

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

_ID: Final = ("process", "ncu_id")
_KEY: Final = ("process", "ncu_id", "kernel", "block", "grid", "device_ordinal", "invocations")


def identity_columns(header: Header) -> dict[str, int]:
    """Positions of the identity columns that a table has."""
    found = {name: header.index(column) for name, column in _NAMES.items()}
    for name, part in _NVTX_PARTS.items():
        found[name] = next((n for n, column in enumerate(header.columns) if part in column), None)
    return {name: position for name, position in found.items() if position is not None}


@dataclass
class Launches:
    """Collects launches over the blocks and runs of an input.

    On a raw page (``wide``) every row is one. Elsewhere rows of one run, process, id, kernel and shape are one; ids
    restart when several outputs are put into one file, so an id alone is not a key.
    """

    parse: Parse
    wide: bool
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    identities: list[pl.DataFrame] = field(default_factory=list)

    def columns(self) -> Columns:
        """Identity of every launch as columns."""
        table = pl.concat(self.identities)
        return {name: objects(table[name].to_list()) for name in IDENTITY_COLUMNS}

    def number(self, header: Header, run: int, block: Block, frame: pl.DataFrame) -> npt.NDArray[np.int32]:
        """Launch position of every record; identities are read from the first of records that belong together."""
        is_summary = "ncu_id" not in frame.columns
        together = [name for name in (identity_columns(header) if is_summary else _ID) if name in frame.columns]
        changed = frame.select(pl.any_horizontal(pl.col(together).ne_missing(pl.col(together).shift(1))).alias("new"))
        one_per_row = self.wide
        begins = np.arange(frame.height) if one_per_row else np.union1d([0], changed["new"].arg_true().to_numpy())
        identities = self._identities(header, block, frame, begins.astype(np.intp))
        if one_per_row:
            first = len(self.numbers)
            self.numbers |= {(number,): number for number in range(first, first + frame.height)}
            self.identities.append(identities)
            return np.arange(first, first + frame.height, dtype=np.int32)
        numbers = np.empty(len(begins), np.int32)
        new: list[int] = []
        for position, values in enumerate(identities.select(_KEY).rows()):
            count = len(self.numbers)
            numbers[position] = self.numbers.setdefault((run, *values), count)
            if len(self.numbers) > count:
                new.append(position)
        self.identities.append(identities[new])
        return np.repeat(numbers, np.diff(np.append(begins, frame.height)))

    def _identities(
        self, header: Header, block: Block, frame: pl.DataFrame, records: npt.NDArray[np.intp]
    ) -> pl.DataFrame:
        """Identity of the launches that begin at some records; columns ``IDENTITY_COLUMNS``.

        On the details page their records alone are parsed for it: the other rows of a launch only repeat it.
        """
        present = identity_columns(header)
        if set(present) <= set(frame.columns):
            found = frame.select(list(present))[records].cast(pl.String)
        else:
            parsed = self.parse(header, block.keep(records), present)
            assert parsed is not None, "records that were rows are rows"
            found = parsed
        absent = [pl.lit(None, dtype=pl.String).alias(name) for name in (*_NAMES, *_NVTX_PARTS) if name not in present]
        return found.with_columns(*absent, pl.Series("line", block.lines[records])).select(IDENTITY_COLUMNS)
