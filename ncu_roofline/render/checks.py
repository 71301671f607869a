"""Findings alone: as text and Markdown for people, as SARIF for code scanning and as JUnit XML for CI."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from ncu_roofline.analysis import Analysis
from ncu_roofline.checks import RULES, Finding, Rule
from ncu_roofline.render.group_table import advice, commands, heading, positions
from ncu_roofline.render.markdown import findings_as_markdown
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import Severity
from ncu_roofline.wording import count

_SARIF: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_IN_ADDRESS: Final = "/!$&'()*+,;=:@"
"""Characters of a path that stand as they are in a URI (RFC 3986), besides letters, digits and ``-._~``."""
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_TITLE_WIDTH: Final = 100
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_text(analysis: Analysis) -> str:
    """Findings with their launches and what to do, then how many there are."""
    lines = heading(analysis)
    for finding in analysis.finding_list:
        launches = f" [launch {positions(finding.launches)}]" if finding.launches else ""
        lines.append(f"{finding.severity.label} {finding.code} {finding.name}{launches}: {finding.message}")
        if text := advice(finding):
            lines.append(f"  {text}")
    for command, codes in commands(analysis.finding_list).items():
        lines += [f"To collect all that is missing ({', '.join(codes)}):", command]
    return "\n".join([*lines, summary(analysis)])


def summary(analysis: Analysis) -> str:
    """How many findings there are of each severity, and how many rules could not be checked."""
    found = [sum(finding.severity == severity for finding in analysis.finding_list) for severity in reversed(Severity)]
    parts = [count(number, severity.label) for number, severity in zip(found, reversed(Severity), strict=True)]
    skipped = analysis.skipped_rules
    text = f"{', '.join(parts)}; {len(RULES) - len(skipped)} of {len(RULES)} rules checked"
    return text + (f", without the inputs of {', '.join(rule.code for rule in skipped)}" if skipped else "") + "."


def to_markdown(analysis: Analysis) -> str:
    """The same for a pull request."""
    lines = ["### Findings", "", *(f"- {line.strip()}" for line in heading(analysis)), ""]
    return "\n".join([*lines, *findings_as_markdown(analysis.finding_list), "", summary(analysis)]) + "\n"


def to_sarif(analysis: Analysis) -> str:
    """Findings in the Static Analysis Results Interchange Format, version 2.1.0."""
    results = [
        (
            finding.code, finding.severity.label, " ".join(filter(None, (finding.message, finding.help))),
            _paths(analysis, finding), {"launches": list(finding.launches)},
        )
        for finding in analysis.finding_list
    ]  # fmt: skip
    return sarif(RULES, results)


def sarif(rules: Sequence[Rule], results: Sequence[tuple[str, str, str, Sequence[str], Mapping[str, Any]]]) -> str:
    """Results as SARIF: code, level, message, files that it is about, and properties of each."""
    used = [rule for rule in rules if any(code == rule.code for code, *_ in results)]
    codes = [rule.code for rule in used]
    run = {
        "tool": {
            "driver": {
                "name": "ncu-roofline",
                "version": VERSION,
                "rules": [_descriptor(rule) for rule in used],
            }
        },
        "results": [
            {
                "ruleId": code,
                **({"ruleIndex": codes.index(code)} if code in codes else {}),
                "level": level,
                "message": {"text": message},
                "locations": [_location(path) for path in paths],
                **({"properties": dict(properties)} if properties else {}),
            }
            for code, level, message, paths, properties in results
        ],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _descriptor(rule: Rule) -> dict[str, Any]:
    rest = rule.doc.partition("\n\n")[2]
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": " ".join(rest.split()) or rule.title},
        "defaultConfiguration": {"level": rule.severity.label},
    }


def _location(path: str) -> dict[str, Any]:
    address = quote(path.replace("\\", "/"), safe=_IN_ADDRESS)
    # A drive is no scheme.
    drive = "file:///" if _DRIVE.match(path) else ""
    return {"physicalLocation": {"artifactLocation": {"uri": drive + address}}}


def _paths(analysis: Analysis, finding: Finding) -> list[str]:
    """The inputs whose launches a finding names, else those that its message names, else all."""
    if finding.launches:
        launches = set(finding.launches)
        numbers = {
            number
            for launch, number in zip(
                analysis.columns["launch"].tolist(), analysis.columns["input"].tolist(), strict=True
            )
            if launch in launches
        }
        return [analysis.inputs[number].path for number in sorted(numbers)]
    named = [item.path for item in analysis.inputs if item.path in finding.message]
    return named or [item.path for item in analysis.inputs]


def to_junit(analysis: Analysis) -> str:
    """A test case per rule: failed where it found an error or a warning, skipped where its inputs are absent."""
    skipped = {rule.code: rule.needs for rule in analysis.skipped_rules}
    suite = ElementTree.Element("testsuite", name="ncu-roofline check")
    failures = 0
    for rule in RULES:
        case = ElementTree.SubElement(suite, "testcase", classname="ncu-roofline", name=f"{rule.code} {rule.name}")
        found = [finding for finding in analysis.finding_list if finding.code == rule.code]
        doubts = [finding for finding in found if finding.severity > Severity.NOTE]
        notes = [finding for finding in found if finding.severity == Severity.NOTE]
        if doubts:
            failures += 1
            failure = ElementTree.SubElement(case, "failure", type=doubts[0].severity.label, message=_title(doubts))
            failure.text = "\n".join(f"{finding.message} {finding.help}".strip() for finding in doubts)
        elif rule.code in skipped:
            ElementTree.SubElement(case, "skipped", message=f"not known: {', '.join(skipped[rule.code])}")
        if notes:
            ElementTree.SubElement(case, "system-out").text = "\n".join(finding.message for finding in notes)
    suite.set("tests", str(len(RULES)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(len(skipped)))
    return xml_text(suite)


def xml_text(root: ElementTree.Element) -> str:
    """An XML document; what is no character of XML may stand in a name that was printed by somebody else."""
    ElementTree.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + _NO_XML.sub("?", ElementTree.tostring(root, encoding="unicode"))
        + "\n"
    )


def _title(findings: Sequence[Finding]) -> str:
    return findings[0].message[:_TITLE_WIDTH]
