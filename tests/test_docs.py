"""The documentation: made pages are fresh, links lead somewhere, and files, tables and steps in it hold."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ncu_roofline as nr
from ncu_roofline.ceilings import ORDERS
from ncu_roofline.claims import dimension_of, read_claims
from ncu_roofline.errors import DataFileError
from ncu_roofline.ledger import KINDS, read_expectations, read_kinds_file, read_stages
from ncu_roofline.maps import load_library, load_map
from ncu_roofline.measured import load_measured
from tests.conftest import Write
from tests.support import ROOT, details, launch

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "sample_reports" / "README.md", *sorted(DOCS.glob("*.md"))]

_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)

ERT = {"empirical": {"gbytes": {"data": [["L2", 2000.5], ["DRAM", 600.5]]}, "gflops": {"data": [["FP64 GFLOPs", 7.5]]}}}
"""What the wrapping file of the page about peaks maps."""

CHIP = [
    "dram__bytes", "dram__cycles_elapsed", "sm__ops_path_tensor_src_bf16_dst_fp32", "sm__cycles_elapsed",
]  # fmt: skip
"""Counters of the invented chip, as ``ncu --query-metrics`` lists them."""


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str, kind: str) -> list[str]:
    """Fenced blocks of a kind, without the indent that they have in a list."""
    found = re.findall(rf"^( *)```{kind}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one of the same level."""
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def table(text: str, first: str) -> list[list[str]]:
    """Rows of the table whose head begins with a cell."""
    lines = text.partition(f"\n| {first} |")[2].splitlines()[2:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", _FENCED.sub("", text), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(next(name for name in (slug, *(f"{slug}-{n}" for n in range(1, 99))) if name not in found))
    return found


def links(text: str) -> Iterator[str]:
    """Relative links of a page; those in code are none."""
    for target in _LINK.findall(re.sub(r"`[^`\n]+`", "code", _FENCED.sub("", text))):
        if "://" not in target:
            yield target


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of the documentation in bash, with this package as ``ncu-roofline`` and an ``ncu`` that knows the chip."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, script in {
        "ncu-roofline": f'exec "{sys.executable}" -m ncu_roofline "$@"',
        "ncu": "\n".join(f"echo '{counter}   Counter   unit   # text'" for counter in CHIP),
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


# -- pages -------------------------------------------------------------------------------------------------


def test_page_of_the_maps_is_the_one_that_its_builder_writes() -> None:
    spec = importlib.util.spec_from_file_location("build_maps", DOCS / "build_maps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.page() == page("maps.md")


def test_page_of_the_maps_has_every_path_and_measure_of_every_map() -> None:
    for metric_map in load_library().maps.values():
        here = section(page("maps.md"), metric_map.id)
        assert [row[0].partition(",")[0] for row in table(here, "path")] == [f"`{name}`" for name in metric_map.paths]
        assert [(row[0], row[1].partition(":")[0]) for row in table(here, "tier")] == [
            (f"`{tier}`", f"`{measure.id}`") for tier, found in metric_map.tiers.items() for measure in found.measures
        ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_relative_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    for link in links(path.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


def test_readme_leads_to_every_page() -> None:
    linked = {link.partition("#")[0] for link in links(PAGES[0].read_text(encoding="utf-8"))}
    assert {path.relative_to(ROOT).as_posix() for path in PAGES[1:]} <= linked


# -- files in the pages ------------------------------------------------------------------------------------


def whole_files(name: str) -> list[str]:
    return [block for block in blocks(page(name), "yaml") if block.startswith("schema:")]


@pytest.mark.parametrize("text", whole_files("metric-maps.md"))
def test_map_in_the_documentation_is_read_without_a_problem(write: Write, text: str) -> None:
    metric_map = load_map(Path(write(text, "sm_999.yaml")))
    assert metric_map.id == "sm_999"
    assert "tensor.int1" not in metric_map.paths
    assert "nvlink" not in metric_map.tiers


@pytest.mark.parametrize("text", whole_files("peaks.md"))
def test_file_of_ceilings_in_the_documentation_is_read_without_a_problem(write: Write, text: str) -> None:
    write(json.dumps(ERT), "roofline.json")
    assert load_measured(Path(write(text, "ceilings.yaml"))).ceilings


def test_documentation_has_a_map_and_both_forms_of_a_file_of_ceilings() -> None:
    assert len(whole_files("metric-maps.md")) == 1
    assert ["from:" in text for text in whole_files("peaks.md")] == [False, True]


def test_every_key_of_a_map_file_is_explained(write: Write) -> None:
    with pytest.raises(DataFileError) as error:
        load_map(Path(write("unknown: 1\n", "keys.yaml")))
    (message,) = [problem.message for problem in error.value.problems if problem.path == "$.unknown"]
    explained = "".join(row[0] for row in table(page("metric-maps.md"), "key"))
    assert {key for key in message.rpartition("are ")[2].split(", ") if f"`{key}`" not in explained} == set()


# -- tables and outputs in the pages -----------------------------------------------------------------------


def test_pipes_are_those_of_the_maps() -> None:
    listed: set[str] = set()
    for capabilities, fp16, dmma in table(page("paths.md"), "compute capability"):
        for cc in ["0.0"] if capabilities.startswith("any other") else capabilities.split(", "):
            paths = load_library().for_compute_capability(cc).paths
            assert fp16.split("`")[1] == paths["fp16"].pipe
            assert ("tensor.fp64" in paths) == dmma.startswith("`")
            assert "tensor.fp64" not in paths or dmma.strip("`") == paths["tensor.fp64"].pipe
            listed.add(cc)
    assert listed == {"0.0"} | {cc for found in load_library().maps.values() for cc in found.compute_capabilities}


@pytest.mark.parametrize(("tier", "measure"), [("sysmem", "c2c"), ("nvlink", "links")])
def test_chips_of_a_link_are_those_of_the_maps(tier: str, measure: str) -> None:
    (row,) = [row for row in table(page("tiers.md"), "tier, measure") if row[0] == f"`{tier}`, `{measure}`"]
    assert set(row[2].split(", ")) == {
        cc
        for metric_map in load_library().maps.values()
        for cc in metric_map.compute_capabilities
        if tier in metric_map.tiers and measure in {found.id for found in metric_map.tiers[tier].measures}
    }


def test_order_of_the_sources_of_a_ceiling_is_that_of_the_program() -> None:
    rows = table(page("peaks.md"), "`--peak-source`")
    assert {row[0].split("`")[1]: tuple(row[1].split(", ")) for row in rows} == ORDERS


def test_conditions_of_a_csv_are_those_of_the_documentation(write: Write) -> None:
    (shown,) = blocks(page("conditions.md"), "json")
    analysis = json.loads(nr.analyze(write(details(*launch({"T": "20 us"})))).to_json())
    assert analysis["inputs"][0]["conditions"] == json.loads(shown)


def test_command_in_the_page_about_conditions_prints_what_it_shows(tmp_path: Path) -> None:
    (block,) = blocks(page("conditions.md"), "console")
    command, _, shown = block.partition("\n")
    printed = run(command.removeprefix("$ "), tmp_path).stdout
    assert printed.startswith(shown.removesuffix("...\n"))


# -- steps -------------------------------------------------------------------------------------------------


def test_commands_about_maps_run(tmp_path: Path) -> None:
    (block,) = blocks(section(page("metric-maps.md"), "Commands"), "sh")
    assert "maps list" in block
    for line in block.splitlines():
        result = run(line, tmp_path)
        assert result.returncode == 0, result.stderr
        assert "Ada AD10x" in result.stdout


def test_five_steps_add_an_architecture(tmp_path: Path) -> None:
    steps = section(page("metric-maps.md"), "Add an architecture")
    assert re.findall(r"^(\d)\. ", steps, re.MULTILINE) == ["1", "2", "3", "4", "5"]
    copy, lacking, candidates, trial = blocks(steps, "sh")
    report = details(*launch({"T": "20 us", "DB": "1,000 byte"}), cc="99.9")
    (tmp_path / "report.csv").write_text(report)

    assert run(f"set -e; {copy}", tmp_path).returncode == 0
    copied = (tmp_path / "sm_999.yaml").read_text()
    for key, value in {"id": "sm_999", "title": "Invented", "compute_capabilities": '["99.9"]'}.items():
        copied = re.sub(rf"^{key}: .*$", f"{key}: {value}", copied, flags=re.MULTILINE)
    (tmp_path / "sm_999.yaml").write_text(copied)

    absent = run(f"set -e; {lacking}", tmp_path).stdout.splitlines()
    assert "lts__t_bytes" in absent
    assert not set(CHIP) & set(absent)
    assert run(candidates, tmp_path).stdout.splitlines() == ["sm__ops_path_tensor_src_bf16_dst_fp32"]
    extended = copied.replace("absent:\n", "absent:\n  - lts__t_bytes\n")
    (tmp_path / "sm_999.yaml").write_text(extended)

    for line in trial.splitlines():
        result = run(line, tmp_path)
        assert result.returncode == 0, result.stderr
        assert "sm_999" in result.stdout


def test_files_of_the_page_about_claims_are_read(write: Write) -> None:
    claims, expectations = blocks(page("claims.md"), "yaml")
    (claim,) = read_claims(Path(write(claims, "claims.yaml")))
    assert (claim.quantity, claim.value, claim.relation) == ("work.tensor.fp16.acc32.share", 0.85, "at least")
    assert (claim.tolerance, claim.conditions) == (0.02, {"cache": "none", "clock": "boost"})
    gemm, conv = read_expectations([write(expectations, "work.yaml")])
    assert (gemm.ledger.work, conv.ledger.work) == (2 * 4096**3, 2e9)


def test_page_about_ledgers_has_every_kind_with_its_parameters() -> None:
    rows = table(page("ledgers.md"), "kind")
    assert [row[0].strip("`") for row in rows] == list(KINDS)
    for row in rows:
        assert set(re.findall(r"`(\w+)`", row[1])) - {"dtype"} == {*KINDS[row[0].strip("`")].parameters} - {"dtype"}


def test_files_of_the_page_about_ledgers_are_read(write: Write) -> None:
    stages, work, kinds = blocks(page("ledgers.md"), "yaml")
    assert [stage.ledger.work for stage in read_stages(write(stages, "stages.yaml"))] == [0.12e9, 12e9]
    assert work in (ROOT / "sample_reports" / "work.yaml").read_text()
    assert [one.ledger.work for one in read_expectations([], [write(work, "work.yaml")])] == [2 * 4096**3, 2 * 2**26]
    own = read_kinds_file(write(kinds, "kinds.yaml"))
    assert own["rms_norm"].ledger({"rows": 4096, "width": 8192}).work == 4 * 4096 * 8192


@pytest.mark.parametrize("name", ["ledgers.md", "budget.md"])
def test_command_of_a_page_runs_and_prints_what_stands_there(name: str) -> None:
    printed = dict(block.removeprefix("$ ").split("\n", 1) for block in blocks(page(name), "console"))
    commands = [line for block in blocks(page(name), "sh") for line in block.splitlines()]
    for command in (*commands, *printed):
        program = [sys.executable, "-m", "ncu_roofline", *shlex.split(command)[1:]]
        result = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        assert (
            not printed.get(command) or [*map(str.rstrip, result.stdout.splitlines())] == printed[command].splitlines()
        )


@pytest.mark.parametrize(("name", "printed"), [("ledgers.md", "120.47"), ("budget.md", "'left'")])
def test_python_of_a_page_runs(name: str, printed: str) -> None:
    (code,) = blocks(page(name), "python")
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert printed in result.stdout


def test_page_about_claims_has_every_quantity() -> None:
    text = page("claims.md")
    for row in table(text, "quantity"):
        for name in re.findall(r"`([a-z][\w.<>]*)`", row[0]):
            assert dimension_of(name.replace("<path>", "fp32").replace("<tier>", "dram").replace("<counter>", "x")) or (
                name == "bound.by"
            )


@pytest.mark.parametrize("command", [line for block in blocks(page("claims.md"), "sh") for line in block.splitlines()])
def test_command_of_the_page_about_claims_runs(command: str) -> None:
    program = [sys.executable, "-m", "ncu_roofline", *shlex.split(command)[1:]]
    result = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "0 errors, 0 warnings" in result.stdout


def test_figure_in_the_readme_is_the_one_that_is_drawn(tmp_path: Path) -> None:
    report, figure = ROOT / "sample_reports" / "a100_raw.csv", tmp_path / "a100.svg"
    program = [sys.executable, "-m", "ncu_roofline", "analyze", str(report), "--figure", str(figure)]
    subprocess.run(program, capture_output=True, check=True)
    for name in ("a100.svg", "a100-dark.svg"):
        assert (tmp_path / name).read_text() == (DOCS / "images" / name).read_text()
