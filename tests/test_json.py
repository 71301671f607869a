"""The JSON output: the shipped schema, the contract's example, nothing unknown as zero."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ncu_roofline as nr
from ncu_roofline.vocabulary import PATHS, TIERS
from tests.conftest import Write
from tests.support import OP, ROOT, details, launch

SCHEMA = json.loads((files("ncu_roofline") / "schema" / "analysis-1.json").read_text())
SAMPLES = sorted((ROOT / "sample_reports").glob("*.csv"))

# The example of the contract: one FP32 kernel of which only FP32 and DRAM counters were collected.
EXAMPLE = {
    "T": "11.168 us",
    "FADD": "0 inst",
    "FMUL": "0 inst",
    "FFMA": "2,015,000 inst",
    "PKF": "6,906.614786 inst/cycle",
    "SMHZ": "1.028 Ghz",
    "DB": "1,345,600 byte",
    "PKD": "1,280.690113 byte/cycle",
    "DHZ": "1.507 Ghz",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "12.00 %",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "7.00 %",
    "device__attribute_display_name": "NVIDIA A100 80GB PCIe",
    "device__attribute_memory_clock_rate": "1,512,000",
    "device__attribute_global_memory_bus_width": "5,120",
}


def to_dict(path: str) -> dict[str, Any]:
    document = json.loads(nr.analyze(path).to_json())
    jsonschema.validate(document, SCHEMA)
    assert isinstance(document, dict)
    return document


def subset(want: Any, got: Any, where: str = "$") -> None:
    """Everything that is wanted is there, numbers within the digits of the example."""
    if isinstance(want, dict):
        for key, value in want.items():
            assert key in got, f"{where}.{key}"
            subset(value, got[key], f"{where}.{key}")
    elif isinstance(want, list):
        assert len(want) == len(got), where
        for position, value in enumerate(want):
            subset(value, got[position], f"{where}[{position}]")
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-3), where
    elif want != "…":
        assert got == want, where


def test_example_of_the_contract_comes_out(write: Write) -> None:
    name = "0|void gemm<…>(…)|device__attribute_display_name||NVIDIA A100 80GB PCIe"
    rows = [name if "display_name" in row else row for row in launch(EXAMPLE, kernel="void gemm<…>(…)")]
    text = details(*rows, block="(128, 1, 1)", grid="(24, 4, 1)", process="251673", preface="==PROF== a\n==PROF== b\n")
    document = to_dict(write(text))
    example = json.loads((Path(__file__).parent / "golden" / "contract_example.json").read_text())
    example["inputs"][0] |= {"path": "…", "sha256": "…"}
    example["tool"]["version"] = "…"
    launches = [found for found in document["findings"] if found["code"] == "M201"]
    subset({**example, "findings": [], "skipped_rules": []}, {**document, "findings": [], "skipped_rules": []})
    assert launches[0]["name"] == "counter-not-collected"
    assert launches[0]["severity"] == "note"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_sample_reports_give_valid_documents(path: Path) -> None:
    assert to_dict(str(path))["launches"]


def test_unknown_values_are_null_and_missing_ones_are_absent(write: Write) -> None:
    found = to_dict(write(details("0|k|DB|byte|5")))["launches"][0]
    assert found["time"] is None
    assert found["traffic"]["dram"]["rate"] is None
    assert found["work"] == {}
    assert found["missing"][:2] == ["l2", "l1"]
    assert "fp32" in found["missing"]


def test_path_that_did_nothing_is_zero_and_not_missing(write: Write) -> None:
    found = to_dict(write(details("0|k|FADD|inst|0", "0|k|FMUL|inst|0", "0|k|FFMA|inst|0")))["launches"][0]
    assert found["work"]["fp32"]["count"] == 0
    assert "fp32" not in found["missing"]


def test_integer_paths_are_never_listed_as_missing(write: Write) -> None:
    missing = to_dict(write(details("0|k|T|ns|5,000")))["launches"][0]["missing"]
    assert not [name for name in missing if "int" in name]


def test_key_order_does_not_depend_on_the_order_of_the_report(write: Write) -> None:
    rows = launch(EXAMPLE | {OP.format("dfma") + ".sum": "1 inst"})
    rows = [row for row in rows if "display_name" not in row]
    one = json.loads(nr.analyze(write(details(*rows), "a.csv")).to_json())
    two = json.loads(nr.analyze(write(details(*reversed(rows)), "a.csv")).to_json())
    assert json.dumps(one["launches"]) == json.dumps(two["launches"])
    assert list(one) == list(two)


def test_schema_knows_exactly_the_paths_and_tiers_of_the_vocabulary() -> None:
    assert SCHEMA["$defs"]["path"]["enum"] == list(PATHS)
    assert SCHEMA["$defs"]["tier"]["enum"] == list(TIERS)


def test_groups_hold_every_launch_once_and_shares_sum_to_one() -> None:
    document = to_dict(str(ROOT / "sample_reports" / "a100_raw.csv"))
    assert sorted(n for group in document["groups"] for n in group["launches"]) == list(range(5))
    assert sum(group["share"] for group in document["groups"]) == pytest.approx(1.0)


def test_one_name_with_two_grids_is_two_groups(write: Write) -> None:
    text = (
        details("0|fill|T|ns|5,000", grid="(4096, 1, 1)")
        + details("1|fill|T|ns|9,000", grid="(8, 1, 1)").split("\n", 1)[1]
    )
    assert len(to_dict(write(text))["groups"]) == 2


def test_group_intensity_comes_from_sums_and_not_from_a_mean(write: Write) -> None:
    # 1 GFLOP over 1 GB and over 10 MB: together 2e9 / 1.01e9 byte/s x 1 s; the mean of 1 and 100 would be 50.5.
    rows = [
        *launch(
            {
                "FADD": "1,000,000,000 inst",
                "FMUL": "0 inst",
                "FFMA": "0 inst",
                "DB": "1,000,000,000 byte",
                "T": "1 second",
            }
        ),
        *launch(
            {
                "FADD": "1,000,000,000 inst",
                "FMUL": "0 inst",
                "FFMA": "0 inst",
                "DB": "10,000,000 byte",
                "T": "1 second",
            },
            number=1,
        ),
    ]
    groups = nr.analyze(write(details(*rows))).groups()
    assert groups["leading.rate"][0] / groups["dram.rate"][0] == pytest.approx(2e9 / 1.01e9)
