"""Ledgers on the roofline: a line through the cases of a sweep, each at its intensity and the rate of its bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ncu_roofline.formats import quantity
from ncu_roofline.render.picture.chart import COMPUTE, Roof, only_roofs
from ncu_roofline.render.picture.frame import frame_of
from ncu_roofline.render.picture.plot import LEFT, RIGHT, WIDTH, Plot
from ncu_roofline.render.picture.roofs import draw_ridges, draw_roofs
from ncu_roofline.render.picture.shapes import CHARACTER, halo, look, shape, text
from ncu_roofline.render.picture.svg import HEIGHT, document, draw_axes

_RADIUS = 4.5


@dataclass(frozen=True)
class Point:
    """A case: its label, intensity (FLOP/byte), rate at its bound (FLOP/s), ridge and peak of its path."""

    label: str
    intensity: float
    rate: float
    ridge: float
    peak: float

    @property
    def is_left(self) -> bool:
        """Whether the bandwidth binds it."""
        return self.intensity < self.ridge


def to_curves(
    title: str, machine: str, roofs: Sequence[Roof], curves: Sequence[Sequence[Point]], colors: dict[str, str]
) -> str:
    """An SVG document with the roofs of a machine and a line through each of some series of points.

    Args:
        title: what the curves are of.
        machine: where the roofs are from.
        roofs: DRAM and the paths in use.
        curves: points in the order in which they are joined.
        colors: ``LIGHT`` or ``DARK``.

    """
    points = [(point.intensity, point.rate) for curve in curves for point in curve]
    frame = frame_of([roof.value for roof in roofs if roof.is_tier], [r.value for r in roofs if not r.is_tier], points)
    plot = Plot(only_roofs(machine, roofs, frame), colors)
    parts = [
        text(LEFT, 18, title, colors["text"], size=13, weight=600),
        text(LEFT, 33, f"{machine}. Points are upper bounds of the rate.", colors["muted"]),
        *draw_axes(plot),
        *draw_roofs(plot),
        *draw_ridges(plot),
        *_curves(plot, curves),
    ]
    return document((WIDTH, HEIGHT), f"{title} on {machine}", parts, colors)


def _curves(plot: Plot, curves: Sequence[Sequence[Point]]) -> Iterator[str]:
    colors = plot.colors
    for curve in curves:
        corners = " ".join(f"{plot.x(x):.2f},{plot.y(y):.2f}" for x, y in _corners(curve))
        if len(curve) > 1:
            yield f'<polyline points="{corners}" fill="none" stroke="{colors["text"]}" stroke-width="1.5"/>'
        for point in curve:
            x, y = plot.x(point.intensity), plot.y(point.rate)
            color = colors["dram"] if point.is_left else colors[COMPUTE]
            said = f"{point.label}\n{point.intensity:.5g} FLOP/byte, at most {quantity(point.rate, 'FLOP/s')}"
            data = f'data-intensity="{point.intensity!r}" data-value="{point.rate!r}"'
            yield shape("dram", x, y, _RADIUS, f"{look(color, colors['page'], 1)} {data}", said)
            # Towards the right edge the names of the roofs begin.
            place = min(x + 6, RIGHT - 4 - CHARACTER * len(point.label))
            yield text(place, y + 14, point.label, colors["text"], extra=halo(colors))


def _corners(curve: Sequence[Point]) -> Iterator[tuple[float, float]]:
    """The points, and the ridge between two of one path on either side of it: every line follows the roof."""
    for number, point in enumerate(curve):
        before = curve[number - 1] if number else point
        if before.is_left != point.is_left and before.peak == point.peak:
            yield point.ridge, point.peak
        yield point.intensity, point.rate
