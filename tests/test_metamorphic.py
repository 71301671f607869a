"""Changes of a report that must not change the result, or change it in a known way."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ncu_roofline as nr
from tests.conftest import Write
from tests.support import H15, ROOT, cells, details, launch, quoted, raw_page
from tests.test_findings import CLEAN

METRICS = CLEAN | {"FFMA": "5,123,456 inst", "DB": "7,654,321 byte", "T": "23,456 ns"}


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The numeric columns of launches, without where they stand in the file."""
    return table.select_dtypes("number").drop(columns=["line"])


def assert_same(one: pd.DataFrame, two: pd.DataFrame, tolerance: float = 1e-12) -> None:
    left, right = numbers(one), numbers(two)
    assert list(left.columns) == list(right.columns)
    for name in left.columns:
        np.testing.assert_allclose(left[name], right[name], rtol=tolerance, err_msg=name)
    for name in ("bound.by", "kernel", "map"):
        assert one[name].tolist() == two[name].tolist()


def launches_of(count: int) -> list[str]:
    return [row for n in range(count) for row in launch(METRICS | {"T": f"{20 + n} us"}, number=n, kernel=f"k{n % 2}")]


def test_order_of_rows_changes_nothing(write: Write) -> None:
    rows = launches_of(4)
    shuffled = rows.copy()
    random.Random(1).shuffle(shuffled)
    one = nr.analyze(write(details(*rows), "a.csv")).launches
    two = nr.analyze(write(details(*shuffled), "b.csv")).launches
    two = two.sort_values("ncu_id").reset_index(drop=True).assign(launch=range(4))
    assert_same(one, two)


def test_two_halves_of_a_report_are_the_whole(write: Write) -> None:
    rows = launches_of(4)
    half = len(rows) // 2
    whole = nr.analyze(write(details(*rows), "whole.csv"))
    parts = nr.analyze(write(details(*rows[:half]), "a.csv"), write(details(*rows[half:]), "b.csv"))
    assert_same(
        whole.launches.drop(columns=["input", "device_time", "total_time"]),
        parts.launches.drop(columns=["input", "device_time", "total_time"]),
    )
    assert parts.launches["input"].tolist() == [0, 0, 1, 1]


def test_report_twice_is_every_launch_twice(write: Write) -> None:
    path = write(details(*launches_of(2)))
    assert nr.analyze(path, path).launches["bound.by"].tolist() == nr.analyze(path).launches["bound.by"].tolist() * 2


def test_unused_metric_changes_nothing(write: Write) -> None:
    rows = launch(METRICS)
    extra = [
        "0|k|smsp__warps_eligible.avg|warp|3.25",
        "0|k|launch__stack_size||1,024",
        *rows,
        "0|k|x__y.z|weird|n/a",
    ]
    assert_same(
        nr.analyze(write(details(*rows), "a.csv")).launches,
        nr.analyze(write(details(*extra), "b.csv")).launches,
    )


def test_details_and_raw_layout_of_the_same_values_agree(write: Write) -> None:
    rows = [row.split("|") for row in map(str, launch(METRICS))]
    from tests.support import SHORT

    page = raw_page({SHORT.get(metric, metric): (unit, [value]) for _, _, metric, unit, value in rows})
    assert_same(
        nr.analyze(write(details(*launch(METRICS)), "a.csv")).launches,
        nr.analyze(write(page, "b.csv")).launches,
    )


@pytest.mark.parametrize(
    ("metric", "scaled", "base", "step"),
    [
        ("T", "23.46 us", "23,456 ns", 0.005e-6 / 23.456e-6),
        ("DB", "7.65 Mbyte", "7,654,321 byte", 0.005 / 7.654321),
        ("DHZ", "1.22 Ghz", "1,215,000,000 hz", 0.005 / 1.215),
    ],
)
def test_scaled_units_agree_with_base_units_within_the_printed_rounding(
    write: Write, metric: str, scaled: str, base: str, step: float
) -> None:
    def run(text: str) -> pd.Series[Any]:
        return nr.analyze(write(details(*launch(METRICS | {metric: text})))).launches.iloc[0]

    one, two = run(scaled), run(base)
    for name in ("time", "traffic.dram.bytes", "traffic.dram.peak"):
        assert one[name] == pytest.approx(two[name], rel=1.001 * step)
    assert one["bound.fraction"] == pytest.approx(two["bound.fraction"], rel=2.1 * step)


def test_doubled_time_halves_every_rate_and_fraction(write: Write) -> None:
    once = nr.analyze(write(details(*launch(METRICS | {"T": "20 us"})), "a.csv")).launches.iloc[0]
    twice = nr.analyze(write(details(*launch(METRICS | {"T": "40 us"})), "b.csv")).launches.iloc[0]
    for name in ("work.fp32.rate", "traffic.dram.rate", "traffic.l2.rate", "bound.fraction"):
        assert twice[name] == pytest.approx(once[name] / 2, rel=1e-12)
    for name in ("work.fp32.count", "traffic.dram.bytes", "traffic.dram.intensity", "bound.time"):
        assert twice[name] == pytest.approx(once[name], rel=1e-12)


def test_clock_of_the_sm_moves_compute_ceilings_only(write: Write) -> None:
    slow = nr.analyze(write(details(*launch(METRICS)), "a.csv")).launches.iloc[0]
    fast = nr.analyze(write(details(*launch(METRICS | {"SMHZ": "2 Ghz"})), "b.csv")).launches.iloc[0]
    assert fast["work.fp32.peak"] == pytest.approx(2 * slow["work.fp32.peak"])
    assert fast["traffic.dram.peak"] == slow["traffic.dram.peak"]


def test_rates_and_totals_of_one_launch_give_the_same_picture(write: Write) -> None:
    # 5,123,456 FFMA in 23,456 ns at 1 GHz = 23,456 cycles: 218.4284... per cycle
    per_cycle = 5123456 / 23456
    metrics = {k: v for k, v in METRICS.items() if k != "FFMA"}
    rates = metrics | {
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed": f"{per_cycle:.12f} inst/cycle",
        "smsp__cycles_elapsed.avg": "23,456 cycle",
    }
    one = nr.analyze(write(details(*launch(METRICS)), "a.csv")).launches.iloc[0]
    two = nr.analyze(write(details(*launch(rates)), "b.csv")).launches.iloc[0]
    for name in ("work.fp32.count", "work.fp32.rate", "bound.fraction"):
        assert two[name] == pytest.approx(one[name], rel=1e-9)


def test_sample_reports_do_not_depend_on_line_ends_or_encoding(write: Write) -> None:
    text = (ROOT / "sample_reports" / "a100_default_set.csv").read_text()
    one = nr.analyze(write(text, "a.csv")).launches
    two = nr.analyze(write(text.replace("\n", "\r\n").encode("utf-16"), "b.csv")).launches
    assert_same(one, two)


def test_many_launches_of_one_kernel_sum_exactly(write: Write) -> None:
    count = 2000
    rows = [quoted(H15)]
    rows += [
        quoted(cells(f"{n}|k|{m}|{u}|{v}"))
        for n in range(count)
        for m, u, v in (("T", "ns", "1,000"), ("DB", "byte", "1,000,000,000,000"))
    ]
    groups = nr.analyze(write("\n".join(rows))).groups()
    assert len(groups["launches"][0]) == count
    assert groups["dram.bytes"][0] == count * 1e12
