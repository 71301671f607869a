"""The table of kernel groups: the numbers of the chart, and the chart for those who cannot see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from ncu_roofline.formats import percent, quantity, seconds
from ncu_roofline.render.html.head import headroom
from ncu_roofline.render.html.markup import cell, text
from ncu_roofline.render.picture import Chart, Mark
from ncu_roofline.render.picture.palette import TITLES
from ncu_roofline.render.picture.plot import plain
from ncu_roofline.vocabulary import CORE_TIERS, work_unit
from ncu_roofline.wording import count

ROWS: Final = 200
"""Groups in the table, the longest; they have a drawer each."""
_COLUMNS: Final = (
    ("#", "number"), ("Kernel group", "text"), ("Time %", "number"), ("Time", "number"), ("Launches", "number"),
    ("Bound by", "text"), ("% of roof", "number"), ("Headroom, pp", "number"), ("Path", "text"), ("Rate", "number"),
    ("AI DRAM", "number"), ("AI L2", "number"), ("AI L1", "number"),
)  # fmt: skip
_TIMES: Final = ("Time %", "Time")


def rows_of(drawn: Sequence[Chart]) -> list[Mark]:
    """The groups that have a row, in the order of their numbers."""
    return sorted((mark for chart in drawn for mark in chart.marks), key=lambda mark: mark.number)[:ROWS]


def table(drawn: Sequence[Chart], *, controls: bool = True) -> Iterator[str]:
    """All rows, with a field to filter by name and buttons to save, for which scripts are needed."""
    marks = rows_of(drawn)
    timed = any(mark.time > 0 for mark in marks)
    busy = list(dict.fromkeys(name for mark in marks for name in mark.busy))
    busy = [] if any(mark.bound for mark in marks) else busy
    yield "<h2>Kernel groups</h2>"
    if controls:
        yield (
            '<p class="control"><label>Filter by name <input id="filter" type="search"></label> '
            f'<span id="matching" class="muted" role="status">{len(marks)} of {len(marks)}</span> '
            'Unrounded numbers: <button type="button" id="csv">CSV</button> '
            '<button type="button" id="json">JSON</button></p>'
        )
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Kernel groups">'
    name = ' id="kernels"' if controls else ""
    yield f'<table{name} data-testid="kernels">'
    yield "<thead><tr>"
    columns = [column for column in _COLUMNS if timed or column[0] not in _TIMES]
    for title, kind in (*columns, *((f"{name} busy", "number") for name in busy)):
        inside = f'<button type="button">{title}</button>' if controls else title
        yield f'<th scope="col" class="{kind}">{inside}</th>'
    yield "</tr></thead><tbody>"
    for mark in marks:
        yield from _row(mark, timed=timed, busy=busy, links=controls)
    yield "</tbody></table></div>"
    others = sum(chart.groups for chart in drawn) - len(marks)
    if others:
        rest = sum(chart.time for chart in drawn) - sum(mark.time for mark in marks if not math.isnan(mark.time))
        share = f", {rest / sum(chart.time for chart in drawn):.1%} of the time" if timed else ""
        yield f'<p class="muted">Others: {count(others, "group")}{share}.</p>'


def _row(mark: Mark, *, timed: bool, busy: Sequence[str], links: bool) -> Iterator[str]:
    bound = TITLES.get(mark.bound or "", mark.bound or "unknown")
    kind = f"far from all ({bound})" if mark.kind == "far" else bound
    roof = percent(mark.fraction, at_least=not mark.complete) if not math.isnan(mark.fraction) else ""
    yield (f'<tr data-testid="row" data-kernel-id="k{mark.number}" data-bound="{text(mark.bound or "")}">')
    yield cell(mark.label, mark.number, "has an error: see its findings" if mark.wrong else "")
    name = f'<a href="#k{mark.number}">{text(mark.name)}</a>' if links else text(mark.name)
    yield f'<td class="text">{name}</td>'
    if timed:
        yield cell(f"{mark.share:.1%}", mark.share)
        yield cell(seconds(mark.time), mark.time)
    yield cell(f"{mark.launches:,}".replace(",", "\u2009"), mark.launches)
    yield f'<td class="text"><span class="swatch {mark.kind}"></span>{text(kind)}</td>'
    yield cell(roof, mark.fraction)
    yield cell(f"{headroom(mark):.1f}", headroom(mark) if not math.isnan(mark.fraction) else math.nan)
    yield f'<td class="text">{text(mark.path or "none counted")}</td>'
    unit = f"{work_unit(mark.path)}/s" if mark.path else ""
    yield cell(quantity(mark.rate, unit), mark.rate if mark.path else math.nan)
    yield from _numbers(mark.intensity, CORE_TIERS, plain)
    yield from _numbers(mark.busy, busy, percent)
    yield "</tr>"


def _numbers(values: Mapping[str, float], names: Sequence[str], said: Callable[[float], str]) -> Iterator[str]:
    for name in names:
        value = values.get(name, math.nan)
        yield cell(said(value) if value >= 0 else "", value)
