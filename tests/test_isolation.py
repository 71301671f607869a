"""A cell that cannot be understood costs that cell: its metric is unknown in that launch, and nothing else changes."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline import arrays
from ncu_roofline.analysis import Analysis
from ncu_roofline.checks import Finding
from ncu_roofline.cli import main
from ncu_roofline.dimensions import dimension_of, unit_of
from ncu_roofline.render.html import to_html
from ncu_roofline.render.picture.charts import charts
from ncu_roofline.vocabulary import Severity
from tests.conftest import Write
from tests.support import SHORT, details, finding, launch, quoted, raw_page, row_of
from tests.test_findings import CLEAN

TENSOR = "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off"


def of(write: Write, changes: dict[str, str], *, gone: tuple[str, ...] = (), cc: str = "8.0") -> Analysis:
    metrics = {name: value for name, value in (CLEAN | changes).items() if name not in gone}
    return nr.analyze(write(details(*launch(metrics), cc=cc)))


def bad_units(analysis: Analysis) -> list[Finding]:
    return [found for found in analysis.finding_list if found.name == "unit-not-understood"]


# --- what a unit has to be ---


@pytest.mark.parametrize(
    ("metric", "dimension"),
    [
        ("gpu__time_duration.sum", "s"),
        ("gpu__time_duration", "s"),
        ("dram__bytes.sum", "byte"),
        ("dram__read_bytes.sum", "byte"),
        ("l1tex__m_xbar2l1tex_read_bytes.sum.per_second", "byte/s"),
        ("dram__bytes.avg.peak_sustained", "byte/cycle"),
        ("lts__t_sectors.sum", "count"),
        ("lts__t_sectors.sum.per_second", "count/s"),
        ("sm__cycles_elapsed.avg.per_second", "count/s"),
        ("sm__inst_executed.sum.per_cycle_elapsed", "count/cycle"),
        ("sm__inst_executed.sum.peak_sustained", "count/cycle"),
        ("dram__bytes.sum.pct_of_peak_sustained_elapsed", "1"),
        ("lts__t_sector_hit_rate.pct", "1"),
        ("device__attribute_clock_rate", None),
        ("launch__registers_per_thread", None),
    ],
)
def test_name_of_a_metric_tells_its_dimension(metric: str, dimension: str | None) -> None:
    assert dimension_of(metric) == dimension


@pytest.mark.parametrize(
    ("metric", "unit", "factor"),
    [
        (f"{TENSOR}.avg.peak_sustained", "/cycle", 1.0),
        (f"{TENSOR}.avg.peak_sustained", "1/cycle", 1.0),
        (f"{TENSOR}.sum.per_second", "/second", 1.0),
        (f"{TENSOR}.sum.per_second", "/nsecond", 1e9),
        (f"{TENSOR}.sum", "", 1.0),
        ("lts__lts2xbar_cycles_active.avg.peak_sustained", "", 1.0),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "", 0.01),
        ("lts__t_bytes.sum", "sector", 32.0),
        ("lts__t_bytes.sum.per_second", "sector/nsecond", 32e9),
        ("dram__bytes.sum.peak_sustained", "sector/cycle", 32.0),
        ("sm__cycles_elapsed.avg.per_second", "Ghz", 1e9),
        ("sm__cycles_elapsed.avg.per_second", "cycle/usecond", 1e6),
        ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "thread", 1.0),
        ("launch__registers_per_thread", "register/thread", 1.0),
        # As NVIDIA's reader names them in reports of 2020.
        ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "inst", 1.0),
        ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", "cycle", 1.0),
    ],
)
def test_unit_that_fits_brings_a_value_to_its_base_unit(metric: str, unit: str, factor: float) -> None:
    known, problem = unit_of(metric, metric, None, unit, are_base=False)
    assert problem == ""
    assert known is not None
    assert known.factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("gpu__time_duration.sum", "cycle"),
        ("gpu__time_duration.sum", "inst"),
        ("gpu__time_duration.sum", "%"),
        ("gpu__time_duration.sum", ""),
        ("dram__bytes.sum", "inst"),
        ("dram__bytes.sum", "cycle"),
        ("dram__bytes.sum", "us"),
        ("dram__bytes.sum", ""),
        ("dram__bytes.sum", "byte/second"),
        ("dram__bytes.sum.per_second", "byte"),
        ("dram__bytes.sum.peak_sustained", "byte/second"),
        ("dram__bytes.sum.peak_sustained", "byte"),
        ("lts__t_sectors_srcunit_tex.sum", "byte"),
        ("lts__t_sectors_srcunit_tex.sum", "Kbyte"),
        ("lts__t_sectors_srcunit_tex.sum", "request"),
        ("lts__t_sectors_srcunit_tex.sum", "%"),
        ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "byte"),
        ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "sector"),
        ("sm__cycles_elapsed.avg.per_second", "cycle"),
        ("sm__cycles_elapsed.avg.per_second", "inst/s"),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "inst"),
        ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "cycle"),
        ("launch__registers_per_thread", "byte"),
        ("device__attribute_clock_rate", "s"),
        ("dram__bytes.sum", "fortnight"),
    ],
)
def test_unit_that_does_not_fit_is_never_taken_as_factor_one(metric: str, unit: str) -> None:
    known, problem = unit_of(metric, metric, None, unit, are_base=False)
    assert known is None
    assert problem


# --- what becomes of the cell, and of the rest ---


@pytest.mark.parametrize("metric", CLEAN)
@pytest.mark.parametrize("odd", ["5 fortnight", "5 %/inst", "many byte"])
def test_launch_with_a_cell_that_cannot_be_understood_is_the_launch_without_it(
    write: Write, metric: str, odd: str
) -> None:
    odd_one, without = of(write, {metric: odd}), of(write, {}, gone=(metric,))
    skip = {"line"}
    assert odd_one.columns.keys() == without.columns.keys()
    for name, column in without.columns.items():
        if name not in skip and column.dtype.kind == "f":
            np.testing.assert_array_equal(odd_one.columns[name], column, err_msg=name)


def test_finding_counts_the_cells_of_one_metric_and_unit_and_names_the_first(write: Write) -> None:
    rows = [row for n in range(3) for row in launch(CLEAN | ({"DR": "5 inst"} if n else {}), number=n)]
    path = write(details(*rows))
    (found,) = bad_units(nr.analyze(path))
    # It is the last row of the second launch; below the header, the first launch has every other metric.
    line = 1 + len(CLEAN) + len(CLEAN) + 1
    assert found.launches == (1, 2)
    assert found.message.startswith(
        f"{path}: dram__bytes_read.sum has the unit 'inst', but it is a number of bytes: 2 values not used"
    )
    assert f"first on line {line} (5)" in found.message


def test_each_kind_of_cell_has_its_own_finding(write: Write) -> None:
    analysis = of(write, {"DR": "5 inst", "DW": "5 cycle"})
    assert sorted(found.message.split(": ")[1].split(" has ")[0] for found in bad_units(analysis)) == [
        "dram__bytes_read.sum",
        "dram__bytes_write.sum",
    ]


def test_cell_of_a_counter_that_the_map_reads_is_a_warning_and_another_a_note(write: Write) -> None:
    (read,) = bad_units(of(write, {"DR": "5 inst"}))
    assert read.severity == Severity.WARNING
    # The map of 8.0 has no such counter, that of 7.5 has.
    (other,) = bad_units(of(write, {"sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum": "5 byte"}))
    assert other.severity == Severity.NOTE


def test_launch_whose_duration_cannot_be_understood_has_no_time(write: Write) -> None:
    analysis = of(write, {"T": "20 cycle"}, gone=("SMHZ",))
    assert math.isnan(row_of(analysis)["time"])
    assert row_of(analysis)["traffic.dram.bytes"] == 1000.0


def test_metric_that_nothing_reads_is_not_looked_at(write: Write) -> None:
    assert bad_units(of(write, {"smsp__nothing_reads_this.sum": "5 fortnight"})) == []


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 1), (["--fail-on", "warning"], 1)])
@pytest.mark.parametrize("command", ["analyze", "check"])
@pytest.mark.parametrize("odd", ["5 inst", "many byte"])
def test_strict_makes_a_cell_that_cannot_be_understood_exit_with_1(
    write: Write, command: str, options: list[str], code: int, odd: str
) -> None:
    path = write(details(*launch(CLEAN | {"DR": odd})))
    assert CliRunner().invoke(main, [command, path, *options]).exit_code == code


def test_strict_is_content_with_a_report_that_is_understood(write: Write) -> None:
    path = write(details(*launch(CLEAN)))
    assert CliRunner().invoke(main, ["analyze", path, "--strict"]).exit_code == 0


def test_label_of_the_details_page_with_a_unit_of_another_dimension_is_a_finding(write: Write) -> None:
    analysis = nr.analyze(
        write(details("0|k|Duration|cycle|5", "0|k|DRAM Frequency|Ghz|1.2", section="GPU Speed Of Light Throughput"))
    )
    assert math.isnan(row_of(analysis)["time"])
    assert [found.message.split(": ")[1] for found in bad_units(analysis)] == [
        "gpu__time_duration.sum has the unit 'cycle', but it is a duration"
    ]


# --- numbers of the other format ---

MANY = tuple(f"{n}|k|sm__throughput.avg.pct_of_peak_sustained_elapsed|%|12.5{n}" for n in range(1, 9))


def test_number_that_only_the_other_format_has_is_unknown_and_no_other_changes(write: Write) -> None:
    rows = [f"{n}|k|T|ns|1,000" for n in range(1, 9)]
    analysis = nr.analyze(write(details(*MANY, "1|k|DB|byte|12,5", "2|k|DB|byte|2,500", *rows)))
    assert math.isnan(analysis.columns["traffic.dram.bytes"][0])
    found = finding(analysis, "not-a-number")
    assert found is not None
    assert "'12,5' on line" in found.message
    assert (analysis.columns["time"] == 1e-6).all()


@pytest.mark.parametrize(
    "text", ["1,23", "12,3456", "1,2,3", "1.2.3", "1,234.5.6", "1 000", "0x10", "1_000", "++5", "5-"]
)
def test_text_that_is_no_number_of_the_format_is_unknown(write: Write, text: str) -> None:
    analysis = nr.analyze(write(details(*MANY, f"1|k|DB|byte|{text}", "2|k|DB|byte|7")))
    assert math.isnan(analysis.columns["traffic.dram.bytes"][0])
    assert analysis.columns["traffic.dram.bytes"][1] == 7.0


# --- launches that were not measured ---


def test_zero_of_a_launch_whose_duration_is_nan_is_unknown(write: Write) -> None:
    page = raw_page(
        {
            "gpu__time_duration.sum": ("us", ["5.000000", "nan"]),
            "dram__bytes.sum": ("byte", ["0.000000", "0.000000"]),
            "launch__waves_per_multiprocessor": ("", ["0.000000", "0.000000"]),
        }
    )
    analysis = nr.analyze(write(page))
    assert analysis.columns["traffic.dram.bytes"][0] == 0.0
    assert math.isnan(analysis.columns["traffic.dram.bytes"][1])
    assert analysis.columns["waves"].tolist() == [0.0, 0.0]


def test_zero_of_a_launch_whose_duration_is_not_available_is_zero(write: Write) -> None:
    page = raw_page({"gpu__time_duration.sum": ("us", ["5", "n/a"]), "dram__bytes.sum": ("byte", ["7", "0"])})
    assert nr.analyze(write(page)).columns["traffic.dram.bytes"].tolist() == [7.0, 0.0]


# --- peaks from percentages ---

DRAM_SHARE = "dram__bytes.sum.pct_of_peak_sustained_elapsed"
WITH_SHARE = {"T": "1 ms", "DB": "1,000,000 byte", "DHZ": "1 Ghz"}


@pytest.mark.parametrize(
    ("share", "peak"),
    [
        # 1 GB/s at 0.11 %, known to 0.005 / 0.11 = 4.5 %
        ("0.11 %", 1e9 / 0.0011),
        # 0.005 / 0.10 = 5 %
        ("0.1 %", None),
        ("0.01 %", None),
        ("0 %", None),
    ],
)
def test_peak_of_a_percentage_is_known_only_where_its_digits_leave_less_than_five_percent_open(
    write: Write, share: str, peak: float | None
) -> None:
    analysis = nr.analyze(write(details(*launch(WITH_SHARE | {DRAM_SHARE: share}))))
    found = analysis.columns["traffic.dram.peak"][0]
    assert math.isnan(found) if peak is None else found == pytest.approx(peak, rel=1e-12)


def test_peak_with_too_few_digits_is_that_of_another_launch_of_the_device_at_its_own_clock(write: Write) -> None:
    # 20 GB in 1 s are 20 %: 100 GB/s at 1 GHz, 100 byte per cycle; the other launch ran at 1.5 GHz.
    good = {"T": "1 second", "DB": "20 Gbyte", "DHZ": "1 Ghz", DRAM_SHARE: "20 %"}
    poor = {"T": "1 ms", "DB": "1,000 byte", "DHZ": "1.5 Ghz", DRAM_SHARE: "0.01 %"}
    rows = [*launch(good), *launch(poor, number=1)]
    analysis = nr.analyze(write(details(*rows)))
    assert analysis.columns["traffic.dram.peak"].tolist() == pytest.approx([100e9, 150e9], rel=1e-12)
    assert "the device's other launches" in analysis.columns["traffic.dram.recipe"][1]


def test_launch_with_the_most_digits_gives_the_peak_of_the_others(write: Write) -> None:
    fair = {"T": "1 second", "DB": "1 Gbyte", "DHZ": "1 Ghz", DRAM_SHARE: "1.02 %"}
    good = {"T": "1 second", "DB": "50 Gbyte", "DHZ": "1 Ghz", DRAM_SHARE: "50 %"}
    poor = {"T": "1 ms", "DB": "1,000 byte", "DHZ": "1 Ghz", DRAM_SHARE: "0.01 %"}
    rows = [row for n, metrics in enumerate((fair, good, poor)) for row in launch(metrics, number=n)]
    assert nr.analyze(write(details(*rows))).columns["traffic.dram.peak"][2] == pytest.approx(100e9, rel=1e-12)


def test_launches_of_another_device_give_no_peak(write: Write) -> None:
    good = launch({"T": "1 second", "DB": "20 Gbyte", "DHZ": "1 Ghz", DRAM_SHARE: "20 %"})
    poor = launch({"T": "1 ms", "DB": "1,000 byte", "DHZ": "1 Ghz", DRAM_SHARE: "0.01 %"}, number=1)
    analysis = nr.analyze(write(details(*good) + details(*poor, device="1")))
    assert math.isnan(analysis.columns["traffic.dram.peak"][1])


def test_bytes_are_of_the_same_measure_whether_or_not_the_digits_give_its_peak(write: Write) -> None:
    sectors, tag = "lts__t_sectors_srcunit_tex.sum", "lts__t_bytes.sum"
    share = f"{sectors}.pct_of_peak_sustained_elapsed"
    metrics = {
        "T": "1 ms",
        sectors: "100 sector",
        share: "0.01 %",
        tag: "9,000 byte",
        f"{tag}.peak_sustained": "9 byte/cycle",
        "lts__cycles_elapsed.avg.per_second": "1 Ghz",
    }
    row = row_of(nr.analyze(write(details(*launch(metrics)))))
    assert (row["traffic.l2.measure"], row["traffic.l2.bytes"]) == ("sm", 3200.0)
    assert math.isnan(row["traffic.l2.peak"])


def test_explanation_of_a_peak_of_another_launch_says_so(write: Write) -> None:
    good = {"T": "1 second", "DB": "20 Gbyte", "DHZ": "1 Ghz", DRAM_SHARE: "20 %"}
    poor = {"T": "1 ms", "DB": "1,000 byte", "DHZ": "1.5 Ghz", DRAM_SHARE: "0.01 %"}
    path = write(details(*launch(good), *launch(poor, number=1)))
    output = CliRunner().invoke(main, ["explain", path, "1", "dram"]).output
    assert "peak per cycle of the device's other launches x clock" in output
    assert "100 x 1500000000" in output


# --- cells of the identity ---


@pytest.mark.parametrize(
    ("column", "good", "name"),
    [("Grid Size", "(512, 1, 1)", "grid"), ("Block Size", "(256, 1, 1)", "block"), ("Device", "0", "device"),
     ("CC", "8.0", "compute capability")],
)  # fmt: skip
@pytest.mark.parametrize("form", ["raw", "details"])
def test_cell_of_the_identity_that_cannot_be_read_is_a_finding(
    write: Write, form: str, column: str, good: str, name: str
) -> None:
    if form == "raw":
        text = raw_page({SHORT["T"]: ("us", ["20", "20"])})
    else:
        text = details(*launch({"T": "20 us"}), *launch({"T": "20 us"}, number=1))
    lines = list(csv.reader(io.StringIO(text)))
    place = lines[0].index(column)
    assert lines[-1][place] == good
    lines[-1][place] = "nonsense"
    path = write("\n".join(map(quoted, lines)) + "\n")
    analysis = nr.analyze(path)
    found = finding(analysis, "identity-not-understood")
    assert found is not None
    assert (found.severity, found.launches) == (Severity.WARNING, (1,))
    assert f"1 launch with a {name} that cannot be read: 'nonsense' on line {len(lines)}." in found.message
    assert analysis.columns["time"].tolist() == [20e-6, 20e-6]
    assert CliRunner().invoke(main, ["check", "--strict", path]).exit_code == 1


# --- what else one cell must not decide ---


def test_metric_that_has_two_columns_of_a_raw_page_is_one_that_contradicts_itself(write: Write) -> None:
    page = raw_page({SHORT["T"]: ("us", ["20"]), SHORT["DB"]: ("Mbyte", ["100"]), "dram__x.sum": ("Gbyte", ["7"])})
    analysis = nr.analyze(write(page.replace("dram__x.sum", SHORT["DB"])))
    assert row_of(analysis)["traffic.dram.bytes"] == 100e6
    found = finding(analysis, "conflicting-values")
    assert found is not None
    assert f"{SHORT['DB']} with 7 Gbyte on line 3" in found.message


@pytest.mark.parametrize("text", ["x,12", "1,2,12", "a.5", "1.2.3", "12,34 56"])
def test_text_that_is_no_number_has_no_say_in_the_number_format(write: Write, text: str) -> None:
    page = raw_page({SHORT["T"]: ("ns", ["100,000", "100,000"]), SHORT["DB"]: ("byte", ["800,000", text])})
    analysis = nr.analyze(write(page))
    assert analysis.columns["time"].tolist() == [100e-6, 100e-6]
    assert finding(analysis, "not-a-number") is not None


@pytest.mark.parametrize(("metric", "unit"), [("nvlrx__foo.sum", "Mbyte"), ("dram__bytes.sum", "furlong")])
def test_any_unit_of_size_in_the_file_ends_the_assumption_of_base_units(write: Write, metric: str, unit: str) -> None:
    analysis = nr.analyze(write(raw_page({SHORT["T"]: ("", ["100"]), metric: (unit, ["1.4"])})))
    assert math.isnan(row_of(analysis)["time"])
    assert finding(analysis, "units-not-stated") is None
    assert any("gpu__time_duration.sum has no unit" in found.message for found in bad_units(analysis))


@pytest.mark.parametrize(
    ("value", "unit"), [("1e302", "Mbyte"), ("1e300", "Pbyte"), ("1e40", "byte"), ("1e-200", "byte")]
)
def test_size_beyond_every_counter_is_no_number_that_was_counted(write: Write, value: str, unit: str) -> None:
    path = write(raw_page({SHORT["T"]: ("us", ["100"]), SHORT["DB"]: (unit, [value])}))
    assert math.isnan(row_of(nr.analyze(path)).get("traffic.dram.bytes", math.nan))
    assert finding(nr.analyze(path), "not-a-number") is not None
    for command in ("analyze", "check", "explain", "budget"):
        result = CliRunner().invoke(main, [command, path, *(["0", "dram"] if command == "explain" else [])])
        assert result.exception is None or isinstance(result.exception, SystemExit), command


@pytest.mark.parametrize("second", ["garbage us", "100 inst", "100"])
def test_cell_beside_another_that_has_its_metric_is_a_note(write: Write, second: str) -> None:
    rows = [*launch({"T": "100 us"}), *launch({"T": second})]
    analysis = nr.analyze(write(details(*rows)))
    (found,) = [one for one in analysis.finding_list if one.name in ("unit-not-understood", "not-a-number")]
    assert row_of(analysis)["time"] == 100e-6
    assert (found.severity, "which is used" in found.help) == (Severity.NOTE, True)


# --- groups of which a part is known ---


def test_upper_bound_on_one_path_takes_no_launch_from_the_others(write: Write) -> None:
    # One launch has no FP16 work at all; that of nine others is at most 1000 instructions, as tensor cores may do it.
    changes = {name: CLEAN[name] for name in CLEAN if name != "TEN"}
    rows = launch(changes)
    for number in range(1, 10):
        rows += launch(changes | {"HFMA": "1,000 inst"}, number=number)
    analysis = nr.analyze(write(details(*rows)))
    assert analysis.columns["work.fp16.extent"].tolist() == ["exact", *["at_most"] * 9]
    (group,) = arrays.rows(analysis.groups())
    assert (group["dram.known"], group["dram.bytes"], group["fp32.known"], group["fp16.known"]) == (10, 10e3, 10, 1)


@pytest.mark.parametrize(
    "launches",
    [
        ({"DB": "1,000 byte"}, {"FADD": "0 inst", "FMUL": "0 inst", "FFMA": "5,000 inst"}),
        ({"DB": "1,000 byte"}, {"DB": "9,000 byte"}, {"FADD": "0 inst", "FMUL": "0 inst", "FFMA": "5,000 inst"}),
        ({"DB": "1,000 byte"}, *[{"FADD": "0 inst", "FMUL": "0 inst", "FFMA": "5,000 inst"}] * 2),
    ],
)
def test_work_of_some_launches_is_not_divided_by_bytes_of_others(
    write: Write, launches: tuple[dict[str, str], ...]
) -> None:
    rows = [row for number, metrics in enumerate(launches) for row in launch({"T": "20 us"} | metrics, number=number)]
    analysis = nr.analyze(write(details(*rows)))
    (group,) = arrays.rows(analysis.groups())
    assert not group["may_divide"]
    (chart,) = charts(analysis)
    assert not any(value > 0 for mark in chart.marks for value in mark.all_intensity.values())
    assert not any(mark.intensity for mark in chart.marks)


def test_page_says_of_how_many_launches_the_time_is(write: Write) -> None:
    rows = [*launch(CLEAN), *launch({name: CLEAN[name] for name in CLEAN if name != "T"}, number=1)]
    page = to_html(nr.analyze(write(details(*rows))))
    assert ", &gt;=20.00 us (1 of 2 have a time)" in page
    assert ">&gt;=20.00 us</td>" in page.replace("\u2009", " ").replace("\u202f", " ").replace("\xa0", " ")


def test_page_says_of_how_many_launches_a_value_is(write: Write) -> None:
    rows = [*launch(CLEAN), *launch({name: CLEAN[name] for name in CLEAN if name != "DB"}, number=1)]
    assert "DRAM, 1 of 2 launches</td><td>&gt;=1.000 KB" in to_html(nr.analyze(write(details(*rows))))


# --- two percentages, two names ---


def test_throughput_over_elapsed_and_over_active_cycles_have_two_names(write: Write) -> None:
    name = "l1tex__throughput.avg.pct_of_peak_sustained"
    row = row_of(of(write, {f"{name}_elapsed": "15.2 %", f"{name}_active": "22.9 %"}))
    assert row["utilization.l1tex__throughput"] == pytest.approx(0.152)
    assert row["utilization_active.l1tex__throughput"] == pytest.approx(0.229)


def test_throughput_over_active_cycles_is_never_taken_for_the_other(write: Write) -> None:
    analysis = of(write, {"l1tex__throughput.avg.pct_of_peak_sustained_active": "22.9 %"})
    assert "utilization.l1tex__throughput" not in analysis.columns
    found = json.loads(analysis.to_json())["launches"][0]
    assert found["utilization"] == {}
    assert found["utilization_active"] == {"l1tex__throughput": pytest.approx(0.229)}


# --- the inputs on which other tools went wrong ---

CASES = ("c21_unit", "c21_unit2", "u6", "u14", "u15", "u16", "u18", "u19")


@pytest.mark.parametrize("name", CASES)
def test_case_with_a_unit_of_another_dimension_has_the_right_answer(corpus: Path, name: str) -> None:
    analysis = nr.analyze(corpus.parent / "cases" / "inputs" / f"{name}.csv")
    row = row_of(analysis)
    if name.startswith("c21"):
        bytes_of = {"c21_unit": "traffic.l2.bytes", "c21_unit2": "traffic.dram.bytes"}[name]
        assert row[bytes_of] == 32e6
        return
    assert len(bad_units(analysis)) == 1
    known = {
        "u6": "traffic.dram.bytes",
        "u15": "traffic.l2.bytes",
        "u16": "traffic.l2.bytes",
        "u19": "traffic.dram.bytes",
    }
    if name in known:
        assert math.isnan(row.get(known[name], math.nan))
    if name == "u14":
        assert row.get("work.fp32.extent") is None
    if name == "u18":
        assert math.isnan(row["traffic.dram.peak"])
