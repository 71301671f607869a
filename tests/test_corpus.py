"""Real reports give their independently computed values, or the right message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ncu_roofline as nr
from ncu_roofline.readers import read_report, rows
from tests.support import CORPUS

EXACT = 1e-6
EXPECTED = sorted(
    path for path in (CORPUS / "expected").glob("*.json") if path.name.endswith((".csv.json", ".log.json"))
)


def number(launch: dict[str, Any], kind: str, name: str) -> Any:
    """The value of an expected entry such as ``traffic`` ``l2.sm``."""
    tier, _, measure = name.partition(".")
    if kind in ("work", "partial"):
        return launch["work"].get(name, {}).get("count")
    key = "bytes" if kind == "traffic" else kind
    if name in launch["work"]:
        return launch["work"][name].get(key)
    entry = launch["traffic"].get(tier, {})
    return (entry["measures"].get(measure, {}) if measure and entry else entry).get(key)


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name.removesuffix(".json"))
def test_report_gives_its_expected_values(corpus: Path, path: Path) -> None:
    expected = json.loads(path.read_text())
    report = corpus / expected.get("path", expected["file"])
    launches = json.loads(nr.analyze(str(report)).to_json())["launches"]
    assert len(launches) >= len(expected["launches"])
    checked = 0
    for want, got in zip(expected["launches"], launches, strict=False):
        for key in ("kernel", "cc", "grid", "block", "device"):
            if key in want:
                assert got[key] == want[key], key
        assert got["time"] == (None if want["time"] is None else pytest.approx(want["time"], rel=EXACT))
        for kind in ("work", "partial", "traffic", "rate", "peak"):
            for name, value in want.get(kind, {}).items():
                assert number(got, kind, name) == pytest.approx(value, rel=EXACT), (kind, name)
                checked += 1
    assert checked or all(not want.get(kind) for want in expected["launches"] for kind in ("work", "traffic", "peak"))


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name.removesuffix(".json"))
def test_report_parsed_in_blocks_is_the_report_parsed_at_once(
    corpus: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = json.loads(path.read_text())
    report = str(corpus / expected.get("path", expected["file"]))
    at_once = read_report(report)
    monkeypatch.setattr(rows, "WHOLE_BYTES", 0)
    in_blocks = read_report(report)
    assert in_blocks.cells.equals(at_once.cells)
    assert in_blocks.printed.equals(at_once.printed)
    assert {k: v.tolist() for k, v in in_blocks.launches.items()} == {
        k: v.tolist() for k, v in at_once.launches.items()
    }
    assert (in_blocks.skipped, in_blocks.rule_rows) == (at_once.skipped, at_once.rule_rows)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("11-other-smxx-algo23_session.csv", "session page"),
        ("16-text-smxx-profile.csv", "ERR_NVGPUCTRPERM"),
        ("26-other-smxx-matmul_triton_configH.ncu-rep", "Git LFS pointer"),
        ("37-text-smxx-tiny_ncu_fma_memory.txt", "No kernels were profiled"),
        ("40-text-smxx-flashinfer_paged_decode_gqa_bf16_b128_ctx8k_p64.ncu.csv", "returned an error code"),
        ("timings/t01-algo23_cuda_gpu_trace.csv", "output of Nsight Systems"),
        ("timings/t20-timing.csv", "not a CSV report of Nsight Compute"),
        ("timings/t03-algo23_capture.sqlite", "SQLite"),
    ],
)
def test_input_that_is_no_csv_report_is_refused_with_what_it_is(corpus: Path, name: str, message: str) -> None:
    with pytest.raises(nr.NcuRooflineError, match=message) as error:
        nr.analyze(str(corpus / name))
    assert str(error.value).startswith(str(corpus / name))


def test_details_and_raw_page_of_one_kernel_agree_within_printed_digits(corpus: Path) -> None:
    details = nr.analyze(str(corpus / "08-details-sm100-algo23_details.csv")).launches.iloc[0]
    raw = nr.analyze(str(corpus / "10-raw-sm100-algo23_raw.csv")).launches.iloc[0]
    assert details["time"] == pytest.approx(raw["time"], abs=0.005e-6)
    for name in ("sm__throughput", "gpu__dram_throughput", "lts__throughput"):
        assert details[f"utilization.{name}"] == pytest.approx(raw[f"utilization.{name}"], abs=0.00005)
    # The details page prints L1/TEX over active cycles.
    l1 = "utilization_active.l1tex__throughput"
    assert details[l1] == pytest.approx(raw[l1], abs=0.00005)
    assert "utilization.l1tex__throughput" not in details


def test_roofline_section_without_a_time_gives_rates_and_what_binds(corpus: Path) -> None:
    found = nr.analyze(str(corpus / "14-details-sm120-k0001_ncu.section_SpeedOfLight_RooflineChart.csv"))
    launch = json.loads(found.to_json())["launches"][0]
    assert (launch["time"], launch["work"]["fp32"]["count"], launch["traffic"]["dram"]["bytes"]) == (
        None,
        None,
        None,
    )
    assert launch["bound"]["by"] == "dram"
    # 345.14 GB/s of 128 byte/cycle x 13.72 GHz
    assert launch["bound"]["fraction"] == pytest.approx(345.14 / (128 * 13.72), rel=1e-9)
    # 344.1935 GFLOP/s / 345.14 GB/s
    assert launch["traffic"]["dram"]["intensity"] == pytest.approx(344.1935 / 345.14, rel=1e-9)
