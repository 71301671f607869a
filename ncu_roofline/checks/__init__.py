"""Findings: an explicit table of rules, each a pure function over the columns of an analysis."""

from ncu_roofline.checks.rule import DeviceNote, Evidence, Finding, InputFacts, Rule, SkippedRule, View, run
from ncu_roofline.checks.table import NOT_UNDERSTOOD, RULES


def run_rules(view: View) -> tuple[tuple[Finding, ...], tuple[SkippedRule, ...]]:
    """Every rule of the table over a view: findings, and the rules whose inputs are absent."""
    return run(RULES, view)


__all__ = [
    "NOT_UNDERSTOOD",
    "RULES",
    "DeviceNote",
    "Evidence",
    "Finding",
    "InputFacts",
    "Rule",
    "SkippedRule",
    "View",
    "run_rules",
]
