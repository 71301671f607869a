"""How messages count and list things."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str) -> str:
    """A number with its noun: ``1 launch``, ``2 launches``."""
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{plural if number != 1 else ''}"


def some(names: Sequence[str], shown: int) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")
