"""The sample reports are what the generator writes and mean what ``meta.yaml`` says by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

import ncu_roofline as nr
from tests.support import ROOT

FOLDER = ROOT / "sample_reports"
META = yaml.safe_load((FOLDER / "meta.yaml").read_text())
LAUNCHES = [
    pytest.param(name, position, launch, id=f"{name}-{launch['kernel']}")
    for name, report in META["reports"].items()
    for position, launch in enumerate(report["launches"])
]


@pytest.mark.parametrize(("name", "position", "launch"), LAUNCHES)
def test_launch_is_what_its_arithmetic_says(name: str, position: int, launch: dict[str, Any]) -> None:
    found = nr.analyze(str(FOLDER / name)).launches.iloc[position]
    assert launch["kernel"] in found["kernel"]
    assert found["time"] == pytest.approx(launch["time"], rel=1e-12)
    for path, entry in launch["work"].items():
        assert found[f"work.{path}.count"] == entry["value"]
    for tier, entry in launch["traffic"].items():
        assert found[f"traffic.{tier}.bytes"] == entry["value"]
    if "bound" in launch:
        assert found["bound.by"] == launch["bound"]["by"]
        assert found["bound.fraction"] == pytest.approx(launch["bound"]["fraction"], abs=1e-6)


@pytest.mark.parametrize("name", META["reports"])
def test_ceilings_are_those_of_the_device(name: str) -> None:
    found = nr.analyze(str(FOLDER / name)).launches.iloc[0]
    for quantity, entry in META["reports"][name].get("peaks", {}).items():
        prefix = "traffic" if quantity in ("dram", "l2", "l1") else "work"
        assert found[f"{prefix}.{quantity}.peak"] == pytest.approx(entry["value"], rel=1e-9)


def test_every_report_is_analysable_and_described() -> None:
    names = {path.name for path in FOLDER.glob("*.csv")}
    assert names == set(META["reports"])
    for name in names:
        assert len(nr.analyze(str(FOLDER / name)).launches) == len(META["reports"][name]["launches"])


def test_every_other_file_is_described() -> None:
    assert {path.name for path in (FOLDER / "other").iterdir()} == set(META["other"])


def test_synthetic_reports_say_so() -> None:
    assert META["synthetic"] is True


def test_complete_report_has_a_complete_picture() -> None:
    assert nr.analyze(str(FOLDER / "a100_raw.csv")).launches["bound.complete"].all()


def test_files_are_those_of_the_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "generate", module)
    spec.loader.exec_module(module)
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    module.main()
    for path in tmp_path.rglob("*.*"):
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path.name
