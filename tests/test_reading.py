"""The readers: what is a row, what is not, and that nothing is passed over in silence."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.readers import RawReport, lines, newlines, read_report, rows
from tests.conftest import Write
from tests.support import H11, H15, H20, METRICS_SECTION, cells, details, finding, launch, quoted, raw_page, row_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture(autouse=True, params=["at once", "in blocks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fact holds for inputs that are parsed at once and for those that are parsed in blocks."""
    if request.param == "in blocks":
        monkeypatch.setattr(rows, "WHOLE_BYTES", 0)


ROWS = ("0|k_a|T|ns|1,000", "0|k_a|DB|byte|2,000", "1|k_b|T|ns|3,000")


def values(report: RawReport) -> list[tuple[int, str, str, str]]:
    """(launch, metric, unit, text) of every cell."""
    return (
        report.cells.hstack(report.printed[report.cells["printed_as"]])
        .select("launch", "metric", "unit", "text")
        .rows()
    )


EXPECTED = [
    (0, "gpu__time_duration.sum", "ns", "1,000"),
    (0, "dram__bytes.sum", "byte", "2,000"),
    (1, "gpu__time_duration.sum", "ns", "3,000"),
]


def test_details_rows_become_cells_of_two_launches(write: Write) -> None:
    report = read_report(write(details(*ROWS)))
    assert report.form == "csv-details"
    assert values(report) == EXPECTED
    assert report.launches["kernel"].tolist() == ["k_a", "k_b"]


def test_launch_keeps_its_identity_as_printed(write: Write) -> None:
    report = read_report(write(details(ROWS[0], grid="(4, 2, 1)", block="(32, 8, 1)", device="1", cc="9.0")))
    first = {name: column[0] for name, column in report.launches.items()}
    assert (first["ncu_id"], first["process"], first["grid"], first["block"]) == (
        "0",
        "4242",
        "(4, 2, 1)",
        "(32, 8, 1)",
    )
    assert (first["device_ordinal"], first["cc"], first["stream"], first["context"]) == ("1", "9.0", "7", "1")


def test_line_of_a_cell_is_that_of_its_row(write: Write) -> None:
    report = read_report(write(details(*ROWS, preface="==PROF== Connected\nhello\n")))
    assert report.cells["line"].to_list() == [4, 5, 6]


def test_warning_lines_before_the_header_are_skipped_and_counted(write: Write) -> None:
    preface = "Warning: section files could not be deployed to /home/u/Documents\n==PROF== Connected to process 1\n"
    report = read_report(write(details(*ROWS, preface=preface)))
    assert (values(report), report.skipped.counts) == (EXPECTED, {"preface": 2})


def test_application_output_with_quotes_before_the_header_is_no_header(write: Write) -> None:
    preface = '"Kernel Name","is","not a header"\n"step 3", loss 0.1\n'
    assert values(read_report(write(details(*ROWS, preface=preface)))) == EXPECTED


def test_foreign_lines_between_rows_are_skipped_with_their_line_numbers(write: Write) -> None:
    table = [quoted(H15), quoted(cells(ROWS[0])), '"iter","0","done"', "result=0.5", '==PROF== Profiling "k" - 1: 100%',
             quoted(cells(ROWS[2]))]  # fmt: skip
    report = read_report(write("\n".join(table)))
    assert values(report) == [EXPECTED[0], EXPECTED[2]]
    assert report.skipped.counts == {"foreign": 3}
    assert report.skipped.lines["foreign"] == (3, 4, 5)


def test_numbers_in_application_output_are_no_rows(write: Write) -> None:
    table = [quoted(H15), quoted(cells(ROWS[0])), '"3","apples","done"', "0.42  0.35", quoted(cells(ROWS[2]))]
    report = read_report(write("\n".join(table)))
    assert values(report) == [EXPECTED[0], EXPECTED[2]]
    assert report.skipped.total == 2


def test_application_text_glued_to_a_row_makes_it_a_damaged_row(write: Write) -> None:
    table = [quoted(H15), quoted(cells(ROWS[0])), "epoch 1 " + quoted(cells(ROWS[1])), quoted(cells(ROWS[2]))]
    report = read_report(write("\n".join(table)))
    assert values(report) == [EXPECTED[0], EXPECTED[2]]
    assert report.skipped.lines["damaged"] == (3,)


def test_row_with_too_many_cells_is_damaged(write: Write) -> None:
    table = [quoted(H15), quoted([*cells(ROWS[0]), "x", "y"]), quoted(cells(ROWS[2]))]
    report = read_report(write("\n".join(table)))
    assert [value[1] for value in values(report)] == ["gpu__time_duration.sum"]
    assert report.skipped.lines["damaged"] == (2,)


def test_row_cut_inside_a_cell_at_the_end_is_damaged(write: Write) -> None:
    text = details(*ROWS)
    report = read_report(write(text[: text.rindex("3,000") + 3]))
    assert values(report) == EXPECTED[:2]
    assert report.skipped.lines["damaged"] == (4,)


def test_row_cut_between_cells_is_damaged(write: Write) -> None:
    text = details(*ROWS)
    report = read_report(write(text[: text.rindex(',"3,000')]))
    assert values(report) == EXPECTED[:2]
    assert report.skipped.lines["damaged"] == (4,)


def test_open_quote_in_the_middle_damages_only_its_own_row(write: Write) -> None:
    broken = quoted(cells(ROWS[1]))[:-1]
    report = read_report(write("\n".join([quoted(H15), quoted(cells(ROWS[0])), broken, quoted(cells(ROWS[2]))])))
    assert values(report) == [EXPECTED[0], EXPECTED[2]]
    assert report.skipped.lines["damaged"] == (3,)


def test_metric_rows_may_be_shorter_than_a_header_with_rule_columns(write: Write) -> None:
    table = [quoted(H20), *(quoted(cells(row)) + "," for row in ROWS)]
    assert values(read_report(write("\n".join(table)))) == EXPECTED


def test_rule_rows_are_no_metrics_and_may_hold_commas_and_line_breaks(write: Write) -> None:
    rule = [
        *cells("0|k_a|||")[:11],
        "SpeedOfLight",
        "",
        "",
        "",
        "Rule",
        "OPT",
        'grid too small,\nsee "x"',
        "",
        "",
    ]
    table = [quoted(H20), quoted(cells(ROWS[0])) + ",", quoted(rule), quoted(cells(ROWS[1])) + ","]
    report = read_report(write("\n".join(table)))
    assert values(report) == EXPECTED[:2]
    assert (report.rule_rows, report.skipped.total) == (1, 0)
    assert report.cells["line"].to_list() == [2, 5]


def test_body_item_label_column_is_read_by_name(write: Write) -> None:
    header = [*H15[:12], "Body Item Label", *H15[12:]]
    row = cells(ROWS[0])
    report = read_report(write("\n".join([quoted(header), quoted([*row[:12], "Roofline", *row[12:]])])))
    assert values(report) == EXPECTED[:1]


def test_columns_block_grid_device_and_cc_may_be_absent(write: Write) -> None:
    row = cells(ROWS[0])
    report = read_report(write("\n".join([quoted(H11), quoted([*row[:7], *row[11:]])])))
    assert values(report) == EXPECTED[:1]
    assert [report.launches[name][0] for name in ("grid", "block", "cc", "device_ordinal")] == [None] * 4


def test_kernel_name_keeps_quotes_commas_and_line_breaks(write: Write) -> None:
    name = 'void tile_mm<cfg<128, 64>, op::add<"x,y">>(T1 *,\n const T2 *)'
    row = cells("0|k|T|ns|1")
    row[4] = name
    report = read_report(write("\n".join([quoted(H15), quoted(row), quoted(cells("1|k_b|T|ns|2"))])))
    assert report.launches["kernel"].tolist() == [name, "k_b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encoding_and_line_ends_change_nothing(write: Write, encoding: str, newline: str) -> None:
    text = details("0|größe|T|ns|1,000", preface="==PROF== x\n").replace("\n", newline)
    report = read_report(write(text.encode(encoding)))
    assert values(report) == EXPECTED[:1]
    assert report.launches["kernel"].tolist() == ["größe"]


def test_application_output_in_another_encoding_does_not_stop_the_reader(write: Write) -> None:
    table = details(*ROWS).encode().splitlines(keepends=True)
    report = read_report(write(b"".join([*table[:2], b"Gr\xf6\xdfe fertig\n", *table[2:]])))
    assert values(report) == EXPECTED
    assert report.skipped.lines["foreign"] == (3,)


def test_runs_are_separate_launches_also_when_one_row_of_each_stands_between_headers(write: Write) -> None:
    report = read_report(write("\n".join([quoted(H15), quoted(cells(ROWS[0]))] * 5)))
    assert report.cells["launch"].to_list() == [0, 1, 2, 3, 4]
    assert report.cells["line"].to_list() == [2, 4, 6, 8, 10]
    assert report.skipped.lines["header"] == (3, 5, 7, 9)


def test_second_table_with_other_columns_is_read_by_its_own_header(write: Write) -> None:
    report = read_report(write("\n".join([quoted(H15), quoted(cells(ROWS[0])), details(ROWS[2], header=H20)])))
    assert values(report) == [EXPECTED[0], (1, *EXPECTED[2][1:])]


def test_concatenated_runs_with_restarting_ids_are_separate_launches(write: Write) -> None:
    first = details("0|k|T|ns|1,000", process="11")
    second = details("0|k|T|ns|3,000", process="11", preface="==PROF== Connected\n")
    report = read_report(write(first + second))
    assert len(report) == 2
    assert report.cells["launch"].to_list() == [0, 1]


def test_interleaved_rows_of_two_processes_belong_to_their_own_launch(write: Write) -> None:
    rows = [
        cells("0|k|T|ns|1", process="11"),
        cells("0|k|T|ns|2", process="12"),
        cells("0|k|DB|byte|3", process="11"),
    ]
    report = read_report(write("\n".join(map(quoted, [H15, *rows]))))
    assert report.cells["launch"].to_list() == [0, 1, 0]


def test_raw_page_units_row_is_no_launch(write: Write) -> None:
    text = (
        '"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","dram__bytes.sum"\n'
        '"","","","","us","Kbyte"\n"0","k_units","(128, 1, 1)","(64, 1, 1)","2.00","500.00"\n'
    )
    report = read_report(write(text))
    assert report.form == "csv-raw"
    assert values(report) == [
        (0, "gpu__time_duration.sum", "us", "2.00"),
        (0, "dram__bytes.sum", "Kbyte", "500.00"),
    ]


GPUS = (
    '"GPU ID","GPU Name","NUMA ID by CPU Affinity","CPU Affinity","NUMA ID by Memory Affinity"\n'
    '"0","NVIDIA A100","0","0-9,20-29","0"\n"1","NVIDIA A100","1","10-19,30-39","1"\n'
)


def test_table_of_gpus_between_rows_is_no_damage_and_no_launch(write: Write) -> None:
    rows = details(*launch({"T": "20 us", "DB": "5 byte"})).splitlines(keepends=True)
    analysis = nr.analyze(write("".join([*rows[:2], GPUS, *rows[2:]])))
    assert (len(analysis), row_of(analysis)["traffic.dram.bytes"]) == (1, 5.0)
    assert finding(analysis, "damaged-rows") is None
    assert "skipped 3 foreign lines" in str(finding(analysis, "skipped-lines"))


@pytest.mark.parametrize("index", [True, False])
def test_table_of_gpus_that_pandas_made_rows_is_no_launch(write: Write, index: bool) -> None:
    rows = details(*launch({"T": "20 us", "DB": "5 byte"})).splitlines(keepends=True)
    text = "".join([*rows[:2], *GPUS.splitlines(keepends=True)[1:], *rows[2:]])
    again = pandas.read_csv(io.StringIO(text)).to_csv(index=index)
    analysis = nr.analyze(write(again))
    assert (len(analysis), row_of(analysis)["traffic.dram.bytes"]) == (1, 5.0)
    assert finding(analysis, "damaged-rows") is not None


def test_row_whose_process_is_no_number_is_damaged_and_makes_no_launch(write: Write) -> None:
    rows = details(*launch({"T": "20 us", "DB": "5 byte"})).replace('"4242"', '"nonsense"', 1)
    analysis = nr.analyze(write(rows))
    assert (len(analysis), row_of(analysis)["traffic.dram.bytes"]) == (1, 5.0)
    assert finding(analysis, "damaged-rows") is not None


def test_raw_row_that_is_cut_is_damaged(write: Write) -> None:
    text = raw_page({"gpu__time_duration.sum": ("ns", ["1", "2"]), "dram__bytes.sum": ("byte", ["3", "4"])})
    report = read_report(write(text[: text.rindex(',"4"')]))
    assert len(report) == 1
    assert report.skipped.lines["damaged"] == (4,)


def test_only_wanted_names_are_kept(write: Write) -> None:
    report = read_report(write(details(*ROWS)), names={"dram__bytes.sum"})
    assert values(report) == EXPECTED[1:2]
    assert len(report) == 2


def test_last_metric_of_a_raw_page_is_read(write: Write) -> None:
    text = raw_page({"gpu__time_duration.sum": ("ns", ["1"]), "dram__bytes.sum": ("byte", ["3"])})
    report = read_report(write(text), names={"dram__bytes.sum"})
    assert values(report) == [(0, "dram__bytes.sum", "byte", "3")]


def test_small_blocks_read_the_same_as_one_block(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = quoted([*cells("0|k|||")[:11], METRICS_SECTION, "", "", "", "R", "OPT", "two\nlines", "", ""])
    table = [quoted(H20)]
    for number in range(40):
        table += [
            quoted(cells(f"{number}|k|T|ns|{number + 1}")) + ",",
            rule,
            "noise",
            quoted(cells(f"{number}|k|DB|byte|7")) + ",",
        ]
    path = write("\n".join(table))
    whole = read_report(path)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 700)
    parts = read_report(path)
    assert parts.cells.equals(whole.cells)
    assert parts.printed.equals(whole.printed)
    assert {k: v.tolist() for k, v in parts.launches.items()} == {k: v.tolist() for k, v in whole.launches.items()}
    assert (parts.skipped.counts, parts.rule_rows) == (whole.skipped.counts, whole.rule_rows)


_FOREIGN = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters='"\r\n\x00\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029'),
    max_size=30,
).filter(lambda text: text.strip() and "Kernel Name" not in text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.integers(0, 6), _FOREIGN), max_size=6))
def test_any_unquoted_lines_between_rows_change_no_value(write: Write, places: list[tuple[int, str]]) -> None:
    table = [quoted(H15), *(quoted(cells(f"{n}|k|T|ns|{n + 1}")) for n in range(5))]
    for position, text in sorted(places, reverse=True):
        table.insert(position, text)
    report = read_report(write("\n".join(table)))
    assert [value[3] for value in values(report)] == ["1", "2", "3", "4", "5"]
    assert report.skipped.total == len(places)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_an_error_message_or_a_report_and_never_another_exception(write: Write, data: st.DataObject) -> None:
    pages = [details(*ROWS, preface="==PROF== x\n"), raw_page({"gpu__time_duration.sum": ("ns", ["1,000", "2"])})]
    content = bytearray(data.draw(st.sampled_from(pages)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(content)))
    message = "read"
    try:
        launches = len(read_report(write(bytes(content[:cut]))))
    except nr.NcuRooflineError as error:
        launches, message = 0, str(error)
    assert message
    assert launches or message != "read"


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gz", "zst"])
def test_compressed_report_is_read_whatever_its_name(write: Write, pack: Callable[[bytes], bytes]) -> None:
    assert values(read_report(write(pack(details(*ROWS).encode()), "report.dat"))) == EXPECTED


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gz", "zst"])
def test_cut_compressed_report_is_refused(write: Write, pack: Callable[[bytes], bytes]) -> None:
    content = pack(details(*ROWS * 50).encode())
    with pytest.raises(nr.NcuRooflineError, match="damaged or cut"):
        read_report(write(content[: len(content) // 2]))


def test_folder_stands_for_every_report_in_it(write: Write, tmp_path: Path) -> None:
    write(details("0|a|T|ns|20,000"), "b.csv")
    write(details("0|b|T|ns|20,000"), "a.csv")
    write("hello", "notes.txt")
    analysis = nr.analyze(tmp_path)
    assert [Path(item.path).name for item in analysis.inputs] == ["a.csv", "b.csv"]
    assert "notes.txt" in str([found.message for found in analysis.finding_list if found.name == "files-passed-over"])


def test_folder_without_a_report_is_refused_with_the_first_reason(write: Write, tmp_path: Path) -> None:
    write("hello", "notes.txt")
    with pytest.raises(nr.NcuRooflineError, match="none of its 1 files is a report"):
        nr.analyze(tmp_path)


def test_progress_ends_with_all_bytes_of_the_input(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncu_roofline.readers.lines.BLOCK_BYTES", 500)
    monkeypatch.setattr("ncu_roofline.readers.newlines.SCAN_BYTES", 512)
    path = write(details(*[f"{number}|k|T|ns|1,000" for number in range(20)]))
    calls: list[tuple[str, int, int]] = []
    nr.analyze(path, progress=lambda *call: calls.append(call))
    size = Path(path).stat().st_size
    assert len(calls) > 2
    assert [call[1] for call in calls] == sorted(call[1] for call in calls)
    assert calls[-1] == (path, size, size)


@pytest.mark.parametrize("cell", ["k_b", "(512, 1, 1)", "(256, 1, 1)", "8.0", "7"])
def test_text_behind_the_closing_quote_of_an_identity_damages_its_row_only(write: Write, cell: str) -> None:
    table = details("0|k_a|T|ns|1", "1|k_b|T|ns|2", "1|k_b|DB|byte|3", "2|k_c|T|ns|4").splitlines()
    table[2] = table[2].replace(f'"{cell}"', f'"{cell}"x', 1)
    report = read_report(write("\n".join(table)))
    assert report.launches["kernel"].tolist() == ["k_a", "k_b", "k_c"]
    assert [value[3] for value in values(report)] == ["1", "3", "4"]
    assert report.skipped.lines["damaged"] == (3,)


@pytest.mark.parametrize(("old", "new"), [('"byte"', '"Mbyte"/s'), ('"dram__bytes.sum"', '"dram__bytes_read".sum')])
def test_text_behind_the_closing_quote_of_a_name_damages_its_row(write: Write, old: str, new: str) -> None:
    report = read_report(write(details("0|k|T|ns|1", "0|k|DB|byte|2").replace(old, new)))
    assert values(report) == [(0, "gpu__time_duration.sum", "ns", "1")]
    assert report.skipped.lines["damaged"] == (3,)


@pytest.mark.parametrize("number", ['" 3"', '"+3"', '"-3"', "3"])
def test_line_that_does_not_begin_with_a_quoted_number_is_no_record(write: Write, number: str) -> None:
    table = details("0|k|T|ns|1", "3|k|T|ns|2")
    report = read_report(write(table.replace('"3"', number, 1)))
    assert [value[3] for value in values(report)] == ["1"]


def test_skipped_lines_are_named_in_their_order(write: Write) -> None:
    good = quoted(cells("0|k|T|ns|1"))
    table = [quoted(H15), good, f'{good},"x","y"', "epoch " + good, good]
    assert read_report(write("\n".join(table))).skipped.lines["damaged"] == (3, 4)


def test_first_damaged_lines_are_named_when_there_are_many(write: Write) -> None:
    good = quoted(cells("0|k|T|ns|1"))
    table = [quoted(H15), f'{good},"x","y"', *["epoch " + good] * 25, good]
    assert read_report(write("\n".join(table))).skipped.lines["damaged"] == tuple(range(2, 22))


def test_file_below_a_folder_that_is_called_like_the_home_folder_is_read_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    (here / "~").mkdir(parents=True)
    home.mkdir()
    (home / "x.csv").write_text(details("0|other|T|ns|9"))
    (here / "~" / "x.csv").write_text(details("0|k|T|ns|1"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    assert values(read_report("~/x.csv")) == [(0, "gpu__time_duration.sum", "ns", "1")]


@pytest.mark.parametrize("name", ["s3:/b/a.csv", "a*[b]?.csv", b"\xff.csv".decode("utf-8", "surrogateescape")])
def test_name_that_looks_like_something_else_is_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(details("0|k|T|ns|1"))
    assert len(read_report(name)) == 1


def test_named_pipe_has_the_digest_of_what_came_through_it(tmp_path: Path) -> None:
    pipe, content = tmp_path / "pipe", details(*ROWS).encode()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    report = read_report(str(pipe))
    writer.join()
    assert report.digest() == hashlib.sha256(content).hexdigest()


def test_digest_of_a_file_that_is_gone_is_an_error_message(write: Write) -> None:
    path = write(details(*ROWS))
    report = read_report(path)
    Path(path).unlink()
    with pytest.raises(nr.NcuRooflineError, match="cannot be read again"):
        report.digest()


def test_error_of_the_progress_callback_arrives_as_it_is(write: Write) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        nr.analyze(write(details(*ROWS)), progress=fail)


def test_raw_page_without_a_choice_of_metrics_has_a_cell_per_metric_and_launch(write: Write) -> None:
    page = raw_page({f"a__m{number}.sum": ("byte", ["1", "2"]) for number in range(50)})
    report = read_report(write(page))
    assert report.cells.height == 100
    assert values(report)[:3] == [
        (0, "a__m0.sum", "byte", "1"),
        (1, "a__m0.sum", "byte", "2"),
        (0, "a__m1.sum", "byte", "1"),
    ]


@pytest.mark.parametrize("page", [details(*ROWS), raw_page({"a__m.sum": ("byte", ["1"] * 9)})], ids=["details", "raw"])
def test_pieces_in_which_the_parser_reads_a_file_change_nothing(
    write: Write, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    path = write(page)
    expected = values(read_report(path))
    monkeypatch.setenv("POLARS_CSV_CHUNK_SIZE", "40")
    assert values(read_report(path)) == expected


@pytest.mark.parametrize("size", ["4000", None])
def test_reading_leaves_the_environment_as_it_was(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: str | None
) -> None:
    if size is not None:
        monkeypatch.setenv("POLARS_CSV_CHUNK_SIZE", size)
    before = dict(os.environ)
    read_report(write(details(*ROWS)))
    assert dict(os.environ) == before


def test_text_for_people_with_many_metric_names_is_refused(write: Write) -> None:
    text = "  Section: x\n" + "    Metric Name   Metric Unit  Metric Value\n    Duration  us  1.00\n" * 20_000
    with pytest.raises(nr.NcuRooflineError, match="piece of ncu's text output"):
        read_report(write(text))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(st.sampled_from([b"\n", b"a", b"b" * 9, b"c" * 70]), min_size=1, max_size=60).map(b"".join),
    begin=st.integers(0, 8),
)
def test_lines_in_pieces_are_the_lines_of_the_text(monkeypatch: pytest.MonkeyPatch, text: bytes, begin: int) -> None:
    monkeypatch.setattr(newlines, "SCAN_BYTES", 32)
    monkeypatch.setattr(newlines, "_LONG_LINE", 16)
    begin = min(begin, len(text) - 1)
    expected = text[begin:].split(b"\n")
    expected = [line + b"\n" for line in expected[:-1]] + ([expected[-1]] if expected[-1] else [])
    found = newlines.Lines.of(text, begin, lambda _: None)
    assert len(found) == len(expected)
    numbers = np.arange(len(expected))
    assert [text[a:b] for a, b in zip(found.starts(numbers), found.ends(numbers), strict=True)] == expected
    some = numbers[1::3]
    assert [text[a:b] for a, b in zip(found.starts(some), found.ends(some), strict=True)] == expected[1::3]
    assert newlines.line_starts(text, begin).tolist() == found.starts(numbers).tolist()


def test_row_of_units_with_a_line_break_in_a_cell_is_one_row(write: Write) -> None:
    page = raw_page({"gpu__time_duration.sum": ("us", ["5"]), "dram__bytes.sum": ("by\nte", ["7"])})
    analysis = nr.analyze(write(page))
    assert analysis.columns["time"].tolist() == pytest.approx([5e-6])
    assert "traffic.dram.bytes" not in analysis.columns
