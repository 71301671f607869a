"""From printed cells to counters: label -> metric name, printed value and unit -> SI base units, per value.

This is the only border at which units are converted. It knows the number formats and the label file, not
what counters are for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.arrays import Columns, FloatArray
from ncu_roofline.errors import InputError, UnitError, UsageError
from ncu_roofline.histogram import describe, opcode_counters, read_histograms
from ncu_roofline.labels import Labels, Target
from ncu_roofline.readers import HISTOGRAM, RawReport
from ncu_roofline.units import BYTE, COUNT, RATIO, TIME, find_unit
from ncu_roofline.vocabulary import OPCODE

LOCALES: Final = ("auto", "c", "european")
"""Number formats: ``c`` groups with commas and has a decimal point, ``european`` the other way round."""

_METRIC_NAME: Final = r"^[a-z0-9_:]+__[a-z0-9_]+(\.[a-z0-9_]+)*$"
_NOT_AVAILABLE: Final = ("", "n/a", "nan", "-nan", "inf", "-inf", "no data", "none")
_EUROPEAN: Final = (
    r"^-?0,[0-9]+$|^-?[0-9]{4,},[0-9]+$|^-?[0-9]{1,3}(\.[0-9]{3}){2,}$|^-?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+$"
    r"|,[0-9]{1,2}$|,[0-9]{4,}$"
)
_C: Final = (
    r"^-?0\.[0-9]+$|^-?[0-9]{4,}\.[0-9]+$|^-?[0-9]{1,3}(,[0-9]{3}){2,}|,[0-9]{3}\.[0-9]+$"
    r"|\.[0-9]{1,2}$|\.[0-9]{4,}$"
)
_AMBIGUOUS: Final = r"^-?[1-9][0-9]{0,2}\.[0-9]{3}$"
_DECIMALS: Final = 2
"""Decimals that ncu prints, without zeros at the end."""

DURATION: Final = "gpu__time_duration"
_BASE_TIME: Final = "ns"

_PRINTED: Final = ("section", "metric", "unit")
_SEPARATORS: Final = {"c": (",", "."), "european": (".", ",")}
_INSTANCES: Final = r"(?s)^(-?[0-9.,]+(?:[eE][-+]?[0-9]+)?)\s*\(.*\)$"
KINDS: Final = {
    "printed_as": pl.UInt32,
    "section": pl.String,
    "printed": pl.String,
    "unit": pl.String,
    "metric": pl.String,
    "code": pl.Int32,
    "dimension": pl.String,
    "divide": pl.Int64,
    "has": pl.String,
    "times": pl.Float64,
    "per": pl.Float64,
}
"""Columns of ``Counters.kinds``, behind the number of the kind."""
CELLS: Final = {
    "launch": pl.Int32,
    "line": pl.Int64,
    "kind": pl.UInt32,
    "text": pl.String,
    "value": pl.Float64,
    "rounding": pl.Float64,
}
"""Columns of ``Counters.cells``; ``line`` is 0 where there are none."""


@dataclass(frozen=True)
class Counters:
    """One column per metric (with rollup) over the launches, SI base units, NaN where nothing was printed.

    ``values``: metric -> float64 array of shape (launches,). ``rounding``: half the printed step of each
    value in the same unit (0 where the printed number is exact). ``texts``: metric -> printed texts of
    metrics that are not numbers (device name). ``cells``: the printed cell behind each value, and ``kinds``:
    what cells of one section, name and unit stand for. Duplicates that disagree by more than their rounding
    and values that were printed as not available or as no number are kept as frames for the checks.
    """

    launches: Columns
    values: Mapping[str, FloatArray]
    rounding: Mapping[str, FloatArray]
    texts: Mapping[str, tuple[str | None, ...]]
    cells: pl.DataFrame
    kinds: pl.DataFrame
    conflicts: pl.DataFrame
    not_available: pl.DataFrame
    not_numbers: pl.DataFrame
    negative: pl.DataFrame
    locale: str
    has_units: bool
    """Whether any unit was printed; without one, numbers are taken as base units."""
    stored: Mapping[str, FloatArray] | None = None
    """The values of a binary report as stored; its cells are made when somebody asks."""
    opcodes: Mapping[str, FloatArray] = field(default_factory=dict)
    """The opcode histograms: executed warp instructions by opcode, NaN where there is no histogram."""
    captures: tuple[Counters, ...] = ()
    """Those of which this was put together, each value being that of the first which has it."""

    def __len__(self) -> int:
        return len(self.launches["line"])

    def printed(self, launch: int, metrics: Collection[str]) -> pl.DataFrame:
        """The cells behind some metrics of a launch, with what was printed and what it stands for.

        ``capture`` is the number of the capture that a cell is from.
        """
        if self.captures:
            return self._of_captures(launch, metrics)
        mine = self.cells.filter(pl.col("launch") == launch)
        if self.stored is not None:
            wanted = self.kinds.filter(pl.col("metric").is_in(list(metrics)))
            found = [
                stored_cells(kind["kind"], self.stored[kind["printed"]], np.array([launch]))
                .with_columns(value=pl.col("value") * kind["times"] / (kind["per"] * kind["divide"]))
                for kind in wanted.iter_rows(named=True)
            ]  # fmt: skip
            mine = pl.concat([mine, *found]).filter(pl.col("value").is_not_nan())
        printed = described(mine, self.kinds).filter(pl.col("metric").is_in(list(metrics)))
        opcodes = [self._opcode_cell(launch, name) for name in metrics if name.startswith(OPCODE)]
        both = pl.concat([printed, *(cell for cell in opcodes if cell is not None)], how="diagonal")
        return both.with_columns(pl.lit(0).alias("capture"))

    def _of_captures(self, launch: int, metrics: Collection[str]) -> pl.DataFrame:
        parts = []
        wanted = set(metrics)
        for number, capture in enumerate(self.captures):
            found = capture.printed(launch, wanted)
            wanted -= set(found["metric"])
            parts.append(found.with_columns(pl.lit(number).alias("capture")))
        return pl.concat(parts, how="diagonal_relaxed")

    def _opcode_cell(self, launch: int, counter: str) -> pl.DataFrame | None:
        """The entries of a launch's histogram behind a counter, as a cell."""
        column = self.values.get(counter)
        if column is None or np.isnan(column[launch]):
            return None
        return pl.DataFrame(
            {
                "line": [int(self.launches["line"][launch])], "section": [""], "printed": [HISTOGRAM],
                "text": [describe(self.opcodes, counter, launch)], "unit": ["inst"], "metric": [counter],
                "value": [float(column[launch])], "has": [COUNT], "rounding": [0.0], "divide": [1],
            }
        )  # fmt: skip


def stored_cells(kind: int, column: FloatArray, launches: npt.NDArray[np.intp]) -> pl.DataFrame:
    """Values of a binary report as cells (schema ``CELLS``), with the text that has all their digits."""
    values = column[launches].tolist()
    texts = [str(int(value)) if value.is_integer() else repr(value) for value in values]
    columns = {"launch": launches, "line": [0] * len(values), "kind": [kind] * len(values)}
    return pl.DataFrame(columns | {"text": texts, "value": values, "rounding": [0.0] * len(values)}, schema=CELLS)


def described(cells: pl.DataFrame, kinds: pl.DataFrame) -> pl.DataFrame:
    """Cells with the columns of their kind."""
    return cells.join(kinds, on="kind", how="left", maintain_order="left")


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
    cells, kinds = _by_kind(report.cells, labels, frozenset(used | texts))
    is_text = pl.col("kind").is_in(kinds.filter(pl.col("metric").is_in(list(texts)))["kind"].implode())
    named = described(cells.filter(is_text), kinds)
    cells = cells.filter(~is_text)
    distinct = cells["text"].unique(maintain_order=True)
    chosen = _number_locale(report.path, distinct.to_frame().select(_number(pl.first())).to_series(), locale)
    cells = cells.join(_numbers(distinct, chosen), on="text", how="left", maintain_order="left")
    none = cells.filter(pl.col("value").is_null())
    missing, not_numbers = none.filter("is_missing"), none.filter(~pl.col("is_missing"))
    # Everything that is used counts something: below zero it was not measured.
    negative = cells.filter(pl.col("value") < 0)
    cells = _base_units(report.path, cells.filter(pl.col("value") >= 0), kinds)
    values, conflicts = _columns(cells, "value", kinds, len(report)), cells.clear()
    if sum(np.count_nonzero(~np.isnan(column)) for column in values.values()) < cells.height:
        # Two cells of one launch and metric fell on one place.
        cells, conflicts = _deduplicate(cells)
        values = _columns(cells, "value", kinds, len(report))
    missing = described(missing, kinds).select("launch", "metric")
    opcodes = read_histograms(report.cells, len(report), _SEPARATORS[chosen][0])
    counted = opcode_counters(opcodes, used)
    exact = np.zeros(len(report))
    return Counters(
        launches=report.launches,
        values=values | counted,
        rounding=_columns(cells, "rounding", kinds, len(report)) | dict.fromkeys(counted, exact),
        texts={
            str(metric): _texts(part, len(report))
            for (metric,), part in named.partition_by("metric", as_dict=True).items()
        },
        cells=cells.select("launch", "line", "kind", "text", "value", "rounding"),
        kinds=kinds,
        conflicts=described(conflicts, kinds),
        not_available=pl.concat([missing, _other_not_available(report.cells, used | texts)]),
        not_numbers=described(not_numbers, kinds),
        negative=described(negative, kinds),
        locale=chosen,
        has_units=bool((kinds["unit"] != "").any()) or DURATION not in kinds["printed"],
        opcodes=opcodes,
    )


def _by_kind(cells: pl.DataFrame, labels: Labels, used: frozenset[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells of used metrics with the number of their kind, and the kinds.

    A kind is what cells of one section, printed name and unit stand for: the metric and its number (``code``), the
    dimension that the name asks for and that of the unit, and the factors to base units (null: unknown unit).
    """
    key = _printed_key(cells)
    printed = cells.select(key, *_PRINTED).unique("key", maintain_order=True).with_row_index("printed_as")
    names = printed.select("printed_as", pl.col(_PRINTED).cast(pl.String))
    wanted = [
        (number, section, name, unit, target)
        for number, section, name, unit in names.iter_rows()
        if (target := find_target(labels, section, name)) is not None and used.intersection(target.metrics)
    ]
    # Reports of 2019, whose duration has no rollup, state no unit at all; the base unit of time is the nanosecond.
    unit_of_time = "" if any(unit for _, _, _, unit, _ in wanted) else _BASE_TIME
    codes: dict[str, int] = {}
    rows = []
    for number, section, name, unit, target in wanted:
        known = find_unit(unit_of_time if unit == "" and name == DURATION else unit)
        factors = (known.dimension, known.times, known.divided_by) if known else (None, None, None)
        for metric in filter(used.__contains__, target.metrics):
            code = codes.setdefault(metric, len(codes))
            rows.append((number, section, name, unit, metric, code, target.dimension, target.divide, *factors))
    kinds = pl.DataFrame(rows, schema=KINDS, orient="row").with_row_index("kind")
    keys = printed.select("key", "printed_as").join(
        kinds.select("printed_as", "kind"), on="printed_as", how="inner", maintain_order="left"
    )
    joined = cells.select("launch", "line", "text", key).join(keys, on="key", how="inner", maintain_order="left")
    return joined.select("launch", "line", "kind", "text"), kinds


def _printed_key(cells: pl.DataFrame) -> pl.Series:
    """One number for each section, name and unit: a join on it takes half the time of one on the three."""
    key = pl.Series("key", np.zeros(cells.height, np.uint64))
    for name in _PRINTED if cells.height else ():
        codes = cells[name].to_physical()
        key = key * (int(codes.to_numpy().max()) + 1) + codes
    return key


def find_target(labels: Labels, section: str, name: str) -> Target | None:
    """What a printed or stored name stands for; None: nothing that is known."""
    if name in labels.derived:
        return labels.derived[name]
    if re.match(_METRIC_NAME, name):
        return Target((name,), None, 1)
    return labels.by_section.get((section, name))


def _number_locale(path: str, texts: pl.Series, locale: str) -> str:
    """The number format of a file, from those of its distinct texts that can only be read one way."""
    if locale not in LOCALES:
        raise UsageError("locale", locale, f"choose one of {', '.join(LOCALES)}")
    marked = texts.filter(texts.str.contains("[.,]"))
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


def _number(text: pl.Expr) -> pl.Expr:
    """The number of a text, without the mark of a doubtful one and without instances, as in ``12 (3; 4; 5)``."""
    return text.str.strip_chars().str.strip_prefix("(!)").str.strip_chars().str.replace(_INSTANCES, "${1}")


def _numbers(texts: pl.Series, locale: str) -> pl.DataFrame:
    """Texts with ``value`` (null: no finite number), ``step``, ``is_whole`` and ``is_missing`` (printed as absent)."""
    group, point = _SEPARATORS[locale]
    plain = _number(pl.col("text")).str.replace_all(group, "", literal=True).str.replace(point, ".", literal=True)
    table = texts.to_frame("text").with_columns(plain.alias("plain"))
    table = table.with_columns(pl.col("plain").cast(pl.Float64, strict=False).alias("value"))
    places = pl.col("plain").str.extract(r"\.([0-9]+)").str.len_bytes().fill_null(0).cast(pl.Int32)
    exponent = pl.col("plain").str.extract(r"[eE]([+-]?[0-9]{1,3})$").cast(pl.Int32, strict=False)
    # ncu prints two decimals and drops zeros; a number with an exponent has the digits that it shows.
    last = pl.when(exponent.is_null()).then(-pl.max_horizontal(places, pl.lit(_DECIMALS))).otherwise(exponent - places)
    return table.select(
        "text",
        pl.when(pl.col("value").is_finite()).then("value").alias("value"),
        pl.lit(10.0).pow(last).alias("step"),
        ((places == 0) & exponent.is_null()).alias("is_whole"),
        pl.col("plain").str.to_lowercase().is_in(_NOT_AVAILABLE).alias("is_missing"),
    )


def _other_not_available(cells: pl.DataFrame, used: AbstractSet[str]) -> pl.DataFrame:
    """Launch and name of metrics that no map uses and that ncu printed as not available: maybe misspelt."""
    few = cells.filter(pl.col("text").is_in(["n/a", "(!) n/a", "(!) nan"]))
    few = few.select("launch", pl.col("metric").cast(pl.String))
    is_used = [name in used for name in few["metric"]]
    return few.filter(pl.col("metric").str.contains(_METRIC_NAME) & ~pl.Series(is_used, dtype=pl.Boolean))


def _base_units(path: str, cells: pl.DataFrame, kinds: pl.DataFrame) -> pl.DataFrame:
    """Convert ``value`` to base units and add ``rounding``; cells of another dimension are left out."""
    present = kinds.filter(pl.col("kind").is_in(cells["kind"].unique().implode()))
    _refuse(path, cells, present.filter(pl.col("times").is_null()), "the unit is unknown")
    other = present.filter(pl.col("dimension") != pl.col("has"))
    if other.height:
        cells = cells.filter(~pl.col("kind").is_in(other["kind"].implode()))
    _refuse_impossible(path, cells, present.join(other, on="kind", how="anti", maintain_order="left"))
    kind = cells["kind"]
    times, divisor = kinds["times"].gather(kind), (kinds["per"] * kinds["divide"]).gather(kind)
    scale = times / divisor
    # A whole number is exact only where nothing was scaled.
    may_be_exact = kinds["has"].is_in([COUNT, BYTE, TIME]).gather(kind)
    exact = may_be_exact & cells["is_whole"] & (scale == 1.0)
    half_step = 0.5 * cells["step"] * scale
    return cells.with_columns(
        (cells["value"] * times / divisor).alias("value"),
        half_step.zip_with(~exact, half_step * 0.0).alias("rounding"),
        kinds["code"].gather(kind).alias("code"),
    )


def _refuse_impossible(path: str, cells: pl.DataFrame, kinds: pl.DataFrame) -> None:
    """Refuse a metric in a unit that it cannot have."""
    name, has = pl.col("metric"), pl.col("has")
    is_time = name.str.contains("^gpu__time_(duration|active)")
    is_share = name.str.contains(".pct", literal=True)
    # ncu states the unit of the count for rates of NVLink and of derived metrics, and none for tensor operations.
    is_rate = name.str.ends_with(".per_second") & ~name.str.contains("^(nvl[rt]x|derived)__") & (has != COUNT)
    neither = (~is_time & (has == TIME)) | (~is_share & (has == RATIO))
    for impossible, problem in (
        (is_time & (has != TIME), "a duration needs a unit of time"),
        (is_share & (has != RATIO), "a percentage is printed with %"),
        (is_rate & ~has.str.ends_with("/s"), "a rate needs a unit per second"),
        (neither, "a counter is printed with neither a time nor a percentage"),
    ):
        _refuse(path, cells, kinds.filter(impossible), problem)


def _refuse(path: str, cells: pl.DataFrame, kinds: pl.DataFrame, problem: str) -> None:
    if kinds.height:
        first = cells.filter(pl.col("kind").is_in(kinds["kind"].implode())).head(1)
        row = described(first, kinds).row(0, named=True)
        raise UnitError(path, row["line"], row["metric"], row["text"], row["unit"], problem)


def _deduplicate(cells: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The finest printed value of each launch and metric, and the cells that contradict it."""
    key = ["launch", "code"]
    ordered = cells.sort("rounding", maintain_order=True)
    finest = ordered.unique(key, keep="first", maintain_order=True)
    both = cells.join(finest.select(*key, value_used="value", rounding_used="rounding", line_used="line"), on=key)
    apart = (pl.col("value") - pl.col("value_used")).abs()
    tolerance = pl.col("rounding") + pl.col("rounding_used") + pl.col("value_used").abs() * 1e-9
    return finest, both.filter(apart > tolerance)


def _columns(cells: pl.DataFrame, column: str, kinds: pl.DataFrame, launches: int) -> dict[str, FloatArray]:
    """Scatter cells into one array of shape (launches,) per metric."""
    matrix = np.full((kinds["code"].n_unique(), launches), np.nan)
    matrix[cells["code"].to_numpy(), cells["launch"].to_numpy()] = cells[column].to_numpy()
    names = dict(kinds.select("code", "metric").iter_rows())
    return {names[code]: matrix[code] for code in cells["code"].unique(maintain_order=True)}


def _texts(cells: pl.DataFrame, launches: int) -> tuple[str | None, ...]:
    found: list[str | None] = [None] * launches
    for launch, text in cells.select("launch", "text").iter_rows():
        found[launch] = text.strip() or None
    return tuple(found)
