"""From printed cells to counters: label -> metric name, printed value and unit -> SI base units, per value.

This is the only border at which units are converted. It knows the number formats and the label file, not
what counters are for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.arrays import Columns, FloatArray
from ncu_roofline.errors import InputError, UnitError, UsageError
from ncu_roofline.labels import Labels, Target
from ncu_roofline.readers import RawReport
from ncu_roofline.units import COUNT, RATIO, TIME, find_unit

LOCALES: Final = ("auto", "c", "european")
"""Number formats: ``c`` groups with commas and has a decimal point, ``european`` the other way round."""

_METRIC_NAME: Final = r"^[a-z0-9_:]+__[a-z0-9_]+(\.[a-z0-9_]+)*$"
_NOT_AVAILABLE: Final = ("", "n/a", "nan", "-nan", "inf", "-inf", "no data", "none")
_EUROPEAN: Final = r"^-?0,\d+$|^-?\d{4,},\d+$|^-?\d{1,3}(\.\d{3}){2,}$|^-?\d{1,3}(\.\d{3})+,\d+$|,\d{1,2}$|,\d{4,}$"
_C: Final = r"^-?0\.\d+$|^-?\d{4,}\.\d+$|^-?\d{1,3}(,\d{3}){2,}|,\d{3}\.\d+$|\.\d{1,2}$|\.\d{4,}$"
_AMBIGUOUS: Final = r"^-?[1-9]\d{0,2}\.\d{3}$"
_CELLS: Final = ("launch", "line", "section", "printed", "text", "unit", "metric", "value", "has", "rounding", "divide")
_LEADING_NUMBER: Final = re.compile(r"^\s*(-?[\d.,]+(?:[eE][-+]?\d+)?)\s*\(.*\)\s*$", re.DOTALL)


@dataclass(frozen=True)
class Counters:
    """One column per metric (with rollup) over the launches, SI base units, NaN where nothing was printed.

    ``values``: metric -> float64 array of shape (launches,). ``rounding``: half the printed step of each
    value in the same unit (0 where the printed number is exact). ``texts``: metric -> printed texts of
    metrics that are not numbers (device name). ``cells``: the printed cell behind each value. Duplicates
    that disagree by more than their rounding and values that were printed as not available or as no number
    are kept as frames for the checks.
    """

    launches: Columns
    values: Mapping[str, FloatArray]
    rounding: Mapping[str, FloatArray]
    texts: Mapping[str, tuple[str | None, ...]]
    cells: pl.DataFrame
    conflicts: pl.DataFrame
    not_available: pl.DataFrame
    not_numbers: pl.DataFrame
    negative: pl.DataFrame
    locale: str

    def __len__(self) -> int:
        return len(self.launches["line"])


def normalise(
    report: RawReport,
    labels: Labels,
    *,
    used: AbstractSet[str],
    texts: AbstractSet[str] = frozenset(),
    locale: str = "auto",
) -> Counters:
    """Bring the used metrics of a report to base units.

    Args:
        report: the printed cells.
        labels: the translation of labels and derived metrics.
        used: metrics (with rollup) to keep; cells of other metrics are ignored, whatever their unit.
        texts: metrics whose value is a text.
        locale: number format, one of ``LOCALES``.

    Raises:
        UnitError: if a used metric has an unknown unit, or a duration or percentage one of another kind.
        InputError: if every number of the report could be of either number format.

    """
    cells = _translate(report.cells, labels, used | texts)
    is_text = pl.col("metric").is_in(list(texts))
    named = cells.filter(is_text)
    cells = cells.filter(~is_text)
    chosen = _number_locale(report.path, cells["text"], locale)
    cells = _numbers(cells, chosen)
    missing = cells.filter(pl.col("value").is_null() & pl.col("is_missing"))
    not_numbers = cells.filter(pl.col("value").is_null() & ~pl.col("is_missing"))
    # Everything that is used counts something: below zero it was not measured.
    negative = cells.filter(pl.col("value") < 0)
    cells = _base_units(report.path, cells.filter(pl.col("value") >= 0))
    values, conflicts = _columns(cells, "value", len(report)), cells.clear()
    if sum(np.count_nonzero(~np.isnan(column)) for column in values.values()) < cells.height:
        # Two cells of one launch and metric fell on one place.
        cells, conflicts = _deduplicate(cells)
        values = _columns(cells, "value", len(report))
    return Counters(
        launches=report.launches,
        values=values,
        rounding=_columns(cells, "rounding", len(report)),
        texts={
            str(metric): _texts(part, len(report))
            for (metric,), part in named.partition_by("metric", as_dict=True).items()
        },
        cells=cells.select(_CELLS),
        conflicts=conflicts,
        not_available=pl.concat([missing.select("launch", "metric"), _other_not_available(report.cells, used | texts)]),
        not_numbers=not_numbers,
        negative=negative,
        locale=chosen,
    )


def _translate(cells: pl.DataFrame, labels: Labels, used: AbstractSet[str]) -> pl.DataFrame:
    """Cells of used metrics with the metric's own name, the expected dimension and the divisor."""
    printed = cells.select("section", "metric").unique(maintain_order=True)
    rows = [
        (section, name, metric, target.dimension, target.divide)
        for section, name in printed.iter_rows()
        if (target := _target(labels, section, name)) is not None
        for metric in target.metrics
        if metric in used
    ]
    names = pl.DataFrame(
        rows,
        schema={
            "section": pl.String,
            "metric": pl.String,
            "name": pl.String,
            "dimension": pl.String,
            "divide": pl.Int64,
        },
        orient="row",
    )
    joined = cells.join(names, on=["section", "metric"], how="inner", maintain_order="left")
    return joined.rename({"metric": "printed", "name": "metric"})


def _target(labels: Labels, section: str, name: str) -> Target | None:
    if name in labels.derived:
        return labels.derived[name]
    if re.match(_METRIC_NAME, name):
        return Target((name,), None, 1)
    return labels.by_section.get((section, name))


def _number_locale(path: str, texts: pl.Series, locale: str) -> str:
    """The number format of a file, from cells that can only be read one way."""
    if locale not in LOCALES:
        raise UsageError("locale", locale, f"choose one of {', '.join(LOCALES)}")
    marked = texts.filter(texts.str.contains("[.,]")).unique(maintain_order=True)
    european = marked.filter(marked.str.contains(_EUROPEAN))
    c = marked.filter(marked.str.contains(_C))
    against = {"c": european, "european": c, "auto": european.clear()}[locale]
    if len(against):
        raise InputError(
            path, f"--locale {locale} contradicts the file: {against[0]!r} can only be read in the other number format"
        )
    if locale != "auto":
        return locale
    if len(european) and len(c):
        raise InputError(
            path,
            f"the numbers are of two formats: {c[0]!r} has a decimal point, {european[0]!r} a decimal comma",
            "Say which one holds with --locale c or --locale european.",
        )
    if len(european):
        return "european"
    ambiguous = marked.filter(marked.str.contains(_AMBIGUOUS))
    if len(c) == 0 and len(ambiguous):
        raise InputError(
            path,
            f"the number format is ambiguous: {ambiguous[0]!r} may be a decimal fraction or thousands",
            "Say which one holds with --locale c or --locale european.",
        )
    return "c"


def _numbers(cells: pl.DataFrame, locale: str) -> pl.DataFrame:
    """Add ``value`` (null when not a finite number), ``decimals`` and ``is_missing`` (printed as absent)."""
    group, point = (",", ".") if locale == "c" else (".", ",")
    text = pl.col("text").str.strip_chars().str.strip_prefix("(!)").str.strip_chars()
    plain = text.str.replace_all(group, "", literal=True).str.replace(point, ".", literal=True)
    table = cells.with_columns(plain.alias("plain")).with_columns(
        pl.col("plain").cast(pl.Float64, strict=False).alias("value")
    )
    without = table.filter(~pl.col("value").is_finite().fill_null(value=False))["plain"].unique().to_list()
    missing = [text for text in without if text.lower() in _NOT_AVAILABLE]
    table = table.with_columns(pl.col("plain").is_in(missing).alias("is_missing"))
    odd = table.filter(pl.col("value").is_null() & ~pl.col("is_missing"))["text"].unique().to_list()
    # A value with its instances behind it, as `--print-metric-instances` prints: 12 (3; 4; 5).
    leading = {text: match[1] for text in odd if (match := _LEADING_NUMBER.match(text))}
    if leading:
        return _numbers(cells.with_columns(pl.col("text").replace(leading)), locale)
    fraction = pl.col("plain").str.len_bytes() - pl.col("plain").str.find(".", literal=True) - 1
    return table.with_columns(
        pl.when(pl.col("value").is_finite()).then("value").alias("value"),
        fraction.fill_null(0).cast(pl.Int32).alias("decimals"),
    )


def _other_not_available(cells: pl.DataFrame, used: AbstractSet[str]) -> pl.DataFrame:
    """Launch and name of metrics that no map uses and that ncu printed as not available: maybe misspelt."""
    few = cells.filter(pl.col("text").is_in(["n/a", "(!) n/a", "(!) nan"]))
    other = pl.col("metric").str.contains(_METRIC_NAME) & ~pl.col("metric").is_in(list(used))
    return few.filter(other).select("launch", "metric")


def _base_units(path: str, cells: pl.DataFrame) -> pl.DataFrame:
    """Convert ``value`` to base units and add ``rounding``; rows of another dimension are left out."""
    units = {text: find_unit(text) for text in cells["unit"].unique().to_list()}
    known = {text: unit for text, unit in units.items() if unit is not None}
    table = cells.with_columns(
        pl.col("unit").replace_strict({t: u.times for t, u in known.items()}, default=None).alias("times"),
        pl.col("unit").replace_strict({t: u.divided_by for t, u in known.items()}, default=None).alias("per"),
        pl.col("unit")
        .replace_strict({t: u.dimension for t, u in known.items()}, default=None, return_dtype=pl.String)
        .alias("has"),
    )
    right = pl.col("dimension").is_null() | (pl.col("dimension") == pl.col("has"))
    if len(known) < len(units):
        _refuse(path, table.filter(pl.col("times").is_null()), "the unit is unknown")
    table = table.filter(right)
    _refuse_impossible(path, table)
    scale = pl.col("times") / (pl.col("per") * pl.col("divide"))
    # ncu prints two decimals and drops zeros: a whole number is exact only where nothing was scaled.
    whole_count = (pl.col("decimals") == 0) & (scale == 1.0)
    step = pl.lit(10.0).pow(-pl.max_horizontal(pl.col("decimals"), pl.lit(2)))
    exact = whole_count & pl.col("has").str.contains(f"^({COUNT}|byte|{TIME})$")
    return table.with_columns(
        (pl.col("value") * pl.col("times") / (pl.col("per") * pl.col("divide"))).alias("value"),
        pl.when(exact).then(0.0).otherwise(0.5 * step * scale).alias("rounding"),
    )


def _refuse_impossible(path: str, cells: pl.DataFrame) -> None:
    """Refuse a metric in a unit that it cannot have; looked at once per metric and dimension."""
    name, has = pl.col("metric"), pl.col("has")
    is_time = name.str.starts_with("gpu__time_duration")
    is_share = name.str.contains(".pct", literal=True)
    is_rate = name.str.ends_with(".per_second")
    neither = (~is_time & (has == TIME)) | (~is_share & (has == RATIO))
    kinds = cells.select("metric", "has").unique()
    for impossible, problem in (
        (is_time & (has != TIME), "a duration needs a unit of time"),
        (is_share & (has != RATIO), "a percentage is printed with %"),
        (is_rate & ~has.str.ends_with("/s"), "a rate needs a unit per second"),
        (neither, "a counter is printed with neither a time nor a percentage"),
    ):
        bad = kinds.filter(impossible)
        if bad.height:
            _refuse(path, cells.join(bad, on=["metric", "has"], how="semi", maintain_order="left"), problem)


def _refuse(path: str, cells: pl.DataFrame, problem: str) -> None:
    if cells.height:
        row = cells.row(0, named=True)
        raise UnitError(path, row["line"], row["metric"], row["text"], row["unit"], problem)


def _deduplicate(cells: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The finest printed value of each launch and metric, and the cells that contradict it."""
    key = ["launch", "metric"]
    ordered = cells.sort("rounding", maintain_order=True)
    finest = ordered.unique(key, keep="first", maintain_order=True)
    both = cells.join(finest.select(*key, value_used="value", rounding_used="rounding", line_used="line"), on=key)
    apart = (pl.col("value") - pl.col("value_used")).abs()
    tolerance = pl.col("rounding") + pl.col("rounding_used") + pl.col("value_used").abs() * 1e-9
    return finest, both.filter(apart > tolerance)


def _columns(cells: pl.DataFrame, column: str, launches: int) -> dict[str, FloatArray]:
    """Scatter cells into one array of shape (launches,) per metric."""
    if not cells.height:
        return {}
    names = cells["metric"].unique(maintain_order=True)
    codes = cells["metric"].replace_strict({name: code for code, name in enumerate(names)}, return_dtype=pl.Int32)
    matrix = np.full((len(names), launches), np.nan)
    matrix[codes.to_numpy(), cells["launch"].to_numpy()] = cells[column].to_numpy()
    return dict(zip(names.to_list(), matrix, strict=True))


def _texts(cells: pl.DataFrame, launches: int) -> tuple[str | None, ...]:
    found: list[str | None] = [None] * launches
    for launch, text in cells.select("launch", "text").iter_rows():
        found[launch] = text.strip() or None
    return tuple(found)
