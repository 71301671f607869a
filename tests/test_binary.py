"""Binary reports: read without Nsight Compute, with every loss noticed."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.readers import RawReport
from tests import binary_report
from tests.conftest import Write
from tests.report_as_csv import actions_of, raw_page_of
from tests.support import CORPUS, finding
from tests.test_corpus import EXACT, number

EXPECTED = sorted(
    path for path in (CORPUS / "expected").glob("*.json") if path.name.endswith(("-rep.json", "-report.json"))
)
SMALL = "21-rep-sm86-CuVectorAddDrv.ncu-rep"
TEN_LAUNCHES = "30-rep-sm75-PS1_10_profile.ncu-rep"
WITH_LATE_NAMES = "34-rep-sm90-profile.ncu-rep"


def report_of(expected: Path) -> Path:
    name = expected.name.removesuffix(".json")
    return CORPUS / "timings" / name if name.startswith("t") else CORPUS / name


def raw(path: Path) -> RawReport:
    return nr.read(path).inputs[0]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name.removesuffix(".json"))
def test_report_gives_its_expected_values(corpus: Path, expected: Path) -> None:
    wanted = json.loads(expected.read_text())["launches"]
    launches = json.loads(nr.analyze(report_of(expected)).to_json())["launches"]
    assert len(launches) == len(raw(report_of(expected))) >= len(wanted) > 0
    for want, got in zip(wanted, launches, strict=False):
        for key in ("kernel", "cc", "grid", "block", "device"):
            # A null says that the counters do not tell; the result itself has its shape.
            if want.get(key) is not None:
                assert got[key] == want[key], key
        assert got["time"] == (None if want["time"] is None else pytest.approx(want["time"], rel=EXACT))
        for kind in ("work", "partial", "traffic", "rate", "peak"):
            for name, value in want.get(kind, {}).items():
                assert number(got, kind, name) == pytest.approx(value, rel=EXACT), (kind, name)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name.removesuffix(".json"))
def test_every_metric_of_a_report_is_what_nvidias_reader_gives(corpus: Path, expected: Path) -> None:
    report = raw(report_of(expected))
    assert report.stored is not None
    theirs = actions_of(report_of(expected))
    assert len(theirs) == len(report)
    compared = 0
    for launch, action in enumerate(theirs):
        assert report.launches["kernel"][launch] == action.name(action.NameBase_DEMANGLED)
        assert report.launches["function"][launch] == action.name(action.NameBase_FUNCTION)
        assert report.launches["mangled"][launch] == action.name(action.NameBase_MANGLED)
        for name in action.metric_names():
            metric = action.metric_by_name(name)
            # A metric that has only instances has no value; the reader gives 0 for it.
            value = metric.value() if metric is not None and metric.has_value() else None
            if value is None or value != value:
                continue
            compared += 1
            if isinstance(value, str):
                assert report.stored.texts[name][launch] == value, name
            else:
                assert report.stored.values[name][launch] == value, name
    assert compared > 100


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name.removesuffix(".json"))
def test_report_and_its_raw_page_give_the_same_numbers(corpus: Path, expected: Path, write: Write) -> None:
    path = report_of(expected)
    binary, text = nr.analyze(path).columns, nr.analyze(write(raw_page_of(path))).columns
    numbers = [name for name, column in text.items() if column.dtype.kind == "f"]
    assert set(numbers) <= set(binary)
    for name in numbers:
        np.testing.assert_allclose(binary[name], text[name], rtol=1e-12, err_msg=name)


def test_opcode_histogram_is_what_nvidias_reader_gives(corpus: Path) -> None:
    path = corpus / "25-rep-sm75-profile_report_4_.ncu-rep"
    stored = raw(path).stored
    assert stored is not None
    seen = 0
    for launch, action in enumerate(actions_of(path)):
        metric = action.metric_by_name("sass__inst_executed_per_opcode_with_modifier_all")
        ids = metric.correlation_ids()
        for instance in range(metric.num_instances()):
            assert stored.opcodes[ids.as_string(instance)][launch] == metric.as_double(instance)
            seen += 1
    assert seen > 20


def test_opcode_that_a_histogram_does_not_list_was_not_executed(corpus: Path) -> None:
    stored = raw(corpus / "25-rep-sm75-profile_report_4_.ncu-rep").stored
    assert stored is not None
    # Two launches fill matrices, the third multiplies them.
    assert stored.opcodes["HMMA.1688.F32"].tolist()[:2] == [0.0, 0.0]


def test_verdicts_of_nvidias_rules_are_kept_with_their_launch(corpus: Path) -> None:
    path = corpus / "25-rep-sm75-profile_report_4_.ncu-rep"
    rules = raw(path).rules
    theirs = [str(action.rule_results_as_dicts()) for action in actions_of(path)]
    assert rules["launch"].unique().sort().to_list() == [0, 1, 2]
    for launch, text in rules.select("launch", "text").iter_rows():
        assert text[:30].replace("'", "")[:20] in theirs[launch].replace("'", "")


def test_ranges_of_nvtx_are_read_with_their_domain(corpus: Path) -> None:
    launches = nr.analyze(corpus / "23-rep-sm86-manual_nvtx.ncu-rep").columns
    assert launches["nvtx"][1] == (("<default domain>", "run_test"), ("<default domain>", "daxpy"))


def test_name_in_the_strings_of_a_later_block_is_found(corpus: Path) -> None:
    stored = raw(corpus / WITH_LATE_NAMES).stored
    assert stored is not None
    # The first result names these three before any string table has them.
    assert stored.texts["device__attribute_display_name"].tolist() == ["NVIDIA H800"] * 5
    assert len(raw(corpus / WITH_LATE_NAMES)) == 5


def test_grid_that_a_report_of_2020_stores_in_threads_is_in_blocks(corpus: Path) -> None:
    report = nr.analyze(corpus / "timings" / "t30-baseline.ncu-rep").columns
    # 224 x 672 threads in blocks of 16 x 16.
    assert (report["grid"][0], report["block"][0]) == ((14, 42, 1), (16, 16, 1))


@pytest.mark.parametrize("pack", [zstd.compress, lambda content: __import__("gzip").compress(content)])
def test_packed_report_is_the_report(corpus: Path, tmp_path: Path, pack: Any) -> None:
    plain = corpus / SMALL
    packed = tmp_path / "report.ncu-repz"
    packed.write_bytes(pack(plain.read_bytes()))
    ours, theirs = nr.analyze(packed), nr.analyze(plain)
    assert json.loads(ours.to_json())["launches"] == json.loads(theirs.to_json())["launches"]


def test_session_says_how_a_report_was_made(corpus: Path) -> None:
    conditions = nr.analyze(corpus / "09-rep-sm100-algo23_profile.ncu-rep").inputs[0].conditions
    assert (conditions.clock_control, conditions.clock_control_source) == ("base", "command-line")
    assert (conditions.cache_control, conditions.cache_control_source) == ("all", "default")
    assert conditions.metric_set == "basic"
    assert (conditions.ncu_version or "").startswith("2025.2.1.0")


def test_report_without_command_line_has_unknown_conditions(corpus: Path) -> None:
    conditions = nr.analyze(corpus / "32-rep-sm86-profile.ncu-rep").inputs[0].conditions
    assert (conditions.cache_control, conditions.clock_control, conditions.replay_mode) == (None, None, None)
    assert (conditions.ncu_version or "").startswith("2022.1.1.0")


# --- loss ---


def read_damaged(content: bytes, path: Path, *, partial: bool) -> int | None:
    """Launches of a damaged report, None where it is refused; anything but these two is a defect."""
    path.write_bytes(content)
    try:
        with redirect_stderr(io.StringIO()):
            analysis = nr.analyze(path, partial=partial)
    except nr.NcuRooflineError:
        return None
    assert partial or finding(analysis, "launches-lost") is None
    assert finding(analysis, "launches-lost") or finding(analysis, "end-not-marked")
    return len(analysis)


@pytest.mark.parametrize("partial", [False, True])
def test_report_cut_anywhere_is_refused_or_its_loss_is_said(corpus: Path, tmp_path: Path, partial: bool) -> None:
    content = (corpus / TEN_LAUNCHES).read_bytes()
    ends = block_ends(content)
    for position in sorted(random.Random(1).sample(range(len(content)), 100)):
        launches = read_damaged(content[:position], tmp_path / "cut.ncu-rep", partial=partial)
        if not partial and position not in ends:
            assert launches is None, position
        assert launches is None or 0 < launches < 10


def test_report_cut_between_two_blocks_says_that_its_end_is_not_marked(corpus: Path, tmp_path: Path) -> None:
    content = (corpus / TEN_LAUNCHES).read_bytes()
    assert read_damaged(content[: block_ends(content)[-2]], tmp_path / "cut.ncu-rep", partial=False) == 9


@pytest.mark.parametrize("name", [SMALL, TEN_LAUNCHES])
@pytest.mark.parametrize("partial", [False, True])
def test_flipped_byte_never_loses_a_launch_without_a_word(
    corpus: Path, tmp_path: Path, name: str, partial: bool
) -> None:
    content = (corpus / name).read_bytes()
    whole = len(nr.analyze(corpus / name))
    chance = random.Random(2)
    for _ in range(125):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        launches = read_damaged(bytes(damaged), tmp_path / "flip.ncu-rep", partial=partial)
        assert launches == whole or launches is None or partial


def test_number_that_cannot_be_decoded_is_damage_and_not_a_traceback(tmp_path: Path) -> None:
    content = bytearray(binary_report.of_launches(3))
    # The size of the last double: a value that passes the end of its metric.
    at = content.rindex(b"\x12\x09\x19") + 1
    content[at] = 0x7F
    path = tmp_path / "r.ncu-rep"
    path.write_bytes(content)
    with pytest.raises(nr.NcuRooflineError, match="result 2 cannot be decoded"):
        nr.analyze(path)
    assert len(nr.analyze(path, partial=True)) == 2


def test_histogram_of_a_launch_that_is_not_whole_is_left_out(tmp_path: Path) -> None:
    strings = binary_report.Strings()
    whole, broken = (binary_report.result(binary_report.BASIC, strings, histogram={"FFMA": 5}) for _ in range(2))
    broken += b"\x6a\x02\x08\xff"
    content = binary_report.report(binary_report.block(whole, strings=strings), binary_report.block(broken))
    path = tmp_path / "r.ncu-rep"
    path.write_bytes(content)
    assert read_damaged(content, path, partial=True) in (None, 1)


def test_partial_analysis_says_how_many_launches_are_lost(corpus: Path, tmp_path: Path) -> None:
    content = (corpus / TEN_LAUNCHES).read_bytes()
    path = tmp_path / "cut.ncu-rep"
    path.write_bytes(content[: block_ends(content)[-1] - 1000])
    with pytest.raises(nr.NcuRooflineError, match="9 launches before it are whole and at least 1 are lost"):
        nr.analyze(path)
    lost = finding(nr.analyze(path, partial=True), "launches-lost")
    assert lost is not None
    assert "9 launches before the damage are whole, at least 1 lost" in lost.message


def test_packed_report_that_was_cut_is_refused_or_read_in_part(corpus: Path, tmp_path: Path) -> None:
    packed = zstd.compress((corpus / TEN_LAUNCHES).read_bytes())
    path = tmp_path / "cut.ncu-repz"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    with pytest.raises(nr.NcuRooflineError, match="damaged or cut"):
        nr.analyze(path)
    assert finding(nr.analyze(path, partial=True), "launches-lost") is not None


@given(st.binary(max_size=200))
def test_any_content_behind_the_magic_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("b") / "r.ncu-rep"
    path.write_bytes(b"NVR\0\x02\0\0\0\x08\x07" + content)
    assert read_damaged(path.read_bytes(), path, partial=True) in (None, 1)


def test_report_of_another_version_of_the_format_is_refused(corpus: Path, tmp_path: Path) -> None:
    content = (corpus / SMALL).read_bytes()
    # Header of two bytes: field 1, version 7.
    assert content[4:10] == b"\x02\0\0\0\x08\x07"
    path = tmp_path / "later.ncu-rep"
    path.write_bytes(content[:9] + b"\x08" + content[10:])
    with pytest.raises(nr.NcuRooflineError, match="version 8 of the file format is not known"):
        nr.analyze(path)


@pytest.mark.parametrize("content", [b"NVR\0", b"NVR\0\x02", b"NVR\0\x02\0\0\0\x08\x07", b"NVR\0\xff\xff\xff\xff"])
def test_report_with_nothing_in_it_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.ncu-rep"
    path.write_bytes(content)
    with pytest.raises(nr.NcuRooflineError, match=r"cut|no launches"):
        nr.analyze(path, partial=True)


def test_announced_size_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.ncu-rep"
    # A block header of 4 GB, and a result of 4 GB, of which nothing is there.
    for content in (b"\xff\xff\xff\xff", b"\x08\0\0\0\x10\x01\x28\xff\xff\xff\xff\x0f\xff\xff\xff\x7f"):
        path.write_bytes(b"NVR\0\x02\0\0\0\x08\x07" + content)
        tracemalloc.start()
        with pytest.raises(nr.NcuRooflineError, match="is cut"):
            nr.read(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 5e6


def block_ends(content: bytes) -> list[int]:
    """Where blocks of a report end, by the sizes in their headers alone."""
    size = struct.Struct("<I").unpack_from
    at = 8 + size(content, 4)[0]
    ends = []
    while at < len(content):
        header = content[at + 4 : at + 4 + size(content, at)[0]]
        at += 4 + len(header) + payload_size(header)
        ends.append(at)
    return ends


def payload_size(header: bytes) -> int:
    """Field 5 of a block header, found by walking its fields."""
    at = 0
    while at < len(header):
        key, at = varint(header, at)
        value, at = varint(header, at)
        if key == 5 << 3:
            return value
        if key & 7 == 2:
            at += value
    return 0


def varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
