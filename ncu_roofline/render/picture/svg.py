"""The static drawing of a chart: SVG with attributes only, complete without scripts, styles or fonts of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from ncu_roofline.formats import seconds
from ncu_roofline.render.picture.chart import Chart
from ncu_roofline.render.picture.marks import draw_marks
from ncu_roofline.render.picture.palette import title
from ncu_roofline.render.picture.plot import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Plot, hover, plain, with_prefix
from ncu_roofline.render.picture.roofs import draw_ridges, draw_roofs, value_of
from ncu_roofline.render.picture.shapes import line, text
from ncu_roofline.render.picture.strip import draw_shares, draw_strip, height_of_shares, height_of_strip, shares

HEIGHT: Final = 438
"""Pixels of a roofline with its heading."""
_HEIGHT_EMPTY: Final = 80
_DESCRIBED: Final = 3
FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


def document(
    size: tuple[float, float],
    title: str,
    parts: Iterable[str],
    colors: dict[str, str],
    *,
    description: str = "",
    testid: str = "",
) -> str:
    """An SVG document of a width and height in pixels: its title, and parts on the background of the page."""
    width, height = (f"{length:g}" for length in size)
    data = f' data-testid="{testid}"' if testid else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="{FONT}" font-size="11"{data}>'
    )
    lines = [
        head,
        f"<title>{escape(title)}</title>",
        *([f"<desc>{escape(description)}</desc>"] if description else []),
        f'<rect width="{width}" height="{height}" fill="{colors["page"]}"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def to_svg(chart: Chart, colors: dict[str, str]) -> str:
    """One chart as an SVG document.

    Args:
        chart: what is drawn.
        colors: ``LIGHT`` or ``DARK``.

    """
    named = f"Roofline of {chart.device}"
    plot = Plot(chart, colors)
    return document(
        (WIDTH, _height(chart)), named, [*_heading(plot), *_body(plot)], colors,
        description=_description(chart), testid="roofline-static",
    )  # fmt: skip


def has_axes(chart: Chart) -> bool:
    """Whether a group has a place on the axes, or at least ceilings are known and nothing else can be shown."""
    return any(mark.is_on_chart for mark in chart.marks) or (bool(chart.roofs) and not shares(chart))


def _height(chart: Chart) -> int:
    if has_axes(chart):
        return HEIGHT + height_of_strip(chart)
    return height_of_shares(chart) if shares(chart) else _HEIGHT_EMPTY


def _description(chart: Chart) -> str:
    """The chart in words."""
    roofs = ", ".join(f"{title(roof.name)} {value_of(roof)}" for roof in chart.roofs) or "no ceiling is known"
    marks = "; ".join(hover(mark).replace("\n", ", ") for mark in chart.marks[:_DESCRIBED])
    return f"Ceilings: {roofs}. The longest kernel groups: {marks}."


def _heading(plot: Plot) -> Iterator[str]:
    device, groups = plot.heading()
    total = f"{seconds(plot.chart.time)} of GPU time, " if plot.chart.time > 0 else ""
    yield text(LEFT, 18, device, plot.colors["text"], size=13, weight=600)
    yield text(LEFT, 33, f"{total}{groups}", plot.colors["muted"])


def _body(plot: Plot) -> Iterator[str]:
    if has_axes(plot.chart):
        yield from draw_axes(plot)
        yield from draw_roofs(plot)
        yield from draw_ridges(plot)
        yield from draw_marks(plot)
        yield from draw_strip(plot)
    elif shares(plot.chart):
        yield from draw_shares(plot)
    else:
        said = "No roofline: no ceiling is known, and no group has FLOP and bytes. The findings name the counters."
        yield text(LEFT, 60, said, plot.colors["text"], size=12)


def draw_axes(plot: Plot) -> Iterator[str]:
    """Grid, numbers and names of both axes."""
    frame, colors = plot.chart.frame, plot.colors
    for value in frame.decades_of_x():
        x = plot.x(value)
        yield line(x, TOP, x, BOTTOM, colors["grid"], 1)
        yield text(x, BOTTOM + 14, plain(value), colors["muted"], anchor="middle")
    for value in frame.decades_of_y():
        y = plot.y(value)
        yield line(LEFT, y, RIGHT, y, colors["grid"], 1)
        yield text(LEFT - 6, y + 4, with_prefix(value), colors["muted"], anchor="end")
    yield (
        f'<rect x="{LEFT:g}" y="{TOP:g}" width="{RIGHT - LEFT:g}" height="{BOTTOM - TOP:g}" fill="none" '
        f'stroke="{colors["line"]}"/>'
    )
    yield text((LEFT + RIGHT) / 2, BOTTOM + 30, "intensity, FLOP/byte", colors["text"], anchor="middle", size=12)
    yield (
        f'<text transform="translate(14 {(TOP + BOTTOM) / 2:g}) rotate(-90)" text-anchor="middle" font-size="12" '
        f'fill="{colors["text"]}">FLOP/s</text>'
    )
