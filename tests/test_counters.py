"""Totals, rates and own peaks of a base counter from whichever rollups are there (hand arithmetic)."""

from __future__ import annotations

import numpy as np
import pytest

from ncu_roofline.counters import (
    PEAK_OF_PERCENTAGE,
    CounterView,
    activity,
    clock,
    duration_from_cycles,
    own_peak,
    rate,
    spellings,
    total,
    unit_of,
)

X = "sm__sass_thread_inst_executed_op_ffma_pred_on"
TWIN = "smsp__sass_thread_inst_executed_op_ffma_pred_on"


def of(metrics: dict[str, float], time: float = np.nan) -> CounterView:
    return CounterView({name: np.array([value]) for name, value in metrics.items()}, np.array([time]))


def test_total_prefers_the_sum() -> None:
    assert total(of({f"{X}.sum": 100.0, f"{X}.sum.per_second": 1.0}, time=2.0), X).value[0] == 100.0


def test_total_from_per_cycle_times_elapsed_cycles() -> None:
    # 0.5 per cycle x 1000 cycles = 500
    found = total(of({f"{X}.sum.per_cycle_elapsed": 0.5, "sm__cycles_elapsed.avg": 1000.0}), X)
    assert (found.value[0], found.recipe[0]) == (500.0, 1)


def test_total_from_per_cycle_with_cycles_from_clock_and_time() -> None:
    # 0.5 per cycle x 1 GHz x 2 us = 1000
    metrics = {f"{X}.sum.per_cycle_elapsed": 0.5, "sm__cycles_elapsed.avg.per_second": 1e9}
    assert total(of(metrics, time=2e-6), X).value[0] == pytest.approx(1000.0)


def test_total_from_rate_times_time() -> None:
    assert total(of({"dram__bytes.sum.per_second": 345.14e9}, time=6.75e-6), "dram__bytes").value[0] == pytest.approx(
        2329695.0
    )


@pytest.mark.parametrize("rollup", [".avg", ".max", ".min"])
def test_average_or_maximum_over_instances_is_no_total(rollup: str) -> None:
    assert np.isnan(total(of({f"lts__t_sectors{rollup}": 1166.79}, time=1e-5), "lts__t_sectors").value[0])


def test_sub_partition_counter_stands_in_for_the_sm_counter() -> None:
    assert total(of({f"{TWIN}.sum": 7.0}), X).value[0] == 7.0


def test_sm_counter_comes_before_the_sub_partition_counter() -> None:
    assert total(of({f"{TWIN}.sum": 7.0, f"{X}.sum": 8.0}), X).value[0] == 8.0


def test_infinite_or_missing_recipe_leaves_the_total_unknown() -> None:
    assert np.isnan(total(of({f"{X}.sum.per_second": 5.0}), X).value[0])


def test_rate_is_total_over_time() -> None:
    assert rate(of({"dram__bytes.sum": 10.0}, time=2.0), "dram__bytes").value[0] == 5.0


def test_rate_without_a_time_from_per_second() -> None:
    assert rate(of({"dram__bytes.sum.per_second": 5.0}), "dram__bytes").value[0] == 5.0


def test_rate_without_a_time_from_per_cycle_and_clock() -> None:
    # 79.06 per cycle x 2.15 GHz
    metrics = {f"{TWIN}.sum.per_cycle_elapsed": 79.06, "smsp__cycles_elapsed.avg.per_second": 2.15e9}
    assert rate(of(metrics), X).value[0] == pytest.approx(79.06 * 2.15e9)


def test_peak_is_peak_sustained_times_the_clock_of_its_own_unit() -> None:
    # 2048 byte/cycle at the DRAM clock 1.20 GHz = 2.4576 TB/s; with the SM clock it would be 2.867.
    metrics = {
        "dram__bytes.sum.peak_sustained": 2048.0,
        "dram__cycles_elapsed.avg.per_second": 1.20e9,
        "sm__cycles_elapsed.avg.per_second": 1.40e9,
    }
    assert own_peak(of(metrics), "dram__bytes").value[0] == pytest.approx(2.4576e12)


def test_peak_is_unknown_without_the_clock_of_its_unit() -> None:
    metrics = {"dram__bytes.sum.peak_sustained": 2048.0, "sm__cycles_elapsed.avg.per_second": 1.40e9}
    assert np.isnan(own_peak(of(metrics), "dram__bytes").value[0])


def test_peak_from_the_average_peak_times_instances() -> None:
    # 64 per instance and cycle x (8000 / 1000 = 8 instances) x 1 GHz
    metrics = {
        "lts__t_sectors.avg.peak_sustained": 64.0,
        "lts__cycles_elapsed.sum": 8000.0,
        "lts__cycles_elapsed.avg": 1000.0,
        "lts__cycles_elapsed.avg.per_second": 1e9,
    }
    found = own_peak(of(metrics), "lts__t_sectors")
    assert (found.value[0], found.recipe[0]) == (pytest.approx(5.12e11), 1)


def test_peak_from_rate_over_its_percentage() -> None:
    # 1e9 per second at 25 % of peak: 4e9
    metrics = {"lts__t_sectors.sum.per_second": 1e9, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 0.25}
    found = own_peak(of(metrics), "lts__t_sectors")
    assert (found.value[0], found.recipe[0]) == (4e9, PEAK_OF_PERCENTAGE)


def test_peak_of_each_instance_times_the_cycles_of_all_over_the_time() -> None:
    # 2 per instance and cycle, 1000 cycles of all instances together in 1 us: 2e9 per second.
    metrics = {"lts__t_sectors.avg.peak_sustained": 2.0, "lts__cycles_elapsed.sum": 1000.0}
    assert own_peak(of(metrics, time=1e-6), "lts__t_sectors").value[0] == pytest.approx(2e9)


def test_zero_percent_of_peak_says_nothing_about_the_peak() -> None:
    metrics = {"lts__t_sectors.sum.per_second": 0.0, "lts__t_sectors.sum.pct_of_peak_sustained_elapsed": 0.0}
    assert np.isnan(own_peak(of(metrics), "lts__t_sectors").value[0])


def test_recipes_are_chosen_per_launch() -> None:
    values = {
        "dram__bytes.sum": np.array([10.0, np.nan]),
        "dram__bytes.sum.per_second": np.array([np.nan, 3.0]),
    }
    found = total(CounterView(values, np.array([1.0, 2.0])), "dram__bytes")
    assert found.value.tolist() == [10.0, 6.0]
    assert found.recipe.tolist() == [0, 2]


def test_duration_from_cycles_over_cycles_per_second() -> None:
    # Values of a real A100 report: 5146386157.87 / 764869588.39 Hz
    metrics = {"smsp__cycles_elapsed.avg": 5146386157.87, "smsp__cycles_elapsed.avg.per_second": 764869588.39}
    assert duration_from_cycles(of(metrics), "sm__cycles_elapsed")[0] == pytest.approx(6.728449184, rel=1e-9)


def test_cycles_summed_over_units_are_no_duration() -> None:
    metrics = {"sm__cycles_elapsed.sum": 13.2e6, "sm__cycles_elapsed.avg.per_second": 1e9}
    assert np.isnan(duration_from_cycles(of(metrics), "sm__cycles_elapsed")[0])


def test_maximum_cycles_are_a_duration() -> None:
    metrics = {"sm__cycles_elapsed.max": 1e5, "sm__cycles_elapsed.avg.per_second": 1e9}
    assert duration_from_cycles(of(metrics), "sm__cycles_elapsed")[0] == pytest.approx(1e-4)


def test_l1_runs_at_the_sm_clock_when_it_prints_none() -> None:
    assert clock(of({"sm__cycles_elapsed.avg.per_second": 1.1e9}), "l1tex__cycles_elapsed")[0] == 1.1e9


def test_l2_does_not_run_at_the_sm_clock() -> None:
    assert np.isnan(clock(of({"sm__cycles_elapsed.avg.per_second": 1.1e9}), "lts__cycles_elapsed")[0])


def test_activity_from_a_percentage() -> None:
    metrics = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": 0.137}
    assert activity(of(metrics), "sm__pipe_tensor_cycles_active")[0] > 0


def test_unit_of_a_derived_counter_is_that_of_its_source() -> None:
    assert unit_of("derived__lts__lts2xbar_bytes") == "lts"


def test_only_sm_counters_have_a_twin() -> None:
    assert spellings("dram__bytes") == ("dram__bytes",)
    assert spellings(TWIN) == (X, TWIN)
