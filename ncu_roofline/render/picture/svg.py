"""The static drawing of a chart: SVG with attributes only, complete without scripts, styles or fonts of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from ncu_roofline.formats import UNKNOWN, percent, quantity, seconds
from ncu_roofline.render.picture.chart import COMPUTE, FAR_FROM_ALL, NOT_KNOWN, Chart, Mark, Roof
from ncu_roofline.render.picture.labels import Box, place_labels
from ncu_roofline.render.picture.names import WIDTH as NAME_WIDTH
from ncu_roofline.wording import count

LIGHT: Final = {
    "page": "#ffffff", "text": "#1b1f24", "muted": "#57606a", "grid": "#e6e8eb", "line": "#d0d7de",
    "on fill": "#ffffff", "dram": "#004CED", "l2": "#08805A", "l1": "#AE5B0F", "shared": "#AE5B0F", COMPUTE: "#C4109F",
    FAR_FROM_ALL: "#404046", NOT_KNOWN: "#57606a",
}  # fmt: skip
DARK: Final = {
    "page": "#14171c", "text": "#e6e8eb", "muted": "#9aa3ad", "grid": "#262b33", "line": "#363d47",
    "on fill": "#000000", "dram": "#4C8DF5", "l2": "#42D6AC", "l1": "#F57C04", "shared": "#F57C04", COMPUTE: "#EE9EE6",
    FAR_FROM_ALL: "#8B8B93", NOT_KNOWN: "#9aa3ad",
}  # fmt: skip

WIDTH: Final = 800
HEIGHT: Final = 520
_HEIGHT_WITHOUT_STRIP: Final = 438
_HEIGHT_EMPTY: Final = 80
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 632.0, 40.0, 396.0
_STRIP_TOP, _STRIP_BOTTOM = 446.0, 474.0
_DASHES: Final = {"report": "", "measured": "7 4"}
_DOTTED: Final = "1.5 3"
_NOT_CLICKED: Final = 'pointer-events="none"'
"""Of a text on a mark: the mark below it is clicked."""
_TICK: Final = 3.5
"""Radius of the mark of another tier."""
_NAMED: Final = 12
_CONNECTED: Final = 12
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_TITLES: Final = {"dram": "DRAM", "l2": "L2", "l1": "L1"}
_STEP: Final = 4.0
"""Pixels between the boxes that stand for a line, for labels."""
_WIDE: Final = 6.3
"""Width of a character of 11 px, for labels."""


def to_svg(chart: Chart, colors: dict[str, str]) -> str:
    """One chart as an SVG document.

    Args:
        chart: what is drawn.
        colors: ``LIGHT`` or ``DARK``.

    """
    title = f"Roofline of {chart.device}"
    height = _height(chart)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="{_FONT}" font-size="11" data-testid="roofline-static">'
    )
    parts = [
        head,
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(_description(chart))}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="{colors["page"]}"/>',
        *_Drawing(chart, colors).parts(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _height(chart: Chart) -> int:
    if _is_empty(chart):
        return _HEIGHT_EMPTY
    return HEIGHT if any(not mark.is_on_chart for mark in chart.marks) else _HEIGHT_WITHOUT_STRIP


def _is_empty(chart: Chart) -> bool:
    """Whether there is neither a ceiling nor a group with a place, so that axes would say nothing."""
    return not chart.roofs and not any(mark.is_on_chart for mark in chart.marks)


def _description(chart: Chart) -> str:
    """The chart in words."""
    roofs = ", ".join(f"{_title(roof)} {_value(roof)}" for roof in chart.roofs) or "no ceiling is known"
    marks = "; ".join(
        f"{mark.label} {mark.name}: {percent(mark.share)} of the time, bound by {mark.bound or 'nothing known'}, "
        f"{percent(mark.fraction, at_least=not mark.complete)} of its roof"
        for mark in chart.marks[:_NAMED]
    )
    return f"Ceilings: {roofs}. Kernel groups by time: {marks}."


@dataclass(frozen=True)
class _Drawing:
    chart: Chart
    colors: dict[str, str]

    def parts(self) -> Iterator[str]:
        yield from self._heading()
        if _is_empty(self.chart):
            said = "No roofline: no ceiling is known, and no group has FLOP and bytes. The findings name the counters."
            yield _text(_LEFT, 60, said, self.colors["text"], size=12)
            return
        yield from self._axes()
        yield from self._roofs()
        yield from self._ridges()
        yield from self._marks()
        yield from self._strip()

    # Places.

    def _x(self, intensity: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(max(self.chart.frame.x(intensity), 0.0), 1.0)

    def _y(self, rate: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(max(self.chart.frame.y(rate), 0.0), 1.0)

    # Pieces.

    def _heading(self) -> Iterator[str]:
        chart = self.chart
        low, high = chart.clock
        clock = "" if math.isnan(low) else f", SM clock {quantity(low, 'Hz')}"
        clock += f" to {quantity(high, 'Hz')}" if high > low * 1.001 else ""
        place = f", CC {chart.cc}" if chart.cc else ""
        yield _text(_LEFT, 18, f"{chart.device}{place}{clock}", self.colors["text"], size=13, weight=600)
        launches = sum(mark.launches for mark in chart.marks)
        total = f", {seconds(chart.time)} of GPU time" if chart.time > 0 else ""
        note = " Axes widened for points outside the frame of the machine." if chart.frame.widened else ""
        beyond = [_title(roof) for roof in chart.roofs if self._line_of(roof) is None]
        note += f" Ceilings outside: {', '.join(beyond)}." if beyond else ""
        note += f" Outside, at the edge: {count(len(chart.outside), 'group')}." if chart.outside else ""
        said = f"{count(len(chart.marks), 'group')}, {count(launches, 'launch')}{total}.{note}"
        yield _text(_LEFT, 33, said, self.colors["muted"])

    def _axes(self) -> Iterator[str]:
        frame, colors = self.chart.frame, self.colors
        for value in frame.decades_of_x():
            x = self._x(value)
            yield _line(x, _TOP, x, _BOTTOM, colors["grid"], 1)
            yield _text(x, _BOTTOM + 14, plain(value), colors["muted"], anchor="middle")
        for value in frame.decades_of_y():
            y = self._y(value)
            yield _line(_LEFT, y, _RIGHT, y, colors["grid"], 1)
            yield _text(_LEFT - 6, y + 4, _with_prefix(value), colors["muted"], anchor="end")
        yield (
            f'<rect x="{_LEFT:g}" y="{_TOP:g}" width="{_RIGHT - _LEFT:g}" height="{_BOTTOM - _TOP:g}" fill="none" '
            f'stroke="{colors["line"]}"/>'
        )
        yield _text(
            (_LEFT + _RIGHT) / 2, _BOTTOM + 30, "intensity, FLOP/byte", colors["text"], anchor="middle", size=12
        )
        yield (
            f'<text transform="translate(14 {(_TOP + _BOTTOM) / 2:g}) rotate(-90)" text-anchor="middle" font-size="12" '
            f'fill="{colors["text"]}">FLOP/s</text>'
        )

    def _roofs(self) -> Iterator[str]:
        chart = self.chart
        if not chart.roofs:
            said = "no ceiling is known: ncu-roofline collect gives the counters"
            yield _text(
                (_LEFT + _RIGHT) / 2, (_TOP + _BOTTOM) / 2, said, self.colors["muted"], anchor="middle", size=12
            )
        for roof in chart.tiers:
            if (line := self._line_of(roof)) is not None:
                yield from self._slope(roof, line)
        taken: list[float] = []
        for roof in sorted(chart.paths, key=lambda one: -one.value):
            line = self._line_of(roof)
            if line is None:
                continue
            yield _line(*line, self.colors[COMPUTE], 2, dash=_dash(roof), data=_roof_data(roof))
            y = line[1]
            label = max([y, *(other + 28 for other in taken if other + 28 > y)], default=y)
            taken.append(label)
            yield _text(_RIGHT + 6, label - 1, _title(roof), self.colors[COMPUTE])
            yield _text(_RIGHT + 6, label + 12, f"{_value(roof)}{_of(roof)}", self.colors["muted"])

    def _line_of(self, roof: Roof) -> tuple[float, float, float, float] | None:
        """Both ends of a ceiling, or None outside the frame: slopes end at the highest path, paths at the edge."""
        chart, frame = self.chart, self.chart.frame
        if not roof.is_tier:
            steepest = max((tier.value for tier in chart.tiers), default=math.inf)
            x_begin = max(frame.x_low, roof.value / steepest)
            if x_begin >= frame.x_high or not frame.y_low <= roof.value <= frame.y_high:
                return None
            return self._x(x_begin), self._y(roof.value), _RIGHT, self._y(roof.value)
        top = min(frame.y_high, max((path.value for path in chart.paths), default=math.inf))
        x_begin = max(frame.x_low, frame.y_low / roof.value)
        x_end = min(frame.x_high, top / roof.value)
        if x_begin >= x_end:
            return None
        return self._x(x_begin), self._y(roof.value * x_begin), self._x(x_end), self._y(roof.value * x_end)

    def _slope(self, roof: Roof, line: tuple[float, float, float, float]) -> Iterator[str]:
        color = self.colors[roof.name]
        yield _line(*line, color, 2, dash=_dash(roof), data=_roof_data(roof))
        x, y, angle = self._place_of_label(line)
        yield (
            f'<text transform="translate({x:.2f} {y - 5:.2f}) rotate({angle:.2f})" fill="{color}" '
            f"{_halo(self.colors)}>{escape(_slope_label(roof))}</text>"
        )

    def _place_of_label(self, line: tuple[float, float, float, float]) -> tuple[float, float, float]:
        """A third of a decade inside the lower end of a slope, and its angle in degrees."""
        x1, y1, x2, y2 = line
        decade = (_RIGHT - _LEFT) / math.log10(self.chart.frame.x_high / self.chart.frame.x_low)
        along = min(0.33 / max((x2 - x1) / decade, 0.4), 0.5)
        return x1 + (x2 - x1) * along, y1 + (y2 - y1) * along, math.degrees(math.atan2(y2 - y1, x2 - x1))

    def _covered(self) -> Iterator[Box]:
        """Boxes along the ceilings and their labels, which names are not to cover."""
        for roof in self.chart.roofs:
            line = self._line_of(roof)
            if line is None:
                continue
            x1, y1, x2, y2 = line
            yield from _along(x1, y1, x2, y2, half=1.0)
            if roof.is_tier:
                x, y, angle = self._place_of_label(line)
                length = _WIDE * len(_slope_label(roof))
                across, down = length * math.cos(math.radians(angle)), length * math.sin(math.radians(angle))
                yield from _along(x, y - 9, x + across, y - 9 + down, half=6.0)

    def _ridges(self) -> Iterator[str]:
        frame = self.chart.frame
        tiers = [roof for roof in self.chart.tiers if roof.name == "dram"]
        last = -math.inf
        for roof in sorted(self.chart.paths, key=lambda one: one.value) if tiers else ():
            ridge = roof.value / tiers[0].value
            if not (frame.x_low < ridge < frame.x_high and roof.value > frame.y_low):
                continue
            x, y = self._x(ridge), self._y(roof.value)
            yield _line(x, _BOTTOM, x, y, self.colors["muted"], 1, dash="1 3")
            if x - last > 56:
                yield _text(x + 3, _BOTTOM - 4, f"ridge {plain(ridge)}", self.colors["muted"])
                last = x

    def _marks(self) -> Iterator[str]:
        outside = self.chart.outside
        yield from (self._caret(mark) for mark in outside)
        beyond = {mark.number for mark in outside}
        shown = [mark for mark in self.chart.marks if mark.is_on_chart and mark.number not in beyond]
        heaviest = {mark.number for mark in shown[:_CONNECTED]}
        obstacles = list(self._covered())
        for mark in shown:
            if mark.number in heaviest and len(mark.intensity) > 1:
                xs = sorted(self._x(value) for value in mark.intensity.values())
                y = self._y(mark.rate)
                yield _line(xs[0], y, xs[-1], y, self.colors[mark.kind], 1)
                obstacles.append(Box(xs[0], y - 2, xs[-1], y + 2))
        # Big ones first, so that small ones stay visible.
        for mark in sorted(shown, key=lambda one: -radius(one)):
            yield from self._mark(mark, ticks=mark.number in heaviest)
            x, y, r = self._x(mark.intensity[str(mark.tier)]), self._y(mark.rate), radius(mark)
            obstacles.append(Box(x - r, y - r, x + r, y + r))
            ticks = self._ticks(mark) if mark.number in heaviest else ()
            obstacles += [Box(tick - _TICK, y - _TICK, tick + _TICK, y + _TICK) for _, tick in ticks]
        named = shown[:_NAMED]
        texts = [f"{mark.label} {mark.name}"[: NAME_WIDTH + 3] for mark in named]
        spots = [(self._x(mark.intensity[str(mark.tier)]), self._y(mark.rate), radius(mark)) for mark in named]
        limits = Box(_LEFT, _TOP, _RIGHT, _BOTTOM)
        for mark, text, spot in zip(named, texts, place_labels(texts, spots, obstacles, limits, _WIDE), strict=True):
            if spot is not None:
                yield _text(spot[0], spot[1], text, self.colors["text"], extra=_halo(self.colors))
            elif radius(mark) < 7:
                x, y = self._x(mark.intensity[str(mark.tier)]), self._y(mark.rate)
                yield _text(x + radius(mark) + 2, y + 4, mark.label, self.colors["text"])

    def _mark(self, mark: Mark, *, ticks: bool) -> Iterator[str]:
        color, y = self.colors[mark.kind], self._y(mark.rate)
        for tier, place in self._ticks(mark) if ticks else ():
            yield _shape(tier, place, y, _TICK, fill=self.colors["page"], stroke=color, width=1.5)
        x, r = self._x(mark.intensity[str(mark.tier)]), radius(mark)
        is_far = mark.kind == FAR_FROM_ALL
        fill = self.colors["page"] if is_far else color
        yield _shape(
            str(mark.tier), x, y, r, fill=fill, stroke=color, width=2, data=_mark_data(mark), title=hover(mark)
        )
        if r >= 7:
            inside = color if is_far else self.colors["on fill"]
            yield _text(x, y + 4, mark.label, inside, anchor="middle", weight=600, extra=_NOT_CLICKED)

    def _caret(self, mark: Mark) -> str:
        """A group beyond the frame: a triangle at the edge that points to it, with its number."""
        frame, intensity = self.chart.frame, mark.intensity[str(mark.tier)]
        across, up = frame.x(intensity), frame.y(mark.rate)
        side = "left" if across < 0 else "right" if across > 1 else "top" if up > 1 else "bottom"
        x = min(max(self._x(intensity), _LEFT + 8), _RIGHT - 8)
        y = min(max(self._y(mark.rate), _TOP + 8), _BOTTOM - 8)
        color = self.colors[mark.kind]
        data, title = _mark_data(mark), hover(mark)
        shape = _shape(side, x, y, 6, fill=self.colors["page"], stroke=color, width=2, data=data, title=title)
        anchor, place = ("end", x - 10) if across > 1 else ("", x + 10)
        return shape + _text(place, y + 4, mark.label, self.colors["text"], anchor=anchor, extra=_halo(self.colors))

    def _ticks(self, mark: Mark) -> Iterator[tuple[str, float]]:
        """The other tiers of a group and their places; none below its own mark."""
        middle = self._x(mark.intensity[str(mark.tier)])
        for tier, value in mark.intensity.items():
            place = self._x(value)
            if tier != mark.tier and abs(place - middle) >= radius(mark):
                yield tier, place

    def _strip(self) -> Iterator[str]:
        """Groups without a place on the axes, by the share of the ceiling that they use most."""
        aside = [mark for mark in self.chart.marks if not mark.is_on_chart]
        if not aside:
            return
        colors = self.colors
        placed = [mark for mark in aside if mark.usage]
        unplaced = len(aside) - len(placed)
        if not placed:
            said = f"{count(unplaced, 'group')} without counted FLOP or bytes, and without a ceiling to be held against"
            yield _text(_LEFT, _STRIP_TOP, said, colors["muted"])
            return
        yield (
            f'<rect x="{_LEFT:g}" y="{_STRIP_TOP:g}" width="{_RIGHT - _LEFT:g}" '
            f'height="{_STRIP_BOTTOM - _STRIP_TOP:g}" fill="none" stroke="{colors["line"]}"/>'
        )
        for step in range(0, 101, 25):
            x = _LEFT + (_RIGHT - _LEFT) * step / 100
            yield _text(x, _STRIP_BOTTOM + 14, f"{step} %", colors["muted"], anchor="middle")
        for mark in sorted(placed, key=lambda one: -radius(one)):
            name, used = max(mark.usage.items(), key=lambda item: item[1])
            x, y = _LEFT + (_RIGHT - _LEFT) * min(used, 1.0), (_STRIP_TOP + _STRIP_BOTTOM) / 2
            color = colors[name] if name in colors else colors[COMPUTE]
            yield _shape("none", x, y, 6, fill=color, stroke=color, width=1, data=_mark_data(mark), title=hover(mark))
            yield _text(x + 9, y + 4, mark.label, colors["text"])
        said = "no counted FLOP or no bytes: share of the ceiling that is used most"
        said += f"; {count(unplaced, 'group')} with neither" if unplaced else ""
        yield _text(_LEFT, _STRIP_BOTTOM + 30, said, colors["muted"])


def radius(mark: Mark) -> float:
    """Its area is the share of the time."""
    if math.isnan(mark.share):
        return 6.0
    return min(max(3.1 * math.sqrt(100.0 * mark.share), 4.5), 18.0)


def _title(roof: Roof) -> str:
    return _TITLES.get(roof.name, roof.name)


def _value(roof: Roof) -> str:
    return quantity(roof.value, "B/s" if roof.is_tier else "FLOP/s")


def _slope_label(roof: Roof) -> str:
    return f"{_title(roof)} {_value(roof)}{_of(roof)}"


def _of(roof: Roof) -> str:
    return "" if roof.source == "report" else f" ({roof.source})"


def roof_color(roof: Roof, colors: dict[str, str]) -> str:
    """Colour of a ceiling: that of its tier, or of compute."""
    return colors[roof.name] if roof.is_tier else colors[COMPUTE]


def _dash(roof: Roof) -> str:
    return _DASHES.get(roof.source, _DOTTED)


def _roof_data(roof: Roof) -> str:
    return f'data-roof="{roof.name}" data-value="{roof.value!r}" data-source="{roof.source}"'


def _mark_data(mark: Mark) -> str:
    intensity = "" if mark.tier is None else f' data-intensity="{mark.intensity[mark.tier]!r}" data-tier="{mark.tier}"'
    errors = ' data-errors="true"' if mark.wrong else ""
    bound = mark.bound or UNKNOWN
    return f'data-kernel-id="k{mark.number}" data-value="{mark.rate!r}" data-bound="{bound}"{intensity}{errors}'


def hover(mark: Mark) -> str:
    """Four lines, and a fifth where the numbers are not to be used."""
    wrong = "\nerror: see the findings" if mark.wrong else ""
    path = f"{mark.path} {quantity(mark.rate, 'FLOP/s')}" if mark.path and mark.rate > 0 else "no counted FLOP"
    roof = percent(mark.fraction, at_least=not mark.complete)
    return (
        f"{mark.number} {mark.name}\n{percent(mark.share)} of the time, {count(mark.launches, 'launch')}\n"
        f"bound by {mark.bound or 'nothing known'}, {roof} of its roof\n{path}{wrong}"
    )


def plain(value: float) -> str:
    """A number of three digits without exponent, thousands apart by a thin space."""
    rounded = float(f"{value:.3g}")
    if rounded < 1:
        return f"{rounded:.10f}".rstrip("0").rstrip(".")
    return f"{rounded:,.10g}".replace(",", "\u2009")


def _with_prefix(value: float) -> str:
    for factor, prefix in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor * 0.999:
            return f"{value / factor:g} {prefix}"
    return f"{value:g}"


def _along(x1: float, y1: float, x2: float, y2: float, *, half: float) -> Iterator[Box]:
    """Boxes of a few pixels that follow a line, ``half`` to both sides of it."""
    steps = max(int(math.hypot(x2 - x1, y2 - y1) / _STEP), 1)
    for step in range(steps):
        x, y = x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps
        yield Box(x, y - half, x + (x2 - x1) / steps, y + half)


def _halo(colors: dict[str, str]) -> str:
    return f'paint-order="stroke" stroke="{colors["page"]}" stroke-width="3"'


def _line(
    x1: float, y1: float, x2: float, y2: float, color: str, width: float, *, dash: str = "", data: str = ""
) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    more = f" {data}" if data else ""
    return (
        f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{color}" stroke-width="{width:g}"'
        f"{dashed}{more}/>"
    )


def _text(
    x: float, y: float, text: str, color: str, *, anchor: str = "", size: int = 0, weight: int = 0, extra: str = ""
) -> str:
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in (("text-anchor", anchor), ("font-size", size), ("font-weight", weight))
        if value
    )
    more = f" {extra}" if extra else ""
    return f'<text x="{x:.2f}" y="{y:.2f}" fill="{color}"{attributes}{more}>{escape(text)}</text>'


def _shape(
    tier: str, x: float, y: float, r: float, *, fill: str, stroke: str, width: float, data: str = "", title: str = ""
) -> str:
    """A mark: circle for DRAM, diamond for L2, square for L1, triangle without a tier or towards an edge."""
    look = f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"{f" {data}" if data else ""}'
    inside = f"<title>{escape(title)}</title>" if title else ""
    if tier == "dram":
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{r:.2f}" {look}>{inside}</circle>'
    corners = _CORNERS.get(tier, _CORNERS["none"])
    points = " ".join(f"{x + dx * r:.2f},{y + dy * r:.2f}" for dx, dy in corners)
    return f'<polygon points="{points}" {look}>{inside}</polygon>'


_CORNERS: Final[dict[str, Sequence[tuple[float, float]]]] = {
    "l2": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "l1": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "none": ((0, -1.1), (1, 0.8), (-1, 0.8)),
    "left": ((-1.1, 0), (0.8, -1), (0.8, 1)),
    "right": ((1.1, 0), (-0.8, -1), (-0.8, 1)),
    "top": ((0, -1.1), (1, 0.8), (-1, 0.8)),
    "bottom": ((0, 1.1), (1, -0.8), (-1, -0.8)),
}
"""Corners of the marks, of areas like that of a circle of radius 1."""
