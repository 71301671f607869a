"""One test for each kind of fault that was found by trying; each states what is right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import ncu_roofline as nr
from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.maps import load_library
from ncu_roofline.maps.dump import to_yaml
from ncu_roofline.vocabulary import Severity
from tests.conftest import Write
from tests.support import H15, cells, details, finding, launch, quoted, raw_page, row_of
from tests.test_findings import CLEAN
from tests.test_maps import SM_999


@pytest.mark.parametrize(
    "text",
    [
        details("0|k|smsp__inst_executed.sum|inst|5"),
        details("0|k|DB||n/a", "0|k|T||(!) nan"),
        raw_page({"dram__bytes.sum": ("byte", ["n/a"])}),
        raw_page({"dram__bytes.sum": ("byte", [""])}),
        raw_page({"smsp__warps_eligible.avg": ("warp", ["3"])}),
    ],
)
def test_report_without_any_value_that_is_used_still_gives_its_launch(write: Write, text: str) -> None:
    analysis = nr.analyze(write(text))
    assert len(analysis) == 1
    assert finding(analysis, "counter-not-collected") is not None


@pytest.mark.parametrize("between", ["==PROF== Disconnected from process 1\n", "\n", "done\nreally\n"])
def test_units_row_is_found_behind_other_lines(write: Write, between: str) -> None:
    header, units, row = raw_page({"dram__bytes.sum": ("Kbyte", ["500"])}).splitlines(keepends=True)
    assert row_of(nr.analyze(write(header + between + units + row)))["traffic.dram.bytes"] == 500_000.0


def test_raw_page_without_units_is_refused(write: Write) -> None:
    header, _, row = raw_page({"dram__bytes.sum": ("Kbyte", ["500"])}).splitlines(keepends=True)
    with pytest.raises(nr.NcuRooflineError, match="no row of units"):
        nr.analyze(write(header + row))


def test_what_shares_a_data_path_may_not_pass_its_ceiling_together(write: Write) -> None:
    # 80 of 100 per cycle each, at 1 GHz for 20 us: 160 % of the one path.
    metrics = CLEAN | {
        f"l1tex__{name}.sum{rollup}": value
        for name in ("lsu_writeback_active_mem_lg", "data_pipe_lsu_wavefronts_mem_shared")
        for rollup, value in (("", "1,600,000"), (".peak_sustained", "100"))
    }
    del metrics["l1tex__t_bytes.sum"], metrics["l1tex__t_bytes.sum.peak_sustained"]
    analysis = nr.analyze(write(details(*launch(metrics))))
    found = finding(analysis, "above-ceiling")
    assert row_of(analysis)["bound.fraction"] == pytest.approx(1.6)
    assert found is not None
    assert found.severity == Severity.ERROR


def test_map_of_the_user_wins_over_a_packaged_one_with_its_id(write: Write) -> None:
    text = to_yaml(load_library().maps["sm_80"])
    changed = text.replace("op_ffma_pred_on: 2}\n        peak", "op_ffma_pred_on: 20}\n        peak")
    assert changed != text
    report = write(details("0|k|FFMA|inst|10", "0|k|FADD|inst|0", "0|k|FMUL|inst|0"))
    assert row_of(nr.analyze(report, map=write(changed, "sm_80.yaml")))["work.fp32.count"] == 200.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sources: [a test]", "sources: &a [*a]"),
        ("title: An architecture of the future", "title: !!python/object:os.system x"),
        ("id: sm_999", "id: 2020-13-45"),
        ("work: {sm__ops_path_tensor_src_fp8: 1}", "work: {sm__ops_path_tensor_src_fp8: 1" + "0" * 400 + "}"),
        ("extends: base", ""),
        ("id: tag", "id: a.b"),
        ("sources: [a test]", "sources: [a test]\ntime: [dram__bytes.sum]"),
    ],
)
def test_strange_map_is_an_error_message(write: Write, old: str, new: str) -> None:
    assert old in SM_999
    report = write(details("0|k|T|ns|5,000", cc="99.9"))
    with pytest.raises(nr.NcuRooflineError):
        nr.analyze(report, map=write(SM_999.replace(old, new, 1), "odd.yaml"))


def test_map_without_half_precision_and_with_constant_loads_works(write: Write) -> None:
    text = (metric_map_directory() / "sm_80.yaml").read_text().replace("paths:\n", "paths:\n  fp16: null\n", 1)
    report = write(details("0|k|TEN|inst|5", "0|k|T|ns|20,000"))
    assert row_of(nr.analyze(report, map=write(text, "sm_80.yaml")))["time"] == pytest.approx(2e-5)


def test_tensor_pipe_with_all_operations_counted_as_zero_is_no_missing_work(write: Write) -> None:
    counted = {
        f"sm__ops_path_tensor_src_{name}.sum": "0"
        for name in (
            "fp64", "int1", *(f"{types}_sparsity_{state}"
            for types in ("tf32_dst_fp32", "bf16_dst_fp32", "fp16_dst_fp32", "fp16_dst_fp16", "int8", "int4")
            for state in ("off", "on")),
        )
    }  # fmt: skip
    metrics = (
        CLEAN | counted | {"TEN": "4,096 inst", "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum": "4,000 inst"}
    )
    analysis = nr.analyze(write(details(*launch(metrics))))
    assert finding(analysis, "tensor-not-counted") is None
    assert row_of(analysis)["bound.by"] == "l2" or row_of(analysis)["bound.by"] is not None


def test_constant_loads_are_told_from_tensor_work_without_a_map_too(write: Write) -> None:
    metrics = CLEAN | {"TEN": "1,000 inst", "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum": "1,000 inst"}
    analysis = nr.analyze(write(details(*launch(metrics), cc="8.7")))
    assert finding(analysis, "tensor-not-counted") is None
    assert row_of(analysis)["bound.by"] is not None


def test_group_of_which_most_time_is_undecided_is_undecided(write: Write) -> None:
    rows = [*launch(CLEAN | {"T": "1 ms"}), *launch(CLEAN | {"T": "100 ms", "TEN": "7 inst"}, number=1)]
    assert nr.analyze(write(details(*rows))).groups()["bound.by"].tolist() == [None]


def test_negative_counter_is_not_used_and_is_an_error(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch(CLEAN | {"DB": "-5,000 byte"}))))
    found = finding(analysis, "negative-value")
    assert found is not None
    assert found.severity == Severity.ERROR
    assert "traffic.dram.bytes" not in analysis.columns
    assert not row_of(analysis)["bound.complete"]


@pytest.mark.parametrize(("text", "unit", "seconds"), [("0,123", "ms", 123e-6), ("1234,567", "us", 1.234567e-3)])
def test_number_that_cannot_have_grouping_commas_is_european(
    write: Write, text: str, unit: str, seconds: float
) -> None:
    assert row_of(nr.analyze(write(details(f"0|k|T|{unit}|{text}"))))["time"] == pytest.approx(seconds)


@pytest.mark.parametrize(("locale", "value"), [("european", "1,280.50"), ("c", "65,77")])
def test_locale_that_contradicts_the_file_is_refused(write: Write, locale: str, value: str) -> None:
    path = write(details(f"0|k|DB|byte|{value}"))
    with pytest.raises(nr.NcuRooflineError, match="contradicts the file"):
        nr.analyze(path, locale=locale)


UNQUOTED = "ID,Process ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n"


def test_unquoted_table_is_read(write: Write) -> None:
    path = write(UNQUOTED + "0,1,k,gpu__time_duration.sum,ns,5000\n0,1,k,dram__bytes.sum,byte,\n")
    analysis = nr.analyze(path)
    assert row_of(analysis)["time"] == pytest.approx(5e-6)
    assert finding(analysis, "not-available") is not None


def test_application_lines_in_an_unquoted_table_are_no_launches(write: Write) -> None:
    path = write(UNQUOTED + "0,1,k,gpu__time_duration.sum,ns,5000\n100\n200,hello\n1,1,k,gpu__ti\n")
    analysis = nr.analyze(path)
    assert len(analysis) == 1
    assert analysis.inputs[0].skipped_lines == 3


def test_every_row_of_a_raw_page_is_a_launch(write: Write) -> None:
    text = raw_page({"gpu__time_duration.sum": ("ns", ["1000", "1000"])}, kernels=["a", "b"]).replace(
        '"1","4242"', '"0","4242"'
    )
    assert nr.analyze(write(text)).columns["kernel"].tolist() == ["a", "b"]


def test_ids_that_restart_without_a_header_are_other_launches(write: Write) -> None:
    rows = [cells("0|a|T|ns|1,000"), cells("1|b|T|ns|2,000"), cells("0|c|DB|byte|5")]
    analysis = nr.analyze(write("\n".join(map(quoted, [H15, *rows]))))
    assert analysis.columns["kernel"].tolist() == ["a", "b", "c"]
    assert math.isnan(analysis.columns["traffic.dram.bytes"][0])


def test_counters_of_mixed_kind_without_a_time_are_not_an_amount(write: Write) -> None:
    rate = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.per_second"
    rows = ["0|k|FADD|inst|5", "0|k|FMUL|inst|5", f"0|k|{rate}|inst/s|7"]
    found = row_of(nr.analyze(write(details(*rows))))
    assert "work.fp32.extent" not in found or found["work.fp32.extent"] is None
    assert found["missing.fp32"]


def test_work_without_a_ceiling_keeps_the_bound_a_lower_one(write: Write) -> None:
    metrics = {name: value for name, value in CLEAN.items() if name != "PKF"}
    assert not row_of(nr.analyze(write(details(*launch(metrics)))))["bound.complete"]


@pytest.mark.parametrize(
    ("metric", "unit"), [("DB", "us"), ("lts__t_sectors_srcunit_tex.sum", "%"), ("dram__bytes.sum.per_second", "byte")]
)
def test_unit_of_another_dimension_makes_the_value_unknown(write: Write, metric: str, unit: str) -> None:
    analysis = nr.analyze(write(details("0|k|T|us|20", f"0|k|{metric}|{unit}|5")))
    found = finding(analysis, "unit-not-understood")
    assert found is not None
    assert (metric if "__" in metric else "dram__bytes") in found.message
    assert not any(name.startswith("traffic.") and name.endswith(".bytes") for name in analysis.columns)


@pytest.mark.parametrize("device", ["²", "9" * 5000, "gpu0"])
def test_odd_device_number_is_unknown(write: Write, device: str) -> None:
    assert nr.analyze(write(details("0|k|T|ns|5,000", device=device))).columns["device_ordinal"].tolist() == [None]


def test_misspelt_metric_is_named_with_the_one_that_is_meant(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|dram__byte.sum||(!) n/a", "0|k|T|ns|20,000")))
    found = finding(analysis, "not-available")
    assert found is not None
    assert "dram__byte.sum -> dram__bytes.sum" in found.help


def test_no_inputs_are_a_usage_error() -> None:
    with pytest.raises(nr.NcuRooflineError):
        nr.analyze()


def test_points_have_their_columns_without_any_point(write: Write) -> None:
    points = nr.analyze(write(details("0|k|T|ns|5,000"))).points
    assert list(points.columns) == ["launch", "kernel", "path", "tier", "intensity", "rate", "peak", "bandwidth"]


def test_point_of_a_path_is_its_work_over_the_bytes_of_the_tier(write: Write) -> None:
    points = nr.analyze(write(details(*launch(CLEAN)))).points
    dram = points[(points["path"] == "fp32") & (points["tier"] == "dram")].iloc[0]
    # 10,000 FLOP over 1,000 byte in 20 us
    assert dram["intensity"] == pytest.approx(10.0)
    assert dram["rate"] == pytest.approx(5e8)
    assert dram["bandwidth"] == pytest.approx(1.28e12)


def test_output_follows_links_and_keeps_pipes(write: Write, tmp_path: Path) -> None:
    from ncu_roofline.cli.output import write as write_output

    (tmp_path / "target.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "target.txt")
    write_output("new", str(tmp_path / "link.txt"), [])
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "target.txt").read_text() == "new\n"
    write_output("gone", "/dev/null", [])
    assert not Path("/dev/null").is_file()


def test_summary_entries_are_totals_of_all_invocations(write: Write) -> None:
    header = ["Process ID", "Kernel Name", "Block Size", "Grid Size", "Invocations", "Section Name", "Metric Name",
              "Metric Unit", "Minimum", "Maximum", "Average"]  # fmt: skip
    rows = [
        ["1", "k", "(1, 1, 1)", "(2, 1, 1)", "14", "x", "gpu__time_duration.sum", "us", "10", "30", "20"],
        ["1", "k", "(1, 1, 1)", "(2, 1, 1)", "14", "x", "dram__bytes.sum", "byte", "1", "3", "2,000"],
        ["1", "k", "(1, 1, 1)", "(8, 1, 1)", "3", "x", "gpu__time_duration.sum", "us", "10", "30", "20"],
    ]
    analysis = nr.analyze(write("\n".join(map(quoted, [header, *rows]))))
    assert analysis.inputs[0].form == "csv-summary"
    assert analysis.columns["invocations"].tolist() == [14, 3]
    assert analysis.columns["ncu_id"].tolist() == [None, None]
    # 14 x 20 us, 14 x 2000 byte, and 2000 byte / 20 us
    assert np.allclose(analysis.columns["time"], [280e-6, 60e-6])
    assert analysis.columns["traffic.dram.bytes"][0] == pytest.approx(28000.0)
    assert analysis.columns["traffic.dram.rate"][0] == pytest.approx(1e8)
    assert finding(analysis, "launches-not-separable") is not None


def test_nvtx_ranges_have_the_default_domain_first_and_keep_colons(write: Write) -> None:
    push = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
    start = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
    none = ":none:none:none:none:none:none"
    solve = f'7  "CCCL:cub::DeviceReduce{none}"  "<default domain>:solve{none}" '
    header = [*H15[:4], push, start, *H15[4:]]
    row = cells("0|k|T|ns|5,000")
    analysis = nr.analyze(write("\n".join(map(quoted, [header, [*row[:4], solve, "", *row[4:]]]))))
    assert analysis.columns["nvtx"][0] == (("<default domain>", "solve"), ("CCCL", "cub::DeviceReduce"))


def test_errors_that_ncu_reports_around_a_table_are_a_warning(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T|ns|20,000", preface='==ERROR== Failed to profile "k2" in process 1\n')))
    found = finding(analysis, "ncu-error")
    assert found is not None
    assert 'Failed to profile "k2"' in found.message


def test_application_replay_is_a_condition_of_the_input(write: Write) -> None:
    preface = "==PROF== Creating report from application replay data: 0%....100%\n"
    assert (
        nr.analyze(write(details("0|k|T|ns|20,000", preface=preface))).inputs[0].conditions.replay_mode == "application"
    )
