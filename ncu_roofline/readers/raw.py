"""The raw page: one row per launch, one column per metric, units in the row below the header."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.readers.lines import Header, split_record
from ncu_roofline.readers.report import CELL_SCHEMA, PRINTED_SCHEMA
from ncu_roofline.readers.rows import LAST, Rows

FORM: Final = "csv-raw"

_PREFIX: Final = "metric:"
_AGAIN: Final = "\t"
"""Stands between a name that comes again and its place; in no name of a metric."""


def matches(header: Header) -> bool:
    """Whether a table is a raw page."""
    return "ID" in header.columns and "Metric Name" not in header.columns


def _names(header: Header) -> list[str]:
    """Names of the columns; one that comes again has its place behind it, so that none hides another."""
    seen: set[str] = set()
    found = []
    for position, name in enumerate(header.columns):
        found.append(f"{name}{_AGAIN}{position}" if name in seen else name)
        seen.add(name)
    return found


def units(header: Header, row: bytes) -> dict[str, str]:
    """Units by column when a line is the units row (its id cell is empty), else nothing."""
    cells = split_record(row)
    if not cells or cells[0] != "" or len(cells) != len(header.columns):
        return {}
    return dict(zip(_names(header), cells, strict=False))


def columns(header: Header, names: AbstractSet[str] | None) -> dict[str, int]:
    """Positions of the wanted metric columns, prefixed, and of the last column, which shows a cut row."""
    wanted = {
        _PREFIX + name: position
        for position, name in enumerate(_names(header))
        if "__" in name and (names is None or name.partition(_AGAIN)[0] in names)
    }
    return wanted | {LAST: len(header.columns) - 1}


def kept(columns: Collection[str]) -> list[pl.Expr]:
    """What is kept of rows with these columns: all; every distinct text of a metric once."""
    return [
        pl.col(name).fill_null("").cast(pl.Categorical()) if name.startswith(_PREFIX) else pl.col(name)
        for name in columns
    ]


def printed(columns: Collection[str], unit_of: Mapping[str, str]) -> pl.DataFrame:
    """What the cells of the metric columns are printed as (schema ``PRINTED_SCHEMA``); they have no section.

    The units of columns that are not kept follow, without names: whether a table states units at all is one fact.
    """
    names = [name.removeprefix(_PREFIX) for name in columns if name.startswith(_PREFIX)]
    kept = [("", name.partition(_AGAIN)[0], unit_of.get(name, "")) for name in names]
    others = sorted(set(unit_of.values()) - {unit for _, _, unit in kept})
    return pl.DataFrame(kept + [("", "", unit) for unit in others], schema=PRINTED_SCHEMA, orient="row")


def cells(rows: Rows, launches: pl.Series, first: int) -> pl.DataFrame:
    """Cells of the metric columns, one metric after the other (schema ``CELL_SCHEMA``).

    ``first`` is the row of ``RawReport.printed`` of the first metric column.
    """
    frame, metrics = rows.frame, [name for name in rows.frame.columns if name.startswith(_PREFIX)]
    if not metrics:
        return pl.DataFrame(schema=CELL_SCHEMA)
    numbers = np.arange(first, first + len(metrics), dtype=np.uint32)
    return pl.DataFrame(
        {
            "launch": pl.concat([launches] * len(metrics)),
            "printed_as": np.repeat(numbers, frame.height),
            "text": pl.concat([frame[name] for name in metrics]),
            "line": np.tile(rows.lines(np.arange(frame.height)), len(metrics)),
        },
        schema=CELL_SCHEMA,
    )
