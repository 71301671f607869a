"""Ceilings of a drawing: slopes of the tiers, peaks of the paths, the ridges between them, and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

from ncu_roofline.formats import quantity
from ncu_roofline.render.picture.chart import COMPUTE, Chart, Roof
from ncu_roofline.render.picture.labels import Box
from ncu_roofline.render.picture.palette import roof_color, title
from ncu_roofline.render.picture.plot import BOTTOM, LEFT, RIGHT, TOP, Plot, plain
from ncu_roofline.render.picture.shapes import CHARACTER, halo, line, text

NO_CEILING: Final = "no ceiling is known: collect the counters, or give --device or --ceilings"
DASHES: Final = {"report": "", "measured": "7 4"}
_DOTTED: Final = "1.5 3"
_STEP: Final = 4.0
"""Pixels between the boxes that stand for a line, for labels."""
_SAME: Final = 0.03
"""Share by which slopes may differ that cannot be told apart."""
_APART: Final = 28
"""Pixels between the labels of two peaks."""


def draw_roofs(plot: Plot) -> Iterator[str]:
    """All ceilings with their labels."""
    chart, colors = plot.chart, plot.colors
    if not chart.roofs:
        said = NO_CEILING
        yield text((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2, said, colors["muted"], anchor="middle", size=12)
    for roof in chart.tiers:
        if (ends := plot.line_of(roof)) is not None:
            yield from _slope(plot, roof, ends)
    taken: list[float] = []
    for roof in sorted(chart.paths, key=lambda one: -one.value):
        ends = plot.line_of(roof)
        if ends is None:
            continue
        yield line(*ends, colors[COMPUTE], 2, dash=_dash(roof), data=_data(roof), title=_hover(roof))
        y = ends[1]
        label = max([y, *(other + _APART for other in taken if other + _APART > y)], default=y)
        taken.append(label)
        yield text(RIGHT + 6, label - 1, title(roof.name), colors[COMPUTE])
        yield text(RIGHT + 6, label + 12, f"{value_of(roof)}{_of(roof)}", colors["muted"])


def _slope(plot: Plot, roof: Roof, ends: tuple[float, float, float, float]) -> Iterator[str]:
    color = roof_color(roof, plot.colors)
    yield line(*ends, color, 2, dash=_dash(roof), data=_data(roof), title=_hover(roof))
    label = slope_label(plot.chart, roof)
    if not label:
        return
    x, y, angle = _place_of_label(plot, ends)
    yield (
        f'<text transform="translate({x:.2f} {y - 5:.2f}) rotate({angle:.2f})" fill="{color}" '
        f"{halo(plot.colors)}>{escape(label)}</text>"
    )


def _place_of_label(plot: Plot, ends: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """A third of a decade inside the lower end of a slope, and its angle in degrees."""
    x1, y1, x2, y2 = ends
    decade = (RIGHT - LEFT) / math.log10(plot.chart.frame.x_high / plot.chart.frame.x_low)
    along = min(0.33 / max((x2 - x1) / decade, 0.4), 0.5)
    return x1 + (x2 - x1) * along, y1 + (y2 - y1) * along, math.degrees(math.atan2(y2 - y1, x2 - x1))


def covered(plot: Plot) -> Iterator[Box]:
    """Boxes along the ceilings and their labels, which names are not to cover."""
    for roof in plot.chart.roofs:
        ends = plot.line_of(roof)
        if ends is None:
            continue
        yield from _along(*ends, half=1.0)
        if roof.is_tier:
            x, y, angle = _place_of_label(plot, ends)
            length = CHARACTER * len(slope_label(plot.chart, roof))
            across, down = length * math.cos(math.radians(angle)), length * math.sin(math.radians(angle))
            yield from _along(x, y - 9, x + across, y - 9 + down, half=6.0)


def draw_ridges(plot: Plot) -> Iterator[str]:
    """Where the slope of DRAM meets each path."""
    frame, colors = plot.chart.frame, plot.colors
    slopes = [roof for roof in plot.chart.tiers if roof.name == "dram"]
    last = -math.inf
    for roof in sorted(plot.chart.paths, key=lambda one: one.value) if slopes else ():
        ridge = roof.value / slopes[0].value
        if not (frame.x_low < ridge < frame.x_high and roof.value > frame.y_low):
            continue
        x, y = plot.x(ridge), plot.y(roof.value)
        yield line(x, BOTTOM, x, y, colors["muted"], 1, dash="1 3")
        if x - last > 56:
            yield text(x + 3, BOTTOM - 4, f"ridge {plain(ridge)}", colors["muted"])
            last = x


def value_of(roof: Roof) -> str:
    """Its value with unit."""
    return quantity(roof.value, "B/s" if roof.is_tier else "FLOP/s")


def slope_names(chart: Chart, roof: Roof) -> str:
    """Names of the tiers on this slope; empty if it lies on that of an earlier one."""
    same = [other for other in chart.tiers if abs(other.value / roof.value - 1.0) < _SAME]
    return ", ".join(title(other.name) for other in same) if same[0] is roof else ""


def slope_label(chart: Chart, roof: Roof) -> str:
    """Names, value, and source unless it is the report; empty if the slope lies on that of an earlier tier."""
    names = slope_names(chart, roof)
    return f"{names} {value_of(roof)}{_of(roof)}" if names else ""


def _of(roof: Roof) -> str:
    return "" if roof.source == "report" else f" ({roof.source})"


def source_of(roof: Roof) -> str:
    """Where it is from, and at which clock."""
    return roof.source + ("" if math.isnan(roof.clock) else f" at {quantity(roof.clock, 'Hz')}")


def _hover(roof: Roof) -> str:
    return f"{title(roof.name)} {value_of(roof)}, {source_of(roof)}"


def _dash(roof: Roof) -> str:
    return DASHES.get(roof.source, _DOTTED)


def _data(roof: Roof) -> str:
    return f'data-roof="{roof.name}" data-value="{roof.value!r}" data-source="{roof.source}"'


def _along(x1: float, y1: float, x2: float, y2: float, *, half: float) -> Iterator[Box]:
    """Boxes of a few pixels that follow a line, ``half`` to both sides of it."""
    steps = max(int(math.hypot(x2 - x1, y2 - y1) / _STEP), 1)
    for step in range(steps):
        x, y = x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps
        yield Box(x, y - half, x + (x2 - x1) / steps, y + half)
