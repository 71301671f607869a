"""Several inputs: beside each other, captures of the same launches put together, ranks taken together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from ncu_roofline.render.terminal import render_table
from ncu_roofline.vocabulary import Severity
from tests import binary_report
from tests.conftest import Write
from tests.support import details, finding, launch


def capture(*kernels: str, **metrics: str) -> str:
    rows = [row for n, kernel in enumerate(kernels) for row in launch(metrics, number=n, kernel=kernel)]
    return details(*rows)


@pytest.fixture
def captures(write: Write) -> list[str]:
    time = write(capture("a", "b", T="20 us", FFMA="1,000 inst"), "time.csv")
    dram = write(capture("a", "b", T="20.5 us", DB="4,000 byte", FFMA="1,000 inst"), "dram.csv")
    return [time, dram]


def test_launches_of_mixed_forms_stand_beside_each_other(write: Write, captures: list[str]) -> None:
    binary = write(binary_report.of_launches(3), "r.ncu-rep")
    columns = nr.analyze(captures[0], binary).columns
    assert columns["input"].tolist() == [0, 0, 1, 1, 1]
    assert columns["ncu_id"].tolist() == ["0", "1", "0", "1", "2"]


def test_counters_of_captures_are_put_together(captures: list[str]) -> None:
    columns = nr.analyze(*captures, merge=True).columns
    assert columns["kernel"].tolist() == ["a", "b"]
    assert columns["traffic.dram.bytes"].tolist() == [4000.0, 4000.0]
    assert columns["work.fp32.extent"].tolist() == ["at_least", "at_least"]


def test_time_of_captures_is_that_of_the_first_that_has_one(captures: list[str]) -> None:
    assert nr.analyze(*captures, merge=True).columns["time"].tolist() == pytest.approx([20e-6, 20e-6])
    assert nr.analyze(*captures[::-1], merge=True).columns["time"].tolist() == pytest.approx([20.5e-6, 20.5e-6])


def test_captures_that_were_put_together_are_reported_with_their_times(captures: list[str]) -> None:
    found = finding(nr.analyze(*captures, merge=True), "captures-merged")
    assert found is not None
    # 20.5 / 20 - 1
    assert "2.5 %" in found.message
    assert found.severity == Severity.NOTE


def test_captures_whose_times_are_far_apart_are_doubtful(write: Write, captures: list[str]) -> None:
    slow = write(capture("a", "b", T="30 us", DB="4,000 byte"), "slow.csv")
    found = finding(nr.analyze(captures[0], slow, merge=True), "captures-merged")
    assert found is not None
    assert found.severity == Severity.WARNING


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (capture("a", "c", DB="4,000 byte"), "launch 1 is not that of .*: kernel b and c"),
        (capture("a", DB="4,000 byte"), "has 1 launches, .* has 2"),
        (capture("a", "b", DB="4,000 byte", FFMA="1,001 inst"), "launch 0 .*op_ffma_pred_on.sum 1000 and 1001"),
        (details("0|a|DB|byte|4", "1|b|DB|byte|4", grid="(9, 1, 1)"),
         r"launch 0 .*grid \(512, 1, 1\) and \(9, 1, 1\)"),
    ],
)  # fmt: skip
def test_captures_of_other_launches_are_refused_with_the_first_difference(
    write: Write, captures: list[str], other: str, why: str
) -> None:
    with pytest.raises(nr.NcuRooflineError, match=why) as error:
        nr.analyze(captures[0], write(other, "other.csv"), merge=True)
    assert str(error.value).startswith(str(Path(captures[0]).with_name("other.csv")))


def test_bytes_and_times_may_differ_between_captures(write: Write, captures: list[str]) -> None:
    again = write(capture("a", "b", T="21 us", DB="4,100 byte"), "again.csv")
    assert nr.analyze(captures[1], again, merge=True).columns["traffic.dram.bytes"].tolist() == [4000.0, 4000.0]


def test_one_input_cannot_be_put_together(captures: list[str]) -> None:
    with pytest.raises(nr.NcuRooflineError, match="needs several captures"):
        nr.analyze(captures[0], merge=True)


def test_explanation_names_the_capture_of_each_cell(captures: list[str]) -> None:
    explained = nr.analyze(*captures, merge=True).explain(1, "dram").subjects[0]
    paths = {cell.metric: cell.path for cell in explained.cells}
    assert paths["dram__bytes.sum"] == captures[1]
    assert nr.analyze(*captures, merge=True).explain(1, "time").subjects[0].cells[0].path == captures[0]


def test_captures_split_by_metric_give_what_one_report_gives(write: Write) -> None:
    metrics = {"T": "20 us", "DB": "4,000 byte", "PKD": "1,280 byte/cycle", "DHZ": "1 Ghz", "FFMA": "64 inst"}
    whole = nr.analyze(write(capture("a", "b", **metrics), "whole.csv")).columns
    parts = [write(capture("a", "b", **{name: value}), f"{name}.csv") for name, value in metrics.items()]
    merged = nr.analyze(*parts, merge=True).columns
    for name, column in whole.items():
        if column.dtype.kind == "f":
            assert merged[name].tolist() == pytest.approx(column.tolist(), nan_ok=True), name


def test_captures_of_a_binary_report_are_put_together(write: Write) -> None:
    time = {name: value for name, value in binary_report.BASIC.items() if "dram" not in name}
    paths = [
        write(binary_report.of_launches(2, metrics), f"{n}.ncu-rep")
        for n, metrics in enumerate((time, binary_report.BASIC))
    ]
    assert nr.analyze(*paths, merge=True).columns["traffic.dram.bytes"].tolist() == [1000.0, 1000.0]


def test_rate_of_a_capture_belongs_to_its_own_time(write: Write) -> None:
    time = write(capture("k", T="1 us"), "time.csv")
    rate = write(capture("k", T="2 us", **{"dram__bytes.sum.per_second": "1 Gbyte/second"}), "rate.csv")
    # 1e9 byte/s x 2 us
    assert nr.analyze(time, rate, merge=True).columns["traffic.dram.bytes"].tolist() == pytest.approx([2000])


def test_what_one_capture_does_not_say_of_a_launch_is_from_another(write: Write) -> None:
    log = "[77] app@h\n  a, 2022-Dec-04 20:05:29, Context 1, Stream 7\n    Section: x\n    ----- ----- -----\n    dram__bytes.sum byte 4\n    ----- ----- -----\n"
    columns = nr.analyze(write(log, "old.log"), write(capture("a", T="20 us"), "new.csv"), merge=True).columns
    assert (columns["cc"][0], columns["grid"][0]) == ("8.0", (512, 1, 1))


def test_captures_on_other_devices_are_refused(write: Write) -> None:
    name = "device__attribute_display_name"
    one, two = (write(capture("a", T="20 us", **{name: gpu}), f"{gpu}.csv") for gpu in ("RTX-3060", "RTX-3090"))
    with pytest.raises(nr.NcuRooflineError, match="device RTX-3060 and RTX-3090"):
        nr.analyze(one, two, merge=True)


def test_bytes_of_captures_with_other_caches_are_not_paired(write: Write) -> None:
    time = {name: value for name, value in binary_report.BASIC.items() if "dram" not in name}
    warm = write(binary_report.of_launches(1, time, command_line="ncu --cache-control none ./a"), "warm.ncu-rep")
    cold = write(binary_report.of_launches(1, command_line="ncu --cache-control all ./a"), "cold.ncu-rep")
    times = write("kernel,grid,block,time_us,cache_control\nk,512,256,5,none\n", "times.csv")
    columns = nr.analyze(warm, cold, merge=True, timing=times).columns
    assert columns["traffic.dram.bytes"][0] == 1000
    assert columns["traffic.dram.external_rate"][0] != columns["traffic.dram.external_rate"][0]


def test_damaged_report_of_a_folder_is_a_warning_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(binary_report.of_launches(2))
    (tmp_path / "b.ncu-rep").write_bytes(binary_report.of_launches(2)[:-1])
    analysis = nr.analyze(tmp_path)
    assert len(analysis) == 2
    found = finding(analysis, "damaged-files")
    assert found is not None
    assert found.severity == Severity.WARNING
    assert "b.ncu-rep (the report is damaged or cut" in found.message
    assert len(nr.analyze(tmp_path, partial=True)) == 3


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.ncu-rep", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"),
        ("x.ncu-rep", b""),
        ("x.csv", b'"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'),
        ("x.csv.gz", b"\x1f\x8b\x08\x00"),
    ],
)
def test_file_of_a_folder_that_was_to_be_a_report_is_a_warning(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(binary_report.of_launches(2))
    (tmp_path / name).write_bytes(content)
    found = finding(nr.analyze(tmp_path), "damaged-files")
    assert found is not None
    assert name in found.message


def test_other_file_of_a_folder_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(binary_report.of_launches(2))
    (tmp_path / "notes.txt").write_text("hello")
    analysis = nr.analyze(tmp_path)
    found = finding(analysis, "files-passed-over")
    assert found is not None
    assert found.severity == Severity.NOTE
    assert finding(analysis, "damaged-files") is None


# --- ranks ---


def test_shares_of_selected_launches_refer_to_those_of_all_ranks(ranks: Analysis) -> None:
    chosen = ranks.select(ranks.columns["input"] == 0)
    # 1 of 6 ms
    assert chosen.groups()["share"][0] == pytest.approx(1 / 6)


@pytest.fixture
def ranks(write: Write) -> Analysis:
    times = ("1 ms", "1 ms", "1 ms", "3 ms")
    paths = [
        write(capture("k", T=time, DB="6,000 byte", PKD="1 byte/cycle", DHZ="1 Ghz"), f"{n}.csv")
        for n, time in enumerate(times)
    ]
    return nr.analyze(*paths, aggregate=True)


def test_ranks_are_kept_apart_unless_they_are_taken_together(ranks: Analysis) -> None:
    from dataclasses import replace

    assert len(ranks.groups()["kernel"]) == 1
    assert len(replace(ranks, aggregate=False).groups()["kernel"]) == 4


def test_ranks_together_have_summed_times_and_bytes(ranks: Analysis) -> None:
    group = ranks.groups()
    # 1 + 1 + 1 + 3 ms, 4 x 6000 byte
    assert group["time"][0] == pytest.approx(6e-3)
    assert group["dram.bytes"][0] == 24_000
    # per second of a device
    assert group["dram.rate"][0] == pytest.approx(24_000 / 6e-3)
    assert group["share"][0] == pytest.approx(1)


def test_slowest_rank_is_named(ranks: Analysis) -> None:
    group = ranks.groups()
    assert group["ranks"][0] == 4
    assert group["rank.slowest"][0] == (3, 0)
    assert (group["rank.fastest.time"][0], group["rank.slowest.time"][0]) == pytest.approx((1e-3, 3e-3))


def test_ranks_are_in_the_table_and_in_json(ranks: Analysis) -> None:
    text = render_table(ranks, width=200, color=False)
    assert "1.000 ms to 3.000 ms [3]" in text
    assert "4 ranks together (times of all added up): 4 launches, total time 6.000 ms" in text
    (group,) = json.loads(ranks.to_json())["groups"]
    assert group["ranks"]["slowest"] == {"input": 3, "device_ordinal": 0, "time": pytest.approx(3e-3)}


def test_ranks_of_other_kernels_are_groups_of_their_own(write: Write) -> None:
    paths = [write(capture(kernel, T="1 ms"), f"{kernel}.csv") for kernel in "abb"[:2]]
    assert sorted(nr.analyze(*paths, aggregate=True).groups()["kernel"].tolist()) == ["a", "b"]


def test_inputs_are_not_captures_and_ranks_at_once(captures: list[str]) -> None:
    with pytest.raises(nr.NcuRooflineError, match="either captures of one run or ranks"):
        nr.analyze(*captures, merge=True, aggregate=True)
