"""Traces of the PyTorch profiler (Chrome trace events as JSON): events of category ``kernel``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ncu_roofline.errors import InputError
from ncu_roofline.timings.model import IN_APPLICATION, Rows, Timings

_MICROSECONDS = 1e6
_SHORT = 10e-6


def is_trace(document: Any) -> bool:
    """Whether a JSON document is a trace."""
    return isinstance(document, Mapping) and isinstance(document.get("traceEvents"), list)


def read_trace(path: str, document: Mapping[str, Any]) -> Timings:
    """Read the kernels of a trace, by device and start.

    Raises:
        InputError: if it has none.

    """
    events = [event for event in document["traceEvents"] if isinstance(event, Mapping) and _is_kernel(event)]
    events.sort(key=lambda event: (str(_of(event, "device")), float(event.get("ts") or 0)))
    rows = Rows()
    for event in events:
        rows.add(
            float(event["dur"]) / _MICROSECONDS, kernel=str(event.get("name")), grid=_shape(_of(event, "grid")),
            block=_shape(_of(event, "block")), device=_device(event),
        )  # fmt: skip
    if not len(rows):
        raise InputError(
            path, "the trace has no kernels",
            "Record them: torch.profiler.profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU])",
        )  # fmt: skip
    notes = []
    if all(isinstance(event["dur"], int) for event in events) and min(row["time"] for row in rows.rows) < _SHORT:
        notes.append("times are whole microseconds: those of a few microseconds may be off by half of themselves")
    if "hip_driver_version" in document or "roctracer_version" in document:
        notes.append("the trace is of an AMD GPU")
    return rows.timings(path, "PyTorch profiler", IN_APPLICATION, notes, _device_names(document))


def _device_names(document: Mapping[str, Any]) -> list[str]:
    devices = document.get("deviceProperties")
    entries = devices if isinstance(devices, list) else []
    return [str(entry["name"]) for entry in entries if isinstance(entry, Mapping) and entry.get("name")]


def _is_kernel(event: Mapping[str, Any]) -> bool:
    is_number = isinstance(event.get("dur"), int | float)
    return event.get("ph") == "X" and str(event.get("cat", "")).lower() == "kernel" and is_number


def _of(event: Mapping[str, Any], name: str) -> Any:
    arguments = event.get("args")
    return arguments.get(name) if isinstance(arguments, Mapping) else None


def _device(event: Mapping[str, Any]) -> int | None:
    device = _of(event, "device")
    return device if isinstance(device, int) else None


def _shape(sizes: Any) -> tuple[int, ...] | None:
    if isinstance(sizes, list) and len(sizes) == 3 and all(isinstance(size, int) and size > 0 for size in sizes):
        return tuple(sizes)
    return None
