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
from tests.support import NESTED, details, finding, launch


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
        ("x.ncu-rep", b"\0" * 500),
        ("x.ncu-rep", b"no report"),
        ("x.csv", b'"ID","Process ID","Process Name","Host Na'),
        ("x.csv", b'"ID","Process ID","Kernel Name","gpu__time_duration.sum"\n'),
        ("x.csv", b'"ID","Process ID","Kernel Name","gpu__time_duration.sum"\n"0","1","k","5"\n'),
    ],
)
def test_file_of_a_folder_that_was_to_be_a_report_is_a_warning(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(binary_report.of_launches(2))
    (tmp_path / name).write_bytes(content)
    found = finding(nr.analyze(tmp_path), "damaged-files")
    assert found is not None
    assert name in found.message


def test_damaged_files_have_their_own_advice_each(tmp_path: Path) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(binary_report.of_launches(2))
    (tmp_path / "b.ncu-rep").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "c.csv").write_bytes(b'"ID","Process ID","Proc')
    found = finding(nr.analyze(tmp_path), "damaged-files")
    assert found is not None
    assert "not a report. Fetch the file itself with `git lfs pull`)" in found.message
    assert "the file is cut. Copy it again" in found.message


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


# --- grids, ends of tables, groups ---


def test_grid_in_threads_is_divided_by_the_block_and_said_so(write: Write) -> None:
    # As ncu of 2020 printed it: 4096 blocks of 256 threads.
    analysis = nr.analyze(write(details(*launch({"T": "5 us", "launch__grid_size": "4,096 "}), grid="(1048576, 1, 1)")))
    assert analysis.columns["grid"].tolist() == [(4096, 1, 1)]
    found = finding(analysis, "grid-in-threads")
    assert found is not None
    assert found.severity == Severity.NOTE


def test_grid_in_threads_is_divided_in_each_direction(write: Write) -> None:
    rows = launch({"T": "5 us", "launch__grid_size": "588 "})
    analysis = nr.analyze(write(details(*rows, grid="(224, 672, 1)", block="(16, 16, 1)")))
    assert analysis.columns["grid"].tolist() == [(14, 42, 1)]


def test_grid_that_has_another_number_of_blocks_in_both_ways_is_a_finding_and_stays(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch({"T": "5 us", "launch__grid_size": "7 "}), grid="(1048576, 1, 1)")))
    assert analysis.columns["grid"].tolist() == [(1048576, 1, 1)]
    found = finding(analysis, "grid-contradicted")
    assert found is not None
    assert found.severity == Severity.WARNING
    assert "1,048,576 blocks, launch__grid_size is 7" in found.message


def test_grid_in_blocks_stays(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch({"T": "5 us", "launch__grid_size": "512 "}))))
    assert analysis.columns["grid"].tolist() == [(512, 1, 1)]
    assert finding(analysis, "grid-in-threads") is None


THREE = {"T": "20 us", "DB": "5 byte", "FFMA": "7 inst"}


def test_table_that_ends_inside_a_launch_says_so(write: Write) -> None:
    rows = [row for n in range(3) for row in launch(THREE, number=n)]
    found = finding(nr.analyze(write(details(*rows[:-2]))), "ends-inside-a-launch")
    assert found is not None
    assert found.launches == (2,)
    assert "1 row of metrics, every other launch of this kernel at least 3" in found.message


@pytest.mark.parametrize("kernel", ["k", "other"])
def test_table_that_ends_with_a_launch_is_whole(write: Write, kernel: str) -> None:
    rows = [*launch(THREE), *launch(THREE if kernel == "k" else {"T": "5 us"}, number=1, kernel=kernel)]
    assert finding(nr.analyze(write(details(*rows))), "ends-inside-a-launch") is None


@pytest.mark.parametrize(("process", "device"), [("77", "0"), ("4242", "1")])
def test_launch_of_another_process_or_device_may_have_fewer_metrics(write: Write, process: str, device: str) -> None:
    whole = details(*launch(THREE))
    second = details(*launch({"T": "5 us"}, number=1), process=process, device=device).partition("\n")[2]
    assert finding(nr.analyze(write(whole + second)), "ends-inside-a-launch") is None


def test_real_table_that_is_cut_in_its_last_launch_says_so(corpus: Path, write: Write) -> None:
    lines = (corpus / "35-details-sm80-ncu_report.csv").read_text().splitlines(keepends=True)
    assert finding(nr.analyze(write("".join(lines))), "ends-inside-a-launch") is None
    assert finding(nr.analyze(write("".join(lines[:-3]))), "ends-inside-a-launch") is not None


TEN = {"T": "100 us", "FFMA": "100,000,000 inst", "FADD": "0 inst", "FMUL": "0 inst", "DB": "100,000,000 byte"}
# 2 x 1e8 FLOP and 1e8 byte in 100 us.
FLOPS, BYTES = 2e12, 1e12


def of_ten(write: Write, last: dict[str, str]) -> Analysis:
    changed = {name: value for name, value in (TEN | last).items() if value}
    rows = [row for n in range(9) for row in launch(TEN, number=n)]
    return nr.analyze(write(details(*rows, *launch(changed, number=9))))


@pytest.mark.parametrize("last", [{"T": "0 us"}, {"T": "n/a"}, {"T": ""}, {"DB": "n/a"}, {"FFMA": ""}])
def test_group_of_which_one_launch_lacks_something_has_the_rates_of_the_others(
    write: Write, last: dict[str, str]
) -> None:
    groups = of_ten(write, last).groups()
    assert (groups["fp32.rate"][0], groups["dram.rate"][0]) == (pytest.approx(FLOPS), pytest.approx(BYTES))
    assert (groups["fp32.known"][0], groups["dram.known"][0]) == (9, 9)


def test_table_shows_of_how_many_launches_a_value_is_and_sums_as_lower_bounds(write: Write) -> None:
    table = render_table(of_ten(write, {"T": ""}), width=200, color=False)
    assert ">=900.0 us, 9 of 10" in table
    assert "1000 GB/s, 9 of 10" in table
    assert "9 of 10: value of 9 of the 10 launches" in table


def test_bytes_without_a_time_are_a_lower_bound_where_a_launch_lacks_them(write: Write) -> None:
    rows = [*launch({"DB": "5 Mbyte"}), *launch({"DB": "n/a"}, number=1)]
    assert ">=5.000 MB, 1 of 2" in render_table(nr.analyze(write(details(*rows))), width=200, color=False)


def test_group_in_which_no_launch_has_everything_has_each_amount_of_its_own_launches(write: Write) -> None:
    without_bytes = {name: value for name, value in TEN.items() if name != "DB"}
    rows = [*launch(without_bytes), *launch({"T": "100 us", "DB": "100,000,000 byte"}, number=1)]
    groups = nr.analyze(write(details(*rows))).groups()
    assert (groups["fp32.rate"][0], groups["dram.rate"][0]) == (pytest.approx(FLOPS), pytest.approx(BYTES))
    assert (groups["fp32.known"][0], groups["dram.known"][0]) == (1, 1)


@pytest.mark.parametrize("name", ["g1", "g2", "g3", "g4"])
def test_case_of_ten_launches_of_which_one_lacks_something_has_the_values_of_nine(corpus: Path, name: str) -> None:
    groups = nr.analyze(corpus.parent / "cases" / "inputs" / f"{name}.csv").groups()
    assert (groups["fp32.rate"][0], groups["dram.rate"][0]) == (pytest.approx(2e12), pytest.approx(1e12))
    assert (groups["fp32.known"][0], groups["dram.known"][0]) == (9, 9)


# --- names that ncu prints with its options ---


def test_metric_that_is_printed_as_label_and_name_is_known_by_its_name(write: Write) -> None:
    rows = ["0|k|Duration (gpu__time_duration.sum)|us|20", "0|k|Any Label, of (any) kind (dram__bytes.sum)|byte|1,000"]
    row = nr.analyze(write(details(*rows, section="Any Section"))).launches.iloc[0]
    assert (row["time"], row["traffic.dram.bytes"]) == (pytest.approx(20e-6), 1000.0)


def test_ranges_before_the_name_of_a_kernel_are_taken_off_where_the_launch_is_in_them(write: Write) -> None:
    text = NESTED.replace('"k0"', '"step/forward/k0"').replace('"k3"', '"step/k3"')
    kernels = nr.analyze(write(text)).columns["kernel"].tolist()
    # The last launch is in no range.
    assert kernels == ["k0", "k1", "k2", "step/k3"]


# --- traffic that no tier explains, and work that no FLOP counts ---


def test_dram_bytes_above_those_of_l2_are_a_finding_with_both(corpus: Path) -> None:
    found = finding(nr.analyze(corpus.parent / "cases" / "inputs" / "f39b.csv"), "dram-beyond-l2")
    assert found is not None
    assert "300.0 MB moved at DRAM and only 200.0 MB at L2" in found.message


SECTORS, HITS = "lts__t_sectors_srcunit_tex.sum", "lts__t_sector_hit_rate.pct"


@pytest.mark.parametrize(
    ("dram", "severity"),
    [("33 Mbyte", None), ("50 Mbyte", Severity.NOTE), ("64 Mbyte", Severity.NOTE), ("66 Mbyte", Severity.WARNING)],
)
def test_dram_may_move_twice_what_l2_does_by_fetching_64_bytes(
    write: Write, dram: str, severity: Severity | None
) -> None:
    # 1 million sectors are 32 MB; 1 MB may be of others.
    found = finding(
        nr.analyze(write(details(*launch({"T": "1 ms", SECTORS: "1,000,000 sector", "DB": dram})))), "dram-beyond-l2"
    )
    assert (found.severity if found else None) == severity


@pytest.mark.parametrize(
    ("more", "is_found"),
    [({}, True), ({"lts__t_sectors_aperture_sysmem.sum": "900,000 sector"}, False), ({HITS: "90 %"}, False)],
)
def test_misses_that_dram_did_not_serve_are_a_finding_unless_another_memory_was_counted(
    write: Write, more: dict[str, str], is_found: bool
) -> None:
    metrics = {"T": "1 ms", SECTORS: "1,000,000 sector", HITS: "10 %", "DB": "1 Mbyte"} | more
    found = finding(nr.analyze(write(details(*launch(metrics)))), "misses-without-source")
    assert (found is not None) == is_found
    if found:
        # 90 % of 32 MB
        assert "28.80 MB of 32.00 MB missed in L2 (hit rate 10.0%) and DRAM moved 1.000 MB" in found.message


@pytest.mark.parametrize(
    "metric",
    ["lts__t_bytes_op_write.sum", "lts__t_bytes_equiv_l1sectormiss_pipe_lsu_mem_global_op_st.sum"],
)
def test_writes_that_only_other_counters_tell_are_held_against_dram(write: Write, metric: str) -> None:
    metrics = {"T": "1 ms", metric: "5,000,000 byte", "DW": "1,000 byte"}
    found = finding(nr.analyze(write(details(*launch(metrics)))), "writes-left-in-l2")
    assert found is not None
    assert "SMs wrote 5.000 MB to L2, and 1.000 KB reached DRAM" in found.message


@pytest.mark.parametrize(("instructions", "is_found"), [("1,000", False), ("2,000", True)])
def test_transcendental_instructions_above_five_percent_are_a_note(
    write: Write, instructions: str, is_found: bool
) -> None:
    # 32 x 1000 = 3.1 % of 1 032 000; 32 x 2000 = 6.0 % of 1 064 000.
    metrics = {"T": "1 ms", "FFMA": "1,000,000 inst", "FADD": "0 inst", "FMUL": "0 inst",
               "sm__inst_executed_pipe_xu.sum": f"{instructions} inst"}  # fmt: skip
    found = finding(nr.analyze(write(details(*launch(metrics)))), "transcendental-work")
    assert (found is not None) == is_found
    if found:
        assert found.message.startswith("6% of the floating-point instructions")


@pytest.mark.parametrize("rollup", ["avg", "max", "min"])
def test_value_per_unit_is_no_total_and_the_counter_to_collect_is_named(write: Write, rollup: str) -> None:
    analysis = nr.analyze(write(details("0|k|T|us|20", f"0|k|dram__bytes.{rollup}|byte|1,000")))
    assert "traffic.dram.bytes" not in analysis.columns
    found = finding(analysis, "value-per-unit")
    assert found is not None
    assert f"dram__bytes.{rollup} is a value per unit" in found.message
    assert found.help == "Collect the total: ncu --metrics dram__bytes.sum"


def test_value_per_unit_beside_the_total_is_nothing_to_say(write: Write) -> None:
    rows = ["0|k|T|us|20", "0|k|dram__bytes.avg|byte|100", "0|k|DB|byte|1,000"]
    assert finding(nr.analyze(write(details(*rows))), "value-per-unit") is None
