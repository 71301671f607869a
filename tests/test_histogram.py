"""The opcode histogram: shapes of tensor instructions, and what else the opcodes tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from tests import binary_report
from tests.conftest import Write
from tests.support import details, finding, launch

HISTOGRAM = "sass__inst_executed_per_opcode_with_modifier_all"
V100 = {
    "gpu__time_duration.sum": 20000.0,
    "sm__inst_executed_pipe_tensor.sum": 24.0,
    "device__attribute_compute_capability_major": 7,
    "device__attribute_compute_capability_minor": 0,
    "launch__grid_size": 512,
}


def analyse(write: Write, histogram: Mapping[str, int] | None, metrics: Mapping[str, float | int] = V100) -> Analysis:
    strings = binary_report.Strings()
    content = binary_report.result(metrics, strings, histogram=histogram)
    return nr.analyze(write(binary_report.report(binary_report.block(content, strings=strings)), "r.ncu-rep"))


def printed(write: Write, cell: str) -> Analysis:
    rows = [*launch({"T": "20 us", "TEN": "24 inst"}), f"0|k|{HISTOGRAM}|inst|{cell}"]
    return nr.analyze(write(details(*rows, cc="7.0")))


def test_steps_of_a_v100_with_fp32_accumulation_are_512_flop(write: Write) -> None:
    steps = {f"HMMA.884.F32.F32.STEP{n}": 6 for n in range(4)}
    columns = analyse(write, steps | {"LDG.E.SYS": 9}).columns
    # 4 x 6 x 512
    assert columns["work.tensor.fp16.acc32.count"][0] == 12_288
    assert columns["work.tensor.fp16.acc16.count"][0] == 0


def test_steps_of_a_v100_with_fp16_accumulation_are_1024_flop(write: Write) -> None:
    columns = analyse(write, {"HMMA.884.F16.F16.STEP0": 12, "HMMA.884.F16.F16.STEP1": 12}).columns
    # 24 x 1024
    assert columns["work.tensor.fp16.acc16.count"][0] == 24_576


def test_tensor_work_of_a_v100_counted_by_opcode_is_not_missing(write: Write) -> None:
    analysis = analyse(write, {"HMMA.884.F32.F32.STEP0": 24})
    assert finding(analysis, "tensor-not-counted") is None
    assert not {"tensor.fp16.acc32", "tensor.fp16.acc16"} & {
        name.removeprefix("missing.") for name, column in analysis.columns.items() if "missing." in name and column[0]
    }


def test_tensor_work_of_a_v100_without_histogram_is_not_known(write: Write) -> None:
    found = finding(analyse(write, None), "tensor-not-counted")
    assert found is not None
    # 24 instructions of 512 to 1024 FLOP.
    assert "1.229e+04" in found.message
    assert "2.458e+04" in found.message


def test_tensor_instruction_of_unknown_shape_leaves_the_work_unknown(write: Write) -> None:
    analysis = analyse(write, {"HMMA.884.F32.F32.STEP0": 12, "HMMA.884.F16.F32.STEP0": 12})
    assert finding(analysis, "tensor-not-counted") is not None
    assert analysis.columns["bound.by"][0] is None


def test_operation_counters_come_before_the_histogram(write: Write) -> None:
    counters = {"sm__ops_path_tensor_src_fp16_dst_fp32.sum": 7.0, "sm__ops_path_tensor_src_fp16_dst_fp16.sum": 0.0}
    columns = analyse(write, {"HMMA.884.F32.F32.STEP0": 24}, V100 | counters).columns
    assert columns["work.tensor.fp16.acc32.count"][0] == 7


def test_histogram_without_tensor_instructions_shows_an_idle_pipe(write: Write) -> None:
    a100 = V100 | {"device__attribute_compute_capability_major": 8, "sm__inst_executed_pipe_tensor.sum": 5.0}
    assert finding(analyse(write, None, a100), "tensor-activity-ambiguous") is not None
    analysis = analyse(write, {"HFMA2.MMA": 5, "FFMA": 9}, a100)
    assert finding(analysis, "tensor-activity-ambiguous") is None
    assert finding(analysis, "tensor-not-counted") is None


@pytest.mark.parametrize(
    "opcode", ["HMMA.16816.F32", "IMMA.16832.S8.S8", "HGMMA.64x128x16.F32", "UTCHMMA", "QMMA.16832"]
)
def test_tensor_instruction_in_the_histogram_is_missing_work_without_its_counters(write: Write, opcode: str) -> None:
    h100 = {name: number for name, number in V100.items() if "tensor" not in name}
    h100["device__attribute_compute_capability_major"] = 9
    found = finding(analyse(write, {opcode: 5}, h100), "tensor-not-counted")
    assert found is not None


HALF = {
    "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum": 320.0,
    "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum": 0.0,
    "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum": 0.0,
    **{f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": 64.0 for op in ("fadd", "fmul", "ffma")},
}


def test_half_precision_work_that_is_constant_loads_only_is_an_upper_bound(write: Write) -> None:
    columns = analyse(write, {"HFMA2.MMA": 10}, V100 | HALF).columns
    assert columns["work.fp16.extent"][0] == "at_most"


def test_half_precision_work_that_the_histogram_shows_is_exact(write: Write) -> None:
    columns = analyse(write, {"HFMA2.MMA": 5, "HFMA2": 5}, V100 | HALF).columns
    assert columns["work.fp16.extent"][0] == "exact"


def test_printed_histogram_is_read(write: Write) -> None:
    columns = printed(write, "1,024 (HMMA.884.F32.F32.STEP0: 1,000; FFMA: 24)").columns
    assert columns["work.tensor.fp16.acc32.count"][0] == 512_000


@pytest.mark.parametrize("cell", ["1,024 (HMMA.884.F32.F32: 1,000; FFMA: 2)", "1,024", "n/a", "1,024 (1,000; 24)"])
def test_printed_histogram_that_does_not_add_up_is_not_used(write: Write, cell: str) -> None:
    analysis = printed(write, cell)
    assert finding(analysis, "tensor-not-counted") is not None


def test_explanation_names_the_opcodes(write: Write) -> None:
    explained = analyse(write, {"HMMA.884.F32.F32.STEP0": 20, "HMMA.884.F32.F32.STEP1": 4}).explain(
        0, "tensor.fp16.acc32"
    )
    (cell,) = explained.subjects[0].cells[:1]
    assert cell.text == "HMMA.884.F32.F32.STEP0: 20, HMMA.884.F32.F32.STEP1: 4"
    assert cell.printed_name == HISTOGRAM
    assert cell.value == 24


def test_opcodes_of_a_product_on_t4_are_those_of_its_shape(corpus: Path) -> None:
    report = nr.read(corpus / "25-rep-sm75-profile_report_4_.ncu-rep").inputs[0]
    assert report.stored is not None
    # 2 x 4096^3 FLOP in m16n8k8 of 2048.
    assert report.stored.opcodes["HMMA.1688.F32"][2] == 2 * 4096**3 / 2048
    counted = nr.analyze(corpus / "25-rep-sm75-profile_report_4_.ncu-rep").columns["work.tensor.fp16.acc32.count"]
    np.testing.assert_array_equal(counted, 2048 * report.stored.opcodes["HMMA.1688.F32"])
