"""Inputs that repeat each other, ranks without a kernel, averages of percentages, counters against each other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import ncu_roofline as nr
from ncu_roofline.checks import Finding
from tests.conftest import Write
from tests.support import cells, details, launch, quoted
from tests.test_findings import CLEAN, SUMMARY, page


def of(analysis: nr.Analysis, code: str) -> list[Finding]:
    return [finding for finding in analysis.finding_list if finding.code == code]


def test_report_that_is_given_twice_is_said_to_count_twice(write: Write, tmp_path: Path) -> None:
    path = write(page({}))
    other = shutil.copy(path, tmp_path / "copy.csv")
    (found,) = of(nr.analyze(path, other), "X801")
    assert found.launches == (1,)
    assert "count them twice" in found.message


def test_same_capture_in_two_forms_is_recognised(corpus: Path) -> None:
    report, raw = corpus / "09-rep-sm100-algo23_profile.ncu-rep", corpus / "10-raw-sm100-algo23_raw.csv"
    (found,) = of(nr.analyze(report, raw), "X801")
    assert str(raw) in found.message


def test_two_runs_with_restarted_ids_are_no_repetition(write: Write) -> None:
    first, second = write(page({}), "a.csv"), write(page({"T": "25 us"}), "b.csv")
    analysis = nr.analyze(first, second)
    assert of(analysis, "X801") == []
    assert "kept apart" in of(analysis, "X802")[0].message


def test_reports_of_other_processes_have_nothing_in_common(write: Write) -> None:
    first, second = write(page({}), "a.csv"), write(page({}).replace('"4242"', '"17"'), "b.csv")
    analysis = nr.analyze(first, second)
    assert of(analysis, "X801") == of(analysis, "X802") == []


def test_captures_that_are_put_together_are_no_repetition(write: Write) -> None:
    first, second = write(page({}), "a.csv"), write(page({}), "b.csv")
    assert of(nr.analyze(first, second, merge=True), "X801") == []


def test_kernel_on_two_of_four_ranks_is_named_with_the_count(write: Write) -> None:
    everywhere = launch(CLEAN, kernel="step")
    paths = []
    for rank in range(4):
        rows = [*everywhere, *(launch(CLEAN, number=1, kernel="reduce") if rank < 2 else [])]
        paths.append(write(details(*rows).replace('"4242"', f'"{rank}"'), f"rank{rank}.csv"))
    (found,) = of(nr.analyze(*paths, aggregate=True), "X803")
    assert "reduce with grid 512 on 2 of 4" in found.message
    assert len(found.launches) == 2
    assert of(nr.analyze(*paths), "X803") == []


def test_kernel_on_all_ranks_is_nothing_to_say(write: Write) -> None:
    paths = [write(page({}).replace('"4242"', f'"{rank}"'), f"rank{rank}.csv") for rank in range(3)]
    assert of(nr.analyze(*paths, aggregate=True), "X803") == []


HIT_RATE = {"lts__t_sector_hit_rate.pct": "50 %", "lts__t_bytes.sum": "100 Mbyte"}


@pytest.mark.parametrize(
    ("changes", "fires"),
    [
        ({"DR": "50 Mbyte"}, False),
        # 64 byte are read for a sector of 32 byte that missed.
        ({"DR": "100 Mbyte"}, False),
        ({"DR": "125 Mbyte"}, False),
        # 2.5 x 50 MB + 1 MB
        ({"DR": "127 Mbyte"}, True),
        ({"DR": "3 Mbyte", "lts__t_sector_hit_rate.pct": "100 %"}, True),
        ({"DR": "0.9 Mbyte", "lts__t_sector_hit_rate.pct": "100 %"}, False),
    ],
)
def test_dram_reads_beyond_what_missed_in_l2_contradict_the_hit_rate(
    write: Write, changes: dict[str, str], fires: bool
) -> None:
    analysis = nr.analyze(write(page({**HIT_RATE, **changes}, gone=("DB",))))
    assert bool(of(analysis, "P307")) == fires


@pytest.mark.parametrize(("cc", "fires"), [("8.0", True), ("9.0", False)])
def test_l2_reads_beyond_l1_misses_count_only_where_nothing_goes_past_l1(write: Write, cc: str, fires: bool) -> None:
    changes = {"l1tex__t_sector_hit_rate.pct": "100 %", "lts__t_sectors_srcunit_tex_op_read.sum": "1,000,000 sector"}
    assert bool(of(nr.analyze(write(page(changes, cc=cc))), "P307")) == fires


@pytest.mark.parametrize(("warps", "fires"), [("156 inst", True), ("157 inst", False)])
def test_work_needs_a_thread_instruction_for_two_operations(write: Write, warps: str, fires: bool) -> None:
    # 5000 FFMA are 5000 thread instructions; 156 x 32 = 4992 x 1.01 = 5042 is enough, 154 x 32 x 1.01 = 4977 is not.
    found = of(nr.analyze(write(page({"sm__inst_executed.sum": warps.replace("156", "154")}))), "P309")
    assert bool(found) == fires


def test_graph_is_told_from_kernels_by_its_name(write: Write) -> None:
    names = ["Graph 3", "CUDA Graph", "graph_conv", "", "k"]
    rows = [row for n, name in enumerate(names) for row in launch(CLEAN, number=n, kernel=name)]
    (found,) = of(nr.analyze(write(details(*rows))), "C409")
    assert found.launches == (0, 1, 3)


def test_summary_by_device_is_no_graph(write: Write) -> None:
    text = (
        '"Device","CC","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
        '"0","8.0","14","x","gpu__time_duration.sum","us","1","3","2"\n'
    )
    assert of(nr.analyze(write(text)), "C409") == []


def test_peak_that_is_another_path_s_is_named(write: Write) -> None:
    # A100: 2048 FLOP per cycle and SM of FP16 tensor work, 32 times the 64 of FP32; 108 x 2048 / 2 = 110592 inst.
    name = {"device__attribute_display_name": "A100-SXM4-40GB", "PKF": "110,592 inst/cycle"}
    (found,) = of(nr.analyze(write(page(name))), "M215")
    assert "it is that of tensor.fp16" in found.message


def test_sparse_peak_of_a_tensor_path_is_named(write: Write) -> None:
    # A100: 2048 FLOP per cycle and SM, dense; 2 x 108 x 2048 of the sparse counter's peak.
    name = {"device__attribute_display_name": "A100-SXM4-40GB", "OPS": "1,000 inst", "TEN": "1 inst",
            "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum.peak_sustained": "442,368 inst/cycle"}  # fmt: skip
    (found,) = of(nr.analyze(write(page(name))), "M215")
    assert "tensor.fp16.acc32" in found.message
    assert "a sparse peak for a dense one" in found.message


def test_doubled_scalar_peak_is_no_sparse_one(write: Write) -> None:
    name = {"device__attribute_display_name": "A100-SXM4-40GB", "PKF": "13,824 inst/cycle"}
    (found,) = of(nr.analyze(write(page(name))), "M215")
    assert "counted as one operation instead of two" in found.message
    assert "sparse" not in found.message


def test_excess_has_its_operands_in_the_sentence(write: Write) -> None:
    # 51.2e6 byte in 20 us are 2.56e12 byte/s, twice 1280 byte/cycle x 1 GHz.
    (found,) = of(nr.analyze(write(page({"DB": "51,200,000 byte"}))), "P301")
    assert "2.56e+12 byte/s against 1.28e+12 byte/s (report)" in found.message


def test_rows_of_a_launch_in_another_order_change_no_finding(write: Write) -> None:
    rows = [quoted(cells(row)) for row in launch(CLEAN | HIT_RATE | {"DR": "127 Mbyte"})]
    head = page({}).splitlines()[0]
    there, back = (nr.analyze(write("\n".join([head, *some]))) for some in (rows, rows[::-1]))
    assert [f.message for f in there.finding_list] == [f.message for f in back.finding_list]


# What reviewers found.


@pytest.mark.parametrize(
    "changes",
    [
        ('"0","8.0"', '"1","8.0"'), ('"byte","1,000"', '"byte","700"'), ('"20"', '"20.1"'),
        ('"k"', '"void k<double>(int)"'), ('"(512, 1, 1)"', '"(511, 1, 1)"'),
    ],
)  # fmt: skip
def test_launches_that_differ_in_anything_are_no_repetition(write: Write, changes: tuple[str, str]) -> None:
    text = page({}).replace('"k"', '"void k<float>(int)"') if changes[0] == '"k"' else page({})
    other = text.replace('"void k<float>(int)"', changes[1]) if changes[0] == '"k"' else text.replace(*changes)
    assert other != text
    analysis = nr.analyze(write(text, "a.csv"), write(other, "b.csv"))
    assert of(analysis, "X801") == []
    assert len(of(analysis, "X802")) == 1


def test_repetition_is_found_behind_another_run_of_the_same_id(write: Write) -> None:
    other, same = write(page({"T": "25 us"}), "a.csv"), page({})
    analysis = nr.analyze(other, write(same, "b.csv"), write(same, "c.csv"))
    (found,) = of(analysis, "X801")
    assert found.launches == (2,)


def test_part_of_a_report_is_a_repetition_of_its_launches(write: Write) -> None:
    both = details(*(row for n, time in enumerate(("20 us", "40 us")) for row in launch(CLEAN | {"T": time}, number=n)))
    analysis = nr.analyze(write(both, "a.csv"), write(page({}), "b.csv"))
    (found,) = of(analysis, "X801")
    assert found.launches == (2,)
    assert of(analysis, "X802") == []


def test_exports_without_a_common_number_are_neither(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T|us|20"), "a.csv"), write(details("0|k|DB|byte|5"), "b.csv"))
    assert of(analysis, "X801") == of(analysis, "X802") == []


def test_summary_that_is_given_twice_is_found_without_ids(write: Write) -> None:
    (found,) = of(nr.analyze(write(SUMMARY, "a.csv"), write(SUMMARY, "b.csv")), "X801")
    assert found.launches == (1,)


@pytest.mark.parametrize("name", ["0", "NVIDIA A100-SXM4-40GB (0)", "A100-SXM4-40GB", "A100"])
def test_time_of_the_same_device_in_other_words_is_no_error(write: Write, name: str) -> None:
    report = write(page({"device__attribute_display_name": "A100-SXM4-40GB"}))
    times = write(f"kernel,grid,block,time_us,device\nk,512,256,20,{name}\n", "times.csv")
    assert of(nr.analyze(report, timing=times), "T505") == []


def test_rounding_of_a_hit_rate_is_no_contradiction(write: Write) -> None:
    # Half the last digit of 100.00 % of 100 GB are 5 MB.
    changes = {
        "T": "30 ms",
        "lts__t_sector_hit_rate.pct": "100.00 %",
        "lts__t_bytes.sum": "100 Gbyte",
        "DR": "4.9 Mbyte",
    }
    assert of(nr.analyze(write(page(changes, gone=("DB",)))), "P307") == []


def test_averaged_hit_rate_is_held_against_nothing(write: Write) -> None:
    row = '"1","k","(1, 1, 1)","(1, 1, 1)","14","x","{}","{}","1","3","{}"'
    averages = (
        ("lts__t_bytes.sum", "Mbyte", "10"), ("lts__t_sector_hit_rate.pct", "%", "92.86"),
        ("dram__bytes_read.sum", "Mbyte", "10"),
    )  # fmt: skip
    rows = [row.format(*average) for average in averages]
    assert of(nr.analyze(write(SUMMARY + "\n".join(rows) + "\n")), "P307") == []


def test_merged_captures_are_one_input_to_the_rules(write: Write) -> None:
    first = [row for n in (0, 1) for row in launch({"T": "20 us", "SMHZ": f"{1 + n / 5} Ghz"}, number=n)]
    second = [row for n in (0, 1) for row in launch({"DB": "1,000 byte"}, number=n)]
    analysis = nr.analyze(write(details(*first), "a.csv"), write(details(*second), "b.csv"), merge=True)
    assert len(of(analysis, "C405")) == 1


def test_report_and_table_of_one_capture_can_be_put_together(corpus: Path) -> None:
    report, raw = corpus / "09-rep-sm100-algo23_profile.ncu-rep", corpus / "10-raw-sm100-algo23_raw.csv"
    assert len(nr.analyze(report, raw, merge=True)) == 1


def test_measured_ceiling_in_use_is_no_rounded_one(write: Write) -> None:
    report = page({"DB": "10 Mbyte", "dram__bytes.sum.pct_of_peak_sustained_elapsed": "39.06 %"}, gone=("PKD",))
    roofs = write("schema: 1\nsources: [s]\nceilings: {dram: {value: 1.2 TB/s}}\n", "roofs.yaml")
    assert of(nr.analyze(write(report), ceilings=roofs, peak_source="measured"), "M217") == []
