"""The ncu command that collects what a picture lacks, derived from the metric map of the architecture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ncu_roofline.counters import unit_of
from ncu_roofline.maps import Alternative, MetricMap
from ncu_roofline.vocabulary import CORE_TIERS, NEVER_BINDING_PATHS

COLLECT: Final = "Collect with: "
"""How a help text begins that is a command."""


def metrics_to_collect(metric_map: MetricMap, cc: str | None) -> tuple[str, ...]:
    """Metrics (with rollup) of a complete picture: amounts, own peaks, clocks, duration, activity of the tensor pipe.

    The first alternative of every path and core tier is taken, but no tier that the architecture cannot measure.
    """
    alternatives: list[Alternative] = [
        metric_map.tiers[tier].measures[0].alternatives[0]
        for tier in CORE_TIERS
        if tier in metric_map.tiers and cc not in metric_map.unmeasured.get(tier, {})
    ]
    alternatives += [path.alternatives[0] for name, path in metric_map.paths.items() if name not in NEVER_BINDING_PATHS]
    activity = metric_map.tensor_activity
    counters = [*activity.active[:1], *([activity.constant_loads] if activity.constant_loads else [])]
    metrics = [*_metrics(metric_map, alternatives), *(f"{counter}.sum" for counter in counters)]
    return tuple(dict.fromkeys(metrics))


def collection_command(metric_map: MetricMap, cc: str | None) -> str:
    """A complete ncu command line that writes the counters of a complete picture to ``report.csv``."""
    return _command(metrics_to_collect(metric_map, cc))


def command_for(metric_map: MetricMap, alternatives: Sequence[Alternative]) -> str:
    """A command line that collects some amounts only, with their peaks, clocks and the duration."""
    return _command(_metrics(metric_map, alternatives))


def _metrics(metric_map: MetricMap, alternatives: Sequence[Alternative]) -> tuple[str, ...]:
    metrics = list(metric_map.time[:1])
    for alternative in alternatives:
        for part in alternative.parts:
            metrics += [f"{counter}.sum" for counter in part.work]
            metrics += [f"{counter}.sum.peak_sustained" for counter in part.peak]
            metrics += [f"{unit_of(counter)}__cycles_elapsed.avg.per_second" for counter in part.peak]
    return tuple(dict.fromkeys(metrics))


def _command(metrics: Sequence[str]) -> str:
    return f"ncu --metrics {','.join(metrics)} --csv --page raw --log-file report.csv ./application"
