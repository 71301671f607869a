"""What a GPU did when: activities of an nsys SQLite export with streams, the calls that issued them, host waits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import Columns, objects
from ncu_roofline.errors import InputError
from ncu_roofline.timings.sqlite import (
    CALLS,
    GRAPHS,
    KERNELS,
    MAGIC,
    NANOSECONDS,
    PROCESS,
    gpus_of,
    graph_notes,
    no_kernels,
    opened,
    ranges_of,
    tables_of,
    version_of,
)

KERNEL: Final = "kernel"
COPY: Final = "copy"
"""A copy or fill inside of one device."""
TRANSFER: Final = "transfer"
"""A copy between a device and the host or another device."""
GRAPH: Final = "graph"
"""A CUDA graph that was traced as a whole: its kernels are in no table."""

_COPIES: Final = "CUPTI_ACTIVITY_KIND_MEMCPY"
_FILLS: Final = "CUPTI_ACTIVITY_KIND_MEMSET"
_WAITS: Final = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
_HOST_WAITS: Final = (1, 3, 4)
"""Event, stream and context (CUpti_ActivitySynchronizationType); 2 is a stream that waits, which holds up no host."""
_WITHIN_DEVICE: Final = (5, 6, 7, 8)
"""Copies of CUpti_ActivityMemcpyKind that stay on one device."""
_FIELDS: Final = ("kind", "start", "end", "device", "stream", "process", "correlation", "kernel", "mangled", "grid",
                  "block")  # fmt: skip


@dataclass(frozen=True)
class Timeline:
    """What devices did, in seconds from the first activity.

    ``activities``, by device and start: ``kind``, ``start``, ``end``, ``device``, ``stream`` (numbered over processes
    and contexts), ``kernel``, ``mangled``, ``grid``, ``block`` (None where it is no kernel), ``issued`` and
    ``returned`` of the API call behind it (NaN where it was not traced), ``nvtx``. ``waits``: ``start`` and ``end`` of
    host calls that waited for a device.
    """

    path: str
    producer: str
    activities: Columns
    waits: Columns
    notes: tuple[str, ...]
    device_names: tuple[str, ...]


def read_timeline(path: str) -> Timeline:
    """Read an SQLite export of nsys as a timeline.

    Raises:
        InputError: if it is none, or no device did anything in it.

    """
    try:
        with Path(path).open("rb") as file:
            is_export = file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error
    if not is_export:
        problem = "a timeline with streams is needed, which is an SQLite export of nsys"
        raise InputError(path, problem, "nsys export --type sqlite REPORT.nsys-rep")
    with opened(path) as database:
        return _read(path, database)


def _read(path: str, database: sqlite3.Connection) -> Timeline:
    tables = tables_of(database)
    rows = [row for found in _activities(database, tables) for row in found]
    notes = list(graph_notes(database, tables))
    if not rows:
        raise InputError(path, no_kernels(database, tables, notes), "Profile with nsys profile --trace cuda.")
    rows.sort(key=lambda row: (row[3], row[1], row[2]))
    raw = dict(zip(_FIELDS, map(list, zip(*rows, strict=True)), strict=True))
    begin = min(raw["start"])
    calls = _calls(database, tables)
    issued = [calls.get(key) for key in zip(raw["process"], raw["correlation"], strict=True)]
    ranges = ranges_of(database, tables, [(thread, start) for thread, start, _ in filter(None, issued)])
    streams = {stream: number for number, stream in enumerate(dict.fromkeys(raw["stream"]))}
    activities: Columns = {
        "start": _seconds(raw["start"], begin),
        "end": _seconds(raw["end"], begin),
        "device": np.array(raw["device"], np.int64),
        "stream": np.array([streams[stream] for stream in raw["stream"]], np.int64),
        "issued": _seconds([None if call is None else call[1] for call in issued], begin),
        "returned": _seconds([None if call is None else call[2] for call in issued], begin),
        "nvtx": objects(None if call is None else ranges.get(call[:2]) for call in issued),
        **{name: objects(raw[name]) for name in ("kind", "kernel", "mangled", "grid", "block")},
    }
    version = version_of(database, tables)
    lacking = np.isnan(activities["issued"])
    if lacking.any():
        notes.append(
            f"{lacking.sum()} of {len(lacking)} activities have no API call in the export, so that it is not known "
            "when they were issued"
        )
    return Timeline(
        path,
        f"nsys {version}".strip(),
        activities,
        _waits(database, tables, begin),
        tuple(notes),
        tuple(dict.fromkeys(str(gpu["name"]) for gpu in gpus_of(database, tables))),
    )


def _seconds(values: list[Any], begin: int) -> Any:
    return np.array([np.nan if value is None else (value - begin) / NANOSECONDS for value in values], np.float64)


def _activities(database: sqlite3.Connection, tables: Mapping[str, set[str]]) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Rows of ``_FIELDS``, times in nanoseconds; one that has not ended above its start is none."""
    for table in (KERNELS, _COPIES, _FILLS, GRAPHS):
        if table not in tables:
            continue
        known = tables[table]
        stream = f"{_or(known, 'globalPid')} || ':' || {_or(known, 'contextId')} || ':' || {_or(known, 'streamId')}"
        common = (
            f"a.start, a.end, {_or(known, 'deviceId')}, {stream}, {_or(known, 'globalPid')} / {PROCESS}, "
            f"{_or(known, 'correlationId', 'NULL')}"
        )
        ended = "a.end > a.start"
        if table == KERNELS:
            mangled = "m.value" if "mangledName" in known else "NULL"
            join = "LEFT JOIN StringIds m ON m.id = a.mangledName" if "mangledName" in known else ""
            query = (
                f"SELECT {common}, d.value, {mangled}, a.gridX, a.gridY, a.gridZ, a.blockX, a.blockY, a.blockZ "
                f"FROM {table} a LEFT JOIN StringIds d ON d.id = a.demangledName {join} WHERE {ended}"
            )
            yield ((KERNEL, *row[:8], row[8:11], row[11:14]) for row in database.execute(query))
        else:
            kind = "a.copyKind" if "copyKind" in known else "NULL"
            query = f"SELECT {common}, {kind} FROM {table} a WHERE {ended}"
            yield ((_kind_of(table, row[6]), *row[:6], None, None, None, None) for row in database.execute(query))


def _kind_of(table: str, copy_kind: int | None) -> str:
    if table == GRAPHS:
        return GRAPH
    return COPY if table == _FILLS or copy_kind in _WITHIN_DEVICE else TRANSFER


def _or(known: set[str], column: str, otherwise: str = "0") -> str:
    """A column where the version has it."""
    return f"a.{column}" if column in known else otherwise


def _calls(database: sqlite3.Connection, tables: Mapping[str, set[str]]) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Thread, start and end of the API call by process and correlation id."""
    if CALLS not in tables:
        return {}
    query = f"SELECT globalTid / {PROCESS}, correlationId, globalTid, start, end FROM {CALLS}"
    return {
        (process, correlation): (thread, start, end)
        for process, correlation, thread, start, end in database.execute(query)
    }


def _waits(database: sqlite3.Connection, tables: Mapping[str, set[str]], begin: int) -> Columns:
    rows: list[tuple[int, int]] = []
    if _WAITS in tables:
        kinds = ", ".join(map(str, _HOST_WAITS))
        rows = database.execute(
            f"SELECT start, end FROM {_WAITS} WHERE syncType IN ({kinds}) AND end > start"
        ).fetchall()
    return {
        "start": _seconds([start for start, _ in rows], begin),
        "end": _seconds([end for _, end in rows], begin),
    }
