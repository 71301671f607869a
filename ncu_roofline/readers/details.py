"""The details page and ``--metrics`` output: one row per launch and metric, by column name.

Columns differ by version and option (Device and CC, NVTX, "Body Item Label", rule columns); only those that
carry the value are needed. Rows of rule results have no metric name.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.readers.lines import Header
from ncu_roofline.readers.rows import Rows

FORM: Final = "csv-details"

_VALUE: Final = "Metric Value"

NOT_AVAILABLE: Final = ("n/a", "(!) n/a", "(!) nan")

_IS_RULE: Final = "is_rule"

_LABEL_AND_NAME: Final = r" \(([a-z0-9_:]+__[a-z0-9_.]+)\)$"
"""How a metric is printed with ``--print-metric-name label-name``: its label, then its name in brackets."""
_LABEL_AND_NAME_CELL: Final = re.compile(rb"%s\"?," % _LABEL_AND_NAME.removesuffix("$").encode())

_COLUMNS: Final = {"section": "Section Name", "metric": "Metric Name", "unit": "Metric Unit"}
_CELL: Final = (*_COLUMNS, "text")


def matches(header: Header) -> bool:
    """Whether a table is a details page."""
    return {"ID", "Metric Name", _VALUE} <= set(header.columns)


def columns(header: Header, *, value: str = _VALUE) -> dict[str, int]:
    """Positions of the columns that carry the values, whose own column has a name."""
    found = {name: header.index(column) for name, column in (_COLUMNS | {"text": value}).items()}
    return {name: position for name, position in found.items() if position is not None}


def has_label_and_name(begin: bytes) -> bool:
    """Whether metrics of a table that begins like this are printed as label and name."""
    return _LABEL_AND_NAME_CELL.search(begin) is not None


def name_of(metric: str) -> str:
    """The name of a metric that was printed as label and name; any other text as it is."""
    found = re.search(_LABEL_AND_NAME, metric)
    return found[1] if found else metric


def kept(columns: Collection[str], names: AbstractSet[str] | None, *, with_label: bool = False) -> list[pl.Expr]:
    """What is kept of rows with these columns: cells of the wanted metrics, and whether a row is of a rule.

    ``with_label``: metrics are printed as label and name, of which the name counts.

    Elsewhere the columns of cells are null. Metrics that are not wanted are kept where they were printed as not
    available: the name may be misspelt.
    """
    is_metric = (pl.col("metric") != "").fill_null(False)
    metric = pl.coalesce(pl.col("metric").str.extract(_LABEL_AND_NAME), "metric") if with_label else pl.col("metric")
    wanted = is_metric
    if names is not None:
        wanted = metric.is_in(list(names)) | (is_metric & pl.col("text").is_in(NOT_AVAILABLE))
    found = {name: (pl.col(name) if name in columns else pl.lit("")) for name in _CELL} | {"metric": metric}
    return [
        *(
            pl.when(wanted).then(column.fill_null("")).cast(pl.Categorical()).alias(name)
            for name, column in found.items()
        ),
        (~is_metric).alias(_IS_RULE),
    ]


def cells(rows: Rows, launches: pl.Series) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    """Cells of the wanted metrics, with section, metric and unit as columns; and how many rules each launch has.

    The latter from launch 0 on, as far as there are any.
    """
    all_rows = rows.frame.lazy().select(_CELL).with_columns(launch=launches).with_row_index("row")
    found = all_rows.filter(pl.col("metric").is_not_null()).collect()
    rules = launches.gather(rows.frame[_IS_RULE].arg_true())
    return found.with_columns(line=rows.lines(found["row"].to_numpy())), np.bincount(rules.to_numpy())
