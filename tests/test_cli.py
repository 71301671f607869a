"""The program as a user runs it: exit codes, streams, options, files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from ncu_roofline.cli import main
from ncu_roofline.cli.progress import ReadingProgress
from tests.conftest import Write
from tests.support import NESTED, ROOT, details, launch
from tests.test_findings import CLEAN

A100 = str(ROOT / "sample_reports" / "a100_raw.csv")
OTHER = ROOT / "sample_reports" / "other"


def run(*arguments: str, width: int = 200) -> Result:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(main, list(arguments))


def program(*arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "120"} | options
    return subprocess.run(
        [sys.executable, "-m", "ncu_roofline", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_clean_report_exits_with_0() -> None:
    result = run("analyze", A100)
    assert result.exit_code == 0
    assert "tensor.fp16.acc32" in result.stdout


def test_error_finding_exits_with_1_and_still_prints(write: Write) -> None:
    result = run("analyze", write(details(*launch(CLEAN | {"DB": "99,000,000 byte"}))))
    assert result.exit_code == 1
    assert "above-ceiling" in result.stdout


@pytest.mark.parametrize(("threshold", "code"), [("never", 0), ("error", 0), ("warning", 1), ("note", 1)])
def test_fail_on_sets_the_severity_that_fails(write: Write, threshold: str, code: int) -> None:
    path = write(details(*launch(CLEAN), cc="13.7"))
    assert run("analyze", path, "--fail-on", threshold).exit_code == code


@pytest.mark.parametrize("name", ["session.csv", "permission_error.log", "header_only.csv"])
@pytest.mark.parametrize("format_", ["table", "json"])
def test_input_without_launches_exits_with_2_and_prints_nothing(name: str, format_: str) -> None:
    result = run("analyze", str(OTHER / name), "--format", format_)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {OTHER / name}")
    assert "Traceback" not in result.stderr


def test_missing_file_and_empty_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        result = run("analyze", str(path))
        assert result.exit_code == 2
        assert str(path) in result.stderr


def test_empty_file_is_refused(write: Write) -> None:
    result = run("analyze", write(""))
    assert (result.exit_code, result.stdout) == (2, "")


def test_permission_error_names_its_usual_cause() -> None:
    assert "administrator" in run("analyze", str(OTHER / "permission_error.log")).stderr


def test_header_without_rows_says_that_there_are_no_launches() -> None:
    assert "no launches" in run("analyze", str(OTHER / "header_only.csv")).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "xml"],
        ["--kernel", "("],
        ["--kernel", "no such kernel"],
        ["--launch", "x"],
        ["--launch", "99"],
        ["--top", "0"],
        ["--cc", "nine"],
        ["--map", "/nowhere.yaml"],
        ["--require", "fp99"],
        ["--locale", "martian"],
        ["--no-such-option"],
    ],
)
def test_wrong_option_exits_with_2_and_prints_nothing_on_stdout(arguments: list[str]) -> None:
    result = run("analyze", A100, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_kernel_filter_selects_by_regular_expression() -> None:
    launches = json.loads(run("analyze", A100, "--format", "json", "--kernel", "^(triad|hash)").stdout)["launches"]
    assert [launch["launch"] for launch in launches] == [0, 4]


def test_launch_filter_takes_numbers_and_ranges() -> None:
    launches = json.loads(run("analyze", A100, "--format", "json", "--launch", "0,2-3").stdout)["launches"]
    assert [launch["launch"] for launch in launches] == [0, 2, 3]


def test_share_refers_to_all_launches_of_the_device_also_after_a_filter() -> None:
    group = json.loads(run("analyze", A100, "--format", "json", "--launch", "0").stdout)["groups"][0]
    assert group["share"] == pytest.approx(1.1 / 3.96)


def test_required_quantity_that_is_missing_exits_with_1_and_says_so(write: Write) -> None:
    path = write(details("0|k|DB||(!) n/a", "0|k|T|ns|1,000"))
    result = run("analyze", path, "--require", "dram")
    assert result.exit_code == 1
    assert "required: dram is not known for 1 of 1 launches" in result.stderr


def test_required_quantity_that_is_there_changes_nothing() -> None:
    assert run("analyze", A100, "--require", "dram,l2,fp32").exit_code == 0


def test_output_file_gets_what_would_be_printed(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    result = run("analyze", A100, "--format", "json", "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(target.read_text())["schema"] == "ncu-roofline/analysis/1"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_input_is_never_overwritten(write: Write) -> None:
    path = write(details(*launch(CLEAN)))
    before = Path(path).read_bytes()
    result = run("analyze", path, "-o", path)
    assert result.exit_code == 2
    assert Path(path).read_bytes() == before


def test_failed_analysis_writes_no_output_file(tmp_path: Path) -> None:
    result = run("analyze", str(OTHER / "header_only.csv"), "-o", str(tmp_path / "out.txt"))
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_output_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    result = run("analyze", A100, "-o", str(tmp_path / "no" / "out.txt"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_standard_input_is_read() -> None:
    result = CliRunner(env={"COLUMNS": "120"}).invoke(main, ["analyze", "-"], input=Path(A100).read_bytes())
    assert result.exit_code == 0
    assert "triad" in result.stdout


def test_several_reports_are_one_analysis() -> None:
    both = json.loads(
        run("analyze", A100, str(ROOT / "sample_reports" / "h100_gemm_metrics.csv"), "--format", "json").stdout
    )
    assert [launch["launch"] for launch in both["launches"]] == list(range(7))
    assert {launch["map"] for launch in both["launches"]} == {"sm_80", "sm_90"}


def test_version_and_module_form_are_the_same_program() -> None:
    result = program("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("ncu-roofline ")


def test_piped_output_has_no_colours() -> None:
    assert "\x1b" not in program("analyze", A100).stdout


def imported(code: str, *packages: str) -> str:
    """Which of some packages are imported after some code, as a list is printed."""
    shown = f"import sys\nprint(sorted({set(packages)!r} & set(sys.modules)))"
    command = [sys.executable, "-c", f"{code}\n{shown}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def called(*arguments: str) -> str:
    """Code that calls the command line."""
    return f"from ncu_roofline.cli import main\nmain({list(arguments)!r}, standalone_mode=False)"


def test_help_imports_no_heavy_package() -> None:
    code = called("analyze", "--help")
    assert imported(code, "pandas", "numpy", "polars", "plotly", "rich", "yaml") == "[]"


def test_importing_the_package_imports_no_heavy_package() -> None:
    assert imported("import ncu_roofline", "pandas", "numpy", "polars", "plotly") == "[]"


def test_analyze_imports_neither_plotly_nor_pandas() -> None:
    assert imported(called("analyze", A100), "pandas", "plotly") == "[]"


def test_model_imports_nothing_that_reads_reports() -> None:
    code = called(*["model", "axpy", "-n", "8", "--dtype", "fp64", "--peak", "1", "--bandwidth", "1"])
    assert imported(code, "pandas", "polars", "plotly") == "[]"


def test_every_option_of_analyze_is_explained_in_its_help() -> None:
    text = run("analyze", "--help").stdout
    for option in ("--format", "--output", "--kernel", "--launch", "--per-launch", "--top", "--sort", "--cc", "--map",
                   "--locale", "--require", "--fail-on", "--quiet"):  # fmt: skip
        assert option in text


def test_csv_has_the_dotted_columns_of_the_contract() -> None:
    table = pl.read_csv(run("analyze", A100, "--format", "csv").stdout.encode())
    # 137438953472 operations of the GEMM; 1610612736 bytes and 94.148 % of the triad.
    assert table["work.tensor.fp16.acc32.count"][1] == 2 * 4096**3
    assert table["traffic.dram.bytes"][0] == 1610612736
    assert table["bound.fraction"][0] == pytest.approx(0.941482, abs=1e-6)
    assert table["grid.x"].to_list() == [262144, 32, 4, 4096, 262144]
    assert table["bound.pipe"].to_list() == [None, "tensor", None, None, None]


def test_parquet_holds_the_same_as_csv(tmp_path: Path) -> None:
    target = tmp_path / "launches.parquet"
    assert run("analyze", A100, "--format", "parquet", "-o", str(target)).exit_code == 0
    table = pl.read_csv(run("analyze", A100, "--format", "csv").stdout.encode(), infer_schema_length=None)
    parquet = pl.read_parquet(target)
    assert parquet.columns == table.columns
    assert parquet["time"].to_list() == table["time"].to_list()
    assert parquet["kernel"].to_list() == table["kernel"].to_list()


def test_unknown_values_of_csv_are_empty(write: Write) -> None:
    table = pl.read_csv(run("analyze", write(details("0|k|DB|byte|5")), "--format", "csv").stdout.encode())
    assert table["time"].to_list() == [None]
    assert table["traffic.dram.rate"].to_list() == [None]


def test_markdown_is_a_table_with_findings_and_provenance() -> None:
    text = run("analyze", A100, "--format", "markdown").stdout
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 7
    assert {row.count(" | ") for row in rows} == {rows[0].count(" | ")}
    assert "1.464 TB/s (94.1%)" in text
    assert "sha256" in text


def test_markdown_keeps_bars_of_kernel_names_inside_their_cell(write: Write) -> None:
    text = run("analyze", write(details("0|k|T|ns|20,000").replace('"k"', '"k<a|b>"')), "--format", "markdown").stdout
    assert "`k<a\\|b>`" in text


def test_table_and_json_show_the_nvtx_ranges(write: Write) -> None:
    path = write(NESTED)
    text = run("analyze", path).stdout
    assert "step: 3 launches, 8.000 us, 80.0% of the time" in text
    assert "opt@adam: 1 launch, 5.000 us" in text
    document = json.loads(run("analyze", path, "--format", "json").stdout)
    assert document["nvtx_ranges"][0]["range"] == "step"
    assert document["nvtx_ranges"][0]["launches"] == [0, 1, 2]


def test_progress_is_said_on_standard_error_after_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 0.5, 1.2, 1.9, 2.3])
    monkeypatch.setattr("ncu_roofline.cli.progress.time.monotonic", lambda: next(clock))
    progress = ReadingProgress()
    for done in (10, 30, 60, 90):
        progress("r.csv", done * 1_000_000, 100_000_000)
    # At 1.2 s and 2.3 s; 0.5 s and 1.9 s are less than a second after the last word.
    assert capsys.readouterr().err == "reading r.csv: 30% of 100 MB\nreading r.csv: 90% of 100 MB\n"


def test_short_work_is_silent(write: Write) -> None:
    assert run("analyze", write(details("0|k|T|ns|1,000"))).stderr == ""


def test_maps_list_has_every_compute_capability() -> None:
    listed = run("maps", "list").stdout
    for cc in ("7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"):
        assert f"CC {cc} " in listed


def test_maps_show_prints_the_file_of_a_compute_capability() -> None:
    assert run("maps", "show", "9.0").stdout == (ROOT / "metric_maps" / "sm_90.yaml").read_text(encoding="utf-8")


def test_maps_show_resolved_has_what_is_inherited() -> None:
    assert "dram__bytes" not in run("maps", "show", "sm_80").stdout.replace("dram__bytes_op", "")
    assert "{dram__bytes: 1}" in run("maps", "show", "sm_80", "--resolved").stdout


def test_maps_show_of_an_unknown_name_lists_the_known_ones() -> None:
    result = run("maps", "show", "sm_42")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "known are base" in result.stderr


def test_maps_check_of_a_good_file_exits_with_0() -> None:
    result = run("maps", "check", str(ROOT / "metric_maps" / "sm_90.yaml"))
    assert (result.exit_code, "good: sm_90, CC 9.0" in result.stdout) == (0, True)


def test_maps_check_reports_every_problem_of_every_file(write: Write) -> None:
    broken = write("schema: 1\nid: x\ncompute_capabilities: [9.0]\nextends: base\nfoo: 1\n", "x.yaml")
    other = write("schema: 7\nid: y\ntitle: t\ncompute_capabilities: []\nsources: [a]\nextends: base\n", "y.yaml")
    result = run("maps", "check", broken, other)
    assert result.exit_code == 2
    for text in ("$.foo: unknown key", "missing key 'title'", "missing key 'sources'", "must be quoted", "schema 7"):
        assert text in result.stderr
    assert f"{broken}:5:" in result.stderr


def test_collect_asks_for_the_counters_of_a_question_only() -> None:
    result = run("collect", "--cc", "9.0", "--tiers", "dram", "--paths", "fp64")
    metrics = result.stdout.split("--metrics ")[1].split()[0].split(",")
    assert metrics == [
        "gpu__time_duration.sum",
        "dram__bytes.sum", "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second",
        *(f"sm__sass_thread_inst_executed_op_{name}_pred_on.sum" for name in ("dadd", "dmul", "dfma")),
        "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained", "sm__cycles_elapsed.avg.per_second",
    ]  # fmt: skip
    assert "9 metrics for dram, fp64" in result.stdout


def test_collect_spells_out_cache_and_clock_control() -> None:
    command = run("collect", "--cc", "8.0", "--cache-control", "none", "--clock-control", "boost").stdout.splitlines()[
        -1
    ]
    assert command.startswith("ncu --cache-control none --clock-control boost --metrics ")


def test_collect_of_tensor_takes_every_tensor_path_and_the_activity_of_the_pipe() -> None:
    result = run("collect", "--cc", "7.0", "--paths", "tensor")
    for name in ("src_fp16_dst_fp16.sum", "src_fp16_dst_fp32.sum.peak_sustained", "sm__inst_executed_pipe_tensor.sum"):
        assert name in result.stdout


def test_collect_of_what_cannot_be_collected_gives_the_reason_and_no_command() -> None:
    result = run("collect", "--cc", "8.7", "--tiers", "dram")
    assert "dram cannot be measured" in result.stdout
    assert "ncu --" not in result.stdout


def test_peak_source_measured_without_a_file_is_a_usage_error() -> None:
    result = run("analyze", A100, "--peak-source", "measured")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--peak-source measured: needs a file of measured ceilings (--ceilings FILE)" in result.stderr


def test_collect_says_what_cannot_be_collected() -> None:
    result = run("collect", "--cc", "12.1")
    assert "dram cannot be measured: the chip has no DRAM counters" in result.stdout
    assert "dram__" not in result.stdout.split("--metrics ")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "REPORT or --cc: is needed"),
        (("--cc", "nine"), "is not a compute capability"),
        (("--cc", "9.0", "--tiers", "hbm"), "is no tier; known are dram"),
        (("--cc", "7.0", "--paths", "tensor.fp8"), "is no path of this architecture"),
    ],
)
def test_collect_without_a_question_is_a_usage_error(arguments: tuple[str, ...], message: str) -> None:
    result = run("collect", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


SHARED_PATH = {
    f"{counter}.sum{rollup}": "1 "
    for counter in ("l1tex__lsu_writeback_active_mem_lg", "l1tex__data_pipe_lsu_wavefronts_mem_shared")
    for rollup in ("", ".peak_sustained")
}


def test_collect_names_what_a_report_lacks_for_each_part(write: Write) -> None:
    metrics = {name: value for name, value in (CLEAN | SHARED_PATH).items() if name not in ("PKD", "FADD")}
    lines = run("collect", write(details(*launch(metrics)))).stdout.splitlines()
    assert lines[0] == "Ampere GA100 (CC 8.0, map sm_80), 1 launch: missing"
    assert [line.split() for line in lines[1:3]] == [
        ["dram", "dram__bytes.sum.peak_sustained"],
        ["fp32", "sm__sass_thread_inst_executed_op_fadd_pred_on.sum"],
    ]


def test_collect_of_a_complete_report_misses_nothing(write: Write) -> None:
    assert "nothing is missing" in run("collect", write(details(*launch(CLEAN | SHARED_PATH)))).stdout


def test_collect_asks_for_what_shares_a_data_path_and_for_traffic_that_no_measure_sees() -> None:
    command = run("collect", "--cc", "9.0").stdout
    for counter in (
        "l1tex__t_bytes.sum,", "l1tex__lsu_writeback_active_mem_lgds.sum,",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    ):  # fmt: skip
        assert counter in command
    assert "derived__" not in command


def test_collect_takes_a_counter_in_another_rollup_and_spelling_for_collected(write: Write) -> None:
    ffma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"
    lines = run("collect", write(details(*launch({"T": "20 us", ffma: "7 inst/cycle"})))).stdout.splitlines()
    (fp32,) = [line for line in lines if line.split()[:1] == ["fp32"]]
    assert "op_ffma_pred_on.sum.peak_sustained" in fp32
    assert "op_ffma_pred_on.sum and" not in fp32


def test_collect_for_an_architecture_without_a_map_says_so() -> None:
    assert run("collect", "--cc", "13.7").stdout.startswith("There is no map for CC 13.7. ")


def test_collect_of_integer_instructions_asks_for_them() -> None:
    assert "op_integer_pred_on.sum" in run("collect", "--cc", "8.0", "--paths", "int").stdout


def test_collect_of_a_tier_beside_the_core_ones_asks_for_it() -> None:
    assert "nvlrx__bytes.sum,nvltx__bytes.sum" in run("collect", "--cc", "9.0", "--tiers", "nvlink").stdout


def test_devices_list_has_every_product() -> None:
    assert len(run("devices", "list").stdout.splitlines()) == 1 + 29


def test_devices_show_has_rates_clocks_and_confidence() -> None:
    sheet = run("devices", "show", "H20").stdout
    assert "NVIDIA H20 (GH100, compute capability 9.0), 78 SMs" in sheet
    assert "4.000 TB/s" in sheet
    assert "low: published 44 TFLOP/s" in sheet


def test_devices_show_of_a_slice_says_that_the_numbers_are_those_of_the_product() -> None:
    assert "MIG slice of NVIDIA A100-SXM4-40GB" in run("devices", "show", "A100-SXM4-40GB MIG 3g.20gb").stdout


def test_devices_show_of_an_ambiguous_name_names_the_products() -> None:
    result = run("devices", "show", "A100")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "NVIDIA A100-SXM4-80GB" in result.stderr


@pytest.mark.parametrize("folder", ["/", "."])
@pytest.mark.parametrize("option", ["--html", "--figure", "-o"])
def test_folder_in_place_of_a_file_is_named_as_that(option: str, folder: str) -> None:
    result = CliRunner().invoke(main, ["analyze", A100, option, folder])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert isinstance(result.exception, SystemExit)
