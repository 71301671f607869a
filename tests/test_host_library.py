"""The metric maps against NVIDIA's own host library: every counter that a map names exists on the chip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.maps import MetricMap, load_library
from ncu_roofline.maps.document import read_document
from tests.host_library import WHEELS, HostLibraryMissingError, UnknownChipError, known_chips, metric_names
from tests.support import FACTS, counters_of

CHIPS = {
    "7.0": "GV100",
    "7.2": "GV11B",
    "7.5": "TU102",
    "8.0": "GA100",
    "8.6": "GA102",
    "8.7": "GA10B",
    "8.9": "AD102",
    "9.0": "GH100",
    "10.0": "GB100",
    "10.3": "GB110",
    "11.0": "GB10B",
    "12.0": "GB202",
    "12.1": "GB20B",
}
"""Compute capability -> its chip, or the one of its family that stands for all."""

LEAST = {
    "GV100": 1700,
    "GV11B": 1600,
    "TU102": 1800,
    "GA100": 3000,
    "GA102": 3000,
    "GA10B": 3000,
    "AD102": 3000,
    "GH100": 3600,
    "GB100": 4000,
    "GB110": 4000,
    "GB10B": 3300,
    "GB202": 5000,
    "GB20B": 3400,
}
"""Chip -> a little less than the number of metrics that it has; versions of the library differ by some."""

INVENTED = "sm__sass_thread_inst_executed_op_invented_pred_on"

# Read one by one: a mistake in a map fails the tests and not the collection of all tests.
FILES = sorted(path for path in metric_map_directory().glob("*.yaml") if path.name != "labels.yaml")
DOCUMENTS = {path.stem: read_document(path) for path in FILES}
TARGETS = [(map_id, capability) for map_id, found in DOCUMENTS.items() for capability in found.compute_capabilities]


@pytest.fixture(scope="module", autouse=True)
def host_library() -> None:
    """The library of both wheels; without it the tests skip, except in CI, where they have to run."""
    try:
        for wheel in WHEELS:
            known_chips(wheel)
    except HostLibraryMissingError as error:
        if os.environ.get("CI"):
            pytest.fail(f"NVIDIA's host library has to be there in CI: {error}")
        pytest.skip(str(error))


def listed_names(metric_map: MetricMap) -> set[str]:
    """Counters of a map that a metric list has to have: not those of old reports, not those of section files."""
    names = counters_of(metric_map) - set(metric_map.only_seen_in)
    return {name for name in names if not name.startswith("derived__")}


def missing(names: set[str], *chips: str) -> set[str]:
    """Names that none of the chips has."""
    return names.difference(*map(metric_names, chips))


@pytest.mark.parametrize(("map_id", "compute_capability"), TARGETS)
def test_every_counter_of_a_map_exists_on_its_chip(map_id: str, compute_capability: str) -> None:
    names = listed_names(load_library().maps[map_id])
    assert names
    assert missing(names, CHIPS[compute_capability]) == set()


def test_every_counter_of_the_base_map_exists_on_some_chip() -> None:
    names = listed_names(load_library().maps["base"])
    assert names
    assert missing(names, *CHIPS.values()) == set()


@pytest.mark.parametrize("map_id", sorted({map_id for map_id, _ in TARGETS}))
def test_every_counter_that_a_map_calls_absent_is_absent_on_one_of_its_chips(map_id: str) -> None:
    document = DOCUMENTS[map_id]
    on_all = [metric_names(CHIPS[capability]) for capability in document.compute_capabilities]
    assert set(document.absent).intersection(*on_all) == set()


@pytest.mark.parametrize("chip", CHIPS.values())
def test_invented_counter_is_missing_on_every_chip(chip: str) -> None:
    assert missing({INVENTED, "sm__cycles_elapsed"}, chip) == {INVENTED}


@pytest.mark.parametrize("chip", CHIPS.values())
def test_library_lists_the_metrics_of_the_whole_chip(chip: str) -> None:
    assert len(metric_names(chip)) >= LEAST[chip]


def test_unknown_chip_is_an_error_that_names_it() -> None:
    with pytest.raises(UnknownChipError, match="'GX999'"):
        metric_names("GX999")


@pytest.mark.parametrize("chip", [chip for chip in CHIPS.values() if chip != "GV11B"])
def test_stored_metric_list_and_library_agree_on_every_counter_of_the_maps(corpus: Path, chip: str) -> None:
    lines = (FACTS / "chip_metrics" / f"{chip}.tsv").read_text().splitlines()[1:]
    stored = {line.split("\t")[0] for line in lines}
    used = set().union(*map(listed_names, load_library().maps.values()))
    assert used & stored == used & metric_names(chip)
