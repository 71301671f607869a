"""The ncu command that collects what a picture lacks, derived from the metric map of the architecture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from ncu_roofline.counters import unit_of
from ncu_roofline.maps import Alternative, Measure, MetricMap
from ncu_roofline.vocabulary import CORE_TIERS, NEVER_BINDING_PATHS, is_tensor

_BINDING_TIERS: Final = (*CORE_TIERS, "shared")
COLLECT: Final = "Collect with: "
"""How a help text begins that is a command."""


def parts_to_collect(
    metric_map: MetricMap, cc: str | None, names: Collection[str] | None = None
) -> dict[str, tuple[Alternative, ...]]:
    """The alternatives to collect of tiers and paths, but of no tier that cannot be measured.

    ``names`` None is everything that may bind. Of a tier it is its first measure, and those that share a data path
    with another tier, since such tiers bind together.
    """
    tiers = {
        tier: tuple(_requestable(m, metric_map) for m in (measures[0], *(m for m in measures[1:] if m.data_path)))
        for tier, measures in ((tier, entry.measures) for tier, entry in metric_map.tiers.items())
        if (tier in _BINDING_TIERS if names is None else tier in names)
        if cc not in metric_map.unmeasured.get(tier, {})
    }
    paths = {
        name: (path.alternatives[0],)
        for name, path in metric_map.paths.items()
        if (name not in NEVER_BINDING_PATHS if names is None else name in names)
    }
    return tiers | paths


def metrics_to_collect(metric_map: MetricMap, cc: str | None, names: Collection[str] | None = None) -> tuple[str, ...]:
    """Metrics (with rollup) of a picture: amounts, own peaks, clocks, duration, activity of the tensor pipe.

    ``names``: tiers and paths of the picture; None is everything that may bind.
    """
    parts = parts_to_collect(metric_map, cc, names)
    metrics = list(_metrics(metric_map, [alternative for found in parts.values() for alternative in found]))
    unseen = [counter for tier in parts if tier in metric_map.tiers for counter in _unseen(metric_map, tier)]
    activity = metric_map.tensor_activity
    if names is None or any(map(is_tensor, names)):
        unseen += [*activity.active[:1], *([activity.constant_loads] if activity.constant_loads else [])]
    return tuple(dict.fromkeys([*metrics, *(f"{counter}.sum" for counter in unseen)]))


def _requestable(measure: Measure, metric_map: MetricMap) -> Alternative:
    """The first alternative of counters that ncu takes by name; derived ones are those of section files."""
    names = [a for a in measure.alternatives if not set(a.counters()) & set(metric_map.only_seen_in)]
    return (names or list(measure.alternatives))[0]


def _unseen(metric_map: MetricMap, tier: str) -> list[str]:
    """Counters of traffic that the measures of a tier do not see."""
    return [counter for measure in metric_map.tiers[tier].measures for counter in measure.misses]


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
