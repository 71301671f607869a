"""What the page shows, unrounded, as JSON for its scripts and for tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import BoolArray, Columns, FloatArray, numbered_rows, unknown
from ncu_roofline.formats import percent, quantity, seconds
from ncu_roofline.render.html.head import ROWS
from ncu_roofline.render.html.markup import number
from ncu_roofline.render.picture import LIGHT, Chart, Mark, Roof
from ncu_roofline.render.picture.chart import Use
from ncu_roofline.render.picture.marks import name_of, name_places
from ncu_roofline.render.picture.palette import title
from ncu_roofline.render.picture.plot import Plot, radius, roof_ends
from ncu_roofline.render.picture.roofs import NO_CEILING, slope_label, value_of
from ncu_roofline.render.picture.strip import most_used
from ncu_roofline.render.picture.svg import has_axes
from ncu_roofline.vocabulary import CORE_TIERS, FLOP_PATHS, TIERS, Extent, amount_prefix
from ncu_roofline.wording import count

LAUNCHES: Final = 2000
"""Points of a view of launches; more of them are taken together in cells."""
_PER_DECADE: Final = (50, 20, 10, 5, 2, 1)
"""Cells per decade, finest first."""
_DIGITS: Final = 6


def model(drawn: Sequence[Chart], rows: Sequence[Mark]) -> list[dict[str, Any]]:
    """Numbers of the groups with a row, and the roofs, of every device."""
    shown = {mark.number for mark in rows}
    return [
        {
            "device": chart.device,
            "cc": chart.cc,
            "roofs": [_roof(roof) for roof in chart.roofs],
            "groups": [_group(mark) for mark in chart.marks if mark.number in shown],
        }
        for chart in drawn
    ]


def _roof(roof: Roof) -> dict[str, Any]:
    return {"name": roof.name, "value": roof.value, "source": roof.source, "clock": number(roof.clock)}


def _group(mark: Mark) -> dict[str, Any]:
    return {
        "id": f"k{mark.number}", "kernel": mark.full_name, "launches": mark.launches, "time": number(mark.time),
        "share": number(mark.share), "bound": mark.bound, "fraction": number(mark.fraction), "complete": mark.complete,
        "path": mark.leading[0], "rate": number(mark.leading[1]), "tier": mark.tier,
        "intensity": {tier: value for tier, value in mark.all_intensity.items() if value > 0},
    }  # fmt: skip


# For the interactive chart.


def plots(analysis: Analysis, drawn: Sequence[Chart]) -> list[dict[str, Any] | None]:
    """What the interactive chart of each device needs beside the model; None where there are no axes."""
    return [_plot(analysis, chart) if has_axes(chart) else None for chart in drawn]


def _plot(analysis: Analysis, chart: Chart) -> dict[str, Any]:
    plot, frame = Plot(chart, LIGHT), chart.frame
    device, counted = plot.heading()
    total = f"{seconds(chart.time)} of GPU time, " if chart.time > 0 else ""
    places = name_places(plot)
    return {
        "heading": [device, f"{total}{counted}"],
        "none": "" if chart.roofs else NO_CEILING,
        "x": [frame.x_low, frame.x_high],
        "y": [frame.y_low, frame.y_high],
        "roofs": [_line(chart, roof, used=True) for roof in chart.roofs]
        + [_line(chart, roof, used=False) for roof in chart.others],
        "groups": [_point(mark, places.get(mark.number)) for mark in chart.marks],
        "rest": [_rounded(chart.rest.intensity), _rounded(chart.rest.rate)],
        "launches": _launches(analysis, chart),
    }


def paths(chart: Chart) -> dict[str, float]:
    """Floating-point paths with work, that with the most time first, with the share of the time that each leads."""
    leads = {path: 0.0 for path in FLOP_PATHS if any(path in mark.work for mark in chart.marks if mark.is_on_chart)}
    for mark in chart.marks:
        if mark.path in leads and mark.share > 0:
            leads[mark.path] += mark.share
    return dict(sorted(leads.items(), key=lambda item: -item[1]))


def _line(chart: Chart, roof: Roof, *, used: bool) -> dict[str, Any]:
    ends = roof_ends(chart, roof)
    return _roof(roof) | {
        "tier": roof.is_tier, "used": used, "title": title(roof.name), "said": value_of(roof),
        "label": slope_label(chart, roof) if used and roof.is_tier else "",
        "at": "" if math.isnan(roof.clock) else quantity(roof.clock, "Hz"), "ends": ends and list(map(list, ends)),
    }  # fmt: skip


def _point(mark: Mark, place: tuple[float, float] | None) -> dict[str, Any]:
    used = most_used(mark) if mark.usage else None
    return {
        "id": f"k{mark.number}", "label": mark.label, "name": mark.name, "named": name_of(mark) if place else None,
        "place": place and [round(value, 1) for value in place], "r": round(radius(mark), 2), "kind": mark.kind,
        "share": percent(mark.share), "launches": count(mark.launches, "launch"), "tier": mark.tier,
        "bound": title(mark.bound) if mark.bound else None, "row": mark.number <= ROWS,
        "roof": percent(mark.fraction, at_least=not mark.complete), "path": mark.path, "wrong": mark.wrong,
        "work": _rates(mark.work, FLOP_PATHS), "traffic": _rates(mark.traffic, list(mark.intensity) or CORE_TIERS),
        "used": used and [title(used[0]), used[1], used[0] if used[0] in TIERS else "compute"],
    }  # fmt: skip


def _rates(uses: Mapping[str, Use], names: Sequence[str]) -> dict[str, float]:
    return {name: use.rate for name, use in uses.items() if name in names and use.rate > 0}


def _launches(analysis: Analysis, chart: Chart) -> dict[str, Any] | None:
    """Rates of every launch of groups that are marked, in cells where there are many; None if each is its group."""
    if all(mark.launches == 1 for mark in chart.marks if mark.is_on_chart):
        return None
    columns = analysis.columns
    group_of = {launch: place for place, mark in enumerate(chart.marks) for launch in mark.members}
    group = np.array([group_of.get(launch, -1) for launch in columns["launch"].tolist()], np.intp)
    keep = chart.mine & (group >= 0)
    tiers = [tier for tier in TIERS if tier in CORE_TIERS or any(mark.bound == tier for mark in chart.marks)]
    rates = {name: _rate(columns, name)[keep] for name in (*paths(chart), *tiers)}
    counted, first = _together(group[keep], rates)
    return {
        "group": group[keep][first].tolist(),
        "n": counted.tolist(),
        "launch": columns["launch"][keep][first].tolist(),
        "time": [seconds(time) for time in columns["time"][keep][first].tolist()],
        "rates": {name: _rounded(values[first]) for name, values in rates.items()},
    }


def _rate(columns: Columns, name: str) -> FloatArray:
    """Rate of a path or tier over the launches; what may be no work at all is not known."""
    prefix = amount_prefix(name)
    if f"{prefix}.rate" not in columns:
        return unknown(len(columns["time"]))
    return np.where(columns[f"{prefix}.extent"] == Extent.AT_MOST.label, np.nan, columns[f"{prefix}.rate"])


def _together(group: Any, rates: Columns) -> tuple[Any, Any]:
    """Launches as they are, or of many the first of those of one group whose rates all lie in one cell.

    Returns how many each stands for, and its place.
    """
    size = len(group)
    if size <= LAUNCHES:
        return np.ones(size, np.intp), np.arange(size)
    codes = np.arange(size)
    for per_decade in _PER_DECADE:
        cells = [np.nan_to_num(np.floor(per_decade * np.log10(_positive(one))), nan=-999.0) for one in rates.values()]
        codes, keys = numbered_rows([group, *cells])
        if len(keys) <= LAUNCHES:
            break
    _, first, counted = np.unique(codes, return_index=True, return_counts=True)
    return counted, first


def _positive(values: FloatArray) -> FloatArray:
    is_positive: BoolArray = values > 0
    return np.where(is_positive, values, np.nan)


def _rounded(values: FloatArray) -> list[float | None]:
    """Numbers of six digits for points, of which a pixel has three."""
    return [number(float(f"{value:.{_DIGITS}g}")) for value in values.tolist()]
