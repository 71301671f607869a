"""Which findings are shown: codes that were selected, and not those that somebody accepted with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.checks import RULES, Finding
from ncu_roofline.errors import UsageError
from ncu_roofline.strict_yaml import YamlFile, read_yaml

SCHEMA = 1
_CLAIM = re.compile(r'"[^"]+"')
_CODE = re.compile(r"[A-Z][0-9]*")


@dataclass(frozen=True)
class Accepted:
    """Findings of one code that are accepted, for some kernels or all, with the reason."""

    code: str
    reason: str
    kernel: re.Pattern[str] | None
    """Accepted only for launches whose kernel name contains a match; None: for all."""
    contains: str = ""
    """Accepted only where the message has this text in it."""


def read_baseline(path: Path) -> tuple[Accepted, ...]:
    """Read a file of accepted findings.

    Raises:
        DataFileError: with every problem of the file.

    """
    file = read_yaml(path)
    entries = file.entries("accepted", SCHEMA)
    accepted = [_accepted(file, f"$.accepted[{number}]", entry) for number, entry in enumerate(entries)]
    file.refuse_problems()
    return tuple(accepted)


def _accepted(file: YamlFile, where: str, entry: Any) -> Accepted:
    entry = file.mapping(where, entry)
    file.only(where, entry, {"code", "kernel", "contains", "reason"})
    code, reason = entry.get("code"), entry.get("reason")
    if not isinstance(code, str) or code not in {rule.code for rule in RULES}:
        file.report(f"{where}.code", f"{code!r} is no code of a rule; ncu-roofline rules lists them")
    if not isinstance(reason, str) or not reason.strip():
        file.report(f"{where}.reason", "an accepted finding needs a reason")
    pattern = None
    if entry.get("kernel") is not None:
        try:
            pattern = re.compile(str(entry["kernel"]))
        except re.error as error:
            file.report(f"{where}.kernel", f"is not a regular expression: {error}")
    contains = entry.get("contains", "")
    if not isinstance(contains, str):
        file.report(f"{where}.contains", f"{contains!r} must be a text")
    return Accepted(str(code), str(reason), pattern, str(contains))


def baseline_of(analysis: Analysis) -> str:
    """A file that accepts the findings of an analysis, once the reasons are filled in."""
    lines = [f"schema: {SCHEMA}", "# Say why each of them is accepted; a file without reasons is refused.", "accepted:"]
    for code, contains in dict.fromkeys((finding.code, _quoted(finding)) for finding in analysis.finding_list):
        name = next(rule.name for rule in RULES if rule.code == code)
        # JSON is YAML, whatever is in the text.
        which = f"contains: {json.dumps(contains, ensure_ascii=False)}, " if contains else ""
        lines.append(f"  - {{code: {code}, {which}reason: ''}}  # {name}")
    return "\n".join(lines if len(lines) > 3 else [*lines[:2], "accepted: []"]) + "\n"


def with_findings(
    analysis: Analysis, *, select: Sequence[str], ignore: Sequence[str], accepted: Iterable[Accepted]
) -> Analysis:
    """The analysis with the findings that are selected, not ignored, and not accepted.

    Args:
        analysis: the analysis.
        select: codes or their beginnings, such as ``C`` or ``P30``; empty selects all.
        ignore: the same, left out.
        accepted: entries of a baseline.

    Raises:
        UsageError: if a code is not known.

    """
    for option, codes in (("--select", select), ("--ignore", ignore)):
        for code in codes:
            if not (_CODE.fullmatch(code) and any(rule.code.startswith(code) for rule in RULES)):
                raise UsageError(option, code, "is no code of a rule, nor the beginning of one; see ncu-roofline rules")
    shown = [
        finding
        for finding in analysis.finding_list
        if (not select or finding.code.startswith(tuple(select))) and not finding.code.startswith(tuple(ignore) or "-")
    ]
    for entry in accepted:
        shown = [kept for finding in shown if (kept := _unless_accepted(finding, entry, analysis)) is not None]
    return replace(analysis, finding_list=tuple(shown))


def _unless_accepted(finding: Finding, entry: Accepted, analysis: Analysis) -> Finding | None:
    if finding.code != entry.code or entry.contains not in finding.message:
        return finding
    if entry.kernel is None:
        return None
    places = np.searchsorted(analysis.columns["launch"], finding.launches)
    names = analysis.columns["kernel"][places]
    left = tuple(
        launch for launch, name in zip(finding.launches, names, strict=True) if not entry.kernel.search(name or "")
    )
    return replace(finding, launches=left) if left or not finding.launches else None


def _quoted(finding: Finding) -> str:
    """Of a claim its words: accepting one accepts no other."""
    found = _CLAIM.search(finding.message) if finding.code.startswith("K") else None
    return found[0] if found else ""
