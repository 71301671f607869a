"""The charts of an analysis: one for each device, made of its groups and ceilings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import BoolArray, Columns, FloatArray, numbered_rows, ratio, rows, unknown
from ncu_roofline.budget import application_bound, resource_seconds
from ncu_roofline.formats import shape, visible
from ncu_roofline.render.group_table import UTILIZATION_TITLES
from ncu_roofline.render.picture.chart import COMPUTE, FAR_FROM_ALL, NOT_KNOWN, Chart, Mark, Rest, Roof, Use, usage
from ncu_roofline.render.picture.frame import Frame, frame_of
from ncu_roofline.render.picture.names import short_names
from ncu_roofline.vocabulary import (
    CORE_TIERS,
    FLOP_PATHS,
    PATHS,
    TIERS,
    Extent,
    Severity,
    amount_prefix,
)

FAR: Final = 0.4
"""Share of every ceiling below which a group is far from all of them."""
SINGLE: Final = 2000
"""The longest groups of a device, which have a mark each; the others are taken together."""
_DEVICE: Final = ("input", "device_ordinal", "device", "cc")
_PRODUCT: Final = ("device", "cc")
_ABOVE_CEILING: Final = "above-ceiling"
_SOURCES: Final = ("report", "attributes", "device", "measured")


def charts(analysis: Analysis, frame: Frame | None = None) -> tuple[Chart, ...]:
    """A chart for each device (input, ordinal and name), in the order of its first launch.

    Args:
        analysis: what is drawn.
        frame: the axes of all of them; those of each machine if there are none.

    """
    columns, groups = analysis.columns, _groups(analysis)
    # Launches of one kernel on several ranks are one group, whose device is a product.
    names = _PRODUCT if analysis.aggregate else _DEVICE
    codes, keys = numbered_rows([columns[name] for name in names])
    called = _device_names(analysis, keys)
    places = dict(zip(columns["launch"].tolist(), codes.tolist(), strict=True))
    of_group = np.array([places[launches[0]] for launches in groups["launches"]], np.intp)
    wrong = frozenset(
        launch
        for finding in analysis.finding_list
        if finding.severity == Severity.ERROR
        or (finding.name == _ABOVE_CEILING and finding.severity == Severity.WARNING)
        for launch in finding.launches
    )
    needed = resource_seconds(columns, analysis.maps)
    return tuple(
        _chart(
            analysis,
            groups,
            (np.flatnonzero(of_group == code), codes == code),
            (called[code], key[-1]),
            needed,
            wrong,
            frame,
        )
        for code, key in enumerate(keys)
    )


def _groups(analysis: Analysis) -> Columns:
    """The groups that are shown; without times launches cannot be added up, so that each is its own."""
    without_times = bool(np.isnan(analysis.columns["time"]).all()) and not analysis.aggregate
    return analysis.groups(per_launch=without_times)


def _device_names(analysis: Analysis, keys: Sequence[tuple[Any, ...]]) -> list[str]:
    """What each device is called; equal products are told apart by their input and number."""
    named = [visible(key[-2] or "device not named in the report") for key in keys]
    if analysis.aggregate:
        return named
    inputs = [visible(analysis.inputs[key[0]].path) for key in keys]
    return [
        name if named.count(name) == 1 else f"{name}, {path}{f' device {key[1]}' if inputs.count(path) > 1 else ''}"
        for name, path, key in zip(named, inputs, keys, strict=True)
    ]


def _chart(
    analysis: Analysis,
    groups: Columns,
    mine: tuple[Any, BoolArray],
    named: tuple[str, str | None],
    needed: Mapping[str, FloatArray],
    wrong: frozenset[int],
    frame: Frame | None,
) -> Chart:
    """The chart of one device, from the places of its groups and the mask of its launches."""
    columns, (places, launches) = analysis.columns, mine
    single = places[:SINGLE]
    shown = rows({name: column[single] for name, column in groups.items()})
    names = _names(shown)
    marks = tuple(
        _mark(int(place) + 1, name, group, wrong) for place, name, group in zip(single, names, shown, strict=True)
    )
    rest = _rest({name: column[places[SINGLE:]] for name, column in groups.items()})
    roofs = _roofs(columns, launches, {mark.bound for mark in marks})
    points = [(intensity, mark.rate) for mark in marks if mark.is_on_chart for intensity in mark.intensity.values()]
    points += list(zip(rest.intensity.tolist(), rest.rate.tolist(), strict=True))
    bandwidths = [roof.value for roof in roofs if roof.is_tier]
    clock = columns["clocks.sm"][launches]
    known = clock[~np.isnan(clock)]
    device, cc = named
    return Chart(
        device=device,
        cc=cc,
        clock=(float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan),
        roofs=roofs,
        others=_others(columns, launches, roofs),
        marks=marks,
        rest=rest,
        frame=frame or frame_of(bandwidths, _peaks(columns, launches), points),
        time=float(np.nansum(columns["time"][launches & columns["adds_up"]])),
        bound=application_bound(columns, needed, launches),
        mine=launches,
    )


def _names(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Short names; groups of one kernel are told apart by their grid."""
    full = [group["kernel"] for group in groups]
    several = Counter(full)
    return [
        f"{name} {shape(group['grid'])}" if several[group["kernel"]] > 1 and group["grid"] else name
        for name, group in zip(short_names(full), groups, strict=True)
    ]


def _peaks(columns: Columns, mine: BoolArray) -> list[float]:
    """Every known peak of a floating-point path, whether or not it has work: the frame is that of the machine."""
    known = [columns[f"work.{path}.peak"][mine] for path in FLOP_PATHS if f"work.{path}.peak" in columns]
    return [float(np.nanmax(peak)) for peak in known if not np.isnan(peak).all()]


def _rest(groups: Columns) -> Rest:
    size = len(groups["time"])
    intensity = unknown(size)
    for tier in CORE_TIERS:
        at_tier = ratio(groups["leading.rate"], groups.get(f"{tier}.rate", unknown(size)))
        at_tier[~groups["may_divide"]] = np.nan
        intensity = np.where(np.isnan(intensity), at_tier, intensity)
    has_place = np.isin(groups["leading.path"], FLOP_PATHS) & (groups["leading.rate"] > 0) & (intensity > 0)
    return Rest(
        groups=size,
        launches=int(groups["invocations"].sum()),
        share=float(np.nansum(groups["share"])),
        intensity=intensity[has_place],
        rate=groups["leading.rate"][has_place],
    )


def _roofs(columns: Columns, mine: BoolArray, binding: set[str | None]) -> tuple[Roof, ...]:
    """The highest ceiling of every core tier, of others that bind, and of every floating-point path that has work."""
    tiers = [tier for tier in TIERS if tier in CORE_TIERS or tier in binding]
    roofs = []
    for name in (*tiers, *FLOP_PATHS):
        prefix = amount_prefix(name)
        if f"{prefix}.peak" not in columns:
            continue
        at = _highest(columns[f"{prefix}.peak"], mine & _works(columns, name))
        if at is not None:
            source, clock = columns[f"{prefix}.peak_source"][at], columns[f"{prefix}.peak_clock"][at]
            roofs.append(Roof(name, float(columns[f"{prefix}.peak"][at]), str(source), float(clock)))
    return tuple(roofs)


def _others(columns: Columns, mine: BoolArray, roofs: Sequence[Roof]) -> tuple[Roof, ...]:
    """Ceilings of the same tiers and paths from sources that are not in use."""
    found = []
    for roof in roofs:
        for source in _SOURCES:
            prefix = f"ceilings.{roof.name}.{source}"
            if source == roof.source or f"{prefix}.value" not in columns:
                continue
            at = _highest(columns[f"{prefix}.value"], mine & _works(columns, roof.name))
            if at is not None:
                value, clock = columns[f"{prefix}.value"][at], columns[f"{prefix}.clock"][at]
                found.append(Roof(roof.name, float(value), source, float(clock)))
    return tuple(found)


def _works(columns: Columns, name: str) -> BoolArray:
    """Launches to which the ceiling of a tier or path says something: an upper bound may be no work at all."""
    if name in TIERS:
        return np.ones(len(columns["time"]), np.bool_)
    return np.asarray((columns[f"work.{name}.rate"] > 0) & (columns[f"work.{name}.extent"] != Extent.AT_MOST.label))


def _highest(values: FloatArray, mine: BoolArray) -> int | None:
    """Place of the highest known value, None where none is known."""
    candidates = np.where(mine, values, np.nan)
    return None if np.isnan(candidates).all() else int(np.nanargmax(candidates))


def _mark(number: int, name: str, group: Mapping[str, Any], wrong: frozenset[int]) -> Mark:
    work = {name: use for name in PATHS if (use := _use(group, name, "count")) and (use.total > 0 or use.rate > 0)}
    traffic = {tier: use for tier in TIERS if (use := _use(group, tier, "bytes"))}
    bound, complete = group["bound.by"], bool(group["bound.complete"])
    flop = [path for path in FLOP_PATHS if path in work]
    path = max(flop, key=lambda name: (np.nan_to_num(work[name].share, nan=-1.0), work[name].rate), default=None)
    shown = {tier: traffic[tier] for tier in TIERS if tier in traffic and (tier in CORE_TIERS or tier == bound)}
    intensity: dict[str, float] = {
        tier: value
        for tier, use in shown.items()
        if path is not None and _may_divide(group, path, tier) and (value := _intensity([work[path]], use)) > 0
    }
    every: dict[str, float] = {
        tier: _intensity([work[name] for name in flop if _may_divide(group, name, tier)], use)
        for tier, use in shown.items()
    }
    fraction = float(group["bound.fraction"])
    kind = _kind(bound, fraction, usage(traffic, work), complete=complete)
    leading = group["leading.path"] if isinstance(group["leading.path"], str) else None
    rate = work[path].rate if path is not None else math.nan
    nearest = bound if bound in intensity and kind != FAR_FROM_ALL else next(iter(intensity), None)
    return Mark(
        number=number,
        name=name,
        full_name=group["kernel"] or "",
        launches=int(group["invocations"]),
        members=group["launches"],
        grid=group["grid"],
        block=group["block"],
        time=float(group["time"]),
        is_timed=math.isnan(group["time"]) or group["timed"] == len(group["launches"]),
        share=float(group["share"]),
        path=path,
        rate=rate,
        leading=(leading, float(group["leading.rate"])),
        work=work,
        traffic=traffic,
        busy=_busy(group),
        ledger={name: value for name, value in group.items() if name.partition(".")[0] == "ledger"},
        intensity=intensity,
        all_intensity=every,
        bound=bound,
        fraction=fraction,
        complete=complete,
        tier=nearest if rate > 0 else None,
        kind=kind,
        wrong=not wrong.isdisjoint(group["launches"]),
    )


def _busy(group: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Throughput percentages of ncu by unit; those over active cycles only where there is none over all cycles."""
    found = {}
    for kind, sort in (("utilization_active", " (active cycles)"), ("utilization", "")):
        for name, title in UTILIZATION_TITLES.items():
            low, high = (group.get(f"{kind}.{name}.{end}", math.nan) for end in ("low", "high"))
            other = group.get(f"utilization.{name}.high", math.nan)
            if high >= 0 and (kind == "utilization" or not other >= 0):
                found[f"{title}{sort}"] = (float(low), float(high))
    return found


def _may_divide(group: Mapping[str, Any], path: str, tier: str) -> bool:
    """Whether the work of a path and the bytes of a tier are of the same launches."""
    return bool(group["may_divide"]) and group[f"{path}.known"] == group[f"{tier}.known"]


def _use(group: Mapping[str, Any], name: str, amount: str) -> Use | None:
    """What a group does on a path or at a tier; None where nothing of it is known."""
    if f"{name}.rate" not in group:
        return None
    total, rate, share = (float(group[f"{name}.{column}"]) for column in (amount, "rate", "share"))
    use = Use(total, rate, share, int(group[f"{name}.known"]))
    return None if math.isnan(use.total) and math.isnan(use.rate) else use


def _intensity(work: Sequence[Use], traffic: Use) -> float:
    """Work of paths over bytes, from rates where they are known; NaN where there is no work or there are no bytes."""
    by_rate = all(use.rate > 0 for use in work)
    above = sum(use.rate if by_rate else use.total for use in work)
    below = traffic.rate if by_rate else traffic.total
    return above / below if below > 0 and above > 0 else math.nan


def _kind(bound: str | None, fraction: float, usage: Mapping[str, float], *, complete: bool) -> str:
    """Paths of one pipe add up, so that the share of the bound may be more than that of every ceiling."""
    if bound is None:
        return NOT_KNOWN
    if complete and usage and max(usage.values()) < FAR and fraction < FAR:
        return FAR_FROM_ALL
    return bound if bound in TIERS else COMPUTE
