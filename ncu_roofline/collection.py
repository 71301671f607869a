"""What to collect, as text: the command line for a question, or for what a report lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import BoolArray
from ncu_roofline.collect import command_line, metrics_to_collect, parts_to_collect
from ncu_roofline.counters import AMOUNTS, PEAKS, spellings
from ncu_roofline.maps import Alternative, MetricMap
from ncu_roofline.vocabulary import CORE_TIERS, Extent, TensorState, amount_prefix, is_tensor

_CACHE: Final = {
    "all": "caches are flushed before every pass: the bytes are those of cold caches",
    "none": "caches are left as they are: later passes may find data of earlier ones",
}
_CLOCK: Final = {
    "base": "clocks are locked to base: times are longer than in production",
    "none": "clocks are left alone: they may change between passes",
    "boost": "clocks are locked to boost (Nsight Compute 2025.4 and newer, Ampere and newer)",
}
CACHE_CONTROLS: Final = tuple(_CACHE)
CLOCK_CONTROLS: Final = tuple(_CLOCK)


@dataclass(frozen=True)
class Run:
    """How the application is to be profiled."""

    cache_control: str
    clock_control: str
    application: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ncu."""
        return (f"--cache-control {self.cache_control}", f"--clock-control {self.clock_control}")


def for_architecture(metric_map: MetricMap, cc: str | None, names: Collection[str] | None, run: Run) -> str:
    """The command that collects some tiers and paths (None: all) on an architecture, and what its options mean."""
    metrics = metrics_to_collect(metric_map, cc, names)
    parts = parts_to_collect(metric_map, cc, names)
    head = f"{metric_map.title} (CC {cc}, map {metric_map.id})"
    if not metric_map.compute_capabilities:
        head = f"There is no map for CC {cc}. {head}"
    if not parts:
        return "\n".join([f"{head}: nothing of this can be collected", *_reasons(metric_map, cc, names)])
    lines = [
        f"{head}: {len(metrics)} metrics for {', '.join(parts)}",
        *_reasons(metric_map, cc, names),
        *_meaning(run),
        "",
        command_line(metrics, options=run.options, application=run.application),
    ]
    return "\n".join(lines)


def for_report(analysis: Analysis, run: Run) -> str:
    """What each architecture of a report lacks, by part of the picture, and the command that collects all of it."""
    return "\n\n".join(_architecture(analysis, map_id, cc, run) for map_id, cc in _architectures(analysis))


def _architecture(analysis: Analysis, map_id: str, cc: str | None, run: Run) -> str:
    metric_map = analysis.maps[map_id]
    here = (analysis.columns["map"] == map_id) & (analysis.columns["cc"] == cc)
    collected = _collected(analysis, here)
    lacking = {
        name: gone
        for name, alternatives in parts_to_collect(metric_map, cc).items()
        if (gone := _lacking(alternatives[int(_is_known(analysis, name, here)) :], collected))
    }
    head = f"{metric_map.title} (CC {cc or 'not stated'}, map {map_id}), {_launches(int(here.sum()))}"
    if not lacking:
        return "\n".join([f"{head}: nothing is missing.", *_reasons(metric_map, cc, None)])
    metrics = metrics_to_collect(metric_map, cc)
    return "\n".join(
        [
            f"{head}: missing",
            *(f"  {name:24} {'; '.join(gone)}" for name, gone in lacking.items()),
            *_reasons(metric_map, cc, None),
            f"The whole picture in one run, {len(metrics)} metrics (parts of two runs are not one measurement):",
            *_meaning(run),
            "",
            command_line(metrics, options=run.options, application=run.application),
        ]
    )


def _launches(count: int) -> str:
    return f"{count} launch" + ("es" if count != 1 else "")


def _architectures(analysis: Analysis) -> list[tuple[str, str | None]]:
    pairs = zip(analysis.columns["map"].tolist(), analysis.columns["cc"].tolist(), strict=True)
    return list(dict.fromkeys(pairs))


def _collected(analysis: Analysis, here: BoolArray) -> set[str]:
    """Metrics that have a value in every one of some launches."""
    known: dict[str, int] = {}
    for position, counters in enumerate(analysis.counters):
        mine = here & (analysis.columns["input"] == position)
        places = analysis.columns["launch"][mine] - analysis.first_launch(position)
        for metric, values in counters.values.items():
            known[metric] = known.get(metric, 0) + int(np.count_nonzero(~np.isnan(values[places])))
    return {metric for metric, count in known.items() if count == int(here.sum())}


def _is_known(analysis: Analysis, name: str, here: BoolArray) -> bool:
    """Whether an amount is exact and has its ceiling in all of some launches, or is tensor work of an idle pipe."""
    columns = analysis.columns
    if is_tensor(name) and (columns["tensor_state"][here] == TensorState.IDLE).all():
        return True
    prefix = amount_prefix(name)
    if f"{prefix}.extent" not in columns:
        return False
    exact = columns[f"{prefix}.extent"][here] == Extent.EXACT.label
    # What did nothing needs no ceiling.
    idle = columns[f"{prefix}.rate"][here] == 0
    return bool((exact & (idle | ~np.isnan(columns[f"{prefix}.peak"][here]))).all())


def _lacking(alternatives: Sequence[Alternative], collected: Collection[str]) -> list[str]:
    """Counters of an amount and its ceiling with the rollups that are not there, nor in the other spelling."""
    wanted: dict[str, list[str]] = {}
    for part in (part for alternative in alternatives for part in alternative.parts):
        asked = [(c, AMOUNTS) for c in part.work] + [(c, PEAKS) for c in part.peak]
        for counter, rollups in asked:
            if not any(spelling + rollup in collected for spelling in spellings(counter) for rollup in rollups):
                wanted.setdefault(counter, []).append(rollups[0])
    return [f"{counter}{rollups[0]}" + "".join(f" and {r}" for r in rollups[1:]) for counter, rollups in wanted.items()]


def _reasons(metric_map: MetricMap, cc: str | None, names: Collection[str] | None) -> Iterator[str]:
    unmeasured: Mapping[str, Mapping[str, str]] = metric_map.unmeasured
    for tier in CORE_TIERS:
        reason = unmeasured.get(tier, {}).get(cc or "")
        if reason and (names is None or tier in names):
            yield f"{tier} cannot be measured: {reason}"


def _meaning(run: Run) -> Iterator[str]:
    yield f"--cache-control {run.cache_control}: {_CACHE[run.cache_control]}"
    yield f"--clock-control {run.clock_control}: {_CLOCK[run.clock_control]}"
