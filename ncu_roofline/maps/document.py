"""Strict reading of one map file into a ``Document``: every key, name, type and weight is checked.

All problems of a file are collected with file, line and JSON path; inheritance is not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ncu_roofline.maps.model import Alternative, Measure, Part, PathMap, TensorActivity, Weights
from ncu_roofline.strict_yaml import YamlFile, read_yaml
from ncu_roofline.vocabulary import PATHS, TIERS, is_compute_capability

_KEYS = {
    "schema", "id", "title", "compute_capabilities", "extends", "time", "cycles", "clocks", "hit_rates", "utilization",
    "attributes", "tensor_activity", "opcodes", "checks", "paths", "tiers", "unmeasured", "absent", "only_seen_in",
    "sources",
}  # fmt: skip
_ATTRIBUTES = {
    "name", "memory_clock", "memory_bus_width", "sm_count", "sm_clock", "device_index", "cc_major", "cc_minor",
    "green_context", "grid_size", "registers", "spills", "occupancy", "waves",
}  # fmt: skip
_REQUIRED = ("schema", "id", "title", "compute_capabilities", "sources")
_METRIC = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*__[a-z0-9_]+(?:\.[a-z0-9_]+)*")
_COUNTER = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*__[a-z0-9_]+|opcode:[A-Z][A-Z0-9_.]*[A-Z0-9]")
_OPCODES = {"tensor", "half", "constant_loads"}
_CHECKS = {
    "dram.read", "dram.written", "l2.read", "l2.written", "l2.sysmem", "l2.peer", "instructions.warp",
    "instructions.thread", "transcendental.warp", "transcendental.scalar",
}  # fmt: skip
OWN_PEAK = "own"
"""Written for the peak of a part with one counter: that counter and its weight."""
_MEASURE = re.compile(r"[a-z][a-z0-9_]*")
_HEAVIEST = 1_000_000


@dataclass
class Document:
    """One map file as written: what it says itself, before inheritance."""

    file: YamlFile
    id: str = ""
    title: str = ""
    extends: str | None = None
    compute_capabilities: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    cycles: tuple[str, ...] = ()
    clocks: Mapping[str, str] = field(default_factory=dict)
    hit_rates: Mapping[str, str] = field(default_factory=dict)
    utilization: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    tensor_activity: TensorActivity | None = None
    opcodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks: Mapping[str, tuple[Weights, ...]] = field(default_factory=dict)
    paths: Mapping[str, PathMap | None] = field(default_factory=dict)
    tiers: Mapping[str, tuple[Measure, ...] | None] = field(default_factory=dict)
    unmeasured: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    only_seen_in: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


def read_document(path: Path) -> Document:
    """Read and check one map file; look at ``document.file.problems`` before using the result."""
    file = read_yaml(path)
    document = Document(file)
    if file.problems:
        return document
    top = file.mapping("$", file.data)
    file.only("$", top, _KEYS)
    for key in _REQUIRED:
        if key not in top:
            file.report("$", f"missing key {key!r}")
    if top.get("schema", 1) != 1:
        file.report("$.schema", f"schema {top['schema']!r} is not known; this version reads schema 1")
    document.id = _text(file, "$.id", top.get("id", ""))
    document.title = _text(file, "$.title", top.get("title", ""))
    document.extends = _text(file, "$.extends", top["extends"]) if top.get("extends") is not None else None
    document.compute_capabilities = _compute_capabilities(file, top.get("compute_capabilities", []))
    document.time = _texts(file, "$.time", top.get("time", []))
    for position, metric in enumerate(document.time):
        if not metric.startswith("gpu__time"):
            file.report(f"$.time[{position}]", f"{metric!r} is no duration; those begin with gpu__time")
    document.cycles = _counters(file, "$.cycles", top.get("cycles", []))
    document.clocks = {
        name: _counter(file, f"$.clocks.{name}", counter)
        for name, counter in file.mapping("$.clocks", top.get("clocks", {})).items()
    }
    hit_rates = file.mapping("$.hit_rates", top.get("hit_rates", {}))
    file.only("$.hit_rates", hit_rates, set(TIERS))
    document.hit_rates = {tier: _counter(file, f"$.hit_rates.{tier}", name) for tier, name in hit_rates.items()}
    document.utilization = _counters(file, "$.utilization", top.get("utilization", []))
    document.attributes = _attributes(file, top.get("attributes", {}))
    document.tensor_activity = _tensor_activity(file, top.get("tensor_activity"))
    opcodes = file.mapping("$.opcodes", top.get("opcodes", {}))
    file.only("$.opcodes", opcodes, _OPCODES)
    document.opcodes = {kind: _counters(file, f"$.opcodes.{kind}", names) for kind, names in opcodes.items()}
    checks = file.mapping("$.checks", top.get("checks", {}))
    file.only("$.checks", checks, _CHECKS)
    document.checks = {name: _ways(file, f"$.checks.{name}", ways) for name, ways in checks.items()}
    document.unmeasured = _unmeasured(file, top.get("unmeasured", {}))
    document.absent = _counters(file, "$.absent", top.get("absent", []))
    document.only_seen_in = {
        _counter(file, f"$.only_seen_in.{name}", name): _text(file, f"$.only_seen_in.{name}", report)
        for name, report in file.mapping("$.only_seen_in", top.get("only_seen_in", {})).items()
    }
    document.sources = _texts(file, "$.sources", top.get("sources", []))
    if "sources" in top and not document.sources:
        file.report("$.sources", "a map needs at least one source")
    document.paths = {
        name: _path(file, name, entry) for name, entry in file.mapping("$.paths", top.get("paths", {})).items()
    }
    document.tiers = {
        name: _tier(file, name, entry) for name, entry in file.mapping("$.tiers", top.get("tiers", {})).items()
    }
    return document


def _path(file: YamlFile, name: str, entry: Any) -> PathMap | None:
    where = f"$.paths.{name}"
    if name not in PATHS:
        file.report(where, f"unknown instruction path; known are {', '.join(PATHS)}")
    if entry is None:
        return None
    entry = file.mapping(where, entry)
    file.only(where, entry, {"pipe", "alternatives", "sources"})
    _texts(file, f"{where}.sources", entry.get("sources", []))
    return PathMap(
        path=name,
        pipe=_text(file, f"{where}.pipe", entry.get("pipe", "")),
        alternatives=tuple(
            _path_alternative(file, f"{where}.alternatives[{position}]", alternative)
            for position, alternative in enumerate(_alternatives(file, where, entry))
        ),
    )


def _path_alternative(file: YamlFile, where: str, entry: Any) -> Alternative:
    entry = file.mapping(where, entry)
    file.only(where, entry, {"parts", "separate"})
    parts = entry.get("parts")
    if not isinstance(parts, list) or not parts:
        file.report(f"{where}.parts", "needs a list of at least one part")
        parts = []
    built = tuple(_part(file, f"{where}.parts[{position}]", part, amount="work") for position, part in enumerate(parts))
    counted = [counter for part in built for counter in part.work]
    for counter in sorted({name for name in counted if counted.count(name) > 1}):
        file.report(where, f"{counter} is in two parts: parts must not overlap")
    is_separate = entry.get("separate", False)
    if not isinstance(is_separate, bool):
        file.report(f"{where}.separate", "must be true or false")
    return Alternative(built, file.name, file.lines.get(where, 1), bool(is_separate))


def _tier(file: YamlFile, name: str, entry: Any) -> tuple[Measure, ...] | None:
    where = f"$.tiers.{name}"
    if name not in TIERS:
        file.report(where, f"unknown memory tier; known are {', '.join(TIERS)}")
    if entry is None:
        return None
    entry = file.mapping(where, entry)
    file.only(where, entry, {"measures"})
    measures = entry.get("measures")
    if not isinstance(measures, list) or not measures:
        file.report(f"{where}.measures", "needs a list of at least one measure")
        return ()
    built = tuple(_measure(file, f"{where}.measures[{position}]", entry) for position, entry in enumerate(measures))
    ids = [measure.id for measure in built]
    for position, name in enumerate(ids):
        if not _MEASURE.fullmatch(name):
            file.report(f"{where}.measures[{position}].id", f"{name!r} is not a name of letters, digits and _")
        if name in ids[:position]:
            file.report(f"{where}.measures[{position}].id", f"there are two measures {name!r}")
    return built


def _measure(file: YamlFile, where: str, entry: Any) -> Measure:
    entry = file.mapping(where, entry)
    file.only(where, entry, {"id", "counts", "alternatives", "misses", "contains", "data_path"})
    return Measure(
        id=_text(file, f"{where}.id", entry.get("id", "")),
        counts=_text(file, f"{where}.counts", entry.get("counts", "")),
        alternatives=tuple(
            Alternative(
                (_part(file, f"{where}.alternatives[{position}]", alternative, amount="bytes"),),
                file.name,
                file.lines.get(f"{where}.alternatives[{position}]", 1),
            )
            for position, alternative in enumerate(_alternatives(file, where, entry))
        ),
        misses=_counters(file, f"{where}.misses", entry.get("misses", [])),
        contains={
            _known_cc(file, f"{where}.contains", cc): _text(file, f"{where}.contains.{cc}", what)
            for cc, what in file.mapping(f"{where}.contains", entry.get("contains", {})).items()
        },
        data_path=_text(file, f"{where}.data_path", entry["data_path"]) if "data_path" in entry else None,
    )


def _part(file: YamlFile, where: str, entry: Any, *, amount: str) -> Part:
    entry = file.mapping(where, entry)
    file.only(where, entry, {amount, "peak"})
    work = _weights(file, f"{where}.{amount}", entry.get(amount, {}))
    if not work:
        file.report(f"{where}.{amount}", "needs at least one counter")
    if entry.get("peak") == OWN_PEAK:
        if len(work) > 1:
            file.report(f"{where}.peak", f"several counters have no {OWN_PEAK!r} peak in common: name the counter")
        return Part(work, work)
    peak = _weights(file, f"{where}.peak", entry.get("peak", {}))
    if len(peak) > 1:
        file.report(f"{where}.peak", "a peak is that of one counter")
    return Part(work, peak)


def _alternatives(file: YamlFile, where: str, entry: Mapping[str, Any]) -> list[Any]:
    alternatives = entry.get("alternatives")
    if isinstance(alternatives, list) and alternatives:
        return alternatives
    file.report(f"{where}.alternatives", "needs a list of at least one alternative")
    return []


def _tensor_activity(file: YamlFile, entry: Any) -> TensorActivity | None:
    if entry is None:
        return None
    where = "$.tensor_activity"
    entry = file.mapping(where, entry)
    file.only(where, entry, {"active", "constant_loads", "includes_constant_loads", "operations_per_instruction"})
    includes = entry.get("includes_constant_loads", False)
    if not isinstance(includes, bool):
        file.report(f"{where}.includes_constant_loads", "must be true or false")
    loads = entry.get("constant_loads")
    return TensorActivity(
        active=_counters(file, f"{where}.active", entry.get("active", [])),
        constant_loads=None if loads is None else _counter(file, f"{where}.constant_loads", loads),
        includes_constant_loads=bool(includes),
        operations_per_instruction=_range(file, f"{where}.operations_per_instruction", entry),
    )


def _range(file: YamlFile, where: str, entry: Mapping[str, Any]) -> tuple[int, int] | None:
    """The two whole numbers of an entry, the smaller first, or None where it is not there."""
    values = entry.get(where.rpartition(".")[2])
    if values is None:
        return None
    if not (isinstance(values, list) and len(values) == 2 and all(isinstance(value, int) for value in values)):
        file.report(where, f"{values!r} must be two whole numbers")
        return None
    if not 0 < values[0] <= values[1]:
        file.report(where, "the smaller number comes first, and both are above zero")
    return values[0], values[1]


def _unmeasured(file: YamlFile, entry: Any) -> dict[str, dict[str, str]]:
    where = "$.unmeasured"
    tiers = file.mapping(where, entry)
    file.only(where, tiers, set(TIERS))
    return {
        tier: {
            _known_cc(file, f"{where}.{tier}", cc): _text(file, f"{where}.{tier}.{cc}", reason)
            for cc, reason in file.mapping(where, reasons).items()
        }
        for tier, reasons in tiers.items()
    }


def _attributes(file: YamlFile, entry: Any) -> dict[str, str]:
    where = "$.attributes"
    attributes = file.mapping(where, entry)
    file.only(where, attributes, _ATTRIBUTES)
    for name, metric in attributes.items():
        if not isinstance(metric, str) or not _METRIC.fullmatch(metric):
            file.report(f"{where}.{name}", f"{metric!r} is not a metric such as device__attribute_display_name")
    return {name: str(metric) for name, metric in attributes.items()}


def _compute_capabilities(file: YamlFile, entry: Any) -> tuple[str, ...]:
    where = "$.compute_capabilities"
    if not isinstance(entry, list):
        file.report(where, 'must be a list such as ["9.0"]')
        return ()
    for position, item in enumerate(entry):
        if not isinstance(item, str):
            file.report(f"{where}[{position}]", f'{item!r} must be quoted, as in "9.0": 10.0 is not 10')
        elif not is_compute_capability(item):
            file.report(f"{where}[{position}]", f"{item!r} is not a compute capability such as 9.0")
    return tuple(str(item) for item in entry)


def _known_cc(file: YamlFile, where: str, cc: Any) -> str:
    if not (isinstance(cc, str) and is_compute_capability(cc)):
        file.report(f"{where}.{cc}", f"{cc!r} is not a quoted compute capability")
    return str(cc)


def _weights(file: YamlFile, where: str, entry: Any) -> dict[str, int]:
    weights: dict[str, int] = {}
    for name, weight in file.mapping(where, entry).items():
        at = f"{where}.{name}"
        if isinstance(weight, bool) or not isinstance(weight, int):
            file.report(at, f"the weight {weight!r} is not an integer")
        elif not 0 < weight <= _HEAVIEST:
            file.report(at, f"the weight is not between 1 and {_HEAVIEST}")
        else:
            weights[_counter(file, at, name)] = weight
    return weights


def _ways(file: YamlFile, where: str, entry: Any) -> tuple[Weights, ...]:
    """Alternatives of an amount without a peak."""
    if not isinstance(entry, list) or not entry:
        file.report(where, "must be a list of at least one alternative")
        return ()
    return tuple(_weights(file, f"{where}[{position}]", way) for position, way in enumerate(entry))


def _counters(file: YamlFile, where: str, entry: Any) -> tuple[str, ...]:
    return tuple(
        _counter(file, f"{where}[{position}]", name) for position, name in enumerate(_texts(file, where, entry))
    )


def _counter(file: YamlFile, where: str, name: Any) -> str:
    if not isinstance(name, str) or not _COUNTER.fullmatch(name):
        file.report(where, f"{name!r} is not a base counter such as dram__bytes (no rollup suffix)")
    return str(name)


def _texts(file: YamlFile, where: str, entry: Any) -> tuple[str, ...]:
    if not isinstance(entry, list) or not all(isinstance(item, str) for item in entry):
        file.report(where, "must be a list of texts")
        return ()
    return tuple(entry)


def _text(file: YamlFile, where: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        file.report(where, f"{value!r} must be a text that is not empty")
    return str(value)
