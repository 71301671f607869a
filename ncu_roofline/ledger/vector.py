"""Ledgers of problems on vectors and grids: copies, BLAS 1, elements, reductions, FFT, stencils, and stated work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from ncu_roofline.ledger.problem import (
    Kind,
    Ledger,
    Parameter,
    Parameters,
    dtype,
    number_of,
    size,
    size_of,
    unit_of,
    vector_paths,
)

_STATED: Final = ("fp32", "fp64", "fp16")


def _simple(values: Parameters, title: str, work: float, read: float, written: float) -> Ledger:
    """A ledger of elements: read and written in elements of the type."""
    element = size_of(values["dtype"])
    return Ledger(
        f"{title} in {values['dtype']}", work, unit_of(values["dtype"]), read * element, written * element,
        vector_paths(values["dtype"]),
    )  # fmt: skip


def _axpy(values: Parameters) -> Ledger:
    (n,) = number_of(values, "n")
    return _simple(values, f"AXPY of {n:.0f}", 2.0 * n, 2.0 * n, n)


def _dot(values: Parameters) -> Ledger:
    (n,) = number_of(values, "n")
    return _simple(values, f"dot product of {n:.0f}", 2.0 * n, 2.0 * n, 1.0)


def _elementwise(values: Parameters) -> Ledger:
    n, inputs, outputs, flop = number_of(values, "n", "inputs", "outputs", "flop")
    return _simple(values, f"work of {flop:g} on each of {n:.0f}", flop * n, inputs * n, outputs * n)


def _reduction(values: Parameters) -> Ledger:
    n, results = number_of(values, "n", "results")
    return _simple(values, f"reduction of {n:.0f} to {results:.0f}", max(n - results, 0.0), n, results)


def _fft(values: Parameters) -> Ledger:
    n, batch, passes = number_of(values, "n", "batch", "passes")
    moved = 2.0 * n * batch * passes
    return _simple(values, f"complex FFT of {n:.0f} x {batch:.0f}", 5.0 * n * math.log2(n) * batch, moved, moved)


def _stencil(values: Parameters) -> Ledger:
    cells, points, flop, steps = number_of(values, "cells", "points", "flop", "steps")
    flop = points + 1.0 if math.isnan(flop) else flop
    reads = points if values["reuse"] == "none" else 1.0
    allocated = 1.0 if values["write_allocate"] == "yes" else 0.0
    updates = cells * steps
    return _simple(
        values,
        f"{points:.0f}-point stencil on {cells:.0f} cells",
        flop * updates,
        (reads + allocated) * updates,
        updates,
    )


def _copy(values: Parameters) -> Ledger:
    (moved,) = number_of(values, "bytes")
    return Ledger(f"copy of {moved:.0f} byte", math.nan, "FLOP", moved, moved)


def _work(values: Parameters) -> Ledger:
    flop, macs, read, written = number_of(values, "flop", "macs", "read", "written")
    work = _stated(flop) + 2.0 * _stated(macs) if not (math.isnan(flop) and math.isnan(macs)) else math.nan
    if math.isnan(read) and math.isnan(written):
        return Ledger("work as stated", work, "FLOP", math.nan, math.nan, _STATED)
    return Ledger("work as stated", work, "FLOP", _stated(read), _stated(written), _STATED)


def _impossible_work(values: Parameters) -> str:
    if not any(float(values[name]) >= 0 for name in ("flop", "macs", "read", "written")):
        return "work needs flop or macs, read or written"
    return (
        "flop and macs are the same work: give one of them"
        if float(values["flop"]) + float(values["macs"]) >= 0
        else ""
    )


def _stated(value: float) -> float:
    """A number, or 0 where another one was stated instead."""
    return 0.0 if math.isnan(value) else value


_N: Final = {"n": size("elements of a vector"), "dtype": dtype()}
_PACKED: Final = "types of two bytes and less may be computed two at a time"
_YES_NO: Final = ("no", "yes")

KINDS: Final[Mapping[str, Kind]] = {
    "axpy": Kind(_N, "work 2n; read 2n, written n elements", _axpy, ("y = a x + y, and a is a number", _PACKED)),
    "dot": Kind(
        _N, "work 2n; read 2n elements, written one", _dot, ("partial sums stay on the chip", _PACKED)
    ),
    "elementwise": Kind(
        _N
        | {
            "inputs": size("vectors that are read", 1.0), "outputs": size("vectors that are written", 1.0),
            "flop": size("operations on each element", 1.0, whole=False),
        },
        "work n flop; read n inputs, written n outputs",
        _elementwise,
        ("every vector moves once", _PACKED),
    ),
    "reduction": Kind(
        _N | {"results": size("results", 1.0)}, "work n - results; read n elements, written results", _reduction,
        ("one operation for each element that goes into a result; partial results stay on the chip", _PACKED),
        impossible=lambda values: "results are above n" if float(values["results"]) > float(values["n"]) else "",
    ),
    "fft": Kind(
        {
            "n": size("complex points of a transform", least=2.0),
            "dtype": dtype("type of a real or imaginary part"),
            "batch": size("transforms", 1.0),
            "passes": size("times that all points are read and written: 1 where a transform fits on the chip", 1.0),
        },
        "work 5n log2(n); read and written 2n elements in each pass",
        _fft,
        ("5n log2(n) is the customary count of a complex transform, whatever the algorithm",),
    ),
    "stencil": Kind(
        {
            "cells": size("cells that are updated"),
            "dtype": dtype(),
            "points": size("cells that an update reads", 7.0, least=1.0),
            "flop": size("operations of an update; points + 1 if it is not given", math.nan, whole=False),
            "reuse": Parameter("ideal: each cell is read once; none: for every update that needs it", "ideal",
                               ("ideal", "none")),
            "write_allocate": Parameter("whether a cell is read before it is written", "no", _YES_NO),
            "steps": size("sweeps over all cells, each through memory", 1.0),
        },
        "work cells flop; read cells (points without reuse), and once more with write allocate; written cells",
        _stencil,
        ("GPUs write whole sectors without reading them; caches of CPUs read a line before they write it",),
    ),
    "copy": Kind(
        {"bytes": size("bytes that are copied")}, "no work; bytes read and written once", _copy,
        ("nothing is computed",),
    ),
    "work": Kind(
        {
            "flop": size("work in FLOP", math.nan, whole=False),
            "macs": size("work in multiply-adds, of which one is two FLOP", math.nan, whole=False),
            "read": size("bytes that are read at least", math.nan, whole=False),
            "written": size("bytes that are written at least", math.nan, whole=False),
        },
        "what you know yourself: flop, or macs, of which one is two FLOP; bytes read and written at least",
        _work,
        ("work is on any of FP32, FP64 and FP16, of which the first with a known peak is taken",),
        _impossible_work,
    ),
}  # fmt: skip
"""Kinds of problems by name."""
