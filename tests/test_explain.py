"""`explain` writes down what was computed: formulas give the values, cells are those of the file."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.errors import UsageError
from ncu_roofline.explain import Explained
from ncu_roofline.render.explanation import to_json
from ncu_roofline.vocabulary import TIERS
from tests.conftest import Write
from tests.support import CORPUS, H15, ROOT, cells, details, quoted

REPORTS = sorted(path for path in CORPUS.glob("*.csv") if re.match(r"\d+-(details|raw|summary)", path.name))
SAMPLES = sorted((ROOT / "sample_reports").glob("*.csv"))

# 100 + 2 x 300 FLOP in 2 us; peak 2 x 64 a cycle at 1 GHz; DRAM 5 GB/s measured as read and write parts.
SMALL = [
    "0|saxpy|T|ns|2,000",
    "0|saxpy|FADD|inst|100",
    "0|saxpy|FMUL|inst|0",
    "0|saxpy|FFMA|inst|300",
    "0|saxpy|PKF|inst/cycle|64",
    "0|saxpy|SMHZ|Ghz|1.00",
    "0|saxpy|DR|Kbyte|8.00",
    "0|saxpy|DW|byte|2,000",
]


def value_of(text: str) -> float:
    """The value of an arithmetic text, computed by Python itself."""
    assert re.fullmatch(r"[-+0-9.e()/x, ]*|max\([-+0-9.e()/x, ]*\)", text), text
    return float(eval(text.replace(" x ", " * ")))


def steps(analysis: nr.Analysis, launches: list[int]) -> list[tuple[int, Any]]:
    return [
        (launch, step) for launch in launches for subject in analysis.explain(launch).subjects for step in subject.steps
    ]


def subject(analysis: nr.Analysis, launch: int, name: str) -> Explained:
    (found,) = analysis.explain(launch, name).subjects
    return found


def some_launches(analysis: nr.Analysis) -> list[int]:
    return sorted({0, len(analysis) // 2, len(analysis) - 1})


@pytest.fixture
def small(write: Write) -> nr.Analysis:
    return nr.analyze(write(details(*SMALL)))


@pytest.mark.parametrize("path", SAMPLES + REPORTS, ids=lambda path: path.name)
def test_numbers_put_into_every_formula_give_the_value(path: Path) -> None:
    analysis = nr.analyze(path)
    found = steps(analysis, some_launches(analysis))
    wrong = [
        (launch, step)
        for launch, step in found
        if not math.isclose(value_of(step.numbers), step.value, rel_tol=1e-9, abs_tol=1e-15)
    ]
    assert wrong == []


@pytest.mark.parametrize("path", SAMPLES + REPORTS, ids=lambda path: path.name)
def test_explained_values_are_those_of_the_analysis(path: Path) -> None:
    analysis = nr.analyze(path)
    launches = analysis.columns
    for launch, step in steps(analysis, some_launches(analysis)):
        if step.name in launches:
            assert step.value == launches[step.name][launch], step.name


@pytest.mark.parametrize("path", SAMPLES + REPORTS, ids=lambda path: path.name)
def test_everything_known_of_a_launch_is_explained(path: Path) -> None:
    analysis = nr.analyze(path)
    kinds = (".count", ".bytes", ".rate", ".peak", ".intensity", "time", "bound.fraction", ".mix.value")
    for launch in some_launches(analysis):
        in_use = {
            f"traffic.{tier}.measures.{analysis.columns[f'traffic.{tier}.measure'][launch]}"
            for tier in TIERS
            if f"traffic.{tier}.measure" in analysis.columns
        }
        known = {
            name
            for name, column in analysis.columns.items()
            if name.endswith(kinds) and name not in ("device_time", "total_time", "bound.fraction")
            # A sum over paths, each of which is explained.
            if not name.startswith("flop.")
            # The measure in use stands as the tier itself, and a peak of another does not enter anything.
            if name.rpartition(".")[0] not in in_use and not (".measures." in name and name.endswith(".peak"))
            if column.dtype.kind == "f" and not np.isnan(column[launch])
        }
        assert known - {step.name for _, step in steps(analysis, [launch])} == set()


@pytest.mark.parametrize("path", SAMPLES + REPORTS, ids=lambda path: path.name)
def test_bound_is_explained_as_complete_exactly_where_it_is(path: Path) -> None:
    analysis = nr.analyze(path)
    for launch in range(len(analysis)):
        remark = subject(analysis, launch, "bound").remark or ""
        assert ("incomplete" not in remark) == analysis.columns["bound.complete"][launch], remark


@pytest.mark.parametrize("path", SAMPLES + REPORTS, ids=lambda path: path.name)
def test_cells_are_printed_in_the_lines_they_name(path: Path) -> None:
    analysis = nr.analyze(path)
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    cells = [cell for launch in some_launches(analysis) for s in analysis.explain(launch).subjects for cell in s.cells]
    assert all(cell.line is not None and cell.text in lines[cell.line - 1] for cell in cells)


def test_work_is_explained_with_its_weights(small: nr.Analysis) -> None:
    count = subject(small, 0, "fp32").steps[0]
    assert (count.name, count.value, count.unit, count.numbers) == (
        "work.fp32.count",
        700.0,
        "FLOP",
        "100 + 0 + 2 x 300",
    )


def test_ceiling_is_explained_with_source_and_clock(small: nr.Analysis) -> None:
    peak = subject(small, 0, "fp32").steps[2]
    assert (peak.value, peak.source, peak.clock, peak.numbers) == (128e9, "report", 1e9, "2 x 64 x 1000000000")


def test_cell_keeps_text_unit_line_and_rounding(small: nr.Analysis) -> None:
    read, written = subject(small, 0, "dram").cells
    assert (read.text, read.unit, read.line, read.value, read.rounding) == ("8.00", "Kbyte", 8, 8000.0, 5.0)
    assert (written.text, written.unit, written.line, written.rounding) == ("2,000", "byte", 9, 0.0)


def test_map_entry_names_the_line_of_the_alternative(small: nr.Analysis) -> None:
    found = subject(small, 0, "dram")
    assert found.map_file is not None
    assert found.map_line is not None
    entry = Path(found.map_file).read_text().splitlines()[found.map_line - 1]
    assert "dram__bytes_read" in entry
    assert "dram__bytes_write" in entry


def test_time_names_the_line_of_the_map(small: nr.Analysis) -> None:
    found = subject(small, 0, "time")
    assert found.map_file is not None
    assert found.map_line is not None
    assert "gpu__time_duration" in Path(found.map_file).read_text().splitlines()[found.map_line - 1]


def test_bound_is_the_largest_time_of_the_resources(small: nr.Analysis) -> None:
    # 700 FLOP / 128 GFLOP/s = 5.46875 ns
    bound = next(step for step in subject(small, 0, "bound").steps if step.name == "bound.time")
    assert bound.value == pytest.approx(5.46875e-9)


def test_clock_is_explained_by_its_counter(small: nr.Analysis) -> None:
    assert subject(small, 0, "clocks.sm").steps[0].formula == "sm__cycles_elapsed.avg.per_second"


@pytest.mark.parametrize(
    "name", ["fp32", "FP32", "work.fp32", "work.fp32.count", "work.fp32.peak", "ceilings.fp32.mix"]
)
def test_quantity_is_found_by_path_or_column(small: nr.Analysis, name: str) -> None:
    assert subject(small, 0, name).subject == "fp32"


def test_longest_path_name_wins(small: nr.Analysis) -> None:
    assert subject(small, 0, "work.tensor.fp16.acc32.count").subject == "tensor.fp16.acc32"


def test_unknown_quantity_names_the_known_ones(small: nr.Analysis) -> None:
    with pytest.raises(UsageError, match=r"fp33.*fp32"):
        small.explain(0, "fp33")


def test_unknown_launch_says_how_many_there_are(small: nr.Analysis) -> None:
    with pytest.raises(UsageError, match="there are 1"):
        small.explain(1)


def test_what_was_not_collected_comes_with_its_own_command(small: nr.Analysis) -> None:
    found = subject(small, 0, "l1")
    assert found.remark == "not known: not collected: l1tex__t_bytes"
    assert found.collect is not None
    assert "l1tex__t_bytes.sum,l1tex__t_bytes.sum.peak_sustained,l1tex__cycles_elapsed.avg.per_second" in found.collect
    assert "dram__bytes" not in found.collect


def test_lower_bound_names_the_counters_that_lack(write: Write) -> None:
    found = subject(nr.analyze(write(details(*[row for row in SMALL if "|FADD|" not in row]))), 0, "fp32")
    assert found.extent == "at_least"
    assert found.remark == "not collected: sm__sass_thread_inst_executed_op_fadd_pred_on"


def test_tier_that_the_chip_cannot_count_gives_the_reason_and_no_command(write: Write) -> None:
    found = subject(nr.analyze(write(details(*SMALL[:6], cc="12.1"))), 0, "dram")
    assert found.remark == "not known: the chip has no DRAM counters (dram__, fbpa__)"
    assert found.collect is None


def test_launch_of_a_second_input_is_explained_from_its_own_cells(write: Write) -> None:
    other = [row.replace("FFMA|inst|300", "FFMA|inst|500") for row in SMALL]
    analysis = nr.analyze(write(details(*SMALL), "a.csv"), write(details(*other), "b.csv"))
    assert subject(analysis, 1, "fp32").steps[0].numbers == "100 + 0 + 2 x 500"


def test_selected_launches_keep_their_explanation(write: Write) -> None:
    analysis = nr.analyze(write(details(*SMALL, *[row.replace("0|saxpy", "1|daxpy") for row in SMALL[:4]])))
    chosen = analysis.select(analysis.columns["launch"] == 1)
    assert chosen.explain(1, "fp32").launch["kernel"] == "daxpy"


def test_text_shows_formula_numbers_cells_and_hashes(write: Write) -> None:
    path = write(details(*SMALL))
    result = CliRunner().invoke(main, ["explain", path, "0", "fp32"])
    assert result.exit_code == 0
    for part in ("= 100 + 0 + 2 x 300", '"300" inst', "line 5", "SHA-256", "from report at 1.000 GHz", "base.yaml"):
        assert part in result.output


def test_json_is_strict_and_names_its_schema(write: Write) -> None:
    result = CliRunner().invoke(main, ["explain", write(details(*SMALL)), "0", "--format", "json"])
    document = json.loads(result.output, parse_constant=pytest.fail)
    assert document["schema"] == "ncu-roofline/explanation/1"
    assert {"time", "fp32", "dram", "bound"} <= {entry["subject"] for entry in document["subjects"]}


def test_unknown_launch_is_a_usage_error(write: Write) -> None:
    result = CliRunner().invoke(main, ["explain", write(details(*SMALL)), "7"])
    assert (result.exit_code, result.stdout) == (2, "")


def test_measure_that_is_not_in_use_is_explained_too(write: Write) -> None:
    rows = [
        "0|k|T|us|20",
        "0|k|lts__t_sectors_srcunit_tex.sum|sector|1,000,000",
        "0|k|lts__t_bytes.sum|byte|40,000,000",
        "0|k|lts__t_bytes.sum.peak_sustained|byte/cycle|5,120",
        "0|k|lts__cycles_elapsed.avg.per_second|Ghz|1",
    ]
    found = subject(nr.analyze(write(details(*rows))), 0, "traffic.l2.measures.sm.bytes")
    step = next(step for step in found.steps if step.name == "traffic.l2.measures.sm.bytes")
    assert (step.value, step.numbers) == (32e6, "32 x 1000000")
    assert found.remark is not None
    assert "measure tag is in use: the first with bytes and a peak of its own" in found.remark


@pytest.mark.parametrize("printed", ["0.00", "-5"])
def test_duration_that_was_not_measured_is_quoted(write: Write, printed: str) -> None:
    found = subject(nr.analyze(write(details(f"0|k|T|us|{printed}", "0|k|DB|byte|8"))), 0, "time")
    assert found.remark is not None
    assert f"gpu__time_duration.sum is '{printed}' us on line 2" in found.remark


def test_bound_of_an_incomplete_picture_is_at_least_and_headroom_at_most(small: nr.Analysis) -> None:
    limits = {step.name: step.limit for step in subject(small, 0, "bound").steps if step.name.startswith("bound.")}
    assert limits == {"bound.time": "at_least", "bound.fraction": "at_least", "bound.headroom": "at_most"}


def test_bound_without_a_time_shows_the_times_at_the_ceilings(write: Write) -> None:
    rows = ["0|k|DB|byte|1,000", "0|k|PKD|byte/cycle|1,000", "0|k|DHZ|Ghz|1"]
    (step,) = subject(nr.analyze(write(details(*rows))), 0, "bound").steps
    assert (step.name, step.value, step.unit) == ("dram", 1e-9, "s")


def test_missing_ceilings_are_the_reason_of_an_incomplete_bound(small: nr.Analysis) -> None:
    remark = subject(small, 0, "bound").remark or ""
    assert "no ceiling of dram" in remark
    assert "l2 not collected" in remark


def test_ceiling_of_the_instruction_mix_is_explained(write: Write) -> None:
    # 700 FLOP in 400 instructions: 128 GFLOP/s x 700 / (2 x 400)
    found = subject(nr.analyze(write(details(*SMALL))), 0, "fp32")
    mix = next(step for step in found.steps if step.name == "ceilings.fp32.mix.value")
    assert mix.value == pytest.approx(112e9)


def test_amount_that_may_be_no_work_says_so(write: Write) -> None:
    found = subject(nr.analyze(write(details(*SMALL, "0|saxpy|HFMA|inst|8"))), 0, "fp16")
    assert found.remark is not None
    assert "never binds" in found.remark


def test_findings_of_the_launch_are_listed(small: nr.Analysis) -> None:
    assert "M201" in {finding.code for finding in small.explain(0).findings}


def test_own_map_is_named_with_its_hash_beside_inherited_ones(small: nr.Analysis) -> None:
    names = {Path(file).name for file in small.explain(0).map_sha256}
    assert names == {"sm_80.yaml", "base.yaml"}


def test_doubled_value_of_a_chart_shows_its_divisor(write: Write) -> None:
    row = cells("0|k|derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2|inst/cycle|128", section="Command line")
    lines = [H15, *[cells(row) for row in SMALL if "|PKF|" not in row], row]
    analysis = nr.analyze(write("\n".join(map(quoted, lines))))
    divided = {cell.divided_by for part in analysis.explain(0).subjects for cell in part.cells if cell.text == "128"}
    assert divided == {2}


def test_duration_of_zero_beside_cycles_is_quoted(write: Write) -> None:
    rows = ["0|k|T|us|0.00", "0|k|sm__cycles_elapsed.avg|cycle|1,000", "0|k|SMHZ|Ghz|1"]
    found = subject(nr.analyze(write(details(*rows))), 0, "time")
    assert found.steps == ()
    assert "is '0.00' us on line 2" in (found.remark or "")


def test_amount_of_totals_and_rates_without_a_time_is_not_explained_as_a_number(write: Write) -> None:
    fadd = "sm__sass_thread_inst_executed_op_fadd_pred_on.sum.per_second"
    analysis = nr.analyze(write(details("0|k|FFMA|inst|8", f"0|k|{fadd}|inst/s|5", "0|k|FMUL|inst|1")))
    assert [step for step in subject(analysis, 0, "fp32").steps if math.isnan(step.value)] == []


FFMA = "sm__sass_thread_inst_executed_op_ffma_pred_on"
POOL = [
    "T|us|20", "T|us|0", "sm__cycles_elapsed.avg|cycle|20,000", "SMHZ|Ghz|1", "DHZ|Ghz|1.5",
    "FADD|inst|100", "FMUL|inst|7", "FFMA|inst|300", f"{FFMA}.sum.per_second|inst/s|15,000,000",
    f"{FFMA}.sum.per_cycle_elapsed|inst/cycle|0.015", "PKF|inst/cycle|64", "HFMA|inst|8", "HADD|inst|0", "HMUL|inst|0",
    f"{FFMA}.avg.pct_of_peak_sustained_elapsed|%|0.02", "DADD|inst|1", "DMUL|inst|1", "DFMA|inst|1",
    "DB|byte|1,000", "DR|byte|600", "DW|byte|500", "dram__bytes.sum.per_second|Mbyte/s|50", "PKD|byte/cycle|640",
    "dram__bytes_read.sum.pct_of_peak_sustained_elapsed|%|10", "device__attribute_memory_clock_rate||1,215,000",
    "device__attribute_global_memory_bus_width||5,120", "lts__t_sectors_srcunit_tex.sum|sector|100",
    "lts__t_bytes.sum|byte|4,000", "lts__t_bytes.sum.peak_sustained|byte/cycle|5,120",
    "lts__cycles_elapsed.avg.per_second|Ghz|1", "l1tex__t_bytes.sum|byte|900", "OPS||8,192", "TEN|inst|2", "TEN|inst|0",
    "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_on.sum||4,096",
    "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum||8,192",
    "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_on.sum.peak_sustained|1/cycle|4,096",
    "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum.peak_sustained|1/cycle|2,048",
]  # fmt: skip


@given(chosen=st.sets(st.sampled_from(POOL), min_size=1), cc=st.sampled_from(["8.0", "9.0", "12.1", "13.7"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_was_collected_is_explained_by_formulas_that_hold(write: Write, chosen: set[str], cc: str) -> None:
    analysis = nr.analyze(write(details(*[f"0|k|{row}" for row in POOL if row in chosen], cc=cc)))
    explanation = analysis.explain(0)
    for part in explanation.subjects:
        for step in part.steps:
            assert math.isclose(value_of(step.numbers), step.value, rel_tol=1e-9, abs_tol=1e-18), step
    remark = subject(analysis, 0, "bound").remark or ""
    assert ("incomplete" not in remark) == analysis.columns["bound.complete"][0]
    json.loads(to_json(explanation), parse_constant=pytest.fail)


def test_mix_ceiling_of_a_launch_without_a_time_is_explained_from_the_counts(write: Write) -> None:
    analysis = nr.analyze(write(details(*[row for row in SMALL if "|T|" not in row])))
    mix = next(step for step in subject(analysis, 0, "fp32").steps if step.name == "ceilings.fp32.mix.value")
    assert value_of(mix.numbers) == pytest.approx(112e9)


def test_ceiling_of_two_parts_is_their_work_over_the_sum_of_their_times(write: Write) -> None:
    # 8192 FLOP dense at 2048 GFLOP/s and 4096 sparse at 4096 GFLOP/s: 12288 / (4 + 1 ns)
    rows = ["T|us|1", "SMHZ|Ghz|1", *[row for row in POOL if "sparsity" in row]]
    peak = subject(nr.analyze(write(details(*[f"0|k|{row}" for row in rows]))), 0, "tensor.fp16.acc32").steps[2]
    assert peak.numbers == "(8192 + 4096) / (8192 / (2048 x 1000000000) + 4096 / (4096 x 1000000000))"
    assert peak.value == pytest.approx(2.4576e12)


def test_aggregate_says_which_alternative_it_is_and_what_its_parts_would_tell(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|T|us|20", "0|k|sm__ops_path_tensor_src_bf16_dst_fp32.sum||8", cc="8.0")))
    found = subject(analysis, 0, "tensor.bf16")
    assert found.alternative == "alternative 2 of 2"
    assert "more would be known from sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off, " in (found.remark or "")
    assert "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained" in (found.collect or "")


def test_measure_that_is_not_the_first_names_the_one_that_is(write: Write) -> None:
    found = subject(nr.analyze(write(details("0|k|T|us|20", "0|k|lts__t_bytes.sum|byte|900"))), 0, "l2")
    assert "more would be known from lts__t_sectors_srcunit_tex" in (found.remark or "")


def test_best_alternative_with_its_peak_needs_nothing_more(write: Write) -> None:
    rows = ["0|k|T|us|20", "0|k|DB|byte|900", "0|k|PKD|byte/cycle|1,280", "0|k|DHZ|Ghz|1"]
    found = subject(nr.analyze(write(details(*rows))), 0, "dram")
    assert (found.alternative, found.collect) == ("alternative 1 of 4", None)
