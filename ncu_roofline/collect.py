"""The ncu command that collects what a picture lacks, derived from the metric map of the architecture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from ncu_roofline.counters import unit_of
from ncu_roofline.maps import Alternative, MetricMap
from ncu_roofline.vocabulary import CORE_TIERS, NEVER_BINDING_PATHS, is_tensor

COLLECT: Final = "Collect with: "
"""How a help text begins that is a command."""


def parts_to_collect(metric_map: MetricMap, cc: str | None) -> dict[str, Alternative]:
    """The alternative to collect of every core tier and binding path, but of no tier that cannot be measured."""
    tiers = {
        tier: metric_map.tiers[tier].measures[0].alternatives[0]
        for tier in CORE_TIERS
        if tier in metric_map.tiers and cc not in metric_map.unmeasured.get(tier, {})
    }
    paths = {name: path.alternatives[0] for name, path in metric_map.paths.items() if name not in NEVER_BINDING_PATHS}
    return tiers | paths


def metrics_to_collect(metric_map: MetricMap, cc: str | None, names: Collection[str] | None = None) -> tuple[str, ...]:
    """Metrics (with rollup) of a picture: amounts, own peaks, clocks, duration, activity of the tensor pipe.

    ``names``: tiers and paths of the picture; None is all that ``parts_to_collect`` has.
    """
    parts = parts_to_collect(metric_map, cc)
    alternatives = [alternative for name, alternative in parts.items() if names is None or name in names]
    metrics = list(_metrics(metric_map, alternatives))
    if names is None or any(map(is_tensor, names)):
        activity = metric_map.tensor_activity
        counters = [*activity.active[:1], *([activity.constant_loads] if activity.constant_loads else [])]
        metrics += [f"{counter}.sum" for counter in counters]
    return tuple(dict.fromkeys(metrics))


def collection_command(metric_map: MetricMap, cc: str | None) -> str:
    """A complete ncu command line that writes the counters of a complete picture to ``report.csv``."""
    return command_line(metrics_to_collect(metric_map, cc))


def command_for(metric_map: MetricMap, alternatives: Sequence[Alternative]) -> str:
    """A command line that collects some amounts only, with their peaks, clocks and the duration."""
    return command_line(_metrics(metric_map, alternatives))


def _metrics(metric_map: MetricMap, alternatives: Sequence[Alternative]) -> tuple[str, ...]:
    metrics = list(metric_map.time[:1])
    for alternative in alternatives:
        for part in alternative.parts:
            metrics += [f"{counter}.sum" for counter in part.work]
            metrics += [f"{counter}.sum.peak_sustained" for counter in part.peak]
            metrics += [f"{unit_of(counter)}__cycles_elapsed.avg.per_second" for counter in part.peak]
    return tuple(dict.fromkeys(metrics))


def command_line(metrics: Sequence[str], *, options: Sequence[str] = (), application: str = "./application") -> str:
    """An ncu command line that collects some metrics and writes them to ``report.csv``."""
    words = ["ncu", *options, "--metrics", ",".join(metrics), "--csv --page raw --log-file report.csv", application]
    return " ".join(words)
