"""Every command of the README runs, and prints what the README shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(?:sh|console)\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.removeprefix("$ ") for block in BLOCKS for line in block.splitlines() if "ncu-roofline" in line]
RUNNABLE = [command for command in COMMANDS if command.startswith("ncu-roofline ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "ncu_roofline", *shlex.split(command)[1:]]
    environment = os.environ | {"COLUMNS": "100"}
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which the sample reports lie where the README expects them."""
    (tmp_path / "sample_reports").symlink_to(ROOT / "sample_reports")
    (tmp_path / "report.csv").symlink_to(ROOT / "sample_reports" / "a100_default_set.csv")
    return tmp_path


def test_readme_has_commands_to_run() -> None:
    assert len(RUNNABLE) >= 5


@pytest.mark.parametrize("command", RUNNABLE)
def test_command_of_the_readme_runs(checkout: Path, command: str) -> None:
    result = run(command, checkout)
    assert result.returncode == 0, result.stderr
    assert result.stdout or re.search("-o |--save-baseline ", command)


def test_table_in_the_readme_is_the_one_that_is_printed(checkout: Path) -> None:
    block = next(block for block in BLOCKS if block.startswith("$ ncu-roofline analyze sample_reports/a100_raw.csv\n"))
    command, _, shown = block.partition("\n")
    printed = run(command.removeprefix("$ "), checkout).stdout
    assert [line.rstrip() for line in printed.splitlines()] == [line.rstrip() for line in shown.splitlines()]


def test_line_that_sets_up_and_runs_the_main_job_works_on_a_clean_checkout(tmp_path: Path) -> None:
    line = next(line for block in BLOCKS for line in block.splitlines() if line.startswith("python3 -m venv"))
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for name in filter(None, tracked):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, target)
    result = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "tensor.fp16.acc32" in result.stdout


def test_options_of_the_readme_are_those_of_a_configuration_file(checkout: Path) -> None:
    (options,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (checkout / "ncu-roofline.toml").write_text(options)
    result = run("ncu-roofline check sample_reports/a100_raw.csv", checkout)
    assert result.returncode == 0, result.stderr
    assert "C406" not in result.stdout


def test_python_of_the_readme_runs(checkout: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    result = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "bound.fraction" in result.stdout


def test_one_line_sets_up_and_runs_the_main_job_and_one_runs_the_tests() -> None:
    lines = [line for block in BLOCKS for line in block.splitlines() if line.startswith("python3 -m venv")]
    assert len(lines) == 2
    assert "ncu-roofline analyze sample_reports/a100_raw.csv" in lines[0]
    assert lines[1].endswith("-m pytest")
