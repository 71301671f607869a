"""Counters to work, traffic, ceilings and bound, end to end through one report; sums in comments."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from tests.conftest import Write
from tests.support import NESTED, OP, details, finding, launch, raw_page, row_of, with_ranges

HGMMA = "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_{}"
HMMA = "sm__ops_path_tensor_op_hmma_src_fp16_dst_{}_sparsity_{}"
SECTORS = "lts__t_sectors_srcunit_tex"
SCALARS_IDLE = dict.fromkeys(("DADD", "DMUL", "DFMA", "FADD", "FMUL", "FFMA", "HADD", "HMUL", "HFMA"), "0 inst")


Run = Callable[..., Analysis]


@pytest.fixture
def run(write: Write) -> Run:
    """Analyse one launch given as ``metric -> "value unit"``."""

    def _run(metrics: dict[str, str], cc: str = "8.0") -> Analysis:
        return nr.analyze(write(details(*launch(metrics), cc=cc)))

    return _run


def test_fma_is_two_flop_and_add_and_mul_are_one(run: Run) -> None:
    # 100 + 50 + 2 x 1000 = 2150
    found = row_of(run({"FADD": "100 inst", "FMUL": "50 inst", "FFMA": "1,000 inst", "T": "1,000 ns"}))
    assert (found["work.fp32.count"], found["work.fp32.extent"]) == (2150.0, "exact")
    assert found["work.fp32.rate"] == pytest.approx(2.15e9)


@pytest.mark.parametrize(("clock", "peak"), [("1.41", 19.49e12), ("1.10", 15.21e12)])
def test_peak_uses_the_factor_of_the_work_and_the_clock_of_the_run(run: Run, clock: str, peak: float) -> None:
    # 6912 inst/cycle x 2 x clock
    metrics = {
        "FADD": "1 inst",
        "FMUL": "1 inst",
        "FFMA": "1 inst",
        "PKF": "6,912 inst/cycle",
        "SMHZ": f"{clock} Ghz",
    }
    found = row_of(run(metrics))
    assert found["work.fp32.peak"] == pytest.approx(peak, rel=1e-3)
    assert found["work.fp32.peak_clock"] == pytest.approx(float(clock) * 1e9)
    assert found["work.fp32.peak_source"] == "report"


def test_half_precision_counts_two_values_per_instruction(run: Run) -> None:
    # 2 x 10 + 2 x 20 + 4 x 30 = 180
    found = row_of(run({"HADD": "10 inst", "HMUL": "20 inst", "HFMA": "30 inst"}))
    assert (found["work.fp16.count"], found["work.fp16.extent"]) == (180.0, "exact")


def test_half_precision_peak_of_a100_is_its_datasheet_value(run: Run) -> None:
    # 13824 x 4 x 1.41 GHz = 77.97 TFLOP/s
    metrics = {"HADD": "1 inst", "HMUL": "1 inst", "HFMA": "1,000,000 inst", "SMHZ": "1.41 Ghz",
               f"{OP.format('hfma')}.sum.peak_sustained": "13,824 inst/cycle"}  # fmt: skip
    assert row_of(run(metrics))["work.fp16.peak"] == pytest.approx(77.97e12, rel=1e-3)


def test_only_some_counters_of_a_path_give_a_lower_bound(run: Run) -> None:
    found = row_of(run({"FFMA": "50 inst"}))
    assert (found["work.fp32.count"], found["work.fp32.extent"]) == (100.0, "at_least")


def test_fused_half_only_beside_fp32_work_is_an_upper_bound(run: Run) -> None:
    metrics = SCALARS_IDLE | {"FFMA": "1,000,000 inst", "HFMA": "8 inst", "T": "1 us", "DB": "100 byte"}
    analysis = run(metrics)
    found = row_of(analysis)
    assert (found["work.fp16.count"], found["work.fp16.extent"]) == (32.0, "at_most")
    # It is in no intensity: 2e6 / 100, not (2e6 + 32) / 100.
    assert found["traffic.dram.intensity"] == 20000.0
    assert finding(analysis, "phantom-fp16") is not None


def test_upper_bound_wins_over_lower_bound(run: Run) -> None:
    found = row_of(run({"FADD": "0 inst", "FMUL": "0 inst", "FFMA": "10 inst", "HFMA": "8 inst"}))
    assert found["work.fp16.extent"] == "at_most"


def test_upper_bound_never_binds(run: Run) -> None:
    metrics = SCALARS_IDLE | {
        "FFMA": "1,000 inst", "HFMA": "1,000,000 inst", "T": "1 us", "SMHZ": "1 Ghz", "PKF": "6,912 inst/cycle",
        f"{OP.format('hfma')}.sum.peak_sustained": "13,824 inst/cycle",
    }  # fmt: skip
    assert row_of(run(metrics))["bound.by"] == "fp32"


def test_half_precision_work_with_adds_is_exact(run: Run) -> None:
    found = row_of(run(SCALARS_IDLE | {"FFMA": "10 inst", "HFMA": "8 inst", "HADD": "1 inst"}))
    assert found["work.fp16.extent"] == "exact"


def test_half_precision_counted_as_zero_is_exactly_zero(run: Run) -> None:
    found = row_of(run(SCALARS_IDLE | {"FFMA": "10 inst"}))
    assert (found["work.fp16.count"], found["work.fp16.extent"]) == (0.0, "exact")


def test_setup_kernel_with_half_precision_only_keeps_its_work(run: Run) -> None:
    found = row_of(run(SCALARS_IDLE | {"HFMA": "8 inst"}))
    assert (found["work.fp16.count"], found["work.fp16.extent"]) == (32.0, "exact")


def test_integer_work_is_in_op_and_in_no_intensity(run: Run) -> None:
    # 8e6 OP / 4 us = 2 TOP/s; 1 MB / 4 us = 250 GB/s; 0 FLOP/byte
    metrics = SCALARS_IDLE | {f"{OP.format('integer')}.sum": "8,000,000 inst", "T": "4 us", "DB": "1 Mbyte"}
    found = row_of(run(metrics))
    assert found["work.int.rate"] == pytest.approx(2e12)
    assert found["traffic.dram.rate"] == pytest.approx(250e9)
    assert found["traffic.dram.intensity"] == 0.0


def test_intensity_is_unknown_when_no_floating_point_path_is_known(run: Run) -> None:
    assert math.isnan(row_of(run({"DB": "1 Mbyte", "T": "4 us"}))["traffic.dram.intensity"])


def test_dram_read_and_write_stand_in_for_the_total(run: Run) -> None:
    found = row_of(run({"DR": "134,221,568 byte", "DW": "43,631,104 byte"}))
    assert (found["traffic.dram.bytes"], found["traffic.dram.extent"]) == (177852672.0, "exact")


def test_dram_reads_alone_are_a_lower_bound(run: Run) -> None:
    found = row_of(run({"DR": "100 byte"}))
    assert (found["traffic.dram.bytes"], found["traffic.dram.extent"]) == (100.0, "at_least")


def test_dram_total_is_preferred_to_its_parts(run: Run) -> None:
    assert row_of(run({"DB": "7 byte", "DR": "1 byte", "DW": "2 byte"}))["traffic.dram.bytes"] == 7.0


def test_names_of_cc_12_are_read(run: Run) -> None:
    metrics = {"dram__bytes_op_read.sum": "10 byte", "dram__bytes_op_write.sum": "5 byte"}
    assert row_of(run(metrics, cc="12.0"))["traffic.dram.bytes"] == 15.0


def test_l2_bytes_are_sm_sectors_and_not_the_total_with_fabric(run: Run) -> None:
    # 6e6 sectors x 32 B = 192 MB, not 9e6 x 32 = 288 MB
    metrics = {"lts__t_sectors.sum": "9,000,000 sector", f"{SECTORS}.sum": "6,000,000 sector"}
    found = row_of(run(metrics))
    assert (found["traffic.l2.bytes"], found["traffic.l2.measure"]) == (192e6, "sm")
    assert found["traffic.l2.measures.tag.bytes"] == 288e6


def test_measure_with_its_own_peak_comes_before_one_without(run: Run) -> None:
    metrics = {
        f"{SECTORS}.sum": "1,000 sector",
        "lts__lts2xbar_cycles_active.sum": "500 cycle",
        "lts__lts2xbar_cycles_active.sum.peak_sustained": "160 /cycle".replace(" /cycle", ""),
        "lts__cycles_elapsed.avg.per_second": "1 Ghz",
    }
    found = row_of(run(metrics))
    # 500 x 32 B; 160 x 32 B x 1 GHz = 5.12 TB/s
    assert (found["traffic.l2.measure"], found["traffic.l2.bytes"]) == ("read_return", 16000.0)
    assert found["traffic.l2.peak"] == pytest.approx(5.12e12)
    assert found["traffic.l2.measures.sm.bytes"] == 32000.0


def test_measure_that_sees_less_than_another_is_a_finding(run: Run) -> None:
    metrics = {
        f"{SECTORS}.sum": "1,000 sector",
        "lts__lts2xbar_cycles_active.sum": "500 cycle",
        "lts__lts2xbar_cycles_active.sum.pct_of_peak_sustained_elapsed": "10 %",
        "T": "1 us",
    }
    found = finding(run(metrics), "measure-sees-less")
    assert found is not None
    assert "read_return" in found.message


def test_dram_ceiling_falls_back_to_the_attributes_of_the_device(write: Write) -> None:
    # 2 x 5120/8 x 1.512 GHz = 1935.36 GB/s (A100 80GB PCIe)
    page = raw_page(
        {
            "dram__bytes.sum": ("byte", ["1000"]),
            "device__attribute_memory_clock_rate": ("", ["1512000"]),
            "device__attribute_global_memory_bus_width": ("", ["5120"]),
            "device__attribute_display_name": ("", ["NVIDIA A100 80GB PCIe"]),
        }
    )
    found = row_of(nr.analyze(write(page)))
    assert found["traffic.dram.peak"] == pytest.approx(1935.36e9)
    assert found["traffic.dram.peak_source"] == "attributes"
    assert found["device"] == "NVIDIA A100 80GB PCIe"


def test_own_peak_of_the_report_comes_before_the_attributes(write: Write) -> None:
    page = raw_page(
        {
            "dram__bytes.sum": ("byte", ["1000"]),
            "dram__bytes.sum.peak_sustained": ("byte/cycle", ["1280"]),
            "dram__cycles_elapsed.avg.per_second": ("hz", ["1500000000"]),
            "device__attribute_memory_clock_rate": ("", ["1512000"]),
            "device__attribute_global_memory_bus_width": ("", ["5120"]),
        }
    )
    found = row_of(nr.analyze(write(page)))
    assert (found["traffic.dram.peak"], found["traffic.dram.peak_source"]) == (
        pytest.approx(1.92e12),
        "report",
    )
    assert found["ceilings.dram.attributes.value"] == pytest.approx(1935.36e9)


def test_memory_clock_of_zero_gives_no_ceiling(write: Write) -> None:
    page = raw_page(
        {
            "dram__bytes.sum": ("byte", ["1000"]),
            "gpu__time_duration.sum": ("ns", ["1000"]),
            "device__attribute_memory_clock_rate": ("", ["0"]),
            "device__attribute_global_memory_bus_width": ("", ["5120"]),
        }
    )
    analysis = nr.analyze(write(page))
    assert math.isnan(row_of(analysis)["traffic.dram.peak"])
    assert finding(analysis, "ceiling-not-known") is not None


def test_report_without_any_peak_has_no_ceiling_of_another_gpu(run: Run) -> None:
    found = row_of(run({"FADD": "1 inst", "FMUL": "1 inst", "FFMA": "1 inst", "DB": "8 byte", "T": "1 us"}))
    assert math.isnan(found["work.fp32.peak"])
    assert math.isnan(found["traffic.dram.peak"])
    assert found["bound.by"] is None or found["bound.by"] != found["bound.by"]


WGMMA = {
    HGMMA.format("off") + ".sum": "8,192",
    HGMMA.format("on") + ".sum": "0",
    **{HMMA.format(acc, state) + ".sum": "0" for acc in ("fp32", "fp16") for state in ("off", "on")},
    HGMMA.format("off") + ".sum.peak_sustained": "4,096",
    HMMA.format("fp32", "off") + ".sum.peak_sustained": "2,731",
    "SMHZ": "1 Ghz",
    "T": "1 us",
}


def test_dense_wgmma_is_held_against_its_dense_peak(run: Run) -> None:
    found = row_of(run(WGMMA, cc="9.0"))
    assert found["work.tensor.fp16.count"] == 8192.0
    assert found["work.tensor.fp16.peak"] == pytest.approx(4096e9)


def test_mma_sync_is_held_against_two_thirds_of_the_wgmma_peak(run: Run) -> None:
    metrics = WGMMA | {HGMMA.format("off") + ".sum": "0", HMMA.format("fp32", "off") + ".sum": "8,192"}
    assert row_of(run(metrics, cc="9.0"))["work.tensor.fp16.peak"] == pytest.approx(2731e9)


def test_mixed_parts_have_the_ceiling_of_their_mix(run: Run) -> None:
    # 8192 / 4096 + 2731 / 2731 = 3 us at 1e9/s; (8192 + 2731) / 3 us
    metrics = WGMMA | {HMMA.format("fp32", "off") + ".sum": "2,731"}
    assert row_of(run(metrics, cc="9.0"))["work.tensor.fp16.peak"] == pytest.approx((8192 + 2731) / 3 * 1e9)


def test_path_that_did_nothing_has_the_dense_peak_of_its_first_part(run: Run) -> None:
    found = row_of(run(WGMMA | {HGMMA.format("off") + ".sum": "0"}, cc="9.0"))
    assert (found["work.tensor.fp16.count"], found["work.tensor.fp16.extent"]) == (0.0, "exact")
    assert found["work.tensor.fp16.peak"] == pytest.approx(4096e9)


def test_aggregate_alone_is_held_against_the_dense_peak_and_never_its_own(run: Run) -> None:
    aggregate = "sm__ops_path_tensor_src_fp16"
    metrics = {
        f"{aggregate}.sum": "8,192",
        f"{aggregate}.sum.peak_sustained": "8,192",
        "SMHZ": "1 Ghz",
        "T": "1 us",
    }
    found = row_of(run(metrics, cc="9.0"))
    assert found["work.tensor.fp16.count"] == 8192.0
    assert math.isnan(found["work.tensor.fp16.peak"])


def test_aggregate_and_its_parts_are_never_added(run: Run) -> None:
    metrics = {
        "sm__ops_path_tensor_src_bf16_dst_fp32.sum": "100",
        "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum": "100",
        "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum": "0",
    }
    assert row_of(run(metrics))["work.tensor.bf16.count"] == 100.0


def test_sparse_operations_are_held_against_the_sparse_peak(run: Run) -> None:
    name = "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_{}"
    metrics = {
        name.format("off") + ".sum": "0", name.format("on") + ".sum": "100", "SMHZ": "1 Ghz",
        name.format("off") + ".sum.peak_sustained": "2,048", name.format("on") + ".sum.peak_sustained": "4,096",
    }  # fmt: skip
    assert row_of(run(metrics))["work.tensor.bf16.peak"] == pytest.approx(4096e9)


def test_fp64_tensor_work_is_apart_from_fp64_and_its_ceiling(run: Run) -> None:
    # 5.12e6 FLOP / 1 us = 5.12 TFLOP/s against 13824 x 1.41 GHz = 19.49 TFLOP/s
    tensor = "sm__ops_path_tensor_src_fp64"
    metrics = SCALARS_IDLE | {f"{tensor}.sum": "5,120,000", f"{tensor}.sum.peak_sustained": "13,824",
                              "SMHZ": "1.41 Ghz", "T": "1 us"}  # fmt: skip
    found = row_of(run(metrics))
    assert found["work.fp64.count"] == 0.0
    assert found["work.tensor.fp64.rate"] == pytest.approx(5.12e12)
    assert found["work.tensor.fp64.peak"] == pytest.approx(19.49e12, rel=1e-3)
    assert found["bound.by"] == "tensor.fp64"


HIDDEN = {"T": "200.00 us", "DB": "150.00 Mbyte", "FFMA": "50,000,000 inst", "TEN": "20,000,000 inst"}


def test_tensor_work_that_was_not_counted_leaves_the_bound_undecided(run: Run) -> None:
    metrics = HIDDEN | {"PKD": "1,280 byte/cycle", "DHZ": "1.215 Ghz", "HFMA": "0 inst"}
    analysis = run(metrics)
    found = row_of(analysis)
    assert finding(analysis, "tensor-not-counted") is not None
    assert found["bound.by"] != "dram"
    # 150 MB / 1.5552 TB/s = 96.45 us: still a lower bound of the time.
    assert found["bound.time"] == pytest.approx(96.45e-6, rel=1e-3)
    assert not found["bound.complete"]
    assert found["traffic.dram.intensity"] == pytest.approx(1e8 / 150e6)


def test_counted_tensor_work_is_in_the_intensity(run: Run) -> None:
    # (1e8 + 8.192e10) / 150e6 = 546.8; 8.202e10 / 200 us = 410.1 TFLOP/s
    analysis = run(HIDDEN | {"OPS": "81,920,000,000"})
    found = row_of(analysis)
    assert found["traffic.dram.intensity"] == pytest.approx(546.8, rel=1e-4)
    assert finding(analysis, "tensor-not-counted") is None


def test_tensor_activity_that_may_be_constant_loads_is_said_to_be_unknown(run: Run) -> None:
    # 104857600 tensor instructions x 32 threads = 3355443200 half-precision FMAs: all may be constant loads.
    metrics = SCALARS_IDLE | {"TEN": "104,857,600 inst", "HFMA": "3,355,443,200 inst", "FFMA": "5 inst"}
    analysis = run(metrics)
    assert finding(analysis, "tensor-activity-ambiguous") is not None
    assert finding(analysis, "tensor-not-counted") is None


def test_constant_loads_that_were_counted_leave_an_idle_tensor_pipe(run: Run) -> None:
    metrics = {"TEN": "100 inst", "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum": "100 inst"}
    analysis = run(metrics)
    assert finding(analysis, "tensor-activity-ambiguous") is None
    assert finding(analysis, "tensor-not-counted") is None


def test_tensor_instructions_beyond_constant_loads_are_tensor_work(run: Run) -> None:
    metrics = {"TEN": "101 inst", "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum": "100 inst"}
    assert finding(run(metrics), "tensor-not-counted") is not None


def test_active_tensor_pipe_of_an_unknown_architecture_is_flagged(run: Run) -> None:
    analysis = run(HIDDEN, cc="13.7")
    assert row_of(analysis)["work.fp32.count"] == 1e8
    assert finding(analysis, "unknown-architecture") is not None
    assert finding(analysis, "tensor-not-counted") is not None


COMPLETE = SCALARS_IDLE | {
    "FADD": "1,000 inst", "FMUL": "0 inst", "FFMA": "500 inst", "PKF": "6,912 inst/cycle", "SMHZ": "1 Ghz", "T": "1 us",
    "DB": "1,000 byte", "PKD": "1,280 byte/cycle", "DHZ": "1 Ghz",
    f"{SECTORS}.sum": "40 sector", f"{SECTORS}.sum.peak_sustained": "160 sector/cycle",
    "lts__cycles_elapsed.avg.per_second": "1 Ghz",
    "l1tex__t_bytes.sum": "1,000 byte", "l1tex__t_bytes.sum.peak_sustained": "13,824 byte/cycle",
    "TEN": "0 inst",
}  # fmt: skip


def test_picture_with_every_part_and_an_idle_tensor_pipe_is_complete(run: Run) -> None:
    assert row_of(run(COMPLETE))["bound.complete"]


@pytest.mark.parametrize("gone", ["DB", "PKD", f"{SECTORS}.sum", "l1tex__t_bytes.sum", "DFMA", "HADD", "TEN", "T"])
def test_picture_without_one_of_its_parts_is_not_complete(run: Run, gone: str) -> None:
    metrics = {name: value for name, value in COMPLETE.items() if name != gone}
    assert not row_of(run(metrics))["bound.complete"]


def test_base_map_is_complete_only_with_an_idle_tensor_pipe(run: Run) -> None:
    assert row_of(run(COMPLETE, cc="8.6"))["bound.complete"]
    assert not row_of(run(COMPLETE | {"TEN": "1 inst"}, cc="8.6"))["bound.complete"]


def test_mix_of_adds_and_fmas_has_its_own_ceiling(run: Run) -> None:
    # 1000 adds + 500 FMAs = 2000 FLOP in 1500 slots of 2: 13824 GFLOP/s x 2000 / 3000
    found = row_of(run(COMPLETE))
    assert found["ceilings.fp32.mix.value"] == pytest.approx(13.824e12 * 2 / 3)
    assert found["work.fp32.peak"] == pytest.approx(13.824e12)


def test_add_only_kernel_cannot_pass_half_of_its_peak(run: Run) -> None:
    found = row_of(run(COMPLETE | {"FFMA": "0 inst"}))
    assert found["ceilings.fp32.mix.value"] == pytest.approx(13.824e12 / 2)


def test_time_from_cycles_where_there_is_no_duration(run: Run) -> None:
    analysis = run({"smsp__cycles_elapsed.avg": "2,000 cycle", "smsp__cycles_elapsed.avg.per_second": "1 Ghz"})
    assert (row_of(analysis)["time"], row_of(analysis)["time_source"]) == (pytest.approx(2e-6), "cycles")


def test_report_with_a_duration_uses_it_and_not_the_cycles(run: Run) -> None:
    metrics = {"T": "3 us", "sm__cycles_elapsed.avg": "2,000 cycle", "SMHZ": "1 Ghz"}
    assert (row_of(run(metrics))["time"], row_of(run(metrics))["time_source"]) == (
        pytest.approx(3e-6),
        "report",
    )


def test_shared_memory_and_load_returns_share_one_data_path(run: Run) -> None:
    # Each 50 wavefronts of 100 per cycle at 1 GHz: 0.5 ns + 0.5 ns, longer than DRAM's 0.78 ns.
    metrics = {
        "T": "2 ns", "SMHZ": "1 Ghz", "DB": "1,000 byte", "PKD": "1,280 byte/cycle", "DHZ": "1 Ghz",
        "l1tex__lsu_writeback_active_mem_lg.sum": "50 cycle",
        "l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained": "100",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "51",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.peak_sustained": "100",
    }  # fmt: skip
    found = row_of(run(metrics))
    assert found["bound.by"] == "shared"
    assert found["bound.time"] == pytest.approx(1.01e-9)


def test_compute_capability_is_taken_from_the_attributes_without_a_column(write: Write) -> None:
    text = (
        '"ID","Kernel Name","gpu__time_duration.sum","device__attribute_compute_capability_major",'
        '"device__attribute_compute_capability_minor"\n"","","ns","",""\n"0","k","1000","9","0"\n'
    )
    assert row_of(nr.analyze(write(text)))["cc"] == "9.0"


def test_stated_compute_capability_is_used_where_the_report_has_none(write: Write) -> None:
    text = '"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n"0","k","1000"\n'
    path = write(text)
    assert row_of(nr.analyze(path, cc="8.0"))["map"] == "sm_80"
    assert finding(nr.analyze(path), "architecture-not-stated") is not None


def test_launches_of_two_architectures_are_evaluated_with_their_own_maps(write: Write) -> None:
    first = details("0|k|sm__ops_path_tensor_src_bf16_dst_fp32.sum||100", cc="8.0")
    second = details("1|k|sm__ops_path_tensor_src_fp8.sum||200", cc="9.0").split("\n", 1)[1]
    analysis = nr.analyze(write(first + second))
    assert analysis.launches["map"].tolist() == ["sm_80", "sm_90"]
    assert row_of(analysis, 0)["work.tensor.bf16.count"] == 100.0
    assert math.isnan(row_of(analysis, 0)["work.tensor.fp8.count"])
    assert row_of(analysis, 1)["work.tensor.fp8.count"] == 200.0


def test_grid_of_a_failed_launch_is_unknown(write: Write) -> None:
    assert row_of(nr.analyze(write(details("0|k|T|ns|1,000", grid="(0, 0, 0)"))))["grid"] is None


def test_ranges_sum_the_time_of_the_launches_inside(write: Write) -> None:
    ranges = nr.analyze(write(NESTED)).ranges()
    found = dict(zip(ranges["range"], ranges["time"].tolist(), strict=True))
    assert found == {"step": pytest.approx(8e-6), "adam": pytest.approx(5e-6), "forward": pytest.approx(3e-6)}


def test_share_of_a_range_refers_to_all_launches_of_the_device(write: Write) -> None:
    ranges = nr.analyze(write(NESTED)).ranges()
    assert ranges["share"].tolist() == pytest.approx([0.8, 0.5, 0.3])


def test_ranges_of_one_name_in_two_domains_are_two(write: Write) -> None:
    report = with_ranges(("1,000", ["a:load"]), ("3,000", ["b:load"]))
    ranges = nr.analyze(write(report)).ranges()
    assert list(zip(ranges["domain"], ranges["launches"], strict=True)) == [("b", (1,)), ("a", (0,))]


def test_launch_in_two_ranges_of_one_name_counts_once(write: Write) -> None:
    ranges = nr.analyze(write(with_ranges(("1,000", ["a:rec", "a:rec"])))).ranges()
    assert (ranges["launches"].tolist(), ranges["time"].tolist()) == ([(0,)], [pytest.approx(1e-6)])


def test_report_without_ranges_has_none(write: Write) -> None:
    assert len(nr.analyze(write(details("0|k|T|ns|1,000"))).ranges()["range"]) == 0
