"""The details page and ``--metrics`` output: one row per launch and metric, by column name.

Columns differ by version and option (Device and CC, NVTX, "Body Item Label", rule columns); only those that
carry the value are needed. Rows of rule results have no metric name.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

import polars as pl

from ncu_roofline.readers.lines import Header
from ncu_roofline.readers.report import CELL_SCHEMA

FORM: Final = "csv-details"

_VALUE: Final = "Metric Value"

NOT_AVAILABLE: Final = ("n/a", "(!) n/a", "(!) nan")

_COLUMNS: Final = {"section": "Section Name", "metric": "Metric Name", "unit": "Metric Unit"}


def matches(header: Header) -> bool:
    """Whether a table is a details page."""
    return {"ID", "Metric Name", _VALUE} <= set(header.columns)


def columns(header: Header, *, value: str = _VALUE) -> dict[str, int]:
    """Positions of the columns that carry the values, whose own column has a name."""
    found = {name: header.index(column) for name, column in (_COLUMNS | {"text": value}).items()}
    return {name: position for name, position in found.items() if position is not None}


def cells(frame: pl.DataFrame, launches: pl.Series, names: AbstractSet[str] | None) -> tuple[pl.DataFrame, int]:
    """Cells of the wanted metrics (schema ``CELL_SCHEMA``) and the number of rule rows."""
    blank = [pl.lit("").alias(name) for name in _COLUMNS if name not in frame.columns]
    table = frame.with_columns(launches.alias("launch"), *blank)
    is_metric = pl.col("metric") != ""
    rules = table.height - int(table.select(is_metric.sum()).item())
    # Metrics that are not wanted are kept where they were printed as not available: the name may be misspelt.
    wanted = is_metric
    if names is not None:
        wanted = pl.col("metric").is_in(list(names)) | (is_metric & pl.col("text").is_in(NOT_AVAILABLE))
    cells = table.lazy().filter(wanted).select(list(CELL_SCHEMA)).cast(CELL_SCHEMA).collect()
    return cells.with_columns(pl.col("section", "unit", "text").fill_null("")), rules
