"""What a job could reach, as text, Markdown or JSON: bounds of its launches, its steps, the triage of its kernels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import rows
from ncu_roofline.budget import ApplicationBound, Step, Triage
from ncu_roofline.formats import UNKNOWN, aligned, percent, quantity, seconds, short_kernel
from ncu_roofline.render.markdown import code, escaped, table_row
from ncu_roofline.timings import Timeline
from ncu_roofline.version import VERSION
from ncu_roofline.wording import count

SCHEMA: Final = "ncu-roofline/budget/1"
_KERNEL_WIDTH: Final = 44
_WHY_IDLE: Final = {
    "host": "launch not issued yet", "synchronisation": "host waiting", "queued": "issued, not begun",
    "unknown": "call not in the timeline",
}  # fmt: skip
NO_TIMELINE: Final = (
    "No timeline was given, so that gaps, overlap, communication and the host are not known: --timeline FILE takes an "
    "SQLite export of nsys (nsys export --type sqlite)."
)
_LEGEND: Final = (
    "Time to win of a kernel: the time in which it ran alone x (1 - its fraction of the bound under ncu, where bound "
    "and time were measured together); <= where something that may bind is not known. Faster: the step without that "
    "time (Amdahl), each item by itself."
)


@dataclass(frozen=True)
class DeviceBound:
    """The launches of one input and device of the report."""

    name: str
    bound: ApplicationBound | None
    launches: int


@dataclass(frozen=True)
class Budget:
    """All that is known of a job; without a timeline there are no steps."""

    analysis: Analysis
    bounds: Sequence[DeviceBound]
    timeline: Timeline | None
    steps: Sequence[Step]
    triage: Sequence[Triage]
    top: int
    apart: str = ""
    """Why no fraction of the report is used for the timeline; empty if they are."""


def to_text(found: Budget) -> str:
    """For a terminal."""
    lines = [*_bounds(found), "", *_of_timeline(found)]
    for step in found.steps:
        lines += ["", *_step(step), "", *aligned(_items(step, found.top)), *_more(step, found.top)]
    lines += ["", _LEGEND] if found.steps else []
    lines += ["", *aligned(_sides(found))]
    for one in found.triage[: found.top]:
        lines += _statements(one, lambda name: short_kernel(name, _KERNEL_WIDTH))
    return "\n".join(lines)


def to_markdown(found: Budget) -> str:
    """For a pull request."""
    lines = ["### Budget", "", *(f"- {escaped(line.strip())}" for line in _bounds(found))]
    lines += [f"- {escaped(line)}" for line in _of_timeline(found)]
    for step in found.steps:
        head, *others = _step(step)
        lines += ["", f"**{escaped(head)}**", "", *(f"- {escaped(line.strip())}" for line in others), ""]
        lines += [*_table(_items(step, found.top)), *_more(step, found.top)]
    lines += ["", _LEGEND] if found.steps else []
    lines += ["", *_table(_sides(found)), ""]
    for one in found.triage[: found.top]:
        lines += [escaped(line) for line in _statements(one, lambda name: code(short_kernel(name, _KERNEL_WIDTH)))]
    return "\n".join(lines) + "\n"


def to_json(found: Budget) -> str:
    """One object; times in seconds, not rounded, null is unknown."""
    document = {
        "schema": SCHEMA,
        "tool": {"name": "ncu-roofline", "version": VERSION},
        "inputs": [{"path": item.path, "sha256": item.sha256} for item in found.analysis.inputs],
        "timeline": _timeline(found),
        "bounds": [
            {"device": one.name, "launches": one.launches, **(asdict(one.bound) if one.bound else {"serial": None})}
            for one in found.bounds
        ],
        "steps": [_entry(step) for step in found.steps],
        "triage": [asdict(one) for one in found.triage],
    }  # fmt: skip
    return json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _timeline(found: Budget) -> dict[str, Any] | None:
    if found.timeline is None:
        return None
    notes = [*filter(None, [found.apart]), *found.timeline.notes]
    return {"path": found.timeline.path, "producer": found.timeline.producer, "notes": notes}


def _bounds(found: Budget) -> Iterator[str]:
    yield "Bounds of the launches of the report, under the conditions of ncu:"
    for one in found.bounds:
        if one.bound is None:
            yield f"  {one.name}: no launch has a bound and a time"
            continue
        bound, sign = one.bound, "" if one.bound.complete else ">="
        of = "" if bound.launches == bound.of else f" of {bound.of}"
        yield (
            f"  {one.name}: {count(bound.launches, 'launch')}{of} took {seconds(bound.time)}; serial bound (one after "
            f"the other) {sign}{seconds(bound.serial)}, {percent(bound.serial / bound.time)}; aggregate bound (looser: "
            f"as if all overlapped) {sign}{seconds(bound.aggregate)}, all of it {bound.resource}"
        )


def _of_timeline(found: Budget) -> Iterator[str]:
    """What the timeline is, and what is doubtful about it."""
    if found.timeline is None:
        yield NO_TIMELINE
        return
    names = f", on {', '.join(found.timeline.device_names)}" if found.timeline.device_names else ""
    yield f"Timeline {found.timeline.path}: {found.timeline.producer}{names}"
    if found.apart:
        yield found.apart
    yield from found.timeline.notes


def _step(step: Step) -> Iterator[str]:
    yield f"Step on device {step.device}: took {seconds(step.span)}"
    reasons = [f"{words} {seconds(step.idle_by[name])}" for name, words in _WHY_IDLE.items() if step.idle_by[name] > 0]
    yield (
        f"  busy {seconds(step.busy)} ({percent(step.busy / step.span)}), idle {seconds(step.idle)} "
        f"({percent(step.idle / step.span)}){': ' if reasons else ''}{', '.join(reasons)}"
    )
    yield (
        f"  {count(step.launches, 'kernel')} on {count(step.streams, 'stream')} took {seconds(step.kernels)}, "
        f"{seconds(step.overlapped)} of it beside another kernel"
    )
    for kind, time in step.exposed.items():
        yield f"  only {kind} ran for {seconds(time)}"
    if step.graphs > 0:
        yield f"  graphs took {seconds(step.graphs)}: busy, but what ran in them is not known"
    if not math.isnan(step.call):
        whole = step.launches * step.call
        late = step.idle_by["host"] + step.idle_by["synchronisation"]
        yield (
            f"  launching: {step.launches} x {seconds(step.call)} = {seconds(whole)} of the host "
            f"({percent(whole / step.span)} of the step); host-bound share, the device waiting for it: "
            f"{percent(late / step.span)}"
        )
    yield f"  ncu knows a fraction of the bound for {percent(step.known_share)} of the kernel time"
    sign = "" if step.complete else ">="
    yield f"  could take: serial {sign}{seconds(step.serial)} (kernels at their bounds, the rest as it is, no gaps)"
    yield f"              busiest stream alone {sign}{seconds(step.by_stream)}"
    if step.resource is not None:
        yield (
            f"              aggregate (looser) {sign}{seconds(step.aggregate)}, all of it {step.resource}, of the "
            "kernels that ncu knows"
        )


def _items(step: Step, top: int) -> list[list[str]]:
    head = ["where time could be won", "time to win", "faster", "why"]
    found = [
        [
            short_kernel(item.name, _KERNEL_WIDTH),
            ("<=" if item.at_most else "") + seconds(item.seconds),
            f"{item.speedup:.3g}x" if math.isfinite(item.speedup) else UNKNOWN,
            item.evidence,
        ]
        for item in step.items[:top]
    ]
    return [head, *found]


def _more(step: Step, top: int) -> list[str]:
    return [f"{len(step.items) - top} more not shown."] if len(step.items) > top else []


def _sides(found: Budget) -> list[list[str]]:
    head = ["kernel", "side", "held against", "reached", "time", "arithmetic", "memory"]
    body = [
        [
            short_kernel(one.kernel, _KERNEL_WIDTH),
            f"{one.side} of the ridge" if one.side else UNKNOWN,
            one.metric,
            _reached(one),
            seconds(one.time),
            seconds(one.arithmetic),
            seconds(one.memory),
        ]
        for one in found.triage[: found.top]
    ]
    return [head, *body]


def _reached(one: Triage) -> str:
    if math.isnan(one.share):
        return UNKNOWN
    unit = "B/s" if one.side == "left" else "FLOP/s" if "FLOP" in one.metric else "OP/s"
    return f"{percent(one.share)} of {quantity(one.ceiling, unit)}"


def _statements(one: Triage, called: Callable[[str | None], str]) -> Iterator[str]:
    if not one.statements:
        return
    yield ""
    yield f"{called(one.kernel)} is far from its bound. What may keep it there, in the order of what is at stake:"
    for place, statement in enumerate(one.statements, start=1):
        says = f"{statement.says} ({statement.evidence})" if statement.says else statement.evidence
        yield f"{place}. {statement.check}: {says}"


def _table(cells: Sequence[Sequence[str]]) -> list[str]:
    head, *body = cells
    lines = [table_row(head), table_row([":--", *["--:"] * (len(head) - 2), ":--"])]
    return [*lines, *(table_row([code(row[0]).replace("|", "\\|"), *map(escaped, row[1:])]) for row in body)]


def _entry(step: Step) -> dict[str, Any]:
    groups = {name: step.groups[name] for name in (
        "kind", "kernel", "grid", "block", "launches", "time", "alone", "fraction", "complete", "match", "bound.by",
        "could",
    )}  # fmt: skip
    names = ("device", "span", "busy", "idle", "kernels", "overlapped", "graphs", "launches", "call", "streams",
             "known_share", "serial", "by_stream", "aggregate", "resource", "complete")  # fmt: skip
    return {name: getattr(step, name) for name in names} | {
        "idle_by": dict(step.idle_by),
        "exposed": dict(step.exposed),
        "groups": rows(groups),
        "items": [asdict(item) for item in step.items],
    }


def _plain(value: Any) -> Any:
    """Plain data: no NaN, no infinity, no numbers of numpy."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
