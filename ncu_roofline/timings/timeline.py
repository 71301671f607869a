"""What a GPU did when: activities of an nsys SQLite export with streams, the calls that issued them, host waits."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import (
    Columns,
    FloatArray,
    ObjectArray,
    mapped,
    nothing,
    numbered,
    numbered_rows,
    objects,
    repeated,
)
from ncu_roofline.errors import InputError
from ncu_roofline.timings.sqlite import (
    CALLS,
    GRAPHS,
    KERNELS,
    MAGIC,
    NANOSECONDS,
    PROCESS,
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
_HOST_TO_HOST: Final = 9
_WITHIN_DEVICE: Final = (5, 6, 7, 8)
"""Copies of CUpti_ActivityMemcpyKind that stay on one device."""
_NONE: Final = -1
"""What is not there, in columns of whole numbers; times and ids are not below zero."""
_PIDS: Final = 1 << 24
"""What a process is the remainder of by this is its number on its machine."""
_AT_ONCE: Final = 1 << 16
"""Rows that are fetched together."""
_SHAPE: Final = ("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z")
_OF_CALL: Final = {"thread": "globalTid", "issued": "start", "returned": "end"}
_FIELDS: Final = (
    "start",
    "end",
    "device",
    "process",
    "context",
    "stream",
    "name",
    "mangled",
    "copy",
    *_SHAPE,
    *_OF_CALL,
)

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Timeline:
    """What devices did, in seconds from the first activity.

    ``activities``, by device and start: ``kind``, ``start``, ``end``, ``device`` (-1: not told), ``stream`` (numbered
    over processes and contexts), ``process``, ``kernel``, ``mangled``, ``grid``, ``block`` (None where it is no
    kernel), ``issued`` and ``returned`` of the API call behind it (NaN where it was not traced), ``call``, the number
    of that call, which may be behind several (-1: not traced), and ``nvtx``. ``waits``: ``start``, ``end`` and
    ``process`` of host calls that waited.
    """

    path: str
    producer: str
    activities: Columns
    waits: Columns
    notes: tuple[str, ...]
    devices: Mapping[int, str]
    """Products by the number of the device; empty: not told."""


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
    try:
        with opened(path) as database:
            return _read(path, database)
    except (ValueError, TypeError, OverflowError) as error:
        # SQLite takes any value into any column.
        problem = f"a value in it is not what it has to be: {error}"
        raise InputError(path, problem, "Export it again with nsys export.") from error


def _read(path: str, database: sqlite3.Connection) -> Timeline:
    tables = tables_of(database)
    parts = {table: _rows(database, tables, table) for table in (KERNELS, _COPIES, _FILLS, GRAPHS) if table in tables}
    notes = list(graph_notes(database, tables))
    table = np.concatenate([*parts.values(), np.zeros((0, len(_FIELDS)), np.int64)])
    if not len(table):
        raise InputError(path, no_kernels(database, tables, notes), "Profile with nsys profile --trace cuda.")
    kinds = np.concatenate([_kinds(name, part) for name, part in parts.items()])
    raw = dict(zip(_FIELDS, table.T, strict=True))
    raw["device"], devices = _devices(database, tables, raw["device"], raw["process"])
    order = np.lexsort((raw["end"], raw["start"], raw["device"]))
    raw = {field: column[order] for field, column in raw.items()}
    begin = int(raw["start"].min())
    calls = list(zip(raw["thread"].tolist(), raw["issued"].tolist(), strict=True))
    ranges = ranges_of(database, tables, set(calls)) if (raw["thread"] != _NONE).any() else {}
    has_names = (raw["name"] != _NONE) | (raw["mangled"] != _NONE)
    texts = dict(database.execute("SELECT id, value FROM StringIds")) if has_names.any() else {}
    streams, _ = numbered_rows([raw[name] for name in ("process", "context", "stream")])
    activities: Columns = {
        "kind": kinds[order],
        "start": _seconds(raw["start"], begin),
        "end": _seconds(raw["end"], begin),
        "device": raw["device"],
        "stream": streams,
        "process": raw["process"],
        "kernel": mapped(texts.get, raw["name"].tolist()),
        "mangled": mapped(texts.get, raw["mangled"].tolist()),
        "grid": _shapes(raw, "grid"),
        "block": _shapes(raw, "block"),
        "issued": _seconds(raw["issued"], begin),
        "returned": _seconds(raw["returned"], begin),
        "call": np.where(raw["issued"] == _NONE, _NONE, numbered(calls)[0]),
        "nvtx": objects(map(ranges.get, calls)) if ranges else nothing(len(table)),
    }
    lacking = int((raw["issued"] == _NONE).sum())
    if lacking:
        notes.append(
            f"{lacking} of {len(table)} activities have no API call in the export, so that it is not known when they "
            "were issued"
        )
    return Timeline(
        path,
        f"nsys {version_of(database, tables)}".strip(),
        activities,
        _waits(database, tables, begin),
        tuple(notes),
        devices,
    )


def _rows(database: sqlite3.Connection, tables: Mapping[str, set[str]], table: str) -> Numbers:
    """Columns ``_FIELDS`` of a table, with the call behind each row; one that does not end above its start is none."""
    known = tables[table]
    shape = [f"{axis}{way}" for axis in ("grid", "block") for way in "XYZ"]
    found = {
        "device": "deviceId", "process": f"globalPid / {PROCESS}", "context": "contextId", "stream": "streamId",
        "name": "demangledName", "mangled": "mangledName", "copy": "copyKind",
    } | dict(zip(_SHAPE, shape, strict=True))  # fmt: skip
    columns = {field: _or(known, column) for field, column in found.items()}
    columns |= {"start": "a.start", "end": "a.end", "thread": str(_NONE), "issued": str(_NONE), "returned": str(_NONE)}
    join = ""
    if CALLS in tables and {"globalPid", "correlationId"} <= known:
        # Correlation ids come again in other processes.
        # Of calls with one id the first is the outer one.
        calls = (
            f"SELECT globalTid / {PROCESS} AS process, correlationId, globalTid, min(start) AS start, end FROM {CALLS}"
        )
        join = (
            f"LEFT JOIN ({calls} GROUP BY 1, 2) c ON c.correlationId = a.correlationId "
            f"AND c.process = a.globalPid / {PROCESS}"
        )
        columns |= {field: f"coalesce(c.{column}, {_NONE})" for field, column in _OF_CALL.items()}
    # A copy from host to host is no activity of a device.
    which = f"AND a.copyKind != {_HOST_TO_HOST}" if "copyKind" in known else ""
    fields = ", ".join(columns[field] for field in _FIELDS)
    query = f"SELECT {fields} FROM {table} a {join} WHERE a.end > a.start {which}"
    cursor = database.execute(query)
    parts = [np.zeros((0, len(_FIELDS)), np.int64)]
    while rows := cursor.fetchmany(_AT_ONCE):
        parts.append(np.array(rows, np.int64))
    return np.concatenate(parts)


def _or(known: set[str], expression: str) -> str:
    """A column where the version has it, which may be divided by a number; else, and where it is null, ``_NONE``."""
    column, slash, divisor = expression.partition(" / ")
    return f"coalesce(a.{column}{slash}{divisor}, {_NONE})" if column in known else str(_NONE)


def _kinds(table: str, rows: Numbers) -> ObjectArray:
    if table in (KERNELS, GRAPHS):
        return repeated(KERNEL if table == KERNELS else GRAPH, len(rows))
    stays = np.isin(rows[:, _FIELDS.index("copy")], _WITHIN_DEVICE) | (table == _FILLS)
    kinds = repeated(TRANSFER, len(rows))
    kinds[stays] = COPY
    return kinds


def _seconds(nanoseconds: Numbers, begin: int) -> FloatArray:
    """Seconds from the first activity; not known where there is no number."""
    return np.where(nanoseconds == _NONE, np.nan, (nanoseconds - begin) / NANOSECONDS)


def _shapes(raw: Mapping[str, Numbers], name: str) -> ObjectArray:
    """Grids or blocks as tuples, None where there are none."""
    codes, distinct = numbered_rows([raw[f"{name}.{way}"] for way in "xyz"])
    return objects(None if _NONE in shape else shape for shape in distinct)[codes]


def _waits(database: sqlite3.Connection, tables: Mapping[str, set[str]], begin: int) -> Columns:
    """Calls in which the host waited, by their names: exports number the types of waits in different ways."""
    rows: list[tuple[int, ...]] = []
    if {"start", "end", "nameId", "globalTid"} <= tables.get(CALLS, set()):
        query = (
            f"SELECT c.start, c.end, c.globalTid / {PROCESS} FROM {CALLS} c JOIN StringIds n ON n.id = c.nameId "
            "WHERE n.value LIKE '%Synchronize%' AND c.end > c.start"
        )
        rows = database.execute(query).fetchall()
    table = np.array(rows, np.int64).reshape(-1, 3)
    return {"start": _seconds(table[:, 0], begin), "end": _seconds(table[:, 1], begin), "process": table[:, 2]}


def _devices(
    database: sqlite3.Connection, tables: Mapping[str, set[str]], numbers: Numbers, processes: Numbers
) -> tuple[Numbers, dict[int, str]]:
    """The device of each activity, and names of devices by these numbers.

    Processes may number them differently. Where one number means several, the numbers of the machine stand for them.
    """
    known = tables.get("TARGET_INFO_GPU", set())
    if not {"id", "name"} <= known:
        return numbers, {}
    names = {int(gpu): str(name) for gpu, name in database.execute("SELECT id, name FROM TARGET_INFO_GPU") if name}
    if not {"gpuId", "cudaId", "pid"} <= tables.get("TARGET_INFO_CUDA_DEVICE", set()):
        number = "coalesce(cuDevice, id)" if "cuDevice" in known else "id"
        of_number = database.execute(f"SELECT {number}, id FROM TARGET_INFO_GPU")
        return numbers, {int(n): names[gpu] for n, gpu in of_number if gpu in names}
    rows = database.execute("SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE").fetchall()
    of_process = {(pid, device): gpu for pid, device, gpu in rows}
    by_number: dict[int, set[int]] = {}
    for _, device, gpu in rows:
        by_number.setdefault(device, set()).add(gpu)
    if all(len(gpus) == 1 for gpus in by_number.values()):
        return numbers, {device: names[gpu] for device, (gpu,) in by_number.items() if gpu in names}
    pairs = zip((processes % _PIDS).tolist(), numbers.tolist(), strict=True)
    return np.array([of_process.get(pair, _NONE) for pair in pairs], np.int64), names
