"""SQLite exports of nsys, every schema from 2021 on: kernels, devices, and graphs whose kernels are hidden."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import IN_APPLICATION, Rows, Timings

MAGIC: Final = b"SQLite format 3\0"

KERNELS: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
CALLS: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
GRAPHS: Final = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_METADATA: Final = ("META_DATA_EXPORT", "EXPORT_META_DATA")
_EVENTS: Final = "NVTX_EVENTS"
_RANGE_EVENTS: Final = "(59, 60)"
"""Pushed and started ranges."""
_DOMAIN_CREATED: Final = 75
PROCESS: Final = 0x1000000
"""What a global thread or process id has to be divided by for the process alone."""
NANOSECONDS: Final = 1e9


def read_sqlite(path: str) -> Timings:
    """Read the kernels of an export, in the order of devices and of their start.

    Raises:
        InputError: if it has none, or is damaged.

    """
    with opened(path) as database:
        return _read(path, database)


@contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """The database of an export, only read.

    Raises:
        InputError: if it is damaged, also while it is read.

    """
    uri = f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            yield database
    except sqlite3.Error as error:
        raise InputError(
            path, f"the SQLite file cannot be read: {error}", "Export it again with nsys export."
        ) from error


def tables_of(database: sqlite3.Connection) -> dict[str, set[str]]:
    """Tables with the names of their columns, which differ by version."""
    return {name: columns_of(database, name) for (name,) in database.execute("SELECT name FROM sqlite_master")}


def _read(path: str, database: sqlite3.Connection) -> Timings:
    tables = tables_of(database)
    notes = list(graph_notes(database, tables))
    if KERNELS not in tables:
        raise InputError(path, no_kernels(database, tables, notes), "Profile with nsys profile --trace cuda.")
    columns = tables[KERNELS]
    mangled = "k.mangledName" if "mangledName" in columns else "NULL"
    rows = Rows()
    calls = _calls(database, tables, columns)
    ranges = ranges_of(database, tables, calls.values())
    process = "k.globalPid" if "globalPid" in columns else "0"
    correlated = "k.correlationId" if "correlationId" in columns else "NULL"
    query = (
        "SELECT k.deviceId, k.end - k.start, d.value, m.value, "
        f"k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, {process} / {PROCESS}, {correlated} "
        f"FROM {KERNELS} k LEFT JOIN StringIds d ON d.id = k.demangledName LEFT JOIN StringIds m ON m.id = {mangled} "
        "ORDER BY k.deviceId, k.start"
    )
    for device, duration, name, mangled_name, *shape, process_id, correlation in database.execute(query):
        rows.add(
            duration / NANOSECONDS, kernel=name, mangled=mangled_name, grid=tuple(shape[:3]), block=tuple(shape[3:]),
            device=device, nvtx=ranges.get(calls.get((process_id, correlation))),
        )  # fmt: skip
    if not len(rows):
        raise InputError(path, no_kernels(database, tables, notes), "Profile with nsys profile --trace cuda.")
    notes += dict.fromkeys(_device_notes(database, tables))
    version = version_of(database, tables)
    producer = f"nsys {version}" if version else "nsys"
    return rows.timings(
        path, producer, IN_APPLICATION, notes, (str(gpu.get("name")) for gpu in _gpus(database, tables))
    )


def _calls(
    database: sqlite3.Connection, tables: Mapping[str, set[str]], kernel: set[str]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Thread and start of the API call of each launch, by process and correlation id: ids repeat in other processes."""
    if CALLS not in tables or not {"globalPid", "correlationId"} <= kernel:
        return {}
    query = f"SELECT globalTid / {PROCESS}, correlationId, globalTid, start FROM {CALLS}"
    return {(process, correlation): (thread, start) for process, correlation, thread, start in database.execute(query)}


def ranges_of(
    database: sqlite3.Connection, tables: Mapping[str, set[str]], calls: Iterable[tuple[int, int]]
) -> dict[tuple[int, int] | None, tuple[tuple[str, str], ...]]:
    """NVTX ranges around each call on its thread, as (domain, range) pairs, the outermost first."""
    if _EVENTS not in tables:
        return {}
    text = "coalesce(e.text, s.value)" if "textId" in tables[_EVENTS] else "e.text"
    names = "LEFT JOIN StringIds s ON s.id = e.textId" if "textId" in tables[_EVENTS] else ""
    domains = dict(
        database.execute(f"SELECT e.domainId, {text} FROM {_EVENTS} e {names} WHERE e.eventType = {_DOMAIN_CREATED}")
    )
    query = (
        f"SELECT e.globalTid, e.start, e.end, e.domainId, {text} FROM {_EVENTS} e {names} "
        f"WHERE e.eventType IN {_RANGE_EVENTS} AND e.end IS NOT NULL ORDER BY e.start"
    )
    by_thread: dict[int, list[tuple[int, int, tuple[str, str]]]] = {}
    for thread, start, end, domain, name in database.execute(query):
        by_thread.setdefault(thread, []).append((start, end, (domains.get(domain) or "", name or "")))
    found: dict[tuple[int, int] | None, tuple[tuple[str, str], ...]] = {}
    position: dict[int, int] = {}
    open_ranges: dict[int, list[tuple[int, tuple[str, str]]]] = {}
    for thread, start in sorted(calls, key=lambda call: call[1]):
        ranges, active = by_thread.get(thread, []), open_ranges.setdefault(thread, [])
        at = position.get(thread, 0)
        while at < len(ranges) and ranges[at][0] <= start:
            active.append(ranges[at][1:])
            at += 1
        position[thread] = at
        active[:] = [(end, pair) for end, pair in active if end >= start]
        if active:
            found[thread, start] = tuple(pair for _, pair in active)
    return found


def columns_of(database: sqlite3.Connection, table: str) -> set[str]:
    """Names of the columns of a table."""
    return {column[1] for column in database.execute(f'PRAGMA table_info("{table}")')}


def no_kernels(database: sqlite3.Connection, tables: Mapping[str, set[str]], notes: list[str]) -> str:
    """What to say of an export without kernels."""
    if notes:
        return f"the export has no kernels of their own; {'; '.join(notes)}"
    calls = _count(database, CALLS) if CALLS in tables else 0
    more = f", only {calls} API calls, whose times the CPU spends" if calls else ""
    is_nsys = "StringIds" in tables
    return f"the export has no kernels{more}" if is_nsys else "this SQLite file is no export of nsys"


def _count(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def graph_notes(database: sqlite3.Connection, tables: Mapping[str, set[str]]) -> Iterator[str]:
    """What is hidden in CUDA graphs that were traced as a whole."""
    if GRAPHS in tables:
        count, busy = database.execute(f"SELECT count(*), sum(end - start) FROM {GRAPHS}").fetchone()
        if count:
            yield (
                f"{count} launches of CUDA graphs took {busy / NANOSECONDS:.4g} s, and their kernels are in no table: "
                "trace with --cuda-graph-trace=node"
            )


def _device_notes(database: sqlite3.Connection, tables: Mapping[str, set[str]]) -> Iterator[str]:
    for found in _gpus(database, tables):
        clock = f", at most {found['clockRate'] / 1e9:.4g} GHz" if found.get("clockRate") else ""
        bandwidth = f", {found['memoryBandwidth'] / 1e9:.4g} GB/s" if found.get("memoryBandwidth") else ""
        yield f"on {found.get('name')}{clock}{bandwidth}"
    devices = [str(row[0]) for row in database.execute(f"SELECT DISTINCT deviceId FROM {KERNELS} ORDER BY deviceId")]
    if len(devices) > 1:
        yield f"kernels of {len(devices)} devices: {', '.join(devices)}"


def _gpus(database: sqlite3.Connection, tables: Mapping[str, set[str]]) -> Iterator[dict[str, Any]]:
    """Name, clock and bandwidth of the GPUs; other graphics adapters of the machine have no memory bandwidth."""
    wanted = [name for name in ("name", "clockRate", "memoryBandwidth") if name in tables.get("TARGET_INFO_GPU", ())]
    if "name" in wanted:
        for row in database.execute(f"SELECT {', '.join(wanted)} FROM TARGET_INFO_GPU"):
            found: dict[str, Any] = dict(zip(wanted, row, strict=True))
            if found.get("memoryBandwidth", 1):
                yield found


def version_of(database: sqlite3.Connection, tables: Mapping[str, set[str]]) -> str:
    """The version of nsys that made the export; empty where it does not say it."""
    for table in _METADATA:
        if table in tables:
            found = database.execute(f"SELECT value FROM {table} WHERE name = 'EXPORT_PRODUCT_VERSION'").fetchone()
            if found:
                return str(found[0])
    return ""
