"""The page: verdict, findings, time bar, charts, table, a drawer for every group, where the numbers are from.

Everything that comes from a report is data: it is escaped, and no name of it stands in a script or a style.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Final

from ncu_roofline.analysis import Analysis
from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.render.group_table import commands
from ncu_roofline.render.html.data import model, paths, plots
from ncu_roofline.render.html.document import asset, policy, theme
from ncu_roofline.render.html.drawers import LARGE, drawers
from ncu_roofline.render.html.foot import foot
from ncu_roofline.render.html.head import errors, head
from ncu_roofline.render.html.library import Library
from ncu_roofline.render.html.markup import script_json, text
from ncu_roofline.render.html.table import rows_of, table
from ncu_roofline.render.picture import LIGHT, Chart, Frame, Mark, charts, to_svg
from ncu_roofline.render.picture.palette import title
from ncu_roofline.render.picture.svg import has_axes
from ncu_roofline.wording import base_of

_STATIC: Final = 59_000
"""Bytes of a static page up to which it has formulas."""
_AXES: Final = (
    "<p>Both axes are logarithmic. Sloped lines are the bandwidths of the memory tiers, horizontal ones the peaks of "
    "the instruction paths, at the clock of the run. A kernel group is one mark at the tier that binds it; small "
    "hollow marks on a thin line are the other tiers. Its number is its row in the table.</p>"
)
_ROWS: Final = (
    "<p>No group has both counted FLOP and bytes, so that there is no roofline. Each row goes from 0 to 100 % of "
    "what the tier or unit can do; a kernel group is a mark with the number of its row in the table.</p>"
)
_MARKS: Final = (
    "<p>Colour says what binds: DRAM blue, L2 green, L1 brown, compute magenta, grey when it is under 40 % of every "
    "roof. Shape says the tier: circle DRAM, diamond L2, square L1, triangle without one. Area is the share of the "
    "time. <b>!</b> behind a number: it has an error, or lies above a ceiling.</p>"
    "<p>% of roof: time at the roof over measured time. Headroom: percentage points (pp) of the time that reaching the "
    "roof would save at most. AI: arithmetic intensity, FLOP of all paths per byte. In brackets behind a tier: the "
    "measure of its bytes.</p>"
    "<p>Formulas and counters of what is not in the drawer of a group: <code>ncu-roofline explain REPORT LAUNCH</code>."
    "</p>"
)
_KEYS: Final = (
    '<p id="keys" class="control" tabindex="-1">Keys: <kbd>j</kbd> and <kbd>k</kbd> next and previous group, '
    "<kbd>/</kbd> filter, <kbd>Esc</kbd> close, <kbd>?</kbd> this help.</p>"
)


def to_html(
    analysis: Analysis, frame: Frame | None = None, library: Library | None = None, command: str | None = None
) -> str:
    """The analysis as one HTML document.

    Args:
        analysis: what is shown.
        frame: the axes of every chart; those of each machine if there are none.
        library: plotly.js, which makes the charts interactive; without one they are static.
        command: by which the page is made, for its foot.

    """
    shown = _by_name(analysis)
    drawn = charts(shown, frame)
    rows = rows_of(drawn)
    named = " and ".join(dict.fromkeys(chart.device for chart in drawn))
    scripts = list(_scripts(library))
    # Drawers explain from the inputs, whose names are those of the analysis that was given.
    sections = _sections(analysis, rows, LARGE if library is not None else 0)
    explained = _AXES if any(map(has_axes, drawn)) else _ROWS
    single = " single" if len(rows) == 1 else ""
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en" data-errors="{errors(shown)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(scripts, library))}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Roofline: {text(named)}</title>",
        f"<style>\n{theme()}{asset('page.css')}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#kernels">Skip to the table</a>',
        *head(shown, drawn, named),
        f'<main class="board{single}">',
        '<div class="charts">',
        *_charts(drawn, interactive=library is not None),
        *_banner(shown, drawn),
        "</div>",
        '<div class="kernels">',
        *table(drawn),
        "</div>",
        '<div class="drawers">',
        f'<section class="how"><h2>How to read this</h2>{explained}{_MARKS}{_KEYS}</section>',
        sections,
        "</div>",
        "</main>",
        *foot(shown, drawn, _maps(analysis), command),
        f'<script type="application/json" id="model">{script_json(model(drawn, rows))}</script>',
    ]
    if library is not None:
        parts.append(f'<script type="application/json" id="plots">{script_json(plots(shown, drawn))}</script>')
    # The library comes after everything that can be read without it.
    parts += [f"<script>{scripts[0]}</script>"]
    parts += [library.element, f"<script>{scripts[1]}</script>"] if library is not None else []
    page = "\n".join([*parts, "</body>", "</html>"]) + "\n"
    room = _STATIC - len(page.encode()) if library is None else 0
    if room <= 0:
        return page
    # A static page is small: formulas take what room the rest leaves.
    return page.replace(sections, _sections(analysis, rows, room), 1)


def _sections(analysis: Analysis, rows: Sequence[Mark], room: int) -> str:
    """The drawers, in which files stand without their folders."""
    return _without_folders("\n".join(drawers(analysis, rows, room=room)), analysis)


def to_notebook(analysis: Analysis) -> str:
    """The static charts and the table of groups, without scripts, for a cell of a notebook."""
    drawn = charts(analysis)
    return "\n".join([*(to_svg(chart, LIGHT) for chart in drawn), *table(drawn, controls=False)])


def _scripts(library: Library | None) -> Iterator[str]:
    """Our own scripts, in their order."""
    yield asset("page.js")
    if library is not None:
        yield asset("chart.js")


def _charts(drawn: Sequence[Chart], *, interactive: bool) -> Iterator[str]:
    for place, chart in enumerate(drawn):
        yield f'<section class="roofline" data-testid="roofline" data-chart="{place}">'
        if interactive and has_axes(chart):
            yield from _selectors(chart)
        yield f'<div class="static">{to_svg(chart, LIGHT)}</div>'
        if interactive and has_axes(chart):
            # The table is the chart for those who cannot see it.
            yield '<div class="plot" aria-hidden="true" hidden></div>'
        yield "</section>"


def _banner(analysis: Analysis, drawn: Sequence[Chart]) -> Iterator[str]:
    """What to collect where there is no roofline."""
    asked = list(commands(analysis.finding_list))
    if asked and not all(map(has_axes, drawn)):
        yield '<div data-testid="banner"><p>For a roofline, collect (<code>--set roofline</code> has most of it):</p>'
        yield f'<pre class="command">{text(asked[0])}</pre></div>'


def _selectors(chart: Chart) -> Iterator[str]:
    """What of the chart is shown: a path, tiers, groups or launches. Without the library it stays hidden."""
    yield '<p class="view" hidden><label>Path <select class="path">'
    for path, share in paths(chart).items():
        leads = f" ({share:.1%} of the time)" if share > 0 else ""
        yield f'<option value="{path}">{path}{leads}</option>'
    yield '<option value="">each group\u2019s leading path</option></select></label>'
    for roof in chart.tiers:
        called = title(roof.name)
        yield f' <label><input type="checkbox" class="tier" value="{roof.name}" checked> {called}</label>'
    yield (
        ' <label>Points <select class="points"><option value="groups">kernel groups</option>'
        '<option value="launches">launches</option></select></label>'
    )
    if chart.others:
        yield ' <label><input type="checkbox" class="others"> other ceilings</label>'
    yield ' <span class="said muted" role="status"></span></p>'


def _maps(analysis: Analysis) -> dict[str, str]:
    """Files of the metric maps in use, and their hashes."""
    firsts = {name: place for place, name in reversed(list(enumerate(analysis.columns["map"].tolist())))}
    launches = analysis.columns["launch"]
    return {
        base_of(file): digest
        for place in firsts.values()
        for file, digest in analysis.explain(int(launches[place]), "time").map_sha256.items()
    }


def _by_name(analysis: Analysis) -> Analysis:
    """The same with names of files without their folders: the page is handed on."""
    return replace(
        analysis,
        inputs=tuple(replace(item, path=base_of(item.path)) for item in analysis.inputs),
        finding_list=tuple(
            replace(finding, message=_without_folders(finding.message, analysis)) for finding in analysis.finding_list
        ),
    )


def _without_folders(said: str, analysis: Analysis) -> str:
    """A text in which files stand without their folders."""
    known = {item.path for item in analysis.inputs} | set(analysis.places)
    for path in sorted(filter(None, known), key=len, reverse=True):
        said = said.replace(path, base_of(path)).replace(text(path), text(base_of(path)))
    return said.replace(f"{metric_map_directory()}/", "")
