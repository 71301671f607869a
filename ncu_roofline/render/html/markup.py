"""Pieces of HTML: everything that comes from a report is data and is escaped."""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any, Final

from ncu_roofline.formats import visible

MISSING: Final = "\u2013"
"""Stands where a number is not known."""
NARROW: Final = "\u202f"
"""A blank at which no line breaks."""


def text(said: str) -> str:
    """Text for elements and attributes; what cannot be seen is written out, line breaks are kept."""
    return escape("\n".join(map(visible, said.split("\n"))))


def quoted(said: str) -> str:
    """The same for elements only, in which quotes stay as they are."""
    return escape("\n".join(map(visible, said.split("\n"))), quote=False)


def cell(said: str, value: float, title: str = "") -> str:
    """A number with its unrounded value; a dash where it is not known."""
    if math.isnan(value):
        return f'<td data-value="" title="not known">{MISSING}</td>'
    more = f' title="{text(title)}"' if title else ""
    return f'<td data-value="{plain_repr(value)}"{more}>{text(said).replace(" ", NARROW)}</td>'


def plain_repr(value: float) -> str:
    """All digits of a number; whole ones without a point."""
    return repr(float(value)).removesuffix(".0")


def share_bar(share: float, kind: str) -> str:
    """A share of a whole as a bar of ten blocks, in eighths of a block; a text, so that it needs no style."""
    eighths = round(80 * min(share, 1.0))
    blocks = "\u2588" * (eighths // 8) + (chr(0x2590 - eighths % 8) if eighths % 8 else "")
    return f'<i class="{kind}">{blocks}</i>'


def script_json(document: Any) -> str:
    """JSON inside a script element: nothing in it can end the element or begin another."""
    said = json.dumps(document, allow_nan=False, sort_keys=True, separators=(",", ":"))
    for character in "<>&":
        said = said.replace(character, f"\\u{ord(character):04x}")
    return said


def number(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if math.isnan(value) else value
