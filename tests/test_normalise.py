"""Numbers and units at the border: every value by its own unit, missing is never zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ncu_roofline as nr
from ncu_roofline.labels import load_labels
from ncu_roofline.normalise import Counters, normalise
from ncu_roofline.readers import read_report
from tests.conftest import Write
from tests.support import H15, cells, details, finding, quoted, raw_page, row_of

TIME, BYTES = "gpu__time_duration.sum", "dram__bytes.sum"


def counters(path: str, *used: str, locale: str = "auto") -> Counters:
    return normalise(read_report(path), load_labels(), used=frozenset(used), locale=locale)


@pytest.mark.parametrize(
    ("text", "unit", "seconds"),
    [
        ("2,000", "nsecond", 2e-6),
        ("2,000", "ns", 2e-6),
        ("2.00", "usecond", 2e-6),
        ("2.00", "us", 2e-6),
        ("0.002", "ms", 2e-6),
        ("1,234,567.50", "ns", 1.2345675e-3),
        ("1.5", "second", 1.5),
    ],
)
def test_value_is_converted_by_its_own_unit(write: Write, text: str, unit: str, seconds: float) -> None:
    # A second value, which can be read in one way only, settles the number format of the file.
    page = details(f"0|k|T|{unit}|{text}", "0|k|dram__throughput.avg.pct_of_peak_sustained_elapsed|%|1.25")
    found = counters(write(page), TIME, "dram__throughput.avg.pct_of_peak_sustained_elapsed").values[TIME]
    assert found[0] == pytest.approx(seconds, rel=1e-15)


def test_one_metric_may_have_another_unit_on_every_row(write: Write) -> None:
    found = counters(write(details("0|k|DB|Kbyte|977.50", "1|k|DB|Mbyte|1.18", "2|k|DB|byte|12")), BYTES)
    assert found.values[BYTES].tolist() == pytest.approx([977500.0, 1180000.0, 12.0], rel=1e-15)


@pytest.mark.parametrize("text", ["n/a", "(!) n/a", "(!) nan", "nan", "", "inf", "-inf", "N/A"])
def test_value_that_is_not_there_is_unknown_and_not_zero(write: Write, text: str) -> None:
    analysis = nr.analyze(write(details(f"0|k|DB||{text}", "0|k|T|ns|1,000")))
    assert "traffic.dram.bytes" not in analysis.launches
    assert row_of(analysis)["time"] == pytest.approx(1e-6)
    found = finding(analysis, "not-available")
    assert found is not None
    assert "dram__bytes.sum" in found.message


def test_unknown_unit_on_a_used_counter_makes_its_value_unknown_and_is_a_finding_that_names_the_cell(
    write: Write,
) -> None:
    path = write(details("0|k|DB|byte|5", "0|k|T|fortnight|2.00"))
    analysis = nr.analyze(path)
    assert row_of(analysis)["traffic.dram.bytes"] == 5.0
    assert math.isnan(row_of(analysis)["time"])
    found = finding(analysis, "unit-not-understood")
    assert found is not None
    for part in (path, "line 3", TIME, "2.00", "'fortnight'"):
        assert part in found.message


def test_unknown_unit_on_a_counter_that_no_map_uses_is_ignored(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T|ns|1,000", "0|k|smsp__something_else.sum|fortnight|2.00")))
    assert row_of(analysis)["time"] == pytest.approx(1e-6)


def test_duration_without_a_unit_is_nanoseconds_where_no_unit_with_a_prefix_is_printed(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T||1,000")))
    assert row_of(analysis)["time"] == 1e-6
    assert finding(analysis, "units-not-stated") is not None


def test_duration_without_a_unit_is_unknown_where_others_have_one(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T||1,000", "0|k|DB|Mbyte|5")))
    assert math.isnan(row_of(analysis)["time"])
    assert row_of(analysis)["traffic.dram.bytes"] == 5e6
    assert finding(analysis, "unit-not-understood") is not None


def test_percentage_without_its_sign_is_one(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|sm__throughput.avg.pct_of_peak_sustained_elapsed||50", "0|k|T|us|1")))
    assert row_of(analysis)["utilization.sm__throughput"] == 0.5


def test_text_in_a_number_is_a_finding_and_not_a_value(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T|ns|1,000", "0|k|DB|byte|many")))
    assert "traffic.dram.bytes" not in analysis.launches
    found = finding(analysis, "not-a-number")
    assert found is not None
    assert "'many'" in found.message


def test_instances_behind_a_value_are_left_out(write: Write) -> None:
    found = counters(write(details("0|k|DB|byte|1,200 (0: 500; 1: 700)")), BYTES)
    assert found.values[BYTES][0] == 1200.0


def test_label_is_translated_by_its_section(write: Write) -> None:
    rows = [
        cells("0|k|Memory Throughput|%|14.26", section="GPU Speed Of Light Throughput"),
        cells("0|k|Memory Throughput|byte/s|12,943,820,224.72", section="Memory Workload Analysis"),
    ]
    percent, rate = (
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__bytes.sum.per_second",
    )
    found = counters(write("\n".join(map(quoted, [H15, *rows]))), percent, rate)
    assert found.values[percent][0] == pytest.approx(0.1426)
    assert found.values[rate][0] == pytest.approx(12943820224.72)


def test_label_of_an_unknown_section_is_no_metric(write: Write) -> None:
    rows = [cells("0|k|Duration|us|5.00", section="Some Other Section"), cells("0|k|DB|byte|5")]
    assert TIME not in counters(write("\n".join(map(quoted, [H15, *rows]))), TIME, BYTES).values


def test_derived_metric_is_turned_back_into_its_counter(write: Write) -> None:
    peak = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
    page = raw_page({"derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2": ("inst", ["13824"])})
    assert counters(write(page), peak).values[peak][0] == 6912.0


def test_rounding_of_a_scaled_value_is_half_its_printed_step(write: Write) -> None:
    found = counters(write(details("0|k|DB|Mbyte|1.18", "1|k|DB|byte|118")), BYTES)
    assert found.rounding[BYTES].tolist() == pytest.approx([5000.0, 0.0])


def test_same_metric_in_two_sections_uses_the_value_with_more_digits(write: Write) -> None:
    rows = [
        cells("0|k|Duration|us|22.59", section="GPU Speed Of Light Throughput"),
        cells("0|k|T|ns|22,592"),
    ]
    analysis = nr.analyze(write("\n".join(map(quoted, [H15, *rows]))))
    assert row_of(analysis)["time"] == pytest.approx(22.592e-6, rel=1e-12)
    assert finding(analysis, "conflicting-values") is None


def test_contradicting_values_of_one_metric_are_a_finding(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T|ns|22,592", "0|k|T|ns|30,000")))
    found = finding(analysis, "conflicting-values")
    assert found is not None
    assert found.launches == (0,)


EUROPEAN = (
    "0|k|T|ns|204.800",
    "0|k|DB|byte|33.554.432",
    "0|k|sm__throughput.avg.pct_of_peak_sustained_elapsed|%|71,25",
)


def test_european_numbers_are_recognised_from_cells_that_have_one_reading(write: Write) -> None:
    analysis = nr.analyze(write(details(*EUROPEAN)))
    first = row_of(analysis)
    assert first["time"] == pytest.approx(204800e-9)
    assert first["traffic.dram.bytes"] == 33554432.0
    assert first["traffic.dram.rate"] == pytest.approx(163.84e9)
    assert first["utilization.sm__throughput"] == pytest.approx(0.7125)


def test_number_format_that_cannot_be_known_is_refused_with_a_hint(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="--locale"):
        nr.analyze(write(details(EUROPEAN[0])))


@pytest.mark.parametrize(("locale", "seconds"), [("c", 204.8e-9), ("european", 204800e-9)])
def test_stated_locale_decides_an_ambiguous_number(write: Write, locale: str, seconds: float) -> None:
    assert row_of(nr.analyze(write(details(EUROPEAN[0])), locale=locale))["time"] == pytest.approx(seconds)


def test_two_number_formats_in_one_file_are_refused(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="two formats"):
        nr.analyze(write(details("0|k|T|ns|1,000.50", "0|k|DB|byte|33.554.432")))


def test_missing_values_are_nan_in_the_columns(write: Write) -> None:
    found = counters(write(details("0|k|T|ns|1", "1|k|DB|byte|2")), TIME, BYTES)
    assert np.isnan(found.values[TIME]).tolist() == [False, True]
    assert math.isnan(found.values[BYTES][0])


def test_report_of_2019_without_any_unit_is_in_base_units(write: Write) -> None:
    rows = ["0|k|gpu__time_duration||5,952", "0|k|dram__read_bytes.sum||4,096", "0|k|dram__write_bytes.sum||1,024"]
    found = row_of(nr.analyze(write(details(*rows, cc="6.1"))))
    assert found["time"] == 5952e-9
    assert found["traffic.dram.bytes"] == 5120.0


def test_duration_of_2019_without_a_unit_beside_units_is_unknown(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|gpu__time_duration||5,952", "0|k|DB|byte|4,096", cc="6.1")))
    assert math.isnan(row_of(analysis)["time"])
    assert finding(analysis, "unit-not-understood") is not None


@pytest.mark.parametrize("metric", ["nvlrx__bytes.sum.per_second", "derived__lts__lts2xbar_bytes.sum.per_second"])
def test_rate_to_which_ncu_gives_the_unit_of_its_count_is_read(write: Write, metric: str) -> None:
    nr.analyze(write(details("0|k|T|ns|1,000", f"0|k|{metric}|byte|5,000", cc="7.5")))


@pytest.mark.parametrize(
    ("text", "seconds"), [("12,5 (6,2; 6,3)", 12.5e-6), ("1.234,50 (617,25; 617,25)", 1234.5e-6), ("(!) 12,5", 12.5e-6)]
)
def test_number_format_is_decided_without_instances_and_marks(write: Write, text: str, seconds: float) -> None:
    assert row_of(nr.analyze(write(details(f"0|k|T|us|{text}"))))["time"] == pytest.approx(seconds)


def test_number_with_instances_that_may_be_of_either_format_is_refused(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="number format is ambiguous"):
        nr.analyze(write(details("0|k|T|us|1.500 (750; 750)")))


def test_number_with_an_exponent_is_rounded_where_its_digits_end(write: Write) -> None:
    # 1.5e+06 is between 1.45e6 and 1.55e6: half a step of 0.1e6.
    counters = nr.analyze(write(details("0|k|T|ns|1,000", "0|k|DB|byte|1.5e+06"))).counters[0]
    assert counters.values["dram__bytes.sum"][0] == 1.5e6
    assert counters.rounding["dram__bytes.sum"][0] == pytest.approx(0.05e6)


def test_units_of_metrics_that_no_map_uses_do_not_change_how_a_report_is_read(write: Write) -> None:
    path = write(details("0|k|gpu__time_duration||100000", "0|k|foo__x.sum|%|5"))
    assert nr.analyze(path).columns["time"].tolist() == nr.analyze(nr.read(path)).columns["time"].tolist() == [1e-4]
