"""The figure for a paper: one column wide, a panel for each path, letters for the groups, the rest in a caption."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final
from xml.sax.saxutils import escape

from ncu_roofline.formats import percent, quantity, seconds, visible
from ncu_roofline.render.picture.chart import Chart, Mark, Roof
from ncu_roofline.render.picture.palette import LIGHT, roof_color, title
from ncu_roofline.render.picture.plot import Plot, plain, roof_ends, with_prefix
from ncu_roofline.render.picture.roofs import DASHES, slope_names, source_of, value_of
from ncu_roofline.render.picture.shapes import line
from ncu_roofline.vocabulary import FLOP_PATHS
from ncu_roofline.wording import count

_COLUMN: Final = 86.0
"""Width of a column in millimetres."""
_POINTS: Final = 72.0 / 25.4
"""Points in a millimetre (a point is 1/72 inch)."""
WIDTH: Final = round(_COLUMN * _POINTS, 2)
_PANEL: Final = 168.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, WIDTH - 6.0, 14.0, 140.0
_SHOWN: Final = len(ascii_uppercase)
"""The longest groups, which have a letter each."""
_EDGE: Final = 6.0
"""Points from the right edge in which a number does not fit around its tick."""
_SIZE: Final = 8
"""Size of all texts in points."""
_HALO: Final = f'paint-order="stroke" stroke="{LIGHT["page"]}" stroke-width="2"'
_FONT: Final = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class _Panel:
    """The groups that one path leads, and the vertical place of their axes."""

    chart: Chart
    path: str
    letters: dict[str, Mark]
    top: float

    def x(self, intensity: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(max(self.chart.frame.x(intensity), 0.0), 1.0)

    def y(self, rate: float) -> float:
        return self.top + _BOTTOM - (_BOTTOM - _TOP) * min(max(self.chart.frame.y(rate), 0.0), 1.0)


def to_paper(chart: Chart, unit: str = "pt") -> str:
    """The chart as SVG of one column: 8 point texts, 1 point lines, light colours.

    Args:
        chart: what is drawn.
        unit: of the size; empty for the converter to PDF, to which a number is a point.

    """
    panels = _panels(chart)
    height = _PANEL * max(len(panels), 1)
    size = f'viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}{unit}" height="{height:g}{unit}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}" font-size="{_SIZE}">',
        f"<title>{escape(f'Roofline of {chart.device}')}</title>",
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="{LIGHT["page"]}"/>',
    ]
    for panel in panels:
        parts += _draw(panel)
    if not panels:
        parts.append(_said(_LEFT, 20.0, "No group has both FLOP and bytes."))
    return "\n".join([*parts, "</svg>"]) + "\n"


def caption(chart: Chart, date: str | None) -> str:
    """What the figure leaves out: device, clock, ceilings with their source, and which group each letter is.

    Args:
        chart: what was drawn.
        date: when, None if it is not to be said.

    """
    device, _ = Plot(chart, LIGHT).heading()
    lines = [f"Roofline of {device}{f', {date}' if date else ''}."]
    roofs = [f"{title(roof.name)} {value_of(roof)} ({source_of(roof)})" for roof in chart.roofs]
    lines.append(f"Ceilings: {'; '.join(roofs)}." if roofs else "No ceiling is known.")
    outside = chart.outside
    lines.append("Each letter is a kernel group, at the memory tier that binds it or else at the farthest one:")
    for panel in _panels(chart):
        for letter, mark in panel.letters.items():
            roof = percent(mark.fraction, at_least=not mark.complete)
            called = f"{letter}: {visible(' '.join(mark.full_name.split()))}"
            lines.append(
                f"{called}; {count(mark.launches, 'launch')}, {seconds(mark.time)}, {panel.path} "
                f"{quantity(mark.rate, 'FLOP/s')}, {plain(mark.intensity[str(mark.tier)])} FLOP/byte at "
                f"{title(str(mark.tier))}, bound by {title(mark.bound or 'nothing known')}, {roof} of its roof"
                f"{' (outside the axes, drawn at the edge)' if mark in outside else ''}"
            )
    aside = [mark for mark in chart.marks[:_SHOWN] if not mark.is_on_chart]
    if aside:
        lines.append(f"Not shown, without counted FLOP or without bytes: {', '.join(mark.name for mark in aside)}.")
    if chart.groups > _SHOWN:
        lines.append(f"Not shown: {count(chart.groups - _SHOWN, 'shorter group')}.")
    return "\n".join(lines) + "\n"


def has_panels(chart: Chart) -> bool:
    """Whether a group has a place on the axes."""
    return bool(_panels(chart))


def _panels(chart: Chart) -> list[_Panel]:
    """A panel for each path that leads a group, in the order of the paths; letters go on from panel to panel."""
    panels: list[_Panel] = []
    number = 0
    for path in FLOP_PATHS:
        marks = [mark for mark in chart.marks[:_SHOWN] if mark.is_on_chart and mark.path == path]
        letters = {ascii_uppercase[number + place]: mark for place, mark in enumerate(marks)}
        number += len(marks)
        if marks:
            panels.append(_Panel(chart, path, letters, _PANEL * len(panels)))
    return panels


def _draw(panel: _Panel) -> Iterator[str]:
    yield from _axes(panel)
    yield from _roofs(panel)
    for letter, mark in reversed(panel.letters.items()):
        x, y = panel.x(mark.intensity[str(mark.tier)]), panel.y(mark.rate)
        yield (
            f'<text x="{x:.2f}" y="{y + 2.8:.2f}" text-anchor="middle" font-weight="700" fill="{LIGHT[mark.kind]}" '
            f'{_HALO} data-kernel-id="k{mark.number}">{letter}</text>'
        )


def _axes(panel: _Panel) -> Iterator[str]:
    frame, colors = panel.chart.frame, LIGHT
    top, bottom = panel.top + _TOP, panel.top + _BOTTOM
    for number, value in enumerate(frame.decades_of_x()):
        x = panel.x(value)
        yield line(x, bottom, x, bottom + 3, colors["text"], 1)
        if number % _step(len(frame.decades_of_x()), 6) == 0:
            at_edge = x > _RIGHT - _EDGE
            yield _said(WIDTH - 1 if at_edge else x, bottom + 11, plain(value), anchor="end" if at_edge else "middle")
    for number, value in enumerate(frame.decades_of_y()):
        y = panel.y(value)
        yield line(_LEFT - 3, y, _LEFT, y, colors["text"], 1)
        if number % _step(len(frame.decades_of_y()), 6) == 0:
            yield _said(_LEFT - 5, y + 2.8, with_prefix(value), anchor="end")
    yield (
        f'<rect x="{_LEFT:g}" y="{top:g}" width="{_RIGHT - _LEFT:g}" height="{bottom - top:g}" fill="none" '
        f'stroke="{colors["text"]}"/>'
    )
    yield _said((_LEFT + _RIGHT) / 2, bottom + 21, "Intensity (FLOP/byte)", anchor="middle")
    peak = _peak(panel)
    yield _said(_LEFT, top - 4, f"{panel.path} (FLOP/s){f', peak {value_of(peak)}' if peak else ''}")


def _step(decades: int, most: int) -> int:
    """Every how many decades there is a text, so that there are not more than fit."""
    return math.ceil(decades / most)


def _roofs(panel: _Panel) -> Iterator[str]:
    chart, peak = panel.chart, _peak(panel)
    shown: Sequence[Roof] = [*chart.tiers, *(roof for roof in chart.paths if roof.name == panel.path)]
    for roof in shown:
        ends = roof_ends(chart, roof)
        if ends is None:
            continue
        (x1, y1), (x2, y2) = ends
        if roof.is_tier and peak is not None:
            x2, y2 = min(x2, peak.value / roof.value), min(y2, peak.value)
        color = roof_color(roof, LIGHT)
        yield line(panel.x(x1), panel.y(y1), panel.x(x2), panel.y(y2), color, 1, dash=DASHES.get(roof.source, "1.5 2"))
        if roof.is_tier:
            yield from _slope(panel, roof, (panel.x(x1), panel.y(y1), panel.x(x2), panel.y(y2)))


def _peak(panel: _Panel) -> Roof | None:
    """The peak of the path of a panel, at which slopes end."""
    return next((roof for roof in panel.chart.paths if roof.name == panel.path), None)


def _slope(panel: _Panel, roof: Roof, ends: tuple[float, float, float, float]) -> Iterator[str]:
    # Values stand in the caption; beside steep neighbours there is room for names only.
    label = slope_names(panel.chart, roof)
    if not label:
        return
    x1, y1, x2, y2 = ends
    angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
    x, y = x1 + 8, y1 + 8 * math.tan(math.radians(angle)) - 2.5
    yield (
        f'<text transform="translate({x:.2f} {y:.2f}) rotate({angle:.2f})" fill="{roof_color(roof, LIGHT)}" '
        f"{_HALO}>{escape(label)}</text>"
    )


def _said(x: float, y: float, said: str, *, anchor: str = "start", color: str = LIGHT["text"]) -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" fill="{color}">{escape(said)}</text>'
