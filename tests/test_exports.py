"""The same report in every form that NVIDIA's own command line exports gives the same numbers.

``exports`` beside the corpus has the corpus's binary reports in 21 forms. Every printed number may be off by half its
last digit; how far that moves a quantity is worked out here by moving each printed number by it, one after the other.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from ncu_roofline.ceilings import Offers
from ncu_roofline.evaluate import evaluate
from ncu_roofline.model import model
from tests.support import CORPUS

EXPORTS = CORPUS.parent / "exports"
INDEX = EXPORTS / "INDEX.tsv"
ROWS = list(csv.DictReader(INDEX.read_text().splitlines(), delimiter="\t")) if INDEX.is_file() else []
OTHER_PAGES = {"session": "session page", "source-sass": "source page"}
READ = [row for row in ROWS if row["form"] not in OTHER_PAGES]
SUMMARIES = [row for row in READ if row["form"].startswith("summary")]
SINGLE = [row for row in READ if row not in SUMMARIES]
NAMES = {"details-mangled": "mangled", "details-function": "function"}

pytestmark = pytest.mark.skipif(not ROWS, reason="no exports beside the corpus")

ONE = 1e-9
"""Share by which two floating-point ways to one number may differ."""
CROSS = 1.1
"""What moving several numbers at once adds to the sum of moving one after the other."""


def ids(rows: list[dict[str, str]]) -> list[str]:
    return [row["file"] for row in rows]


@functools.cache
def binary(report: str) -> Analysis:
    return nr.analyze(CORPUS / report)


@functools.cache
def export(file: str) -> Analysis:
    return nr.analyze(EXPORTS / file)


def printed(name: str) -> bool:
    """Whether a column is a quantity of a launch that follows from its counters alone."""
    if name.startswith(("utilization.", "utilization_active.", "hit_rate.")) or name == "time":
        return True
    ends = (".count", ".rate", ".bytes", ".peak")
    return name.startswith(("work.", "traffic.")) and name.endswith(ends)


def moved(analysis: Analysis) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[np.float64]]]:
    """Columns of the launches, and by how much the rounding of what was printed may move each of them."""
    (counters,) = analysis.counters
    (metric_map,) = analysis.maps.values()
    size = len(counters)
    rounded = [name for name, half in counters.rounding.items() if (half > 0).any()]
    copies = 1 + 2 * len(rounded)
    values = {name: np.tile(column, copies) for name, column in counters.values.items()}
    halves = {name: np.tile(half, copies) for name, half in counters.rounding.items()}
    for number, name in enumerate(rounded):
        for step, sign in ((1, 1.0), (2, -1.0)):
            place = slice((2 * number + step) * size, (2 * number + step + 1) * size)
            values[name][place] = np.maximum(values[name][place] + sign * halves[name][place], 0.0)
    device = np.repeat(np.arange(copies), size)
    columns = model(evaluate(metric_map, values, size * copies, halves, device), metric_map, Offers())
    by_copy = {name: c.reshape(copies, size) for name, c in columns.items() if printed(name) and c.dtype.kind == "f"}
    reach = {
        name: CROSS * np.nansum(np.nanmax(np.abs(np.nan_to_num((c[1:] - c[0]).reshape(-1, 2, size))), axis=1), axis=0)
        if copies > 1
        else np.zeros(size)
        for name, c in by_copy.items()
    }
    return {name: c[0] for name, c in by_copy.items()}, reach


@pytest.mark.parametrize("row", SINGLE, ids=ids(SINGLE))
def test_launches_of_an_export_are_those_of_its_report(row: dict[str, str]) -> None:
    ours, theirs = export(row["file"]).columns, binary(row["report"]).columns
    assert ours["kernel"].tolist() == theirs[NAMES.get(row["form"], "kernel")].tolist()
    assert ours["grid"].tolist() == theirs["grid"].tolist()
    assert ours["block"].tolist() == theirs["block"].tolist()
    # A page that prints no name of the device says nothing; one that does says the whole of it.
    assert all(name in (None, whole) for name, whole in zip(ours["device"], theirs["device"], strict=True))
    if row["form"].startswith("raw"):
        assert ours["device"].tolist() == theirs["device"].tolist()


@pytest.mark.parametrize("row", SINGLE, ids=ids(SINGLE))
def test_printed_counters_are_the_stored_ones_within_half_a_digit(row: dict[str, str]) -> None:
    (ours,), (theirs,) = export(row["file"]).counters, binary(row["report"]).counters
    assert ours.values
    for name, column in ours.values.items():
        stored = theirs.values[name]
        apart = np.abs(column - stored)
        allowed = ours.rounding[name] + ONE * np.abs(stored)
        assert (np.isnan(column) | (apart <= allowed)).all(), name


@pytest.mark.parametrize("row", SINGLE, ids=ids(SINGLE))
def test_quantities_of_an_export_are_those_of_its_report(row: dict[str, str]) -> None:
    analysis, stored = export(row["file"]), binary(row["report"]).columns
    columns, reach = moved(analysis)
    full = analysis.columns
    # A peak per cycle that is another launch's moves with both clocks.
    (counters,) = analysis.counters
    halves = [
        np.nanmax(half / counters.values[name])
        for name, half in counters.rounding.items()
        if name.endswith("__cycles_elapsed.avg.per_second")
    ]
    clock = 2 * max(halves, default=0.0)
    for name, values in columns.items():
        prefix = name.rpartition(".")[0]
        known = ~np.isnan(values)
        if name.endswith(".peak"):
            own = full.get(f"{prefix}.peak_source")
            known &= True if own is None else own == "report"
        theirs = stored.get(name, np.full(len(values), np.nan))
        extent = full.get(f"{prefix}.extent")
        apart = values - theirs
        if extent is not None and not name.endswith(".peak"):
            # A part of an amount is at most the whole of it.
            apart = np.where(extent == "at_least", np.maximum(apart, 0.0), np.abs(apart))
        allowed = reach[name] + ONE * np.abs(theirs) + (clock * np.abs(theirs) if name.endswith(".peak") else 0.0)
        wrong = known & ~(np.abs(apart) <= allowed)
        assert not wrong.any(), (
            name,
            np.flatnonzero(wrong)[:3],
            values[wrong][:3],
            theirs[wrong][:3],
            allowed[wrong][:3],
        )


@pytest.mark.parametrize("row", SUMMARIES, ids=ids(SUMMARIES))
def test_entries_of_a_summary_are_the_sums_of_their_launches(row: dict[str, str]) -> None:
    analysis, stored = export(row["file"]), binary(row["report"]).columns
    columns, reach = moved(analysis)
    full = analysis.columns
    keys = list(zip(*(stored[name].tolist() for name in ("kernel", "grid", "block")), strict=True))
    assert full["invocations"].sum() == len(keys)
    for entry, key in enumerate(zip(*(full[name].tolist() for name in ("kernel", "grid", "block")), strict=True)):
        launches = [number for number, other in enumerate(keys) if other == key]
        assert len(launches) == full["invocations"][entry]
        for name, values in columns.items():
            if name != "time" and (not name.endswith((".count", ".bytes")) or ".measures." in name):
                continue
            prefix = name.rpartition(".")[0]
            extent = full.get(f"{prefix}.extent")
            if np.isnan(values[entry]) or (extent is not None and extent[entry] == "at_least"):
                continue
            recipe = str(full.get(f"{prefix}.recipe", [""] * len(values))[entry])
            if len(launches) > 1 and "total: counter.sum.per_" in recipe:
                # A product of averages is no sum; a finding says so.
                assert any(finding.code == "X805" for finding in analysis.finding_list)
                continue
            whole = stored[name][launches].sum()
            assert full[name][entry] == pytest.approx(whole, rel=ONE, abs=reach[name][entry] * len(launches)), name


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["form"] in OTHER_PAGES],
    ids=[row["file"] for row in ROWS if row["form"] in OTHER_PAGES],
)
def test_page_without_counters_of_launches_is_named_with_the_export_to_make(row: dict[str, str]) -> None:
    with pytest.raises(nr.NcuRooflineError, match=f"this is the {OTHER_PAGES[row['form']]} of a report") as error:
        nr.analyze(EXPORTS / row["file"])
    assert "ncu --import REPORT --csv --page raw" in str(error.value)
