"""The house rules that a machine can check: layers, style, types, documentation of dependencies."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import ROOT

PACKAGE = ROOT / "ncu_roofline"

# Room -> rooms it may import. A room that is not listed may be imported by nobody.
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "vocabulary": set(),
    "version": set(),
    "wording": set(),
    "formats": set(),
    "units": set(),
    "dimensions": {"units"},
    "number_format": {"errors"},
    "arrays": set(),
    "data_files": set(),
    "strict_yaml": {"errors"},
    "labels": {"errors", "data_files", "strict_yaml"},
    "quantities": set(),
    "measured": {"errors", "quantities", "strict_yaml", "vocabulary"},
    "launch_filter": {"arrays"},
    "claims": {"arrays", "conditions", "errors", "launch_filter", "quantities", "strict_yaml", "vocabulary"},
    "machine": {"devices", "errors", "measured", "vocabulary"},
    "ledger": {"arrays", "errors", "launch_filter", "machine", "strict_yaml", "vocabulary"},
    "devices": {"errors", "data_files", "strict_yaml", "vocabulary"},
    "readers": {"arrays", "errors", "vocabulary"},
    "histogram": {"arrays", "readers", "vocabulary"},
    "normalise": {"arrays", "dimensions", "histogram", "labels", "number_format", "readers", "units", "vocabulary"},
    "timings": {"arrays", "errors"},
    "external": {"arrays", "conditions", "devices", "timings", "vocabulary"},
    "merge": {"arrays", "errors", "normalise", "timings"},
    "stored": {"arrays", "histogram", "labels", "normalise", "readers", "units"},
    "counters": {"arrays", "vocabulary"},
    "maps": {"errors", "data_files", "strict_yaml", "vocabulary"},
    "evaluate": {"arrays", "counters", "maps", "vocabulary"},
    "ceilings": {"arrays", "devices", "measured", "vocabulary"},
    "conditions": {"errors"},
    "roofline": {"arrays"},
    "model": {"arrays", "ceilings", "evaluate", "maps", "roofline", "vocabulary"},
    "collect": {"counters", "maps", "vocabulary"},
    "identities": {"arrays", "counters", "maps"},
    "checks": {
        "arrays", "claims", "collect", "counters", "errors", "formats", "identities", "identity", "maps",
        "readers", "timings", "vocabulary", "wording",
    },
    "grouping": {"arrays", "vocabulary"},
    "budget": {
        "arrays", "devices", "errors", "formats", "grouping", "launch_filter", "maps", "measured", "scrub",
        "timings", "vocabulary", "wording",
    },
    "scrub": {"timings"},
    "analysis": {
        "arrays", "budget", "checks", "conditions", "explain", "grouping", "maps", "measured", "normalise", "render",
        "scrub", "timings", "vocabulary",
    },
    "explain": {
        "analysis", "arrays", "checks", "collect", "counters", "errors", "evaluate", "maps", "measured", "model",
        "normalise", "vocabulary",
    },
    "identity": {"arrays", "devices", "errors", "maps", "normalise", "vocabulary"},
    "inputs": {
        "arrays", "conditions", "errors", "identity", "labels", "maps", "normalise", "readers", "stored", "timings",
    },
    "comparison": {
        "analysis", "arrays", "checks", "conditions", "errors", "formats", "grouping", "render", "scrub", "timings",
        "version", "vocabulary", "wording",
    },
    "pipeline": {
        "analysis", "arrays", "ceilings", "checks", "claims", "comparison", "conditions", "counters", "devices",
        "errors", "evaluate",
        "external", "grouping", "identities", "identity", "inputs", "labels", "ledger", "maps", "measured", "merge",
        "model", "normalise", "readers", "vocabulary",
    },
    "collection": {"analysis", "arrays", "collect", "counters", "maps", "vocabulary"},
    "acceptance": {"analysis", "checks", "errors", "strict_yaml"},
    "render": {
        "analysis", "arrays", "budget", "checks", "collect", "comparison", "conditions", "data_files", "devices",
        "explain", "formats", "ledger", "machine", "timings", "version", "vocabulary", "wording",
    },
    "cli": {
        "acceptance", "analysis", "arrays", "budget", "checks", "collection", "comparison", "devices", "errors",
        "formats", "launch_filter", "ledger", "machine", "maps", "measured", "pipeline", "quantities", "strict_yaml",
        "timings", "render", "scrub", "version", "vocabulary", "wording",
    },
    "__init__": {"analysis", "comparison", "errors", "maps", "pipeline", "readers", "version"},
    "__main__": {"cli"},
}  # fmt: skip

# Room -> packages it must not import.
FORBIDDEN = {
    "errors": {"pandas", "click", "numpy", "polars"},
    "roofline": {"pandas", "polars", "yaml", "click"},
    "counters": {"pandas", "polars", "yaml"},
    "evaluate": {"yaml", "rich", "click"},
    "maps": {"pandas", "polars", "click"},
    "checks": {"rich", "plotly", "click"},
    "render": {"yaml", "click"},
}

SOURCES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_what_its_room_may_know(path: Path) -> None:
    own = room(path)
    for name in imports(path):
        if name.startswith("ncu_roofline."):
            other = name.split(".")[1]
            assert other == own or other in LAYERS[own], f"{own} must not know {other}"
        assert name.split(".")[0] not in FORBIDDEN.get(own, set()), f"{own} must not import {name}"


def test_rooms_have_no_circle() -> None:
    done: set[str] = set()
    # What stands above the results is reached from them through lazy imports, which are no layers.
    lazy = {"analysis": {"explain", "render"}, "comparison": {"render"}}
    layers = {name: needs - lazy.get(name, set()) for name, needs in LAYERS.items()}
    while len(done) < len(layers):
        ready = {name for name, needs in layers.items() if name not in done and needs <= done}
        assert ready, f"circle among {sorted(set(layers) - done)}"
        done |= ready


def test_every_room_of_the_package_is_in_the_table() -> None:
    assert {room(path) for path in SOURCES} == set(LAYERS)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\.iterrows\(",
        r"\.itertuples\(",
        r"inplace=True",
        r"axis=1\)",
        r"pivot_table",
        r"\beval\(",
        r"\*\*kwargs",
    ],
)
def test_package_has_no_row_loops_and_no_evaluation_of_text(pattern: str) -> None:
    allowed = {("normalise.py", r"axis=1\)")}
    hits = [
        path.name
        for path in SOURCES
        if re.search(pattern, re.sub(r"\.(all|any)\(axis=1\)", "", path.read_text()))
        and (path.name, pattern) not in allowed
    ]
    assert hits == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_says_what_it_is_responsible_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), path


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_ruff_passes(arguments: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "."], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_mypy_strict_passes() -> None:
    result = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_dependency_has_its_reason_in_the_documentation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text()
    for dependency in project["dependencies"]:
        assert f"**{re.split('[<>=~;]', dependency)[0]}**" in text


def test_json_schema_is_part_of_the_package() -> None:
    assert (PACKAGE / "schema" / "analysis-1.json").exists()
