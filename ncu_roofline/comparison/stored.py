"""A side as a file: the baseline that later reports are held against (schema ``ncu-roofline/baseline/1``)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import FloatArray
from ncu_roofline.comparison.side import Device, Key, Side, Source
from ncu_roofline.errors import InputError
from ncu_roofline.version import VERSION

SCHEMA: Final = "ncu-roofline/baseline/1"
_FAMILY: Final = "ncu-roofline/baseline/"
_HINT: Final = "Write it anew: ncu-roofline compare REPORT --save-baseline FILE."


def to_json(side: Side) -> str:
    """A side as JSON text: SI base units, null for what is not known, no folders."""
    document = {
        "schema": SCHEMA,
        "tool": {"name": "ncu-roofline", "version": VERSION},
        "sources": [
            {"name": one.name, "sha256": one.sha256, "conditions": dict(one.conditions)} for one in side.sources
        ],
        "devices": [{"name": device.name, "cc": device.cc} for device in side.devices],
        "resources": dict(side.resources),
        "groups": [
            {
                "kernel": key.kernel, "grid": key.grid, "block": key.block, "range": key.range, "device": key.device,
                "occurrence": key.occurrence,
                "bound_by": side.bound_by[place], "complete": side.complete[place],
                "amounts": {name: _numbers(values[place]) for name, values in side.amounts.items()},
            }
            for place, key in enumerate(side.keys)
        ],
    }  # fmt: skip
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def is_baseline(path: str) -> bool:
    """Whether a file is a baseline of any schema, from its beginning."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return _FAMILY.encode() in file.read(200)


def from_json(path: str) -> Side:
    """The side of a baseline.

    Raises:
        InputError: if it is of another schema, or damaged.

    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise InputError(path, f"is a damaged baseline: {error}", _HINT) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise InputError(path, f"has schema {schema}, this version reads {SCHEMA}", _HINT)
    try:
        return _side(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(path, f"is a damaged baseline: {type(error).__name__}: {error}", _HINT) from error


def _side(document: Mapping[str, Any]) -> Side:
    groups = document["groups"]
    samples = len(document["sources"])
    names = dict.fromkeys(name for group in groups for name in group["amounts"])
    return Side(
        sources=tuple(
            Source(str(one["name"]), str(one["sha256"]), dict(one["conditions"])) for one in document["sources"]
        ),
        devices=tuple(Device(device["name"], device["cc"]) for device in document["devices"]),
        keys=tuple(_key(group) for group in groups),
        amounts={name: _array([group["amounts"].get(name) for group in groups], samples) for name in names},
        bound_by=tuple(group["bound_by"] for group in groups),
        complete=tuple(bool(group["complete"]) for group in groups),
        resources={str(name): str(resource) for name, resource in document["resources"].items()},
    )


def _key(group: Mapping[str, Any]) -> Key:
    grid, block = (None if group[name] is None else tuple(map(int, group[name])) for name in ("grid", "block"))
    return Key(str(group["kernel"]), grid, block, group["range"], int(group["device"]), group["occurrence"])


def _array(rows: list[Any], samples: int) -> FloatArray:
    filled = [[None] * samples if row is None else row for row in rows]
    array = np.array([[math.nan if value is None else value for value in row] for row in filled], float)
    if array.shape != (len(rows), samples):
        raise ValueError(f"amounts of {array.shape} for {len(rows)} groups and {samples} samples")
    return array


def _numbers(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
