"""The raw page: one row per launch, one column per metric, units in the row below the header."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.readers.lines import Header, split_record
from ncu_roofline.readers.report import CELL_SCHEMA

FORM: Final = "csv-raw"

_PREFIX: Final = "metric:"


def matches(header: Header) -> bool:
    """Whether a table is a raw page."""
    return "ID" in header.columns and "Metric Name" not in header.columns


def units(header: Header, row: bytes) -> dict[str, str]:
    """Units by metric when a line is the units row (its id cell is empty), else nothing."""
    cells = split_record(row)
    if not cells or cells[0] != "" or len(cells) != len(header.columns):
        return {}
    return dict(zip(header.columns, cells, strict=False))


def columns(header: Header, names: AbstractSet[str] | None) -> dict[str, int]:
    """Positions of the wanted metric columns, prefixed, and of the last column, which shows a cut row."""
    wanted = {
        _PREFIX + name: position
        for position, name in enumerate(header.columns)
        if "__" in name and (names is None or name in names)
    }
    return wanted | {"last": len(header.columns) - 1}


def cells(
    frame: pl.DataFrame,
    launches: npt.NDArray[np.int32],
    lines: npt.NDArray[np.int64],
    unit_of: Mapping[str, str],
) -> pl.DataFrame:
    """Cells of the metric columns (schema ``CELL_SCHEMA``); the section of a raw page is empty."""
    metrics = [name for name in frame.columns if name.startswith(_PREFIX)]
    if not metrics:
        return pl.DataFrame(schema=CELL_SCHEMA)
    table = frame.select(metrics).with_columns(pl.Series("launch", launches), pl.Series("line", lines, dtype=pl.Int64))
    long = table.unpivot(on=metrics, index=["launch", "line"], variable_name="metric", value_name="text")
    unit = {name: unit_of.get(name.removeprefix(_PREFIX), "") for name in metrics}
    return long.select(
        "launch",
        pl.lit("").alias("section"),
        pl.col("metric").str.strip_prefix(_PREFIX),
        pl.col("metric").replace_strict(unit, return_dtype=pl.String).alias("unit"),
        pl.col("text").fill_null(""),
        "line",
    )
