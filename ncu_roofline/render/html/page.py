"""The page: verdict, findings, time bar, charts, table, a drawer for every group, where the numbers are from.

Everything that comes from a report is data: it is escaped, and no name of it stands in a script or a style.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from statistics import median
from typing import Any, Final

from ncu_roofline.analysis import Analysis
from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.formats import percent, quantity, seconds, shape
from ncu_roofline.render.explanation import to_text
from ncu_roofline.render.group_table import advice, commands, heading, measured_with, positions
from ncu_roofline.render.picture import DARK, LIGHT, Chart, Frame, Mark, charts, to_svg
from ncu_roofline.render.picture.names import visible
from ncu_roofline.render.picture.svg import plain
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import CORE_TIERS, Severity, work_unit
from ncu_roofline.wording import count

_ROWS: Final = 200
_EXPLAINED: Final = 12
_NEAR: Final = 0.7
_GAINS: Final = 3
_MISSING: Final = "\u2013"
_KINDS: Final = {"dram": "DRAM", "l2": "L2", "l1": "L1"}
_NARROW: Final = "\u202f"


def to_html(analysis: Analysis, frame: Frame | None = None) -> str:
    """The analysis as one self-contained HTML document.

    Args:
        analysis: what is shown.
        frame: the axes of every chart; those of each machine if there are none.

    """
    given, analysis = analysis, _by_name(analysis)
    drawn = charts(analysis, frame)
    style, script = (Path(__file__).with_name(name).read_text("utf-8") for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    marks = [mark for chart in drawn for mark in chart.marks]
    title = " and ".join(dict.fromkeys(chart.device for chart in drawn))
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en" data-errors="{_errors(analysis)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Roofline: {_text(title)}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#kernels">Skip to the table</a>',
        *_head(analysis, drawn, title),
        "<main>",
        *_charts(drawn),
        *_table(marks),
        *_drawers(given, analysis, marks),
        "</main>",
        *_footer(analysis, drawn),
        f'<script type="application/json" id="model">{_json(_model(drawn))}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def to_notebook(analysis: Analysis) -> str:
    """The static charts and the table of groups, without scripts, for a cell of a notebook."""
    drawn = charts(analysis)
    marks = [mark for chart in drawn for mark in chart.marks]
    table = (
        "\n".join(_table(marks)).replace(' id="kernels"', "").replace(' id="filter"', "").replace(' id="matching"', "")
    )
    # Links lead to the drawers of the page, which are not here.
    table = re.sub(r'<a href="#k[0-9]+">(.*?)</a>', r"\1", table)
    table = re.sub(r'<p class="control">.*?</p>', "", table, flags=re.DOTALL)
    return "\n".join([*(to_svg(chart, LIGHT) for chart in drawn), table])


# Head.


def _head(analysis: Analysis, drawn: Sequence[Chart], title: str) -> Iterator[str]:
    launches = sum(mark.launches for chart in drawn for mark in chart.marks)
    groups = sum(len(chart.marks) for chart in drawn)
    time = sum(chart.time for chart in drawn)
    yield "<header>"
    yield f"<h1>Roofline: {_text(title)}</h1>"
    total = f", {seconds(time)} of GPU time" if time > 0 else ""
    yield f'<p class="muted">{count(groups, "kernel group")}, {count(launches, "launch")}{total}</p>'
    measured = dict.fromkeys(line.strip() for item in analysis.inputs for line in measured_with(item.conditions))
    said = _text("; ".join(measured).replace("measured", "Measured", 1)) or "Cache and clock control are not known"
    yield f'<p class="muted" data-testid="conditions">{said}.</p>'
    yield f'<p class="verdict" data-testid="verdict">{_verdict(analysis, drawn)}</p>'
    yield from _findings(analysis)
    yield from _time_bar([mark for chart in drawn for mark in chart.marks])
    yield "</header>"


def _errors(analysis: Analysis) -> int:
    return sum(finding.severity == Severity.ERROR for finding in analysis.finding_list)


def _verdict(analysis: Analysis, drawn: Sequence[Chart]) -> str:
    """How near the time is to its roofs, and where most is left; an error takes its place."""
    wrong = [finding for finding in analysis.finding_list if finding.severity == Severity.ERROR]
    if wrong:
        return f"The numbers are not to be used as they are: {_text(wrong[0].code)} {_text(wrong[0].message)}"
    marks = [mark for chart in drawn for mark in chart.marks]
    timed = [mark for mark in marks if mark.time > 0]
    known = [mark for mark in timed if not math.isnan(mark.fraction)]
    if not known:
        return "What binds is not known: see the findings for the counters that tell."
    whole = sum(mark.time for mark in timed)
    near = sum(mark.time for mark in known if mark.fraction >= _NEAR)
    said = f"{near / whole:.0%} of the GPU time is at {_NEAR:.0%} of its roof or better."
    gains = sorted(known, key=lambda mark: -_headroom(mark))[:_GAINS]
    names = [
        f"{mark.number} {_text(mark.name)} ({_headroom(mark):.1f}{_NARROW}pp)" for mark in gains if _headroom(mark) > 1
    ]
    return said + (f" Most headroom: {', '.join(names)}." if names else "")


def _headroom(mark: Mark) -> float:
    """Percentage points of the time that its roof leaves: an upper bound of the gain."""
    left = 100.0 * mark.share * (1.0 - mark.fraction)
    return 0.0 if math.isnan(left) else max(left, 0.0)


def _findings(analysis: Analysis) -> Iterator[str]:
    found = analysis.finding_list
    if not found:
        yield '<p data-testid="findings">No findings.</p>'
        return
    counts = [
        count(sum(finding.severity == severity for finding in found), severity.label) for severity in reversed(Severity)
    ]
    opened = " open" if _errors(analysis) else ""
    yield f'<details class="findings" data-testid="findings"{opened}><summary>{", ".join(counts)}: '
    yield f"{_text(found[0].code)} {_text(found[0].name)}</summary><ul>"
    for finding in found:
        where = f" [launch {positions(finding.launches)}]" if finding.launches else ""
        advised = f" {_text(advice(finding))}" if advice(finding) else ""
        yield (
            f'<li><span class="severity">{finding.severity.label}</span> {finding.code} {finding.name}{where}: '
            f"{_text(finding.message)}{advised}</li>"
        )
    for command, codes in commands(found).items():
        yield f"<li>To collect what is missing ({', '.join(codes)}): <pre>{_text(command)}</pre></li>"
    yield "</ul></details>"


def _time_bar(marks: Sequence[Mark]) -> Iterator[str]:
    """Shares of the time, each a link to its group, and below each what of it the roof asks for."""
    timed = [mark for mark in marks if mark.time > 0]
    known = [mark for mark in timed if not math.isnan(mark.fraction)]
    if len(timed) > 1:
        yield from _bar(timed)
    if known:
        taken, least = sum(mark.time for mark in known), sum(_least(mark) for mark in known)
        yield (
            f'<p class="muted" data-testid="least" data-value="{least!r}">Of {seconds(taken)} in groups whose roof '
            f"is known, {seconds(least)} or more would be left if each reached it.</p>"
        )


def _least(mark: Mark) -> float:
    """Time in seconds that its roof asks for at least."""
    return mark.time * min(mark.fraction, 1.0)


def _bar(timed: Sequence[Mark]) -> Iterator[str]:
    whole = sum(mark.time for mark in timed)
    yield '<div class="bar" data-testid="timebar"><svg viewBox="0 0 1000 32" preserveAspectRatio="none">'
    yield "<title>Share of the GPU time of each kernel group; below, what of it its roof asks for</title>"
    x = 0.0
    for mark in timed:
        width, color = 1000.0 * mark.time / whole, LIGHT[mark.kind]
        yield (
            f'<a href="#k{mark.number}"><rect x="{x:.2f}" y="1" width="{max(width - 1.0, 0.5):.2f}" height="24" '
            f'fill="{color}"><title>{mark.number} {_text(mark.name)}: {mark.time / whole:.1%}</title></rect></a>'
        )
        if not math.isnan(mark.fraction):
            left = max(1000.0 * _least(mark) / whole - 1.0, 0.5)
            yield f'<rect x="{x:.2f}" y="27" width="{left:.2f}" height="4" fill="{color}"/>'
        x += width
    yield "</svg></div>"


# Charts and table.


def _charts(drawn: Sequence[Chart]) -> Iterator[str]:
    for chart in drawn:
        yield '<section class="board" data-testid="roofline"><div>'
        yield f'<div class="light">{to_svg(chart, LIGHT)}</div>'
        dark = to_svg(chart, DARK).replace(' data-testid="roofline-static"', "")
        yield f'<div class="dark" hidden aria-hidden="true">{dark}</div></div>'
        yield "<div><h2>How to read this</h2>" + _HOW + "</div></section>"


_HOW: Final = (
    "<p>Both axes are logarithmic. Sloped lines are the bandwidths of the memory tiers, horizontal ones the peaks of "
    "the instruction paths, at the clock of the run. A kernel group is one mark at the tier that binds it; small "
    "hollow marks on a thin line are the other tiers. Its number is its row in the table.</p>"
    "<p>Colour says what binds: DRAM blue, L2 green, L1 brown, compute magenta, grey when it is under 40 % of every "
    "roof. Shape says the tier: circle DRAM, diamond L2, square L1, triangle without one. Area is the share of the "
    "time.</p>"
    "<p>Keys: <kbd>j</kbd> and <kbd>k</kbd> next and previous group, <kbd>/</kbd> filter, <kbd>Esc</kbd> close.</p>"
)

_COLUMNS: Final = (
    ("#", "number"), ("Kernel group", "text"), ("Time %", "number"), ("Time", "number"), ("Launches", "number"),
    ("Bound by", "text"), ("% of roof", "number"), ("Headroom, pp", "number"), ("Path", "text"), ("Rate", "number"),
    ("AI DRAM", "number"), ("AI L2", "number"), ("AI L1", "number"),
)  # fmt: skip


def _table(marks: Sequence[Mark]) -> Iterator[str]:
    yield "<h2>Kernel groups</h2>"
    shown = min(len(marks), _ROWS)
    yield (
        '<p class="control"><label>Filter by name <input id="filter" type="search"></label> '
        f'<span id="matching" class="muted" role="status">{shown} of {shown}</span> '
        'Unrounded numbers: <button type="button" id="csv">CSV</button> '
        '<button type="button" id="json">JSON</button></p>'
    )
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Kernel groups">'
    yield '<table id="kernels" data-testid="kernels">'
    yield "<thead><tr>"
    for title, kind in _COLUMNS:
        yield f'<th scope="col" class="{kind}"><button type="button">{title}</button></th>'
    yield "</tr></thead><tbody>"
    for mark in marks[:_ROWS]:
        yield from _row(mark)
    yield "</tbody></table></div>"
    others = marks[_ROWS:]
    if others:
        share = sum(mark.share for mark in others if not math.isnan(mark.share))
        yield f'<p class="muted">Others: {count(len(others), "group")}, {share:.1%} of the time.</p>'


def _row(mark: Mark) -> Iterator[str]:
    bound = _KINDS.get(mark.bound or "", mark.bound or "unknown")
    kind = f"far from all ({bound})" if mark.kind == "far" else bound
    roof = percent(mark.fraction, at_least=not mark.complete) if not math.isnan(mark.fraction) else ""
    yield (
        f'<tr data-testid="row" data-kernel-id="k{mark.number}" data-bound="{_text(mark.bound or "")}" '
        f'data-name="{_text(mark.full_name)}">'
    )
    yield _cell(mark.label, mark.number, "has an error: see its findings" if mark.wrong else "")
    yield f'<td class="text"><a href="#k{mark.number}">{_text(mark.name)}</a></td>'
    yield _cell(f"{mark.share:.1%}", mark.share)
    yield _cell(seconds(mark.time), mark.time)
    yield _cell(f"{mark.launches:,}".replace(",", "\u2009"), mark.launches)
    yield f'<td class="text"><span class="swatch {mark.kind}"></span>{_text(kind)}</td>'
    yield _cell(roof, mark.fraction)
    yield _cell(f"{_headroom(mark):.1f}", _headroom(mark) if not math.isnan(mark.fraction) else math.nan)
    yield f'<td class="text">{_text(mark.path or "none counted")}</td>'
    unit = f"{work_unit(mark.path)}/s" if mark.path else ""
    yield _cell(quantity(mark.rate, unit), mark.rate if mark.path else math.nan)
    for tier in CORE_TIERS:
        value = mark.intensity.get(tier, math.nan)
        yield _cell(plain(value) if value > 0 else "", value)
    yield "</tr>"


def _cell(text: str, value: float, title: str = "") -> str:
    """A number with its unrounded value; a dash where it is not known."""
    if math.isnan(value):
        return f'<td data-value="" title="not known">{_MISSING}</td>'
    said = f' title="{_text(title)}"' if title else ""
    return f'<td data-value="{float(value)!r}"{said}>{_text(text).replace(" ", _NARROW)}</td>'


# Drawers.


def _drawers(given: Analysis, analysis: Analysis, marks: Sequence[Mark]) -> Iterator[str]:
    groups = analysis.groups()
    times = dict(zip(analysis.columns["launch"].tolist(), analysis.columns["time"].tolist(), strict=True))
    yield '<div class="drawers">'
    for mark in marks[:_ROWS]:
        group = {name: column[mark.number - 1] for name, column in groups.items()}
        explained = ""
        if mark.number <= _EXPLAINED and mark.bound is not None:
            text = to_text(given.explain(int(group["launches"][0]), mark.bound))
            explained = _without_folders(text, given)
        yield from _drawer(analysis, mark, group, _spread([times[launch] for launch in group["launches"]]), explained)
    yield "</div>"


def _spread(times: Sequence[float]) -> str:
    """Fastest, middle and slowest of the launches of a group whose time is known."""
    known = [time for time in times if not math.isnan(time)]
    if len(known) < 2:
        return ""
    return f"; one takes {seconds(min(known))} to {seconds(max(known))}, the median is {seconds(median(known))}"


def _drawer(analysis: Analysis, mark: Mark, group: dict[str, Any], spread: str, explained: str) -> Iterator[str]:
    launches = group["launches"]
    yield f'<section class="drawer" id="k{mark.number}" data-testid="drawer" data-kernel-id="k{mark.number}">'
    yield f"<h3>{mark.label} {_text(mark.name)}</h3>"
    yield f'<p class="name">{_text(visible(mark.full_name))}</p>'
    size = f"grid {shape(group['grid'])}, block {shape(group['block'])}"
    yield f"<p>{count(mark.launches, 'launch')} ({positions(launches)}), {size}, {seconds(mark.time)}{spread}</p>"
    yield f"<p>{_why(mark)}</p>"
    if mark.usage:
        yield '<table><thead><tr><th class="text">Resource</th><th>FLOP/byte</th><th>% of its ceiling</th></tr></thead>'
        yield "<tbody>"
        for name, used in mark.usage.items():
            intensity = f"{mark.intensity[name]:.3g}" if name in mark.intensity else _MISSING
            yield f'<tr><td class="text">{_KINDS.get(name, name)}</td><td>{intensity}</td><td>{used:.1%}</td></tr>'
        yield "</tbody></table>"
    mine = [finding for finding in analysis.finding_list if set(finding.launches).intersection(launches)]
    if mine:
        yield "<ul>"
        for finding in mine:
            yield f"<li>{finding.severity.label} {finding.code} {finding.name}: {_text(finding.message)}</li>"
        yield "</ul>"
    if explained:
        yield f"<details><summary>Formulas and counters of launch {launches[0]} ({mark.bound})</summary>"
        yield f"<pre>{_text(explained)}</pre></details>"
    yield "</section>"


def _why(mark: Mark) -> str:
    if mark.bound is None:
        return "What binds is not known: counters or ceilings are missing."
    roof = percent(mark.fraction, at_least=not mark.complete)
    others = sorted(((used, name) for name, used in mark.usage.items() if name != mark.bound), reverse=True)
    after = f"; next is {_KINDS.get(others[0][1], others[0][1])} at {others[0][0]:.1%}" if others else ""
    sure = "" if mark.complete else " Not everything that may bind was collected."
    return f"Bound by {_text(_KINDS.get(mark.bound, mark.bound))} at {_text(roof)} of its roof{after}.{sure}"


# Foot.


def _footer(analysis: Analysis, drawn: Sequence[Chart]) -> Iterator[str]:
    yield "<footer><h2>Where the numbers are from</h2>"
    yield from _ceilings(drawn)
    yield f"<pre>{_text(chr(10).join(heading(analysis)))}</pre><ul>"
    for item in analysis.inputs:
        yield f"<li>{_text(_basename(item.path))}, SHA-256 <code>{item.sha256}</code></li>"
    yield f"</ul><p class='muted'>ncu-roofline {VERSION}</p></footer>"


def _ceilings(drawn: Sequence[Chart]) -> Iterator[str]:
    if not any(chart.roofs for chart in drawn):
        yield '<p data-testid="ceilings">No ceiling is known.</p>'
        return
    yield '<table data-testid="ceilings"><thead><tr><th class="text">Device</th><th class="text">Ceiling</th>'
    yield '<th>Value</th><th class="text">Source</th><th>Clock</th></tr></thead><tbody>'
    for chart in drawn:
        for roof in chart.roofs:
            value = quantity(roof.value, "B/s" if roof.is_tier else "FLOP/s")
            clock = quantity(roof.clock, "Hz") if not math.isnan(roof.clock) else _MISSING
            yield (
                f'<tr><td class="text">{_text(chart.device)}</td><td class="text">{roof.name}</td>'
                f'<td data-value="{roof.value!r}" data-source="{roof.source}">{value}</td>'
                f'<td class="text">{roof.source}</td><td>{clock}</td></tr>'
            )
    yield "</tbody></table>"


def _by_name(analysis: Analysis) -> Analysis:
    """The same with names of files without their folders: the page is handed on."""
    return replace(
        analysis,
        inputs=tuple(replace(item, path=_basename(item.path)) for item in analysis.inputs),
        finding_list=tuple(
            replace(finding, message=_without_folders(finding.message, analysis)) for finding in analysis.finding_list
        ),
    )


def _without_folders(text: str, analysis: Analysis) -> str:
    """A text in which files stand without their folders."""
    paths = {item.path for item in analysis.inputs} | set(analysis.places)
    for path in sorted(filter(None, paths), key=len, reverse=True):
        text = text.replace(path, _basename(path))
    return text.replace(f"{metric_map_directory()}/", "")


def _basename(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2] or path


def _model(drawn: Sequence[Chart]) -> list[dict[str, Any]]:
    """What the page shows, unrounded, for scripts and tests."""
    return [
        {
            "device": chart.device,
            "cc": chart.cc,
            "roofs": [
                {"name": roof.name, "value": roof.value, "source": roof.source, "clock": _number(roof.clock)}
                for roof in chart.roofs
            ],
            "groups": [
                {
                    "id": f"k{mark.number}", "kernel": mark.full_name, "launches": mark.launches,
                    "time": _number(mark.time), "share": _number(mark.share), "bound": mark.bound,
                    "fraction": _number(mark.fraction), "complete": mark.complete, "path": mark.path,
                    "rate": _number(mark.rate), "intensity": dict(mark.intensity), "tier": mark.tier,
                }
                for mark in chart.marks[:_ROWS]
            ],
        }
        for chart in drawn
    ]  # fmt: skip


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _json(document: Any) -> str:
    """JSON inside a script element: nothing in it can end the element or begin another."""
    text = json.dumps(document, allow_nan=False, sort_keys=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _text(text: str) -> str:
    """Text for elements and attributes; what cannot be seen is written out, line breaks are kept."""
    return escape("\n".join(visible(line) for line in text.split("\n")))
