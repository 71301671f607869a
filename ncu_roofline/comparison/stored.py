"""A side as a file: the baseline that later reports are held against (schema ``ncu-roofline/baseline/1``)."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from ncu_roofline.arrays import FloatArray
from ncu_roofline.comparison.side import Device, Key, Side, Source
from ncu_roofline.errors import InputError
from ncu_roofline.version import VERSION

SCHEMA: Final = "ncu-roofline/baseline/1"
_FAMILY: Final = "ncu-roofline/baseline/"
_GZIP: Final = b"\x1f\x8b"
"""How a file of gzip begins (RFC 1952)."""
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
        "peak_sources": list(side.peak_sources),
        "errors": list(side.errors),
        "groups": [
            {
                "kernel": key.kernel, "grid": key.grid, "block": key.block, "range": key.range, "device": key.device,
                "product": key.product, "occurrence": key.occurrence,
                "bound_by": side.bound_by[place], "complete": side.complete[place],
                "amounts": {name: _numbers(values[place]) for name, values in side.amounts.items()},
            }
            for place, key in enumerate(side.keys)
        ],
    }  # fmt: skip
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def is_baseline(path: str) -> bool:
    """Whether a file is a baseline of any schema, packed with gzip or not."""
    if not Path(path).is_file():
        return False
    try:
        with _open(path) as file:
            return file.read(1) == b"{" and _FAMILY.encode() in file.read()
    except (OSError, EOFError):
        return False


def from_json(path: str) -> Side:
    """The side of a baseline.

    Raises:
        InputError: if it is of another schema, or damaged.

    """
    try:
        with _open(path) as file:
            document = json.loads(file.read().decode("utf-8"))
    except (ValueError, OSError, EOFError) as error:
        raise InputError(path, f"is a damaged baseline: {error}", _HINT) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise InputError(path, f"has schema {schema}, this version reads {SCHEMA}", _HINT)
    try:
        return _side(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(path, f"is a damaged baseline: {type(error).__name__}: {error}", _HINT) from error


def _side(document: Mapping[str, Any]) -> Side:
    groups = document["groups"]
    samples = len(document["sources"])
    names = dict.fromkeys(name for group in groups for name in group["amounts"])
    keys = tuple(_key(group) for group in groups)
    if not groups or not samples or len(set(keys)) < len(keys):
        raise ValueError("a baseline has at least one report and one group, each group once")
    return Side(
        sources=tuple(
            Source(str(one["name"]), str(one["sha256"]), dict(one["conditions"])) for one in document["sources"]
        ),
        devices=tuple(Device(_text(device["name"]), _text(device["cc"])) for device in document["devices"]),
        keys=keys,
        amounts={name: _array([group["amounts"].get(name) for group in groups], samples) for name in names},
        bound_by=tuple(_text(group["bound_by"]) for group in groups),
        complete=tuple(bool(group["complete"]) for group in groups),
        resources={str(name): str(resource) for name, resource in document["resources"].items()},
        peak_sources=tuple(map(str, document["peak_sources"])),
        errors=tuple(map(str, document["errors"])),
    )


def _key(group: Mapping[str, Any]) -> Key:
    grid, block = (None if group[name] is None else tuple(map(int, group[name])) for name in ("grid", "block"))
    return Key(str(group["kernel"]), grid, block, _text(group["range"]), int(group["device"]), _text(group["product"]),
               None if group["occurrence"] is None else int(group["occurrence"]))  # fmt: skip


def _array(rows: list[Any], samples: int) -> FloatArray:
    filled = [[None] * samples if row is None else row for row in rows]
    array = np.array([[math.nan if value is None else value for value in row] for row in filled], float)
    if not (np.isnan(array) | (np.isfinite(array) & (array >= 0.0))).all():
        raise ValueError("an amount is negative or infinite")
    if array.shape != (len(rows), samples):
        raise ValueError(f"amounts of {array.shape} for {len(rows)} groups and {samples} samples")
    return array


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is no text")


def _open(path: str) -> IO[bytes]:
    with Path(path).open("rb") as file:
        is_packed = file.read(2) == _GZIP
    return gzip.open(path) if is_packed else Path(path).open("rb")  # type: ignore[return-value]


def _numbers(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
