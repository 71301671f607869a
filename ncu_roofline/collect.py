"""The ncu command that collects what a picture lacks, derived from the metric map of the architecture."""

from __future__ import annotations

from collections.abc import Collection

from ncu_roofline.counters import unit_of
from ncu_roofline.maps import Alternative, MetricMap
from ncu_roofline.vocabulary import is_tensor


def metrics_to_collect(metric_map: MetricMap, wanted: Collection[str]) -> tuple[str, ...]:
    """Metrics (with rollup) for tiers and paths: amounts, own peaks, clocks and the duration.

    The first alternative of each is taken; names that the map does not have are passed over. Nothing wanted,
    tensor paths, and a map without tensor paths ask for the counters that tell whether the tensor pipe worked.
    """
    metrics = [metric_map.time[0]] if metric_map.time else []
    alternatives: list[Alternative] = []
    for name in wanted:
        if name in metric_map.tiers:
            alternatives.append(metric_map.tiers[name].measures[0].alternatives[0])
        elif name in metric_map.paths:
            alternatives.append(metric_map.paths[name].alternatives[0])
    for alternative in alternatives:
        for part in alternative.parts:
            metrics += [f"{counter}.sum" for counter in part.work]
            metrics += [f"{counter}.sum.peak_sustained" for counter in part.peak]
            metrics += [f"{unit_of(counter)}__cycles_elapsed.avg.per_second" for counter in part.peak]
    if not wanted or any(map(is_tensor, wanted)) or not any(map(is_tensor, metric_map.paths)):
        activity = metric_map.tensor_activity
        counters = [*activity.active[:1], *([activity.constant_loads] if activity.constant_loads else [])]
        metrics += [f"{counter}.sum" for counter in counters]
    return tuple(dict.fromkeys(metrics))


def collection_command(metric_map: MetricMap, wanted: Collection[str]) -> str:
    """A complete ncu command line that writes the wanted counters to ``report.csv``."""
    metrics = ",".join(metrics_to_collect(metric_map, wanted))
    return f"ncu --metrics {metrics} --csv --page raw --log-file report.csv ./application"
