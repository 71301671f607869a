"""One launch evaluated once more on its own, and what was chosen for it written down, subject by subject.

The same table of recipes is used as in the evaluation.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import rows
from ncu_roofline.collect import command_for
from ncu_roofline.counters import CounterView, spellings
from ncu_roofline.errors import UsageError
from ncu_roofline.evaluate import Amount, evaluate
from ncu_roofline.explain.bound import explain_bound
from ncu_roofline.explain.ceilings import ceilings_beside, from_attributes, mix_of, or_none, peak_of
from ncu_roofline.explain.expression import (
    Expression,
    expression_of,
    first_of,
    read_metric,
    text_of,
    total_of,
    weighted,
)
from ncu_roofline.explain.ledger import LEDGER, explain_ledger
from ncu_roofline.explain.values import COUNTED, Cell, Explained, Explanation, Launch, Step
from ncu_roofline.maps import Alternative
from ncu_roofline.vocabulary import FLOP_PATHS, NEVER_BINDING_PATHS, PATHS, TIERS, Extent, work_unit

_SHARES: Final = {
    "utilization": ".avg.pct_of_peak_sustained_elapsed",
    "utilization_active": ".avg.pct_of_peak_sustained_active",
}
"""Throughputs and the rollup of each."""


def explain(analysis: Analysis, launch: int, quantity: str | None) -> Explanation:
    """Explain one launch, or one quantity of it.

    Raises:
        UsageError: if there is no such launch or quantity.

    """
    found = _find(analysis, launch)
    names = _subjects(found, quantity)
    subjects = tuple(_explained(found, name) for name in names)
    item = analysis.inputs[found.row["input"]]
    files = dict.fromkeys([found.metric_map.file, *(subject.map_file for subject in subjects if subject.map_file)])
    identity = ("launch", "ncu_id", "process", "kernel", "grid", "block", "invocations", "device", "cc", "line")
    return Explanation(
        path=item.path,
        sha256=item.sha256,
        form=item.form,
        map=found.metric_map.id,
        map_sha256={file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files},
        launch={name: found.row[name] for name in identity} | {"line": found.row["line"] or None},
        subjects=subjects,
        findings=tuple(finding for finding in analysis.finding_list if launch in finding.launches),
    )


def _find(analysis: Analysis, launch: int) -> Launch:
    places = np.flatnonzero(analysis.columns["launch"] == launch)
    if not len(places):
        raise UsageError("launch", str(launch), f"there is no such launch; there are {len(analysis)}, from 0")
    columns = {name: column[places] for name, column in analysis.columns.items()}
    (row,) = rows(columns)
    counters = analysis.counters[row["input"]]
    position = launch - analysis.first_launch(row["input"])
    metric_map = analysis.maps[row["map"]]
    values = {name: column[position : position + 1] for name, column in counters.values.items()}
    quantities = evaluate(metric_map, values, 1)
    view = CounterView(values, quantities.time)
    paths = tuple(item.path for item in analysis.inputs)
    return Launch(columns, row, metric_map, view, quantities, counters, position, paths, analysis.measured)


def _subjects(found: Launch, quantity: str | None) -> Sequence[str]:
    """What can be explained of a launch: all that is known, or the subject of a quantity's name."""
    metric_map = found.metric_map
    known = ["time", *found.quantities.work, *found.quantities.traffic]
    known += [f"clocks.{name}" for name in found.quantities.clocks if not math.isnan(found.number(f"clocks.{name}"))]
    known += [f"utilization.{name}" for name in found.quantities.utilization]
    known += [f"utilization_active.{name}" for name in found.quantities.utilization_active]
    ledger = [LEDGER] if found.row.get(LEDGER) is not None else []
    if quantity is None:
        return [*known, "bound", *ledger]
    unmeasured = [tier for tier, reasons in metric_map.unmeasured.items() if found.row["cc"] in reasons]
    possible = dict.fromkeys(["time", "bound", *ledger, *metric_map.paths, *metric_map.tiers, *unmeasured, *known])
    possible |= dict.fromkeys(f"clocks.{name}" for name in metric_map.clocks)
    possible |= dict.fromkeys(f"{kind}.{name}" for kind in _SHARES for name in metric_map.utilization)
    named = re.sub(r"^(work|traffic|ceilings|missing)\.", "", quantity.strip().lower())
    matching = [name for name in possible if named == name or named.startswith(f"{name}.")]
    if not matching and named.partition(".")[0] == LEDGER:
        raise UsageError("quantity", quantity, "no ledger was stated for this launch: --work FILE or --expect SPEC")
    if not matching:
        raise UsageError("quantity", quantity, f"cannot be explained; known are {', '.join(possible)}")
    return [max(matching, key=len)]


def _explained(found: Launch, subject: str) -> Explained:
    if subject == "bound":
        return explain_bound(found)
    if subject == LEDGER:
        return explain_ledger(found)
    if subject in PATHS:
        return _amount(found, subject, f"work.{subject}.count", work_unit(subject))
    if subject in TIERS:
        return _amount(found, subject, f"traffic.{subject}.bytes", "byte")
    expression, place = _plain(found, subject)
    unit = "s" if subject == "time" else "1/s" if subject.startswith("clocks.") else "1"
    if expression is None or math.isnan(found.number(subject)):
        printed = _unusable(found, found.metric_map.time if subject == "time" else ())
        return _unknown(found, subject, printed or "no counter of it was collected", None)
    expression = _for_all(found, expression) if subject == "time" else expression
    step = Step(subject, found.number(subject), unit, expression.formula, expression.numbers)
    file, line = found.metric_map.origins.get(place, (None, None))
    return Explained(subject, None, None, None, (step,), _cells(found, expression.metrics), file, line, None)


def _plain(found: Launch, subject: str) -> tuple[Expression | None, str]:
    """Time, a clock or a utilization, and the entry of the map that names it."""
    kind, _, name = subject.partition(".")
    if kind == "clocks":
        return expression_of(found.view, "clock", found.metric_map.clocks[name]), subject
    if kind in _SHARES:
        return read_metric(found.view, name + _SHARES[kind]), "utilization"
    reported = first_of(read_metric(found.view, metric) for metric in found.metric_map.time)
    if reported is not None and reported.value > 0:
        return reported, "time"
    return first_of(expression_of(found.view, "duration", counter) for counter in found.metric_map.cycles), "cycles"


def _amount(found: Launch, subject: str, column: str, unit: str) -> Explained:
    """Work of a path or bytes of a tier with its rate, ceiling and intensities."""
    prefix = column.rpartition(".")[0]
    measure = found.row.get(f"{prefix}.measure")
    amount, alternatives = _chosen(found, subject, measure)
    if not alternatives:
        return _unknown(found, subject, "the map has no such tier", None)
    if amount is None or not amount.collected[0]:
        return _unknown(found, subject, _lacking(found, alternatives[0]), alternatives[0])
    alternative = alternatives[amount.choice[0]]
    steps: list[Step] = []
    metrics: list[str] = []
    totals = weighted(found.view, "total", alternative)
    if totals and not math.isnan(found.number(column)):
        whole = _for_all(found, total_of(totals))
        steps.append(Step(column, found.number(column), unit, whole.formula, whole.numbers))
        metrics += whole.metrics
    rate = _rate(found, column, alternative)
    if rate is not None and not math.isnan(found.number(f"{prefix}.rate")):
        steps.append(Step(f"{prefix}.rate", found.number(f"{prefix}.rate"), f"{unit}/s", rate.formula, rate.numbers))
        metrics += rate.metrics
    peak = peak_of(found, prefix, alternative)
    if peak is not None:
        source, clock = found.row[f"{prefix}.peak_source"], found.number(f"{prefix}.peak_clock")
        value = found.number(f"{prefix}.peak")
        steps.append(Step(f"{prefix}.peak", value, f"{unit}/s", peak.formula, peak.numbers, source, or_none(clock)))
        metrics += peak.metrics
    steps += ceilings_beside(found, subject, unit)
    steps += _intensity(found, prefix)
    others = _other_measures(found, subject) if subject in TIERS else mix_of(found, subject, alternative)
    for step, read in others:
        steps.append(step)
        metrics += read
    remarks = [_lacking(found, alternative)] if amount.extent[0] == Extent.AT_LEAST else []
    peaks = [counter for part in alternative.parts for counter in part.peak]
    if peak is None and subject not in NEVER_BINDING_PATHS:
        remarks.append(f"ceiling not known: no own peak of {', '.join(peaks) or 'its counters'}")
    if amount.extent[0] == Extent.AT_MOST:
        remarks.append("it may be the compiler's constant loads (HFMA2.MMA): in no intensity, and it never binds")
    if subject in TIERS and len(found.quantities.traffic[subject]) > 1:
        why = "the first with bytes and a peak of its own" if peak is not None else "the first with bytes"
        remarks.append(f"measure {measure} is in use: {why}")
    better = _better(found, subject, amount, measure, has_peak=peak is not None)
    if better is not None and better is not alternative:
        remarks.append(f"more would be known from {', '.join(better.counters())}")
    return Explained(
        subject=subject,
        extent=found.row[f"{prefix}.extent"],
        measure=measure,
        remark="; ".join(remarks) or None,
        steps=tuple(steps),
        cells=_cells(found, metrics),
        map_file=alternative.file,
        map_line=alternative.line,
        collect=None if better is None else command_for(found.metric_map, [better]),
        alternative=f"alternative {amount.choice[0] + 1} of {len(alternatives)}",
    )


def _better(found: Launch, subject: str, amount: Amount, measure: str | None, *, has_peak: bool) -> Alternative | None:
    """The alternative that tells more than the one in use: parts with their own peaks, a measure that comes first."""
    if subject in NEVER_BINDING_PATHS:
        return None
    if subject in PATHS:
        best, is_best = found.metric_map.paths[subject].alternatives[0], amount.choice[0] == 0
    else:
        first = found.metric_map.tiers[subject].measures[0]
        best, is_best = first.alternatives[0], measure == first.id
    is_enough = is_best and amount.extent[0] != Extent.AT_LEAST and (has_peak or not best.parts[0].peak)
    return None if is_enough else best


def _chosen(found: Launch, subject: str, measure: str | None) -> tuple[Amount | None, tuple[Alternative, ...]]:
    """The evaluated amount of a path or of the measure in use, and the alternatives that its map entry has."""
    if subject in PATHS:
        return found.quantities.work.get(subject), found.metric_map.paths[subject].alternatives
    if subject not in found.metric_map.tiers:
        return None, ()
    measures = {entry.id: entry for entry in found.metric_map.tiers[subject].measures}
    if measure is None:
        return None, next(iter(measures.values())).alternatives
    return found.quantities.traffic[subject][measure], measures[measure].alternatives


def _unknown(found: Launch, subject: str, why: str, alternative: Alternative | None) -> Explained:
    file, line = (alternative.file, alternative.line) if alternative else (None, None)
    reason = found.metric_map.unmeasured.get(subject, {}).get(found.row["cc"])
    collect = None if reason else command_for(found.metric_map, [alternative] if alternative else [])
    return Explained(subject, None, None, f"not known: {reason or why}", (), (), file, line, collect)


def _lacking(found: Launch, alternative: Alternative) -> str:
    gone = [
        name
        for name in alternative.counters()
        if expression_of(found.view, "total", name) is None and expression_of(found.view, "rate", name) is None
    ]
    printed = _unusable(found, [f"{spelling}.sum" for name in gone for spelling in spellings(name)])
    return f"not collected: {', '.join(gone)}" + (f" ({printed})" if printed else "")


def _unusable(found: Launch, metrics: Sequence[str]) -> str:
    """What is printed for some metrics and is no measured value: negative, no number, a duration of zero."""
    counters = found.counters
    texts = []
    zero = counters.printed(found.position, metrics).filter(pl.col("value") == 0)
    for frame in (counters.negative, counters.not_numbers, zero):
        mine = frame.filter((pl.col("launch") == found.position) & pl.col("metric").is_in(metrics))
        texts += [
            f"{row['metric']} is {row['text']!r} {row['unit']} on line {row['line']}, which is not a measured value"
            for row in mine.iter_rows(named=True)
        ]
    return "; ".join(texts)


def _rate(found: Launch, column: str, alternative: Alternative) -> Expression | None:
    count, time = found.number(column), found.number("time")
    if not math.isnan(count) and not math.isnan(time):
        return Expression(count / time, f"{column} / time", f"{text_of(count)} / {text_of(time)}")
    rates = weighted(found.view, "rate", alternative)
    return total_of(rates) if rates else None


def _other_measures(found: Launch, tier: str) -> Iterator[tuple[Step, tuple[str, ...]]]:
    """Bytes and rates of the measures that are not in use, and the ceiling of DRAM from the device attributes."""
    in_use = found.row[f"traffic.{tier}.measure"]
    for measure in found.metric_map.tiers[tier].measures:
        amount = found.quantities.traffic[tier].get(measure.id)
        if measure.id == in_use or amount is None or not amount.collected[0]:
            continue
        prefix = f"traffic.{tier}.measures.{measure.id}"
        alternative = measure.alternatives[amount.choice[0]]
        for quantity, column, unit in (("total", "bytes", "byte"), ("rate", "rate", "byte/s")):
            value, terms = found.number(f"{prefix}.{column}"), weighted(found.view, quantity, alternative)
            if terms and not math.isnan(value):
                whole = _for_all(found, total_of(terms)) if quantity == "total" else total_of(terms)
                yield Step(f"{prefix}.{column}", value, unit, whole.formula, whole.numbers), whole.metrics
    value, clock = found.number(f"ceilings.{tier}.attributes.value"), found.number(f"ceilings.{tier}.attributes.clock")
    if not math.isnan(value) and found.row[f"traffic.{tier}.peak_source"] != "attributes":
        roof = from_attributes(found)
        name = f"ceilings.{tier}.attributes.value"
        yield Step(name, value, "byte/s", roof.formula, roof.numbers, "attributes", or_none(clock)), roof.metrics


def _intensity(found: Launch, prefix: str) -> Iterator[Step]:
    """FLOP of the paths that count over the bytes of a tier."""
    column = f"{prefix}.intensity"
    if math.isnan(found.number(column)):
        return
    paths = [path for path in FLOP_PATHS if found.row.get(f"work.{path}.extent") in COUNTED]
    by_rate = math.isnan(found.number(f"{prefix}.bytes")) or any(
        math.isnan(found.number(f"work.{path}.count")) for path in paths
    )
    over, under = ("rate", f"{prefix}.rate") if by_rate else ("count", f"{prefix}.bytes")
    names = [f"work.{path}.{over}" for path in paths]
    works = total_of(
        [Expression(found.number(name), name, text_of(found.number(name))) for name in names]
    ).in_brackets()
    numbers = f"{works.numbers} / {text_of(found.number(under))}"
    yield Step(column, found.number(column), "FLOP/byte", f"{works.formula} / {under}", numbers)


def _cells(found: Launch, metrics: Iterable[str]) -> tuple[Cell, ...]:
    """The printed cells behind some metrics, in their order."""
    names = list(dict.fromkeys(metrics))
    mine = found.counters.printed(found.position, names)
    by_metric = {row["metric"]: row for row in mine.iter_rows(named=True)}
    return tuple(
        Cell(
            metric=name,
            section=row["section"],
            printed_name=row["printed"],
            text=row["text"],
            unit=row["unit"],
            line=row["line"] or None,
            value=row["value"],
            base_unit=row["has"],
            rounding=row["rounding"],
            divided_by=row["divide"],
            path=found.paths[row["capture"]] if found.counters.captures else None,
        )
        for name in names
        if (row := by_metric.get(name)) is not None
    )


def _for_all(found: Launch, expression: Expression) -> Expression:
    """The value of an entry that stands for several launches, from that of their average launch."""
    count = found.row["invocations"]
    if count == 1:
        return expression
    inner = expression.in_brackets()
    return Expression(
        count * inner.value, f"{inner.formula} x invocations", f"{inner.numbers} x {count}", inner.metrics
    )
