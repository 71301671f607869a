"""Writes ``docs/maps.md`` from the metric maps: ``python docs/build_maps.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ncu_roofline.maps import Alternative, Measure, MetricMap, Part, TensorActivity, load_library
from ncu_roofline.vocabulary import work_unit

_HEAD = """# The metric maps

What every map counts, with everything that it inherits. This page is made from the files in `metric_maps/` by
`docs/build_maps.py`. How such a file is written is in [metric maps](metric-maps.md), why it counts so in
[paths](paths.md) and [tiers](tiers.md); `ncu-roofline maps show ID --resolved` prints a map in full.

- **counters**: those of the first alternative, times FLOP, OP or byte per event. Parts stand below each other; they do
  not overlap. Names are without a rollup: [peaks](peaks.md#own-peaks) and
  [the model](model.md#amounts-and-their-extent) say which rollup of a report is read.
- **ceiling**: `own` is the own peak of each counter times the same number; a name is the counter whose own peak it is.
- **more**: further alternatives, tried in order where the first is incomplete.
"""
_PATH_HEAD = ["| path | pipe | counters | ceiling | more |", "|---|---|---|---|---|"]
_TIER_HEAD = ["| tier | measure | counters | ceiling | more |", "|---|---|---|---|---|"]


def page() -> str:
    """The page of all maps, the base map first."""
    maps = sorted(load_library().maps.values(), key=_capabilities)
    return "\n".join([_HEAD, *map(_section, maps)])


def _capabilities(metric_map: MetricMap) -> list[tuple[int, ...]]:
    return [tuple(map(int, cc.split("."))) for cc in metric_map.compute_capabilities]


def _section(metric_map: MetricMap) -> str:
    cc = ", ".join(metric_map.compute_capabilities) or "every one without a map of its own"
    paths = [
        _row(f"`{name}`, {work_unit(name)}", path.pipe, path.alternatives) for name, path in metric_map.paths.items()
    ]
    tiers = [
        _row(f"`{name}`", f"`{measure.id}`: {measure.counts}", measure.alternatives)
        for name, tier in metric_map.tiers.items()
        for measure in tier.measures
    ]
    remarks = [f"- {remark}" for remark in _remarks(metric_map)]
    sources = ["- Sources:", *(f"  - {source}" for source in metric_map.sources)]
    title = [f"## {metric_map.id}", "", f"{metric_map.title}. Compute capability: {cc}.", ""]
    return "\n".join([*title, *_PATH_HEAD, *paths, "", *_TIER_HEAD, *tiers, "", *remarks, *sources, ""])


def _row(name: str, what: str, alternatives: tuple[Alternative, ...]) -> str:
    parts, others = alternatives[0].parts, len(alternatives) - 1
    counters = "<br>".join(_weighted(part.work) for part in parts)
    ceilings = "<br>".join(dict.fromkeys(map(_ceiling, parts)))
    return f"| {name} | {what} | {counters} | {ceilings} | {f'+ {others}' if others else ''} |"


def _weighted(weights: Mapping[str, int]) -> str:
    return " + ".join(f"`{name}`" if weight == 1 else f"{weight} x `{name}`" for name, weight in weights.items())


def _ceiling(part: Part) -> str:
    if not part.peak:
        return "none"
    return "own" if part.peak == part.work else _weighted(part.peak)


def _remarks(metric_map: MetricMap) -> Iterator[str]:
    """What the tables have no place for: the tensor pipe, traffic beside a measure, what cannot be measured."""
    yield from _activity(metric_map.tensor_activity)
    for name, tier in metric_map.tiers.items():
        for measure in tier.measures:
            yield from _beside(f"`{name}`, measure `{measure.id}`", measure, metric_map)
    for tier_name, reasons in metric_map.unmeasured.items():
        if here := _on(metric_map, reasons):
            yield f"Not measured: `{tier_name}`, {here}."


def _activity(activity: TensorActivity) -> Iterator[str]:
    if activity.active:
        yield f"The tensor pipe worked where one of these is not zero: {_names(activity.active)}."
    if activity.constant_loads:
        included = " and are in the counters of the pipe" if activity.includes_constant_loads else ""
        yield f"Constant loads (HFMA2.MMA) are counted by `{activity.constant_loads}`{included}."
    if activity.operations_per_instruction:
        fewest, most = activity.operations_per_instruction
        yield f"An instruction of the tensor pipe is {fewest} to {most} operations."


def _beside(where: str, measure: Measure, metric_map: MetricMap) -> Iterator[str]:
    if measure.misses:
        yield f"{where}, does not see {_names(measure.misses)}."
    if more := _on(metric_map, measure.contains):
        yield f"{where}, contains {more}."
    if measure.data_path:
        yield f"{where}, is on the data path `{measure.data_path}`."


def _names(counters: tuple[str, ...]) -> str:
    return ", ".join(f"`{counter}`" for counter in counters)


def _on(metric_map: MetricMap, by_cc: Mapping[str, str]) -> str:
    """Texts by compute capability, as far as they concern a map; the base map answers for all."""
    known = metric_map.compute_capabilities
    capabilities: dict[str, list[str]] = {}
    for cc, text in by_cc.items():
        if not known or cc in known:
            capabilities.setdefault(text, []).append(cc)
    return "; ".join(
        text if set(known) == set(ccs) else f"{text} (CC {', '.join(ccs)})" for text, ccs in capabilities.items()
    )


if __name__ == "__main__":
    Path(__file__).with_name("maps.md").write_text(page(), encoding="utf-8")
