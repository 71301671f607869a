"""Metric maps: strictly read, inherited by entry, complete, and data only."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncu_roofline as nr
from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.devices import load_devices
from ncu_roofline.errors import DataFileError
from ncu_roofline.labels import load_labels
from ncu_roofline.maps import MetricMap, load_library, load_map
from ncu_roofline.maps.document import read_document
from ncu_roofline.maps.dump import to_yaml
from ncu_roofline.vocabulary import FLOP_PATHS, PATHS
from tests.conftest import Write
from tests.support import FACTS, ROOT, counters_of, details, finding, launch, row_of

CHIPS = {
    "sm_70": "GV100",
    "sm_75": "TU102",
    "sm_80": "GA100",
    "sm_86": "GA102",
    "sm_87": "GA10B",
    "sm_89": "AD102",
    "sm_90": "GH100",
    "sm_100": "GB100",
    "sm_103": "GB110",
    "sm_110": "GB10B",
    "sm_120": "GB202",
    "sm_121": "GB20B",
}
MAPS = ["base", *CHIPS]

SM_999 = """
schema: 1
id: sm_999
title: An architecture of the future
compute_capabilities: ["99.9"]
extends: base
sources: [a test]
paths:
  tensor.fp8:
    pipe: tensor
    alternatives:
      - parts:
          - work: {sm__ops_path_tensor_src_fp8: 1}
            peak: {sm__ops_path_tensor_src_fp8: 1}
  fp16: null
tiers:
  l2:
    measures:
      - id: tag
        counts: another way of counting
        alternatives: [{bytes: {lts__t_sectors: 64}, peak: {lts__t_sectors: 64}}]
"""


def problems(path: str) -> list[str]:
    with pytest.raises(DataFileError) as error:
        load_map(Path(path))
    return [str(problem) for problem in error.value.problems]


def chip_metrics(chip: str) -> set[str]:
    path = FACTS / "chip_metrics" / f"{chip}.tsv"
    if not path.exists():
        pytest.skip(f"no metric list at {path}")
    return {line.split("\t")[0] for line in path.read_text().splitlines()[1:]}


@pytest.mark.parametrize("name", sorted(path.name for path in metric_map_directory().glob("*.yaml")))
def test_every_packaged_file_is_read_without_a_problem(name: str) -> None:
    path = metric_map_directory() / name
    if name == "labels.yaml":
        assert load_labels(path).by_section
    elif name == "devices.yaml":
        assert load_devices(path)
    else:
        assert read_document(path).file.problems == []


@pytest.mark.parametrize(("map_id", "chip"), CHIPS.items())
def test_every_counter_of_a_map_exists_on_its_chip(map_id: str, chip: str) -> None:
    metric_map, known = load_library().maps[map_id], chip_metrics(chip)
    assert counters_of(metric_map) - known - set(metric_map.only_seen_in) == set()


@pytest.mark.parametrize(("map_id", "chip"), CHIPS.items())
def test_every_counter_that_a_map_calls_absent_is_absent_on_its_chip(map_id: str, chip: str) -> None:
    absent = read_document(metric_map_directory() / f"{map_id}.yaml").absent
    assert set(absent) & chip_metrics(chip) == set()


def test_every_counter_of_the_base_map_exists_on_some_chip() -> None:
    known: set[str] = set()
    for chip in ("GV100", "TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"):
        known |= chip_metrics(chip)
    base = load_library().maps["base"]
    assert counters_of(base) - known - set(base.only_seen_in) == set()


@pytest.mark.parametrize(
    ("map_id", "paths"),
    [
        ("sm_70", "fp16.acc32 fp16.acc16"),
        ("sm_75", "fp16.acc32 fp16.acc16 int8 int4 int1"),
        ("sm_80", "fp64 tf32 bf16 fp16.acc32 fp16.acc16 int8 int4 int1"),
        ("sm_86", "fp64 tf32 bf16 fp16.acc32 fp16.acc16 int8 int4 int1"),
        ("sm_87", "fp64 tf32 bf16 fp16.acc32 fp16.acc16 int8 int4 int1"),
        ("sm_89", "fp64 tf32 bf16 fp16.acc32 fp16.acc16 fp8 int8 int4 int1"),
        ("sm_100", "fp64 tf32 bf16 fp16.acc32 fp16.acc16 fp4 fp4_fp6_fp8.acc32 fp4_fp6_fp8.acc16 int8"),
        (
            "sm_103",
            "fp64 tf32 bf16 fp16.acc32 fp16.acc16 fp8.acc32 fp8.acc16 fp4 fp4_fp6.acc32 fp4_fp6.acc16 int8",
        ),
        ("sm_110", "fp64 tf32 bf16 fp16.acc32 fp16.acc16 fp4 fp4_fp6_fp8.acc32 fp4_fp6_fp8.acc16 int8"),
        (
            "sm_120",
            "fp64 tf32 bf16 fp16.acc32 fp16.acc16 fp8.acc32 fp8.acc16 fp4 fp4_fp6.acc32 fp4_fp6.acc16 int8",
        ),
        (
            "sm_121",
            "fp64 tf32 bf16 fp16.acc32 fp16.acc16 fp8.acc32 fp8.acc16 fp4 fp4_fp6.acc32 fp4_fp6.acc16 int8",
        ),
        ("sm_90", "fp64 tf32 bf16 fp16 fp8 int8 int1"),
    ],
)
def test_map_has_exactly_the_tensor_paths_of_its_architecture(map_id: str, paths: str) -> None:
    found = [name for name in load_library().maps[map_id].paths if name.startswith("tensor.")]
    assert found == [f"tensor.{name}" for name in paths.split()]


@pytest.mark.parametrize("map_id", MAPS)
def test_no_counter_is_work_of_two_paths(map_id: str) -> None:
    metric_map = load_library().maps[map_id]
    owner: dict[str, str] = {}
    for name, path in metric_map.paths.items():
        for alternative in path.alternatives:
            for counter in alternative.counters():
                assert owner.setdefault(counter, name) == name


def test_hopper_dense_peak_is_never_that_of_an_aggregate() -> None:
    # The aggregates' own peak is the sparse one (8192 instead of 4096 FLOP per cycle and SM).
    for name, path in load_library().maps["sm_90"].paths.items():
        if name in ("tensor.fp16", "tensor.bf16", "tensor.tf32", "tensor.int8"):
            peaks = {counter for a in path.alternatives for part in a.parts for counter in part.peak}
            assert all("_sparsity_" in counter for counter in peaks)
            assert all(next(iter(a.parts[0].peak)).endswith("_sparsity_off") for a in path.alternatives)


def test_base_has_no_tensor_paths() -> None:
    assert not [name for name in load_library().maps["base"].paths if name.startswith("tensor.")]


def test_compute_capability_without_a_map_is_answered_by_base() -> None:
    assert load_library().for_compute_capability("13.7").id == "base"
    assert load_library().for_compute_capability(None).id == "base"


def test_child_replaces_adds_and_removes_entries(write: Write) -> None:
    child = load_map(Path(write(SM_999, "sm_999.yaml")))
    base = load_library().maps["base"]
    assert "tensor.fp8" in child.paths
    assert "fp16" not in child.paths
    assert child.paths["fp32"] == base.paths["fp32"]
    assert [measure.id for measure in child.tiers["l2"].measures] == ["sm", "tag", "read_return"]
    assert child.tiers["l2"].measures[1].alternatives[0].parts[0].work == {"lts__t_sectors": 64}
    assert child.time == base.time


def test_new_architecture_is_a_data_file_and_no_python(write: Write) -> None:
    # 64 B x 1000 sectors; 5e12 FP8 FLOP in 1 s.
    metrics = {
        "T": "1 second",
        "lts__t_sectors.sum": "1000 sector",
        "sm__ops_path_tensor_src_fp8.sum": "5,000,000,000,000",
    }
    report = write(details(*launch(metrics), cc="99.9"))
    analysis = nr.analyze(report, map=write(SM_999, "sm_999.yaml"))
    assert row_of(analysis)["map"] == "sm_999"
    assert row_of(analysis)["work.tensor.fp8.count"] == 5e12
    assert row_of(analysis)["traffic.l2.bytes"] == 64000.0
    assert finding(analysis, "unknown-architecture") is None


@pytest.mark.parametrize("map_id", sorted(load_library().maps))
def test_resolved_map_is_the_golden_one(map_id: str) -> None:
    # Written by: ncu-roofline maps show ID --resolved -o tests/golden/maps/ID.yaml
    golden = ROOT / "tests" / "golden" / "maps" / f"{map_id}.yaml"
    assert to_yaml(load_library().maps[map_id]) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("map_id", sorted(set(load_library().maps) - {"base"}))
def test_resolved_map_is_a_map_file_that_says_the_same(map_id: str, write: Write) -> None:
    resolved = to_yaml(load_library().maps[map_id])
    assert to_yaml(load_map(Path(write(resolved, "resolved.yaml")))) == resolved


def test_map_extends_a_map_that_extends_another(tmp_path: Path) -> None:
    (tmp_path / "sm_999.yaml").write_text(SM_999)
    child = SM_999.partition("paths:")[0].replace("sm_999", "sm_1000").replace("99.9", "100.0")
    child = child.replace("extends: base", "extends: sm_999")
    (tmp_path / "sm_1000.yaml").write_text(f"{child}absent: [dram__bytes]\n")
    resolved = load_map(tmp_path / "sm_1000.yaml")
    assert "tensor.fp8" in resolved.paths
    assert "fp16" not in resolved.paths
    assert "dram__bytes_read" in resolved.tiers["dram"].measures[0].alternatives[0].counters()


def test_maps_that_extend_each_other_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SM_999.replace("extends: base", "extends: sm_b"))
    (tmp_path / "b.yaml").write_text(
        SM_999.replace("extends: base", "extends: sm_999").replace("id: sm_999", "id: sm_b")
    )
    assert "'sm_999' extends this map in turn" in problems(str(tmp_path / "a.yaml"))[0]


def test_map_that_extends_itself_is_an_error(write: Write) -> None:
    found = problems(write(SM_999.replace("extends: base", "extends: sm_999"), "m.yaml"))
    assert "a map cannot extend itself" in found[0]


def test_problems_of_a_parent_are_those_of_the_child(tmp_path: Path) -> None:
    (tmp_path / "parent.yaml").write_text(SM_999.replace("sources: [a test]", "sources: []"))
    child = SM_999.replace("extends: base", "extends: sm_999").replace("id: sm_999", "id: child")
    (tmp_path / "child.yaml").write_text(child)
    assert "parent.yaml" in problems(str(tmp_path / "child.yaml"))[0]


def test_problems_of_a_grandparent_are_those_of_the_child(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SM_999.replace("sources: [a test]", "sources: []"))
    for name, parent in (("b", "sm_999"), ("c", "b")):
        text = SM_999.replace("extends: base", f"extends: {parent}").replace("id: sm_999", f"id: {name}")
        (tmp_path / f"{name}.yaml").write_text(text)
    assert "a.yaml" in problems(str(tmp_path / "c.yaml"))[0]


def test_id_of_the_packaged_base_map_is_refused(write: Write) -> None:
    text = "schema: 1\nid: base\ntitle: t\ncompute_capabilities: []\nsources: [a]\ntime: [gpu__time_duration.sum]\n"
    assert "'base' is the packaged map" in problems(write(text, "b.yaml"))[0]


def test_absent_counter_of_a_map_without_a_parent_is_dropped(write: Write) -> None:
    text = SM_999.replace("extends: base", "time: [gpu__time_duration.sum]").replace("  fp16: null\n", "")
    metric_map = load_map(Path(write(f"{text}absent: [sm__ops_path_tensor_src_fp8]\n", "m.yaml")))
    assert not metric_map.paths


def test_peak_of_a_counter_that_is_absent_is_dropped(write: Write) -> None:
    metric_map = load_map(Path(write(f"{SM_999}absent: [dram__bytes]\n", "m.yaml")))
    assert [part.peak for a in metric_map.tiers["dram"].measures[0].alternatives for part in a.parts] == [{}] * 6


def test_own_peak_of_two_counters_is_an_error(write: Write) -> None:
    text = SM_999.replace("work: {sm__ops_path_tensor_src_fp8: 1}", "work: {a__b: 1, c__d: 1}")
    found = problems(write(text.replace("peak: {sm__ops_path_tensor_src_fp8: 1}", "peak: own"), "m.yaml"))
    assert "several counters have no 'own' peak in common" in found[0]


def test_no_architecture_is_named_in_python() -> None:
    package = Path(nr.__file__).parent
    text = "\n".join(path.read_text() for path in package.rglob("*.py"))
    assert "sm_80" not in text
    assert "sm_90" not in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["99.9"]', "[99.9]", "must be quoted"),
        ('["99.9"]', '["nine"]', "is not a compute capability"),
        ("title:", "titel:", "unknown key"),
        ("sources: [a test]", "", "missing key 'sources'"),
        ("sources: [a test]", "sources: []", "at least one source"),
        ("schema: 1", "schema: 7", "schema 7 is not known"),
        ("tensor.fp8:", "tensor.fp9:", "unknown instruction path"),
        ("  l2:", "  l5:", "unknown memory tier"),
        ("src_fp8: 1}\n            peak", 'src_fp8: "1"}\n            peak', "is not an integer"),
        ("src_fp8: 1}\n            peak", "src_fp8: 0}\n            peak", "is not between"),
        ("lts__t_sectors: 64}, peak", "lts__t_sectors.sum: 64}, peak", "is not a base counter"),
        ("id: sm_999", "id: sm_999\nid: again", "duplicate key"),
        ("extends: base", "extends: nowhere", "there is no map with the id"),
        ("pipe: tensor", "pipe: tensor\n    unit: FLOP", "unknown key"),
    ],
)
def test_mistake_in_a_map_is_named_with_file_line_and_path(write: Write, old: str, new: str, message: str) -> None:
    assert old in SM_999
    path = write(SM_999.replace(old, new), "broken.yaml")
    found = problems(path)
    assert any(message in text and text.startswith(f"{path}:") and ": $" in text for text in found), found


def test_all_problems_of_a_map_are_reported_at_once(write: Write) -> None:
    text = SM_999.replace('["99.9"]', "[99.9]").replace("title:", "titel:").replace("tensor.fp8:", "tensor.fp9:")
    assert len(problems(write(text, "broken.yaml"))) >= 4


def test_line_of_a_problem_is_that_of_its_entry(write: Write) -> None:
    path = write(SM_999.replace("tensor.fp8:", "tensor.fp9:"), "broken.yaml")
    line = SM_999.splitlines().index("  tensor.fp8:") + 1
    assert any(text.startswith(f"{path}:{line}:") for text in problems(path))


def test_two_maps_for_one_compute_capability_are_an_error(tmp_path: Path) -> None:
    for source in ("base.yaml", "sm_80.yaml"):
        (tmp_path / source).write_text((metric_map_directory() / source).read_text())
    (tmp_path / "again.yaml").write_text(SM_999.replace('"99.9"', '"8.0"'))
    with pytest.raises(DataFileError, match=r"compute capability 8\.0 is already"):
        load_library(tmp_path)


def test_paths_of_a_map_are_listed_in_the_order_of_the_vocabulary() -> None:
    def order(metric_map: MetricMap) -> list[int]:
        return [PATHS.index(name) for name in metric_map.paths]

    for metric_map in load_library().maps.values():
        assert order(metric_map) == sorted(order(metric_map))
    assert set(FLOP_PATHS) < set(PATHS)
