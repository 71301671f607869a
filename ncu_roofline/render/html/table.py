"""The table of kernel groups: the numbers of the chart, and the chart for those who cannot see it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from ncu_roofline.formats import percent, quantity, seconds
from ncu_roofline.render.html.head import ROWS, headroom
from ncu_roofline.render.html.markup import cell, text
from ncu_roofline.render.picture import Chart, Mark
from ncu_roofline.render.picture.palette import TITLES, title
from ncu_roofline.render.picture.plot import plain
from ncu_roofline.vocabulary import work_unit
from ncu_roofline.wording import count

_COLUMNS: Final = (
    ("#", "number"), ("Kernel group", "text"), ("Time %", "number"), ("Time", "number"), ("Launches", "number"),
    ("Bound by", "text"), ("% of roof", "number"), ("Headroom, pp", "number"), ("Path", "text"), ("Rate", "number"),
    ("AI DRAM", "number"), ("AI L2", "number"), ("AI L1", "number"),
    ("DRAM", "number"), ("L2", "number"), ("L1", "number"),
)  # fmt: skip
_NONE: Final = cell("", math.nan)
_ROOF: Final = ("% of roof", "Headroom, pp")
_WORK: Final = ("Path", "Rate", "AI DRAM", "AI L2", "AI L1")
_BYTES: Final = ("DRAM", "L2", "L1")


def rows_of(drawn: Sequence[Chart]) -> list[Mark]:
    """The groups that have a row, in the order of their numbers."""
    marks = (mark for chart in drawn for mark in chart.marks if mark.number <= ROWS)
    return sorted(marks, key=lambda mark: mark.number)


def table(drawn: Sequence[Chart], *, controls: bool = True) -> Iterator[str]:
    """All rows, with a field to filter by name and buttons to save, for which scripts are needed."""
    marks = rows_of(drawn)
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
    devices = {mark.number: chart.device for chart in drawn for mark in chart.marks} if len(drawn) > 1 else {}
    columns = _columns(marks)
    columns[2:2] = [("Device", "text")] if devices else []
    for heading, kind in columns:
        inside = f'<button type="button">{heading}</button>' if controls else heading
        yield f'<th scope="col" class="{kind}">{inside}</th>'
    yield "</tr></thead><tbody>"
    for mark in marks:
        cells = _cells(mark, links=controls) | {"Device": f'<td class="text">{text(devices.get(mark.number, ""))}</td>'}
        yield (
            f'<tr data-testid="row" data-kernel-id="k{mark.number}" data-bound="{text(mark.bound or "")}">'
            f"{''.join(cells.get(heading, _NONE) for heading, _ in columns)}</tr>"
        )
    yield "</tbody></table></div>"
    others = sum(chart.groups for chart in drawn) - len(marks)
    if others:
        whole = sum(chart.time for chart in drawn)
        rest = whole - sum(mark.time for mark in marks if not math.isnan(mark.share))
        share = f", {rest / whole:.1%} of the time" if whole > 0 else ""
        yield f'<p class="muted">Others: {count(others, "group")}{share}.</p>'


def _columns(marks: Sequence[Mark]) -> list[tuple[str, str]]:
    """Columns in which some group has something; how busy units are stands in where nothing is said to bind."""
    empty: list[str] = []
    empty += () if any(mark.time > 0 for mark in marks) else ("Time %", "Time")
    empty += () if any(mark.fraction >= 0 for mark in marks) else _ROOF
    with_work = any(mark.leading[0] for mark in marks)
    empty += _BYTES if with_work else _WORK
    empty += [name for name in _BYTES if not any(name in _bytes(mark) for mark in marks)]
    columns = [column for column in _COLUMNS if column[0] not in empty]
    if not any(mark.bound for mark in marks):
        names = dict.fromkeys(name for mark in marks for name in mark.busy)
        columns += [(f"{name} busy", "number") for name in names]
    return columns


def _cells(mark: Mark, *, links: bool) -> dict[str, str]:
    """Every cell of a row by the title of its column."""
    bound = TITLES.get(mark.bound or "", mark.bound or "unknown")
    kind = f"far from all ({bound})" if mark.kind == "far" else bound
    name = f'<a href="#k{mark.number}">{text(mark.name)}</a>' if links else text(mark.name)
    left = headroom(mark) if not math.isnan(mark.fraction) else math.nan
    path, rate = mark.leading
    unit = f"{work_unit(path)}/s" if path else ""
    cells = {
        "#": cell(mark.label, mark.number, "has an error: see its findings" if mark.wrong else ""),
        "Kernel group": f'<td class="text">{name}</td>',
        "Time %": cell(f"{mark.share:.1%}", mark.share),
        "Time": cell(f"{'' if mark.is_timed else '>='}{seconds(mark.time)}", mark.time),
        "Launches": cell(f"{mark.launches:,}".replace(",", "\u2009"), mark.launches),
        "Bound by": f'<td class="text"><span class="swatch {mark.kind}"></span>{text(kind)}</td>',
        "% of roof": cell(percent(mark.fraction, at_least=not mark.complete), mark.fraction),
        "Headroom, pp": cell(f"{left:.1f}", left),
        "Path": f'<td class="text">{text(path or "none counted")}</td>',
        "Rate": cell(quantity(rate, unit), rate if path else math.nan),
    }
    cells |= {f"AI {title(tier)}": cell(plain(value), value) for tier, value in mark.all_intensity.items() if value > 0}
    cells |= {name: cell(*said) for name, said in _bytes(mark).items()}
    return cells | {f"{unit} busy": cell(_busy(low, high), high) for unit, (low, high) in mark.busy.items()}


def _bytes(mark: Mark) -> dict[str, tuple[str, float]]:
    """Bytes per second at each tier, or in all where there is no time."""
    return {
        title(tier): (quantity(use.rate, "B/s"), use.rate)
        if not math.isnan(use.rate)
        else (quantity(use.total, "B"), use.total)
        for tier, use in mark.traffic.items()
    }


def _busy(low: float, high: float) -> str:
    """A percentage, or its range over the launches of a group."""
    one, two = percent(low), percent(high)
    return two if one == two or math.isnan(low) else f"{one.removesuffix('%')}-{two}"
