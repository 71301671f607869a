"""Head of the page: what was measured, the verdict, what the application can reach, findings, the time bar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

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
from ncu_roofline.wording import count

_NEAR: Final = 0.7
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
    yield f'<p class="verdict" data-testid="verdict">{_verdict(analysis, drawn)}</p>'
    yield from _summary(drawn)
    yield from _findings(analysis, drawn)
    yield from _time_bar([mark for chart in drawn for mark in chart.marks])
    yield "</header>"


def errors(analysis: Analysis) -> int:
    """Number of findings that are errors."""
    return sum(finding.severity == Severity.ERROR for finding in analysis.finding_list)


def headroom(mark: Mark) -> float:
    """Percentage points of the time that its roof leaves: an upper bound of the gain."""
    left = 100.0 * mark.share * (1.0 - mark.fraction)
    return 0.0 if math.isnan(left) else max(left, 0.0)


def _verdict(analysis: Analysis, drawn: Sequence[Chart]) -> str:
    """How near the time is to its roofs, and where most is left; an error takes its place."""
    wrong = [finding for finding in analysis.finding_list if finding.severity == Severity.ERROR]
    if wrong:
        return f"The numbers are not to be used as they are: {text(wrong[0].code)} {text(wrong[0].message)}"
    timed = [mark for chart in drawn for mark in chart.marks if mark.time > 0]
    known = [mark for mark in timed if not math.isnan(mark.fraction)]
    if not known:
        return "What binds is not known: see the findings for the counters that tell."
    whole = sum(chart.time for chart in drawn)
    near = sum(mark.time for mark in known if mark.fraction >= _NEAR)
    said = f"{near / whole:.0%} of the GPU time is at {_NEAR:.0%} of its roof or better."
    gains = sorted(known, key=lambda mark: -headroom(mark))[:_GAINS]
    names = [
        f'<a href="#k{mark.number}">{mark.number} {text(mark.name)}</a> ({headroom(mark):.1f}{NARROW}pp)'
        for mark in gains
        if headroom(mark) > 1
    ]
    return said + (f" Most headroom: {', '.join(names)}." if names else "")


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
        most = max(chart.marks, key=lambda mark: (headroom(mark), -mark.number))
        left = text(f"{most.number} {most.name}, {headroom(most):.1f} pp")
        yield f'<td class="text"><a href="#k{most.number}">{left}</a></td></tr>'
    yield "</tbody></table></div>"


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
    yield f"{text(found[0].code)} {text(found[0].name)}</summary><ul>"
    groups = _groups_of(analysis, drawn)
    for place, finding in enumerate(found):
        where = f" [launch {positions(finding.launches)}{_links(finding, groups)}]" if finding.launches else ""
        advised = f" {text(advice(finding))}" if advice(finding) else ""
        yield (
            f'<li id="f{place}"><span class="severity">{finding.severity.label}</span> {finding.code} {finding.name}'
            f"{where}: {text(finding.message)}{advised}</li>"
        )
    if lacking := not_collected(analysis.columns):
        yield f"<li>Not collected of any launch: {', '.join(map(title, lacking))}.</li>"
    for command, codes in commands(found).items():
        yield f"<li>To collect what is missing ({', '.join(codes)}): <pre>{text(command)}</pre></li>"
    yield "</ul></details>"


def _groups_of(analysis: Analysis, drawn: Sequence[Chart]) -> dict[int, int]:
    """Number of the group of every launch, of groups that have a mark."""
    shown = {mark.number for chart in drawn for mark in chart.marks}
    places = enumerate(analysis.groups()["launches"], start=1)
    return {launch: number for number, launches in places if number in shown for launch in launches}


def _links(finding: Finding, groups: dict[int, int]) -> str:
    """Links to the groups whose launches a finding names, unless it names most of them."""
    numbers = sorted({groups[launch] for launch in finding.launches if launch in groups})
    if not numbers or len(numbers) > _LINKS:
        return ""
    return ", group " + ", ".join(f'<a href="#k{number}">{number}</a>' for number in numbers)


# Time bar.


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
    """Parts are placed in percent, so that the bar is as wide as the page and its texts keep their size."""
    whole = sum(mark.time for mark in timed)
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
