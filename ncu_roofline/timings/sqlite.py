"""SQLite exports of nsys, every schema from 2021 on: kernels, devices, and graphs whose kernels are hidden."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import IN_APPLICATION, Rows, Timings

MAGIC: Final = b"SQLite format 3\0"

_KERNELS: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
_CALLS: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
_GRAPHS: Final = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_METADATA: Final = ("META_DATA_EXPORT", "EXPORT_META_DATA")
_NANOSECONDS: Final = 1e9


def read_sqlite(path: str) -> Timings:
    """Read the kernels of an export, in the order of devices and of their start.

    Raises:
        InputError: if it has none, or is damaged.

    """
    uri = f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            return _read(path, database)
    except sqlite3.Error as error:
        raise InputError(
            path, f"the SQLite file cannot be read: {error}", "Export it again with nsys export."
        ) from error


def _read(path: str, database: sqlite3.Connection) -> Timings:
    tables = {name: _columns(database, name) for (name,) in database.execute("SELECT name FROM sqlite_master")}
    notes = list(_graph_notes(database, tables))
    if _KERNELS not in tables:
        raise InputError(path, _no_kernels(database, tables, notes), "Profile with nsys profile --trace cuda.")
    columns = tables[_KERNELS]
    mangled = "k.mangledName" if "mangledName" in columns else "NULL"
    rows = Rows()
    query = (
        "SELECT k.deviceId, k.end - k.start, d.value, m.value, "
        "k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ "
        f"FROM {_KERNELS} k LEFT JOIN StringIds d ON d.id = k.demangledName LEFT JOIN StringIds m ON m.id = {mangled} "
        "ORDER BY k.deviceId, k.start"
    )
    for device, duration, name, mangled_name, *shape in database.execute(query):
        rows.add(
            duration / _NANOSECONDS, kernel=name, mangled=mangled_name, grid=tuple(shape[:3]), block=tuple(shape[3:]),
            device=device,
        )  # fmt: skip
    if not len(rows):
        raise InputError(path, _no_kernels(database, tables, notes), "Profile with nsys profile --trace cuda.")
    notes += dict.fromkeys(_device_notes(database, tables))
    version = _version(database, tables)
    return rows.timings(path, f"nsys {version}" if version else "nsys", IN_APPLICATION, notes)


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    return {column[1] for column in database.execute(f'PRAGMA table_info("{table}")')}


def _no_kernels(database: sqlite3.Connection, tables: dict[str, set[str]], notes: list[str]) -> str:
    if notes:
        return f"the export has no kernels of their own; {'; '.join(notes)}"
    calls = _count(database, _CALLS) if _CALLS in tables else 0
    more = f", only {calls} API calls, whose times the CPU spends" if calls else ""
    is_nsys = "StringIds" in tables
    return f"the export has no kernels{more}" if is_nsys else "this SQLite file is no export of nsys"


def _count(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _graph_notes(database: sqlite3.Connection, tables: dict[str, set[str]]) -> Iterator[str]:
    if _GRAPHS in tables:
        count, busy = database.execute(f"SELECT count(*), sum(end - start) FROM {_GRAPHS}").fetchone()
        if count:
            yield (
                f"{count} launches of CUDA graphs took {busy / _NANOSECONDS:.4g} s, and their kernels are in no table: "
                "trace with --cuda-graph-trace=node"
            )


def _device_notes(database: sqlite3.Connection, tables: dict[str, set[str]]) -> Iterator[str]:
    if "TARGET_INFO_GPU" in tables:
        wanted = [name for name in ("name", "clockRate", "memoryBandwidth") if name in tables["TARGET_INFO_GPU"]]
        for row in database.execute(f"SELECT {', '.join(wanted)} FROM TARGET_INFO_GPU"):
            found: dict[str, Any] = dict(zip(wanted, row, strict=True))
            # Other graphics adapters of the machine have no memory bandwidth.
            if found.get("memoryBandwidth", 1):
                clock = f", at most {found['clockRate'] / 1e9:.4g} GHz" if found.get("clockRate") else ""
                bandwidth = f", {found['memoryBandwidth'] / 1e9:.4g} GB/s" if found.get("memoryBandwidth") else ""
                yield f"on {found.get('name')}{clock}{bandwidth}"
    devices = [str(row[0]) for row in database.execute(f"SELECT DISTINCT deviceId FROM {_KERNELS} ORDER BY deviceId")]
    if len(devices) > 1:
        yield f"kernels of {len(devices)} devices: {', '.join(devices)}"


def _version(database: sqlite3.Connection, tables: dict[str, set[str]]) -> str:
    for table in _METADATA:
        if table in tables:
            found = database.execute(f"SELECT value FROM {table} WHERE name = 'EXPORT_PRODUCT_VERSION'").fetchone()
            if found:
                return str(found[0])
    return ""
