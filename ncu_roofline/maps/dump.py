"""A resolved map written as a map file without a parent; reading it gives the same map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from ncu_roofline.maps.document import OWN_PEAK
from ncu_roofline.maps.model import Alternative, Measure, MetricMap, Part, TensorActivity

_WIDTH = 110


def to_yaml(metric_map: MetricMap) -> str:
    """The map as YAML, inherited entries included and in full."""
    content: dict[str, Any] = {
        "schema": 1,
        "id": metric_map.id,
        "title": metric_map.title,
        "compute_capabilities": list(metric_map.compute_capabilities),
        "sources": list(metric_map.sources),
        "time": list(metric_map.time),
        "cycles": list(metric_map.cycles),
        "clocks": dict(metric_map.clocks),
        "hit_rates": dict(metric_map.hit_rates),
        "utilization": list(metric_map.utilization),
        "attributes": dict(metric_map.attributes),
        "tensor_activity": _activity(metric_map.tensor_activity),
        "opcodes": {kind: list(names) for kind, names in metric_map.opcodes.items()},
        "checks": {name: [dict(way) for way in ways] for name, ways in metric_map.checks.items()},
        "paths": {
            name: {"pipe": path.pipe, "alternatives": [_path_alternative(a) for a in path.alternatives]}
            for name, path in metric_map.paths.items()
        },
        "tiers": {
            name: {"measures": [_measure(measure) for measure in tier.measures]}
            for name, tier in metric_map.tiers.items()
        },
        "unmeasured": {tier: dict(reasons) for tier, reasons in metric_map.unmeasured.items()},
        "only_seen_in": dict(metric_map.only_seen_in),
    }
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)


def _activity(activity: TensorActivity) -> dict[str, Any]:
    entry: dict[str, Any] = {"active": list(activity.active)}
    if activity.constant_loads:
        entry["constant_loads"] = activity.constant_loads
    if activity.includes_constant_loads:
        entry["includes_constant_loads"] = True
    if activity.operations_per_instruction:
        entry["operations_per_instruction"] = list(activity.operations_per_instruction)
    return entry


def _path_alternative(alternative: Alternative) -> dict[str, Any]:
    entry = {"separate": True} if alternative.is_separate else {}
    return entry | {"parts": [_part(part, "work") for part in alternative.parts]}


def _part(part: Part, amount: str) -> dict[str, Any]:
    entry: dict[str, Any] = {amount: dict(part.work)}
    if part.peak:
        entry["peak"] = OWN_PEAK if len(part.work) == 1 and part.peak == part.work else dict(part.peak)
    return entry


def _measure(measure: Measure) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": measure.id, "counts": measure.counts}
    if measure.misses:
        entry["misses"] = list(measure.misses)
    if measure.contains:
        entry["contains"] = dict(measure.contains)
    if measure.data_path:
        entry["data_path"] = measure.data_path
    return entry | {"alternatives": [_part(a.parts[0], "bytes") for a in measure.alternatives]}


class _Dumper(yaml.SafeDumper):
    """Weights on one line, everything else in blocks; no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _mapping(dumper: _Dumper, data: Mapping[str, Any]) -> yaml.Node:
    is_flat = bool(data) and all(isinstance(value, int) for value in data.values()) and "schema" not in data
    return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=is_flat)


def _sequence(dumper: _Dumper, data: Sequence[Any]) -> yaml.Node:
    is_flat = all(isinstance(value, int) for value in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=is_flat)


_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(list, _sequence)
