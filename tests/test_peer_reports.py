"""Binary reports of the corpus, read by NVIDIA's reader: our numbers are the expected ones and those of its rules."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ncu_roofline as nr
from tests.conftest import Write
from tests.report_as_csv import fp32_and_fp64_percent, raw_page_of
from tests.support import CORPUS
from tests.test_corpus import EXACT, number

REPORTS = sorted(
    path for path in (CORPUS / "expected").glob("*.json") if path.name.endswith(("-rep.json", "-report.json"))
)
WITH_RULE = [path for path in REPORTS if path.name.split("-")[0] in ("02", "18", "25", "31", "32", "34", "44", "t30")]
"""Reports on which NVIDIA's roofline rule ran."""
T4_GEMM = "25-rep-sm75-profile_report_4_.ncu-rep"


def report_of(expected: Path) -> Path:
    name = expected.name.removesuffix(".json")
    return CORPUS / "timings" / name if name.startswith("t") else CORPUS / name


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name.removesuffix(".json"))
def test_report_gives_its_expected_values(corpus: Path, path: Path, write: Write) -> None:
    expected = json.loads(path.read_text())
    analysis = nr.analyze(write(raw_page_of(report_of(path))))
    launches = json.loads(analysis.to_json())["launches"]
    assert len(launches) >= len(expected["launches"]) > 0
    for want, got in zip(expected["launches"], launches, strict=False):
        assert got["time"] == (None if want["time"] is None else pytest.approx(want["time"], rel=EXACT))
        for kind in ("work", "partial", "traffic", "rate", "peak"):
            for name, value in want.get(kind, {}).items():
                assert number(got, kind, name) == pytest.approx(value, rel=EXACT), (kind, name)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name.removesuffix(".json"))
def test_counters_of_a_real_report_agree_with_each_other(corpus: Path, path: Path, write: Write) -> None:
    analysis = nr.analyze(write(raw_page_of(report_of(path))))
    assert [found.message for found in analysis.finding_list if found.name == "identity-broken"] == []


@pytest.mark.parametrize("path", WITH_RULE, ids=lambda path: path.name.removesuffix(".json"))
def test_share_of_the_scalar_peaks_is_that_of_nvidias_own_rule(corpus: Path, path: Path, write: Write) -> None:
    said = fp32_and_fp64_percent(report_of(path))
    assert any(said)
    columns = nr.analyze(write(raw_page_of(report_of(path)))).columns
    shares = [columns[f"work.{name}.rate"] / columns[f"work.{name}.peak"] for name in ("fp32", "fp64")]
    with_rule = np.array([rule is not None for rule in said])
    ours = np.round(100 * np.array(shares)[:, with_rule]).T.tolist()
    assert ours == [list(rule) for rule in said if rule]


def test_wmma_gemm_of_4096_on_t4_did_2_times_4096_cubed_operations(corpus: Path, write: Write) -> None:
    columns = nr.analyze(write(raw_page_of(corpus / T4_GEMM))).columns
    # 2 x 4096^3 = 137438953472
    assert 137_438_953_472.0 in columns["work.tensor.fp16.acc32.count"]
