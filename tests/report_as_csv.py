"""Binary reports of the corpus as raw pages, by NVIDIA's own reader; for tests that hold our numbers against them."""

from __future__ import annotations

import csv
import importlib
import io
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_IDENTITY = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC",
)  # fmt: skip
_RATIO = re.compile(r"achieved\s+(?:close to )?([0-9]+)% of this device's fp32 .* and ([0-9]+)% of its fp64")


def _reader() -> Any:
    try:
        return importlib.import_module("ncu_report")
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("NVIDIA's report reader has to be installed in CI")
        pytest.skip("NVIDIA's report reader (ncu-report) is not installed")


@cache
def actions_of(path: Path) -> tuple[Any, ...]:
    context = _reader().load_report(str(path))
    ranges = [context.range_by_idx(number) for number in range(context.num_ranges())]
    return tuple(part.action_by_idx(number) for part in ranges for number in range(part.num_actions()))


def raw_page_of(path: Path) -> str:
    """The report as ``ncu --csv --page raw --print-units base`` would print it."""
    actions = actions_of(path)
    units: dict[str, str] = {}
    values = [_values(action, units) for action in actions]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([*_IDENTITY, *units])
    writer.writerow([""] * len(_IDENTITY) + list(units.values()))
    for number, (action, row) in enumerate(zip(actions, values, strict=True)):
        writer.writerow([*_identity(number, action, row), *(row.get(name, "") for name in units)])
    return text.getvalue()


def fp32_and_fp64_percent(path: Path) -> list[tuple[int, int] | None]:
    """What NVIDIA's roofline rule says of each launch: percent of the FP32 and of the FP64 peak."""
    return [_ratio(str(action.rule_results_as_dicts())) for action in actions_of(path)]


def _ratio(text: str) -> tuple[int, int] | None:
    found = _RATIO.search(text)
    return (int(found[1]), int(found[2])) if found else None


def _values(action: Any, units: dict[str, str]) -> dict[str, str]:
    row = {}
    for name in action.metric_names():
        metric = action.metric_by_name(name)
        value = metric.value() if "__" in name and metric is not None else None
        if value is not None:
            row[name] = repr(value) if isinstance(value, float) else str(value)
            units.setdefault(name, metric.unit() or "")
    return row


def _identity(number: int, action: Any, row: dict[str, str]) -> list[str]:
    shapes = [
        "({}, {}, {})".format(*(row.get(f"launch__{kind}_dim_{axis}", "1") for axis in "xyz"))
        for kind in ("block", "grid")
    ]
    cc = ".".join(row[f"device__attribute_compute_capability_{part}"] for part in ("major", "minor"))
    return [str(number), "1", "app", "host", action.name(), "1", "7", *shapes, "0", cc]
