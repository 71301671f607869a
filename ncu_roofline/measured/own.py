"""The tool's own YAML file of ceilings, read strictly: values with units, or another tool's file with a mapping.

All problems of a file are collected with file, line and JSON path.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ncu_roofline.errors import DataFileError, InputError
from ncu_roofline.measured.model import OWN_TOOL, MeasuredCeiling, MeasuredCeilings, ToolResult, same_device
from ncu_roofline.measured.text import read_text
from ncu_roofline.measured.tools import describe, from_tool, read_tool, with_mapping
from ncu_roofline.quantities import BANDWIDTH, CLOCK, GIGA, is_plain, read_quantity
from ncu_roofline.strict_yaml import YamlFile, read_yaml
from ncu_roofline.vocabulary import FLOP_PATHS, PATHS, TIERS, work_unit

_KEYS: Final = ("schema", "title", "device", "sources", "ceilings", "from", "levels", "peaks")
_ENTRY_KEYS: Final = ("value", "clock", "note")
_MAPPINGS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "levels": ("memory tier", TIERS),
    "peaks": ("floating-point path", FLOP_PATHS),
}
_OWN: Final = re.compile(r"""^\{?\s*["']?(?:schema|ceilings)["']?\s*:""", re.MULTILINE)


def is_own(text: str) -> bool:
    """Whether a text is meant to be the tool's own file: it has one of its keys at the outermost level."""
    return _OWN.search(text) is not None


def read_own(path: Path) -> MeasuredCeilings:
    """Read one file of either own form.

    Raises:
        DataFileError: with all problems of the file at once.

    """
    file = read_yaml(path)
    top = {} if file.data is None else file.mapping("$", file.data)
    if top:
        _check_top(file, top)
    read = _read_wrapped(file, path, top) if "from" in top else _read_values(file, path, top)
    if file.problems or read is None:
        raise DataFileError(sorted(file.problems, key=lambda problem: problem.line))
    return replace(read, title=top.get("title"), sources=tuple(top["sources"]))


def _check_top(file: YamlFile, top: Mapping[str, Any]) -> None:
    file.only("$", top, _KEYS)
    schema = top.get("schema")
    if "schema" not in top:
        file.report("$", "missing key 'schema'")
    elif isinstance(schema, bool) or schema != 1:
        file.report("$.schema", f"schema {schema!r} is not known; this version reads schema 1")
    _check_sources(file, top)
    for key in ("title", "device", "from"):
        if key in top:
            _text(file, f"$.{key}", top[key])
    if ("ceilings" in top) == ("from" in top):
        file.report("$", "needs either ceilings or from (a file of another tool), and not both")
    if "from" not in top:
        for key in _MAPPINGS:
            if top.get(key):
                file.report(f"$.{key}", "names of another tool's file need that file: from")


def _check_sources(file: YamlFile, top: Mapping[str, Any]) -> None:
    sources = top.get("sources")
    if "sources" not in top:
        file.report("$", "missing key 'sources'")
    elif not isinstance(sources, list) or not sources:
        file.report("$.sources", "must be a list of at least one text")
    else:
        for position, source in enumerate(sources):
            _text(file, f"$.sources[{position}]", source)


# Values in the file itself.


def _read_values(file: YamlFile, path: Path, top: Mapping[str, Any]) -> MeasuredCeilings | None:
    if "ceilings" not in top:
        return None
    entries = file.mapping("$.ceilings", top["ceilings"])
    if not entries:
        file.report("$.ceilings", "needs at least one tier or instruction path")
    ceilings: dict[str, MeasuredCeiling] = {}
    notes: list[str] = []
    for name, entry in entries.items():
        ceiling = _ceiling(file, name, entry)
        if ceiling is not None:
            ceilings[name] = ceiling
            notes += _forgotten_unit(name, entry["value"], ceiling)
    return MeasuredCeilings(str(path), OWN_TOOL, ceilings, tuple(notes), device=top.get("device"))


def _ceiling(file: YamlFile, name: str, entry: Any) -> MeasuredCeiling | None:
    where = f"$.ceilings.{name}"
    if name not in TIERS and name not in PATHS:
        file.report(where, f"unknown tier or path; known are {', '.join(TIERS + PATHS)}")
    if not isinstance(entry, dict):
        file.report(where, "must be a mapping such as {value: 1.38 TB/s}")
        return None
    file.only(where, entry, _ENTRY_KEYS)
    value = None
    if "value" not in entry:
        file.report(where, "missing key 'value'")
    elif name in TIERS or name in PATHS:
        value = _quantity(file, f"{where}.value", entry["value"], _dimension(name))
    clock = _quantity(file, f"{where}.clock", entry["clock"], CLOCK) if "clock" in entry else None
    note = _text(file, f"{where}.note", entry["note"]) if "note" in entry else ""
    if value is None:
        return None
    words = f"{OWN_TOOL}, {file.name}:{file.lines.get(where, 1)}: {name}"
    return MeasuredCeiling(value, clock, f"{words}, {note}" if note else words)


def _dimension(name: str) -> str:
    return BANDWIDTH if name in TIERS else f"{work_unit(name)}/s"


def _quantity(file: YamlFile, where: str, value: Any, dimension: str) -> float | None:
    try:
        return read_quantity(value, dimension)
    except ValueError as error:
        file.report(where, str(error))
        return None


def _forgotten_unit(name: str, value: Any, ceiling: MeasuredCeiling) -> list[str]:
    if is_plain(value) and ceiling.value < GIGA:
        return [f"{name}: {value} is read as {_dimension(name)}; a number without a unit is in base units"]
    return []


# Another tool's file.


def _read_wrapped(file: YamlFile, path: Path, top: Mapping[str, Any]) -> MeasuredCeilings | None:
    result = _wrapped_result(file, path, top["from"]) if isinstance(top["from"], str) and top["from"] else None
    mapping: dict[str, str] = {}
    for key in _MAPPINGS:
        mapping |= _names(file, key, top.get(key, {}), result, mapping.values())
    if result is None or file.problems:
        return None
    try:
        read = with_mapping(result, mapping) if mapping else from_tool(result)
    except InputError as error:
        file.report("$.from", f"{error.problem}; needs levels or peaks")
        return None
    return _with_device(replace(read, file=str(path)), top.get("device"))


def _wrapped_result(file: YamlFile, path: Path, name: str) -> ToolResult | None:
    other = path.parent / name
    try:
        text = read_text(other)
        if is_own(text):
            raise InputError(str(other), f"is a file of {OWN_TOOL} itself; from is for files of other tools")
        return read_tool(other, text)
    except InputError as error:
        file.report("$.from", " ".join(str(error).split("\n")))
        return None


def _names(file: YamlFile, key: str, entry: Any, result: ToolResult | None, used: Collection[str]) -> dict[str, str]:
    """The checked part of a mapping from names of another tool to tiers or paths."""
    what, known = _MAPPINGS[key]
    mapping: dict[str, str] = {}
    for name, target in file.mapping(f"$.{key}", entry).items():
        where = f"$.{key}.{name}"
        if target not in known:
            file.report(where, f"unknown {what} {target!r}; known are {', '.join(known)}")
        elif target in mapping.values() or target in used:
            file.report(where, f"{target} is given twice")
        else:
            mapping[name] = target
        if result is not None:
            _check_name(file, where, name, key, result)
    return mapping


def _check_name(file: YamlFile, where: str, name: str, key: str, result: ToolResult) -> None:
    names = [entry.name for entry in (result.levels if key == "levels" else result.peaks)]
    if name in result.left_out and name not in names:
        file.report(where, f"{name} cannot be used: {result.left_out[name]}")
    elif name not in names:
        file.report(where, f"{result.file} has no such name among its {key}; it has {describe(result)}")
    elif names.count(name) > 1:
        file.report(where, f"{result.file} has this name {names.count(name)} times")


def _with_device(read: MeasuredCeilings, device: str | None) -> MeasuredCeilings:
    if device is None:
        return read
    if read.device is None or same_device(read.device, device):
        return replace(read, device=device)
    note = f"device {device!r} is what the file of ceilings says; {read.tool} printed {read.device!r}"
    return replace(read, device=device, notes=(*read.notes, note))


# Types.


def _text(file: YamlFile, where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        file.report(where, f"{value!r} must be a text that is not empty")
        return ""
    return value
