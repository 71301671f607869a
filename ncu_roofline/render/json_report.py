"""The JSON output of an analysis (contract; schema in ``ncu_roofline/schema/analysis-1.json``).

SI base units, stable key order, null for everything unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import Columns, rows
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import CORE_TIERS, FLOP_PATHS, PATHS, TIERS, work_unit

SCHEMA: Final = "ncu-roofline/analysis/1"

_IDENTITY: Final = (
    "launch", "input", "ncu_id", "process", "kernel", "grid", "block", "stream", "context",
)  # fmt: skip


def to_json(analysis: Analysis) -> str:
    """The analysis as JSON text."""
    return json.dumps(document(analysis), indent=1, ensure_ascii=False, allow_nan=False)


def document(analysis: Analysis) -> dict[str, Any]:
    """The analysis as plain data, ready for ``json.dumps``."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "ncu-roofline", "version": VERSION},
        "inputs": [
            {
                "path": item.path,
                "sha256": item.sha256,
                "form": item.form,
                "launches": item.launches,
                "skipped_lines": item.skipped_lines,
                "conditions": asdict(item.conditions),
            }
            for item in analysis.inputs
        ],
        "launches": list(_launches(analysis.columns)),
        "groups": [
            {
                "kernel": group["kernel"],
                "launches": list(group["launches"]),
                "time": _number(group["time"]),
                "share": _number(group["share"]),
                "grid": _list(group["grid"]),
                "block": _list(group["block"]),
                "device_ordinal": _integer(group["device_ordinal"]),
                "bound": _group_bound(group),
            }
            for group in rows(analysis.groups())
        ],
        "nvtx_ranges": [
            {
                "domain": group["domain"],
                "range": group["range"],
                "input": group["input"],
                "device_ordinal": _integer(group["device_ordinal"]),
                "launches": list(group["launches"]),
                "time": _number(group["time"]),
                "share": _number(group["share"]),
                "bound": _group_bound(group),
            }
            for group in rows(analysis.ranges())
        ],
        "findings": [
            {
                "code": finding.code,
                "name": finding.name,
                "severity": finding.severity.label,
                "launches": list(finding.launches),
                "message": finding.message,
                "help": finding.help,
            }
            for finding in analysis.finding_list
        ],
        "skipped_rules": [{"code": rule.code, "needs": list(rule.needs)} for rule in analysis.skipped_rules],
    }


def _group_bound(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "by": _none(group["bound.by"]),
        "time": _number(group["bound.time"]),
        "fraction": _number(group["bound.fraction"]),
        "headroom": _number(group["bound.headroom"]),
        "complete": bool(group["bound.complete"]),
    }


def _launches(table: Columns) -> Iterator[dict[str, Any]]:
    """One object per launch; columns are turned into lists once."""
    columns = {name: table[name].tolist() for name in table}
    measures = {
        tier: [
            name.split(".")[3]
            for name in table
            if name.startswith(f"traffic.{tier}.measures.") and name.endswith(".bytes")
        ]
        for tier in TIERS
    }
    ceilings = [
        tuple(name.removeprefix("ceilings.").removesuffix(".value").rsplit(".", 1))
        for name in table
        if name.startswith("ceilings.") and name.endswith(".value")
    ]
    nested = {group: [name for name in table if name.startswith(f"{group}.")] for group in ("clocks", "utilization")}
    for row in range(len(table["launch"])):
        value = _Row(columns, row)
        identity = {name: value.any(name) for name in _IDENTITY}
        yield identity | {
            "nvtx": _ranges(value.any("nvtx")),
            "device": value.any("device"),
            "device_ordinal": value.any("device_ordinal"),
            "cc": value.any("cc"),
            "map": value.any("map"),
            "invocations": value.any("invocations"),
            "time": value.any("time"),
            "time_source": value.any("time_source"),
            "external": None,
            "clocks": _nested(value, nested["clocks"]),
            "utilization": _nested(value, nested["utilization"]),
            "work": {path: _work(value, path) for path in PATHS if value.any(f"work.{path}.extent")},
            "traffic": {
                tier: _traffic(value, tier, measures[tier]) for tier in TIERS if value.any(f"traffic.{tier}.extent")
            },
            "bound": {
                key: value.any(f"bound.{key}") for key in ("by", "pipe", "time", "fraction", "headroom", "complete")
            },
            "ceilings": [
                {
                    "of": of,
                    "value": value.any(f"ceilings.{of}.{source}.value"),
                    "source": source,
                    "clock": value.any(f"ceilings.{of}.{source}.clock"),
                }
                for of, source in ceilings
                if value.any(f"ceilings.{of}.{source}.value") is not None
            ],
            "missing": [name for name in (*CORE_TIERS, *FLOP_PATHS) if value.any(f"missing.{name}")],
        }


class _Row:
    """One row of a table of columns that are lists."""

    def __init__(self, columns: Mapping[str, list[Any]], row: int) -> None:
        self._columns = columns
        self._row = row

    def any(self, name: str) -> Any:
        """A value as JSON has it: None where it is unknown or the column is not there."""
        column = self._columns.get(name)
        return None if column is None else _none(column[self._row])


def _work(value: _Row, path: str) -> dict[str, Any]:
    prefix = f"work.{path}"
    return {
        "count": value.any(f"{prefix}.count"),
        "rate": value.any(f"{prefix}.rate"),
        "unit": work_unit(path),
        "extent": value.any(f"{prefix}.extent"),
        "useful": None,
        "peak": value.any(f"{prefix}.peak"),
        "peak_source": value.any(f"{prefix}.peak_source"),
        "peak_clock": value.any(f"{prefix}.peak_clock"),
        "external_rate": None,
        "recipe": value.any(f"{prefix}.recipe"),
    }


def _traffic(value: _Row, tier: str, measures: list[str]) -> dict[str, Any]:
    prefix = f"traffic.{tier}"
    return {
        "bytes": value.any(f"{prefix}.bytes"),
        "rate": value.any(f"{prefix}.rate"),
        "extent": value.any(f"{prefix}.extent"),
        "compulsory": None,
        "peak": value.any(f"{prefix}.peak"),
        "peak_source": value.any(f"{prefix}.peak_source"),
        "peak_clock": value.any(f"{prefix}.peak_clock"),
        "external_rate": None,
        "measure": value.any(f"{prefix}.measure"),
        "intensity": value.any(f"{prefix}.intensity"),
        "recipe": value.any(f"{prefix}.recipe"),
        "measures": {
            measure: {key: value.any(f"{prefix}.measures.{measure}.{key}") for key in ("bytes", "rate", "peak")}
            for measure in measures
            if value.any(f"{prefix}.measures.{measure}.bytes") is not None
            or value.any(f"{prefix}.measures.{measure}.rate") is not None
        },
    }


def _ranges(pairs: list[tuple[str, str]] | None) -> list[dict[str, str]] | None:
    return None if pairs is None else [{"domain": domain, "range": name} for domain, name in pairs]


def _nested(value: _Row, names: list[str]) -> dict[str, Any]:
    found = {name.partition(".")[2]: value.any(name) for name in names}
    return {name: number for name, number in found.items() if number is not None}


def _none(value: Any) -> Any:
    """None for NaN and infinity, lists for tuples, plain Python numbers."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _number(value: Any) -> float | None:
    found = _none(value)
    return None if found is None else float(found)


def _integer(value: Any) -> int | None:
    found = _none(value)
    return None if found is None else int(found)


def _list(value: Any) -> list[int] | None:
    return list(value) if isinstance(value, tuple) else None
