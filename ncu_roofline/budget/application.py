"""What the launches of an application can reach together: the sum of their bounds, and the looser aggregate bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ncu_roofline.arrays import BoolArray, Columns, FloatArray, ratio, sum_known
from ncu_roofline.maps import MetricMap
from ncu_roofline.vocabulary import NEVER_BINDING_PATHS, Extent


@dataclass(frozen=True)
class ApplicationBound:
    """Seconds that launches need at least, over those whose bound is known.

    ``time``: what they took; ``serial``: one after the other, the sum of their bounds; ``aggregate``: if all of them
    overlapped perfectly, the busiest resource alone, which is never more than ``serial``; ``resource``: a tier or a
    pipe; ``launches`` of ``of`` have a bound; ``complete``: all that may bind is known of each.
    """

    time: float
    serial: float
    aggregate: float
    resource: str
    launches: int
    of: int
    complete: bool


def application_bound(columns: Columns, needed: Mapping[str, FloatArray], mine: BoolArray) -> ApplicationBound | None:
    """Both bounds of the launches of a mask, None where no launch has one.

    Args:
        columns: the roofline table.
        needed: seconds of each resource (``resource_seconds``).
        mine: launches of one device.

    """
    mine = mine & columns["adds_up"]
    known = mine & ~np.isnan(columns["bound.time"]) & ~np.isnan(columns["time"])
    if not known.any():
        return None
    loads = {resource: float(np.nansum(seconds[known])) for resource, seconds in needed.items()}
    resource = max(loads, key=lambda key: loads[key])
    return ApplicationBound(
        time=float(columns["time"][known].sum()),
        serial=float(columns["bound.time"][known].sum()),
        aggregate=loads[resource],
        resource=resource,
        launches=int(columns["invocations"][known].sum()),
        of=int(columns["invocations"][mine].sum()),
        complete=bool(columns["bound.complete"][known].all()) and bool(known.sum() == mine.sum()),
    )


def resource_seconds(columns: Columns, maps: Mapping[str, MetricMap]) -> dict[str, FloatArray]:
    """Seconds for which each launch needs each tier, pipe or data path at least; NaN where nothing is known of it.

    Args:
        columns: the roofline table.
        maps: metric maps by name, which tell what shares a pipe or a data path.

    """
    loads: dict[str, FloatArray] = {}
    for name in dict.fromkeys(columns["map"].tolist()):
        mine = columns["map"] == name
        for resource, needed in _needed(columns, maps[name]):
            part = np.where(mine, needed, np.nan)
            loads[resource] = sum_known([loads[resource], part]) if resource in loads else part
    return loads


def _needed(columns: Columns, metric_map: MetricMap) -> Iterator[tuple[str, FloatArray]]:
    """Seconds of each launch at the ceiling of everything that may bind, with the resource it occupies."""
    for path, definition in metric_map.paths.items():
        if path not in NEVER_BINDING_PATHS and f"work.{path}.count" in columns:
            yield f"{definition.pipe} pipe", _seconds(columns, f"work.{path}", "count")
    for tier, measures in metric_map.tiers.items():
        if f"traffic.{tier}.bytes" in columns:
            needed = _seconds(columns, f"traffic.{tier}", "bytes")
            in_use = columns[f"traffic.{tier}.measure"]
            for measure in measures.measures:
                shared = f"{measure.data_path.replace('_', ' ')} path" if measure.data_path else tier
                yield shared, np.where(in_use == measure.id, needed, np.nan)


def _seconds(columns: Columns, prefix: str, amount: str) -> FloatArray:
    extent = columns[f"{prefix}.extent"]
    binds = (extent == Extent.EXACT.label) | (extent == Extent.AT_LEAST.label)
    return np.where(binds, ratio(columns[f"{prefix}.{amount}"], columns[f"{prefix}.peak"]), np.nan)
