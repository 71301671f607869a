"""Head of the page: what was measured, the verdict, what the application can reach, findings, the time bar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.budget import ApplicationBound
from ncu_roofline.checks import Finding
from ncu_roofline.formats import percent, seconds
from ncu_roofline.render.group_table import advice, commands, measured_with, positions
from ncu_roofline.render.html.drawers import not_collected
from ncu_roofline.render.html.markup import MISSING, NARROW, cell, text
from ncu_roofline.render.picture import LIGHT, Chart, Mark
from ncu_roofline.render.picture.palette import title
from ncu_roofline.vocabulary import Severity
from ncu_roofline.wording import count, some

ROWS: Final = 200
"""Groups in the table, the longest; they have a drawer each."""
_NEAR: Final = 0.7
_NOTICED: Final = 0.01
_WHOLE: Final = 0.999
_CODES: Final = 4
_GAINS: Final = 3
_LINKS: Final = 6
_NUMBERED, _NAMED = 0.02, 0.07
"""Shares of the time from which a part of the bar has room for its number, and for its name."""


def head(analysis: Analysis, drawn: Sequence[Chart], named: str) -> Iterator[str]:
    """Everything above the charts."""
    launches, groups = sum(chart.launches for chart in drawn), sum(chart.groups for chart in drawn)
    time = sum(chart.time for chart in drawn)
    yield "<header>"
    yield f"<h1>Roofline: {text(named)}</h1>"
    total = f", {seconds(time)} of GPU time" if time > 0 else ""
    sources = dict.fromkeys(roof.source for chart in drawn for roof in chart.roofs)
    peaks = f", ceilings from {' and '.join(sources)}" if sources else ""
    yield f'<p class="muted">{count(groups, "kernel group")}, {count(launches, "launch")}{total}{peaks}</p>'
    measured = dict.fromkeys(line.strip() for item in analysis.inputs for line in measured_with(item.conditions))
    said = text("; ".join(measured).replace("measured", "Measured", 1)) or "Cache and clock control are not known"
    yield f'<p class="muted" data-testid="conditions">{said}.</p>'
    yield from _selection(analysis, drawn)
    yield f'<p class="verdict" data-testid="verdict">{_verdict(analysis, drawn)}</p>'
    yield from _summary(drawn)
    yield from _findings(analysis, drawn)
    yield from _time_bar([mark for chart in drawn for mark in chart.marks if mark.number <= ROWS], time)
    yield "</header>"


def errors(analysis: Analysis) -> int:
    """Number of findings that are errors."""
    return sum(finding.severity == Severity.ERROR for finding in analysis.finding_list)


def headroom(mark: Mark) -> float:
    """Percentage points of the time that its roof leaves: an upper bound of the gain; NaN where it is not known."""
    left = 100.0 * mark.share * (1.0 - mark.fraction)
    return left if math.isnan(left) else max(left, 0.0)


def _saved(mark: Mark) -> float:
    """Seconds that reaching the roof would save at most."""
    return mark.time * max(1.0 - mark.fraction, 0.0)


def _selection(analysis: Analysis, drawn: Sequence[Chart]) -> Iterator[str]:
    """Says that only a part of the launches is shown."""
    shown, whole = sum(chart.time for chart in drawn), _device_time(analysis, drawn)
    if 0.0 < shown < whole * _WHOLE:
        yield f'<p data-testid="selection">A selection: {shown / whole:.1%} of the time of all launches.</p>'


def _device_time(analysis: Analysis, drawn: Sequence[Chart]) -> float:
    """Time of all launches of the report on the devices that are shown, selected or not."""
    times = [analysis.columns["device_time"][chart.mine] for chart in drawn]
    if analysis.aggregate:
        return float(analysis.columns["total_time"][0])
    return float(sum(time[~np.isnan(time)].max() for time in times if not np.isnan(time).all()))


def _verdict(analysis: Analysis, drawn: Sequence[Chart]) -> str:
    """How near the time is to its roofs, and where most is left; an error takes its place."""
    wrong = [finding for finding in analysis.finding_list if finding.severity == Severity.ERROR]
    if wrong:
        return f"The numbers are not to be used as they are: {text(wrong[0].code)} {text(wrong[0].message)}"
    marks = [mark for chart in drawn for mark in chart.marks]
    # A range beside its launches has no share of the time.
    known = [mark for mark in marks if mark.time > 0 and not math.isnan(mark.fraction) and not math.isnan(mark.share)]
    if not known:
        return _without_roofs(marks)
    whole = sum(chart.time for chart in drawn)
    near = sum(mark.time for mark in known if mark.fraction >= _NEAR) / whole
    # What is only a lower bound may be nearer to its roof.
    least = "" if near > _WHOLE or all(mark.complete for mark in known) else "At least "
    said = f"{least}{near:.0%} of the GPU time is at {_NEAR:.0%} of its roof or better."
    roofless = 1.0 - sum(mark.time for mark in known) / whole
    said += f" Of {roofless:.0%} no roof is known." if roofless >= _NOTICED else ""
    gains = sorted(known, key=_saved, reverse=True)[:_GAINS]
    names = [_gain(mark, whole) for mark in gains if _saved(mark) > _NOTICED * whole]
    return said + (f" Most headroom: {', '.join(names)}." if names else "")


def _gain(mark: Mark, whole: float) -> str:
    """A group with what it could save, as seconds and as a share of the time that is shown."""
    most = "up to " if mark.complete else "at most "
    saved = f"{most}{seconds(_saved(mark))}, {_saved(mark) / whole:.1%}".replace(" ", NARROW)
    return f'<a href="#k{mark.number}">{mark.number} {text(mark.name)}</a> ({saved})'


def _without_roofs(marks: Sequence[Mark]) -> str:
    """What can be said where no group has both a time and a roof."""
    nearest = max((mark for mark in marks if mark.fraction >= 0), key=lambda mark: mark.fraction, default=None)
    if nearest is not None:
        roof = percent(nearest.fraction, at_least=not nearest.complete)
        return (
            f'The report has no times. Nearest to its roof is <a href="#k{nearest.number}">{nearest.number} '
            f"{text(nearest.name)}</a>: {text(roof)} of {text(title(nearest.bound or ''))}."
        )
    said = "What binds is not known: see the findings for the counters that tell."
    first = next((mark for mark in marks if mark.busy), None)
    if first is None:
        return said
    unit, (_, high) = max(first.busy.items(), key=lambda item: item[1][1])
    return (
        f'{said} As ncu says, the busiest unit of <a href="#k{first.number}">{first.number} {text(first.name)}</a> is '
        f"{unit}, {high:.1%} busy."
    )


# The application.


def _summary(drawn: Sequence[Chart]) -> Iterator[str]:
    """The bound of the application both ways for each device, and where most time is left."""
    if not any(chart.bound for chart in drawn):
        return
    yield (
        '<div class="scroll" tabindex="0" role="region" aria-label="Summary"><table data-testid="summary"><thead><tr>'
        '<th scope="col" class="text">Device</th><th scope="col">GPU time</th>'
        '<th scope="col">At the roofs, one after the other</th>'
        '<th scope="col">At the roofs, all overlapped (looser)</th><th scope="col" class="text">Most headroom</th>'
        "</tr></thead><tbody>"
    )
    for chart in drawn:
        yield f'<tr><th scope="row" class="text">{text(chart.device)}</th>{cell(seconds(chart.time), chart.time)}'
        if chart.bound is None:
            yield f'<td>{MISSING}</td><td>{MISSING}</td><td class="text">{MISSING}</td></tr>'
            continue
        yield _limit(chart.bound, chart.bound.serial, "")
        yield _limit(chart.bound, chart.bound.aggregate, f", {chart.bound.resource}")
        counted = [mark for mark in chart.marks if not math.isnan(mark.share)] or chart.marks
        most = max(counted, key=lambda mark: (np.nan_to_num(_saved(mark)), -mark.number))
        left = text(f"{most.number} {most.name}, {seconds(_saved(most))}{_points(most)}")
        yield f'<td class="text"><a href="#k{most.number}">{left}</a></td></tr>'
    yield "</tbody></table></div>"


def _points(mark: Mark) -> str:
    """Its headroom in brackets; nothing for a group without a share of the time."""
    return "" if math.isnan(headroom(mark)) else f" ({headroom(mark):.1f} pp)"


def _limit(bound: ApplicationBound, value: float, of: str) -> str:
    sign = "" if bound.complete else "\u2265 "
    part = "" if bound.launches == bound.of else f", {bound.launches} of {count(bound.of, 'launch')}"
    return cell(f"{sign}{seconds(value)} ({percent(value / bound.time)}{of}{part})", value)


# Findings.


def _findings(analysis: Analysis, drawn: Sequence[Chart]) -> Iterator[str]:
    found = analysis.finding_list
    if not found:
        yield '<p data-testid="findings">No findings.</p>'
        return
    counts = [
        count(number, severity.label)
        for severity in reversed(Severity)
        if (number := sum(finding.severity == severity for finding in found))
    ]
    opened = " open" if errors(analysis) else ""
    yield f'<details class="findings" data-testid="findings"{opened}><summary>{", ".join(counts)}: '
    codes = list(dict.fromkeys(f"{finding.code} {finding.name}" for finding in _telling(found)))
    yield f"{some(codes, _CODES)}</summary><ul>"
    groups = {
        launch: mark.number for chart in drawn for mark in chart.marks if mark.number <= ROWS for launch in mark.members
    }
    for place, finding in enumerate(found):
        where = f" [launch {positions(finding.launches)}{_links(finding, groups)}]" if finding.launches else ""
        advised = f" {text(advice(finding))}" if advice(finding) else ""
        yield (
            f'<li id="f{place}"><span class="severity">{finding.severity.label}</span> {finding.code} {finding.name}'
            f"{where}: {text(finding.message)}{advised}</li>"
        )
    if lacking := not_collected(analysis.columns):
        yield f"<li>Not collected of any launch: {', '.join(map(title, lacking))}.</li>"
    for command, of in commands(found).items():
        yield f'<li class="command">To collect what is missing ({", ".join(of)}): <pre>{text(command)}</pre></li>'
    yield "</ul></details>"


def _telling(found: Sequence[Finding]) -> list[Finding]:
    """Findings of one severity in an order in which what was read comes last."""
    return sorted(found, key=lambda finding: (-finding.severity, finding.code.startswith("R")))


def _links(finding: Finding, groups: dict[int, int]) -> str:
    """Links to the groups whose launches a finding names, unless it names most of them."""
    numbers = sorted({groups[launch] for launch in finding.launches if launch in groups})
    if not numbers or len(numbers) > _LINKS:
        return ""
    return ", group " + ", ".join(f'<a href="#k{number}">{number}</a>' for number in numbers)


# Time bar.


def _time_bar(marks: Sequence[Mark], whole: float) -> Iterator[str]:
    """Shares of the time, each a link to its group, and below each what of it the roof asks for.

    A group without a share of the time (a range that holds kernels of its own row) takes no part.
    """
    timed = [mark for mark in marks if mark.time > 0 and not math.isnan(mark.share)]
    known = [mark for mark in timed if not math.isnan(mark.fraction)]
    if len(timed) > 1:
        yield from _bar(timed, whole)
    if known:
        taken, least = sum(mark.time for mark in known), sum(_least(mark) for mark in known)
        yield (
            f'<p class="muted" data-testid="least" data-value="{least!r}">Of {seconds(taken)} in groups whose roof '
            f"is known, {seconds(least)} or more would be left if each reached it.</p>"
        )


def _least(mark: Mark) -> float:
    """Time in seconds that its roof asks for at least."""
    return mark.time * min(mark.fraction, 1.0)


def _bar(timed: Sequence[Mark], whole: float) -> Iterator[str]:
    """Parts are placed in percent, so that the bar is as wide as the page and its texts keep their size."""
    yield '<div class="bar" data-testid="timebar"><svg width="100%" height="32">'
    yield "<title>Share of the GPU time of each kernel group; below, what of it its roof asks for</title>"
    left = 0.0
    for mark in timed:
        part, color = mark.time / whole, LIGHT[mark.kind]
        label = f"{mark.label} {mark.name}" if part >= _NAMED else mark.label if part >= _NUMBERED else ""
        said = f'<text x="4" y="17" font-size="12" fill="{LIGHT["on fill"]}">{text(label)}</text>' if label else ""
        yield (
            f'<a href="#k{mark.number}"><svg x="{100 * left:.3f}%" width="{100 * part:.3f}%" height="25">'
            f'<rect width="100%" height="25" fill="{color}" stroke="{LIGHT["page"]}"/>{said}'
            f"<title>{mark.number} {text(mark.name)}: {part:.1%}</title></svg></a>"
        )
        if not math.isnan(mark.fraction):
            asked = 100 * _least(mark) / whole
            yield f'<rect x="{100 * left:.3f}%" y="27" width="{asked:.3f}%" height="4" fill="{color}"/>'
        left += part
    yield "</svg></div>"
