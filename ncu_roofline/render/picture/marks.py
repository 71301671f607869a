"""Kernel groups of a drawing: a loud mark at the tier that binds, small ones at others, names where there is room."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ncu_roofline.render.picture.chart import FAR_FROM_ALL, Mark
from ncu_roofline.render.picture.labels import Box, place_labels
from ncu_roofline.render.picture.names import WIDTH as NAME_WIDTH
from ncu_roofline.render.picture.plot import BOTTOM, LEFT, RIGHT, TOP, Plot, heaviest, hover, mark_data, radius
from ncu_roofline.render.picture.roofs import covered
from ncu_roofline.render.picture.shapes import CHARACTER, NOT_CLICKED, halo, line, look, shape, text
from ncu_roofline.wording import count

_TICK: Final = 3.5
"""Radius of the mark of another tier."""
_LOUD_TICK: Final = 5.5
"""The same where there is only one group."""
_INSIDE: Final = 7.0
"""Radius from which a number has room in its mark."""
_CELL: Final = 10.0
"""Pixels of the cells in which groups without a mark of their own are counted."""


def draw_marks(plot: Plot) -> Iterator[str]:
    """All groups with a place on the axes."""
    yield from _density(plot)
    yield from (_caret(plot, mark) for mark in plot.chart.outside)
    shown = inside(plot)
    heavy = {mark.number for mark in heaviest(shown)}
    for mark in heaviest(shown):
        if len(mark.intensity) > 1:
            xs = sorted(map(plot.x, mark.intensity.values()))
            y = plot.y(mark.rate)
            yield line(xs[0], y, xs[-1], y, plot.colors[mark.kind], 1)
    # Big ones first, so that small ones stay visible.
    for mark in sorted(shown, key=lambda one: -radius(one)):
        yield from _mark(plot, mark, ticks=mark.number in heavy)
    places = name_places(plot)
    yield f'<g fill="{plot.colors["text"]}" {halo(plot.colors)}>'
    for mark in heaviest(shown):
        x, y = plot.center(mark)
        if mark.number in places:
            across, down = places[mark.number]
            yield text(x + across, y + down, name_of(mark))
        elif radius(mark) < _INSIDE:
            yield text(x + radius(mark) + 2, y + 4, mark.label)
    yield "</g>"


def inside(plot: Plot) -> list[Mark]:
    """Groups within the frame, the longest first."""
    beyond = {mark.number for mark in plot.chart.outside}
    return [mark for mark in plot.chart.marks if mark.is_on_chart and mark.number not in beyond]


def name_of(mark: Mark) -> str:
    """Number and short name, cut to what fits."""
    said = f"{mark.label} {mark.name}"
    return said if len(said) <= NAME_WIDTH + 3 else f"{said[: NAME_WIDTH + 2]}\u2026"


def name_places(plot: Plot) -> dict[int, tuple[float, float]]:
    """Where the names of the longest groups begin, in pixels from their marks; without those that have no room."""
    shown = inside(plot)
    named = heaviest(shown)
    obstacles = list(covered(plot))
    for mark in shown:
        x, y = plot.center(mark)
        r = radius(mark)
        obstacles.append(Box(x - r, y - r, x + r, y + r))
    for mark in named:
        xs, y = sorted(map(plot.x, mark.intensity.values())), plot.y(mark.rate)
        obstacles.append(Box(xs[0], y - 2, xs[-1], y + 2))
        obstacles += [Box(tick - _TICK, y - _TICK, tick + _TICK, y + _TICK) for _, tick in _ticks(plot, mark)]
    texts = [name_of(mark) for mark in named]
    spots = [(*plot.center(mark), radius(mark)) for mark in named]
    found = place_labels(texts, spots, obstacles, Box(LEFT, TOP, RIGHT, BOTTOM), CHARACTER)
    return {
        mark.number: (place[0] - spot[0], place[1] - spot[1])
        for mark, place, spot in zip(named, found, spots, strict=True)
        if place is not None
    }


def _mark(plot: Plot, mark: Mark, *, ticks: bool) -> Iterator[str]:
    colors = plot.colors
    color, r = colors[mark.kind], radius(mark)
    x, y = plot.center(mark)
    size, width = (_LOUD_TICK, 2.0) if len(plot.chart.marks) == 1 else (_TICK, 1.5)
    others = list(_ticks(plot, mark)) if ticks else []
    if others:
        shapes = "".join(shape(tier, place, y, size) for tier, place in others)
        yield f"<g {look(colors['page'], color, width)}>{shapes}</g>"
    is_far = mark.kind == FAR_FROM_ALL
    fill = colors["page"] if is_far else color
    yield shape(str(mark.tier), x, y, r, f"{look(fill, color, 2)} {mark_data(mark)}", hover(mark))
    if r >= _INSIDE:
        inner = color if is_far else colors["on fill"]
        yield text(x, y + 4, mark.label, inner, anchor="middle", weight=600, extra=NOT_CLICKED)


def _caret(plot: Plot, mark: Mark) -> str:
    """A group beyond the frame: a triangle at the edge that points to it, with its number."""
    frame, colors = plot.chart.frame, plot.colors
    across, up = frame.x(mark.intensity[str(mark.tier)]), frame.y(mark.rate)
    side = "left" if across < 0 else "right" if across > 1 else "top" if up > 1 else "bottom"
    x, y = plot.center(mark)
    x, y = min(max(x, LEFT + 8), RIGHT - 8), min(max(y, TOP + 8), BOTTOM - 8)
    attributes = f"{look(colors['page'], colors[mark.kind], 2)} {mark_data(mark)}"
    drawn = shape(side, x, y, 6, attributes, hover(mark))
    anchor, place = ("end", x - 10) if across > 1 else ("", x + 10)
    return drawn + text(place, y + 4, mark.label, colors["text"], anchor=anchor, extra=halo(colors))


def _ticks(plot: Plot, mark: Mark) -> Iterator[tuple[str, float]]:
    """The other tiers of a group and their places; none below its own mark."""
    middle = plot.x(mark.intensity[str(mark.tier)])
    for tier, value in mark.intensity.items():
        place = plot.x(value)
        if tier != mark.tier and abs(place - middle) >= radius(mark):
            yield tier, place


def _density(plot: Plot) -> Iterator[str]:
    """Groups without a mark of their own, counted in cells: the darker, the more."""
    rest = plot.chart.rest
    cells = Counter(
        (math.floor(plot.x(x) / _CELL), math.floor(plot.y(y) / _CELL))
        for x, y in zip(rest.intensity.tolist(), rest.rate.tolist(), strict=True)
    )
    most = max(cells.values(), default=1)
    for (column, row), number in sorted(cells.items()):
        shade = 0.15 + 0.45 * math.log(number + 1) / math.log(most + 1)
        yield (
            f'<rect x="{column * _CELL:g}" y="{row * _CELL:g}" width="{_CELL:g}" height="{_CELL:g}" '
            f'fill="{plot.colors["muted"]}" fill-opacity="{shade:.2f}" data-groups="{number}">'
            f"<title>{count(number, 'group')}</title></rect>"
        )
