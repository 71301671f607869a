"""Ledgers and their bounds as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ncu_roofline.formats import aligned, number, quantity, seconds
from ncu_roofline.ledger import Case, Kind, Stage, StagesBound
from ncu_roofline.machine import Machine
from ncu_roofline.render.markdown_syntax import escaped, table_row
from ncu_roofline.render.plain import plain
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import work_unit

SCHEMA: Final = "ncu-roofline/model/1"
_DIGITS: Final = 5
_BYTES: Final = "_bytes"
_FIXED: Final = ("work", "bytes", "intensity", "arithmetic", "memory", "at least", "bound by", "rate there")


@dataclass(frozen=True)
class Crossing:
    """The value of a parameter at which arithmetic and memory take equally long, with the other swept values there."""

    parameter: str
    others: Mapping[str, Any]
    value: float


@dataclass(frozen=True)
class Modelled:
    """Cases of one kind on a machine, and where their bound changes sides."""

    name: str
    kind: Kind
    given: Mapping[str, Any]
    cases: Sequence[Case]
    machine: Machine
    nominal: Machine | None
    """The device table alone, where measured ceilings are in use."""
    crossings: Sequence[Crossing]


@dataclass(frozen=True)
class Staged:
    """Stages of a job on a machine: a case for each, and the bounds of all."""

    stages: Sequence[Stage]
    cases: Sequence[Case]
    bound: StagesBound
    machine: Machine


def model_table(found: Modelled) -> str:
    """Formula, assumptions and machine, then a row for each case."""
    details = _details(found.cases)
    cells = [_titles(found.cases), *(_cells(case, details) for case in found.cases)]
    return "\n".join([*_head(found), "", *aligned(cells), *_crossings(found)])


def model_markdown(found: Modelled) -> str:
    """The same as Markdown."""
    titles = _titles(found.cases)
    lines = [f"### {found.name}", "", *(f"- {escaped(line.strip())}" for line in _head(found)), ""]
    lines += [table_row(titles), table_row(["--:"] * len(titles))]
    details = _details(found.cases)
    lines += [table_row([escaped(cell) for cell in _cells(case, details)]) for case in found.cases]
    return "\n".join([*lines, "", *_crossings(found)]).rstrip() + "\n"


def model_csv(found: Modelled) -> str:
    """A row for each case in SI base units; unknown is empty."""
    return _csv([_flat(case) for case in found.cases])


def model_json(found: Modelled) -> str:
    """One object; numbers are not rounded, null is unknown."""
    return _text(
        {
            "schema": SCHEMA,
            "tool": _tool(),
            "kind": found.name,
            "formula": found.kind.formula,
            "assumes": list(found.kind.assumes),
            "given": dict(found.given),
            "machine": _machine(found.machine),
            "cases": [_entry(case) for case in found.cases],
            "crossings": [
                {"parameter": one.parameter, "others": dict(one.others), "value": one.value} for one in found.crossings
            ],
        }
    )


def stages_table(found: Staged) -> str:
    """A row for each stage, and both bounds of the job."""
    titles = ["stage", "times", *_FIXED]
    rows = [
        [stage.name or case.ledger.title, number(stage.count), *_cells(case, ())]
        for stage, case in zip(found.stages, found.cases, strict=True)
    ]
    return "\n".join([*_of_machine(found.machine, found.cases), "", *aligned([titles, *rows]), "", *_both(found.bound)])


def stages_markdown(found: Staged) -> str:
    """The same as Markdown."""
    titles = ["stage", "times", *_FIXED]
    lines = [*(f"- {escaped(line.strip())}" for line in _of_machine(found.machine, found.cases)), ""]
    lines += [table_row(titles), table_row([":--", *["--:"] * (len(titles) - 1)])]
    for stage, case in zip(found.stages, found.cases, strict=True):
        cells = [stage.name or case.ledger.title, number(stage.count), *_cells(case, ())]
        lines.append(table_row([escaped(cell) for cell in cells]))
    return "\n".join([*lines, "", *_both(found.bound)]) + "\n"


def stages_csv(found: Staged) -> str:
    """A row for each stage in SI base units; the bounds of the job are in the other formats."""
    return _csv(
        [
            {"stage": stage.name or case.ledger.title, "count": stage.count, **_flat(case)}
            for stage, case in zip(found.stages, found.cases, strict=True)
        ]
    )


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def stages_json(found: Staged) -> str:
    """One object; numbers are not rounded, null is unknown."""
    stages = [
        {"name": stage.name or case.ledger.title, "count": stage.count, **_entry(case)}
        for stage, case in zip(found.stages, found.cases, strict=True)
    ]
    bound = {
        "serial": found.bound.serial, "aggregate": found.bound.aggregate,
        "aggregate_by": found.bound.by, "complete": found.bound.complete,
    }  # fmt: skip
    return _text(
        {"schema": SCHEMA, "tool": _tool(), "machine": _machine(found.machine), "stages": stages, "bound": bound}
    )


def _both(bound: StagesBound) -> list[str]:
    by = f" ({bound.by} busy all the time)" if bound.by else ""
    sign = "" if bound.complete else ">="
    lines = [
        f"Serial bound (stages one after the other): {sign}{seconds(bound.serial, _DIGITS)}",
        f"Aggregate bound (looser: as if all stages overlapped): {sign}{seconds(bound.aggregate, _DIGITS)}{by}",
    ]
    return lines if bound.complete else [*lines, "Arithmetic or memory of some stage is not known, and is left out."]


def _head(found: Modelled) -> list[str]:
    given = ", ".join(f"{name} {value}" for name, value in found.given.items())
    title = found.cases[0].ledger.title if len(found.cases) == 1 else f"{found.name}{f' with {given}' if given else ''}"
    lines = [title, f"  {found.kind.formula}"]
    lines += [f"  assumes: {one}" for one in found.kind.assumes]
    lines += _of_machine(found.machine, found.cases)
    if found.nominal is not None:
        lines += [f"  by the device table alone: {line.strip()}" for line in _ridges(found.nominal, found.cases)]
    return lines


def _of_machine(machine: Machine, cases: Sequence[Case]) -> list[str]:
    bandwidth = machine.bandwidth
    memory = (
        f"DRAM {quantity(bandwidth.value, 'B/s')} ({bandwidth.source})"
        if bandwidth
        else "no bandwidth of DRAM is known"
    )
    return [f"  on {machine.name}: {memory}", *_ridges(machine, cases)]


def _ridges(machine: Machine, cases: Sequence[Case]) -> list[str]:
    """Peak and ridge of every path in use."""
    lines = {}
    for case in cases:
        if math.isnan(case.ledger.work):
            continue
        path, peak = machine.peak(case.ledger.paths)
        if peak is None:
            known = " or ".join(case.ledger.paths) or "it"
            lines[known] = f"  no peak of {known} is known there: arithmetic is left out of the bound"
            continue
        unit = work_unit(str(path))
        bandwidth = machine.bandwidth
        ridge = f", ridge {number(peak.value / bandwidth.value)} {unit}/byte" if bandwidth else ""
        lines[str(path)] = f"  {path} {quantity(peak.value, f'{unit}/s')} ({peak.source}){ridge}"
    return list(lines.values())


def _details(cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for case in cases for name in case.ledger.details))


def _titles(cases: Sequence[Case]) -> list[str]:
    names = [name.removesuffix(_BYTES).replace("_", " ") for name in _details(cases)]
    return [*cases[0].swept, *_FIXED, *names]


def _cells(case: Case, details: Sequence[str]) -> list[str]:
    ledger, bound = case.ledger, case.bound
    further = (ledger.details.get(name, math.nan) for name in details)
    return [
        *map(str, case.swept.values()),
        quantity(ledger.work, ledger.unit, _DIGITS),
        quantity(ledger.compulsory, "B", _DIGITS),
        number(ledger.intensity, 6),
        seconds(bound.compute, _DIGITS),
        seconds(bound.memory, _DIGITS),
        seconds(bound.time, _DIGITS),
        bound.by or "-",
        quantity(case.rate, f"{ledger.unit}/s", _DIGITS),
        *(quantity(value, "B", _DIGITS) if name.endswith(_BYTES) else number(value, _DIGITS)
          for name, value in zip(details, further, strict=True)),
    ]  # fmt: skip


def _crossings(found: Modelled) -> list[str]:
    lines = []
    for one in found.crossings:
        where = f"at {one.parameter} = {number(one.value)}"
        if math.isnan(one.value):
            is_known = found.machine.bandwidth is not None and all(case.bound.complete for case in found.cases)
            where = (
                f"at no {one.parameter}" if is_known else f"at a {one.parameter} that is not known, as one side is not"
            )
        others = ", ".join(f"{name} {value}" for name, value in one.others.items())
        lines.append(f"Arithmetic and memory take equally long {where}{f' ({others})' if others else ''}.")
    return ["", *lines] if lines else []


def _entry(case: Case) -> dict[str, Any]:
    """A case as nested values."""
    ledger, bound = case.ledger, case.bound
    return {
        "swept": dict(case.swept),
        "title": ledger.title,
        "work": ledger.work, "unit": ledger.unit,
        "read": ledger.read, "written": ledger.written, "bytes": ledger.compulsory,
        "intensity": ledger.intensity,
        "bound": {
            "by": bound.by, "path": bound.path, "compute_time": bound.compute,
            "memory_time": bound.memory, "time": bound.time, "complete": bound.complete,
            "ridge": bound.ridge, "rate": case.rate,
        },
        "details": dict(ledger.details),
    }  # fmt: skip


def _flat(case: Case) -> dict[str, Any]:
    """A case as one row; names of nested values are joined by dots."""
    row: dict[str, Any] = {}
    for name, value in _entry(case).items():
        if not isinstance(value, dict):
            row[name] = value
            continue
        row |= {f"{name}.{key}": inner for key, inner in value.items()}
    return row


def _machine(machine: Machine) -> dict[str, Any]:
    peaks = {"any": machine.any_peak} if machine.any_peak else machine.peaks
    roofs = {**peaks, **({"dram": machine.bandwidth} if machine.bandwidth else {})}
    return {
        "name": machine.name,
        "ceilings": [{"of": name, "value": roof.value, "source": roof.source} for name, roof in roofs.items()],
    }


def _tool() -> dict[str, str]:
    return {"name": "ncu-roofline", "version": VERSION}


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(plain(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
