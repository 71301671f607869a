"""What a job could reach, as text, Markdown or JSON: bounds of its launches, its steps, the triage of its kernels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import rows
from ncu_roofline.budget import Budget, Step, Triage
from ncu_roofline.formats import UNKNOWN, aligned, percent, quantity, seconds, shape, short_kernel, visible
from ncu_roofline.render.group_table import positions
from ncu_roofline.render.markdown_syntax import code_cell, escaped, table_row
from ncu_roofline.render.plain import plain
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import Severity
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


def to_text(found: Budget, analysis: Analysis, top: int) -> str:
    """For a terminal."""
    lines = [*_bounds(found), *_overhead(found), "", *_of_timeline(found)]
    for step in found.steps:
        lines += ["", *_step(step), "", *aligned(_items(step, top)), *_more(step.items, top)]
    lines += ["", _LEGEND] if found.steps else []
    lines += ["", *aligned(_sides(found, top)), *_more(found.triage, top)]
    for one in found.triage[:top]:
        lines += _statements(one, lambda name: short_kernel(name, _KERNEL_WIDTH))
    return "\n".join(map(visible, [*lines, *_findings(analysis)]))


def to_markdown(found: Budget, analysis: Analysis, top: int) -> str:
    """For a pull request."""
    lines = ["### Budget", "", *(f"- {escaped(line.strip())}" for line in _bounds(found))]
    lines += [f"- {escaped(line)}" for line in (*_overhead(found), *_of_timeline(found))]
    for step in found.steps:
        head, *others = _step(step)
        lines += ["", f"**{escaped(head)}**", "", *(f"- {escaped(line.strip())}" for line in others), ""]
        lines += [*_table(_items(step, top)), "", *_more(step.items, top)]
    lines += ["", _LEGEND] if found.steps else []
    lines += ["", *_table(_sides(found, top)), "", *_more(found.triage, top)]
    for one in found.triage[:top]:
        name, *others = [*_statements(one, lambda name: name or UNKNOWN)] or [""]
        lines += ["", escaped(name), *map(escaped, others)] if others else []
    lines += [escaped(line) for line in _findings(analysis)]
    return "\n".join(lines) + "\n"


def to_json(found: Budget, analysis: Analysis) -> str:
    """One object; times in seconds, not rounded, null is unknown."""
    document = {
        "schema": SCHEMA,
        "tool": {"name": "ncu-roofline", "version": VERSION},
        "inputs": [{"path": item.path, "sha256": item.sha256} for item in analysis.inputs],
        "timeline": _timeline(found),
        "bounds": [
            {"device": one.name, "launches": one.launches, **(asdict(one.bound) if one.bound else {"serial": None})}
            for one in found.bounds
        ],
        "steps": [_entry(step) for step in found.steps],
        "triage": [asdict(one) for one in found.triage],
        "findings": [
            {"code": finding.code, "name": finding.name, "severity": finding.severity.label,
             "launches": list(finding.launches), "message": finding.message}
            for finding in analysis.finding_list
        ],
    }  # fmt: skip
    return json.dumps(plain(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _findings(analysis: Analysis) -> list[str]:
    """Errors and warnings of the reports in full, notes by their number."""
    found = analysis.finding_list
    lines = [
        f"{one.severity.label} {one.code} {one.name}: {one.message}" for one in found if one.severity > Severity.NOTE
    ]
    counts = [count(sum(one.severity == severity for one in found), severity.label) for severity in reversed(Severity)]
    said = f"Findings of the reports: {', '.join(counts)} "
    return ["", *lines, f"{said}(ncu-roofline check)."]


def _timeline(found: Budget) -> dict[str, Any] | None:
    if found.timeline is None:
        return None
    notes = [*found.apart, *found.timeline.notes]
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


def _overhead(found: Budget) -> list[str]:
    """What launching takes the host without a timeline, where the user says how long a launch takes it."""
    launches = sum(one.launches for one in found.bounds)
    if found.timeline is not None or not found.call > 0:
        return []
    whole = seconds(launches * found.call)
    return [f"Launch overhead: {count(launches, 'launch')} x {seconds(found.call)} = {whole} of the host."]


def _of_timeline(found: Budget) -> Iterator[str]:
    """What the timeline is, and what is doubtful about it."""
    if found.timeline is None:
        yield NO_TIMELINE
        return
    yield f"Timeline {found.timeline.path}: {found.timeline.producer}"
    yield from found.apart
    yield from found.timeline.notes


def _step(step: Step) -> Iterator[str]:
    where = "a device that is not told" if step.device is None else f"device {step.device}"
    yield f"Step on {where}: took {seconds(step.span)}"
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
        late = step.idle_by["host"] + step.idle_by["synchronisation"]
        yield (
            f"  launching: {count(step.calls, 'call')} x {seconds(step.call)} = {seconds(step.host_time)} of the host "
            f"({percent(step.host_time / step.span)} of the step)"
        )
        yield f"  host-bound share: for {percent(late / step.span)} of the step nothing ran and nothing was issued"
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
            _times(item.speedup),
            item.evidence,
        ]
        for item in step.items[:top]
    ]
    return [head, *found]


def _times(speedup: float) -> str:
    return UNKNOWN if not math.isfinite(speedup) else f"{speedup:.3g}x" if speedup < 100 else f"{speedup:.0f}x"


def _more(of: Sequence[object], top: int) -> list[str]:
    return [f"{len(of) - top} more not shown."] if len(of) > top else []


def _sides(found: Budget, top: int) -> list[list[str]]:
    head = ["kernel", "grid", "launch", "side", "held against", "reached", "time", "arithmetic", "memory"]
    body = [
        [
            short_kernel(one.kernel, _KERNEL_WIDTH),
            shape(one.grid),
            positions(one.launches),
            f"{one.side} of the ridge" if one.side else UNKNOWN,
            _ceiling(one),
            percent(one.fraction, at_least=not one.complete),
            seconds(one.time),
            seconds(one.arithmetic),
            seconds(one.memory),
        ]
        for one in found.triage[:top]
    ]
    return [head, *body]


def _ceiling(one: Triage) -> str:
    if math.isnan(one.ceiling):
        return one.metric if one.side is None else f"{one.metric}, not known"
    by, unit = one.metric.split()[:2]
    return f"{by} {quantity(one.ceiling, unit)}"


def _statements(one: Triage, called: Callable[[str | None], str]) -> Iterator[str]:
    if not one.statements:
        return
    yield ""
    where = f"{called(one.kernel)}, grid {shape(one.grid)}"
    yield f"{where}: {percent(one.fraction, at_least=not one.complete)} of its bound. What may keep it there:"
    for place, statement in enumerate(one.statements, start=1):
        says = f"{statement.says} ({statement.evidence})" if statement.says else statement.evidence
        yield f"{place}. {statement.check}: {says}"


def _table(cells: Sequence[Sequence[str]]) -> list[str]:
    head, *body = cells
    left = {"side", "held against", "why", "grid", "launch"}
    lines = [table_row(head), table_row([":--", *(":--" if name in left else "--:" for name in head[1:])])]
    return [*lines, *(table_row([code_cell(row[0]), *map(escaped, row[1:])]) for row in body)]


def _entry(step: Step) -> dict[str, Any]:
    groups = {name: step.groups[name] for name in (
        "kind", "kernel", "grid", "block", "launches", "time", "alone", "fraction", "complete", "match", "bound.by",
        "could",
    )}  # fmt: skip
    names = ("device", "span", "busy", "idle", "kernels", "overlapped", "graphs", "launches", "calls", "call",
             "streams", "known_share", "serial", "by_stream", "aggregate", "resource", "complete")  # fmt: skip
    return {name: getattr(step, name) for name in names} | {
        "idle_by": dict(step.idle_by),
        "exposed": dict(step.exposed),
        "groups": rows(groups),
        "items": [asdict(item) for item in step.items],
    }
