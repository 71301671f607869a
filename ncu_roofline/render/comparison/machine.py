"""A comparison for machines: JSON (schema ``ncu-roofline/comparison/1``), JUnit and SARIF."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final
from xml.etree import ElementTree

from ncu_roofline.comparison import (
    COMPARISON_RULES,
    Alone,
    Compared,
    Comparison,
    FindingGate,
    GateResult,
    Key,
    Outcome,
    Side,
)
from ncu_roofline.render.checks import sarif, xml_text
from ncu_roofline.render.comparison import words
from ncu_roofline.render.html.markup import number
from ncu_roofline.version import VERSION

SCHEMA: Final = "ncu-roofline/comparison/1"


def to_json(comparison: Comparison, gates: Sequence[GateResult] = ()) -> str:
    """Everything, SI base units, null for what is not known; factors multiply to the ratio of the times."""
    document = {
        "schema": SCHEMA,
        "tool": {"name": "ncu-roofline", "version": VERSION},
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "verdict": comparison.verdict.value,
        "whole": _compared(comparison.whole),
        "pairs": [_compared(one) | _keys(one) for one in comparison.pairs],
        "gone": [_alone(one) for one in comparison.gone],
        "new": [_alone(one) for one in comparison.new],
        "findings": [
            {
                "code": one.code,
                "name": one.name,
                "severity": one.severity.label,
                "message": one.message,
                "help": one.help,
            }
            for one in comparison.finding_list
        ],
        "gates": [{"gate": one.gate.text, "outcome": one.outcome.value, "message": one.message} for one in gates],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _side(side: Side) -> dict[str, Any]:
    return {
        "sources": [
            {"name": one.name, "sha256": one.sha256, "conditions": dict(one.conditions)} for one in side.sources
        ],
        "devices": [{"name": device.name, "cc": device.cc} for device in side.devices],
    }


def _compared(one: Compared) -> dict[str, Any]:
    factors = None if one.factors is None else {
        name: number(value) if name != "has_bound" else value for name, value in asdict(one.factors).items()
    }  # fmt: skip
    return {
        "name": one.name,
        "verdict": one.verdict.value,
        "time": {
            "before": _spread(one.before), "after": _spread(one.after), "ratio": number(one.ratio),
            "significant": number(one.noise.significant), "detectable": number(one.noise.detectable),
        },
        "factors": factors,
        "bound": {"before": one.bound[0], "after": one.bound[1], "complete": one.complete},
        "amounts": {name: {"before": number(a), "after": number(b)} for name, (a, b) in one.amounts.items()},
    }  # fmt: skip


def _keys(one: Compared) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "kernels": {"before": [*map(_key, one.before_keys)], "after": [*map(_key, one.after_keys)]},
    }


def _key(key: Key) -> dict[str, Any]:
    return {
        "kernel": key.kernel, "grid": key.grid, "block": key.block, "range": key.range, "device": key.device,
        "occurrence": key.occurrence,
    }  # fmt: skip


def _alone(one: Alone) -> dict[str, Any]:
    return _key(one.key) | {"time": number(one.time)}


def _spread(spread: Any) -> dict[str, Any]:
    return {name: number(value) for name, value in asdict(spread).items()}


def to_junit(comparison: Comparison, gates: Sequence[GateResult]) -> str:
    """A test case per gate: failed, or an error where there is no evidence."""
    suite = ElementTree.Element("testsuite", name="ncu-roofline compare", tests=str(len(gates)))
    for outcome, name in ((Outcome.FAILED, "failures"), (Outcome.NO_EVIDENCE, "errors")):
        suite.set(name, str(sum(one.outcome is outcome for one in gates)))
    for one in gates:
        case = ElementTree.SubElement(suite, "testcase", classname="ncu-roofline", name=one.gate.text)
        kinds = {Outcome.FAILED: "failure", Outcome.NO_EVIDENCE: "error"}
        if one.outcome in kinds:
            ElementTree.SubElement(case, kinds[one.outcome], message=one.message, type=one.outcome.value)
        else:
            ElementTree.SubElement(case, "system-out").text = one.message
    ElementTree.SubElement(suite, "system-out").text = words.verdict(comparison.whole)
    return xml_text(suite)


def to_sarif(comparison: Comparison, gates: Sequence[GateResult]) -> str:
    """Findings and failed gates for code scanning, at the reports after the change."""
    places = [source.name for source in comparison.after.sources]
    results: list[tuple[str, str, str, list[str], dict[str, str]]] = [
        (one.code, one.severity.label, " ".join(filter(None, (one.message, one.help))), places, {})
        for one in comparison.finding_list
    ]
    failed = [one for one in gates if one.outcome is not Outcome.PASSED and not isinstance(one.gate, FindingGate)]
    results += [("gate", "error", f"{one.gate.text}: {one.outcome.value}: {one.message}", places, {}) for one in failed]
    return sarif(COMPARISON_RULES, results)
