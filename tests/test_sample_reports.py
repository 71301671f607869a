"""The sample reports are what the generator writes and mean what ``meta.yaml`` says by hand."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import ncu_roofline as nr
from tests.conftest import Write
from tests.support import OP, ROOT, raw_page

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


def test_text_output_has_the_time_that_it_prints() -> None:
    assert nr.analyze(FOLDER / "other" / "text_output.txt").columns["time"].tolist() == pytest.approx([1.1e-3])


def test_times_of_the_trace_are_given_to_their_launches() -> None:
    columns = nr.analyze(FOLDER / "a100_raw.csv", timing=FOLDER / "other" / "a100_cuda_gpu_trace.csv").columns
    known = {
        kernel.split("(")[0]: t for kernel, t in zip(columns["kernel"], columns["external.time"], strict=True) if t == t
    }
    assert known == {"triad": pytest.approx(1.075e-3), "void gemm_tensor<": pytest.approx(620e-6)}


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


CAPTURE = FOLDER / "capture"
KNOWN = (
    '{"kernel": "saxpy", "path": "fp32", "work": 2000, "least_dram_bytes": 12000}\n'
    '{"kernel": "gemm_tensor", "path": "tensor.fp16", "work": 8192, "least_dram_bytes": 64}\n'
)


def captured(ffma: str, tensor: str) -> str:
    zero = {name: ("inst", ["0", "0"]) for name in map(OP.format, ("fadd", "fmul"))}
    return raw_page(
        {f"{name}.sum": cell for name, cell in zero.items()}
        | {
            f"{OP.format('ffma')}.sum": ("inst", [ffma, "0"]),
            "sm__ops_path_tensor_src_fp16_dst_fp32.sum": ("", ["0", tensor]),
        },
        kernels=["saxpy(long, float, const float *, float *)", "gemm_tensor(int, int, const __half *, float *)"],
    )


def check(write: Write, report: str) -> list[str]:
    spec = importlib.util.spec_from_file_location("capture", CAPTURE / "capture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[str] = module.check(Path(write(report)), Path(write(KNOWN, "known.jsonl")))
    return found


def test_capture_accepts_the_counts_that_the_program_states(write: Write) -> None:
    assert check(write, captured("1,000", "8,192")) == []


def test_capture_names_the_kernel_whose_count_differs(write: Write) -> None:
    assert check(write, captured("1,001", "8,192")) == ["saxpy: fp32 is 2002, known is 2000"]


def test_capture_names_a_kernel_that_is_not_in_the_report(write: Write) -> None:
    report = captured("1,000", "8,192").replace("gemm_tensor(", "other(")
    assert check(write, report) == ["gemm_tensor: not in the report"]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_kernels_of_the_capture_compile(tmp_path: Path, architecture: str) -> None:
    command = ["nvcc", "-Werror", "all-warnings", f"-arch={architecture}", "-o", str(tmp_path / "kernels")]
    result = subprocess.run([*command, str(CAPTURE / "kernels.cu")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
