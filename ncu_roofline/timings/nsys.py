"""Reports of ``nsys stats``: kernel traces and kernel summaries, CSV or text, 2019 to 2026."""

from __future__ import annotations

import re
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import AVERAGE, IN_APPLICATION, MEDIAN, Rows, Timings
from ncu_roofline.timings.tables import Table, find_tables, number, per_second, sizes

_NANOSECONDS: Final = 1e9
"""The unit of nsys where neither column nor heading has one (``--timeunit`` puts another into the columns)."""
_MARKS: Final = (
    "nsight-systems",
    "cuda_gpu_",
    "gputrace",
    "gpukernsum",
    "CUDA Kernel Statistics",
    "cudaapisum",
    "_sum",
)
_ORDINAL: Final = re.compile(r"\(([0-9]+)\)\s*$")
_HEADING_UNIT: Final = re.compile(r"\(([a-z]+)\)")
_NO_KERNELS: Final = "Give the kernel times: nsys stats --report cuda_gpu_trace --format csv REPORT.nsys-rep"


def is_nsys(text: str) -> bool:
    """Whether a text has a table of ``nsys stats``."""
    return any(_kind(table) for table in find_tables(text.split("\n")))


def has_marks(text: str) -> bool:
    """Whether a text without such a table is from ``nsys stats`` all the same."""
    return any(mark in text for mark in _MARKS)


def read_nsys(path: str, text: str) -> Timings:
    """Read every kernel table of a text.

    A trace comes before summaries of the same run.

    Raises:
        InputError: if there is none.

    """
    tables = [(kind, table) for table in find_tables(text.split("\n")) if (kind := _kind(table))]
    kinds = {kind for kind, _ in tables}
    for kind, reader in (("trace", _trace), ("shapes", _summary), ("summary", _summary)):
        rows = Rows()
        for found, table in tables:
            if found == kind:
                reader(table, rows)
        if len(rows):
            notes = [f"{what} are in it and were not used" for what in sorted(_refused(kinds))]
            names = [name for found, table in tables if found == kind for name in _device_names(table)]
            return rows.timings(path, f"nsys {kind}", IN_APPLICATION, notes, names)
    if "SKIPPED" in text or kinds & {"trace", "shapes", "summary"}:
        raise InputError(path, "there is no kernel data in this export of nsys", _NO_KERNELS)
    if refused := _refused(kinds):
        raise InputError(path, f"it has no kernel times, only {' and '.join(sorted(refused))}", _NO_KERNELS)
    raise InputError(path, "there is no kernel table in this output of nsys", _NO_KERNELS)


def _refused(kinds: set[str]) -> set[str]:
    names = {"api": "times of API calls, which the CPU spends", "nvtx": "NVTX ranges, which are times of the CPU"}
    return {name for kind, name in names.items() if kind in kinds}


def _kind(table: Table) -> str:
    """What a table is: a trace, a summary by shape or by name, or one of those that have no kernel times."""
    columns = set(table.columns)
    if {"start", "duration", "grdx", "name"} <= columns:
        return "trace"
    if "range" in columns:
        return "nvtx"
    if "calls" in columns:
        return "api"
    if {"instances", "name"} <= columns and ("average" in columns or "total time" in columns):
        is_other = (
            re.search(r"summary|statistics|'\w+'", table.heading, re.IGNORECASE) and "kern" not in table.heading.lower()
        )
        return "" if is_other else "shapes" if "gridxyz" in columns else "summary"
    return ""


def _device_names(table: Table) -> list[str]:
    """Products of a trace, printed as ``NVIDIA B200 (0)``."""
    if table.index("device") is None:
        return []
    return list(dict.fromkeys(_ORDINAL.sub("", table.cell(row, "device")).strip() for row in table.rows))


def _trace(table: Table, rows: Rows) -> None:
    unit = table.per_second("duration") or _NANOSECONDS
    for row in table.rows:
        grid, block = (sizes([table.cell(row, f"{kind}{axis}") for axis in "xyz"]) for kind in ("grd", "blk"))
        if grid is not None:
            ordinal = _ORDINAL.search(table.cell(row, "device"))
            rows.add(
                number(table.cell(row, "duration")) / unit, kernel=table.cell(row, "name"), grid=grid, block=block,
                device=int(ordinal[1]) if ordinal else None,
            )  # fmt: skip


def _summary(table: Table, rows: Rows) -> None:
    heading = _HEADING_UNIT.search(table.heading)
    stated = per_second(heading[1]) if heading else None
    statistic = MEDIAN if table.index("median") is not None else AVERAGE
    column = "median" if statistic == MEDIAN else "average"
    unit = table.per_second(column) or table.per_second("total time") or stated or _NANOSECONDS
    for row in table.rows:
        samples = number(table.cell(row, "instances"))
        if samples >= 1:
            rows.add(
                number(table.cell(row, column)) / unit, samples=int(samples), statistic=statistic,
                kernel=table.cell(row, "name"), grid=sizes(table.cell(row, "gridxyz").split()),
                block=sizes(table.cell(row, "blockxyz").split()),
            )  # fmt: skip
