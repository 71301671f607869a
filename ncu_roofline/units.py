"""The exact table of units that ncu prints: spelling -> dimension and factor to the SI base unit.

Old and new spellings are both in it (``nsecond`` and ``ns``, ``byte/second`` and ``byte/s``,
``cycle/nsecond`` and ``hz``). Prefixes are decimal: ``Kbyte`` is 1000 byte (Nsight Compute CLI manual,
"Units"; confirmed by a B200 report printed both ways). Binary sizes are accepted only when they are
spelled as binary (``MiB``). A spelling that is not in the table has no meaning here and is never guessed.

This module knows no counters and does no formatting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Unit:
    """Dimension of a printed unit, and how a value is brought to the base unit: times, then divided by.

    Both numbers are whole, so that a conversion rounds once: 10 us are exactly the float 1e-05. ``noun`` is what is
    counted, as it was printed without its prefix (``sector``); empty where the unit names nothing.
    """

    dimension: str
    times: float
    divided_by: float = 1.0
    noun: str = ""

    @property
    def factor(self) -> float:
        """Both steps as one number."""
        return self.times / self.divided_by


TIME: Final = "s"
RATIO: Final = "1"
"""Dimension of percentages; dimensionless counts have the dimension ``count``."""
COUNT: Final = "count"
BYTE: Final = "byte"

_PREFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_PER_SECOND: Final = {
    "second": 1.0,
    "s": 1.0,
    "msecond": 1e3,
    "ms": 1e3,
    "usecond": 1e6,
    "us": 1e6,
    "nsecond": 1e9,
    "ns": 1e9,
}
"""How many of a unit of time a second has."""
_LONG_TIMES: Final = {"minute": 60.0, "min": 60.0, "hour": 3600.0, "h": 3600.0}
_BINARY: Final = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
# Countable things that ncu names as the unit of a count; all of them are plain numbers of events.
_COUNTED: Final = (
    "inst", "cycle", "sector", "request", "warp", "thread", "block", "cluster", "register", "SM", "TPC",
    "pass", "branches", "op", "wavefront", "tag", "instruction", "byte", "bank", "item", "packet", "port",
)  # fmt: skip
_PER: Final = ("cycle", "block", "thread", "warp", "inst", "request", "register", "sector", "SM", "cluster")


def _table() -> dict[str, Unit]:
    table = {"": Unit(COUNT, 1.0), "%": Unit(RATIO, 1.0, 100.0)}
    table |= {name: Unit(TIME, 1.0, number) for name, number in _PER_SECOND.items()}
    table |= {name: Unit(TIME, seconds) for name, seconds in _LONG_TIMES.items()}
    for prefix, scale in _PREFIXES.items():
        for hertz in ("hz", "Hz"):
            table[prefix + hertz] = Unit("count/s", scale, noun="cycle")
        for thing in _COUNTED:
            dimension = BYTE if thing == "byte" else COUNT
            table[prefix + thing] = Unit(dimension, scale, noun=thing)
            for name, number in _PER_SECOND.items():
                table[f"{prefix}{thing}/{name}"] = Unit(f"{dimension}/s", scale * number, noun=thing)
            for per in _PER:
                table[f"{prefix}{thing}/{per}"] = Unit(f"{dimension}/{per}", scale, noun=thing)
    # Counters without a unit of their own, such as sm__ops_path_*, have rates per time and per cycle.
    for nothing in ("", "1"):
        table |= {f"{nothing}/{name}": Unit("count/s", number) for name, number in _PER_SECOND.items()}
        table |= {f"{nothing}/{per}": Unit(f"{COUNT}/{per}", 1.0) for per in _PER}
    table |= {name: Unit(BYTE, factor, noun=BYTE) for name, factor in _BINARY.items()}
    table |= {f"{name}/s": Unit("byte/s", factor, noun=BYTE) for name, factor in _BINARY.items()}
    return table | {f"%/{per}": Unit(f"1/{per}", 1.0, 100.0) for per in (*_PER, "Kbyte")}


UNITS: Final = _table()


def find_unit(text: str) -> Unit | None:
    """The unit with exactly this spelling, or None when the table does not have it."""
    return UNITS.get(text)
