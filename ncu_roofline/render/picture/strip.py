"""Groups without a place on logarithmic axes, by the share of what they use: below the chart, or instead of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ncu_roofline.formats import percent
from ncu_roofline.render.picture.chart import COMPUTE, NOT_KNOWN, Chart, Mark
from ncu_roofline.render.picture.palette import TITLES, title
from ncu_roofline.render.picture.plot import LEFT, RIGHT, TOP, Plot, hover, mark_data, radius
from ncu_roofline.render.picture.shapes import halo, line, look, shape, text
from ncu_roofline.wording import count

STRIP_TOP, STRIP_BOTTOM = 446.0, 474.0
_STRIP, _SENTENCE = 82, 24
_ROW: Final = 44.0
_BUSY: Final = "busy"
_NUMBERED: Final = 8
"""Groups of a row whose numbers are looked for room for."""
_KINDS: Final = {title: tier for tier, title in TITLES.items()} | {"SM": COMPUTE, "memory": NOT_KNOWN}


def aside(chart: Chart) -> list[Mark]:
    """Groups without a place on the axes."""
    return [mark for mark in chart.marks if not mark.is_on_chart]


def draw_strip(plot: Plot) -> Iterator[str]:
    """A line from 0 to 100 % below the chart, with the groups at the share of the ceiling that they use most."""
    colors = plot.colors
    left_out = aside(plot.chart)
    if not left_out:
        return
    placed = [mark for mark in left_out if mark.usage]
    unplaced = len(left_out) - len(placed)
    if not placed:
        said = f"{count(unplaced, 'group')} without counted FLOP or bytes, and without a ceiling to be held against"
        yield text(LEFT, STRIP_TOP, said, colors["muted"])
        return
    yield (
        f'<rect x="{LEFT:g}" y="{STRIP_TOP:g}" width="{RIGHT - LEFT:g}" '
        f'height="{STRIP_BOTTOM - STRIP_TOP:g}" fill="none" stroke="{colors["line"]}"/>'
    )
    yield from _scale(plot, STRIP_BOTTOM)
    for mark in sorted(placed, key=lambda one: -radius(one)):
        name, used = most_used(mark)
        x, y = _x(used), (STRIP_TOP + STRIP_BOTTOM) / 2
        color = colors.get(name, colors[COMPUTE])
        yield shape("none", x, y, 6, f"{look(color, color, 1)} {mark_data(mark)}", hover(mark))
        yield text(x + 9, y + 4, mark.label, colors["text"])
    said = "no counted FLOP or no bytes: share of the ceiling that is used most"
    said += f"; {count(unplaced, 'group')} with neither" if unplaced else ""
    yield text(LEFT, STRIP_BOTTOM + 30, said, colors["muted"])


def height_of_strip(chart: Chart) -> int:
    """Pixels below the axes that the strip takes: nothing, a sentence, or the line with its scale."""
    if not aside(chart):
        return 0
    return _STRIP if any(mark.usage for mark in aside(chart)) else _SENTENCE


def most_used(mark: Mark) -> tuple[str, float]:
    """The tier or path whose ceiling a group uses most, and the share."""
    return max(mark.usage.items(), key=lambda item: item[1])


def shares(chart: Chart) -> dict[str, list[tuple[Mark, float]]]:
    """What groups use of each tier and path, or, where no ceiling is known, how busy ncu says each unit is."""
    found: dict[str, list[tuple[Mark, float]]] = {}
    has_usage = any(mark.usage for mark in chart.marks)
    for mark in chart.marks:
        used = mark.usage if has_usage else {name: high for name, (_, high) in mark.busy.items()}
        for name, share in used.items():
            found.setdefault(title(name) if has_usage else f"{name} {_BUSY}", []).append((mark, share))
    return found


def height_of_shares(chart: Chart) -> int:
    """Pixels of the drawing of ``draw_shares``."""
    return int(TOP + _ROW * len(shares(chart)) + 60)


def draw_shares(plot: Plot) -> Iterator[str]:
    """A row for every tier and path (or busy unit) from 0 to 100 %, for reports without a place for any group."""
    colors, rows = plot.colors, shares(plot.chart)
    bottom = TOP + 10 + _ROW * len(rows)
    found: set[int] = set()
    for step in range(0, 101, 25):
        yield line(_x(step / 100), TOP + 10, _x(step / 100), bottom, colors["grid"], 1)
    for number, (name, marks) in enumerate(rows.items()):
        y = TOP + 10 + _ROW * (number + 0.5)
        kind = _KINDS.get(name.removesuffix(f" {_BUSY}").partition(" (")[0], COMPUTE)
        yield line(LEFT, y, RIGHT, y, colors["line"], 1)
        yield text(RIGHT + 10, y + 4, name, colors[kind])
        for mark, share in sorted(marks, key=lambda one: -radius(one[0])):
            data = f'data-share="{share!r}" ' + (mark_data(mark) if mark.number not in found else "")
            found.add(mark.number)
            tier = kind if kind in TITLES else "none"
            x, r = _x(share), min(radius(mark), 9.0)
            said = f"{hover(mark)}\n{name}: {percent(share)}"
            yield shape(tier, x, y, r, f"{look(colors[kind], colors['page'], 1)} {data}", said)
        yield from _numbers(plot, marks, y)
    yield from _scale(plot, bottom)
    said = "share of the ceiling of each" if not name.endswith(_BUSY) else "throughput as ncu gives it, of its peak"
    lost = plot.chart.groups - len(found)
    said += f"; {count(lost, 'group')} without any" if lost else ""
    yield text(LEFT, bottom + 32, f"No group has both counted FLOP and bytes; {said}.", colors["muted"])


def _numbers(plot: Plot, marks: list[tuple[Mark, float]], y: float) -> Iterator[str]:
    """Numbers above the marks of a row, the longest groups first, as far as they do not meet."""
    taken: list[float] = []
    for mark, share in marks[:_NUMBERED]:
        label = mark.label if share <= 1.0 else f"{mark.label} {percent(share)}"
        x, width = _x(share), 7.0 * len(label) + 2
        if all(abs(x - other) > width for other in taken):
            taken.append(x)
            yield text(x, y - 12, label, plot.colors["text"], anchor="middle", extra=halo(plot.colors))


def _x(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * min(share, 1.0)


def _scale(plot: Plot, bottom: float) -> Iterator[str]:
    for step in range(0, 101, 25):
        yield text(_x(step / 100), bottom + 14, f"{step} %", plot.colors["muted"], anchor="middle")
