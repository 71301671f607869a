"""How the numbers of one launch came about: formula, numbers put in, printed cells, map line, ceiling.

The launch is evaluated once more on its own; what was chosen for it is then written down with the same table
of recipes that the evaluation uses.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from ncu_roofline.analysis import Analysis
from ncu_roofline.collect import command_for
from ncu_roofline.counters import CounterView, is_quantity, recipes
from ncu_roofline.errors import UsageError
from ncu_roofline.evaluate import Amount, Quantities, evaluate
from ncu_roofline.maps import Alternative, MetricMap
from ncu_roofline.normalise import Counters
from ncu_roofline.vocabulary import FLOP_PATHS, NEVER_BINDING_PATHS, PATHS, TIERS, Extent, work_unit

_COUNTED: Final = (Extent.EXACT.label, Extent.AT_LEAST.label)
_DIGITS: Final = 12


@dataclass(frozen=True)
class Step:
    """One number: its column, value and unit, the formula in names, and the same with numbers put in.

    ``source`` and ``clock`` (Hz) are those of a ceiling.
    """

    name: str
    value: float
    unit: str
    formula: str
    numbers: str
    source: str | None = None
    clock: float | None = None


@dataclass(frozen=True)
class Cell:
    """One printed value of the report and what it is in base units (``rounding``: half the printed step)."""

    metric: str
    section: str
    printed_name: str
    text: str
    unit: str
    line: int
    value: float
    base_unit: str
    rounding: float


@dataclass(frozen=True)
class Explained:
    """One subject: the steps to its numbers, the cells that they stand on, the map entry, and what is lacking."""

    subject: str
    extent: str | None
    measure: str | None
    remark: str | None
    steps: tuple[Step, ...]
    cells: tuple[Cell, ...]
    map_file: str | None
    map_line: int | None
    collect: str | None


@dataclass(frozen=True)
class Explanation:
    """A launch and its explained subjects; the hashes are SHA-256."""

    path: str
    sha256: str
    form: str
    map: str
    map_sha256: Mapping[str, str]
    launch: Mapping[str, Any]
    subjects: tuple[Explained, ...]


@dataclass(frozen=True)
class _Expression:
    """A value with the way to it, in names and in numbers, and the metrics that it reads."""

    value: float
    formula: str
    numbers: str
    metrics: tuple[str, ...] = ()

    def in_brackets(self) -> _Expression:
        if not re.search(r" [+/] ", self.formula):
            return self
        return _Expression(self.value, f"({self.formula})", f"({self.numbers})", self.metrics)


@dataclass(frozen=True)
class _Launch:
    """One launch, evaluated on its own, and its row of the analysis."""

    row: Mapping[str, Any]
    metric_map: MetricMap
    view: CounterView
    quantities: Quantities
    counters: Counters
    position: int

    def number(self, column: str) -> float:
        value = self.row.get(column)
        return math.nan if value is None else float(value)


def explain(analysis: Analysis, launch: int, quantity: str | None) -> Explanation:
    """Explain one launch, or one quantity of it.

    Raises:
        UsageError: if there is no such launch or quantity.

    """
    found = _find(analysis, launch)
    names = _subjects(found, quantity)
    subjects = tuple(_explained(found, name) for name in names)
    item = analysis.inputs[found.row["input"]]
    files = dict.fromkeys(subject.map_file for subject in subjects if subject.map_file)
    identity = ("launch", "ncu_id", "process", "kernel", "grid", "block", "invocations", "device", "cc", "line")
    return Explanation(
        path=item.path,
        sha256=item.sha256,
        form=item.form,
        map=found.metric_map.id,
        map_sha256={file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files},
        launch={name: found.row[name] for name in identity},
        subjects=subjects,
    )


def _find(analysis: Analysis, launch: int) -> _Launch:
    places = np.flatnonzero(analysis.columns["launch"] == launch)
    if not len(places):
        raise UsageError("launch", str(launch), f"there is no such launch; there are {len(analysis)}, from 0")
    row = {name: column[places[0]] for name, column in analysis.columns.items()}
    row = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
    counters = analysis.counters[row["input"]]
    position = launch - sum(item.launches for item in analysis.inputs[: row["input"]])
    metric_map = analysis.maps[row["map"]]
    values = {name: column[position : position + 1] for name, column in counters.values.items()}
    quantities = evaluate(metric_map, values, 1)
    return _Launch(row, metric_map, CounterView(values, quantities.time), quantities, counters, position)


def _subjects(found: _Launch, quantity: str | None) -> Sequence[str]:
    """What can be explained of a launch: all that is known, or the subject of a quantity's name."""
    metric_map = found.metric_map
    known = ["time", *found.quantities.work, *found.quantities.traffic]
    known += [f"clocks.{name}" for name in found.quantities.clocks if not math.isnan(found.number(f"clocks.{name}"))]
    known += [f"utilization.{name}" for name in found.quantities.utilization]
    if quantity is None:
        return [*known, "bound"]
    possible = dict.fromkeys(["time", "bound", *metric_map.paths, *metric_map.tiers, *known])
    named = re.sub(r"^(work|traffic|ceilings|missing)\.", "", quantity.strip().lower())
    matching = [name for name in possible if named == name or named.startswith(f"{name}.")]
    if not matching:
        raise UsageError("quantity", quantity, f"is not one of map {metric_map.id}: {', '.join(possible)}")
    return [max(matching, key=len)]


def _explained(found: _Launch, subject: str) -> Explained:
    if subject == "bound":
        return _bound(found)
    if subject in PATHS:
        return _amount(found, subject, f"work.{subject}.count", work_unit(subject))
    if subject in TIERS:
        return _amount(found, subject, f"traffic.{subject}.bytes", "byte")
    expression, place = _plain(found, subject)
    unit = "s" if subject == "time" else "1/s" if subject.startswith("clocks.") else "1"
    if expression is None:
        return _unknown(found, subject, "no counter of it was collected", None)
    expression = _for_all(found, expression) if subject == "time" else expression
    step = Step(subject, found.number(subject), unit, expression.formula, expression.numbers)
    file, line = found.metric_map.origins.get(place, (None, None))
    return Explained(subject, None, None, None, (step,), _cells(found, expression.metrics), file, line, None)


def _plain(found: _Launch, subject: str) -> tuple[_Expression | None, str]:
    """Time, a clock or a utilization, and the entry of the map that names it."""
    kind, _, name = subject.partition(".")
    if kind == "clocks":
        return _expression(found.view, "clock", found.metric_map.clocks[name]), subject
    if kind == "utilization":
        shares = [f"{name}.avg.pct_of_peak_sustained_{which}" for which in ("elapsed", "active")]
        return _first(_metric(found.view, share) for share in shares), kind
    reported = _first(_metric(found.view, metric) for metric in found.metric_map.time)
    if reported is not None and reported.value > 0:
        return reported, "time"
    return _first(_expression(found.view, "duration", counter) for counter in found.metric_map.cycles), "cycles"


def _amount(found: _Launch, subject: str, column: str, unit: str) -> Explained:
    """Work of a path or bytes of a tier with its rate, ceiling and intensities."""
    prefix = column.rpartition(".")[0]
    measure = found.row.get(f"{prefix}.measure")
    amount, alternatives = _chosen(found, subject, measure)
    if amount is None or not amount.collected[0]:
        return _unknown(found, subject, _lacking(found.view, alternatives[0]), alternatives[0])
    alternative = alternatives[amount.choice[0]]
    steps: list[Step] = []
    metrics: list[str] = []
    totals = _weighted(found.view, "total", alternative)
    if totals and not math.isnan(found.number(column)):
        whole = _for_all(found, _sum(totals))
        steps.append(Step(column, found.number(column), unit, whole.formula, whole.numbers))
        metrics += whole.metrics
    rate = _rate(found, column, alternative)
    if rate is not None:
        steps.append(Step(f"{prefix}.rate", found.number(f"{prefix}.rate"), f"{unit}/s", rate.formula, rate.numbers))
        metrics += rate.metrics
    peak = _peak(found, prefix, alternative)
    if peak is not None:
        source, clock = found.row[f"{prefix}.peak_source"], found.number(f"{prefix}.peak_clock")
        value = found.number(f"{prefix}.peak")
        steps.append(Step(f"{prefix}.peak", value, f"{unit}/s", peak.formula, peak.numbers, source, _known(clock)))
        metrics += peak.metrics
    steps += _intensity(found, prefix)
    remarks = [_lacking(found.view, alternative)] if amount.extent[0] == Extent.AT_LEAST else []
    peaks = [counter for part in alternative.parts for counter in part.peak]
    if peak is None and subject not in NEVER_BINDING_PATHS:
        remarks.append(f"ceiling not known: no own peak of {', '.join(peaks) or 'its counters'}")
    cells = _cells(found, metrics)
    extent, remark = found.row[f"{prefix}.extent"], "; ".join(remarks) or None
    return Explained(subject, extent, measure, remark, tuple(steps), cells, alternative.file, alternative.line, None)


def _chosen(found: _Launch, subject: str, measure: str | None) -> tuple[Amount | None, tuple[Alternative, ...]]:
    """The evaluated amount of a path or of the measure in use, and the alternatives that its map entry has."""
    if subject in PATHS:
        return found.quantities.work.get(subject), found.metric_map.paths[subject].alternatives
    measures = {entry.id: entry for entry in found.metric_map.tiers[subject].measures}
    if measure is None:
        return None, next(iter(measures.values())).alternatives
    return found.quantities.traffic[subject][measure], measures[measure].alternatives


def _unknown(found: _Launch, subject: str, why: str, alternative: Alternative | None) -> Explained:
    file, line = (alternative.file, alternative.line) if alternative else (None, None)
    reason = found.metric_map.unmeasured.get(subject, {}).get(found.row["cc"])
    collect = None if reason else command_for(found.metric_map, [alternative] if alternative else [])
    return Explained(subject, None, None, f"not known: {reason or why}", (), (), file, line, collect)


def _lacking(view: CounterView, alternative: Alternative) -> str:
    gone = [
        name
        for name in alternative.counters()
        if _expression(view, "total", name) is None and _expression(view, "rate", name) is None
    ]
    return f"not collected: {', '.join(gone)}"


def _rate(found: _Launch, column: str, alternative: Alternative) -> _Expression | None:
    count, time = found.number(column), found.number("time")
    if not math.isnan(count) and not math.isnan(time):
        return _Expression(count / time, f"{column} / time", f"{_text(count)} / {_text(time)}")
    rates = _weighted(found.view, "rate", alternative)
    return _sum(rates) if rates else None


def _peak(found: _Launch, prefix: str, alternative: Alternative) -> _Expression | None:
    """The ceiling: own peak of the part that did the work; for several parts, F / sum of F_part / C_part."""
    if math.isnan(found.number(f"{prefix}.peak")):
        return None
    if found.row[f"{prefix}.peak_source"] == "attributes":
        return _attributes(found)
    kind = "rate" if math.isnan(found.number("time")) else "total"
    amounts, peaks = [], []
    for part in alternative.parts:
        amount = _weighted(found.view, kind, Alternative((part,), alternative.file, alternative.line))
        own = [_times(weight, _expression(found.view, "peak", counter)) for counter, weight in part.peak.items()]
        amounts.append(_sum(amount) if amount else _Expression(0.0, "0", "0"))
        peaks.append(own[0] if own else None)
    working = [(a, p) for a, p in zip(amounts, peaks, strict=True) if a.value > 0 and p is not None]
    if len(working) < 2:
        return working[0][1] if working else peaks[0]
    whole = _sum([a for a, _ in working]).in_brackets()
    shares = [_over(a.in_brackets(), p.in_brackets()) for a, p in working if p is not None]
    return _over(whole, _sum(shares).in_brackets())


def _attributes(found: _Launch) -> _Expression:
    names = [found.metric_map.attributes[name] for name in ("memory_bus_width", "memory_clock")]
    width, clock = (float(found.view.get(name)[0]) for name in names)
    formula = f"2 x {names[0]} / 8 x {names[1]} x 1000"
    numbers = f"2 x {_text(width)} / 8 x {_text(clock)} x 1000"
    return _Expression(2 * width / 8 * clock * 1000, formula, numbers, tuple(names))


def _intensity(found: _Launch, prefix: str) -> Iterator[Step]:
    """FLOP of the paths that count over the bytes of a tier."""
    column = f"{prefix}.intensity"
    if math.isnan(found.number(column)):
        return
    paths = [path for path in FLOP_PATHS if found.row.get(f"work.{path}.extent") in _COUNTED]
    by_rate = math.isnan(found.number(f"{prefix}.bytes")) or any(
        math.isnan(found.number(f"work.{path}.count")) for path in paths
    )
    over, under = ("rate", f"{prefix}.rate") if by_rate else ("count", f"{prefix}.bytes")
    names = [f"work.{path}.{over}" for path in paths]
    works = _sum([_Expression(found.number(name), name, _text(found.number(name))) for name in names]).in_brackets()
    numbers = f"{works.numbers} / {_text(found.number(under))}"
    yield Step(column, found.number(column), "FLOP/byte", f"{works.formula} / {under}", numbers)


def _bound(found: _Launch) -> Explained:
    """Time at the ceiling of every resource, the largest of which is the bound."""
    timed = not math.isnan(found.number("time"))
    resources: dict[str, list[str]] = {}
    for resource, prefix in _members(found):
        resources.setdefault(resource, []).append(prefix)
    steps, loads = [], []
    for resource, prefixes in resources.items():
        terms = []
        for prefix in prefixes:
            amount = ("bytes" if prefix.startswith("traffic") else "count") if timed else "rate"
            value, peak = found.number(f"{prefix}.{amount}"), found.number(f"{prefix}.peak")
            names = f"{prefix}.{amount} / {prefix}.peak"
            terms.append(_Expression(value / peak, names, f"{_text(value)} / {_text(peak)}"))
        load = _sum(terms)
        steps.append(Step(resource, load.value, "s" if timed else "1", load.formula, load.numbers))
        loads.append(_Expression(load.value, resource, _text(load.value)))
    if loads:
        column = "bound.time" if timed else "bound.fraction"
        names, numbers = (", ".join(getattr(load, kind) for load in loads) for kind in ("formula", "numbers"))
        largest = f"max({names})", f"max({numbers})"
        steps.append(Step(column, found.number(column), "s" if timed else "1", *largest))
    if loads and timed:
        bound, time = found.number("bound.time"), found.number("time")
        both = (_text(bound), _text(time))
        fraction, headroom = found.number("bound.fraction"), found.number("bound.headroom")
        steps.append(Step("bound.fraction", fraction, "1", "bound.time / time", " / ".join(both)))
        steps.append(Step("bound.headroom", headroom, "s", "time - bound.time", " - ".join(reversed(both))))
    complete = found.row["bound.complete"]
    remark = f"by {found.row['bound.by'] or 'unknown'}" + ("" if complete else "; incomplete: time is a lower bound")
    lacking = [
        name.removeprefix("missing.") for name, gone in found.row.items() if name.startswith("missing.") and gone
    ]
    if lacking:
        remark += f"; not collected: {', '.join(lacking)}"
    return Explained("bound", None, None, remark, tuple(steps), (), None, None, None)


def _members(found: _Launch) -> Iterator[tuple[str, str]]:
    """Resource and column prefix of every amount that may bind and has a ceiling."""
    for path in found.quantities.work:
        if path not in NEVER_BINDING_PATHS and _may_bind(found, f"work.{path}"):
            yield f"pipe {found.metric_map.paths[path].pipe}", f"work.{path}"
    for tier in found.quantities.traffic:
        prefix = f"traffic.{tier}"
        if _may_bind(found, prefix):
            measures = {measure.id: measure.data_path for measure in found.metric_map.tiers[tier].measures}
            shared = measures[found.row[f"{prefix}.measure"]]
            yield f"data path {shared}" if shared else tier, prefix


def _may_bind(found: _Launch, prefix: str) -> bool:
    return found.row.get(f"{prefix}.extent") in _COUNTED and not (
        math.isnan(found.number(f"{prefix}.peak")) or math.isnan(found.number(f"{prefix}.rate"))
    )


def _cells(found: _Launch, metrics: Iterable[str]) -> tuple[Cell, ...]:
    """The printed cells behind some metrics, in their order."""
    names = list(dict.fromkeys(metrics))
    mine = found.counters.cells.filter((pl.col("launch") == found.position) & pl.col("metric").is_in(names))
    by_metric = {row["metric"]: row for row in mine.iter_rows(named=True)}
    return tuple(
        Cell(
            metric=name,
            section=row["section"],
            printed_name=row["printed"],
            text=row["text"],
            unit=row["unit"],
            line=row["line"],
            value=row["value"],
            base_unit=row["has"],
            rounding=row["rounding"],
        )
        for name in names
        if (row := by_metric.get(name)) is not None
    )


def _weighted(view: CounterView, quantity: str, alternative: Alternative) -> list[_Expression]:
    """The terms of an amount whose counters are known."""
    terms = [
        _times(weight, _expression(view, quantity, counter))
        for part in alternative.parts
        for counter, weight in part.work.items()
    ]
    return [term for term in terms if term is not None]


def _expression(view: CounterView, quantity: str, counter: str) -> _Expression | None:
    """The first recipe that is known, written out."""
    return _first(
        _product(
            [_factor(view, name, way.counter) for name in way.factors],
            _factor(view, way.divisor, way.counter) if way.divisor else None,
            divided=way.divisor is not None,
        )
        for way in recipes(quantity, counter)
    )


def _factor(view: CounterView, name: str, counter: str) -> _Expression | None:
    if is_quantity(name):
        return _expression(view, name, counter)
    if name == "time":
        time = float(view.time[0])
        return None if math.isnan(time) else _Expression(time, "time", _text(time))
    return _metric(view, name)


def _metric(view: CounterView, name: str) -> _Expression | None:
    value = float(view.get(name)[0])
    return None if math.isnan(value) else _Expression(value, name, _text(value), (name,))


def _product(
    factors: Sequence[_Expression | None], divisor: _Expression | None, *, divided: bool
) -> _Expression | None:
    known = [factor.in_brackets() if len(factors) > 1 else factor for factor in factors if factor is not None]
    if len(known) < len(factors) or (divided and (divisor is None or divisor.value == 0)):
        return None
    product = known[0]
    for factor in known[1:]:
        product = _Expression(
            product.value * factor.value,
            f"{product.formula} x {factor.formula}",
            f"{product.numbers} x {factor.numbers}",
            product.metrics + factor.metrics,
        )
    return product if divisor is None else _over(product, divisor.in_brackets())


def _over(above: _Expression, below: _Expression) -> _Expression:
    return _Expression(
        above.value / below.value,
        f"{above.formula} / {below.formula}",
        f"{above.numbers} / {below.numbers}",
        above.metrics + below.metrics,
    )


def _times(weight: int, expression: _Expression | None) -> _Expression | None:
    if expression is None or weight == 1:
        return expression
    inner = expression.in_brackets()
    return _Expression(
        weight * inner.value, f"{weight} x {inner.formula}", f"{weight} x {inner.numbers}", inner.metrics
    )


def _for_all(found: _Launch, expression: _Expression) -> _Expression:
    """The value of an entry that stands for several launches, from that of their average launch."""
    count = found.row["invocations"]
    if count == 1:
        return expression
    inner = expression.in_brackets()
    return _Expression(
        count * inner.value, f"{inner.formula} x invocations", f"{inner.numbers} x {count}", inner.metrics
    )


def _sum(terms: Sequence[_Expression]) -> _Expression:
    return _Expression(
        sum(term.value for term in terms),
        " + ".join(term.formula for term in terms),
        " + ".join(term.numbers for term in terms),
        tuple(name for term in terms for name in term.metrics),
    )


def _first(candidates: Iterable[_Expression | None]) -> _Expression | None:
    return next((candidate for candidate in candidates if candidate is not None), None)


def _text(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
