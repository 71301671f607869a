"""What a metric is a number of, told by its name, and how a printed unit brings it to the base unit.

A unit is used only where it fits the metric: bytes that were printed as instructions, or a rate without "per second",
are not converted, since no factor is known. This is the one place that decides it. Knows names and units, no files.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ncu_roofline.units import BYTE, COUNT, RATIO, TIME, UNITS, Unit, find_unit

_SECTOR: Final = "sector"
_SECTOR_BYTES: Final = 32
"""Bytes of a sector of L1, L2 and DRAM traffic (CUDA C++ Programming Guide, "Device Memory Accesses")."""

_NOUNS: Final = (
    (re.compile("__time_"), TIME),
    (re.compile("(?:_|^)bytes(?:_|$)"), BYTE),
    (re.compile("(?:_|^)sectors(?:_|$)"), _SECTOR),
    (re.compile("(?:_|^)cycles(?:_|$)"), "cycle"),
    (re.compile("(?:_|^)inst(?:_|$)"), "inst"),
)
"""What a base counter counts, by the first of these patterns in its name; others count events without a unit."""

_SAME_AS: Final = {"inst": ("inst", "instruction", "thread", "warp", "op")}
"""Nouns that ncu prints for one and the same: a thread instruction is printed as ``inst`` or as ``thread``."""

_PER: Final = (
    (".per_second", "/s"),
    (".per_cycle_", "/cycle"),
    (".peak_sustained", "/cycle"),
)

_UNIT_OF_THE_COUNT: Final = re.compile("(derived|nvl[rt]x)__")
"""Metrics whose rates ncu prints with the unit of the count, as in ``Gbyte`` for bytes per second."""

_PER_CYCLE: Final = f"{COUNT}/cycle"

_BASE: Final = {TIME: UNITS["ns"], RATIO: UNITS["%"]}
"""Base units of ncu that are not the SI ones; every other one has the factor 1."""


def dimension_of(metric: str) -> str | None:
    """Dimension of a metric by its name, such as ``byte/s``; None where it is a count of anything but bytes."""
    base, _, rollup = metric.partition(".")
    if "pct" in rollup:
        return RATIO
    noun = _noun_of(base)
    per = next((per for part, per in _PER if part in f".{rollup}"), "")
    if noun is None:
        return COUNT + per if per else None
    return (noun if noun in (TIME, BYTE) else COUNT) + per


def is_scaled(unit: Unit | None) -> bool:
    """Whether ncu chooses a prefix for such a unit, so that a number without it is of unknown size."""
    return unit is not None and _is_scaled(unit.dimension)


def unit_of(metric: str, printed: str, asked: str | None, text: str, *, are_base: bool) -> tuple[Unit | None, str]:
    """The unit of a printed value, or None and why it cannot be understood.

    Args:
        metric: what the value is, with rollup.
        printed: the name under which it was printed.
        asked: the dimension that the label file gives for it, where it does.
        text: the unit as printed.
        are_base: whether the file states no unit at all that has a prefix: then its numbers are in base units.

    """
    dimension = asked or dimension_of(metric)
    if text == "":
        if are_base or not _is_scaled(dimension):
            return _BASE.get(dimension or COUNT, Unit(dimension or COUNT, 1.0)), ""
        return None, f"has no unit, and {_called(metric, dimension)} may have any prefix"
    unit = find_unit(text)
    if unit is None:
        return None, f"has the unit {text!r}, which is unknown"
    noun = _noun_of(metric.partition(".")[0])
    if noun == BYTE and unit.noun == _SECTOR:
        unit = replace(unit, dimension=unit.dimension.replace(COUNT, BYTE), times=unit.times * _SECTOR_BYTES, noun=BYTE)
    if _fits(dimension, unit, printed) and _names(noun, dimension, unit):
        return unit, ""
    return None, f"has the unit {text!r}, but it is {_called(metric, dimension)}"


def _is_scaled(dimension: str | None) -> bool:
    return dimension is not None and (dimension.startswith(BYTE) or dimension == TIME or dimension.endswith("/s"))


@lru_cache(maxsize=1 << 14)
def _noun_of(base: str) -> str | None:
    return next((noun for pattern, noun in _NOUNS if pattern.search(base)), None)


def _fits(dimension: str | None, unit: Unit, printed: str) -> bool:
    """Whether a unit is of a dimension."""
    if dimension is None:
        return unit.dimension.partition("/")[0] == COUNT and not unit.dimension.endswith("/s")
    if _UNIT_OF_THE_COUNT.match(printed):
        return unit.dimension in (dimension, dimension.partition("/")[0])
    # NVIDIA's tables leave one half of "inst/cycle" out for some counters; neither half has a prefix.
    return unit.dimension == dimension or (dimension == _PER_CYCLE and unit == UNITS.get(unit.noun))


def _names(noun: str | None, dimension: str | None, unit: Unit) -> bool:
    """Whether a unit names what the metric counts; one that names nothing does."""
    if dimension == _PER_CYCLE and unit.noun == "cycle":
        return True
    if noun is None or unit.noun == "" or dimension == RATIO:
        return unit.noun != BYTE or dimension is None or dimension.startswith(BYTE)
    return unit.noun in _SAME_AS.get(noun, (noun,))


def _called(metric: str, dimension: str | None) -> str:
    """What a metric is, in words."""
    if dimension in (TIME, RATIO):
        return "a duration" if dimension == TIME else "a percentage"
    noun = _noun_of(metric.partition(".")[0])
    names = {BYTE: "bytes", _SECTOR: "sectors", "cycle": "cycles", "inst": "instructions"}
    counted = f"a number of {names.get(noun or '', 'events')}"
    per = (dimension or "").partition("/")[2]
    return f"{counted} per {'second' if per == 's' else per}" if per else counted
