"""``check`` and ``rules``: findings alone, accepted ones, formats for machines, options from a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner, Result

import ncu_roofline as nr
from ncu_roofline.acceptance import baseline_of, read_baseline, with_findings
from ncu_roofline.analysis import Analysis
from ncu_roofline.checks import RULES
from ncu_roofline.cli import main
from ncu_roofline.comparison import COMPARISON_RULES
from tests.conftest import Write
from tests.support import details, launch
from tests.test_findings import CLEAN

CONDITIONS = "cache=all,clock=base"

# The published schema (SARIF 2.1.0, final content "rtm.5"), from the npm package @microsoft/jest-sarif, MIT licence.
SARIF = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
URI_REFERENCE = re.compile(r"(?:file:///)?(?:[A-Za-z0-9._~/!$&'()*+,;=:@-]|%[0-9A-F]{2})*")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def above(write: Write) -> str:
    """A report whose second launch is above a ceiling and whose first is too short."""
    short, high = CLEAN | {"T": "5 us"}, CLEAN | {"DB": "99,000,000 byte"}
    high["lts__t_sectors_srcunit_tex.sum"] = "3,100,000 sector"
    return write(details(*launch(short, kernel="short"), *launch(high, number=1, kernel="high")))


@pytest.fixture
def analysis(above: str) -> Analysis:
    return nr.analyze(above, conditions=CONDITIONS)


def codes(found: Analysis) -> list[str]:
    return [finding.code for finding in found.finding_list]


def test_check_prints_findings_and_how_many_there_are(above: str) -> None:
    result = run("check", above, "--conditions", CONDITIONS)
    assert result.exit_code == 1
    assert "error P301 above-ceiling [launch 1]" in result.stdout
    assert "1 error, 0 warnings, 1 note; " in result.stdout


def test_rules_that_were_not_checked_are_named(above: str) -> None:
    assert "without the inputs of" in run("check", above).stdout.splitlines()[-1]


@pytest.mark.parametrize(("threshold", "code"), [("error", 1), ("never", 0)])
def test_exit_code_follows_the_threshold(above: str, threshold: str, code: int) -> None:
    assert run("check", above, "--fail-on", threshold).exit_code == code


def test_launches_can_be_selected(above: str) -> None:
    result = run("check", above, "--kernel", "short", "--conditions", CONDITIONS)
    assert (result.exit_code, "P301" in result.stdout, "P302" in result.stdout) == (0, False, True)


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--select", "P302"], ["P302"]),
        (["--select", "p"], ["P301", "P302"]),
        (["--ignore", "P30"], []),
        (["--select", "P", "--ignore", "P301"], ["P302"]),
    ],
)
def test_codes_are_selected_and_ignored_by_their_beginning(above: str, options: list[str], left: list[str]) -> None:
    result = run("check", above, "--format", "json", "--conditions", CONDITIONS, *options)
    assert [finding["code"] for finding in json.loads(result.stdout)["findings"]] == left


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize("code", ["Z1", "P999", "above-ceiling"])
def test_code_that_is_none_is_refused(above: str, option: str, code: str) -> None:
    result = run("check", above, option, code)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is no code of a rule" in result.stderr


def test_analyze_takes_the_same_options(above: str) -> None:
    assert "P301" not in run("analyze", above, "--ignore", "P301").stdout


# --- accepted findings ---


def test_accepted_finding_is_left_out(analysis: Analysis, write: Write) -> None:
    path = write("schema: 1\naccepted:\n  - {code: P301, reason: the counter mixes sparse operations}\n", "b.yaml")
    assert codes(with_findings(analysis, select=[], ignore=[], accepted=read_baseline(Path(path)))) == ["P302"]


def test_finding_accepted_for_one_kernel_stays_for_the_others(write: Write) -> None:
    rows = [row for n, kernel in enumerate("ab") for row in launch(CLEAN | {"T": "5 us"}, number=n, kernel=kernel)]
    found = nr.analyze(write(details(*rows)), conditions=CONDITIONS)
    path = write("accepted: [{code: P302, kernel: '^a$', reason: it is an empty kernel}]\n", "b.yaml")
    (left,) = with_findings(found, select=[], ignore=[], accepted=read_baseline(Path(path))).finding_list
    assert left.launches == (1,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("accepted: [{code: P301}]", "an accepted finding needs a reason"),
        ("accepted: [{code: P301, reason: ' '}]", "an accepted finding needs a reason"),
        ("accepted: [{code: P999, reason: x}]", "'P999' is no code of a rule"),
        ("accepted: [{code: P301, reason: x, kernel: '('}]", "is not a regular expression"),
        ("accepted: [{code: P301, reason: x, launch: 1}]", "launch"),
        ("accepted: 5", "must be a list"),
        ("schema: 2\naccepted: []", "schema 2 is not known"),
    ],
)
def test_baseline_that_is_wrong_is_refused_with_its_line(above: str, write: Write, text: str, why: str) -> None:
    path = write(text, "b.yaml")
    result = run("check", above, "--baseline", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr
    assert f"{path}:" in result.stderr


def test_written_baseline_accepts_once_its_reasons_are_filled_in(above: str, tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    run("check", above, "--write-baseline", str(path))
    assert run("check", above, "--baseline", str(path)).exit_code == 2
    path.write_text(path.read_text().replace("reason: ''", "reason: known"))
    result = run("check", above, "--baseline", str(path))
    assert result.exit_code == 0
    assert "0 errors, 0 warnings, 0 notes" in result.stdout


def test_baseline_of_a_clean_report_accepts_nothing(write: Write) -> None:
    clean = nr.analyze(write(details(*launch(CLEAN))), conditions=CONDITIONS)
    path = Path(write(baseline_of(clean), "b.yaml"))
    assert read_baseline(path) == ()


# --- formats ---


def test_sarif_is_of_its_standard(above: str) -> None:
    document = json.loads(run("check", above, "--format", "sarif").stdout)
    jsonschema.Draft4Validator(SARIF).validate(document)
    (sarif_run,) = document["runs"]
    rules = sarif_run["tool"]["driver"]["rules"]
    for result in sarif_run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert [place["physicalLocation"]["artifactLocation"]["uri"] for place in result["locations"]] == [above]
    assert {result["ruleId"]: result["level"] for result in sarif_run["results"]}["P301"] == "error"


@pytest.mark.parametrize("name", ["my report.csv", "50%.csv", "ä#b?.csv"])
def test_sarif_names_every_file_by_an_address(tmp_path: Path, above: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(Path(above).read_text())
    document = json.loads(run("check", str(path), "--format", "sarif").stdout)
    jsonschema.Draft4Validator(SARIF).validate(document)
    (uri,) = {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for result in document["runs"][0]["results"]
        for place in result["locations"]
    }
    assert URI_REFERENCE.fullmatch(uri)
    assert unquote(uri) == str(path)


def test_sarif_of_every_corpus_file_is_of_its_standard(corpus: Path) -> None:
    validator = jsonschema.Draft4Validator(SARIF)
    for path in sorted(corpus.glob("[0-9]*"))[::6]:
        result = run("check", str(path), "--format", "sarif")
        if result.exit_code != 2:
            validator.validate(json.loads(result.stdout))


def test_sarif_of_several_inputs_names_that_of_each_finding(above: str, write: Write) -> None:
    clean = write(details(*launch(CLEAN)), "clean.csv")
    document = json.loads(run("check", clean, above, "--format", "sarif", "--select", "P301").stdout)
    (result,) = document["runs"][0]["results"]
    assert [place["physicalLocation"]["artifactLocation"]["uri"] for place in result["locations"]] == [above]


def test_junit_has_a_case_for_each_rule(above: str) -> None:
    suite = ElementTree.fromstring(run("check", above, "--format", "junit").stdout)
    assert int(suite.get("tests", 0)) == len(suite.findall("testcase")) == len(RULES)
    failed = [case.get("name") for case in suite.findall("testcase") if case.find("failure") is not None]
    assert failed == ["P301 above-ceiling"]
    assert int(suite.get("failures", 0)) == 1
    assert int(suite.get("skipped", 0)) == len(suite.findall("testcase/skipped")) > 0


def test_junit_stays_xml_with_any_kernel_name(write: Write) -> None:
    path = write(details(*launch(CLEAN | {"T": "5 us"}, kernel="k<&>\x01\ufffe")))
    ElementTree.fromstring(
        run("check", path, "--timing", write("kernel,time_us\nz,1\n", "t.csv"), "--format", "junit").stdout
    )


def test_json_is_that_of_analyze(above: str) -> None:
    assert run("check", above, "--format", "json").stdout == run("analyze", above, "--format", "json").stdout


def test_markdown_lists_findings(above: str) -> None:
    assert "- **error** P301 above-ceiling" in run("check", above, "--format", "markdown").stdout


# --- rules ---


def test_rules_lists_every_rule() -> None:
    lines = run("rules").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in (*RULES, *COMPARISON_RULES)]


@pytest.mark.parametrize("name", ["P301", "p301", "above-ceiling"])
def test_rules_prints_the_documentation_of_one(name: str) -> None:
    text = run("rules", name).stdout
    assert text.startswith("P301 above-ceiling\nSeverity: error.")
    assert "102 %" in text


def test_rule_that_is_none_is_refused() -> None:
    result = run("rules", "P999")
    assert (result.exit_code, "is no rule" in result.stderr) == (2, True)


# --- configuration ---


def with_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "head"), [("ncu-roofline.toml", ""), ("pyproject.toml", "[tool.ncu-roofline]\n")])
def test_options_come_from_a_file(
    above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: str
) -> None:
    with_config(
        tmp_path, monkeypatch, name, f'{head}ignore = ["P301", "R"]\nfail-on = "note"\nconditions = "{CONDITIONS}"\n'
    )
    result = run("check", above)
    assert (result.exit_code, "P301" in result.stdout, "P302" in result.stdout) == (1, False, True)
    assert run("check", above, "--fail-on", "never").exit_code == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no-such = 1", "is no option that can be set here"),
        ('output = "x"', "is no option that can be set here"),
        ("merge = 3", "has to be true or false"),
        ("ignore = 1.5", "has to be a text or a list of texts"),
        ("not toml", "cannot be read"),
    ],
)
def test_configuration_that_is_wrong_is_refused(
    above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str
) -> None:
    with_config(tmp_path, monkeypatch, "ncu-roofline.toml", text)
    result = run("check", above)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr
    assert "ncu-roofline.toml" in result.stderr


def test_file_of_another_project_that_is_broken_is_not_ours(
    above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_config(tmp_path, monkeypatch, "pyproject.toml", "this is [not toml")
    assert run("check", above).exit_code == 1


def test_rule_that_is_none_leaves_standard_output_empty() -> None:
    result = run("rules", "P301", "K999")
    assert (result.exit_code, result.stdout) == (2, "")


def test_baseline_that_cannot_be_written_names_its_option(above: str) -> None:
    result = run("check", above, "--write-baseline", "/nonexistent/b.yaml")
    assert result.exit_code == 2
    assert "--write-baseline" in result.stderr
