"""Writes ``docs/findings.md`` from the docstrings of the rules: ``python docs/build_findings.py``."""

from __future__ import annotations

import inspect
from pathlib import Path

from ncu_roofline.checks import RULES

_HEAD = """# Findings

A finding says that a number of the table is wrong (`error`), doubtful (`warning`) or that there is something worth
knowing about it (`note`). A rule whose inputs are absent is listed as skipped, never as passed. This page is made from
the rules by `docs/build_findings.py`.
"""


def page() -> str:
    """The page of all rules."""
    parts = [_HEAD]
    for rule in RULES:
        needs = f" Needs: {', '.join(f'`{need}`' for need in rule.needs)}." if rule.needs else ""
        parts.append(
            f"## {rule.code} {rule.name}\n\nSeverity: {rule.severity.label}.{needs}\n\n{inspect.cleandoc(rule.doc)}\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    Path(__file__).with_name("findings.md").write_text(page(), encoding="utf-8")
