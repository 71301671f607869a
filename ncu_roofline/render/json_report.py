"""The JSON output of an analysis (contract; schema in ``ncu_roofline/schema/analysis-1.json``).

SI base units, stable key order, null for everything unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import Columns, rows
from ncu_roofline.render.plain import plain
from ncu_roofline.version import VERSION
from ncu_roofline.vocabulary import CORE_TIERS, FLOP_PATHS, PATHS, TIERS, amount_prefix, work_unit

SCHEMA: Final = "ncu-roofline/analysis/1"

_IDENTITY: Final = (
    "launch", "input", "kind", "ncu_id", "process", "kernel", "grid", "block", "stream", "context", "nvtx", "device",
    "device_ordinal", "cc", "map", "invocations", "time", "time_source",
)  # fmt: skip
_WORK: Final = (
    "count", "rate", "unit", "extent", "useful", "peak", "peak_source", "peak_clock", "external_rate", "recipe",
)  # fmt: skip
_LEDGER: Final = ("unit", "work", "read", "written", "executed", "complete", "rate", "padding", "traffic")
_TRAFFIC: Final = (
    "bytes", "rate", "extent", "compulsory", "peak", "peak_source", "peak_clock", "external_rate", "measure",
    "intensity", "recipe", "measures",
)  # fmt: skip
"""Keys in their order; those that have no column are not known."""
_CEILING: Final = re.compile(r"ceilings\..+\.value")


def _stands_beside(lists: Mapping[str, list[Any]], of: str, source: str, row: int) -> bool:
    """Whether a ceiling is listed: none that is in use, and one of the device table only where the report has none."""
    if source not in ("report", "device", "measured"):
        return True
    prefix = amount_prefix(of)
    sources, extents = lists.get(f"{prefix}.peak_source"), lists.get(f"{prefix}.extent")
    in_use = None if sources is None else sources[row]
    if source != "device":
        return in_use != source
    # The published peak of a path is of another clock than that in use; a bandwidth is not.
    is_known = extents is not None and extents[row] is not None
    return is_known and (in_use is None or (in_use == source and of not in TIERS))


def to_json(analysis: Analysis) -> str:
    """The analysis as JSON text, one line per launch."""
    parts = []
    for key, value in document(analysis).items():
        lines = [_dumps(item) for item in value] if isinstance(value, list) else []
        text = "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else _dumps(value)
        parts.append(f' "{key}": {text}')
    return "{\n" + ",\n".join(parts) + "\n}"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


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
        "launches": _launches(analysis.columns),
        "groups": [
            {
                "kind": group["kind"],
                "kernel": group["kernel"],
                "launches": list(group["launches"]),
                "time": _number(group["time"]),
                "share": _number(group["share"]),
                "grid": _list(group["grid"]),
                "block": _list(group["block"]),
                "device_ordinal": _integer(group.get("device_ordinal")),
                "bound": _group_bound(group),
                **_ranks(group),
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


def _ranks(group: Mapping[str, Any]) -> dict[str, Any]:
    """Of launches that were taken together over ranks: how many, and the fastest and slowest."""
    if "ranks" not in group:
        return {}
    ends = {
        name: {
            "input": group[f"rank.{name}"][0],
            "device_ordinal": _integer(group[f"rank.{name}"][1]),
            "time": _number(group[f"rank.{name}.time"]),
        }
        for name in ("fastest", "slowest")
    }
    return {"ranks": {"count": group["ranks"], **ends}}


def _group_bound(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "by": plain(group["bound.by"]),
        "time": _number(group["bound.time"]),
        "fraction": _number(group["bound.fraction"]),
        "headroom": _number(group["bound.headroom"]),
        "complete": bool(group["bound.complete"]),
    }


def _launches(table: Columns) -> list[dict[str, Any]]:
    """One object per launch; every entry is made for all launches at once."""
    size = len(table["launch"])
    lists = {name: _list_of(column) for name, column in table.items()}
    unknown = [None] * size

    def entries(keys: Mapping[str, str]) -> list[dict[str, Any]]:
        """An object per launch from keys and their columns."""
        return [
            dict(zip(keys, row, strict=True))
            for row in zip(*(lists.get(c, unknown) for c in keys.values()), strict=True)
        ]

    def named(names: Mapping[str, tuple[list[dict[str, Any]], str]]) -> list[dict[str, Any]]:
        """Per launch the entries, by name, whose deciding column is known."""
        known = [(name, made, lists[column]) for name, (made, column) in names.items()]
        return [{name: made[row] for name, made, deciding in known if deciding[row] is not None} for row in range(size)]

    work = {
        path: (_with(entries(_keys(f"work.{path}", _WORK)), {"unit": work_unit(path)}), f"work.{path}.extent")
        for path in PATHS
        if f"work.{path}.extent" in table
    }
    traffic = {
        tier: (
            _with_measures(entries(_keys(f"traffic.{tier}", _TRAFFIC)), table, lists, tier),
            f"traffic.{tier}.extent",
        )
        for tier in TIERS
        if f"traffic.{tier}.extent" in table
    }
    ceilings = [name.split(".", 1)[1].rsplit(".", 2)[:2] for name in table if _CEILING.fullmatch(name)]
    roofs = [
        (of, source, lists[f"ceilings.{of}.{source}.value"], lists[f"ceilings.{of}.{source}.clock"])
        for of, source in ceilings
    ]
    missing = [(name, lists.get(f"missing.{name}", unknown)) for name in (*CORE_TIERS, *FLOP_PATHS)]
    parts: dict[str, list[Any]] = {
        "external": _external(table),
        "clocks": _known_numbers(lists, "clocks", size),
        "utilization": _known_numbers(lists, "utilization", size),
        "utilization_active": _known_numbers(lists, "utilization_active", size),
        "work": named(work),
        "traffic": named(traffic),
        "bound": entries(_keys("bound", ("by", "pipe", "time", "fraction", "headroom", "complete"))),
        "ceilings": [
            [
                {"of": of, "value": values[row], "source": source, "clock": clocks[row]}
                for of, source, values, clocks in roofs
                if values[row] is not None and _stands_beside(lists, of, source, row)
            ]
            for row in range(size)
        ],
        "missing": [[name for name, gone in missing if gone[row]] for row in range(size)],
    }
    if "ledger" in table:
        ledgers = entries({"title": "ledger"} | _keys("ledger", _LEDGER))
        parts["ledger"] = [None if entry["title"] is None else entry for entry in ledgers]
    identity = entries({name: name for name in _IDENTITY})
    for row, launch in enumerate(identity):
        launch["nvtx"] = _ranges(table["nvtx"][row])
        launch |= {name: part[row] for name, part in parts.items()}
    return identity


def _keys(prefix: str, names: Sequence[str]) -> dict[str, str]:
    return {name: f"{prefix}.{name}" for name in names}


def _external(table: Columns) -> list[dict[str, Any] | None]:
    """Time from elsewhere of each launch, with its source and how it was found."""
    if "external.time" not in table:
        return [None] * len(table["launch"])
    names = ("time", "source", "match", "samples", "statistic", "kernel", "cache_control", "clock_control")
    columns = rows({name: table[f"external.{name}"] for name in names})
    return [
        None
        if np.isnan(row["time"])
        else {
            "time": row["time"],
            "source": row["source"],
            "match": row["match"],
            "conditions": {name: row[name] for name in ("cache_control", "clock_control")},
            **{name: row[name] for name in ("samples", "statistic", "kernel")},
        }
        for row in columns
    ]


def _with(entries: list[dict[str, Any]], constant: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Entries in which some keys have one value everywhere, at the place that they have."""
    for entry in entries:
        entry |= constant
    return entries


def _with_measures(
    entries: list[dict[str, Any]], table: Columns, lists: Mapping[str, list[Any]], tier: str
) -> list[dict[str, Any]]:
    """Entries of a tier with what each of its measures says, where it says something."""
    prefix = f"traffic.{tier}.measures."
    names = [name.split(".")[3] for name in table if name.startswith(prefix) and name.endswith(".bytes")]
    columns = [
        (name, lists[f"{prefix}{name}.bytes"], lists[f"{prefix}{name}.rate"], lists[f"{prefix}{name}.peak"])
        for name in names
    ]
    for row, entry in enumerate(entries):
        entry["measures"] = {
            name: {"bytes": amounts[row], "rate": rates[row], "peak": peaks[row]}
            for name, amounts, rates, peaks in columns
            if amounts[row] is not None or rates[row] is not None
        }
    return entries


def _known_numbers(lists: Mapping[str, list[Any]], group: str, size: int) -> list[dict[str, Any]]:
    columns: list[tuple[str, list[Any]]] = [
        (name.partition(".")[2], values) for name, values in lists.items() if name.startswith(f"{group}.")
    ]
    return [{name: values[row] for name, values in columns if values[row] is not None} for row in range(size)]


def _list_of(column: npt.NDArray[Any]) -> list[Any]:
    """A column as JSON has it: None for everything that is not known or not finite."""
    if column.dtype.kind == "f":
        known = np.isfinite(column).tolist()
        return [value if is_known else None for value, is_known in zip(column.tolist(), known, strict=True)]
    return [list(value) if isinstance(value, tuple) else value for value in column.tolist()]


def _ranges(pairs: list[tuple[str, str]] | None) -> list[dict[str, str]] | None:
    return None if pairs is None else [{"domain": domain, "range": name} for domain, name in pairs]


def _number(value: Any) -> float | None:
    found = plain(value)
    return None if found is None else float(found)


def _integer(value: Any) -> int | None:
    found = plain(value)
    return None if found is None else int(found)


def _list(value: Any) -> list[int] | None:
    return list(value) if isinstance(value, tuple) else None
