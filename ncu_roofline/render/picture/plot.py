"""Where things are in the drawing: the area of the axes in pixels, the size of marks, what hovering says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ncu_roofline.formats import UNKNOWN, percent, quantity
from ncu_roofline.render.picture.chart import Chart, Mark, Roof
from ncu_roofline.render.picture.palette import title
from ncu_roofline.vocabulary import work_unit
from ncu_roofline.wording import count

WIDTH: Final = 800
LEFT, RIGHT, TOP, BOTTOM = 66.0, 632.0, 40.0, 396.0
HEAVIEST: Final = 12
"""Groups that have their name, other tiers and a line between them in the drawing."""


@dataclass(frozen=True)
class Plot:
    """A chart with the colours in which it is drawn."""

    chart: Chart
    colors: dict[str, str]

    def x(self, intensity: float) -> float:
        """Pixels from the left of an intensity, at the edge beyond it."""
        return LEFT + (RIGHT - LEFT) * min(max(self.chart.frame.x(intensity), 0.0), 1.0)

    def y(self, rate: float) -> float:
        """Pixels from the top of a rate, at the edge beyond it."""
        return BOTTOM - (BOTTOM - TOP) * min(max(self.chart.frame.y(rate), 0.0), 1.0)

    def center(self, mark: Mark) -> tuple[float, float]:
        """Place of a mark that is on the chart."""
        return self.x(mark.intensity[str(mark.tier)]), self.y(mark.rate)

    def line_of(self, roof: Roof) -> tuple[float, float, float, float] | None:
        """Both ends of a ceiling in pixels, or None outside the frame."""
        ends = roof_ends(self.chart, roof)
        if ends is None:
            return None
        (x1, y1), (x2, y2) = ends
        return self.x(x1), self.y(y1), self.x(x2), self.y(y2)

    def heading(self) -> tuple[str, str]:
        """The device and its clock; the groups, and what is not in the frame."""
        chart = self.chart
        low, high = chart.clock
        clock = "" if math.isnan(low) else f", SM clock {quantity(low, 'Hz')}"
        clock += f" to {quantity(high, 'Hz')}" if high > low * 1.001 else ""
        place = f", CC {chart.cc}" if chart.cc else ""
        note = " Axes widened for points outside the frame of the machine." if chart.frame.widened else ""
        beyond = [roof.name for roof in chart.roofs if self.line_of(roof) is None]
        note += f" Ceilings outside: {', '.join(beyond)}." if beyond else ""
        note += f" Outside, at the edge: {count(len(chart.outside), 'group')}." if chart.outside else ""
        note += f" The {len(chart.marks)} longest are marked, the others counted." if chart.rest.groups else ""
        counted = f"{count(chart.groups, 'group')}, {count(chart.launches, 'launch')}"
        return f"{chart.device}{place}{clock}", f"{counted}.{note}"


Point = tuple[float, float]


def roof_ends(chart: Chart, roof: Roof) -> tuple[Point, Point] | None:
    """Ends of a ceiling (FLOP/byte, FLOP/s), or None outside the frame.

    Slopes end at the highest path, paths begin at the steepest slope and end at the edge.
    """
    frame = chart.frame
    if not roof.is_tier:
        steepest = max((tier.value for tier in chart.tiers), default=math.inf)
        begin = max(frame.x_low, roof.value / steepest)
        if begin >= frame.x_high or not frame.y_low <= roof.value <= frame.y_high:
            return None
        return (begin, roof.value), (frame.x_high, roof.value)
    top = min(frame.y_high, max((path.value for path in chart.paths), default=math.inf))
    begin, end = max(frame.x_low, frame.y_low / roof.value), min(frame.x_high, top / roof.value)
    if begin >= end:
        return None
    return (begin, roof.value * begin), (end, roof.value * end)


def radius(mark: Mark) -> float:
    """Radius in pixels: its area is the share of the time."""
    if math.isnan(mark.share):
        return 6.0
    return min(max(3.1 * math.sqrt(100.0 * mark.share), 4.5), 18.0)


def mark_data(mark: Mark) -> str:
    """Attributes by which a mark is found, with its unrounded numbers."""
    intensity = "" if mark.tier is None else f' data-intensity="{mark.intensity[mark.tier]!r}" data-tier="{mark.tier}"'
    errors = ' data-errors="true"' if mark.wrong else ""
    bound = mark.bound or UNKNOWN
    rate = "" if math.isnan(mark.rate) else repr(mark.rate)
    return f'data-kernel-id="k{mark.number}" data-value="{rate}" data-bound="{bound}"{intensity}{errors}'


def hover(mark: Mark) -> str:
    """Four lines, and a fifth where the numbers are not to be used."""
    wrong = "\nerror: see the findings" if mark.wrong else ""
    path, rate = (mark.path, mark.rate) if mark.path else mark.leading
    work = f"{path} {quantity(rate, f'{work_unit(path)}/s')}" if path and rate > 0 else "no counted work"
    roof = percent(mark.fraction, at_least=not mark.complete)
    bound = title(mark.bound) if mark.bound else "nothing known"
    return (
        f"{mark.number} {mark.name}\n{percent(mark.share)} of the time, {count(mark.launches, 'launch')}\n"
        f"bound by {bound}, {roof} of its roof\n{work}{wrong}"
    )


def plain(value: float) -> str:
    """A number of three digits without exponent, thousands apart by a thin space."""
    rounded = float(f"{value:.3g}")
    if rounded < 1:
        return f"{rounded:.10f}".rstrip("0").rstrip(".")
    return f"{rounded:,.10g}".replace(",", "\u2009")


def with_prefix(value: float) -> str:
    """A whole power of ten with its decimal prefix: ``100 G``."""
    for factor, prefix in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor * 0.999:
            return f"{value / factor:g} {prefix}"
    return f"{value:g}"


def heaviest(marks: Sequence[Mark]) -> list[Mark]:
    """The longest groups of those that are given."""
    return list(marks[:HEAVIEST])
