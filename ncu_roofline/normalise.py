"""From printed cells to counters: label -> metric name, printed value and unit -> SI base units, per value.

This is the only border at which units are converted. It knows the number formats and the label file, not
what counters are for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.arrays import BoolArray, Columns, FloatArray, combined, unknown
from ncu_roofline.dimensions import is_scaled, unit_of
from ncu_roofline.histogram import describe, opcode_counters, read_histograms
from ncu_roofline.labels import Labels, Target
from ncu_roofline.number_format import SEPARATORS, number_format, numbers, without_marks
from ncu_roofline.readers import HISTOGRAM, NOT_AVAILABLE, RawReport
from ncu_roofline.units import BYTE, COUNT, TIME, Unit, find_unit
from ncu_roofline.vocabulary import OPCODE

_METRIC_NAME: Final = r"^[a-z0-9_:]+__[a-z0-9_]+(\.[a-z0-9_]+)*$"
MEASURABLE: Final = (1e-30, 1e30)
"""Limits of what a counter in base units can be: 64 bits count to 1.8e19, and no GPU does 1e30 of anything a second."""

DURATION: Final = "gpu__time_duration"

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
    "problem": pl.String,
}
"""Columns of ``Counters.kinds``, behind the number of the kind."""
CELLS: Final = pl.Schema(
    {
        "launch": pl.Int32(),
        "line": pl.Int64(),
        "kind": pl.UInt32(),
        "text": pl.Categorical(),
        "value": pl.Float64(),
        "rounding": pl.Float64(),
    }
)
"""Columns of ``Counters.cells``; ``line`` is 0 where there are none."""


@dataclass(frozen=True)
class Counters:
    """One column per metric (with rollup) over the launches, SI base units, NaN where nothing was printed.

    ``values``: metric -> float64 array of shape (launches,). ``rounding``: half the printed step of each
    value in the same unit (0 where the printed number is exact). ``texts``: metric -> printed texts of
    metrics that are not numbers (device name). ``cells``: the printed cell behind each value, and ``kinds``:
    what cells of one section, name and unit stand for. Duplicates that disagree by more than their rounding, values
    that were printed as not available or as no number, and values whose unit cannot be understood (``problem`` says
    why) are kept as frames for the checks: such a cell is not known, and nothing else is lost by it.
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
    bad_units: pl.DataFrame
    locale: str
    has_units: bool
    """Whether units were printed; without any that has a prefix, numbers are taken as base units."""
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
        printed = printed.with_columns(pl.col("text").cast(pl.String))
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
    """Cells with the columns of their kind, which is a row of the kinds."""
    return cells.hstack(kinds.select(pl.exclude(cells.columns))[cells["kind"]])


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
        locale: number format, one of ``number_format.LOCALES``.

    Raises:
        InputError: if every number of the report could be of either number format, or as many are of one as of the
            other.

    """
    cells, kinds = _by_kind(report, labels, frozenset(used | texts))
    named, cells = _apart(cells, _flags(metric in texts for metric in kinds["metric"]), "kind")
    cells, readings = _with_readings(cells)
    plain = readings.select(without_marks(pl.col("text"))).to_series()
    chosen, is_clear = number_format(report.path, plain, locale)
    readings = readings.hstack(numbers(plain, chosen, is_clear=is_clear))
    value = readings["value"].to_numpy()
    none, cells = _apart(cells, np.isnan(value), "reading")
    missing, not_numbers = _apart(none, readings["is_missing"].to_numpy(), "reading")
    zeros, cells = _false_zeros(missing, cells, readings, kinds)
    missing = pl.concat([missing, zeros])
    # Everything that is used counts something: below zero it was not measured.
    negative, cells = _apart(cells, value < 0, "reading")
    bad_units, cells = _apart(cells, _flags(problem is not None for problem in kinds["problem"]), "kind")
    beyond, cells = _base_units(cells, readings, kinds)
    not_numbers = pl.concat([not_numbers, beyond])
    values, rounding = _columns(cells, kinds, len(report))
    conflicts = cells.clear()
    if sum(np.count_nonzero(~np.isnan(column)) for column in values.values()) < cells.height:
        # Two cells of one launch and metric fell on one place.
        cells, conflicts = _deduplicate(cells)
        values, rounding = _columns(cells, kinds, len(report))
    histograms, _ = _apart(report.cells, (report.printed["metric"] == HISTOGRAM).to_numpy(), "printed_as")
    opcodes = read_histograms(histograms, len(report), SEPARATORS[chosen][0])
    counted = opcode_counters(opcodes, used)
    exact = np.zeros(len(report))
    return Counters(
        launches=report.launches,
        values=values | counted,
        rounding=rounding | dict.fromkeys(counted, exact),
        texts={
            str(metric): _texts(part, len(report))
            for (metric,), part in described(named, kinds).partition_by("metric", as_dict=True).items()
        },
        cells=cells.select("launch", "line", "kind", "text", "value", "rounding"),
        kinds=kinds,
        conflicts=described(conflicts, kinds),
        not_available=pl.concat(
            [described(missing, kinds).select("launch", "metric"), _other_not_available(report, used | texts)]
        ),
        not_numbers=with_others(described(not_numbers, kinds), values),
        negative=described(negative, kinds),
        bad_units=with_others(described(bad_units, kinds), values),
        locale=chosen,
        has_units=not any(map(_is_of_base, kinds.iter_rows(named=True))),
        opcodes=opcodes,
    )


def _by_kind(report: RawReport, labels: Labels, used: frozenset[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells of used metrics with the number of their kind, and the kinds.

    A kind is what cells of one section, printed name and unit stand for: the metric and its number (``code``), the
    dimension that the name asks for and that of the unit, and the factors to base units (null: the unit cannot be
    understood, and ``problem`` says why).
    """
    wanted = [
        (number, section, name, unit, targets)
        for number, (section, name, unit) in enumerate(report.printed.iter_rows())
        for targets in [find_targets(labels, section, name)]
        if any(used.intersection(target.metrics) for target in targets)
    ]
    # ncu prints no unit where it does not know one, and then it chooses no prefix either: reports of 2019, and those
    # of a chip that is newer than the ncu which exports them.
    units = {unit: find_unit(unit) for unit in report.printed["unit"].unique() if unit}
    are_base = not any(known is None or is_scaled(known) for known in units.values())
    codes: dict[str, int] = {}
    rows = []
    for number, section, name, unit, targets in wanted:
        target = _target_with(targets, unit)
        for metric in filter(used.__contains__, target.metrics):
            known, problem = unit_of(metric, name, target.dimension, unit, are_base=are_base)
            if len(targets) > 1 and unit == "":
                known, problem = None, "has no unit, and its label stands for several metrics"
            factors = (known.dimension, known.times, known.divided_by, None) if known else (None, None, None, problem)
            code = codes.setdefault(metric, len(codes))
            rows.append((number, section, name, unit, metric, code, target.dimension, target.divide, *factors))
    understood = {(section, name) for _, section, name, *_, problem in rows if problem is None}
    # A label that is understood with another unit is that of another metric as well.
    rows = [row for row in rows if row[-1] is None or row[6] is None or row[1:3] not in understood]
    kinds = pl.DataFrame(rows, schema=KINDS, orient="row").with_row_index("kind")
    cells, printed_as = report.cells, report.cells["printed_as"].to_numpy()
    # A cell has as many kinds as metrics that it stands for; those of one printed name follow each other.
    kinds_of = np.bincount(kinds["printed_as"].to_numpy(), minlength=report.printed.height)
    kind = (np.cumsum(kinds_of) - kinds_of)[printed_as]
    # A row without a name has no cells.
    if (kinds_of[(report.printed["metric"] != "").to_numpy()] != 1).any():
        times = kinds_of[printed_as]
        row = np.repeat(np.arange(len(times)), times)
        cells, kind = cells[row], kind[row] + np.arange(len(row)) - (np.cumsum(times) - times)[row]
    return cells.select("launch", "line", pl.Series("kind", kind, pl.UInt32), "text"), kinds


def is_measurable(values: FloatArray) -> BoolArray:
    """Whether numbers in base units are zero or of a size that a counter can have."""
    least, most = MEASURABLE
    size = np.abs(values)
    return np.asarray((size == 0) | ((size >= least) & (size <= most)))


def _target_with(targets: Sequence[Target], unit: str) -> Target:
    """The target whose dimension is that of a unit, else the first."""
    known = find_unit(unit)
    return next((target for target in targets if known and target.dimension == known.dimension), targets[0])


def _is_of_base(kind: Mapping[str, Any]) -> bool:
    """Whether a kind without a unit was taken as one in base units that could have had a prefix."""
    return kind["unit"] == "" and is_scaled(Unit(kind["has"] or COUNT, 1.0))


def _apart(cells: pl.DataFrame, hit: BoolArray, by: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells of some of the numbers of a column, and the others."""
    if hit.any() and (mine := hit[cells[by].to_numpy()]).any():
        return cells.filter(mine), cells.filter(~mine)
    return cells.clear(), cells


def _false_zeros(
    missing: pl.DataFrame, cells: pl.DataFrame, readings: pl.DataFrame, kinds: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells that are 0 in launches that were not measured, and the others.

    ncu prints ``nan`` for the counters of such a launch, its duration among them, but 0 where those of all other
    launches are 0.
    """
    is_time = _flags(metric.startswith(DURATION) for metric in kinds["metric"])
    is_nan = readings["text"].str.contains("nan").to_numpy() & is_time[readings["kind"].to_numpy()]
    not_measured = missing.filter(is_nan[missing["reading"].to_numpy()])["launch"].unique()
    if not len(not_measured):
        return cells.clear(), cells
    is_counter = _flags("." in metric for metric in kinds["metric"])
    is_zero = (readings["value"].to_numpy() == 0) & is_counter[readings["kind"].to_numpy()]
    mine = is_zero[cells["reading"].to_numpy()] & cells["launch"].is_in(not_measured.implode()).to_numpy()
    return cells.filter(mine), cells.filter(~mine)


def _flags(each: Iterable[bool]) -> BoolArray:
    """A column of flags, of the few rows of a small table."""
    return np.array(list(each), np.bool_)


def find_targets(labels: Labels, section: str, name: str) -> tuple[Target, ...]:
    """What a printed or stored name stands for, several metrics told apart by their unit; empty: nothing known."""
    if name in labels.derived:
        return (labels.derived[name],)
    if re.match(_METRIC_NAME, name):
        return (Target((name,), None, 1),)
    return labels.by_section.get((section, name), ())


def _with_readings(cells: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells with the number of their reading, and the readings: distinct kinds and texts, by first appearance."""
    reading, firsts = combined([cells["text"].to_physical().to_numpy(), cells["kind"].to_numpy()])
    readings = pl.DataFrame({"kind": cells["kind"][firsts], "text": cells["text"][firsts].cast(pl.String)})
    return cells.with_columns(reading=reading), readings


def _other_not_available(report: RawReport, used: AbstractSet[str]) -> pl.DataFrame:
    """Launch and name of metrics that no map uses and that ncu printed as not available: maybe misspelt."""
    names = report.printed["metric"]
    is_other = _flags(name not in used and bool(re.match(_METRIC_NAME, name)) for name in names)
    cells, _ = _apart(report.cells, is_other, "printed_as")
    few = cells.filter(pl.col("text").is_in(NOT_AVAILABLE))
    return few.select("launch", names.gather(few["printed_as"]).alias("metric"))


def _base_units(cells: pl.DataFrame, readings: pl.DataFrame, kinds: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells of a size that no counter has, and the others with ``value``, ``rounding`` in base units and ``code``."""
    kind = readings["kind"].to_numpy()
    times, divisor = kinds["times"].to_numpy(), (kinds["per"] * kinds["divide"]).to_numpy()
    scale = times / divisor
    # A whole number is exact only where nothing was scaled.
    may_be_exact = _flags(has in (COUNT, BYTE, TIME) for has in kinds["has"]) & (scale == 1.0)
    exact = may_be_exact[kind] & readings["is_whole"].to_numpy()
    with np.errstate(over="ignore"):  # What is infinite is not measurable.
        value = readings["value"].to_numpy() * times[kind] / divisor[kind]
        step = 0.5 * readings["step"].to_numpy() * scale[kind]
    rounding = np.where(exact, 0.0, step)
    beyond, cells = _apart(cells, ~(is_measurable(value) | np.isnan(value)), "reading")
    reading = cells["reading"].to_numpy()
    return beyond, cells.with_columns(
        value=value[reading], rounding=rounding[reading], code=kinds["code"].to_numpy()[kind][reading]
    )


def _deduplicate(cells: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The finest printed value of each launch and metric, and the cells that contradict it."""
    key = ["launch", "code"]
    ordered = cells.sort("rounding", maintain_order=True)
    finest = ordered.unique(key, keep="first", maintain_order=True)
    both = cells.join(finest.select(*key, value_used="value", rounding_used="rounding", line_used="line"), on=key)
    apart = (pl.col("value") - pl.col("value_used")).abs()
    tolerance = pl.col("rounding") + pl.col("rounding_used") + pl.col("value_used").abs() * 1e-9
    return finest, both.filter(apart > tolerance)


def _columns(
    cells: pl.DataFrame, kinds: pl.DataFrame, launches: int
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Scatter ``value`` and ``rounding`` of cells into one array of shape (launches,) each per metric that has any."""
    names = dict(kinds.select("code", "metric").iter_rows())
    code = cells["code"].to_numpy()
    present = np.flatnonzero(np.bincount(code)).tolist()
    place = code.astype(np.intp) * launches + cells["launch"].to_numpy()
    value, rounding = unknown(len(names) * launches), unknown(len(names) * launches)
    value[place], rounding[place] = cells["value"].to_numpy(), cells["rounding"].to_numpy()
    parts = {names[number]: slice(number * launches, (number + 1) * launches) for number in present}
    return {name: value[part] for name, part in parts.items()}, {name: rounding[part] for name, part in parts.items()}


def with_others(cells: pl.DataFrame, values: Mapping[str, FloatArray]) -> pl.DataFrame:
    """Cells that are not understood, with ``is_known``: whether another cell has the metric of their launch."""
    known = [
        metric in values and not np.isnan(values[metric][launch])
        for launch, metric in cells.select("launch", "metric").iter_rows()
    ]
    return cells.with_columns(is_known=pl.Series(known, dtype=pl.Boolean))


def _texts(cells: pl.DataFrame, launches: int) -> tuple[str | None, ...]:
    found: list[str | None] = [None] * launches
    for launch, text in cells.select("launch", "text").iter_rows():
        found[launch] = text.strip() or None
    return tuple(found)
