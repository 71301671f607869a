"""Time of a launch against both of its bounds, a bar for each kernel group, with the launch overhead if it is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ncu_roofline.formats import seconds
from ncu_roofline.render.picture.chart import COMPUTE
from ncu_roofline.render.picture.shapes import CHARACTER, halo, line, text
from ncu_roofline.render.picture.svg import document

_WIDTH: Final = 800
_LEFT: Final = 250.0
_RIGHT: Final = 780.0
_TOP: Final = 64.0
_ROW: Final = 34.0


@dataclass(frozen=True)
class Bar:
    """Seconds of a launch: measured, arithmetic and memory at their ceilings; NaN is not known."""

    name: str
    time: float
    arithmetic: float
    memory: float


def to_bars(title: str, bars: Sequence[Bar], call: float, colors: dict[str, str]) -> str:
    """An SVG document; ``call`` is what launching a kernel takes the host (NaN: not known)."""
    known = [value for bar in bars for value in (bar.time, bar.arithmetic, bar.memory, call) if value > 0]
    low = 10.0 ** math.floor(math.log10(min(known)))
    high = 10.0 ** max(math.ceil(math.log10(max(known))), math.floor(math.log10(low)) + 1)
    height = _TOP + _ROW * len(bars) + 34

    def x(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * math.log10(value / low) / math.log10(high / low)

    parts = [
        text(20, 20, title, colors["text"], size=13, weight=600),
        *_legend(call, colors),
    ]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        place = x(10.0**power)
        parts += [
            line(place, _TOP - 6, place, height - 26, colors["grid"], 1),
            text(place, height - 10, seconds(10.0**power, 1), colors["muted"], anchor="middle"),
        ]
    for number, bar in enumerate(bars):
        parts += _bar(bar, _TOP + _ROW * number, x, colors)
    if call > 0:
        parts.append(line(x(call), _TOP - 6, x(call), height - 26, colors["text"], 1, dash="2 3", title="launching"))
    return document((_WIDTH, height), title, parts, colors)


def _legend(call: float, colors: dict[str, str]) -> Iterator[str]:
    x = 20.0
    for color, said in (
        (colors["line"], "time of a launch"),
        (colors["dram"], "memory at its ceiling"),
        (colors[COMPUTE], "arithmetic at its ceiling"),
    ):
        yield f'<rect x="{x:g}" y="30" width="10" height="8" fill="{color}"/>'
        yield text(x + 14, 38, said, colors["muted"])
        x += 30 + CHARACTER * len(said)
    overhead = f"dotted: launching takes the host {seconds(call)}" if call > 0 else "launch overhead is not known"
    yield text(x, 38, f"{overhead}; logarithmic", colors["muted"])


def _bar(bar: Bar, y: float, x: Callable[[float], float], colors: dict[str, str]) -> Iterator[str]:
    yield text(_LEFT - 8, y + 16, bar.name, colors["text"], anchor="end")
    for value, top, height, color, called in (
        (bar.time, 2, 8, colors["line"], "measured"),
        (bar.memory, 12, 5, colors["dram"], "memory"),
        (bar.arithmetic, 18, 5, colors[COMPUTE], "arithmetic"),
    ):
        if value > 0:
            width = x(value) - _LEFT
            yield (
                f'<rect x="{_LEFT:g}" y="{y + top:g}" width="{max(width, 1):.2f}" height="{height}" fill="{color}" '
                f'data-{called}="{value!r}"><title>{called} {seconds(value)}</title></rect>'
            )
    if bar.time > 0:
        yield text(min(x(bar.time) + 4, _RIGHT - 40), y + 10, seconds(bar.time), colors["text"], extra=halo(colors))
