"""An explanation as text for people and as JSON (schema ``ncu-roofline/explanation/1``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from ncu_roofline.explain import Cell, Explained, Explanation, Step
from ncu_roofline.formats import aligned, quantity, seconds, shape
from ncu_roofline.version import VERSION

SCHEMA: Final = "ncu-roofline/explanation/1"


def to_json(explanation: Explanation) -> str:
    """The explanation as JSON text, SI base units."""
    data = asdict(explanation)
    document = {
        "schema": SCHEMA,
        "tool": {"name": "ncu-roofline", "version": VERSION},
        "input": {name: data[name] for name in ("path", "sha256", "form")},
        "map": {"id": explanation.map, "sha256": data["map_sha256"]},
        "launch": data["launch"],
        "subjects": data["subjects"],
        "findings": [
            {"code": f.code, "name": f.name, "severity": f.severity.label, "message": f.message}
            for f in explanation.findings
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def to_text(explanation: Explanation) -> str:
    """The explanation as lines of text."""
    return "\n".join(_lines(explanation))


def subject_to_text(subject: Explained) -> str:
    """One subject of an explanation as lines of text."""
    return "\n".join(_subject(subject))


def _lines(explanation: Explanation) -> Iterator[str]:
    launch = explanation.launch
    grid, block = shape(launch["grid"]), shape(launch["block"])
    line = f", line {launch['line']}" if launch["line"] is not None else ""
    yield f"launch {launch['launch']} of {explanation.path}{line}"
    yield f"  {' '.join(str(launch['kernel'] or 'kernel not named').split())}"
    yield f"  grid {grid}, block {block}, {launch['device'] or 'device not stated'}, CC {launch['cc'] or 'not stated'}"
    if launch["invocations"] != 1:
        yield f"  stands for {launch['invocations']} invocations"
    yield f"  {explanation.form}, SHA-256 {explanation.sha256}"
    yield f"  metric map {explanation.map}, from"
    for file, digest in explanation.map_sha256.items():
        yield f"  {file}, SHA-256 {digest}"
    for subject in explanation.subjects:
        yield ""
        yield from _subject(subject)
    if explanation.findings:
        yield ""
        yield "findings that name this launch"
    for finding in explanation.findings:
        yield f"  {finding.severity.label} {finding.code} {finding.name}: {finding.message}"


def _subject(subject: Explained) -> Iterator[str]:
    heading = subject.subject
    if subject.measure:
        heading += f", measure {subject.measure}"
    if subject.extent:
        heading += f": {subject.extent.replace('_', ' ')}"
    yield heading
    if subject.remark:
        yield f"  {subject.remark}"
    for step in subject.steps:
        yield from _step(step)
    if subject.map_file:
        line = f":{subject.map_line}" if subject.map_line else ""
        which = f", {subject.alternative}" if subject.alternative else ""
        yield f"  map entry: {subject.map_file}{line}{which}"
    yield from (f"    {line}" for line in aligned([_cell(cell) for cell in subject.cells]))
    if subject.collect:
        yield f"  Collect with: {subject.collect}"


def _step(step: Step) -> Iterator[str]:
    clock = f" at {quantity(step.clock, 'Hz')}" if step.clock is not None else ""
    source = f"   from {step.source}{clock}" if step.source else ""
    sign = {"at_least": ">=", "at_most": "<=", None: "="}[step.limit]
    yield f"  {step.name} {sign} {_value(step.value, step.unit)}{source}"
    if step.formula != step.name:
        yield f"    = {step.formula}"
    yield f"    = {step.numbers}"


def _value(value: float, unit: str) -> str:
    if unit == "s":
        return seconds(value)
    if unit == "1":
        return f"{value:.4g}"
    if unit == "FLOP/byte":
        return f"{value:.4g} FLOP/B"
    if unit == "1/s":
        return quantity(value, "Hz")
    return quantity(value, unit.replace("byte", "B"))


def _cell(cell: Cell) -> tuple[str, ...]:
    label = "" if cell.printed_name == cell.metric else f"({cell.section}: {cell.printed_name})"
    printed = f'"{cell.text}" {cell.unit}'.strip() + (f" / {cell.divided_by}" if cell.divided_by != 1 else "")
    value = f"{cell.value:.15g}" + (f" ± {cell.rounding:.2g}" if cell.rounding else " exactly")
    place = "stored" if cell.line is None else f"line {cell.line}"
    return (place + (f" of {cell.path}" if cell.path else ""), cell.metric, printed, value, label)
