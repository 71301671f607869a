"""NVIDIA's own list of the metrics of a chip, asked through the published host API; no GPU and no driver is needed.

The library is ``libnvperf_host.so`` of the CUPTI wheels. The newest one no longer has the chips before Turing, so the
one of CUDA 12 is asked for those. Structures and calls are those of ``nvperf_host.h`` and ``nvperf_cuda_host.h``, which
the wheels ship.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, ClassVar

WHEELS = ("nvidia-cuda-cupti", "nvidia-cuda-cupti-cu12")
"""The wheels with the library, newest first."""

LIBRARY = "libnvperf_host.so"
METRIC_TYPES = (0, 1, 2)
"""``NVPW_MetricType``: counter, ratio, throughput."""


class HostLibraryMissingError(Exception):
    """The library cannot be had here: another platform, or a wheel that is not installed."""


class HostLibraryError(Exception):
    """A call of the library failed."""


class UnknownChipError(Exception):
    """No installed version of the library knows the chip."""


class _Params(ctypes.Structure):
    """Arguments of one call: how long they are, a pointer that stays null, and what the call needs."""

    _fields_: ClassVar[Sequence[tuple[str, type[Any]]]] = (
        ("struct_size", ctypes.c_size_t),
        ("private", ctypes.c_void_p),
    )


class _SupportedChips(_Params):
    _fields_ = (("chip_names", ctypes.POINTER(ctypes.c_char_p)), ("count", ctypes.c_size_t))
    chip_names: ctypes._Pointer[ctypes.c_char_p]
    count: int


class _ScratchBufferSize(_Params):
    _fields_ = (("chip_name", ctypes.c_char_p), ("availability", ctypes.c_void_p), ("size", ctypes.c_size_t))
    size: int


class _Initialize(_Params):
    _fields_ = (
        ("scratch_buffer", ctypes.c_void_p),
        ("scratch_buffer_size", ctypes.c_size_t),
        ("chip_name", ctypes.c_char_p),
        ("availability", ctypes.c_void_p),
        ("counter_data", ctypes.c_void_p),
        ("counter_data_size", ctypes.c_size_t),
        ("evaluator", ctypes.c_void_p),
    )
    evaluator: int


class _Destroy(_Params):
    _fields_ = (("evaluator", ctypes.c_void_p),)


class _MetricNames(_Params):
    _fields_ = (
        ("evaluator", ctypes.c_void_p),
        ("metric_type", ctypes.c_uint8),
        ("names", ctypes.c_void_p),
        ("begins", ctypes.POINTER(ctypes.c_size_t)),
        ("count", ctypes.c_size_t),
    )
    names: int
    begins: ctypes._Pointer[ctypes.c_size_t]
    count: int


def _call(library: ctypes.CDLL, name: str, params: _Params) -> None:
    # The size goes up to the end of the last member, without the padding that may follow it.
    last = getattr(type(params), params._fields_[-1][0])
    params.struct_size = last.offset + last.size
    status = getattr(library, name)(ctypes.byref(params))
    if status != 0:
        raise HostLibraryError(f"{name} answered with NVPA_Status {status}")


def _library_path(wheel: str) -> Path:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise HostLibraryMissingError(f"{LIBRARY} is asked on Linux x86_64 only, this is {platform.platform()}")
    try:
        installed = distribution(wheel)
    except PackageNotFoundError:
        raise HostLibraryMissingError(f"{wheel} is not installed; it is part of the extra 'dev'") from None
    for path in installed.files or ():
        if path.name == LIBRARY:
            return Path(str(path.locate()))
    raise HostLibraryMissingError(f"{wheel} {installed.version} has no {LIBRARY}")


@cache
def _load(wheel: str) -> ctypes.CDLL:
    library = ctypes.CDLL(str(_library_path(wheel)))
    _call(library, "NVPW_InitializeHost", _Params())
    return library


@cache
def known_chips(wheel: str) -> frozenset[str]:
    """Chips that the library of this wheel knows."""
    params = _SupportedChips()
    _call(_load(wheel), "NVPW_GetSupportedChipNames", params)
    return frozenset(name.decode() for name in params.chip_names[: params.count])


@cache
def metric_names(chip: str) -> frozenset[str]:
    """Names without a rollup of all counters, ratios and throughputs of a chip, from the newest library with it."""
    for wheel in WHEELS:
        if chip in known_chips(wheel):
            return _metric_names(_load(wheel), chip)
    known = sorted(frozenset[str]().union(*map(known_chips, WHEELS)))
    raise UnknownChipError(f"{LIBRARY} of {' and '.join(WHEELS)} does not know the chip {chip!r}, only {known}")


def _metric_names(library: ctypes.CDLL, chip: str) -> frozenset[str]:
    needed = _ScratchBufferSize(chip_name=chip.encode())
    _call(library, "NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize", needed)
    # The evaluator works in this buffer, so that it has to outlive it.
    scratch = ctypes.create_string_buffer(needed.size)
    created = _Initialize(
        scratch_buffer=ctypes.addressof(scratch), scratch_buffer_size=needed.size, chip_name=chip.encode()
    )
    _call(library, "NVPW_CUDA_MetricsEvaluator_Initialize", created)
    names: set[str] = set()
    try:
        for metric_type in METRIC_TYPES:
            listed = _MetricNames(evaluator=created.evaluator, metric_type=metric_type)
            _call(library, "NVPW_MetricsEvaluator_GetMetricNames", listed)
            begins = listed.begins[: listed.count]
            names.update(ctypes.string_at(listed.names + begin).decode() for begin in begins)
    finally:
        _call(library, "NVPW_MetricsEvaluator_Destroy", _Destroy(evaluator=created.evaluator))
    return frozenset(names)
