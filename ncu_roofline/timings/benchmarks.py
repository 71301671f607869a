"""Results of benchmark programs: nvbench, cutlass_profiler, and Triton's perf_report, which has no times."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import AVERAGE, UNLOCKED, Rows, TimingConditions, Timings
from ncu_roofline.timings.tables import number, per_second

_COLD: Final = TimingConditions("all", UNLOCKED)
"""nvbench flushes the L2 cache before every sample of a cold measurement."""
_WARM: Final = TimingConditions("none", UNLOCKED)
_MILLISECONDS: Final = 1e3
_GIBI: Final = 2.0**30
_FIRST_NVBENCH: Final = "Benchmark,Device,Device Name"
_FIRST_CUTLASS: Final = "Problem,Provider,OperationKind,Operation"
_MARKDOWN_TIME: Final = re.compile(r"([0-9.,]+)\s*(ns|us|ms|s)")
_COLD_TIME: Final = "GPU Time"
_NAMELESS: Final = (
    "its rows are states of a benchmark and name no kernel: say which is which in a CSV of your own with kernel, grid, "
    "block and time"
)


def is_nvbench_csv(text: str) -> bool:
    """Whether a text has a table of nvbench as CSV."""
    return any(line.startswith(_FIRST_NVBENCH) for line in text.splitlines()[:50])


def read_nvbench_csv(path: str, text: str) -> Timings:
    """Read the cold GPU time of every state; its columns have names twice, so they are taken by place."""
    rows, skipped = Rows(), 0
    header: Sequence[str] = ()
    for cells in csv.reader(text.splitlines()):
        if ",".join(cells).startswith(_FIRST_NVBENCH):
            header = cells
        elif header and len(cells) == len(header):
            time, samples = header.index("GPU Time (sec)"), header.index("Samples")
            if not cells[time]:
                skipped += 1
            else:
                axes = [
                    cell for name, cell in zip(header[3 : header.index("Skipped")], cells[3:], strict=False) if name
                ]
                label = ", ".join([cells[0], *axes])
                _add(rows, number(cells[time]), number(cells[samples]), label)
    return _nvbench(path, rows, skipped)


def is_nvbench_markdown(text: str) -> bool:
    """Whether a text has a table of nvbench as Markdown."""
    return re.search(r"^\|.*\bGPU Time\b.*\|", text, re.MULTILINE) is not None


def read_nvbench_markdown(path: str, text: str) -> Timings:
    """Read the cold GPU time of every state; each cell has its unit."""
    rows, skipped = Rows(), 0
    header: Sequence[str] = ()
    heading = ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("#"):
            heading = line.strip("# ")
        elif not line.strip().startswith("|"):
            header = ()
        elif _COLD_TIME in cells:
            header = cells
        elif header and len(cells) == len(header) and not set(cells[0]) <= set("-: "):
            found = _MARKDOWN_TIME.fullmatch(cells[header.index(_COLD_TIME)])
            if found is None:
                skipped += 1
                continue
            samples = cells[header.index("Samples")].rstrip("x") if "Samples" in header else "1"
            axes = cells[: min(header.index(name) for name in ("Samples", "CPU Time", _COLD_TIME) if name in header)]
            scale = per_second(found[2]) or 1.0
            _add(rows, number(found[1]) / scale, number(samples), ", ".join(filter(None, [heading, *axes])))
    return _nvbench(path, rows, skipped)


def is_nvbench_json(document: Any) -> bool:
    """Whether a JSON document is a result of nvbench."""
    return isinstance(document, Mapping) and isinstance(document.get("benchmarks"), list) and "devices" in document


def read_nvbench_json(path: str, document: Mapping[str, Any]) -> Timings:
    """Read the cold GPU time of every state that was not skipped."""
    rows, skipped = Rows(), 0
    for benchmark in document["benchmarks"]:
        for state in benchmark.get("states", ()):
            known = dict(_summaries(state))
            time = known.get("nv/cold/time/gpu/mean")
            if state.get("is_skipped") or time is None:
                skipped += 1
                continue
            axes = [str(axis.get("value")) for axis in state.get("axis_values") or ()]
            _add(rows, time, known.get("nv/cold/sample_size", 1), ", ".join([str(benchmark.get("name")), *axes]))
    return _nvbench(path, rows, skipped)


def _summaries(state: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for summary in state.get("summaries") or ():
        for entry in summary.get("data") or ():
            if entry.get("name") == "value":
                # Values are written as texts.
                yield str(summary.get("tag")), number(str(entry.get("value")))


def _add(rows: Rows, time: float, samples: float, label: str) -> None:
    rows.add(time, samples=max(int(samples), 1) if samples == samples else 1, statistic=AVERAGE, label=label)


def _nvbench(path: str, rows: Rows, skipped: int) -> Timings:
    if not len(rows):
        raise InputError(path, "nvbench measured nothing: every state was skipped", "Look at its messages.")
    notes = [_NAMELESS, *([f"{skipped} states were skipped"] if skipped else [])]
    return rows.timings(path, "nvbench, cold", _COLD, notes)


def is_cutlass(text: str) -> bool:
    """Whether a text has a table of cutlass_profiler."""
    return _FIRST_CUTLASS in text


def read_cutlass(path: str, text: str) -> Timings:
    """Read the run time of every operation that succeeded and was not found wrong.

    Raises:
        InputError: if there is none.

    """
    rows, wrong, unverified, off = Rows(), 0, 0, False
    lines = text.splitlines()
    begin = next(number_of_line for number_of_line, line in enumerate(lines) if _FIRST_CUTLASS in line)
    for row in csv.DictReader(lines[begin:]):
        disposition, status = (str(row.get(name) or "").strip() for name in ("Disposition", "Status"))
        if status != "success" or disposition in ("incorrect", "failed", "invalid_problem", "not_run"):
            wrong += bool(status)
            continue
        unverified += disposition != "passed"
        time = number(str(row["Runtime"])) / _MILLISECONDS
        rows.add(time, statistic=AVERAGE, kernel=row["Operation"], label=_problem(row))
        rate, moved = (number(str(row.get(name) or "")) for name in ("GB/s", "Bytes"))
        off |= bool(time > 0 and rate > 0 and abs(moved / time / _GIBI / rate - 1) < 1e-3)
    if not len(rows):
        raise InputError(
            path, f"cutlass_profiler has no time of a verified operation: {wrong} rows failed or gave wrong results",
            "Run it with verification and look at Status and Disposition.",
        )  # fmt: skip
    notes = ["its column GB/s is in GiB/s; only its times are used"] if off else []
    notes += [f"{wrong} rows that failed or gave wrong results were left out"] if wrong else []
    notes += [f"{unverified} rows were not verified"] if unverified else []
    return rows.timings(path, "cutlass_profiler", _WARM, notes)


def _problem(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={row[name]}" for name in ("m", "n", "k") if row.get(name))


def refuse_triton(path: str, text: str) -> None:
    """Refuse a table of Triton's perf_report, which has neither times nor units.

    Raises:
        InputError: if the text is one.

    """
    rows = list(csv.reader(text.splitlines()))
    is_plain = len(rows) > 1 and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
    if is_plain and all(number(cell) == number(cell) for row in rows[1:] for cell in row):
        raise InputError(
            path,
            f"the columns {', '.join(rows[0])} have no unit and no kernel name; Triton's perf_report has rates in "
            "them, whose unit stands only in the label of its plot",
            "Measure times: triton.testing.do_bench returns milliseconds; write them to a CSV with kernel and time_ms.",
        )
