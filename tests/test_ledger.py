"""What a problem needs, and what a launch did of it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline.checks import Finding
from ncu_roofline.cli import main
from ncu_roofline.errors import DataFileError, UsageError
from ncu_roofline.ledger import read_expectations
from tests.conftest import Write
from tests.support import details, launch, row_of, with_ranges
from tests.test_findings import CLEAN

# 10e6 byte, of which 8e6 read, and 2 x 5e6 = 10e6 FLOP in 20 us; DRAM ceiling 1280 byte/cycle x 1 GHz = 1.28e12 byte/s.
FILLED = CLEAN | {"T": "20 us", "DB": "10 Mbyte", "DR": "8 Mbyte", "DW": "2 Mbyte", "FFMA": "5,000,000 inst"}


@pytest.mark.parametrize(
    ("text", "work", "read", "written"),
    [
        # 2 x 128 x 4096 x 4096; (128 x 4096 + 4096 x 4096) x 2 byte; 128 x 4096 x 2 byte
        ("gemm:m=128,n=4096,k=4096,dtype=bf16", 4_294_967_296, 34_603_008, 1_048_576),
        # beta: C is read, too: 34603008 + 1048576
        ("gemm:m=128,n=4096,k=4096,dtype=bf16,beta=1", 4_294_967_296, 35_651_584, 1_048_576),
        # 3 x 2 x 8 x 16 x 32; 3 x (8 x 32 x 1 + 32 x 16 x 0.5); 3 x 8 x 16 x 4
        ("gemm:m=8,n=16,k=32,dtype=fp8,b=fp4,c=fp32,batch=3", 24_576, 1_536, 1_536),
        # y = a x + y: 2 FLOP, two reads and one write of 8 byte per element
        ("axpy:n=1e6,dtype=fp64", 2e6, 16e6, 8e6),
        ("copy:bytes=268435456", math.nan, 268_435_456, 268_435_456),
        ("work:flop=2e9", 2e9, math.nan, math.nan),
        ("work:macs=1e9", 2e9, math.nan, math.nan),
        ("work:read=5", math.nan, 5, 0),
        ("work:flop=1e9,read=5,written=7", 1e9, 5, 7),
    ],
)
def test_ledger_of_a_problem(text: str, work: float, read: float, written: float) -> None:
    (expectation,) = read_expectations([text])
    ledger = expectation.ledger
    assert [ledger.work, ledger.read, ledger.written] == pytest.approx([work, read, written], nan_ok=True)


def test_work_in_integers_is_no_flop() -> None:
    assert read_expectations(["gemm:m=8,n=8,k=8,dtype=int8"])[0].ledger.unit == "OP"


def test_regular_expression_may_have_commas_and_equals_signs() -> None:
    (expectation,) = read_expectations(["work:flop=1,kernel=gemm<(4|8),x=1>"])
    assert expectation.meant.kernel is not None
    assert expectation.meant.kernel.pattern == "gemm<(4|8),x=1>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gem:m=1", "'gem' is no kind of problem; known are gemm"),
        ("gemm:m=8,n=8,dtype=bf16", "gemm needs k"),
        ("gemm:m=8,n=8,k=8", "gemm needs dtype"),
        ("gemm:m=8,n=8,k=8,dtype=half", "dtype is 'half', which is none of fp64"),
        ("gemm:m=x,n=8,k=8,dtype=bf16", "m is 'x', which is no number"),
        ("gemm:m=-8,n=8,k=8,dtype=bf16", "no number of at least 0"),
        ("gemm:m=8,m=9,n=8,k=8,dtype=bf16", "is there twice"),
        ("gemm:m=8,n=8,k=8,dtype=bf16,q=1", "gemm has no parameter 'q'"),
        ("gemm:m=8,n=8,k=8,dtype=bf16,kernel=(", "is not a regular expression"),
        ("gemm", "gemm needs m"),
        ("work:flop=nan", "no number"),
        ("absent.yaml", "cannot be read"),
    ],
)
def test_text_without_a_meaning_is_refused(text: str, said: str) -> None:
    with pytest.raises((UsageError, DataFileError)) as caught:
        read_expectations([text])
    assert said in str(caught.value)


def test_file_says_the_same_as_texts(write: Write) -> None:
    path = write(
        "schema: 1\nexpect:\n  - {kind: gemm, m: 128, n: 4096, k: 4096, dtype: bf16, kernel: gemm, grid: [1, 2, 3]}\n",
        "work.yaml",
    )
    (from_file,) = read_expectations([path])
    (from_text,) = read_expectations(["gemm:m=128,n=4096,k=4096,dtype=bf16,kernel=gemm"])
    assert from_file.ledger == from_text.ledger
    assert (from_file.meant.grid, from_file.where) == ((1, 2, 3), f"{path}:3")


def test_all_problems_of_a_file_are_reported(write: Write) -> None:
    path = write("expect:\n  - {kind: gemm, m: 1}\n  - {kind: copy, bytes: 1, grid: [1]}\n  - {kind: x}\n", "work.yaml")
    with pytest.raises(DataFileError) as caught:
        read_expectations([path])
    assert {problem.line for problem in caught.value.problems} == {2, 3, 4}


def found(
    write: Write, expect: str, changes: dict[str, str] | None = None, *, conditions: str | None = None
) -> dict[str, Finding]:
    report = write(details(*launch(FILLED | (changes or {}))))
    analysis = nr.analyze(report, expect=expect, conditions=conditions)
    return {finding.code: finding for finding in analysis.finding_list if finding.code.startswith("L")}


def test_launch_that_does_what_it_should_has_nothing_but_the_comparison(write: Write) -> None:
    assert list(found(write, "work:flop=10e6,read=8e6,written=2e6", conditions="cache=all,clock=base")) == ["L705"]


def test_useful_work_and_compulsory_bytes_stand_beside_the_measured_ones(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch(FILLED))), expect="work:flop=5e6,read=4e6,written=1e6")
    row = row_of(analysis)
    assert (row["work.fp32.useful"], row["traffic.dram.compulsory"]) == (5e6, 5e6)
    (entry,) = json.loads(analysis.to_json())["launches"]
    assert (entry["work"]["fp32"]["useful"], entry["work"]["fp32"]["count"]) == (5e6, 10e6)
    assert (entry["traffic"]["dram"]["compulsory"], entry["traffic"]["dram"]["bytes"]) == (5e6, 10e6)


@pytest.mark.parametrize(("flop", "severity"), [("9.6e6", None), ("9e6", "note"), ("4e6", "warning")])
def test_padding_is_a_note_and_a_warning_where_most_is_padding(write: Write, flop: str, severity: str | None) -> None:
    finding = found(write, f"work:flop={flop}").get("L701")
    assert (finding.severity.label if finding else None) == severity


def test_padded_product_of_a_vector_has_both_rates_in_the_sentence(write: Write) -> None:
    # 33554432 FLOP in 20 us are 1.678 TFLOP/s, 524288 are 0.0262 TFLOP/s, a factor of 64.
    rows = ["0|gemv_pad|OPS|inst|33,554,432", "0|gemv_pad|TEN|inst|8,192", "0|gemv_pad|T|us|20"]
    analysis = nr.analyze(write(details(*rows)), expect="work:flop=524288,kernel=gemv")
    (finding,) = (finding for finding in analysis.finding_list if finding.code == "L701")
    for part in ("64 times as many", "1.678 TFLOP/s executed", "26.21 GFLOP/s useful"):
        assert part in finding.message


def test_macs_given_as_flop_are_named(write: Write) -> None:
    assert "MACs stated as FLOP" in found(write, "work:macs=10e6")["L702"].message


def test_work_that_was_not_fully_counted_is_not_said_to_be_too_little(write: Write) -> None:
    part = {name: text for name, text in FILLED.items() if name != "FADD"}
    analysis = nr.analyze(write(details(*launch(part))), expect="work:flop=90e6")
    assert "L702" not in {finding.code for finding in analysis.finding_list}


@pytest.mark.parametrize(("conditions", "severity"), [("cache=all", "error"), ("cache=none", "note"), (None, "note")])
def test_reads_below_the_operands_cannot_be_with_cold_caches(
    write: Write, conditions: str | None, severity: str
) -> None:
    finding = found(write, "work:flop=10e6,read=16e6,written=2e6", conditions=conditions)["L703"]
    assert finding.severity.label == severity
    assert "16.00 MB have to be read, and 8.000 MB were (0.5 times as many)" in finding.message


def test_slip_of_a_binary_prefix_is_named(write: Write) -> None:
    finding = found(write, "work:flop=10e6,read=8388608,written=2e6", {"DR": "8 Mbyte"}, conditions="cache=all")
    assert list(finding) == ["L705"]  # 8e6 / 8388608 = 0.954: within 5 %
    big = found(write, "work:flop=10e6,read=8589934592", {"DR": "8,000,000,000 byte", "DB": "8.002 Gbyte"},
                conditions="cache=all")  # fmt: skip
    assert "GB against GiB" in big["L703"].message


def test_writes_below_the_result_are_left_in_l2(write: Write) -> None:
    finding = found(write, "work:flop=10e6,read=8e6,written=4e6", conditions="cache=all")["L703"]
    assert finding.severity.label == "note"
    assert "still in L2" in finding.message


def test_fill_above_the_dram_ceiling_is_explained_by_what_is_left_in_l2(write: Write) -> None:
    # 16777216 byte in 8.182 us are 2.050 TB/s, 114 % of 1.792 TB/s; 9 MB were measured.
    changes = {"T": "8.182 us", "DB": "9 Mbyte", "DR": "0 byte", "DW": "9 Mbyte", "PKD": "1,792 byte/cycle"}
    finding = found(write, "work:written=16777216", changes)["L703"]
    assert "2.051 TB/s, 114% of the DRAM ceiling" in finding.message
    assert finding.severity.label == "note"


def test_copy_whose_reads_are_half_of_what_is_known_is_an_error(write: Write) -> None:
    changes = {"T": "1 ms", "DR": "134,217,728 byte", "DW": "268,435,456 byte", "DB": "402,653,184 byte"}
    finding = found(write, "copy:bytes=268435456", changes, conditions="cache=all")["L703"]
    assert finding.severity.label == "error"
    assert "0.5 times" in finding.message


def test_lost_reuse_is_a_note(write: Write) -> None:
    finding = found(write, "work:flop=10e6,read=4e6,written=1e6")["L704"]
    assert "2 times as many" in finding.message


def test_expectation_without_a_launch_is_said_to_have_no_effect(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch(FILLED))), expect="work:flop=1,kernel=absent")
    (note,) = (finding for finding in analysis.finding_list if finding.code == "R113")
    assert "no launch is meant by it" in note.message


def test_two_expectations_of_one_launch_are_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="one launch, one ledger"):
        nr.analyze(write(details(*launch(FILLED))), expect=["work:flop=1", "work:flop=2,kernel=k"])


def test_expectations_of_other_kernels_are_kept_apart(write: Write) -> None:
    rows = [row for n, name in enumerate("ab") for row in launch(FILLED, number=n, kernel=name)]
    analysis = nr.analyze(write(details(*rows)), expect=["work:flop=10e6,kernel=a", "work:flop=2e6,kernel=b"])
    assert analysis.columns["work.fp32.useful"].tolist() == [10e6, 2e6]
    (finding,) = (finding for finding in analysis.finding_list if finding.code == "L701")
    assert finding.launches == (1,)


def test_option_may_be_given_again_on_the_command_line(write: Write) -> None:
    report = write(details(*launch(FILLED)))
    run = ["check", report, "--expect", "work:flop=10e6,read=16e6,kernel=k", "--expect", "work:flop=1,kernel=z"]
    assert CliRunner().invoke(main, run).exit_code == 0
    assert CliRunner().invoke(main, [*run, "--conditions", "cache=all"]).exit_code == 1


# What reviewers found.


def test_work_that_can_be_too_little_is_said_also_where_fp16_is_an_upper_bound(write: Write) -> None:
    assert "L702" in found(write, "work:flop=90e6", {"HFMA": "1,000 inst"})


def test_written_bytes_are_quoted_where_writes_are_meant(write: Write) -> None:
    changes = {"DR": "8 Mbyte", "DW": "0 byte", "DB": "8 Mbyte"}
    finding = found(write, "work:flop=10e6,read=1e6,written=4e6", changes)["L703"]
    assert "4.000 MB have to be written, and 0 B were" in finding.message
    assert "nan" not in finding.message


def test_result_that_was_not_even_written_to_l2_is_another_problem(write: Write) -> None:
    changes = {"DW": "0 byte", "lts__t_sectors_srcunit_tex_op_write.sum": "1,000 sector"}
    finding = found(write, "work:flop=10e6,read=8e6,written=4e6", changes)["L703"]
    assert (finding.severity.label, "the problem is another one" in finding.message) == ("warning", True)


def test_merged_captures_of_which_one_was_warm_are_not_cold(write: Write, tmp_path: Path) -> None:
    session = 'Launch Settings\n"Launch Attribute","Value"\n"Profiler Command Line","ncu --cache-control {} ./app"\n'
    paths = []
    for name, metrics, cache in (("a", {"T": "20 us", "FFMA": "5 inst"}, "all"), ("b", {"DB": "4 Mbyte"}, "none")):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "report.csv")
        paths[-1].write_text(details(*launch(metrics)))
        (tmp_path / name / "report_session.csv").write_text(session.format(cache))
    analysis = nr.analyze(*paths, merge=True, expect="copy:bytes=1e7")
    (finding,) = (finding for finding in analysis.finding_list if finding.code == "L703")
    assert finding.severity.label == "note"


def test_integer_work_outside_of_tensor_cores_is_neither_useful_nor_too_little(write: Write) -> None:
    integer = {"sm__sass_thread_inst_executed_op_integer_pred_on.sum": "600,000,000 inst"}
    analysis = nr.analyze(write(details(*launch(FILLED | integer))), expect="gemm:m=1024,n=1024,k=1024,dtype=int8")
    assert "work.int.useful" not in analysis.columns
    assert "L702" not in {finding.code for finding in analysis.finding_list}


def test_useful_work_is_on_no_path_that_cannot_have_done_it(write: Write) -> None:
    analysis = nr.analyze(
        write(details(*launch(FILLED | {"TEN": "7 inst"}))), expect="gemm:m=1024,n=1024,k=1024,dtype=fp16"
    )
    assert not [name for name in analysis.columns if name.endswith(".useful")]


def test_what_was_not_stated_is_not_known(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch(FILLED))), expect="work:read=8e6")
    (entry,) = json.loads(analysis.to_json())["launches"]
    assert entry["work"]["fp32"]["useful"] is None
    only_work = nr.analyze(write(details(*launch(FILLED))), expect="work:flop=10e6")
    (entry,) = json.loads(only_work.to_json())["launches"]
    assert entry["traffic"]["dram"]["compulsory"] is None


@pytest.mark.parametrize(
    "entry",
    [
        "{kind: gemm, m: 1, n: 1, k: 1, dtype: [fp16]}",
        "{kind: gemm, m: 1, n: 1, k: 1, dtype: fp16, a: 1}",
        f"{{kind: gemm, m: {'9' * 400}, n: 1, k: 1, dtype: fp16}}",
        "{kind: gemm, m: 1.0e+200, n: 1, k: 1, dtype: fp16}",
        "{kind: gemm, m: 1.5, n: 1, k: 1, dtype: fp16}",
        "{kind: copy, bytes: 1, kernel: 'a{99999999999}'}",
        "{kind: copy, bytes: 1, kernel: ''}",
    ],
)
def test_entry_that_means_nothing_is_a_problem_and_no_traceback(write: Write, entry: str) -> None:
    with pytest.raises(DataFileError):
        read_expectations([write(f"expect: [{entry}]", "work.yaml")])


def test_empty_kernel_is_refused_and_not_taken_for_all() -> None:
    with pytest.raises(UsageError, match="must be a text that is not empty"):
        read_expectations(["work:flop=1e6,kernel="])


def test_path_is_taken_as_it_is(write: Write) -> None:
    path = Path(write("expect: [{kind: work, flop: 10.0e6}]", "work.yaml"))
    assert nr.analyze(write(details(*launch(FILLED))), expect=path).columns["ledger.work"].tolist() == [10e6]


# Work files.

RANGED = with_ranges(("1,000", ["<default domain>:step"]), ("2,000", ["opt:adam"]), ("5,000", []))


def test_work_file_names_launches_by_their_range(write: Write) -> None:
    work = write("schema: 1\nwork:\n  - {kind: copy, bytes: 8, nvtx: opt@adam}\n", "work.yaml")
    analysis = nr.analyze(write(RANGED), work=work)
    assert analysis.columns["ledger"].tolist() == [None, "copy of 8 byte", None]


def test_work_file_may_define_its_own_kinds(write: Write) -> None:
    work = write(
        "schema: 1\nkinds: {rows: {parameters: {n: null}, work: [[3, n]], read: [[n]]}}\n"
        "work: [{kind: rows, n: 7, kernel: k}]\n",
        "work.yaml",
    )
    found = row_of(nr.analyze(write(details(*launch(FILLED))), work=work))
    assert (found["ledger.work"], found["ledger.read"]) == (21, 7)


def test_ratios_of_both_ledgers_by_hand(write: Write) -> None:
    # 10e6 FLOP executed of 5e6 useful in 20 us; 10e6 byte moved of 4e6 compulsory.
    found = row_of(nr.analyze(write(details(*launch(FILLED))), expect="work:flop=5e6,read=3e6,written=1e6"))
    assert (found["ledger.executed"], found["ledger.padding"], found["ledger.traffic"]) == (10e6, 2.0, 2.5)
    assert found["ledger.rate"] == pytest.approx(5e6 / 20e-6)
    assert found["work.fp32.rate"] == pytest.approx(10e6 / 20e-6)


def test_ratios_of_a_group_are_those_of_its_sums(write: Write) -> None:
    rows = [*launch(FILLED), *launch(FILLED | {"FFMA": "2,500,000 inst"}, number=1)]
    groups = nr.analyze(write(details(*rows)), expect="work:flop=5e6,read=3e6,written=1e6").groups()
    # (10e6 + 5e6) / (2 x 5e6); 2 x 10e6 / (2 x 4e6); 10e6 / 40 us
    assert groups["ledger.padding"].tolist() == [1.5]
    assert groups["ledger.traffic"].tolist() == [2.5]
    assert groups["ledger.rate"].tolist() == pytest.approx([10e6 / 40e-6])


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_table_shows_useful_beside_executed_work(write: Write, form: str) -> None:
    path = write(details(*launch(FILLED)))
    options = ["--expect", "work:flop=5e6,read=3e6,written=1e6", "--format", form]
    text = CliRunner().invoke(main, ["analyze", path, *options], env={"COLUMNS": "250"}).stdout
    for part in ("useful", "250.0 GFLOP/s (x2)", "compulsory", "4.000 MB (x2.5)"):
        assert part in text
    assert "compulsory" not in CliRunner().invoke(main, ["analyze", path], env={"COLUMNS": "250"}).stdout


def test_json_has_an_object_of_the_ledger_only_where_there_is_one(write: Write) -> None:
    path = write(details(*launch(FILLED), *launch(FILLED, number=1, kernel="other")))
    document = json.loads(nr.analyze(path, expect="work:flop=5e6,kernel=other").to_json())
    assert document["launches"][0]["ledger"] is None
    assert document["launches"][1]["ledger"] == {
        "title": "work as stated", "unit": "FLOP", "work": 5e6, "read": None, "written": None, "executed": 10e6,
        "complete": True, "rate": pytest.approx(2.5e11), "padding": 2.0, "traffic": None,
    }  # fmt: skip
    assert "ledger" not in json.loads(nr.analyze(path).to_json())["launches"][0]


def test_ledger_is_explained_with_its_numbers(write: Write) -> None:
    path = write(details(*launch(FILLED)))
    options = ["--expect", "work:flop=5e6,read=3e6,written=1e6"]
    text = CliRunner().invoke(main, ["explain", path, "0", "ledger", *options]).stdout
    for part in ("ledger.padding = 2", "= ledger.executed / ledger.work", "= 3000000 + 1000000"):
        assert part in text


def test_page_says_what_the_problem_needs(write: Write, tmp_path: Path) -> None:
    path, page = write(details(*launch(FILLED))), tmp_path / "page.html"
    options = ["--expect", "work:flop=5e6,read=3e6,written=1e6", "--html", str(page), "--plotlyjs", "none"]
    assert CliRunner().invoke(main, ["analyze", path, *options]).exit_code == 0
    (said,) = re.findall(r'data-testid="problem">(.*?)</p>', page.read_text())
    for part in ("useful 5.000 MFLOP, 250.0 GFLOP/s", "executed 2 times", "compulsory 4.000 MB", "moved 2.5 times"):
        assert part in said


def test_page_says_what_the_problem_needs_of_a_group_without_counters(write: Write, tmp_path: Path) -> None:
    path, page = write(details(*launch({"T": "20 us"}))), tmp_path / "page.html"
    options = ["--expect", "work:flop=5e6,read=3e6,written=1e6", "--html", str(page), "--plotlyjs", "none"]
    assert CliRunner().invoke(main, ["analyze", path, *options]).exit_code == 0
    (said,) = re.findall(r'data-testid="problem">(.*?)</p>', page.read_text())
    assert said.endswith(": useful 5.000 MFLOP, 250.0 GFLOP/s; compulsory 4.000 MB.")


def test_agreement_is_said_as_well(write: Write) -> None:
    finding = found(write, "work:flop=10e6,read=8e6,written=2e6")["L705"]
    assert "10.00 MFLOP useful (500.0 GFLOP/s), 1 times as much executed, mostly on fp32" in finding.message
    assert "10.00 MB compulsory, 1 times as much moved by DRAM" in finding.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("work: [{kind: copy, bytes: 1, nvtx: 3}]", "3 must be a text"),
        ("work: [{kind: copy, bytes: 1, count: 2}]", "copy has no parameter 'count'"),
        ("expect: [{kind: copy, bytes: 1}]", "unknown key"),
        ("work: {kind: copy}", "must be a list of at least one problem"),
    ],
)
def test_work_file_with_a_problem_is_refused(write: Write, text: str, said: str) -> None:
    with pytest.raises(DataFileError, match=re.escape(said)):
        read_expectations([], [write(text, "work.yaml")])


def test_work_that_was_counted_in_part_is_at_least_that(write: Write) -> None:
    # Two instructions of FP32 were not collected.
    partial = {name: text for name, text in FILLED.items() if name not in ("FADD", "FMUL")}
    analysis = nr.analyze(write(details(*launch(partial))), expect="work:flop=10e6")
    (said,) = [finding.message for finding in analysis.finding_list if finding.code == "L705"]
    assert "at least 1 times as much executed, mostly on fp32" in said
    text = (
        CliRunner()
        .invoke(
            main, ["analyze", write(details(*launch(partial))), "--expect", "work:flop=10e6"], env={"COLUMNS": "250"}
        )
        .stdout
    )
    assert "500.0 GFLOP/s (>=x1)" in text


def test_group_with_two_ledgers_has_none_as_a_whole(write: Write) -> None:
    work = write(
        "schema: 1\nwork: [{kind: copy, bytes: 8, nvtx: step}, {kind: copy, bytes: 9, nvtx: opt@adam}]\n", "work.yaml"
    )
    same = RANGED.replace('"k1"', '"k0"').replace('"k2"', '"k0"')
    groups = nr.analyze(write(same), work=work).groups()
    assert groups["ledger"].tolist() == [None]
    assert np.isnan(groups["ledger.compulsory"]).all()


def test_notes_name_the_option_that_was_given(write: Write) -> None:
    work = write("schema: 1\nwork: [{kind: copy, bytes: 8, kernel: absent}]\n", "work.yaml")
    analysis = nr.analyze(write(details(*launch(FILLED))), work=work)
    said = " ".join(finding.message for finding in analysis.finding_list)
    assert f"--work {work}:2 has no effect" in said


def test_launch_without_a_ledger_says_how_to_state_one(write: Write) -> None:
    result = CliRunner().invoke(main, ["explain", write(details(*launch(FILLED))), "0", "ledger"])
    assert result.exit_code == 2
    assert "--work FILE or --expect SPEC" in result.stderr
