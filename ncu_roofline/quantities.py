"""Numbers with the units that users write, brought to base units with one rounding.

Prefixes are decimal (``kB/s`` is ``KB/s``, 1000 byte/s), and binary ones are spelled as binary (``GiB/s``). A spelling
that is not in the table has no meaning here.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, Final

BANDWIDTH: Final = "byte/s"
CLOCK: Final = "Hz"
TIME: Final = "s"
BYTES: Final = "byte"
SHARE: Final = "1"
"""Dimension of shares, which may be written as percentages."""
INTENSITY: Final = "FLOP/byte"

MEGA: Final = 10**6
GIGA: Final = 10**9
MEBI: Final = 2**20
GIBI: Final = 2**30

_DECIMAL: Final = {"": 1, "k": 10**3, "K": 10**3, "M": MEGA, "G": GIGA, "T": 10**12, "P": 10**15}
_BINARY: Final = {"Ki": 2**10, "Mi": MEBI, "Gi": GIBI, "Ti": 2**40}
_UNITS: Final[dict[str, dict[str, int | Decimal]]] = {
    TIME: {"s": 1, "ms": Decimal("1e-3"), "us": Decimal("1e-6"), "µs": Decimal("1e-6"), "ns": Decimal("1e-9")},
    BYTES: {f"{prefix}B": factor for prefix, factor in (_DECIMAL | _BINARY).items()},
    SHARE: {"%": Decimal("0.01")},
    INTENSITY: {"FLOP/byte": 1, "FLOP/B": 1},
    "FLOP": {f"{prefix}FLOP": factor for prefix, factor in _DECIMAL.items()},
    "OP": {f"{prefix}OP": factor for prefix, factor in _DECIMAL.items()},
    BANDWIDTH: {f"{prefix}B/s": factor for prefix, factor in (_DECIMAL | _BINARY).items()},
    "FLOP/s": {f"{prefix}FLOP/s": factor for prefix, factor in _DECIMAL.items()},
    "OP/s": {f"{prefix}OP/s": factor for prefix, factor in _DECIMAL.items()},
    CLOCK: {f"{prefix}Hz": factor for prefix, factor in _DECIMAL.items()},
}
_TEXT: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([A-Za-z%µ].*)?")


def read_quantity(value: Any, dimension: str, *, may_be_zero: bool = False) -> float:
    """A number in the base unit of ``dimension``, from a text with a unit or a plain number in that unit.

    Raises:
        ValueError: with a sentence that says what is wrong with the value.

    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is neither a number nor a text with a unit, such as {_example(dimension)}")
    number, factor = _split(value, dimension) if isinstance(value, str) else (value, 1)
    result = scaled(number, factor)
    if not (math.isfinite(result) and (result > 0 or (may_be_zero and result == 0))):
        raise ValueError(f"{value!r} is not a finite number {'of at least' if may_be_zero else 'above'} zero")
    return result


def scaled(number: str | float, factor: int | Decimal) -> float:
    """A printed or parsed decimal number times a decimal factor, rounded once: 360.04 x 10^9 is 360040000000."""
    if isinstance(number, float) and not math.isfinite(number):
        return number
    return float(Decimal(str(number)) * factor)


def is_plain(value: Any) -> bool:
    """Whether a value is a number without a unit."""
    if isinstance(value, str):
        match = _TEXT.fullmatch(value.strip())
        return match is not None and match[2] is None
    return isinstance(value, int | float)


def _split(text: str, dimension: str) -> tuple[str, int | Decimal]:
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit, such as {_example(dimension)}")
    number, unit = match.groups()
    if unit is None:
        return number, 1
    if unit in _UNITS[dimension]:
        return number, _UNITS[dimension][unit]
    other = next((name for name, units in _UNITS.items() if unit in units), None)
    if other is not None:
        raise ValueError(f"{text!r} is in {other}, and {dimension} is needed here")
    raise ValueError(f"unknown unit {unit!r}; known here are {', '.join(_UNITS[dimension])}")


def _example(dimension: str) -> str:
    examples = {
        BANDWIDTH: "'1.38 TB/s'", CLOCK: "'1.215 GHz'", TIME: "'12.5 us'", BYTES: "'67.1 MB'", SHARE: "'85 %'",
        INTENSITY: "'2.5 FLOP/byte'",
    }  # fmt: skip
    return examples.get(dimension, f"'18.9 T{dimension}'")
