"""Tables that other programs wrote again, and files that are no reports: read where that is certain, else named."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from tests.conftest import Write
from tests.support import ROOT, details, finding, launch, raw_page, row_of
from tests.test_findings import CLEAN

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"
RAW = "".join(line for line in SAMPLE.read_text().splitlines(keepends=True) if not line.startswith("=="))
DETAILS = details(*launch(CLEAN, kernel="void k<float, 4>(float *)"))


def frame(text: str) -> pandas.DataFrame:
    return pandas.read_csv(io.StringIO(text))


def joined(text: str, separator: str) -> str:
    """The table with another separator and without quotes, as a spreadsheet saves it."""
    return "\n".join(separator.join(row) for row in csv.reader(io.StringIO(text))) + "\n"


REWRITTEN: dict[str, Callable[[str], str]] = {
    "pandas": lambda text: frame(text).to_csv(),
    "pandas without index": lambda text: frame(text).to_csv(index=False),
    "written twice": lambda text: pandas.read_csv(io.StringIO(frame(text).to_csv())).to_csv(),
    "Unnamed: 0": lambda text: pandas.read_csv(io.StringIO(frame(text).to_csv())).to_csv(index=False),
    "reset index twice": lambda text: frame(text).reset_index().reset_index().to_csv(),
    "# as index": lambda text: frame(text).rename_axis("#").to_csv(),
    "reset index": lambda text: frame(text).reset_index().to_csv(index=False),
    "semicolons": lambda text: joined(text, ";"),
    "semicolons and quotes": lambda text: frame(text).to_csv(sep=";", index=False, quoting=csv.QUOTE_ALL),
    "semicolons and index": lambda text: frame(text).to_csv(sep=";"),
    "tabs": lambda text: joined(text, "\t"),
    "turned": lambda text: frame(text).T.to_csv(),
    "turned without header": lambda text: frame(text).T.to_csv(header=False),
    "turned with semicolons": lambda text: frame(text).T.to_csv(sep=";"),
}
NUMBERS = ("time", "traffic.dram.bytes", "traffic.l2.bytes", "work.fp32.count", "work.fp64.count", "bound.fraction")


def assert_same(found: Analysis, expected: Analysis) -> None:
    assert found.columns["kernel"].tolist() == expected.columns["kernel"].tolist()
    for name in ("grid", "block", "cc", "stream", "device_ordinal", "process"):
        assert found.columns[name].tolist() == expected.columns[name].tolist(), name
    for name in NUMBERS:
        if name in expected.columns:
            np.testing.assert_allclose(found.columns[name], expected.columns[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("how", REWRITTEN)
def test_raw_page_that_another_program_wrote_again_gives_the_same_numbers(write: Write, how: str) -> None:
    found = nr.analyze(write(REWRITTEN[how](RAW), "again.csv"))
    assert_same(found, nr.analyze(write(RAW)))
    assert finding(found, "table-rewritten") is not None


@pytest.mark.parametrize("how", [how for how in REWRITTEN if not how.startswith("turned")])
def test_details_page_that_another_program_wrote_again_gives_the_same_numbers(write: Write, how: str) -> None:
    assert_same(nr.analyze(write(REWRITTEN[how](DETAILS), "again.csv")), nr.analyze(write(DETAILS)))


def test_table_of_ncu_is_not_taken_for_one_that_was_rewritten(write: Write) -> None:
    for text in (RAW, DETAILS):
        assert finding(nr.analyze(write(text)), "table-rewritten") is None


def test_semicolons_and_decimal_commas_of_a_spreadsheet_are_read(write: Write) -> None:
    text = details("0|k|T|us|20.5", "0|k|DB|Mbyte|1.25", "0|k|sm__throughput.avg.pct_of_peak_sustained_elapsed|%|71.25")
    row = row_of(
        nr.analyze(write(joined(text, ";").replace(".5;", ",5;").replace("20.5", "20,5").replace("1.25", "1,25")))
    )
    assert (row["time"], row["traffic.dram.bytes"]) == (pytest.approx(20.5e-6), 1.25e6)


def test_compute_capability_that_a_spreadsheet_cut_is_whole_again(write: Write) -> None:
    text = joined(details("0|k|T|us|20", cc="9.0"), ";").replace(";9.0;", ";9;")
    assert nr.analyze(write(text)).columns["cc"].tolist() == ["9.0"]


def test_ids_with_decimal_commas_are_those_of_the_report(write: Write) -> None:
    with_comma = details(*launch({"T": "5,25 us"})).replace('"0","4242"', '"0,0","4242,0"')
    analysis = nr.analyze(write(joined(with_comma, ";")))
    assert (row_of(analysis)["process"], row_of(analysis)["time"]) == ("4242", 5.25e-6)


def test_cell_of_any_length_is_read_in_a_table_that_was_written_again(write: Write) -> None:
    long = f"5 ({'1; ' * 100_000}1)"
    page = raw_page({"gpu__time_duration.sum": ("us", ["20"]), "dram__bytes.sum": ("byte", [long])})
    assert row_of(nr.analyze(write(frame(page).to_csv(sep=";"))))["traffic.dram.bytes"] == 5.0


def test_open_quote_costs_its_row_of_a_table_with_semicolons(write: Write) -> None:
    rows = [row for number in range(100) for row in launch({"T": "5 us"}, number=number)]
    text = details(*rows).replace(",", ";").replace("(256; 1; 1)", "(256, 1, 1)").replace("(512; 1; 1)", "(512, 1, 1)")
    lines = text.splitlines(keepends=True)
    lines[7] = lines[7].replace('"k"', '"k', 1)
    analysis = nr.analyze(write("".join(lines)))
    assert len(analysis) == 99
    assert "1 damaged row" in str(finding(analysis, "damaged-rows"))


@pytest.mark.parametrize("how", ["pandas", "semicolons"])
def test_messages_of_ncu_in_a_table_that_was_written_again_are_kept(write: Write, how: str) -> None:
    text = REWRITTEN[how](DETAILS).splitlines(keepends=True)
    text.insert(2, '==ERROR== Failed to profile kernel "k2" in process 77\n')
    found = finding(nr.analyze(write("".join(text))), "ncu-error")
    assert found is not None
    assert 'line 3: Failed to profile kernel "k2" in process 77' in found.message


def test_lines_of_a_table_with_semicolons_are_those_of_the_file(write: Write) -> None:
    text = joined(details("0|k|T|us|20", "0|k|DB|inst|5"), ";")
    found = finding(nr.analyze(write(text)), "unit-not-understood")
    assert found is not None
    assert "line 3" in found.message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (frame(RAW).drop(index=0).to_csv(index=False), "no row of units"),
        (
            frame(RAW).drop(index=0).groupby("Kernel Name")[["dram__bytes.sum"]].first().to_csv(),
            "one row per kernel and a column per metric",
        ),
        (joined(RAW, ","), "removed the quotes around cells"),
    ],
    ids=["units removed", "pivoted", "quotes removed"],
)  # fmt: skip
def test_table_that_cannot_be_turned_back_is_named_with_the_export_to_make(
    write: Write, text: str, problem: str
) -> None:
    with pytest.raises(nr.NcuRooflineError, match=problem) as error:
        nr.analyze(write(text))
    assert "ncu --import REPORT --csv --page raw" in str(error.value)


NSYS = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Name\n1,5,1,1,1,1,k\n"
NSYS_SUM = "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,5,1,5.0,k\n"
NSYS_TEXT = (
    " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
    " Time (%)  Total Time (ns)  Instances  Avg (ns)  Name\n --------  ---------------\n 100.0  5  1  5.0  k\n"
)


@pytest.mark.parametrize(
    ("content", "what", "advice"),
    [
        (b"NVIDIA Tegra Profiler Report 2025@5", "a report of Nsight Systems", "nsys export --type sqlite"),
        (NSYS.encode(), "output of Nsight Systems", "--timing"),
        (NSYS_SUM.encode(), "output of Nsight Systems", "--timing"),
        (NSYS_TEXT.encode(), "output of Nsight Systems", "--timing"),
        (b'{"schemaVersion": 1, "traceEvents": [{"ph": "X"}]}', "a trace of the PyTorch profiler", "--timing"),
        (b"SQLite format 3\0" + b"\0" * 100, "SQLite database", "budget REPORT --timeline"),
        (b'"Launch Attribute","Value"\n"Profiler Command Line","ncu"\n', "the session page", "--session"),
        (b'"Address","Source","Warp Stall Sampling (All Samples)"\n"0x1","MOV","3"\n', "the source page", "--page raw"),
        (
            b'"Kernel Name","k__x(int)"\n"Address","Source","# Samples"\n"0x1","MOV","3"\n',
            "the source page",
            "--page raw",
        ),
        (b"==PROF== Connected\n==PROF== Report: /home/u/a.ncu-rep\n", "the log of a run", "/home/u/a.ncu-rep"),
    ],
)  # fmt: skip
def test_file_that_is_no_report_is_named_with_what_to_do(write: Write, content: bytes, what: str, advice: str) -> None:
    with pytest.raises(nr.NcuRooflineError) as error:
        nr.analyze(write(content, "given"))
    assert what in str(error.value)
    assert advice in str(error.value)


@pytest.mark.parametrize("name", ["t01", "t02", "t04", "t05", "t06", "t07", "t08", "t09", "t11", "t12"])
def test_real_output_of_nsys_is_named_as_that(corpus: Path, name: str) -> None:
    (path,) = (corpus / "timings").glob(f"{name}-*")
    with pytest.raises(nr.NcuRooflineError, match=r"output of Nsight Systems \(nsys\)"):
        nr.analyze(path)


# --- why ncu profiled nothing ---

NOTE = "==WARNING== Note: Running with uncontrolled GPU clocks. Profiling results may be inconsistent.\n"
FAILED = "==ERROR== Error: DriverResourceUnavailable: the driver resource was unavailable\n"


@pytest.mark.parametrize(
    "text",
    [
        NOTE + FAILED,
        FAILED + NOTE,
        NOTE.replace("WARNING", "ERROR") + FAILED,
        NOTE + "app output " + FAILED,
        NOTE + FAILED + "==WARNING== No kernels were profiled.\n",
    ],
)
def test_error_of_ncu_is_quoted_and_not_a_note_before_it(write: Write, text: str) -> None:
    with pytest.raises(nr.NcuRooflineError, match="it says: Error: DriverResourceUnavailable"):
        nr.analyze(write("==PROF== Connected to process 1\n" + text))


def test_warning_of_known_cause_is_quoted_where_there_is_no_error(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="it says: No kernels were profiled"):
        nr.analyze(write(NOTE + "==WARNING== No kernels were profiled.\n"))


def test_error_is_quoted_where_the_table_has_a_header_and_no_rows(write: Write) -> None:
    text = NOTE + FAILED + raw_page({"gpu__time_duration.sum": ("us", ["5"])}).splitlines()[0] + "\n"
    with pytest.raises(nr.NcuRooflineError) as error:
        nr.analyze(write(text + '"","","","","","","","","","","","us"\n'))
    assert "ncu says: Error: DriverResourceUnavailable" in str(error.value)
