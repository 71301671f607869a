"""The bound of an application both ways: by hand, and what holds between the two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.budget import ApplicationBound, application_bound, resource_seconds
from tests.conftest import Write
from tests.support import ROOT, details, launch
from tests.test_figure import FILLED

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"


def whole(analysis: nr.Analysis) -> ApplicationBound | None:
    needed = resource_seconds(analysis.columns, analysis.maps)
    return application_bound(analysis.columns, needed, np.ones(len(analysis), np.bool_))


def of(path: str) -> ApplicationBound:
    found = whole(nr.analyze(path))
    assert found is not None
    return found


def test_two_launches_that_need_different_resources(write: Write) -> None:
    # a: 10 MB at 1.28 TB/s = 7.8125 us of DRAM; b: 200 M FMA of fp32 = 400 MFLOP at 13.824 TFLOP/s = 28.935 us.
    # One after the other they take the sum; overlapped the busiest resource: the FMA pipe with 28.935 us and the
    # 10 MFLOP of a, 0.7234 us.
    busy = FILLED | {"T": "60 us", "FFMA": "200,000,000 inst"}
    found = of(write(details(*launch(FILLED, kernel="a"), *launch(busy, number=1, kernel="b"))))
    assert found.serial == pytest.approx(7.8125e-6 + 4e8 / 13.824e12)
    assert found.aggregate == pytest.approx(4.1e8 / 13.824e12)
    assert found.time == pytest.approx(80e-6)
    assert (found.resource, found.launches, found.of) == ("fma pipe", 2, 2)


def test_launches_that_need_the_same_resource_gain_nothing_from_overlap(write: Write) -> None:
    rows = [row for n in range(3) for row in launch(FILLED, number=n)]
    found = of(write(details(*rows)))
    assert found.serial == pytest.approx(3 * 7.8125e-6)
    assert found.aggregate == pytest.approx(found.serial)
    assert found.resource == "dram"


def test_sample_by_hand() -> None:
    # Bytes of meta.yaml over 1.5552 TB/s: the DRAM time of the five launches, of which the GEMM is the only one that
    # something else binds; triad 1610612736, stencil 1073741824, gemm 100663296, reduction 1073745920, hash 536870912.
    found = of(str(SAMPLE))
    assert found.resource == "dram"
    assert found.aggregate == pytest.approx(
        (1610612736 + 1073741824 + 100663296 + 1073745920 + 536870912) / 1.5552e12, rel=1e-3
    )


def test_launch_without_a_bound_is_counted_and_not_guessed(write: Write) -> None:
    rows = [*launch(FILLED), *launch({"T": "5 us"}, number=1)]
    found = of(write(details(*rows)))
    assert (found.launches, found.of, found.complete) == (1, 2, False)
    assert found.time == pytest.approx(20e-6)


def test_report_without_any_bound_has_none(write: Write) -> None:
    assert whole(nr.analyze(write(details(*launch({"T": "5 us"}))))) is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**9)), min_size=1, max_size=5))
def test_overlapped_bound_is_between_the_longest_launch_and_the_sum(
    tmp_path_factory: pytest.TempPathFactory, amounts: list[tuple[int, int]]
) -> None:
    rows = [
        row
        for number, (size, fma) in enumerate(amounts)
        for row in launch(FILLED | {"T": "100 ms", "DB": f"{size} byte", "FFMA": f"{fma} inst"}, number=number)
    ]
    path = tmp_path_factory.mktemp("b") / "report.csv"
    path.write_text(details(*rows))
    analysis = nr.analyze(path)
    found = whole(analysis)
    assert found is not None
    longest = float(np.nanmax(analysis.columns["bound.time"]))
    assert longest * (1 - 1e-9) <= found.aggregate <= found.serial * (1 + 1e-9)
