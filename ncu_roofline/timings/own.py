"""A simple CSV of one's own: kernel, grid, block, time with its unit, samples, conditions.

Columns: ``kernel`` (or ``name``, ``kernel_name``), ``mangled``, ``grid`` and ``block`` (``128x1x1`` or
``(128, 1, 1)``), ``time`` with a unit in its name (``time_us``, ``time (us)``; also ``median_``, ``mean_``,
``average_`` and ``duration_``) or in a column ``unit``, ``samples``, ``device``, ``cache_control`` and
``clock_control``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import AVERAGE, GIVEN, MEDIAN, Rows, TimingConditions, Timings
from ncu_roofline.timings.tables import number, per_second

_KERNEL: Final = ("kernel", "kernel_name", "name")
_TIME: Final = re.compile(
    r"(?P<what>time|duration|median|mean|average|avg)(?:_time)?(?:_(?P<unit>ns|us|ms|s)|\s*\((?P<in>ns|us|ms|s|sec)\))?"
)
_STATISTICS: Final = {"median": MEDIAN, "mean": AVERAGE, "average": AVERAGE, "avg": AVERAGE}
_ORDER: Final = ("time", "duration", "median", "mean", "average", "avg")
_SIZES: Final = re.compile(r"[0-9]+")


def is_own(text: str) -> bool:
    """Whether a text is a CSV with a column of kernels and one of times."""
    header = _header(text)
    return any(name in header for name in _KERNEL) and any("time" in name or _TIME.fullmatch(name) for name in header)


def _header(text: str) -> list[str]:
    rows = csv.reader(text.splitlines()[:1])
    return [cell.strip().lower() for cell in next(rows, [])]


def read_own(path: str, text: str) -> Timings:
    """Read the rows of such a file.

    Raises:
        InputError: if the unit of the time is not stated, or a row cannot be read.

    """
    lines = text.splitlines()
    header = _header(text)
    kernel = next(name for name in _KERNEL if name in header)
    time, statistic, unit = _time_column(path, header)
    rows = Rows()
    seen: dict[str, set[str]] = {"cache_control": set(), "clock_control": set()}
    devices: list[str] = []
    for line, cells in enumerate(csv.reader(lines[1:]), start=2):
        if not cells:
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        scale = per_second(unit or row.get("unit", ""))
        seconds = number(row.get(time, "")) / scale if scale else float("nan")
        if not seconds > 0:
            raise InputError(
                path, f"the time {row.get(time)!r} {unit or row.get('unit', '')!r} cannot be read", line=line
            )
        samples = number(row.get("samples", "1"))
        rows.add(
            seconds, samples=int(samples) if samples >= 1 else 1, statistic=statistic, kernel=row.get(kernel) or None,
            mangled=row.get("mangled") or None, grid=_shape(row, "grid"), block=_shape(row, "block"),
        )  # fmt: skip
        devices.append(row.get("device", ""))
        for name, values in seen.items():
            if row.get(name):
                values.add(row[name])
    if not len(rows):
        raise InputError(path, "the file has no rows")
    for name, values in seen.items():
        if len(values) > 1:
            raise InputError(
                path, f"{name} has several values: {', '.join(sorted(values))}", "Keep each in its own file."
            )
    known = {name: next(iter(values), None) for name, values in seen.items()}
    conditions = TimingConditions(known["cache_control"], known["clock_control"])
    return rows.timings(path, "CSV", conditions, device_names=devices)


def _time_column(path: str, header: Sequence[str]) -> tuple[str, str, str]:
    """Name of the column of times, what they are, and their unit (empty: each row has its own)."""
    found = {name: match for name in header if (match := _TIME.fullmatch(name))}
    with_unit = {name: match for name, match in found.items() if match["unit"] or match["in"] or "unit" in header}
    if not with_unit:
        names = [name for name in header if "time" in name or name in found]
        raise InputError(
            path, f"the unit of {names[0]!r} is not stated",
            "Put it into the name of the column, as in time_us, or into a column unit.",
        )  # fmt: skip
    name = min(with_unit, key=lambda name: _ORDER.index(with_unit[name]["what"]))
    match = with_unit[name]
    return name, _STATISTICS.get(match["what"], GIVEN), match["unit"] or match["in"] or ""


def _shape(row: Mapping[str, str], name: str) -> tuple[int, ...] | None:
    sizes = [int(size) for size in _SIZES.findall(row.get(name, ""))]
    sizes += [1] * (3 - len(sizes)) if sizes else []
    return tuple(sizes) if len(sizes) == 3 and all(sizes) else None
