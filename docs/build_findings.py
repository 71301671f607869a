"""Writes ``docs/findings/`` from the docstrings of the rules: ``python docs/build_findings.py``."""

from __future__ import annotations

from pathlib import Path

from ncu_roofline.checks import RULES, Rule
from ncu_roofline.comparison import COMPARISON_RULES

_HEAD = """# Findings

A finding says that a number of the table is wrong (`error`), doubtful (`warning`) or that there is something worth
knowing about it (`note`). A rule whose inputs are absent is listed as skipped, never as passed. These pages are made
from the rules by `docs/build_findings.py`; `ncu-roofline rules CODE` prints them.

The letter is the stage: R reading, C conditions, T times of other producers, M mapping, P physics, X aggregation and
comparison (`ncu-roofline compare` has those from X811 on), K claims, L ledgers.

| code | name | severity | |
|---|---|---|---|
"""


_ALL = (*RULES, *COMPARISON_RULES)


def pages() -> dict[str, str]:
    """Every page by its file name."""
    lines = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.label} | {rule.title} |\n" for rule in _ALL
    ]
    return {"README.md": _HEAD + "".join(lines)} | {f"{rule.code}.md": _page(rule) for rule in _ALL}


def _page(rule: Rule) -> str:
    needs = f" Needs: {', '.join(f'`{need}`' for need in rule.needs)}." if rule.needs else ""
    head = f"# {rule.code} {rule.name}\n\nSeverity: {rule.severity.label}.{needs}"
    return f"{head}\n\n{rule.doc}\n\n[All findings](README.md)\n"


def main() -> None:
    """Write every page, and no others."""
    folder = Path(__file__).with_name("findings")
    folder.mkdir(exist_ok=True)
    written = pages()
    for old in folder.iterdir():
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
