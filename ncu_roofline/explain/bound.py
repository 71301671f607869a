"""The bound of a launch explained: time at the ceiling of every resource, and why it may be incomplete."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from ncu_roofline.explain.expression import Expression, text_of, total_of
from ncu_roofline.explain.values import COUNTED, Explained, Launch, Step
from ncu_roofline.model import gaps
from ncu_roofline.vocabulary import NEVER_BINDING_PATHS

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
    lacking = [_gap_text(found, column) for column, gone in gaps(found.columns, found.metric_map).items() if gone[0]]
    limit = "at_least" if lacking else None
    column = "bound.time" if timed else "bound.fraction"
    if loads and (timed or by_rate):
        whole = _largest(list(loads)), _largest([text_of(load.value) for load in loads.values()])
        steps.append(Step(column, found.number(column), unit, *whole, limit=limit))
    if loads and timed:
        bound, time = text_of(found.number("bound.time")), text_of(found.number("time"))
        fraction, headroom = found.number("bound.fraction"), found.number("bound.headroom")
        steps.append(Step("bound.fraction", fraction, "1", "bound.time / time", f"{bound} / {time}", limit=limit))
        limit = "at_most" if lacking else None
        steps.append(Step("bound.headroom", headroom, "s", "time - bound.time", f"{time} - {bound}", limit=limit))
    by = found.row["bound.by"]
    remarks = [f"bound by {by}" if by else "what binds is not known"]
    if not loads:
        remarks.append("nothing has both an amount and a ceiling")
    if found.number("bound.fraction") > 1:
        remarks.append("above its ceiling: the numbers contradict each other")
    if lacking:
        remarks.append(f"incomplete: {', '.join(lacking)}")
    return Explained("bound", None, None, "; ".join(remarks), tuple(steps), (), None, None, None)


def _largest(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"max({', '.join(terms)})"


def _gap_text(found: Launch, column: str) -> str:
    """A gap of the bound in words (see ``model.gaps``)."""
    if column == "time":
        return "no time"
    if column == "tensor_missing":
        return "tensor work that was not counted"
    if column == "tensor_state":
        return "tensor work, which this map does not count"
    prefix, _, kind = column.rpartition(".")
    name = prefix.partition(".")[2]
    return f"no ceiling of {name}" if kind == "peak" else f"{name} {_EXTENTS[found.row.get(column)]}"


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
