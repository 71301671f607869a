"""The same chart for plotly: one subplot for each device, hover with the numbers of a group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ncu_roofline.formats import quantity
from ncu_roofline.render.picture.chart import Chart, Mark, Roof
from ncu_roofline.render.picture.palette import LIGHT, roof_color
from ncu_roofline.render.picture.plot import hover, radius, roof_ends

_SYMBOLS: Final = {"dram": "circle", "l2": "diamond", "l1": "square", "shared": "pentagon", "sysmem": "hexagon",
                   "nvlink": "hexagon"}  # fmt: skip
_DASHES: Final = {"report": "solid", "measured": "dash"}
_HEIGHT: Final = 560


def to_plotly(charts: Sequence[Chart]) -> go.Figure:
    """A figure with a subplot for each chart; groups without a place on logarithmic axes are listed in its title."""
    figure = make_subplots(rows=len(charts), cols=1, subplot_titles=[_title(chart) for chart in charts])
    for row, chart in enumerate(charts, start=1):
        for trace in _traces(chart):
            figure.add_trace(trace, row=row, col=1)
        frame = chart.frame
        figure.update_xaxes(
            type="log", range=[math.log10(frame.x_low), math.log10(frame.x_high)], title="intensity, FLOP/byte",
            row=row, col=1,
        )  # fmt: skip
        figure.update_yaxes(
            type="log", range=[math.log10(frame.y_low), math.log10(frame.y_high)], title="FLOP/s", exponentformat="SI",
            row=row, col=1,
        )  # fmt: skip
    figure.update_layout(height=_HEIGHT * len(charts), showlegend=False, template="plotly_white")
    return figure


def _title(chart: Chart) -> str:
    aside = ", ".join(f"{mark.label} {mark.name}" for mark in chart.marks if not mark.is_on_chart)
    without = f"<br>no counted FLOP or no bytes: {escape(aside, quote=False)}" if aside else ""
    return f"{escape(chart.device, quote=False)}{without}"


def _traces(chart: Chart) -> Iterator[Any]:
    for roof in chart.roofs:
        yield _roof(chart, roof)
    for mark in chart.marks:
        if mark.is_on_chart:
            yield _other_tiers(mark)
    # Big ones first, so that small ones can be hovered.
    for mark in sorted(chart.marks, key=lambda one: -radius(one)):
        if mark.is_on_chart:
            yield _mark(mark)


def _roof(chart: Chart, roof: Roof) -> Any:
    ends = roof_ends(chart, roof)
    x, y = zip(*ends, strict=True) if ends else ((), ())
    unit = "B/s" if roof.is_tier else "FLOP/s"
    return go.Scatter(
        x=x, y=y, mode="lines", name=roof.name, hoverinfo="text",
        text=f"{roof.name} {quantity(roof.value, unit)} ({roof.source})",
        line={"color": roof_color(roof, LIGHT), "dash": _DASHES.get(roof.source, "dot"), "width": 2},
    )  # fmt: skip


def _other_tiers(mark: Mark) -> Any:
    others = {tier: value for tier, value in mark.intensity.items() if tier != mark.tier}
    return go.Scatter(
        x=list(others.values()), y=[mark.rate] * len(others), mode="markers", hoverinfo="skip",
        name=f"k{mark.number} tiers",
        marker={"symbol": [f"{_SYMBOLS[tier]}-open" for tier in others], "size": 7, "color": LIGHT[mark.kind]},
    )  # fmt: skip


def _mark(mark: Mark) -> Any:
    # Plotly takes texts for HTML.
    text = escape(hover(mark), quote=False).replace("\n", "<br>")
    return go.Scatter(
        x=[mark.intensity[str(mark.tier)]], y=[mark.rate], mode="markers+text", name=f"k{mark.number}",
        text=mark.label, hovertext=text, hoverinfo="text", textfont={"color": LIGHT["on fill"]},
        marker={"symbol": _SYMBOLS[str(mark.tier)], "size": 2 * radius(mark), "color": LIGHT[mark.kind]},
    )  # fmt: skip
