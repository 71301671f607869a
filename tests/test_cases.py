"""Small inputs that broke other tools, each with its right answer (the numbers are those of the case list)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.devices import match_device
from ncu_roofline.errors import InputError
from tests.conftest import Write
from tests.support import H15, H20, cells, details, finding, quoted, row_of


def analysis_of(write: Write, *rows: str, cc: str = "8.0", preface: str = "") -> nr.Analysis:
    return nr.analyze(write(details(*rows, cc=cc, preface=preface)))


# Input format


def test_warning_lines_before_the_header_are_no_header(write: Write) -> None:
    preface = (
        "Warning: section files could not be deployed to /home/u/Documents\n"
        "==PROF== Connected to process 4242 (/opt/app)\n"
    )
    analysis = analysis_of(write, "0|k_warn|T|ns|1,000", "0|k_warn|DB|byte|2,000", preface=preface)
    assert (len(analysis), analysis.inputs[0].skipped_lines) == (1, 2)
    assert row_of(analysis)["traffic.dram.rate"] == pytest.approx(2e9)


def test_row_of_units_with_empty_identity_is_no_launch(write: Write) -> None:
    text = (
        '"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","dram__bytes.sum"\n'
        '"","","","","us","Kbyte"\n"0","k_units","(128, 1, 1)","(64, 1, 1)","2.00","500.00"\n'
    )
    analysis = nr.analyze(write(text))
    row = row_of(analysis)
    assert len(analysis) == 1
    assert (row["time"], row["traffic.dram.bytes"]) == (pytest.approx(2e-6), 500_000.0)
    assert row["traffic.dram.rate"] == pytest.approx(250e9)


EUROPEAN = (
    "0|axpy_de|T|ns|204.800",
    "0|axpy_de|DB|byte|33.554.432",
    "0|axpy_de|sm__throughput.avg.pct_of_peak_sustained_elapsed|%|71,25",
)


def test_european_numbers_are_told_from_cells_that_can_be_read_one_way(write: Write) -> None:
    row = row_of(analysis_of(write, *EUROPEAN))
    assert (row["time"], row["traffic.dram.bytes"]) == (pytest.approx(204.8e-6), 33_554_432.0)
    assert row["traffic.dram.rate"] == pytest.approx(163.84e9)
    assert row["utilization.sm__throughput"] == pytest.approx(0.7125)


def test_number_that_can_be_read_two_ways_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="ambiguous") as caught:
        analysis_of(write, EUROPEAN[0])
    assert "--locale" in str(caught.value)


def test_one_label_with_two_units_is_two_quantities(write: Write) -> None:
    first = cells("0|k|Memory Throughput|%|14.26", section="GPU Speed Of Light Throughput")
    second = cells("0|k|Memory Throughput|byte/s|12,943,820,224.72", section="Memory Workload Analysis")
    row = row_of(nr.analyze(write("\n".join(map(quoted, [H15, first, second])))))
    assert row["utilization.gpu__compute_memory_throughput"] == pytest.approx(0.1426)
    assert row["traffic.dram.rate"] == pytest.approx(12_943_820_224.72)


def test_old_and_new_spellings_of_a_unit_are_one_duration(write: Write) -> None:
    printed = ("2,000|nsecond", "2,000|ns", "2.00|usecond", "2.00|us", "0.002|ms")
    rows = [f"{n}|k|T|{text.split('|')[1]}|{text.split('|')[0]}" for n, text in enumerate(printed)]
    assert analysis_of(write, *rows).columns["time"].tolist() == pytest.approx([2e-6] * 5)


def test_unknown_unit_of_a_counter_in_use_names_the_cell(write: Write) -> None:
    found = finding(analysis_of(write, "5|k|T|fortnight|2.00"), "unit-not-understood")
    assert found is not None
    assert "on line 2 (2.00)" in found.message
    assert "fortnight" in found.message


NOT_AVAILABLE = ("0|k_na|DB||(!) n/a", "0|k_na|T|ns|1,000")


def test_value_that_was_not_available_is_unknown(write: Write) -> None:
    analysis = analysis_of(write, *NOT_AVAILABLE)
    assert len(analysis) == 1
    assert "traffic.dram.bytes" not in analysis.columns
    assert len(analysis.points) == 0


def test_tier_that_was_not_available_does_not_meet_a_requirement(write: Write) -> None:
    result = CliRunner().invoke(main, ["analyze", write(details(*NOT_AVAILABLE)), "--require", "dram"])
    assert result.exit_code == 1
    assert "dram is not known" in result.stderr


def test_output_of_the_application_between_rows_is_skipped_and_counted(write: Write) -> None:
    foreign = ['"iter","0","done"', "result=0.5", '==PROF== Profiling "k_mix" - 1: 0%....100%']
    lines = [quoted(H15), quoted(cells("0|k_mix|T|ns|1,000")), *foreign, quoted(cells("1|k_mix|T|ns|1,000"))]
    report = nr.read(write("\n".join(lines))).inputs[0]
    assert len(report) == 2
    assert (report.skipped.counts, report.skipped.lines) == ({"foreign": 3}, {"foreign": (3, 4, 5)})


def test_row_with_text_glued_to_its_front_is_damaged(write: Write) -> None:
    lines = [quoted(H15), quoted(cells("0|k|T|ns|1,000")), "epoch 1 " + quoted(cells("1|k|T|ns|1,000"))]
    report = nr.read(write("\n".join(lines))).inputs[0]
    assert (len(report), report.skipped.lines) == (1, {"damaged": (3,)})


def test_concatenated_outputs_with_restarting_ids_are_two_launches(write: Write) -> None:
    text = details("0|k|T|ns|1,000", process="11") + "\n" + details("0|k|T|ns|3,000", process="12")
    analysis = nr.analyze(write(text))
    assert len(analysis) == 2
    assert analysis.columns["time"].sum() == pytest.approx(4e-6)


def test_quotes_and_commas_of_a_kernel_name_stay_in_it(write: Write) -> None:
    name = 'void tile_mm<cfg<128, 64>, op::add<"x,y">>(T1 *, const T2 *)'
    assert analysis_of(write, f"0|{name}|T|ns|1,000").columns["kernel"].tolist() == [name]


def test_line_break_in_a_kernel_name_is_one_launch(write: Write) -> None:
    analysis = analysis_of(write, "0|void k<a,\nb>()|T|ns|1,000", "1|k2|T|ns|1,000")
    assert analysis.columns["kernel"].tolist() == ["void k<a,\nb>()", "k2"]


def test_rule_row_between_metric_rows_is_no_metric(write: Write) -> None:
    rule = [*cells("0|k|||")[:13], "", "", "SOLBottleneck", "OPT", 'Prose, with "commas"\nand lines', "global", "20.1"]
    rows = [cells("0|k|T|ns|1,000") + [""] * 5, rule, cells("0|k|DB|byte|2,000") + [""] * 5]
    report = nr.analyze(write("\n".join(map(quoted, [H20, *rows]))))
    assert len(report) == 1
    assert row_of(report)["traffic.dram.rate"] == pytest.approx(2e9)


# Work

HIDDEN = (
    "0|mm_hidden|T|us|200.00",
    "0|mm_hidden|DB|Mbyte|150.00",
    "0|mm_hidden|FFMA|inst|50,000,000",
    "0|mm_hidden|TEN|inst|20,000,000",
)


def test_tensor_work_that_was_not_counted_leaves_a_lower_bound(write: Write) -> None:
    analysis = analysis_of(write, *HIDDEN, cc="7.5")
    row = row_of(analysis)
    assert (row["work.fp32.count"], row["work.fp32.extent"]) == (1e8, "at_least")
    assert row["traffic.dram.intensity"] == pytest.approx(0.6667, abs=1e-4)
    assert row["bound.by"] is None
    assert finding(analysis, "tensor-not-counted") is not None


def test_tensor_activity_that_may_be_constant_loads_is_said_to_be_unclear(write: Write) -> None:
    # On 8.0 the compiler's constant loads run on the tensor pipe, and 20 million of them are possible.
    analysis = analysis_of(write, *HIDDEN)
    assert finding(analysis, "tensor-activity-ambiguous") is not None
    assert not row_of(analysis)["bound.complete"]


def test_tensor_work_that_was_counted_gives_the_whole_intensity(write: Write) -> None:
    row = row_of(analysis_of(write, *HIDDEN, "0|mm_hidden|OPS||81,920,000,000"))
    assert row["work.tensor.fp16.acc32.count"] == 8.192e10
    assert row["traffic.dram.intensity"] == pytest.approx(546.8, abs=0.05)


@pytest.mark.parametrize(("clock", "peak"), [("1.41", 19.49e12), ("1.10", 15.21e12)])
def test_fused_multiply_add_counts_two_in_work_and_peak(write: Write, clock: str, peak: float) -> None:
    rows = ["FADD|inst|100", "FMUL|inst|50", "FFMA|inst|1,000", "PKF|inst/cycle|6,912", f"SMHZ|Ghz|{clock}", "T|us|1"]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert row["work.fp32.count"] == 2150.0
    assert row["work.fp32.peak"] == pytest.approx(peak, rel=3e-4)


def test_half_precision_factors_are_four_for_a_fused_multiply_add(write: Write) -> None:
    hfma = "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained"
    rows = ["T|us|1", "HFMA|inst|1,000,000", "HADD|inst|0", "HMUL|inst|0", f"{hfma}|inst/cycle|13,824", "SMHZ|Ghz|1.41"]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert row["work.fp16.count"] == 4e6
    assert row["work.fp16.peak"] == pytest.approx(77.97e12, rel=1e-3)


def test_integer_kernel_is_listed_with_bandwidth_and_operations(write: Write) -> None:
    zero = [f"0|hash|{name}|inst|0" for name in ("FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA")]
    integer = "0|hash|sm__sass_thread_inst_executed_op_integer_pred_on.sum|inst|8,000,000"
    row = row_of(analysis_of(write, *zero, integer, "0|hash|T|us|4", "0|hash|DB|Mbyte|1"))
    assert row["work.int.rate"] == pytest.approx(2e12)
    assert row["traffic.dram.rate"] == pytest.approx(250e9)


def test_few_half_instructions_of_a_single_precision_kernel_are_no_work(write: Write) -> None:
    row = row_of(analysis_of(write, "0|k|T|us|4", "0|k|FFMA|inst|1,000,000", "0|k|HFMA|inst|8"))
    assert (row["work.fp16.extent"], row["work.fp32.count"]) == ("at_most", 2e6)


def test_kernel_with_half_instructions_alone_has_that_work(write: Write) -> None:
    assert row_of(analysis_of(write, "0|setup|T|us|4", "0|setup|HFMA|inst|8"))["work.fp16.count"] == 32.0


def test_unknown_architecture_gives_scalar_work_and_no_tensor_work(write: Write) -> None:
    analysis = analysis_of(write, *HIDDEN, cc="13.7")
    assert finding(analysis, "unknown-architecture") is not None
    assert row_of(analysis)["work.fp32.count"] == 1e8
    assert not [name for name in analysis.columns if name.startswith("work.tensor")]


def test_double_precision_tensor_work_has_its_own_ceiling(write: Write) -> None:
    ops = "sm__ops_path_tensor_src_fp64.sum"
    rows = ["DFMA|inst|0", f"{ops}||5,120,000", f"{ops}.peak_sustained|1/cycle|13,824", "SMHZ|Ghz|1.41", "T|us|1"]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert row["work.tensor.fp64.rate"] == pytest.approx(5.12e12)
    assert row["work.tensor.fp64.peak"] == pytest.approx(19.5e12, rel=1e-3)


# Bytes


def test_l2_of_two_partitions_counts_what_the_sm_asked_for(write: Write) -> None:
    rows = [
        "lts__t_sectors.sum|sector|9,000,000",
        "lts__t_sectors_srcunit_tex.sum|sector|6,000,000",
        "lts__t_sectors_srcunit_ltcfabric.sum|sector|3,000,000",
        "T|us|40",
    ]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert (row["traffic.l2.measure"], row["traffic.l2.bytes"]) == ("sm", 192e6)


def test_requests_are_no_bytes(write: Write) -> None:
    analysis = analysis_of(write, "0|k|T|us|4", "0|k|l1tex__t_requests.sum|request|1,000")
    assert "traffic.l1.bytes" not in analysis.columns


def test_shared_memory_is_a_tier_of_its_own(write: Write) -> None:
    shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
    rows = [f"0|k|{shared}||1,000,000", "0|k|l1tex__t_bytes.sum|Mbyte|1", "0|k|T|us|40"]
    row = row_of(analysis_of(write, *rows))
    assert (row["traffic.shared.bytes"], row["traffic.l1.bytes"]) == (128e6, 1e6)


def test_prefixes_of_the_command_line_are_decimal(write: Write) -> None:
    row = row_of(analysis_of(write, "0|k|DB|Mbyte|195.58", "0|k|FFMA|inst|58,982,400", "0|k|T|us|300"))
    assert row["traffic.dram.intensity"] == pytest.approx(0.6032, abs=5e-5)


# Peaks


def test_report_without_peaks_of_an_unknown_device_has_no_ceiling(write: Write) -> None:
    analysis = analysis_of(write, "0|k|T|us|10", "0|k|FFMA|inst|1,000", "0|k|DB|byte|1,000", cc="13.7")
    row = row_of(analysis)
    assert math.isnan(row["work.fp32.peak"])
    assert math.isnan(row["traffic.dram.peak"])


def test_devices_of_one_report_have_their_own_ceilings(write: Write) -> None:
    rows = ["PKF|inst/cycle|{}", "SMHZ|Ghz|1", "FFMA|inst|10", "T|us|10"]
    lines = [H15]
    for number, (device, cc, peak) in enumerate((("0", "8.0", "6,912"), ("1", "9.0", "16,896"))):
        lines += [cells(f"{number}|k|{row.format(peak)}", device=device, cc=cc) for row in rows]
    analysis = nr.analyze(write("\n".join(map(quoted, lines))))
    assert analysis.columns["map"].tolist() == ["sm_80", "sm_90"]
    assert analysis.columns["work.fp32.peak"].tolist() == pytest.approx([13.824e12, 33.792e12])


def test_ceiling_is_at_the_clock_of_the_run(write: Write) -> None:
    # 16.10 TFLOP/s at 1.85 GHz; at the base clock of 1.545 GHz it would be exceeded.
    rows = ["PKF|inst/cycle|4,352", "SMHZ|Ghz|1.85", "FFMA|inst|7,950,000,000", "T|ms|1"]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert row["work.fp32.peak"] == pytest.approx(16.10e12, rel=1e-3)
    assert row["work.fp32.rate"] / row["work.fp32.peak"] == pytest.approx(0.988, abs=1e-3)


def test_dram_ceiling_uses_the_dram_clock(write: Write) -> None:
    rows = ["PKD|byte/cycle|2,048", "DHZ|Ghz|1.20", "SMHZ|Ghz|1.40", "DB|byte|1,000", "T|us|10"]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert row["traffic.dram.peak"] == pytest.approx(2.4576e12)


@pytest.mark.parametrize(("clock", "source"), [("1,215,000", "attributes"), ("0", None)])
def test_dram_ceiling_from_attributes_says_so_and_needs_a_clock(write: Write, clock: str, source: str | None) -> None:
    rows = [
        f"device__attribute_memory_clock_rate||{clock}",
        "device__attribute_global_memory_bus_width||5,120",
        "DB|byte|1,000",
        "T|us|10",
    ]
    row = row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))
    assert row["traffic.dram.peak_source"] == source
    assert np.isnan(row["traffic.dram.peak"]) == (source is None)


def test_traffic_far_above_its_ceiling_is_an_error(write: Write) -> None:
    rows = ["PKD|byte/cycle|665.6", "DHZ|Ghz|1", "DB|byte|2,021,970,000", "T|ms|1"]
    found = finding(analysis_of(write, *[f"0|k|{row}" for row in rows]), "above-ceiling")
    assert found is not None
    assert found.severity.label == "error"


def named(write: Write, device: str, *rows: str) -> nr.Analysis:
    name = [*cells("0|k|device__attribute_display_name||x")[:-1], device]
    return nr.analyze(write(details(*[f"0|k|{row}" for row in rows]) + quoted(name) + "\n"))


@pytest.mark.parametrize(
    ("device", "peak"), [("NVIDIA A100-SXM4-40GB", 312e12), ("NVIDIA H100 80GB HBM3", 989e12), ("NVIDIA B200", 2250e12)]
)
def test_dense_peak_of_the_table_is_neither_halved_nor_doubled(device: str, peak: float) -> None:
    found = match_device(device).device
    assert found is not None
    assert found.peak("tensor.bf16") == pytest.approx(peak, rel=0.01)


def test_device_that_is_in_no_table_has_no_ceiling_and_the_way_to_one(write: Write) -> None:
    analysis = named(write, "NVIDIA X900", "T|us|10", "FFMA|inst|1,000", "SMHZ|Ghz|1")
    assert math.isnan(row_of(analysis)["work.fp32.peak"])
    found = finding(analysis, "device-doubtful")
    assert found is not None
    assert "'NVIDIA X900' is not in the device table, and no other GPU stands in for it" in found.message
    assert "--ceilings" in found.help


def test_device_that_is_in_no_table_has_the_ceiling_of_its_report(write: Write) -> None:
    rows = ["T|us|10", "FFMA|inst|1,000", "SMHZ|Ghz|1", "PKF|inst/cycle|6,912"]
    analysis = named(write, "NVIDIA X900", *rows)
    assert row_of(analysis)["work.fp32.peak"] == pytest.approx(13.824e12)
    assert finding(analysis, "device-doubtful") is None


def test_part_of_a_device_with_the_peak_of_the_whole_is_a_contradiction(write: Write) -> None:
    rows = ["T|us|10", "FFMA|inst|1,000", "SMHZ|Ghz|1", "PKF|inst/cycle|6,912"]
    analysis = named(write, "NVIDIA A100-SXM4-40GB", *rows, "device__attribute_multiprocessor_count||14")
    slice_, apart = finding(analysis, "device-doubtful"), finding(analysis, "ceilings-disagree")
    assert slice_ is not None
    assert "a MIG slice, or another product" in slice_.message
    # 6912 of 14 x 64 FFMA per cycle
    assert apart is not None
    assert "fp32: the report's own peak is 7.71 times that of the device table" in apart.message
    assert apart.severity.label == "warning"


def test_measured_roof_far_from_that_of_the_report_is_a_warning(write: Write) -> None:
    # 81 TFLOP/s measured against 61.44 of the report
    rows = ["T|us|10", "FFMA|inst|1,000", "SMHZ|Ghz|2", "PKF|inst/cycle|15,360"]
    roofs = write("schema: 1\nsources: [a benchmark]\nceilings: {fp32: {value: 81 TFLOP/s}}\n", "m.yaml")
    found = finding(nr.analyze(write(details(*[f"0|k|{row}" for row in rows])), ceilings=roofs), "ceilings-disagree")
    assert found is not None
    assert found.severity.label == "warning"
    assert "fp32: the measured ceiling is 1.32 times the ceiling in use" in found.message


# Timing and aggregation


def test_cycles_summed_over_the_sms_are_no_time(write: Write) -> None:
    rows = ["sm__cycles_elapsed.sum|cycle|13,200,000", "sm__cycles_elapsed.max|cycle|100,000", "SMHZ|Ghz|1"]
    assert row_of(analysis_of(write, *[f"0|k|{row}" for row in rows]))["time"] == pytest.approx(100e-6)


def test_short_kernel_is_noted_and_still_bound(write: Write) -> None:
    rows = ["T|us|2.1", "FFMA|inst|50,000", "PKF|inst/cycle|6,912", "SMHZ|Ghz|1.41"]
    analysis = analysis_of(write, *[f"0|k|{row}" for row in rows])
    found = finding(analysis, "too-short")
    assert found is not None
    assert found.severity.label == "note"
    assert row_of(analysis)["bound.by"] == "fp32"


def test_group_rate_is_the_sum_of_work_over_the_sum_of_time(write: Write) -> None:
    rows = ["0|k|T|us|10", "0|k|DB|byte|1,000,000,000", "1|k|T|us|30", "1|k|DB|byte|10,000,000"]
    groups = analysis_of(write, *rows).groups()
    assert groups["dram.rate"].tolist() == pytest.approx([1.01e9 / 40e-6])


def test_launches_without_a_tier_do_not_shift_the_others(write: Write) -> None:
    rows = [f"{n}|{name}|T|us|10" for n, name in enumerate(("k_a", "k_b", "k_c"))]
    rows += [f"{n}|{name}|FFMA|inst|100" for n, name in enumerate(("k_a", "k_b", "k_c"))]
    rows += [f"{n}|{name}|l1tex__t_bytes.sum|byte|1,000" for n, name in ((1, "k_b"), (2, "k_c"))]
    points = analysis_of(write, *rows).points
    l1 = points[(points["tier"] == "l1") & points["intensity"].notna()]
    assert l1["kernel"].tolist() == ["k_b", "k_c"]


def test_one_name_with_two_grids_is_two_groups(write: Write) -> None:
    lines = [H15]
    lines += [cells(f"{n}|fill|T|ns|1,000", grid=f"({4096 if n % 2 else 1048576}, 1, 1)") for n in range(28)]
    groups = nr.analyze(write("\n".join(map(quoted, lines)))).groups()
    assert [len(launches) for launches in groups["launches"]] == [14, 14]


# Bytes, peaks, timing and aggregation: pairings


def codes_of(analysis: nr.Analysis) -> set[str]:
    return {found.code for found in analysis.finding_list}


def test_working_set_in_l2_is_held_against_l2_and_not_called_poor_in_dram(write: Write) -> None:
    # 40 MB in 40 us are 1000 GB/s at L2, 0.1 MB are 2.5 GB/s at DRAM.
    row = row_of(
        analysis_of(
            write, "0|k|T|us|40", "0|k|DB|Mbyte|0.10", "0|k|PKD|byte/cycle|1,280", "0|k|DHZ|Ghz|1",
            "0|k|lts__t_sectors_srcunit_tex.sum|sector|1,250,000",
            "0|k|lts__t_sectors_srcunit_tex.sum.peak_sustained|sector/cycle|160",
            "0|k|lts__cycles_elapsed.avg.per_second|Ghz|1",
        )
    )  # fmt: skip
    assert (row["traffic.l2.rate"], row["traffic.dram.rate"]) == (pytest.approx(1e12), pytest.approx(2.5e9))
    assert row["bound.by"] == "l2"


def test_hit_rate_above_all_is_refused_with_the_reason(write: Write) -> None:
    found = finding(analysis_of(write, "0|k|T|us|20", "0|k|lts__t_sector_hit_rate.pct|%|171.46"), "hit-rate-impossible")
    assert found is not None
    assert "171.5%" in found.message


def test_tensor_pipe_at_half_of_its_counter_is_not_called_half_used(write: Write) -> None:
    # GeForce counts FP32 accumulation at half rate: 49.8 % of the pipe while the operations are at 99 % of their peak.
    peak = 1_000 * 1e9
    rows = [
        "0|k|T|us|1,000", "0|k|SMHZ|Ghz|1", f"0|k|OPS|inst|{0.99 * peak * 1e-3:,.0f}",
        "0|k|sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum.peak_sustained|inst/cycle|1,000",
        "0|k|sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active|%|49.80",
    ]  # fmt: skip
    analysis = analysis_of(write, *rows, cc="8.9")
    assert row_of(analysis)["bound.by"] == "tensor.fp16.acc32"
    assert row_of(analysis)["bound.fraction"] == pytest.approx(0.99, rel=1e-3)
    assert not [found for found in analysis.finding_list if "50%" in found.message or "49.8" in found.message]


def test_cold_bytes_are_not_paired_with_a_warm_time(write: Write) -> None:
    report = write(details("0|k|T|us|11.15", "0|k|DB|Mbyte|25"))
    times = write("kernel,grid,block,time_us,cache_control\nk,512,256,7.0,none\n", "times.csv")
    analysis = nr.analyze(report, timing=times, conditions="cache=all,clock=none")
    row = row_of(analysis)
    # 25 MB in 11.15 us are 2.24 TB/s; with 7.0 us they would be 3.57 TB/s, which never was.
    assert row["traffic.dram.rate"] == pytest.approx(2.242e12, rel=1e-3)
    assert math.isnan(row["traffic.dram.external_rate"])
    assert {"C403", "C404"} <= codes_of(analysis)


def test_external_time_in_another_unit_is_named_a_slip(write: Write) -> None:
    times = write("kernel,grid,block,time_us\nk,512,256,20000\n", "times.csv")
    found = finding(nr.analyze(write(details("0|k|T|us|20")), timing=times), "times-apart")
    assert found is not None
    assert "factor 1000" in found.message


def test_time_of_another_device_is_an_error(write: Write) -> None:
    rows = ["0|k|T|us|20", "0|k|device__attribute_display_name||A100-SXM4-40GB"]
    for device, is_wrong in (("NVIDIA A100-SXM4-40GB", False), ("NVIDIA B200", True)):
        times = write(f"kernel,grid,block,time_us,device\nk,512,256,20,{device}\n", "times.csv")
        found = finding(nr.analyze(write(details(*rows)), timing=times), "timing-of-another-device")
        assert (found is not None) == is_wrong


def test_launches_of_two_streams_are_a_sum_of_serialised_times(write: Write) -> None:
    text = details("0|k|T|ms|1") + quoted([c if n != 6 else "13" for n, c in enumerate(cells("1|k|T|ms|1"))]) + "\n"
    found = finding(nr.analyze(write(text)), "streams-serialised")
    assert found is not None
    assert "sum of serialised kernel times" in found.message


def test_throttled_launch_with_the_same_cycles_is_the_clock_alone(write: Write) -> None:
    # 1.965 GHz x 100 us = 1.580 GHz x 124.37 us
    rows = ["0|k|T|us|100", "0|k|SMHZ|Ghz|1.965", "1|k|T|us|124.37", "1|k|SMHZ|Ghz|1.58"]
    found = finding(analysis_of(write, *rows), "clock-drift")
    assert found is not None
    assert "same cycles (1.965e+05): 124.4 us against 100 us is the clock alone" in found.message


def test_rates_of_a_kernel_are_ratios_of_sums_and_not_means(write: Write) -> None:
    # 10 of 100, 90 of 100, 0 of 1000 us of bytes: (10 + 90 + 0) / 1200
    rows = [row for n, (amount, time) in enumerate(((10, 100), (90, 100), (0, 1000)))
            for row in (f"{n}|k|T|us|{time:,}", f"{n}|k|DB|Mbyte|{amount}")]  # fmt: skip
    groups = analysis_of(write, *rows).groups()
    assert groups["dram.rate"].tolist() == [pytest.approx(100e6 / 1200e-6)]


def test_ranks_are_kept_apart_and_taken_together_on_request_with_the_slowest_named(write: Write) -> None:
    paths = [
        write(details(f"0|k|T|ms|{time}", "0|k|FFMA|inst|500,000").replace('"4242"', f'"{rank}"'), f"rank{rank}.csv")
        for rank, time in enumerate((1, 1, 1, 3))
    ]
    assert len(nr.analyze(*paths).groups()["time"]) == 4
    groups = nr.analyze(*paths, aggregate=True).groups()
    # 4 x 1e6 FLOP in 6 ms of device time
    assert groups["leading.rate"].tolist() == [pytest.approx(4e6 / 6e-3)]
    assert groups["rank.slowest.time"].tolist() == [pytest.approx(3e-3)]
