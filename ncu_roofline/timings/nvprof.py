"""Output of nvprof, the profiler before Nsight: kernel summaries and traces, text or CSV, with a unit in each cell."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import AVERAGE, IN_APPLICATION, Rows, Timings
from ncu_roofline.timings.tables import number, per_second, sizes

_NVPROF: Final = re.compile(r"NVPROF is profiling|==[0-9]+== Profiling result:|=+ Profiling result:")
_CELL: Final = r"([0-9.]+(?:e[+-][0-9]+)?)(ns|us|ms|s)"
_SUMMARY: Final = re.compile(
    rf"^\s*(?:GPU activities:)?\s+[0-9.]+%\s+{_CELL}\s+([0-9]+)\s+{_CELL}\s+{_CELL}\s+{_CELL}\s+(\S.*?)\s*$"
)
_SIZES: Final = r"\(([0-9]+ [0-9]+ [0-9]+)\)"
_TRACE: Final = re.compile(
    # Behind context and stream stand two more columns where unified memory is traced.
    rf"^\s*{_CELL}\s+{_CELL}\s+{_SIZES}\s+{_SIZES}\s+.*\s[0-9]+\s+[0-9]+\s+(?:-\s+-\s+)?(\S.*?)\s*$"
)
_API: Final = re.compile(r"^\s*API calls:")


def is_nvprof(text: str) -> bool:
    """Whether a text is the output of nvprof."""
    return _NVPROF.search(text) is not None


def read_nvprof(path: str, text: str) -> Timings:
    """Read the kernels of a trace, else of a summary.

    Raises:
        InputError: if there are none.

    """
    trace, summary = Rows(), Rows()
    is_api = False
    lines = text.split("\n")
    for number_of_line, line in enumerate(lines):
        is_api = (is_api or _API.match(line) is not None) and bool(line.strip())
        if is_api:
            continue
        if found := _SUMMARY.match(line):
            _, _, calls, average, average_unit, *_, name = found.groups()
            if not name.startswith("[CUDA"):
                summary.add(_seconds(average, average_unit), samples=int(calls), statistic=AVERAGE, kernel=name)
        elif found := _TRACE.match(line):
            _, _, duration, unit, grid, block, name = found.groups()
            shape = (sizes(grid.split()), sizes(block.split()))
            trace.add(_seconds(duration, unit), kernel=_name(name), grid=shape[0], block=shape[1])
        elif line.startswith(("Type,", '"Type"', "Start,", '"Start"')):
            _read_csv(lines[number_of_line:], trace, summary)
            break
    for rows, kind in ((trace, "trace"), (summary, "summary")):
        if len(rows):
            return rows.timings(path, f"nvprof {kind}", IN_APPLICATION)
    raise InputError(path, "there are no kernels in this output of nvprof", "Run nvprof --print-gpu-trace --csv.")


def _read_csv(lines: Sequence[str], trace: Rows, summary: Rows) -> None:
    table = csv.reader(lines)
    header, units = next(table), next(table, [])
    if len(units) < len(header):
        return
    unit_of = dict(zip(header, units, strict=False))
    for cells in table:
        row = dict(zip(header, cells, strict=False))
        name = row.get("Name", "")
        if len(cells) != len(header) or name.startswith("[CUDA"):
            continue
        if "Duration" in row and row.get("Grid X"):
            shape = [sizes([row.get(f"{kind} {axis}", "") for axis in "XYZ"]) for kind in ("Grid", "Block")]
            trace.add(_seconds(row["Duration"], unit_of["Duration"]), kernel=_name(name), grid=shape[0], block=shape[1])
        elif row.get("Type") == "GPU activities" and "Avg" in row:
            time = _seconds(row["Avg"], unit_of["Avg"])
            summary.add(time, samples=int(number(row["Calls"])), statistic=AVERAGE, kernel=name)


def _name(text: str) -> str:
    """The name at the end of a row of a trace, without the number of the launch behind it."""
    return re.sub(r"\s\[[0-9]+\]$", "", text)


def _seconds(text: str, unit: str) -> float:
    return number(text) / (per_second(unit) or float("nan"))
