"""The bound of a launch explained: time at the ceiling of every resource, and why it may be incomplete."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from ncu_roofline.explain.expression import Expression, text_of, total_of
from ncu_roofline.explain.values import COUNTED, Explained, Launch, Step
from ncu_roofline.vocabulary import (
    CORE_TIERS,
    NEVER_BINDING_PATHS,
    SCALAR_FLOP_PATHS,
    Extent,
    TensorState,
    is_tensor,
)

_EXTENTS: Final = {None: "not collected", "at_least": "only in part", "at_most": "only as an upper bound"}


def explain_bound(found: Launch) -> Explained:
    """Time at the ceiling of every resource, the largest of which is the bound."""
    timed = not math.isnan(found.number("time"))
    # Without a time rates decide, and where there are none, amounts.
    prefixes = [f"work.{path}" for path in found.quantities.work] + [f"traffic.{t}" for t in found.quantities.traffic]
    by_rate = not timed and any(not math.isnan(found.number(f"{prefix}.rate")) for prefix in prefixes)
    resources: dict[str, list[Expression]] = {}
    for resource, prefix in _members(found):
        amount = "rate" if by_rate else "bytes" if prefix.startswith("traffic") else "count"
        value, peak = found.number(f"{prefix}.{amount}"), found.number(f"{prefix}.peak")
        if not math.isnan(value / peak):
            formula, numbers = f"{prefix}.{amount} / {prefix}.peak", f"{text_of(value)} / {text_of(peak)}"
            resources.setdefault(resource, []).append(Expression(value / peak, formula, numbers))
    unit = "1" if by_rate else "s"
    loads = {resource: total_of(terms) for resource, terms in resources.items()}
    steps = [Step(resource, load.value, unit, load.formula, load.numbers) for resource, load in loads.items()]
    gaps = _gaps(found)
    limit = "at_least" if gaps else None
    column = "bound.time" if timed else "bound.fraction"
    if loads and (timed or by_rate):
        whole = _largest(list(loads)), _largest([text_of(load.value) for load in loads.values()])
        steps.append(Step(column, found.number(column), unit, *whole, limit=limit))
    if loads and timed:
        bound, time = text_of(found.number("bound.time")), text_of(found.number("time"))
        fraction, headroom = found.number("bound.fraction"), found.number("bound.headroom")
        steps.append(Step("bound.fraction", fraction, "1", "bound.time / time", f"{bound} / {time}", limit=limit))
        limit = "at_most" if gaps else None
        steps.append(Step("bound.headroom", headroom, "s", "time - bound.time", f"{time} - {bound}", limit=limit))
    by = found.row["bound.by"]
    remarks = [f"bound by {by}" if by else "what binds is not known"]
    if not loads:
        remarks.append("nothing has both an amount and a ceiling")
    if found.number("bound.fraction") > 1:
        remarks.append("above its ceiling: the numbers contradict each other")
    if gaps:
        remarks.append(f"incomplete: {', '.join(gaps)}")
    return Explained("bound", None, None, "; ".join(remarks), tuple(steps), (), None, None, None)


def _largest(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"max({', '.join(terms)})"


def _gaps(found: Launch) -> list[str]:
    """Why a bound is not complete (contract, "Bound"); empty where it is."""
    row, gaps = found.row, []
    for tier in CORE_TIERS:
        extent = row.get(f"traffic.{tier}.extent")
        if extent != Extent.EXACT.label:
            gaps.append(f"{tier} {_EXTENTS[extent]}")
        elif math.isnan(found.number(f"traffic.{tier}.peak")):
            gaps.append(f"no ceiling of {tier}")
    for path in SCALAR_FLOP_PATHS:
        extent = row.get(f"work.{path}.extent")
        if extent != Extent.EXACT.label:
            gaps.append(f"{path} {_EXTENTS[extent]}")
    for path, amount in found.quantities.work.items():
        if path not in NEVER_BINDING_PATHS and math.isnan(found.number(f"work.{path}.peak")):
            gaps += [f"no ceiling of {path}"] if amount.total[0] > 0 or amount.rate[0] > 0 else []
    if found.quantities.tensor_state[0] != TensorState.IDLE:
        tensor = [path for path in found.metric_map.paths if is_tensor(path)]
        absent = [path for path in tensor if row.get(f"work.{path}.extent") != Extent.EXACT.label]
        if not tensor:
            gaps.append("tensor work, which this map does not count")
        gaps += [f"{path} {_EXTENTS[row.get(f'work.{path}.extent')]}" for path in absent]
    rated = any(not math.isnan(found.number(f"traffic.{tier}.rate")) for tier in CORE_TIERS)
    return gaps if rated or not math.isnan(found.number("time")) else [*gaps, "no time"]


def _members(found: Launch) -> Iterator[tuple[str, str]]:
    """Resource and column prefix of every amount that may bind and has a ceiling."""
    for path in found.quantities.work:
        if path not in NEVER_BINDING_PATHS and _may_bind(found, f"work.{path}"):
            yield f"pipe {found.metric_map.paths[path].pipe}", f"work.{path}"
    for tier in found.quantities.traffic:
        prefix = f"traffic.{tier}"
        if _may_bind(found, prefix):
            measures = {measure.id: measure.data_path for measure in found.metric_map.tiers[tier].measures}
            shared = measures[found.row[f"{prefix}.measure"]]
            yield f"data path {shared}" if shared else tier, prefix


def _may_bind(found: Launch, prefix: str) -> bool:
    return found.row.get(f"{prefix}.extent") in COUNTED and not math.isnan(found.number(f"{prefix}.peak"))
