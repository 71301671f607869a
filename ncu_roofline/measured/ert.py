"""``roofline.json`` of the Empirical Roofline Toolkit (CS Roofline Toolkit).

``empirical.gbytes.data`` and ``empirical.gflops.data`` are lists of name and number, in 10^9 byte/s and
10^9 FLOP/s. ERT finds the levels as plateaus of one curve and names them L1, L2, ... from the fast end, so that a
name says nothing certain about a GPU: none is taken without a mapping. ``spec`` has a vendor's numbers, not
measured ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ncu_roofline.errors import InputError
from ncu_roofline.measured.model import Entry, ToolResult
from ncu_roofline.quantities import GIGA, read_quantity, scaled
from ncu_roofline.strict_yaml import read_yaml

ERT: Final = "ERT"
_LISTS: Final = {"gbytes": ("bandwidth", "GB/s", "byte/s"), "gflops": ("compute peak", "GFLOP/s", "FLOP/s")}
_TRUE: Final = re.compile(r"ERT_(?:GPU|HIP|OCL|SYCL)['\"]?\s*:\s*\[\s*['\"]?true", re.IGNORECASE)
_FALSE: Final = re.compile(r"ERT_GPU['\"]?\s*:\s*\[\s*['\"]?false", re.IGNORECASE)


def read_ert(path: Path, text: str) -> ToolResult | None:
    """Read one file, or None when the text is not of this form.

    Raises:
        InputError: the file is of this form and damaged.

    """
    if not text.lstrip().startswith("{") or '"gbytes"' not in text:
        return None
    empirical = _empirical(path, text)
    lines = read_yaml(path).lines
    levels, peaks = (_entries(path, empirical, name, lines) for name in _LISTS)
    notes = []
    if _FALSE.search(text) and not _TRUE.search(text):
        notes.append("the file says ERT_GPU false: it was probably measured on a CPU")
    return ToolResult(ERT, str(path), levels, peaks, notes=tuple(notes))


def _empirical(path: Path, text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(str(path), f"is not valid JSON: {error.msg}", line=error.lineno) from error
    empirical = data.get("empirical")
    if not isinstance(empirical, dict):
        raise InputError(str(path), "has gbytes as ERT's roofline.json has, but no 'empirical' around it")
    return empirical


def _entries(path: Path, empirical: Mapping[str, Any], name: str, lines: Mapping[str, int]) -> tuple[Entry, ...]:
    holder = empirical.get(name)
    data = holder.get("data") if isinstance(holder, dict) else None
    if not isinstance(data, list):
        raise InputError(str(path), f"has no list empirical.{name}.data, as ERT's roofline.json has")
    what, unit, dimension = _LISTS[name]
    entries = []
    for position, item in enumerate(data):
        line = lines.get(f"$.empirical.{name}.data[{position}][0]")
        if not _is_named_number(item):
            raise InputError(str(path), f"empirical.{name}.data[{position}] is not a name and a number", line=line)
        try:
            value = scaled(read_quantity(item[1], dimension), GIGA)
        except ValueError as error:
            raise InputError(str(path), f"{what} {item[0]!r}: {error}", line=line) from error
        entries.append(Entry(item[0], value, line, f"{what} {item[0]!r}, {item[1]} {unit}"))
    return tuple(entries)


def _is_named_number(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], int | float)
