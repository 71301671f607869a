"""All maps of a folder: inheritance resolved, one map per compute capability, looked up by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.errors import DataFileError, DataFileProblem
from ncu_roofline.maps.document import Document, read_document
from ncu_roofline.maps.model import Alternative, Measure, MetricMap, PathMap, TensorActivity, TierMap, Weights
from ncu_roofline.vocabulary import PATHS, TIERS

_Entry = TypeVar("_Entry")
_Counted = TypeVar("_Counted", PathMap, Measure)

BASE: Final = "base"
_NOT_MAPS: Final = {"devices.yaml", "labels.yaml"}
_WITHOUT_ALTERNATIVES: Final = ("time", "cycles", "clocks", "utilization", "attributes")
_NO_ACTIVITY: Final = TensorActivity((), None, includes_constant_loads=False)


@dataclass(frozen=True)
class MapLibrary:
    """Resolved maps by id; ``base`` answers for every compute capability without a map of its own."""

    maps: Mapping[str, MetricMap]

    def for_compute_capability(self, cc: str | None) -> MetricMap:
        """The map of a compute capability such as ``9.0``; the base map for an unknown one or None."""
        for metric_map in self.maps.values():
            if cc in metric_map.compute_capabilities:
                return metric_map
        return self.maps[BASE]

    def with_map(self, metric_map: MetricMap) -> MapLibrary:
        """A library in which one more map answers first for its compute capabilities."""
        others = {name: other for name, other in self.maps.items() if name != metric_map.id}
        return MapLibrary({metric_map.id: metric_map} | others)


def load_library(directory: Path | None = None) -> MapLibrary:
    """Load every map of a folder (default: the packaged maps).

    Raises:
        DataFileError: with all problems of all files at once.

    """
    return _load_library(directory or metric_map_directory())


@cache
def _load_library(directory: Path) -> MapLibrary:
    paths = sorted(path for path in directory.glob("*.yaml") if path.name not in _NOT_MAPS)
    documents = [read_document(path) for path in paths]
    problems = [problem for document in documents for problem in document.file.problems]
    problems += _clashes(documents)
    if not any(document.id == BASE for document in documents):
        problems.append(DataFileProblem(str(directory), 1, "$", f"there is no map with the id {BASE!r}"))
    if problems:
        raise DataFileError(problems)
    by_id = {document.id: document for document in documents}
    resolved: dict[str, MetricMap] = {}
    return MapLibrary({document.id: _resolve(document, by_id, resolved) for document in documents})


def load_map(path: str | Path) -> MetricMap:
    """Load one map file of a user; its parents are looked for beside it, then among the packaged maps.

    Raises:
        DataFileError: with all problems of the file at once.

    """
    path = Path(path)
    document = read_document(path)
    if document.id == BASE and path.resolve() != (metric_map_directory() / f"{BASE}.yaml").resolve():
        document.file.report("$.id", f"{BASE!r} is the packaged map that all others extend; choose another id")
    if document.file.problems:
        raise DataFileError(document.file.problems)
    folders = (metric_map_directory(), path.parent) if document.extends else ()
    candidates = [
        read_document(other)
        for folder in folders
        for other in sorted(folder.glob("*.yaml"))
        if other.name not in _NOT_MAPS and other.resolve() != path.resolve()
    ]
    known = {**{c.id: c for c in candidates if c.id}, document.id: document}
    for ancestor in _ancestors(document, known):
        if ancestor.file.problems:
            raise DataFileError(ancestor.file.problems)
    return _resolve(document, known, {})


def _ancestors(document: Document, known: Mapping[str, Document]) -> Iterator[Document]:
    """The chain of parents as far as it is known, each once."""
    seen = {document.id}
    parent = known.get(document.extends or "")
    while parent is not None and parent.id not in seen:
        yield parent
        seen.add(parent.id)
        parent = known.get(parent.extends or "")


def _clashes(documents: Iterable[Document]) -> list[DataFileProblem]:
    """Two maps with one id or for one compute capability."""
    problems = []
    seen: dict[str, str] = {}
    for document in documents:
        claims = [("$.id", f"id {document.id}")]
        claims += [
            (f"$.compute_capabilities[{position}]", f"compute capability {cc}")
            for position, cc in enumerate(document.compute_capabilities)
        ]
        for where, claim in claims:
            if claim in seen:
                line = document.file.lines.get(where, 1)
                message = f"{claim} is already that of {seen[claim]}"
                problems.append(DataFileProblem(document.file.name, line, where, message))
            seen.setdefault(claim, document.file.name)
    return problems


def _resolve(
    document: Document, by_id: Mapping[str, Document], resolved: dict[str, MetricMap], heirs: tuple[str, ...] = ()
) -> MetricMap:
    """Merge a document with its chain of parents: a child's entry replaces the parent's whole entry."""
    if document.id not in resolved:
        resolved[document.id] = _merged(document, by_id, resolved, heirs)
    return resolved[document.id]


def _merged(
    document: Document, by_id: Mapping[str, Document], resolved: dict[str, MetricMap], heirs: tuple[str, ...]
) -> MetricMap:
    if document.extends is None:
        if not document.time:
            document.file.report("$.time", "a map without a parent has to name the metrics of the duration")
            raise DataFileError(document.file.problems)
        return _own(document)
    parent_document = by_id.get(document.extends)
    if parent_document is None:
        document.file.report("$.extends", f"there is no map with the id {document.extends!r}")
        raise DataFileError(document.file.problems)
    if parent_document is document:
        document.file.report("$.extends", "a map cannot extend itself")
        raise DataFileError(document.file.problems)
    if document.extends in heirs:
        document.file.report("$.extends", f"{document.extends!r} extends this map in turn")
        raise DataFileError(document.file.problems)
    parent = _resolve(parent_document, by_id, resolved, (*heirs, document.id))
    own = _own(document)
    absent = frozenset(document.absent)
    paths = dict(_without(parent.paths, document.paths)) | dict(own.paths)
    tiers = dict(_without(parent.tiers, document.tiers))
    for tier, tier_map in own.tiers.items():
        inherited = {measure.id: measure for measure in tiers[tier].measures} if tier in tiers else {}
        inherited |= {measure.id: measure for measure in tier_map.measures}
        tiers[tier] = TierMap(tier, tuple(inherited.values()))
    kept = _drop_absent_measures(tiers, absent)
    return replace(
        own,
        time=own.time or parent.time,
        cycles=own.cycles or parent.cycles,
        clocks={name: counter for name, counter in {**parent.clocks, **own.clocks}.items() if counter not in absent},
        hit_rates={t: name for t, name in {**parent.hit_rates, **own.hit_rates}.items() if name not in absent},
        utilization=tuple(name for name in own.utilization or parent.utilization if name not in absent),
        attributes=dict(parent.attributes) | dict(own.attributes),
        tensor_activity=document.tensor_activity or parent.tensor_activity,
        opcodes=dict(parent.opcodes) | dict(own.opcodes),
        checks=_of_tiers(_drop_absent_ways(dict(parent.checks) | dict(own.checks), absent), kept),
        paths=_drop_absent_paths(paths, absent),
        tiers=kept,
        unmeasured=document.unmeasured or parent.unmeasured,
        only_seen_in=dict(parent.only_seen_in) | dict(own.only_seen_in),
        sources=tuple(dict.fromkeys(own.sources + parent.sources)),
        origins=dict(parent.origins) | dict(own.origins),
    )


def _own(document: Document) -> MetricMap:
    """What a document says itself, entries that remove an inherited one left out."""
    return MetricMap(
        id=document.id,
        title=document.title,
        file=document.file.name,
        compute_capabilities=document.compute_capabilities,
        time=document.time,
        cycles=document.cycles,
        clocks=document.clocks,
        hit_rates=document.hit_rates,
        utilization=document.utilization,
        attributes=document.attributes,
        tensor_activity=document.tensor_activity or _NO_ACTIVITY,
        opcodes=document.opcodes,
        checks=_drop_absent_ways(document.checks, frozenset(document.absent)),
        paths=_drop_absent_paths(
            {name: path for name, path in document.paths.items() if path is not None}, frozenset(document.absent)
        ),
        tiers=_drop_absent_measures(
            {name: TierMap(name, tier) for name, tier in document.tiers.items() if tier is not None},
            frozenset(document.absent),
        ),
        unmeasured=document.unmeasured,
        only_seen_in=document.only_seen_in,
        sources=document.sources,
        origins={
            path.removeprefix("$."): (document.file.name, line)
            for path, line in document.file.lines.items()
            if path.removeprefix("$.").startswith(_WITHOUT_ALTERNATIVES)
        },
    )


def _without(entries: Mapping[str, _Entry], child: Mapping[str, object]) -> Mapping[str, _Entry]:
    """The inherited entries that the child does not remove with null."""
    return {name: entry for name, entry in entries.items() if child.get(name, "kept") is not None}


def _drop_absent_paths(paths: Mapping[str, PathMap], absent: frozenset[str]) -> dict[str, PathMap]:
    kept = {name: _with_present(path, absent) for name, path in paths.items()}
    return {name: kept[name] for name in PATHS if name in kept and kept[name].alternatives}


def _drop_absent_ways(
    checks: Mapping[str, tuple[Weights, ...]], absent: frozenset[str]
) -> dict[str, tuple[Weights, ...]]:
    kept = {name: tuple(way for way in ways if not absent.intersection(way)) for name, ways in checks.items()}
    return {name: ways for name, ways in kept.items() if ways}


def _of_tiers(
    checks: Mapping[str, tuple[Weights, ...]], tiers: Mapping[str, TierMap]
) -> dict[str, tuple[Weights, ...]]:
    """Without amounts of tiers that the chip cannot measure."""
    return {
        name: ways for name, ways in checks.items() if (tier := name.partition(".")[0]) not in TIERS or tier in tiers
    }


def _drop_absent_measures(tiers: Mapping[str, TierMap], absent: frozenset[str]) -> dict[str, TierMap]:
    kept = {}
    for name, tier in tiers.items():
        measures = [_with_present(measure, absent) for measure in tier.measures]
        kept[name] = TierMap(name, tuple(measure for measure in measures if measure.alternatives))
    return {name: kept[name] for name in TIERS if name in kept and kept[name].measures}


def _with_present(entry: _Counted, absent: frozenset[str]) -> _Counted:
    """A path or measure with the alternatives that the chip has."""
    alternatives = _present(entry.alternatives, absent)
    return entry if alternatives == entry.alternatives else replace(entry, alternatives=alternatives)


def _present(alternatives: Iterable[Alternative], absent: frozenset[str]) -> tuple[Alternative, ...]:
    """The alternatives of counters that the chip has, without peaks of counters that it lacks."""
    if not absent:
        return tuple(alternatives)
    return tuple(
        _without_peaks(alternative, absent)
        for alternative in alternatives
        if not absent.intersection(alternative.counters())
    )


def _without_peaks(alternative: Alternative, absent: frozenset[str]) -> Alternative:
    if not any(absent.intersection(part.peak) for part in alternative.parts):
        return alternative
    parts = (replace(part, peak={}) if absent.intersection(part.peak) else part for part in alternative.parts)
    return replace(alternative, parts=tuple(parts))
