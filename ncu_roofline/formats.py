"""Numbers for people: the only place with unit prefixes."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Final

UNKNOWN: Final = "-"

_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories of characters that cannot be seen or are none."""
_PREFIXES: Final = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K"), (1.0, ""))
_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def quantity(value: float | None, unit: str, digits: int = 4) -> str:
    """A number with a decimal prefix and four significant digits: ``1.935 TB/s``."""
    if value is None or math.isnan(value):
        return UNKNOWN
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor:
            return f"{_digits(value / factor, digits)} {prefix}{unit}"
    return f"{_digits(value, digits)} {unit}"


def measure(value: float, dimension: str | None) -> str:
    """A number of a dimension as tables show it: ``1.555 TB/s``, ``22.59 us``, ``85.0%``; without one as it is."""
    if dimension == "s":
        return seconds(value)
    if dimension == "1":
        return percent(value)
    if dimension in (None, "FLOP/byte"):
        return f"{value:.4g}" + (" FLOP/byte" if dimension else "")
    return quantity(value, dimension.replace("byte", "B"))


def seconds(value: float | None, digits: int = 4) -> str:
    """A duration in the unit in which it is at least one: ``22.59 us``."""
    if value is None or math.isnan(value):
        return UNKNOWN
    for factor, unit in _TIMES:
        if abs(value) >= factor:
            return f"{_digits(value / factor, digits)} {unit}"
    return f"{_digits(value / 1e-9, digits)} ns"


def percent(value: float | None, *, at_least: bool = False) -> str:
    """A ratio as a percentage; ``at_least`` marks a lower bound."""
    if value is None or math.isnan(value):
        return UNKNOWN
    text = f"{value:.1%}" if abs(value) < 10 else f"{value:.0%}"
    return f">={text}" if at_least else text


def shape(dimensions: tuple[int, ...] | None) -> str:
    """Grid or block as ``128x1x1``, trailing ones left out."""
    if dimensions is None:
        return UNKNOWN
    kept = list(dimensions)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def visible(text: str) -> str:
    """A text in which control characters and those that turn the direction of writing are written out."""
    return "".join(
        f"\\u{ord(character):04x}" if unicodedata.category(character) in _HIDDEN else character for character in text
    )


def short_kernel(name: str | None, width: int) -> str:
    """A kernel name cut in the middle: its beginning and its end tell template instances apart."""
    if name is None:
        return UNKNOWN
    line = visible(" ".join(name.split()))
    if len(line) <= width:
        return line
    tail = max(width // 3, 1)
    return f"{line[: width - tail - 1]}…{line[-tail:]}"


def number(value: float | None, digits: int = 4) -> str:
    """A number without a unit, with so many significant digits."""
    return UNKNOWN if value is None or math.isnan(value) else _digits(value, digits)


def _digits(value: float, digits: int) -> str:
    """So many significant digits without an exponent."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(decimals, 6)}f}"
