"""Foot of the page: where the numbers are from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ncu_roofline.analysis import Analysis
from ncu_roofline.formats import quantity
from ncu_roofline.render.group_table import heading
from ncu_roofline.render.html.markup import MISSING, text
from ncu_roofline.render.picture import Chart
from ncu_roofline.render.picture.palette import title
from ncu_roofline.version import VERSION


def foot(analysis: Analysis, drawn: Sequence[Chart], maps: Mapping[str, str], command: str | None) -> Iterator[str]:
    """Ceilings, inputs and files of metric maps with their hashes, the version and the command."""
    yield "<footer><h2>Where the numbers are from</h2>"
    yield from _ceilings(drawn)
    yield f"<pre>{text(chr(10).join(heading(analysis)))}</pre><ul>"
    for item in analysis.inputs:
        yield f"<li>{text(item.path)}, SHA-256 <code>{item.sha256}</code></li>"
    for name, digest in sorted(maps.items()):
        yield f"<li>metric map {text(name)}, SHA-256 <code>{digest}</code></li>"
    by = f": <code>{text(command)}</code>" if command else ""
    yield f'</ul><p class="muted">Made by ncu-roofline {VERSION}{by}</p></footer>'


def _ceilings(drawn: Sequence[Chart]) -> Iterator[str]:
    if not any(chart.roofs for chart in drawn):
        yield '<p data-testid="ceilings">No ceiling is known.</p>'
        return
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Ceilings"><table data-testid="ceilings">'
    yield '<thead><tr><th class="text">Device</th><th class="text">Ceiling</th><th>Value</th>'
    yield '<th class="text">Source</th><th>Clock</th><th class="text">Use</th></tr></thead><tbody>'
    for chart in drawn:
        for roof in (*chart.roofs, *chart.others):
            value = quantity(roof.value, "B/s" if roof.is_tier else "FLOP/s")
            clock = quantity(roof.clock, "Hz") if not math.isnan(roof.clock) else MISSING
            use = "the roof" if roof in chart.roofs else "beside it"
            yield (
                f'<tr><td class="text">{text(chart.device)}</td><td class="text">{title(roof.name)}</td>'
                f'<td data-value="{roof.value!r}" data-source="{roof.source}">{value}</td>'
                f'<td class="text">{roof.source}</td><td>{clock}</td><td class="text">{use}</td></tr>'
            )
    yield "</tbody></table></div>"
