"""Pieces of SVG: lines, texts and the shapes of marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

CHARACTER: Final = 6.3
"""Width of a character of 11 px, for labels."""
NOT_CLICKED: Final = 'pointer-events="none"'
"""Of a text on a mark: the mark below it is clicked."""
_CORNERS: Final[dict[str, Sequence[tuple[float, float]]]] = {
    "l2": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "l1": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "shared": ((0, -1.1), (1.05, -0.34), (0.65, 0.9), (-0.65, 0.9), (-1.05, -0.34)),
    "sysmem": ((-1.1, 0), (-0.55, -0.95), (0.55, -0.95), (1.1, 0), (0.55, 0.95), (-0.55, 0.95)),
    "nvlink": ((-1.1, 0), (-0.55, -0.95), (0.55, -0.95), (1.1, 0), (0.55, 0.95), (-0.55, 0.95)),
    "none": ((0, -1.1), (1, 0.8), (-1, 0.8)),
    "left": ((-1.1, 0), (0.8, -1), (0.8, 1)),
    "right": ((1.1, 0), (-0.8, -1), (-0.8, 1)),
    "top": ((0, -1.1), (1, 0.8), (-1, 0.8)),
    "bottom": ((0, 1.1), (1, -0.8), (-1, -0.8)),
}
"""Corners of the marks, of areas like that of a circle of radius 1."""


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    color: str,
    width: float,
    *,
    dash: str = "",
    data: str = "",
    title: str = "",
) -> str:
    """A straight line; ``data``: further attributes, ``title``: what hovering says."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    more = f" {data}" if data else ""
    inside = f"<title>{escape(title)}</title>" if title else ""
    ends = f'x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"'
    return _closed(f'line {ends} stroke="{color}" stroke-width="{width:g}"{dashed}{more}', inside)


def text(
    x: float, y: float, said: str, color: str = "", *, anchor: str = "", size: int = 0, weight: int = 0, extra: str = ""
) -> str:
    """A text at its baseline, in the colour of what is around it if it has none; its characters are escaped."""
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in (("fill", color), ("text-anchor", anchor), ("font-size", size), ("font-weight", weight))
        if value
    )
    more = f" {extra}" if extra else ""
    return f'<text x="{x:.2f}" y="{y:.2f}"{attributes}{more}>{escape(said)}</text>'


def halo(colors: dict[str, str]) -> str:
    """Attributes of a text that stands over lines."""
    return f'paint-order="stroke" stroke="{colors["page"]}" stroke-width="3"'


def look(fill: str, stroke: str, width: float) -> str:
    """Attributes of a filled shape with an outline."""
    return f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"'


def shape(tier: str, x: float, y: float, r: float, attributes: str = "", title: str = "") -> str:
    """A mark: circle for DRAM, diamond for L2, square for L1, triangle without a tier or towards an edge."""
    more = f" {attributes}" if attributes else ""
    inside = f"<title>{escape(title)}</title>" if title else ""
    if tier == "dram":
        return _closed(f'circle cx="{x:.2f}" cy="{y:.2f}" r="{r:.2f}"{more}', inside)
    corners = _CORNERS.get(tier, _CORNERS["none"])
    points = " ".join(f"{x + dx * r:.2f},{y + dy * r:.2f}" for dx, dy in corners)
    return _closed(f'polygon points="{points}"{more}', inside)


def _closed(element: str, inside: str) -> str:
    return f"<{element}>{inside}</{element.partition(' ')[0]}>" if inside else f"<{element}/>"
