"""Files that users write: whatever is in them, the end is a result or an error with its place, never a traceback."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline.acceptance import read_baseline
from ncu_roofline.claims import read_claims
from ncu_roofline.cli import main
from ncu_roofline.comparison import from_json
from ncu_roofline.ledger import read_expectations
from ncu_roofline.measured import load_measured
from tests.support import ROOT

SAMPLE = str(ROOT / "sample_reports" / "a100_raw.csv")
SEED = 20261201
ROUNDS = 400

CEILINGS = """schema: 1
title: node 7
device: NVIDIA A100-SXM4-40GB
sources: [mixbench of 2026]
ceilings:
  dram: {value: 1.38 TB/s, note: triad}
  fp32: {value: 14.6 TFLOP/s, clock: 1.095 GHz}
  tensor.bf16: {value: 220e12}
"""
CLAIMS = """schema: 1
claims:
  - says: the triad reaches 94 % of DRAM
    source: a slide
    kernel: triad
    quantity: traffic.dram.share
    value: 94 %
    tolerance: 1 %
    conditions: "cache=none,clock=base"
  - {kernel: gemm, quantity: bound.by, value: dram}
"""
WORK = """schema: 1
kinds:
  rms_norm:
    parameters: {rows: null, width: null, size: 2}
    work: [[4, rows, width]]
    read: [[rows, width, size], [width, size]]
    written: [[rows, width, size]]
    path: fp32
    assumes: ["the weights are read once"]
work:
  - {kind: axpy, n: 1000, dtype: fp64, kernel: triad}
  - {kind: gemm, m: 64, n: 64, k: 64, dtype: fp16, kernel: gemm, grid: [128, 1, 1]}
  - {kind: rms_norm, rows: 10, width: 20}
"""
ACCEPTED = """schema: 1
accepted:
  - {code: P301, kernel: gemm, contains: abc, reason: looked at}
  - code: C406
    reason: known
"""
MAP = (ROOT / "metric_maps" / "sm_75.yaml").read_text(encoding="utf-8")
BASELINE = Path("baseline.json")

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "ceilings": (CEILINGS, load_measured),
    "claims": (CLAIMS, read_claims),
    "work": (WORK, lambda path: read_expectations([], [str(path)])),
    "accepted": (ACCEPTED, read_baseline),
    "map": (MAP, nr.load_map),
}

ODD = (
    '!!bool x', "!!int ''", '!!int x', '!!float x', '!!timestamp x', '!!null x', '!!binary x', "!!binary '***'",
    '!!set {a}', '!!omap [a]', '!!pairs [a]', '!!python/object:os.system x', '!!str 5', '!x y', '[a, [b]]',
    '{a: {b: c}}', '[]', '{}', '.nan', '.inf', '-.inf', '1e400', '1e-400', '0x', '0o9', '1_000', '-1', '0', 'true',
    '~', "''", "' '", '"\\0"', '"\\ud800"', '2024-01-01', '12:30:45', "9" * 400, "9" * 5000, '*undefined', '&a [*a]',
    '{[a]: b}', '? [a]\n', '<<', '{<<: *x}', '@', '`', '%', '|', '[[1, n]]', '[[-1, rows]]', '[[1e999, rows]]',
    '[[rows, [1]]]', '>', "'", '"', '\t', '\x00', 'é', '\u2028', '(', '[', '*', 'gemm:', 'gemm:m=',
    'gemm:m=1e999,n=1,k=1,dtype=fp16', 'axpy:n=0', 'a b c', '1 / 0', 'n ** n ** n', '().__class__',
    '999999999999999999999999999999 TB/s', 'nan TB/s', '-1 TB/s', 'inf',
)  # fmt: skip
"""Values that no reader may stumble over."""


def mutated(text: str, rounds: int, seed: int) -> Iterator[str]:
    """The text with one value, one line or one byte made odd."""
    random_ = random.Random(seed)
    lines = text.splitlines()
    for _ in range(rounds):
        changed = list(lines)
        at = random_.randrange(len(changed))
        kind = random_.randrange(6)
        if kind <= 2:
            changed[at] = re.sub(r"(:\s+|-\s+)[^:{}\[\]]*$", lambda m: m[1] + random_.choice(ODD), changed[at], count=1)
        elif kind == 3:
            place = random_.randrange(len(changed[at]) + 1)
            changed[at] = changed[at][:place] + random_.choice(ODD) + changed[at][place:]
        elif kind == 4:
            changed[at : at + 1] = random_.choice(([], [changed[at]] * 2, [f"  {changed[at]}"]))
        else:
            whole = "\n".join(changed)
            place = random_.randrange(len(whole))
            changed = [whole[:place] + chr(random_.randrange(128)) + whole[place + 1 :]]
        yield "\n".join(changed) + "\n"


def problem_of(read: Callable[[Path], object], path: Path) -> str | None:
    """The message of the error with which a file is refused; None if it is read."""
    try:
        read(path)
    except nr.NcuRooflineError as error:
        return str(error)
    return None


# A regular expression of a user may be one that Python warns of.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", READERS)
def test_odd_file_of_a_user_is_read_or_refused_with_its_name(tmp_path: Path, kind: str) -> None:
    text, read = READERS[kind]
    path = tmp_path / "file.yaml"
    refused = 0
    for number, content in enumerate(mutated(text, ROUNDS, SEED)):
        path.write_text(content, encoding="utf-8", errors="surrogatepass")
        problem = problem_of(read, path)
        refused += problem is not None
        assert problem is None or str(path) in problem, (number, content)
    assert refused > ROUNDS / 10


@pytest.mark.parametrize("kind", READERS)
def test_file_that_is_made_odd_is_right_before(tmp_path: Path, kind: str) -> None:
    text, read = READERS[kind]
    path = tmp_path / "file.yaml"
    path.write_text(text, encoding="utf-8")
    assert read(path)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("tag", ["!!bool x", "!!int ''", "!!timestamp x", "!!float y", "!!binary é"])
def test_tag_that_does_not_fit_its_value_is_an_error_with_its_line(tmp_path: Path, kind: str, tag: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(f"schema: 1\ntitle: {tag}\n", encoding="utf-8")
    with pytest.raises(nr.NcuRooflineError, match=re.escape(f"{path}:2: $.title: is not a plain value")):
        READERS[kind][1](path)


def test_code_of_an_accepted_finding_that_is_a_list_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "accepted.yaml"
    path.write_text("schema: 1\naccepted:\n  - {code: [M201], reason: x}\n", encoding="utf-8")
    with pytest.raises(nr.NcuRooflineError, match=r"accepted.yaml:3: \$.accepted\[0\].code"):
        read_baseline(path)


def test_aliases_that_stand_for_a_billion_values_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(nr.NcuRooflineError, match="more than 200,000 values"):
        read_claims(path)


def test_odd_stored_comparison_is_read_or_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert CliRunner().invoke(main, ["compare", SAMPLE, "--save-baseline", str(path)]).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert from_json(str(path)).keys
    for content in mutated(text, ROUNDS, SEED):
        path.write_text(content, encoding="utf-8", errors="surrogatepass")
        problem = problem_of(lambda path: from_json(str(path)), path)
        assert problem is None or str(path) in problem


CONFIGURATION = """fail-on = "never"
locale = "auto"
conditions = ["cache=none"]
select = ["M", "P"]
quiet = true
expect = ["gemm:m=64,n=64,k=64,dtype=fp16,kernel=gemm"]
"""
ODD_TOML = (
    "1", "-1", "1.5", "nan", "inf", "true", '""', '"\\u0000"', "[]", "[1]", "[[1]]", "{}", "{a = 1}", "2024-01-01",
    "07:32:00", "'''x", "9" * 5000, '"never', "[" * 2000, '"x"', '["x", 1]', "\x00", "=", "#",
)  # fmt: skip


@pytest.mark.parametrize("name", ["ncu-roofline.toml", "pyproject.toml"])
def test_odd_configuration_is_used_or_refused_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    head = "[tool.ncu-roofline]\n" if name == "pyproject.toml" else ""
    random_ = random.Random(SEED)
    lines = (head + CONFIGURATION).splitlines()
    for _ in range(80):
        changed = list(lines)
        at = random_.randrange(len(changed))
        changed[at] = f"{changed[at].partition('=')[0]}= {random_.choice(ODD_TOML)}"
        (tmp_path / name).write_text("\n".join(changed), encoding="utf-8")
        result = CliRunner().invoke(main, ["check", SAMPLE])
        assert result.exception is None or isinstance(result.exception, SystemExit), (changed[at], result.exception)
        assert result.exit_code in (0, 1, 2), changed[at]


def test_table_of_tools_that_is_a_number_is_named_with_file_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("\ntool = 1\n")
    result = CliRunner().invoke(main, ["check", SAMPLE])
    assert (result.exit_code, result.stderr) == (2, "error: pyproject.toml:2 tool: is not a table\n")


@pytest.mark.parametrize(
    ("key", "value"),
    [("kernel", '"("'), ("conditions", '"hot=yes"'), ("fail-on", '["no", "note"]')],
)
def test_value_of_a_configuration_file_that_cannot_be_used_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    # Another tool may have a key of the same name.
    text = f"[tool.other]\n{key} = 5\n\n[tool.ncu-roofline]\n{key} = {value}\n"
    (tmp_path / "pyproject.toml").write_text(text)
    command = "analyze" if key in ("kernel", "conditions") else "check"
    result = CliRunner().invoke(main, [command, SAMPLE])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: pyproject.toml:5")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('map = "\\u0000"', "has a NUL character"),
        ('fail-on = "bad"', "is not one of"),
        ("quiet = 5", "has to be true or false"),
        ("kernl = 5", "is no option"),
    ],
)
def test_value_of_the_configuration_that_cannot_be_used_is_an_error_with_line_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ncu-roofline.toml").write_text(f'locale = "auto"\n{line}\n')
    result = CliRunner().invoke(main, ["analyze", SAMPLE])
    assert result.exit_code == 2
    assert f"ncu-roofline.toml:2 {line.partition(' ')[0]}: " in result.output
    assert problem in result.output


@pytest.mark.parametrize("option", ["map", "ceilings", "claims", "session", "timing", "work"])
def test_path_with_a_nul_is_an_error(option: str) -> None:
    with pytest.raises(nr.NcuRooflineError):
        nr.analyze(SAMPLE, **{option: "a\0b"})  # type: ignore[arg-type]


def test_report_with_a_nul_in_its_path_is_an_error() -> None:
    with pytest.raises(nr.NcuRooflineError):
        nr.analyze(f"a{os.sep}\0b")
