"""Rows, code and plain text in GitHub-flavoured Markdown; knows nothing of what they say."""

from __future__ import annotations

from collections.abc import Sequence

from ncu_roofline.formats import visible


def table_row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def code(name: str) -> str:
    """A name as code, whatever is in it."""
    return f"`` {name} ``" if "`" in name else f"`{name}`"


def code_cell(name: str) -> str:
    """A name as code in a cell of a table."""
    return code(name).replace("|", "\\|")


def escaped(text: str) -> str:
    """A text with what Markdown or HTML would take for markup made plain."""
    text = visible(text)
    for mark in ("\\", "|", "<", "*", "_", "`", "["):
        text = text.replace(mark, "&lt;" if mark == "<" else f"\\{mark}")
    return text
