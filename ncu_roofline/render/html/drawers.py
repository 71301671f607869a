"""A drawer for every row: why it is bound so, the spread of its launches, its ledger, findings, formulas, counters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import Columns
from ncu_roofline.checks import Finding
from ncu_roofline.explain import Explained
from ncu_roofline.formats import UNKNOWN, percent, quantity, seconds, shape, visible
from ncu_roofline.render.explanation import subject_to_text
from ncu_roofline.render.group_table import positions
from ncu_roofline.render.html.markup import MISSING, quoted, share_bar, text
from ncu_roofline.render.picture import LIGHT, Mark
from ncu_roofline.render.picture.chart import COMPUTE, Use
from ncu_roofline.render.picture.palette import title
from ncu_roofline.render.picture.plot import plain
from ncu_roofline.vocabulary import CORE_TIERS, FLOP_PATHS, TIERS, Severity, amount_prefix, work_unit
from ncu_roofline.wording import count

_EXPLAINED: Final = 12
"""Longest groups whose formulas are in their drawers."""
LARGE: Final = 400_000
"""Characters of formulas in a page that need not be small."""
_AROUND: Final = 150
"""Characters around the formulas of a subject: what folds them, and what is escaped."""
_BINS: Final = 20
_LONG_NAME: Final = 200
_FEW: Final = 5
"""Launches below which a spread in bins says nothing."""
_BUSY: Final = 0.6
_MARGIN: Final = 0.2
"""From which a unit is busy, and by how much more than the share of the roof, to cast doubt on the roof."""


@dataclass(frozen=True)
class _Subject:
    """The formulas of one tier or path of a group, as text."""

    name: str
    said: str


def drawers(analysis: Analysis, marks: Sequence[Mark], *, room: int) -> Iterator[str]:
    """A section for every group that has a row; ``room``: characters of formulas and counters over all of them."""
    columns = analysis.columns
    places = {launch: place for place, launch in enumerate(columns["launch"].tolist())}
    formulas = _formulas(analysis, marks[:_EXPLAINED], room) if room > 0 else {}
    naming = _findings_by_launch(analysis)
    everywhere = not_collected(columns)
    for mark in marks:
        mine = [places[launch] for launch in mark.members]
        yield f'<section class="drawer" id="k{mark.number}" data-testid="drawer" data-kernel-id="k{mark.number}">'
        yield f"<h3>{mark.label} {text(mark.name)}</h3>"
        yield _full_name(visible(mark.full_name))
        yield f"<p>{_why(mark, columns['bound.by'][mine].tolist())}</p>"
        yield from _facts(mark, columns["time"][mine].tolist())
        yield from _ledger(analysis, mark, mine[0])
        yield from _problem(mark)
        yield from _missing(analysis.columns, mine[0], everywhere)
        found = dict.fromkeys(place for launch in mark.members for place in naming.get(launch, ()))
        yield from _findings(analysis.finding_list, list(found))
        yield from _explained(mark.members[0], formulas.get(mark.number, []))
        yield "</section>"


def _full_name(name: str) -> str:
    said = f'<p class="name">{text(name)}</p>'
    if len(name) <= _LONG_NAME:
        return said
    return f"<details><summary>Full name, {count(len(name), 'character')}</summary>{said}</details>"


def _why(mark: Mark, of_launches: Sequence[str | None]) -> str:
    """What binds and how near it is, what comes next, and what ncu says of how busy units were."""
    if mark.bound is None:
        return f"What binds is not known: counters or ceilings are missing.{_busy(mark)}"
    roof = percent(mark.fraction, at_least=not mark.complete)
    others = sorted(((used, name) for name, used in mark.usage.items() if name != mark.bound), reverse=True)
    after = f"; next is {title(others[0][1])} at {others[0][0]:.1%}" if others else ""
    sure = "" if mark.complete else " Not everything that may bind was collected."
    some = of_launches.count(mark.bound)
    mixed = f" ({some} of {count(len(of_launches), 'launch')})" if some < len(of_launches) else ""
    return f"Bound by {text(title(mark.bound))}{mixed} at {text(roof)} of its roof{after}.{sure}{_busy(mark)}"


def _busy(mark: Mark) -> str:
    """Throughput percentages of ncu; a unit that is much busier than the roof says is a reason to doubt the roof."""
    if not mark.busy:
        return ""
    units = ", ".join(f"{unit} {percent(high)}" for unit, (_, high) in mark.busy.items())
    unit, (_, high) = max(mark.busy.items(), key=lambda item: item[1][1])
    most = "at most " if any(low != high for low, high in mark.busy.values()) else ""
    doubt = (
        f" {unit} is much busier than its roof says: what limits the group is probably not a ceiling of this chart."
        if not math.isnan(mark.fraction) and high > max(_BUSY, mark.fraction + _MARGIN)
        else ""
    )
    return f" Busy, as ncu says: {most}{units}.{doubt}"


# Launches.


def _facts(mark: Mark, times: Sequence[float]) -> Iterator[str]:
    """Launches, their size, and how their times spread."""
    size = f"grid {shape(mark.grid)}, block {shape(mark.block)}"
    said = f"{count(mark.launches, 'launch')} ({positions(mark.members)}), {size}"
    known = [time for time in times if not math.isnan(time)]
    is_part = 0 < len(known) < len(times)
    said += f", {'&gt;=' if is_part else ''}{seconds(mark.time)}" if known else ""
    said += f" ({len(known)} of {len(times)} have a time)" if is_part else ""
    if len(known) > 1:
        said += f"; one takes {seconds(min(known))} to {seconds(max(known))}, the median is {seconds(median(known))}"
        said += _histogram(known) if len(known) >= _FEW else ""
    yield f"<p>{said}</p>"


def _histogram(times: Sequence[float]) -> str:
    """How the times spread between the fastest and the slowest, in 20 bars; nothing where they are all the same."""
    low, high = min(times), max(times)
    if not high > low:
        return ""
    counts, _ = np.histogram(times, bins=_BINS, range=(low, high))
    heights = [math.ceil(20 * int(number) / int(counts.max())) for number in counts]
    bars = "".join(f"M{7 * place + 3} 20v-{height}" for place, height in enumerate(heights) if height)
    said = f"Times of {len(times)} launches from {seconds(low)} to {seconds(high)} in {_BINS} bins"
    return (
        f' <svg class="spread" width="141" height="21" role="img" aria-label="{said}" data-testid="spread">'
        f'<path d="{bars}" stroke="{LIGHT["text"]}" stroke-width="5"/><path d="M0 20.5h141" stroke="{LIGHT["line"]}"/>'
        "</svg>"
    )


# Ledger.


def _ledger(analysis: Analysis, mark: Mark, first: int) -> Iterator[str]:
    """Work per path and bytes per tier, each with its own ceiling, of all launches of the group."""
    moved = [(tier, use) for tier, use in mark.traffic.items() if tier in CORE_TIERS or use.total > 0 or use.rate > 0]
    uses = [*mark.work.items(), *moved]
    if not uses:
        return
    yield (
        '<table data-testid="ledger"><thead><tr><th>Path, tier</th><th>In all</th><th>Rate of ceiling</th>'
        "<th>Share</th><th>FLOP/B</th></tr></thead><tbody>"
    )
    for name, use in uses:
        yield from _line(analysis, mark, first, name, use)
    yield "</tbody></table>"


def _problem(mark: Mark) -> Iterator[str]:
    """What the problem needs of the group, where a ledger says it for all of its launches."""
    ledger = mark.ledger
    if ledger.get("ledger") is None:
        return
    unit, work, rate, padding = (ledger[f"ledger.{name}"] for name in ("unit", "work", "rate", "padding"))
    compulsory, traffic = ledger["ledger.compulsory"], ledger["ledger.traffic"]
    said = []
    if work > 0:
        said.append(f"useful {quantity(work, unit)}" + (f", {quantity(rate, f'{unit}/s')}" if rate > 0 else ""))
        least = "" if ledger["ledger.complete"] else "at least "
        said += [f"executed {least}{padding:.4g} times as much"] if padding > 0 else []
    if compulsory > 0:
        said.append(f"compulsory {quantity(compulsory, 'B')}")
        said += [f"DRAM moved {traffic:.4g} times as much"] if traffic >= 0 else []
    if said:
        yield f'<p data-testid="problem">What the problem needs ({text(ledger["ledger"])}): {"; ".join(said)}.</p>'


def _line(analysis: Analysis, mark: Mark, first: int, name: str, use: Use) -> Iterator[str]:
    columns, prefix = analysis.columns, amount_prefix(name)
    is_tier = name in TIERS
    unit = "B" if is_tier else work_unit(name)
    measure = columns[f"{prefix}.measure"][first] if is_tier else None
    called = f"{title(name)} ({measure})" if measure not in (None, name) else title(name)
    is_part = 0 < use.known < len(mark.members)
    called += f", {use.known} of {len(mark.members)} launches" if is_part else ""
    # The ceilings of the launches of a group may differ by their clocks: that to which the share belongs.
    peak = use.rate / use.share if use.share > 0 else float(columns[f"{prefix}.peak"][first])
    source = columns[f"{prefix}.peak_source"][first]
    of = "" if source in (None, "report") else f" ({source})"
    bar = "" if math.isnan(use.share) else share_bar(use.share, name if is_tier else COMPUTE)
    rate, ceiling = quantity(use.rate, f"{unit}/s"), quantity(peak, f"{unit}/s")
    intensity = mark.all_intensity.get(name, math.nan)
    values = [
        f"&gt;={quantity(use.total, unit)}" if is_part and use.total > 0 else quantity(use.total, unit),
        f"{rate}<br>of {ceiling}{of}" if ceiling != UNKNOWN else rate,
        f"{percent(use.share)}<br>{bar}" if bar else UNKNOWN,
        plain(intensity) if intensity > 0 else UNKNOWN,
    ]
    cells = "".join(f"<td>{MISSING if value == UNKNOWN else value}</td>" for value in values)
    yield f"<tr><td>{text(called)}</td>{cells}</tr>"


def not_collected(columns: Columns) -> list[str]:
    """Tiers and floating-point paths that no launch has."""
    return [name for name in (*TIERS, *FLOP_PATHS) if f"missing.{name}" in columns and columns[f"missing.{name}"].all()]


def _missing(columns: Columns, first: int, everywhere: Sequence[str]) -> Iterator[str]:
    """What of the first launch was not collected beyond what no launch has."""
    lacking = [
        title(name)
        for name in (*TIERS, *FLOP_PATHS)
        if name not in everywhere and f"missing.{name}" in columns and columns[f"missing.{name}"][first]
    ]
    if lacking:
        yield f'<p class="muted">Not collected here: {", ".join(lacking)}.</p>'


# Findings and formulas.


def _findings_by_launch(analysis: Analysis) -> dict[int, list[int]]:
    """Places of the findings that name a launch; what is said of every launch stands above the charts."""
    found: dict[int, list[int]] = {}
    for place, finding in enumerate(analysis.finding_list):
        for launch in finding.launches if len(finding.launches) < len(analysis) else ():
            found.setdefault(launch, []).append(place)
    return found


def _findings(found: Sequence[Finding], places: Sequence[int]) -> Iterator[str]:
    """Findings of a group: what is wrong or doubtful in full, notes by name; each leads to the list above."""
    if not places:
        return
    yield "<ul>"
    for place in places:
        finding = found[place]
        said = f": {text(finding.message)}" if finding.severity > Severity.NOTE else ""
        link = f'<a href="#f{place}">{finding.code} {finding.name}</a>'
        yield f"<li>{finding.severity.label} {link}{said}</li>"
    yield "</ul>"


def _formulas(analysis: Analysis, marks: Sequence[Mark], room: int) -> dict[int, list[_Subject]]:
    """Formulas and counters of the first launch of the longest groups: what binds each, then the rest, as room allows.

    Two passes, so that no group goes without because another one has all of it.
    """
    subjects = {mark.number: _subjects(analysis, mark) for mark in marks}
    wanted = [(mark.number, one) for mark in marks for one in subjects[mark.number] if one.name == mark.bound]
    wanted += [(mark.number, one) for mark in marks for one in subjects[mark.number] if one.name != mark.bound]
    found: dict[int, list[_Subject]] = {}
    for number, subject in wanted:
        if len(subject.said) + _AROUND <= room:
            room -= len(subject.said) + _AROUND
            found.setdefault(number, []).append(subject)
    return found


def _subjects(analysis: Analysis, mark: Mark) -> list[_Subject]:
    """The time of a launch and what it did on each path and at each tier."""
    used = {"time", *mark.work, *mark.traffic}
    found: Sequence[Explained] = analysis.explain(mark.members[0]).subjects
    return [_Subject(one.subject, subject_to_text(one)) for one in found if one.subject in used]


def _explained(launch: int, subjects: Sequence[_Subject]) -> Iterator[str]:
    if not subjects:
        return
    names = ", ".join(subject.name for subject in subjects)
    yield f"<details><summary>Formulas and counters of launch {launch}: {names}</summary>"
    yield f"<pre tabindex='0'>{quoted(chr(10).join(subject.said for subject in subjects))}</pre></details>"
