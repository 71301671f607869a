"""The text output of ncu for people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncu_roofline as nr
from tests.conftest import Write
from tests.support import details, finding, launch

NEW = """==PROF== Connected to process 77 (/opt/app)
==PROF== Profiling "saxpy" - 0: 0%....50%....100% - 3 passes
hello
==PROF== Disconnected from process 77
[77] app@127.0.0.1
  void saxpy<float, (int)4>(float *, int (*)(int, int)) (512, 2, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    SM Frequency                    Ghz         1.05
    Memory Throughput                 %        33.42
    Duration                         us       777.95
    ----------------------- ----------- ------------

    OPT   Compute is more heavily utilized than Memory: look at the sections below
          to see what the compute pipelines are spending their time doing.
          ----- ------
          Duration 5

    Section: Memory Workload Analysis
    ----------------- ------------ ------------
    Metric Name        Metric Unit Metric Value
    ----------------- ------------ ------------
    Memory Throughput Gbyte/second       345.14
    Mem Busy                     %      (!) n/a
    ----------------- ------------ ------------

"""
LONG = "l1tex__a_metric_with_a_name_that_is_longer_than_the_seventy_characters_of_its_column.sum"


def old_row(name: str, unit: str, value: str) -> str:
    """A row of the tables up to 2022, 70, 15 and 30 characters wide; a longer name pushes the rest to the right."""
    return f"    {name:<70} {unit:>15} {value:>30}"


OLD = "\n".join(
    [
        "[77] app@127.0.0.1",
        "  saxpy(int, float *), 2022-Dec-04 20:05:29, Context 1, Stream 13",
        "    Section: Command line profiler metrics",
        old_row("-" * 70, "-" * 15, "-" * 30),
        old_row("dram__bytes.sum", "Mbyte", "1,234.50"),
        old_row("gpu__time_duration.sum", "usecond", "29.38"),
        old_row(LONG, "sector", "9,876"),
        old_row("sm__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "80"),
        old_row("sm__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", "(!) n/a"),
        old_row("-" * 70, "-" * 15, "-" * 30),
        "    WRN   The grid is too small.",
        "",
    ]
)


def test_launch_is_known_by_the_line_above_its_sections(write: Write) -> None:
    row = nr.analyze(write(NEW)).launches.iloc[0]
    assert row["kernel"] == "void saxpy<float, (int)4>(float *, int (*)(int, int))"
    assert (row["grid"], row["block"]) == ((512, 2, 1), (256, 1, 1))
    assert (row["process"], row["context"], row["stream"], row["device_ordinal"], row["cc"]) == (
        "77",
        "1",
        "7",
        0,
        "8.0",
    )


def test_label_means_what_it_means_in_its_section(write: Write) -> None:
    row = nr.analyze(write(NEW)).launches.iloc[0]
    assert row["time"] == pytest.approx(777.95e-6)
    assert row["utilization.gpu__compute_memory_throughput"] == pytest.approx(0.3342)
    # The same label is a rate in the memory section.
    assert row["traffic.dram.rate"] == pytest.approx(345.14e9)


def test_table_without_header_is_read(write: Write) -> None:
    row = nr.analyze(write(OLD)).launches.iloc[0]
    assert row["time"] == pytest.approx(29.38e-6)
    assert row["traffic.dram.bytes"] == pytest.approx(1234.5e6)
    assert (row["grid"], row["cc"], row["stream"]) == (None, None, "13")


def test_name_wider_than_its_column_is_read_whole(write: Write) -> None:
    report = nr.read(write(OLD)).inputs[0]
    cells = report.cells.hstack(report.printed[report.cells["printed_as"]])
    (row,) = (row for row in cells.iter_rows(named=True) if row["metric"] == LONG)
    assert (row["unit"], row["text"]) == ("sector", "9,876")


def test_value_that_is_not_available_is_reported(write: Write) -> None:
    found = finding(nr.analyze(write(OLD)), "not-available")
    assert found is not None
    assert "op_fmul_pred_on.sum" in found.message


def test_text_of_a_rule_is_no_metric(write: Write) -> None:
    report = nr.read(write(NEW)).inputs[0]
    assert report.cells.height == 5
    assert report.rule_rows == 1


def test_lines_before_the_launches_are_counted(write: Write) -> None:
    report = nr.read(write(NEW)).inputs[0]
    assert report.skipped.counts == {"preface": 4}
    assert report.skipped.profiled == 1


def test_fewer_launches_than_ncu_profiled_are_reported(write: Write) -> None:
    text = NEW.replace("hello", '==PROF== Profiling "saxpy" - 1: 0%....50%....100% - 3 passes')
    found = finding(nr.analyze(write(text)), "launches-missing")
    assert found is not None
    assert "ncu profiled 2 launches, the input has 1" in found.message


def test_processes_follow_each_other(write: Write) -> None:
    other = NEW.replace("[77]", "[78]")
    assert [launch["process"] for _, launch in nr.analyze(write(NEW + other)).launches.iterrows()] == ["77", "78"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_encoding_and_line_ends_change_nothing(write: Write, encoding: str, ending: str) -> None:
    content = NEW.replace("\n", ending).encode(encoding)
    assert nr.analyze(write(content)).columns["time"].tolist() == nr.analyze(write(NEW, "a")).columns["time"].tolist()


def test_text_and_details_page_of_the_same_values_give_the_same_numbers(write: Write) -> None:
    values = {"T": "29.38 usecond", "DB": "1,234.50 Mbyte"}
    text = nr.analyze(write(OLD)).columns
    page = nr.analyze(write(details(*launch(values)), "page.csv")).columns
    for name in ("time", "traffic.dram.bytes", "traffic.dram.rate"):
        assert text[name].tolist() == page[name].tolist()


def test_lines_of_a_value_are_those_of_the_file(write: Write) -> None:
    path = write(NEW)
    (cell,) = nr.analyze(path).explain(0, "time").subjects[0].cells
    assert cell.line is not None
    assert "Duration                         us       777.95" in Path(path).read_text().split("\n")[cell.line - 1]


def test_counters_of_a_launch_whose_line_is_damaged_are_of_no_launch(write: Write) -> None:
    second = NEW[NEW.index("  void saxpy") :].replace("CC 8.0", "CC 8.0step 3 done").replace("777.95", "1.00")
    report = nr.analyze(write(NEW + second))
    assert report.columns["time"].tolist() == pytest.approx([777.95e-6])
    assert finding(report, "damaged-rows") is not None


def test_line_of_a_launch_may_have_more_fields(write: Write) -> None:
    assert len(nr.analyze(write(NEW.replace("CC 8.0", "CC 8.0, GreenContext 1")))) == 1


def test_log_without_a_launch_that_can_be_read_is_refused(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match=":1: no line that names a launch can be read"):
        nr.analyze(write("note:foo, Context 1, Stream 7 was used\n"))


def test_section_cut_out_of_a_log_is_refused(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="without the line that names the launch"):
        nr.analyze(write("\n".join(NEW.splitlines()[6:])))


@given(st.data())
def test_log_with_any_lines_left_out_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = (NEW + OLD).splitlines()
    kept = [line for line in lines if data.draw(st.booleans())]
    path = tmp_path_factory.mktemp("log") / "log.txt"
    path.write_text("\n".join(kept))
    named = sum(", Context " in line for line in kept)
    try:
        assert len(nr.read(path)) == named > 0
    except nr.NcuRooflineError:
        assert named == 0


@pytest.mark.parametrize(
    ("name", "launches", "cc"),
    [
        ("04-text-sm90-silu-pytorch-ncu-report.txt", 10, "9.0"),
        ("15-text-sm89-ncu_report.txt", 1, "8.9"),
        ("36-text-sm86-ncu_fma_memory.txt", 41, "8.6"),
        ("39-text-smxx-ncu.log", 31, None),
        ("45-text-smxx-ncu_log.txt", 6, None),
    ],
)
def test_real_log_has_all_its_launches_and_values(corpus: Path, name: str, launches: int, cc: str | None) -> None:
    content = (corpus / name).read_bytes()
    text = content.decode("utf-16" if content.startswith(b"\xff\xfe") else "utf-8")
    analysis = nr.analyze(corpus / name)
    assert len(analysis) == launches
    assert set(analysis.columns["cc"]) == {cc}
    printed = [float(number.replace(",", "")) for number in re.findall(r"^ +Duration +\w+ +([0-9.,]+)\r?$", text, re.M)]
    units = re.findall(r"^ +Duration +(\w+) +[0-9.,]+\r?$", text, re.M)
    scale = {"us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "ns": 1e-9, "nsecond": 1e-9}
    known = [time for time in analysis.columns["time"].tolist() if time == time]
    assert known == pytest.approx([n * scale[unit] for n, unit in zip(printed, units, strict=True)])


def test_counts_of_a_real_log_are_those_that_it_prints(corpus: Path) -> None:
    row = nr.analyze(corpus / "36-text-sm86-ncu_fma_memory.txt").launches.iloc[0]
    # 3.58 Kbyte read, nothing written; 80 additions, no fused or plain products.
    assert row["traffic.dram.bytes"] == pytest.approx(3580)
    assert row["work.fp32.count"] == 80


def test_launch_that_failed_has_no_shape_and_no_time(corpus: Path) -> None:
    analysis = nr.analyze(corpus / "15-text-sm89-ncu_report.txt")
    row = analysis.launches.iloc[0]
    assert row["grid"] is None
    assert row["time"] != row["time"]
    assert finding(analysis, "ncu-error") is not None


def test_text_that_goes_on_below_its_column_is_whole(write: Write) -> None:
    wide = (
        "  k (1, 1, 1)x(1, 1, 1), Context 1, Stream 7, Device 0, CC 8.9\n"
        "  Metric Name                      Metric Unit       Metric Value\n"
        "  ------------------------------ ------------- ------------------\n"
        "  device__attribute_display_name               NVIDIA GeForce RTX\n"
        "                                                       4080 SUPER\n"
        "  gpu__time_duration.sum                    us               5.25\n"
        "  ------------------------------ ------------- ------------------\n"
    )
    analysis = nr.analyze(write("[77] app@127.0.0.1\n" + wide))
    assert analysis.columns["device"].tolist() == ["NVIDIA GeForce RTX 4080 SUPER"]
    assert analysis.columns["time"].tolist() == [5.25e-6]
    # The header of a table without a section.
    assert "skipped 1 foreign line (line 3)" in str(finding(analysis, "skipped-lines"))
