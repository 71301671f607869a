"""Both sides of a comparison on one roofline: before hollow, an arrow, after filled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ncu_roofline.comparison import Compared, Comparison, Verdict
from ncu_roofline.formats import visible
from ncu_roofline.render.comparison import words
from ncu_roofline.render.picture import Chart, Frame, Roof
from ncu_roofline.render.picture.chart import COMPUTE, NOT_KNOWN, only_roofs
from ncu_roofline.render.picture.frame import frame_of
from ncu_roofline.render.picture.labels import Box, place_labels
from ncu_roofline.render.picture.names import short_names
from ncu_roofline.render.picture.plot import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Plot
from ncu_roofline.render.picture.roofs import covered, draw_ridges, draw_roofs
from ncu_roofline.render.picture.shapes import CHARACTER, NOT_CLICKED, halo, line, look, shape, text
from ncu_roofline.render.picture.svg import HEIGHT, document, draw_axes
from ncu_roofline.vocabulary import CORE_TIERS, FLOP_PATHS, TIERS
from ncu_roofline.wording import count

_EMPTY: Final = 80
_RADIUS: Final = 8.0
_TICK: Final = 3.5
_APART: Final = 8.0
"""Pixels between two marks from which an arrow has room."""
_DRAWN: Final = 12
"""Pairs that changed most, which are drawn."""


@dataclass(frozen=True)
class Moved:
    """A pair with a place on the axes on both sides: (FLOP/byte, FLOP/s) of one path at one tier."""

    number: int
    pair: Compared
    path: str
    tier: str
    before: tuple[float, float]
    after: tuple[float, float]
    others: Mapping[str, tuple[float, float]]
    """Intensity before and after at the other tiers."""


def to_svg(comparison: Comparison, colors: dict[str, str], frame: Frame | None = None) -> str:
    """The comparison as an SVG document of 800 pixels.

    Args:
        comparison: what is drawn.
        colors: ``LIGHT`` or ``DARK``.
        frame: the axes; those of the machine if there are none.

    """
    moved = moves(comparison)
    plot = Plot(_chart(comparison, moved, frame), colors)
    named = f"Roofline before and after: {words.verdict(comparison.whole)}"
    size = (WIDTH, HEIGHT if moved else _EMPTY)
    return document(size, named, _body(comparison, plot, moved), colors, testid="compare")


def moves(comparison: Comparison) -> list[Moved]:
    """Pairs with a place on both sides, the most changed first; numbers are their rows in the table."""
    found = [_moved(number, one) for number, one in enumerate(comparison.pairs, start=1)]
    return [one for one in found if one is not None]


def _moved(number: int, one: Compared) -> Moved | None:
    """Both places of a pair: of the path that is nearest to its peak after, at the tier that binds after."""
    path = max(FLOP_PATHS, key=lambda name: _share(one, name))
    if not _share(one, path) > 0:
        return None
    tiers = [tier for tier in CORE_TIERS if all(_at(one, path, tier, side)[0] > 0 for side in (0, 1))]
    if not tiers:
        return None
    tier = str(one.bound[1]) if one.bound[1] in tiers else tiers[0]
    others = {name: (_at(one, path, name, 0)[0], _at(one, path, name, 1)[0]) for name in tiers if name != tier}
    return Moved(number, one, path, tier, _at(one, path, tier, 0), _at(one, path, tier, 1), others)


def _share(one: Compared, path: str) -> float:
    """Share of its peak that a path reaches after; a path without a peak comes after those with one."""
    rate = one.value(f"work.{path}.rate", 1)
    if not rate > 0 or not one.value(f"work.{path}.rate", 0) > 0:
        return 0.0
    peak = one.peaks.get(path, (math.nan, math.nan))[1]
    return rate / peak if peak > 0 else 1e-9


def _at(one: Compared, path: str, tier: str, side: int) -> tuple[float, float]:
    rate, moved = one.value(f"work.{path}.rate", side), one.value(f"traffic.{tier}.rate", side)
    return (rate / moved, rate) if moved > 0 and rate > 0 else (math.nan, math.nan)


def _chart(comparison: Comparison, moved: Sequence[Moved], frame: Frame | None) -> Chart:
    """Roofs of the side after; the marks are drawn here."""
    paths = [path for path in FLOP_PATHS if any(one.path == path for one in moved)]
    roofs = []
    # Which of several sources a ceiling is from is not kept.
    source = " or ".join(comparison.after.peak_sources)
    for name in (*CORE_TIERS, *paths):
        peaks = [one.peaks[name][1] for one in comparison.pairs if name in one.peaks and one.peaks[name][1] > 0]
        if peaks:
            roofs.append(Roof(name, max(peaks), source, math.nan))
    points = [point for one in moved for point in (one.before, one.after)]
    points += [(x, one.after[1]) for one in moved for _, x in one.others.values()]
    alone = [(one.of, side) for some, side in ((comparison.new, 1), (comparison.gone, 0)) for one in some]
    points += [at for at in (_place(of, side) for of, side in alone) if at is not None]
    bandwidths, ceilings = ([roof.value for roof in roofs if roof.is_tier is tier] for tier in (True, False))
    devices = visible(" and ".join(device.label for device in comparison.after.devices))
    return only_roofs(devices, roofs, frame or frame_of(bandwidths, ceilings, points))


def _body(comparison: Comparison, plot: Plot, moved: Sequence[Moved]) -> Iterator[str]:
    colors, whole = plot.colors, comparison.whole
    yield text(LEFT, 18, f"{plot.chart.device}: {words.verdict(whole)}", colors["text"], size=13, weight=600)
    changed = {number for number, _ in words.shown(comparison)}
    unchanged = len(comparison.pairs) - len(changed)
    same = f"; {count(unchanged, 'pair')} with the same time and amounts not drawn" if unchanged else ""
    drawn = [one for one in moved if one.number in changed][:_DRAWN]
    outside = sum(not all(plot.chart.holds(*at) for at in (one.before, one.after)) for one in drawn)
    edge = f"; outside, at the edge: {count(outside, 'pair')}" if outside else ""
    yield text(LEFT, 33, f"{words.times(whole)}; {words.tally(comparison)}{same}{edge}", colors["muted"])
    if not moved:
        yield text(LEFT, 60, "No pair has times, FLOP and bytes on both sides.", colors["text"], size=12)
        return
    yield from draw_axes(plot)
    yield from draw_roofs(plot)
    yield from draw_ridges(plot)
    names = short_names([one.pair.name for one in drawn])
    judged = comparison.verdict is not Verdict.INCOMPARABLE
    for one, name in zip(reversed(drawn), reversed(names), strict=True):
        yield from _pair(plot, one, name, judged=judged)
    if judged:
        yield from _speeds(plot, drawn)
    yield from _alone(plot, comparison)


def _pair(plot: Plot, one: Moved, name: str, *, judged: bool) -> Iterator[str]:
    colors = plot.colors
    color = colors[_kind(one.pair)]
    (x1, y1), (x2, y2) = ((plot.x(at[0]), plot.y(at[1])) for at in (one.before, one.after))
    data = f'data-pair="{one.number}" data-tier="{one.tier}" data-path="{one.path}"'
    before = f'{data} data-side="before" data-intensity="{one.before[0]!r}" data-value="{one.before[1]!r}"'
    after = f'{data} data-side="after" data-intensity="{one.after[0]!r}" data-value="{one.after[1]!r}"'
    is_sure = judged and one.pair.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)
    for tier, (left, right) in one.others.items():
        # The other tiers: small, on a thin arrow from before to after.
        yield shape(tier, plot.x(left), y1, _TICK - 1.5, look("none", color, 1))
        if is_sure and math.hypot(plot.x(right) - plot.x(left), y2 - y1) > _TICK + _APART:
            yield from _arrow(color, (plot.x(left), y1), (plot.x(right), y2), _TICK)
        yield shape(tier, plot.x(right), y2, _TICK, f'{look(colors["page"], color, 1.5)} {data} data-other="{tier}"')
    yield shape(one.tier, x1, y1, _RADIUS - 2, f'{look("none", color, 1.5)} stroke-dasharray="2 2" {before}')
    if is_sure and math.hypot(x2 - x1, y2 - y1) > _RADIUS + _APART:
        yield from _arrow(colors["text"], (x1, y1), (x2, y2), _RADIUS)
    said = f"{one.number} {name}: {words.verdict(one.pair)}\n{words.times(one.pair)}\n{words.cause(one.pair)}"
    yield shape(one.tier, x2, y2, _RADIUS, f"{look(color, color, 1)} {after}", said.strip())
    yield text(x2, y2 + 4, str(one.number), colors["on fill"], anchor="middle", weight=600, extra=NOT_CLICKED)


def _speeds(plot: Plot, drawn: Sequence[Moved]) -> Iterator[str]:
    """How much faster or slower, beside the marks where there is room."""
    sure = [one for one in drawn if one.pair.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)]
    obstacles = list(covered(plot))
    for one in drawn:
        for x, y in (one.before, one.after):
            across, down = plot.x(x), plot.y(y)
            obstacles.append(Box(across - _RADIUS, down - _RADIUS, across + _RADIUS, down + _RADIUS))
        down = plot.y(one.after[1])
        for _, value in one.others.values():
            obstacles.append(Box(plot.x(value) - _TICK, down - _TICK, plot.x(value) + _TICK, down + _TICK))
    texts = [words.speed(one.pair) for one in sure]
    spots = [(plot.x(one.after[0]), plot.y(one.after[1]), _RADIUS) for one in sure]
    places = place_labels(texts, spots, obstacles, Box(LEFT, TOP, RIGHT, BOTTOM), CHARACTER)
    for said, place in zip(texts, places, strict=True):
        if place is not None:
            yield text(*place, said, plot.colors["text"], extra=halo(plot.colors))


def _alone(plot: Plot, comparison: Comparison) -> Iterator[str]:
    """What is new as a plus, what is gone as a cross, where they have a place."""
    color = plot.colors["text"]
    for some, side, sign in ((comparison.new, 1, "+"), (comparison.gone, 0, "\u00d7")):
        for one in some[:_DRAWN]:
            at = _place(one.of, side)
            if at is not None:
                data = f'data-alone="{"new" if side else "gone"}"'
                yield text(plot.x(at[0]), plot.y(at[1]) + 6, sign, color, anchor="middle", size=18, extra=data)


def _place(one: Compared, side: int) -> tuple[float, float] | None:
    """Place of what one side has only: of the path with the highest rate, at the first tier that is known."""
    rates = {path: one.value(f"work.{path}.rate", side) for path in FLOP_PATHS}
    path = max(rates, key=lambda name: np.nan_to_num(rates[name]))
    places = [_at(one, path, tier, side) for tier in CORE_TIERS]
    return next((place for place in places if place[0] > 0), None)


def _arrow(color: str, begin: tuple[float, float], end: tuple[float, float], radius: float) -> Iterator[str]:
    """A line with a head that ends at the mark, whose radius is given."""
    (x1, y1), (x2, y2) = begin, end
    length = math.hypot(x2 - x1, y2 - y1)
    across, down = (x2 - x1) / length, (y2 - y1) / length
    x, y = x2 - across * (radius + 1), y2 - down * (radius + 1)
    head = 0.5 + radius / 16
    yield line(x1 + across * (radius - 2), y1 + down * (radius - 2), x - across * 5, y - down * 5, color, 0.2 + head)
    back = (x - 7 * head * across, y - 7 * head * down)
    left = (back[0] - 3 * head * down, back[1] + 3 * head * across)
    right = (back[0] + 3 * head * down, back[1] - 3 * head * across)
    points = " ".join(f"{a:.2f},{b:.2f}" for a, b in ((x, y), left, right))
    yield f'<polygon points="{points}" fill="{color}"/>'


def _kind(one: Compared) -> str:
    """What its colour says: what binds after."""
    by = one.bound[1]
    return NOT_KNOWN if by is None else by if by in TIERS else COMPUTE
