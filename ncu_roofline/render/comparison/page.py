"""A comparison as one HTML page: verdict, findings, both sides on one roofline, a row and a drawer for every pair."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from ncu_roofline.comparison import Compared, Comparison, GateResult, Side, Verdict
from ncu_roofline.formats import seconds, visible
from ncu_roofline.render.comparison import words
from ncu_roofline.render.comparison.figure import to_svg
from ncu_roofline.render.html.document import asset, policy, theme
from ncu_roofline.render.html.markup import MISSING, cell, number, script_json, text
from ncu_roofline.render.picture import LIGHT, Frame
from ncu_roofline.render.picture.names import short_names
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import Severity
from ncu_roofline.wording import count

_ROWS: Final = 200
_COLUMNS: Final = (
    ("#", "number"), ("Kernel", "text"), ("Before", "number"), ("After", "number"), ("Change", "number"),
    ("Verdict", "text"), ("Work", "number"), ("Traffic", "number"), ("Ceilings", "number"), ("Efficiency", "number"),
    ("Bound by", "text"), ("% of roof before", "number"), ("% of roof after", "number"),
)  # fmt: skip
_HOW: Final = (
    "<p>Hollow and dashed is before, filled is after, of the same path at the same tier; the arrow goes from one to "
    "the other where the change is more than noise. Colour and shape say what binds after, the number is the row of "
    "the table.</p><p>Faster is judged by time for the job. Work, traffic, ceilings (the clock, on one device) and "
    "efficiency (share of the bound) are factors of the time: below 1 each made it faster, and their product is the "
    "time after over the time before. A change in percent is of the value before.</p>"
)


def to_html(comparison: Comparison, gates: Sequence[GateResult] = (), frame: Frame | None = None) -> str:
    """The comparison as one self-contained HTML document; it asks for nothing and is complete without scripts."""
    script = asset("page.js")
    pairs = comparison.pairs[:_ROWS]
    names = short_names([one.name for one in pairs])
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en" data-errors="{sum(one.severity == Severity.ERROR for one in comparison.finding_list)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy([script]))}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Before and after: {text(words.verdict(comparison.whole))}</title>",
        f"<style>\n{theme()}{asset('page.css')}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#kernels">Skip to the table</a>',
        *_head(comparison, gates),
        '<main class="board">',
        '<div class="charts"><section class="roofline" data-testid="roofline"><div class="static">',
        to_svg(comparison, LIGHT, frame),
        "</div></section></div>",
        '<div class="kernels">',
        *_table(comparison, pairs, names),
        "</div>",
        f'<div class="drawers"><section class="how"><h2>How to read this</h2>{_HOW}</section>',
        *(part for place, one in enumerate(pairs, start=1) for part in _drawer(place, one, names[place - 1])),
        "</div>",
        "</main>",
        *_foot(comparison),
        f'<script type="application/json" id="model">{script_json(_model(comparison, pairs))}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _head(comparison: Comparison, gates: Sequence[GateResult]) -> Iterator[str]:
    whole = comparison.whole
    yield "<header>"
    yield f"<h1>Before and after: {text(_devices(comparison))}</h1>"
    for word, side in (("before", comparison.before), ("after", comparison.after)):
        yield f'<p class="muted">{word}: {text(words.side(side))}</p>'
    if comparison.verdict is Verdict.INCOMPARABLE:
        yield '<p class="verdict" data-testid="banner">Not comparable: see the findings.</p>'
    known = "" if math.isnan(whole.ratio) or comparison.verdict is Verdict.INCOMPARABLE else repr(whole.ratio)
    yield f'<p class="verdict" data-testid="verdict" data-value="{known}">{text(words.verdict(whole))}: '
    yield f"{text(words.times(whole))}. {text(words.tally(comparison))}.</p>"
    yield f'<p class="muted">{text(words.noise(whole.noise))}.</p>'
    if gates:
        yield '<ul data-testid="gates">'
        yield from (f"<li>gate {text(words.gate(result))}</li>" for result in gates)
        yield "</ul>"
    yield from _findings(comparison)
    yield "</header>"


def _devices(comparison: Comparison) -> str:
    return " and ".join(device.label for device in comparison.after.devices)


def _findings(comparison: Comparison) -> Iterator[str]:
    found = comparison.finding_list
    if not found:
        yield '<p data-testid="findings">No findings.</p>'
        return
    opened = " open" if found[0].severity == Severity.ERROR else ""
    counts = [
        count(number_of, severity.label)
        for severity in reversed(Severity)
        if (number_of := sum(one.severity == severity for one in found))
    ]
    yield f'<details class="findings" data-testid="findings"{opened}><summary>{", ".join(counts)}: '
    yield f"{found[0].code} {found[0].name}</summary><ul>"
    for one in found:
        yield (
            f'<li><span class="severity">{one.severity.label}</span> {one.code} {one.name}: {text(one.message)} '
            f"{text(one.help)}</li>"
        )
    yield "</ul></details>"


def _table(comparison: Comparison, pairs: Sequence[Compared], names: Sequence[str]) -> Iterator[str]:
    yield "<h2>Kernels</h2>"
    for word, some in (("New", comparison.new), ("Gone", comparison.gone)):
        if some:
            yield f"<p>{word}: {text(', '.join(words.alone(one) for one in some[:_ROWS]))}.</p>"
    yield (
        '<p class="control"><label>Filter by name <input id="filter" type="search"></label> '
        f'<span id="matching" class="muted" role="status">{len(pairs)} of {len(pairs)}</span> '
        'Unrounded numbers: <button type="button" id="json">JSON</button></p>'
    )
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Kernels">'
    yield '<table id="kernels" data-testid="kernels">'
    yield "<thead><tr>"
    for title, kind in _COLUMNS:
        yield f'<th scope="col" class="{kind}"><button type="button">{title}</button></th>'
    yield "</tr></thead><tbody>"
    for place, (one, name) in enumerate(zip(pairs, names, strict=True), start=1):
        yield from _row(place, one, name)
    yield "</tbody></table></div>"
    if len(comparison.pairs) > len(pairs):
        yield f'<p class="muted">{len(comparison.pairs) - len(pairs)} more pairs, which changed less.</p>'


def _row(place: int, one: Compared, name: str) -> Iterator[str]:
    yield f'<tr data-testid="row" data-kernel-id="k{place}" data-bound="{text(one.bound[1] or "")}">'
    yield cell(str(place), place)
    yield f'<td class="text"><a href="#k{place}">{text(name)}</a></td>'
    yield cell(seconds(one.before.median), one.before.median)
    yield cell(seconds(one.after.median), one.after.median)
    is_judged = one.verdict is not Verdict.INCOMPARABLE
    yield cell(words.time_change(one), one.ratio if is_judged else math.nan)
    yield f'<td class="text">{text(words.verdict(one))}</td>'
    found = one.factors
    values = [math.nan] * 4
    if found is not None and is_judged:
        values = [found.work, found.traffic, found.ceilings] if found.has_bound else [math.nan] * 3
        values.append(found.efficiency)
    for value, said in zip(values, words.factors(one), strict=True):
        yield cell(said, value)
    yield f'<td class="text">{text(words.bound(one))}</td>'
    for side in (0, 1):
        fraction = one.value("bound.fraction", side)
        yield cell(f"{fraction:.1%}", fraction)
    yield "</tr>"


def _drawer(place: int, one: Compared, name: str) -> Iterator[str]:
    yield f'<section class="drawer" id="k{place}" data-testid="drawer" data-kernel-id="k{place}">'
    yield f"<h3>{place} {text(name)}</h3>"
    yield f'<p class="name">{text(visible(one.name))}</p>'
    yield f"<p>{text(words.verdict(one))}: {text(words.times(one))}; {text(words.noise(one.noise))}.</p>"
    if cause := words.cause(one):
        yield f"<p>{text(cause)}</p>"
    yield f"<p>Bound by {text(words.bound(one))}. Paired by: {text(one.rule)}.</p>"
    yield "<table><thead><tr><th>Amount</th><th>Before</th><th>After</th><th>Change</th></tr></thead><tbody>"
    for row in words.amounts(one):
        cells = "".join(f"<td>{MISSING if said == '-' else text(said)}</td>" for said in row)
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table></section>"


def _foot(comparison: Comparison) -> Iterator[str]:
    yield "<footer><h2>Where the numbers are from</h2><ul>"
    for word, side in (("before", comparison.before), ("after", comparison.after)):
        yield from _sources(word, side)
    yield f'</ul><p class="muted">Made by ncu-roofline {VERSION}</p></footer>'


def _sources(word: str, side: Side) -> Iterator[str]:
    for source in side.sources:
        yield f"<li>{word}: {text(source.name)}, SHA-256 <code>{source.sha256}</code></li>"


def _model(comparison: Comparison, pairs: Sequence[Compared]) -> list[dict[str, Any]]:
    """Unrounded numbers of the rows."""
    return [
        {
            "device": _devices(comparison),
            "groups": [
                {
                    "id": f"k{place}", "kernel": one.name, "verdict": one.verdict.value,
                    "before": number(one.before.median), "after": number(one.after.median),
                    "bound": list(one.bound),
                    "amounts": {name: [number(value) for value in both] for name, both in one.amounts.items()},
                }
                for place, one in enumerate(pairs, start=1)
            ],
        }
    ]  # fmt: skip
