"""Traps of single architectures: what a counter means there, and what must never be added or compared."""

from __future__ import annotations

import csv

import pytest

import ncu_roofline as nr
from ncu_roofline.maps import MetricMap, load_library
from tests.conftest import Write
from tests.support import FACTS, details, finding, launch, row_of

T4_OPERATIONS = "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32"
HMMA = "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_{}"
HGMMA = "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_{}"
TIME = {"T": "20 us", "SMHZ": "1 Ghz"}
SCALAR_PIPES = {
    # The FP16 pipe is separate on 7.x, 8.0, 8.7 and 9.0; DMMA runs on the FP64 pipe from 8.6 on, save 9.0 and 10.0.
    "sm_70": ("fp16", None), "sm_72": ("fp16", None), "sm_75": ("fp16", None), "sm_80": ("fp16", "tensor"),
    "sm_86": ("fma", "fp64"), "sm_87": ("fp16", "fp64"), "sm_89": ("fma", "fp64"), "sm_90": ("fp16", "tensor"),
    "sm_100": ("fma", "tensor"), "sm_103": ("fma", "fp64"), "sm_110": ("fma", "fp64"), "sm_120": ("fma", "fp64"),
    "sm_121": ("fma", "fp64"),
}  # fmt: skip


def analyse(write: Write, metrics: dict[str, str], cc: str) -> nr.Analysis:
    return nr.analyze(write(details(*launch(TIME | metrics), cc=cc)))


def covered() -> dict[tuple[str, str], set[str]]:
    """(compute capability, counter) -> counters of the same raw events, from the list of dependencies."""
    path = FACTS / "tensor_paths_by_cc.tsv"
    if not path.exists():
        pytest.skip(f"no list of tensor counters at {path}")
    with path.open(encoding="utf-8") as file:
        return {
            (row["cc"], row["metric"]): {name for name in row["covered_by(aggregate)"].split("|") if name}
            for row in csv.DictReader(file, delimiter="\t")
        }


def tensor_maps() -> list[tuple[str, MetricMap]]:
    library = load_library().maps.values()
    return [(cc, m) for m in library for cc in m.compute_capabilities if cc != "7.2"]


@pytest.mark.parametrize(("map_id", "pipes"), SCALAR_PIPES.items())
def test_fp16_and_dmma_run_on_the_pipe_of_their_architecture(map_id: str, pipes: tuple[str, str | None]) -> None:
    paths = load_library().maps[map_id].paths
    fp64 = paths["tensor.fp64"].pipe if "tensor.fp64" in paths else None
    assert (paths["fp16"].pipe, fp64) == pipes


@pytest.mark.parametrize(("cc", "metric_map"), tensor_maps(), ids=lambda value: value if isinstance(value, str) else "")
def test_alternative_never_adds_a_counter_and_its_aggregate(cc: str, metric_map: MetricMap) -> None:
    aggregates = covered()
    for path in metric_map.paths.values():
        for alternative in path.alternatives:
            counters = set(alternative.counters())
            assert not [name for name in counters if aggregates.get((cc, name), set()) & counters]


@pytest.mark.parametrize(("cc", "metric_map"), tensor_maps(), ids=lambda value: value if isinstance(value, str) else "")
def test_paths_of_a_map_never_count_the_same_raw_events(cc: str, metric_map: MetricMap) -> None:
    aggregates = covered()
    owner: dict[str, str] = {}
    for path in metric_map.paths.values():
        for alternative in path.alternatives:
            for counter in alternative.counters():
                for name in {counter} | aggregates.get((cc, counter), set()):
                    assert owner.setdefault(name, path.path) == path.path


@pytest.mark.parametrize(("cc", "metric_map"), tensor_maps(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_tensor_counter_of_a_chip_is_in_a_path_or_is_the_aggregate_of_one(cc: str, metric_map: MetricMap) -> None:
    aggregates = covered()
    used = {counter for path in metric_map.paths.values() for a in path.alternatives for counter in a.counters()}
    mine = {name for where, name in aggregates if where == cc}
    parts = {name: {n for (w, n), tops in aggregates.items() if w == cc and name in tops} for name in mine}
    assert {name for name in mine - used if not (parts[name] & used or aggregates[cc, name] & used)} == set()


def test_wmma_gemm_of_4096_on_turing_is_2_times_4096_cubed_operations(write: Write) -> None:
    # 2 x 4096^3 = 137438953472
    analysis = analyse(write, {f"{T4_OPERATIONS}.sum": "137,438,953,472 "}, "7.5")
    assert row_of(analysis)["work.tensor.fp16.acc32.count"] == 2 * 4096**3


def test_kernel_of_mma_sync_alone_has_two_thirds_of_the_dense_peak_of_hopper(write: Write) -> None:
    # Per cycle: hgmma 4096, hmma 2730.7, of which the launch used hmma alone: 2730.7 x 1 GHz.
    metrics = {f"{HMMA.format(x)}.sum": y for x, y in (("off", "1,000 "), ("on", "0 "))}
    metrics |= {f"{HGMMA.format(x)}.sum": "0 " for x in ("off", "on")}
    metrics |= {
        f"{HGMMA.format('off')}.sum.peak_sustained": "4,096 ",
        f"{HMMA.format('off')}.sum.peak_sustained": "2,730.67 ",
        f"{HMMA.format('on')}.sum.peak_sustained": "4,096 ",
        f"{HGMMA.format('on')}.sum.peak_sustained": "8,192 ",
    }
    found = row_of(analyse(write, metrics, "9.0"))
    assert found["work.tensor.bf16.peak"] == pytest.approx(2730.67e9)
    assert found["work.tensor.bf16.peak"] / 4096e9 == pytest.approx(2 / 3, rel=1e-4)


def test_aggregate_of_hopper_is_held_against_the_dense_and_not_its_own_sparse_peak(write: Write) -> None:
    metrics = {
        "sm__ops_path_tensor_src_bf16_dst_fp32.sum": "1,000 ",
        "sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained": "8,192 ",
        f"{HGMMA.format('off')}.sum.peak_sustained": "4,096 ",
    }
    assert row_of(analyse(write, metrics, "9.0"))["work.tensor.bf16.peak"] == pytest.approx(4096e9)


def test_volta_without_operation_counters_gets_a_range_and_no_work(write: Write) -> None:
    # 1000 instructions of 512 to 1024 FLOP
    analysis = analyse(write, {"TEN": "1,000 inst"}, "7.0")
    found = finding(analysis, "tensor-not-counted")
    assert found is not None
    assert "between 5.12e+05 and 1.024e+06 FLOP" in found.message
    assert not [name for name in analysis.columns if name.startswith("work.tensor.")]
    assert row_of(analysis)["bound.by"] is None


def test_range_of_the_operations_is_not_given_where_shapes_differ(write: Write) -> None:
    found = finding(analyse(write, {"TEN": "1,000 inst"}, "7.5"), "tensor-not-counted")
    assert found is not None
    assert "between" not in found.message


def test_packed_fp32_of_blackwell_counts_two_values_each(write: Write) -> None:
    # 10 + 20 + 2 x 30 + 2 x 40 + 2 x 50 + 4 x 60 = 510
    names = ("fadd", "fmul", "ffma", "fadd2", "fmul2", "ffma2")
    metrics = {
        f"sm__sass_thread_inst_executed_op_{name}_pred_on.sum": f"{value} inst"
        for name, value in zip(names, range(10, 70, 10), strict=True)
    }
    found = row_of(analyse(write, metrics, "10.0"))
    assert (found["work.fp32.count"], found["work.fp32.extent"]) == (510.0, "exact")


def test_fp32_of_blackwell_without_the_packed_counters_is_a_lower_bound(write: Write) -> None:
    found = row_of(analyse(write, {"FADD": "1 inst", "FMUL": "1 inst", "FFMA": "1 inst"}, "10.3"))
    assert (found["work.fp32.count"], found["work.fp32.extent"]) == (4.0, "at_least")


@pytest.mark.parametrize("cc", ["11.0", "12.0"])
def test_chip_without_packed_counters_has_exact_fp32(write: Write, cc: str) -> None:
    found = row_of(analyse(write, {"FADD": "1 inst", "FMUL": "1 inst", "FFMA": "1 inst"}, cc))
    assert found["work.fp32.extent"] == "exact"


@pytest.mark.parametrize("cc", ["7.2", "8.7", "11.0", "12.1"])
def test_chip_without_dram_counters_says_so_and_is_never_complete(write: Write, cc: str) -> None:
    analysis = analyse(write, {"TEN": "0 inst"}, cc)
    found = finding(analysis, "counter-not-collected")
    assert found is not None
    assert f"dram on compute capability {cc}: the chip has no DRAM counters" in found.message
    assert "dram__" not in found.help
    assert not row_of(analysis)["bound.complete"]


@pytest.mark.parametrize(
    "names", [("dram__bytes_op_read", "dram__bytes_op_write"), ("dram__bytes_read", "dram__bytes_write")]
)
def test_dram_of_12_0_is_read_under_todays_names_and_those_of_older_reports(
    write: Write, names: tuple[str, str]
) -> None:
    found = row_of(analyse(write, {f"{names[0]}.sum": "600 byte", f"{names[1]}.sum": "400 byte"}, "12.0"))
    assert found["traffic.dram.bytes"] == 1000.0


def test_load_return_of_volta_is_not_added_to_shared_memory(write: Write) -> None:
    tiers = load_library().maps["sm_70"].tiers
    assert {measure.data_path for tier in ("l1", "shared") for measure in tiers[tier].measures} == {None}


@pytest.mark.parametrize("rollup", [".avg", ".max", ".min"])
def test_average_or_maximum_over_instances_is_not_taken_for_a_total(write: Write, rollup: str) -> None:
    analysis = analyse(write, {f"dram__bytes{rollup}": "1,000 byte"}, "8.0")
    assert "traffic.dram.bytes" not in analysis.columns
    found = finding(analysis, "counter-not-collected")
    assert found is not None
    assert "dram" in found.message


def test_tma_traffic_is_said_to_be_missing_from_l1(write: Write) -> None:
    tma = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"
    found = finding(
        analyse(write, {"l1tex__t_bytes.sum": "1,000 byte", tma: "5,000 byte"}, "9.0"), "traffic-not-in-measure"
    )
    assert found is not None
    assert "1000 byte" in found.message
    assert "5000 byte of TMA traffic" in found.message


@pytest.mark.parametrize(
    ("cc", "has_halves"), [("8.0", True), ("8.6", False), ("9.0", True), ("10.0", True), ("12.0", False)]
)
def test_tag_stage_traffic_of_l2_is_doubted_on_chips_with_two_halves(write: Write, cc: str, has_halves: bool) -> None:
    found = finding(analyse(write, {"lts__t_bytes.sum": "9,000 byte"}, cc), "measure-contains-more")
    assert (found is not None) == has_halves


@pytest.mark.parametrize(
    ("metrics", "text"),
    [
        (
            {"DB": "1,000 byte", "DR": "600 byte", "DW": "500 byte"},
            "dram__bytes.sum = dram__bytes_read.sum + dram__bytes_write.sum",
        ),
        (
            {"DB": "1,000 byte", "dram__bytes.sum.per_second": "70,000,000 byte/s"},
            "dram__bytes.sum = dram__bytes.sum.per_second x gpu__time_duration.sum",
        ),
        (
            {"DB": "1,000 byte", "PKD": "1 byte/cycle", "dram__cycles_elapsed.avg": "2,000 cycle",
             "dram__bytes.sum.pct_of_peak_sustained_elapsed": "80 %"},
            "dram__bytes.sum.pct_of_peak_sustained_elapsed x dram__bytes.sum.peak_sustained x dram__cycles_elapsed.avg",
        ),
        (
            {"sm__ops_path_tensor_src_bf16_dst_fp32.sum": "1,000 ",
             "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum": "700 ",
             "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum": "200 ",
             "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained": "2,048 "},
            "= sm__ops_path_tensor_src_bf16_dst_fp32.sum",
        ),
    ],
)  # fmt: skip
def test_broken_identity_is_a_warning_with_both_sides(write: Write, metrics: dict[str, str], text: str) -> None:
    found = finding(analyse(write, metrics, "8.0"), "identity-broken")
    assert found is not None
    assert text in found.message


def test_counters_of_other_raw_events_need_not_agree(write: Write) -> None:
    name = "sm__ops_path_tensor_src_fp4_dst_fp32"
    metrics = {f"{name}.sum": "1,000 ", f"{name}_sparsity_off.sum": "700 ", f"{name}_sparsity_on.sum": "200 "}
    assert finding(analyse(write, metrics, "12.0"), "identity-broken") is None


@pytest.mark.parametrize(
    "metrics",
    [
        {"DB": "1,000 byte", "DR": "600 byte", "DW": "405 byte"},  # 0.5 % apart
        {"DB": "1.00 Mbyte", "DR": "0.61 Mbyte", "DW": "0.40 Mbyte"},  # rounding of three values
        {"DB": "0 byte", "DR": "0 byte", "DW": "0 byte"},
    ],
)
def test_identity_within_one_percent_and_rounding_holds(write: Write, metrics: dict[str, str]) -> None:
    assert finding(analyse(write, metrics, "8.0"), "identity-broken") is None


def test_averages_of_a_summary_need_not_satisfy_the_identities(write: Write) -> None:
    # Two launches of 10 and 100 us moved 1e6 byte each: the average rate is that of neither.
    rows = [("gpu__time_duration.sum", "us", "55"), ("dram__bytes.sum", "byte", "1000000")]
    rows += [("dram__bytes.sum.per_second", "byte/s", "55000000000")]
    head = '"Process ID","Kernel Name","Block Size","Grid Size","Device","CC","Invocations","Section Name",'
    head += '"Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
    lines = [f'"1","k","(1, 1, 1)","(1, 1, 1)","0","8.0","2","x","{m}","{u}","1","2","{v}"\n' for m, u, v in rows]
    analysis = nr.analyze(write(head + "".join(lines)))
    assert analysis.columns["traffic.dram.bytes"].tolist() == [2e6]
    assert finding(analysis, "identity-broken") is None


def summary_of_ten(metrics: dict[str, str], cc: str) -> str:
    head = '"Process ID","Kernel Name","Block Size","Grid Size","Device","CC","Invocations","Section Name",'
    head += '"Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
    row = '"1","k","(1, 1, 1)","(1, 1, 1)","0","{}","10","x","{}","{}","1","2","{}"\n'
    return head + "".join(
        row.format(cc, name, unit, value)
        for name, (value, unit) in ((name, text.split(" ")) for name, text in metrics.items())
    )


def test_range_of_tensor_operations_of_a_summary_is_that_of_all_invocations(write: Write) -> None:
    metrics = {"gpu__time_duration.sum": "20 us", "sm__inst_executed_pipe_tensor.sum": "1000 inst"}
    found = finding(nr.analyze(write(summary_of_ten(metrics, "7.0"))), "tensor-not-counted")
    assert found is not None
    assert "between 5.12e+06 and 1.024e+07 FLOP" in found.message


def test_traffic_that_no_measure_of_a_summary_sees_is_that_of_all_invocations(write: Write) -> None:
    tma = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"
    metrics = {"gpu__time_duration.sum": "20 us", "l1tex__t_bytes.sum": "1000 byte", tma: "300 byte"}
    found = finding(nr.analyze(write(summary_of_ten(metrics, "9.0"))), "traffic-not-in-measure")
    assert found is not None
    assert "3000 byte of TMA traffic" in found.message
