"""A wheel is built, installed into a fresh environment and run from another folder."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support import ROOT


def call(*command: str | Path, cwd: Path) -> str:
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ".", cwd=ROOT)
    (found,) = folder.glob("*.whl")
    return found


def test_wheel_carries_maps_labels_and_schema_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "metric_maps/base.yaml",
        "metric_maps/sm_90.yaml",
        "metric_maps/labels.yaml",
        "schema/analysis-1.json",
        "render/html/page.css",
        "render/html/page.js",
    ):
        assert f"ncu_roofline/{name}" in names
    assert not [name for name in names if name.startswith(("tests", "sample_reports"))]


def test_installed_wheel_analyses_a_report_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    call(environment / "bin" / "pip", "install", "--quiet", wheel, cwd=tmp_path)
    program = environment / "bin" / "ncu-roofline"
    report = ROOT / "sample_reports" / "a100_raw.csv"
    document = json.loads(call(program, "analyze", report, "--format", "json", cwd=tmp_path))
    assert document["launches"][1]["work"]["tensor.fp16.acc32"]["count"] == 2 * 4096**3
    call(program, "analyze", report, "--html", "out.html", "--figure", "out.svg", cwd=tmp_path)
    assert "gemm_tensor" in (tmp_path / "out.html").read_text()
    assert document["tool"]["version"] in call(program, "--version", cwd=tmp_path)
