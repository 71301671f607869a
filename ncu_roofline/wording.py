"""How messages count and list things."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str) -> str:
    """A number with its noun: ``1 launch``, ``2 launches``, ``2 entries``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("try"):
        return f"{number} {noun.removesuffix('y')}ies"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


def base_of(path: str) -> str:
    """Name of a file without its folders, of either kind of system."""
    return path.replace("\\", "/").rpartition("/")[2] or path


def some(names: Sequence[str], shown: int) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")
