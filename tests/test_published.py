"""Published results come out when their inputs go in."""

from __future__ import annotations

import pytest

import ncu_roofline as nr
from ncu_roofline.devices import match_device
from tests.conftest import Write
from tests.support import details, launch

# GPP (BerkeleyGW) on V100 with nw = 1 to 6: GFLOP/s and FLOP/byte at HBM, L2 and L1, and the roofs that the Empirical
# Roofline Tool found (nersc-roofline, data_hierarchical.txt; Yang et al., P3HPC 2018).
GFLOPS = (2085.757, 3593.593, 4381.739, 4625.536, 4599.764, 4692.209)
INTENSITY = {
    "dram": (2.58479, 4.73888, 6.89297, 9.04706, 11.08619, 13.21154),
    "l2": (2.25029, 3.34360, 3.24547, 3.76641, 4.35648, 5.18202),
    "l1": (0.86533, 1.55653, 2.22212, 2.86351, 3.44625, 4.03495),
}
ROOFS = """
schema: 1
title: V100, Empirical Roofline Tool
sources: [nersc-roofline]
ceilings:
  dram: {value: 828.758 GB/s}
  l2: {value: 2996.77 GB/s}
  l1: {value: 14336 GB/s}
  fp64: {value: 7068.86 GFLOP/s}
"""
COUNTERS = {"dram": "dram__bytes", "l2": "lts__t_bytes", "l1": "l1tex__t_bytes"}


@pytest.fixture
def gpp(write: Write) -> nr.Analysis:
    """Six launches of one second: F = rate x 1 s in DFMA of two FLOP each, Q = F / intensity."""
    rows = []
    for number, rate in enumerate(GFLOPS):
        work = rate * 1e9
        metrics = {"T": "1 s", "DFMA": f"{work / 2:.0f} inst", "DADD": "0 inst", "DMUL": "0 inst"}
        metrics |= {f"{COUNTERS[t]}.sum": f"{work / values[number]:.0f} byte" for t, values in INTENSITY.items()}
        rows += launch(metrics, number=number, kernel=f"gpp_{number + 1}")
    report, roofs = write(details(*rows, cc="7.0")), write(ROOFS, "roofs.yaml")
    return nr.analyze(report, ceilings=roofs, peak_source="measured")


def test_bandwidths_of_gpp_on_v100_come_out(gpp: nr.Analysis) -> None:
    gigabytes = gpp.columns["traffic.dram.rate"] / 1e9
    assert gigabytes == pytest.approx([806.9, 758.3, 635.7, 511.3, 414.9, 355.2], abs=0.06)


def test_shares_of_the_roofs_of_gpp_on_v100_come_out(gpp: nr.Analysis) -> None:
    of = {
        name: 100 * gpp.columns[f"{name}.rate"] / gpp.columns[f"{name}.peak"] for name in ("traffic.dram", "work.fp64")
    }
    assert of["traffic.dram"] == pytest.approx([97.4, 91.5, 76.7, 61.7, 50.1, 42.9], abs=0.06)
    assert of["work.fp64"] == pytest.approx([29.5, 50.8, 62.0, 65.4, 65.1, 66.4], abs=0.06)


def test_gpp_on_v100_turns_from_memory_to_compute_between_nw_3_and_4(gpp: nr.Analysis) -> None:
    assert gpp.columns["bound.by"].tolist() == ["dram"] * 3 + ["fp64"] * 3


def test_intensities_of_gpp_on_v100_come_out(gpp: nr.Analysis) -> None:
    for tier, values in INTENSITY.items():
        assert gpp.columns[f"traffic.{tier}.intensity"] == pytest.approx(values, rel=1e-6)


def test_v100_peak_of_the_eight_steps_paper_comes_out_of_the_device_table() -> None:
    # 80 SMs x 32 DFMA x 2 x 1.312 GHz = 6.717 TFLOP/s ("8 Steps to 3.7 TFLOP/s", arXiv 2008.11326)
    device = match_device("Tesla V100-SXM2-16GB").device
    assert device is not None
    assert device.rate("fp64") == 80 * 32 * 2
    assert (device.rate("fp64") or 0) * 1.312e9 == pytest.approx(6.717e12, rel=1e-4)
