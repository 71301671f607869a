"""Ceilings of an explanation: the one in use, those beside it, and what the mix of instructions allows."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ncu_roofline.counters import OF_DEVICE
from ncu_roofline.explain.expression import (
    Expression,
    divide,
    expression_of,
    text_of,
    total_of,
    weigh,
    weighted,
)  # fmt: skip
from ncu_roofline.explain.values import Launch, Step
from ncu_roofline.maps import Alternative
from ncu_roofline.vocabulary import amount_prefix, work_unit


def peak_of(found: Launch, prefix: str, alternative: Alternative) -> Expression | None:
    """The ceiling: own peak of the part that did the work; for several parts, F / sum of F_part / C_part."""
    if math.isnan(found.number(f"{prefix}.peak")):
        return None
    source = found.row[f"{prefix}.peak_source"]
    if source == "attributes":
        return from_attributes(found)
    if source != "report":
        return _from_elsewhere(found, prefix, source)
    if OF_DEVICE in str(found.row[f"{prefix}.recipe"]):
        return _of_device(found, prefix)
    kind = _known_as(found, prefix)
    amounts, peaks = [], []
    for part in alternative.parts:
        amount = weighted(found.view, kind, Alternative((part,), alternative.file, alternative.line))
        own = [weigh(weight, expression_of(found.view, "peak", counter)) for counter, weight in part.peak.items()]
        amounts.append(total_of(amount) if amount else Expression(0.0, "0", "0"))
        peaks.append(own[0] if own else None)
    working = [(a, p) for a, p in zip(amounts, peaks, strict=True) if a.value > 0 and p is not None]
    if len(working) < 2:
        return working[0][1] if working else peaks[0]
    whole = total_of([a for a, _ in working])
    shares = [divide(a, p) for a, p in working if p is not None]
    return divide(whole, total_of(shares))


def _of_device(found: Launch, prefix: str) -> Expression:
    """A ceiling that the percentages of this launch do not give: per cycle from another launch, times its clock."""
    value, clock = found.number(f"{prefix}.peak"), found.number(f"{prefix}.peak_clock")
    return Expression(value, OF_DEVICE, f"{text_of(value / clock)} x {text_of(clock)}")


def _from_elsewhere(found: Launch, prefix: str, source: str) -> Expression:
    """A ceiling in use that the report does not have: of a user's file, or of the device table at the run's clock."""
    name = f"ceilings.{prefix.partition('.')[2]}.{source}"
    value, clock = found.number(f"{name}.value"), found.number(f"{name}.clock")
    if source == "measured" or math.isnan(clock):
        return Expression(value, f"{name}.value", text_of(value))
    run = found.number("clocks.sm")
    numbers = f"{text_of(value)} / {text_of(clock)} x {text_of(run)}"
    return Expression(value / clock * run, f"{name}.value / {name}.clock x clocks.sm", numbers)


def ceilings_beside(found: Launch, subject: str, unit: str) -> Iterator[Step]:
    """Ceilings of the report, the device table and a user's file that are not in use, each at its own clock."""
    texts = {"report": "own peak of the report", "device": f"device table, {found.row['device']}"}
    if found.measured is not None and subject in found.measured.ceilings:
        texts["measured"] = found.measured.ceilings[subject].source
    prefix = amount_prefix(subject)
    for source, text in texts.items():
        name = f"ceilings.{subject}.{source}"
        value, clock = found.number(f"{name}.value"), found.number(f"{name}.clock")
        is_in_use = source == found.row[f"{prefix}.peak_source"] and source == "report"
        if not math.isnan(value) and not is_in_use:
            yield Step(f"{name}.value", value, f"{unit}/s", text, text_of(value), source, or_none(clock))


def _known_as(found: Launch, prefix: str) -> str:
    """Whether an amount is known as a total or only as a rate."""
    amount = "bytes" if prefix.startswith("traffic.") else "count"
    return "rate" if math.isnan(found.number(f"{prefix}.{amount}")) else "total"


def from_attributes(found: Launch) -> Expression:
    """DRAM bandwidth from bus width and memory clock."""
    names = [found.metric_map.attributes[name] for name in ("memory_bus_width", "memory_clock")]
    width, clock = (float(found.view.get(name)[0]) for name in names)
    formula = f"2 x {names[0]} / 8 x {names[1]} x 1000"
    numbers = f"2 x {text_of(width)} / 8 x {text_of(clock)} x 1000"
    return Expression(2 * width / 8 * clock * 1000, formula, numbers, tuple(names))


def mix_of(found: Launch, path: str, alternative: Alternative) -> Iterator[tuple[Step, tuple[str, ...]]]:
    """The ceiling that the mix of add, mul and fma instructions sets on the pipe."""
    name = f"ceilings.{path}.mix.value"
    if math.isnan(found.number(name)):
        return
    part = alternative.parts[0]
    (weight,) = part.peak.values()
    kind = _known_as(found, f"work.{path}")
    terms = [term for counter in part.work if (term := expression_of(found.view, kind, counter)) is not None]
    slots = total_of(terms).in_brackets()
    work = f"work.{path}.{'rate' if kind == 'rate' else 'count'}"
    # The mix is that of the report's own peak, also where another ceiling is in use.
    peak = f"work.{path}.peak" if found.row[f"work.{path}.peak_source"] == "report" else f"ceilings.{path}.report.value"
    amount = found.number(work) / (1 if kind == "rate" else found.row["invocations"])
    formula = f"{peak} x {work} / ({weight} x {slots.formula})"
    numbers = f"{text_of(found.number(peak))} x {text_of(amount)} / ({weight} x {slots.numbers})"
    yield Step(name, found.number(name), f"{work_unit(path)}/s", formula, numbers, "mix"), slots.metrics


def or_none(value: float) -> float | None:
    """A number, None where it is not known."""
    return None if math.isnan(value) else value
