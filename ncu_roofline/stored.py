"""From the stored values of a binary report to counters: columns, without a detour over printed text.

A binary report has no units. Its numbers are in ncu's base units, which the name of a metric tells: durations are
nanoseconds and percentages hundredths, everything else is a plain number. A test holds every number against NVIDIA's
own reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.arrays import FloatArray
from ncu_roofline.histogram import opcode_counters
from ncu_roofline.labels import Labels
from ncu_roofline.normalise import (
    CELLS,
    DURATION,
    KINDS,
    Counters,
    described,
    find_targets,
    is_measurable,
    stored_cells,
    with_others,
)
from ncu_roofline.readers import RawReport, Stored
from ncu_roofline.units import BYTE, UNITS, Unit

_TIMES: Final = (DURATION, "gpu__time_active")
_RATES: Final = {".per_second": "s", ".per_cycle_elapsed": "cycle", ".per_cycle_active": "cycle"}


def from_stored(
    report: RawReport, stored: Stored, labels: Labels, *, used: AbstractSet[str], texts: AbstractSet[str] = frozenset()
) -> Counters:
    """Bring the used metrics of a binary report to base units.

    Args:
        report: the report.
        stored: its values.
        labels: the translation of derived metrics.
        used: metrics (with rollup) to keep.
        texts: metrics whose value is a text.

    """
    kinds = _kinds(stored.values, labels, used)
    values: dict[str, FloatArray] = {}
    negative = []
    for kind in kinds.iter_rows(named=True):
        column = stored.values[kind["printed"]]
        # Everything that is used counts something: below zero it was not measured.
        is_negative = column < 0
        if is_negative.any():
            negative.append(stored_cells(kind["kind"], column, np.flatnonzero(is_negative)))
        known = np.where(is_measurable(column) & ~is_negative, column, np.nan)
        # A metric under its own name comes before the same one derived from another.
        if kind["metric"] not in values or kind["printed"] == kind["metric"]:
            values[kind["metric"]] = known * kind["times"] / (kind["per"] * kind["divide"])
    _forget_zeros(values)
    values |= opcode_counters(stored.opcodes, used)
    exact = np.zeros(len(report))
    none = pl.DataFrame(schema=CELLS)
    return Counters(
        launches=report.launches,
        values={name: column for name, column in values.items() if not np.isnan(column).all()},
        rounding=dict.fromkeys(values, exact),
        texts={name: tuple(column.tolist()) for name, column in stored.texts.items() if name in texts},
        cells=none,
        kinds=kinds,
        conflicts=described(none, kinds),
        not_available=pl.DataFrame(schema={"launch": pl.Int32(), "metric": pl.String()}),
        not_numbers=with_others(described(none, kinds), {}),
        negative=described(pl.concat([none, *negative]), kinds),
        bad_units=with_others(described(none, kinds), {}),
        locale="c",
        has_units=True,
        stored=stored.values,
        opcodes=stored.opcodes,
    )


def _forget_zeros(values: dict[str, FloatArray]) -> None:
    """Make zeros unknown in launches that were not measured: others have a duration, they have none, nor any count.

    ncu stores 0 for some counters of such a launch and no number for the others.
    """
    times = [column for name, column in values.items() if name.startswith(DURATION)]
    counts = {name: column for name, column in values.items() if "." in name and ".peak_sustained" not in name}
    if not times:
        return
    has_count = np.any([column > 0 for column in counts.values()], axis=0)
    not_measured = np.isnan(times).all(axis=0) & ~has_count
    for name, column in counts.items() if not_measured.any() else ():
        values[name] = np.where(not_measured, np.nan, column)


def _kinds(values: Mapping[str, FloatArray], labels: Labels, used: AbstractSet[str]) -> pl.DataFrame:
    """What every stored metric stands for (schema of the kinds of ``Counters``)."""
    rows = []
    codes: dict[str, int] = {}
    for number, name in enumerate(values):
        targets = find_targets(labels, "", name)
        if not targets:
            continue
        target = targets[0]
        spelling, unit = _unit(name)
        factors = (unit.dimension, unit.times, unit.divided_by, None)
        for metric in target.metrics:
            if metric in used:
                code = codes.setdefault(metric, len(codes))
                rows.append((number, "", name, spelling, metric, code, target.dimension, target.divide, *factors))
    return pl.DataFrame(rows, schema=KINDS, orient="row").with_row_index("kind")


def _unit(name: str) -> tuple[str, Unit]:
    """The base unit of a metric, from its name: its spelling, and what it is."""
    if name.startswith(_TIMES) and not name.endswith(".per_second"):
        return "ns", UNITS["ns"]
    if ".pct" in name:
        return "%", UNITS["%"]
    counted = BYTE if "bytes" in name else ""
    per = next((f"/{unit}" for ending, unit in _RATES.items() if name.endswith(ending)), "")
    spelling = f"{counted}{per}" if counted or not per else f"1{per}"
    return spelling, UNITS.get(spelling, UNITS[""])
