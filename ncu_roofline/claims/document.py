"""The file of claims, read strictly: every problem with file, line and JSON path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ncu_roofline.conditions import read_conditions
from ncu_roofline.errors import UsageError
from ncu_roofline.launch_filter import KEYS, LaunchFilter, launch_filter, problem_of
from ncu_roofline.quantities import BANDWIDTH, BYTES, CLOCK, INTENSITY, SHARE, TIME, is_plain, read_quantity
from ncu_roofline.strict_yaml import YamlFile, read_yaml
from ncu_roofline.vocabulary import NEVER_BINDING_PATHS, PATHS, TIERS, work_unit

ABOUT: Final = "about"
AT_LEAST: Final = "at least"
AT_MOST: Final = "at most"
MEMORY: Final = "memory"
COMPUTE: Final = "compute"
"""What binds, where a claim says no more than which kind of resource."""

_SCHEMA: Final = 1
_CONDITIONS: Final = ("cache", "clock")
_KEYS: Final = ("says", "source", *KEYS, "quantity", "value", "is", "tolerance", "conditions")
_TOLERANCE: Final = 0.05
"""Share by which a number may be off that people quote with two digits."""
_PLAIN: Final[Mapping[str, str | None]] = {
    "time": TIME, "bound.time": TIME, "bound.headroom": TIME, "bound.fraction": SHARE, "bound.by": None,
    "flop.count": "FLOP", "flop.rate": "FLOP/s", "clocks.sm": CLOCK, "clocks.dram": CLOCK,
    "hit_rate.l1": SHARE, "hit_rate.l2": SHARE,
}  # fmt: skip
"""Dimension of quantities by name; None: a name, not a number."""
_UTILIZATION: Final = ("utilization", "utilization_active")


@dataclass(frozen=True)
class Claim:
    """One claim, in base units."""

    says: str
    """Its words, or those made of its numbers."""
    source: str
    meant: LaunchFilter
    quantity: str
    value: float | str
    printed: str
    """The value as written."""
    relation: str
    tolerance: float
    conditions: Mapping[str, str]
    """``cache`` and ``clock`` control under which it is meant, as in ``--conditions``."""
    where: str
    """File and line."""


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Read a file of claims.

    Raises:
        DataFileError: with every problem of the file.

    """
    file = read_yaml(path)
    entries = file.entries("claims", _SCHEMA, of="claim")
    claims = [_claim(file, f"$.claims[{number}]", entry) for number, entry in enumerate(entries)]
    file.refuse_problems()
    return tuple(claim for claim in claims if claim is not None)


def dimension_of(quantity: str) -> str | None:
    """Dimension of the values of a quantity; None for one whose values are names.

    Raises:
        KeyError: if there is no such quantity.

    """
    if quantity in _PLAIN:
        return _PLAIN[quantity]
    prefix, _, rest = quantity.partition(".")
    if prefix in _UTILIZATION and rest:
        return SHARE
    name, _, last = rest.rpartition(".")
    if prefix == "work" and name in PATHS:
        unit = work_unit(name)
        return {"count": unit, "rate": f"{unit}/s", "peak": f"{unit}/s", "share": SHARE}[last]
    if prefix == "traffic" and name in TIERS:
        return {"bytes": BYTES, "rate": BANDWIDTH, "peak": BANDWIDTH, "share": SHARE, "intensity": INTENSITY}[last]
    raise KeyError(quantity)


def _claim(file: YamlFile, where: str, entry: Any) -> Claim | None:
    entry = file.mapping(where, entry)
    file.only(where, entry, _KEYS)
    before = len(file.problems)
    quantity, value = _text(file, where, entry, "quantity", needed=True), entry.get("value")
    read = _value(file, where, quantity, value) if quantity else None
    relation = entry.get("is", ABOUT)
    if "is" in entry and quantity == "bound.by":
        file.report(f"{where}.is", "a name is neither more nor less than another")
    if relation not in (ABOUT, AT_LEAST, AT_MOST):
        file.report(f"{where}.is", f"{relation!r} is none of {ABOUT}, {AT_LEAST}, {AT_MOST}")
    says = _text(file, where, entry, "says")
    claim = Claim(
        says=" ".join(says.split()) or f"{quantity} is {'' if relation == ABOUT else f'{relation} '}{value}",
        source=_text(file, where, entry, "source"),
        meant=_meant(file, where, entry),
        quantity=quantity,
        value=0.0 if read is None else read,
        printed=str(value),
        relation=str(relation),
        tolerance=_tolerance(file, where, entry),
        conditions=_conditions(file, where, entry),
        where=f"{file.name}:{file.lines.get(where, 1)}",
    )
    return claim if len(file.problems) == before else None


def _value(file: YamlFile, where: str, quantity: str, value: Any) -> float | str | None:
    try:
        dimension = dimension_of(quantity)
    except KeyError:
        known = ", ".join(_PLAIN)
        file.report(
            f"{where}.quantity",
            f"{quantity!r} is no quantity; known are {known}, utilization.<counter>, utilization_active.<counter>, "
            "work.<path>.count|rate|peak|share, traffic.<tier>.bytes|rate|peak|share|intensity",
        )
        return None
    if value is None:
        file.report(where, "missing key 'value'")
        return None
    if dimension is not None:
        if dimension != SHARE and is_plain(value):
            file.report(f"{where}.value", f"{value!r} needs its unit, such as {dimension}")
        return _number(file, f"{where}.value", value, dimension)
    if value not in (MEMORY, COMPUTE, *TIERS, *PATHS) or value in NEVER_BINDING_PATHS:
        file.report(f"{where}.value", f"{value!r} is no tier or path that may bind, nor {MEMORY} or {COMPUTE}")
    return str(value)


def _tolerance(file: YamlFile, where: str, entry: Mapping[str, Any]) -> float:
    if "tolerance" not in entry:
        return _TOLERANCE
    value = _number(file, f"{where}.tolerance", entry["tolerance"], SHARE)
    if value >= 1.0:
        file.report(f"{where}.tolerance", f"{entry['tolerance']!r} is {value:.0%}; write 2 % as '2 %' or 0.02")
    return value


def _number(file: YamlFile, where: str, value: Any, dimension: str) -> float:
    try:
        return read_quantity(value, dimension, may_be_zero=True)
    except ValueError as error:
        file.report(where, str(error))
        return 0.0


def _text(file: YamlFile, where: str, entry: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
    value = entry.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or not value.strip():
        file.report(
            where if value is None else f"{where}.{key}",
            f"missing key {key!r}" if value is None else f"{value!r} must be a text that is not empty",
        )
        return ""
    return value.strip()


def _meant(file: YamlFile, where: str, entry: Mapping[str, Any]) -> LaunchFilter:
    given = {key: entry[key] for key in KEYS if entry.get(key) is not None}
    problems = {key: problem for key, value in given.items() if (problem := problem_of(key, value))}
    for key, problem in problems.items():
        file.report(f"{where}.{key}", problem)
    return LaunchFilter() if problems else launch_filter(given)


def _conditions(file: YamlFile, where: str, entry: Mapping[str, Any]) -> Mapping[str, str]:
    text = _text(file, where, entry, "conditions")
    try:
        said = read_conditions(text) if text else {}
    except UsageError as error:
        file.report(f"{where}.conditions", error.problem)
        return {}
    if not said.keys() <= set(_CONDITIONS):
        file.report(f"{where}.conditions", f"conditions of a claim are {' and '.join(_CONDITIONS)}")
    return said
