"""Ledgers by kind: formulas of useful work and compulsory bytes, from the sizes of a problem.

Compulsory bytes are those of each operand once: inputs read, outputs written, nothing in the caches before and nothing
left in them after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

SIZES: Final[Mapping[str, float]] = {
    "fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "fp4": 0.5, "int4": 0.5,
}  # fmt: skip
"""Bytes of an element; TF32 is stored as FP32."""
UNSTATED: Final = "unstated"
"""Default of a number that is not known when it is not given."""
_OPERATIONS: Final = frozenset({"int8", "int4"})
"""Types whose work is counted in OP."""

Parameters = Mapping[str, float | str]


@dataclass(frozen=True)
class Ledger:
    """Useful work and compulsory bytes of one problem; NaN: not stated, or none."""

    title: str
    work: float
    unit: str
    """``FLOP`` or ``OP``."""
    read: float
    written: float

    @property
    def compulsory(self) -> float:
        """Bytes that have to move at least."""
        return self.read + self.written


@dataclass(frozen=True)
class Kind:
    """A kind of problem: its parameters with their defaults (None: required), and the ledger of some values."""

    parameters: Mapping[str, float | str | None]
    formula: str
    make: Callable[[Parameters], Ledger]


def _gemm(values: Parameters) -> Ledger:
    m, n, k, batch = (float(values[name]) for name in ("m", "n", "k", "batch"))
    a, b, c = (SIZES[str(values[name] or values["dtype"])] for name in ("a", "b", "c"))
    result = batch * m * n * c
    return Ledger(
        title=f"GEMM {m:.0f} x {n:.0f} x {k:.0f}{f' x {batch:.0f}' if batch > 1 else ''} in {values['dtype']}",
        work=2.0 * m * n * k * batch,
        unit=_unit(values),
        read=batch * (m * k * a + k * n * b) + (result if float(values["beta"]) else 0.0),
        written=result,
    )


def _axpy(values: Parameters) -> Ledger:
    n, size = float(values["n"]), SIZES[str(values["dtype"])]
    return Ledger(f"AXPY of {n:.0f} in {values['dtype']}", 2.0 * n, _unit(values), 2.0 * n * size, n * size)


def _copy(values: Parameters) -> Ledger:
    size = float(values["bytes"])
    return Ledger(f"copy of {size:.0f} byte", math.nan, "FLOP", size, size)


def _work(values: Parameters) -> Ledger:
    flop, macs, read, written = (float(values[name]) for name in ("flop", "macs", "read", "written"))
    work = _stated(flop) + 2.0 * _stated(macs) if not (math.isnan(flop) and math.isnan(macs)) else math.nan
    if math.isnan(read) and math.isnan(written):
        return Ledger("work as stated", work, "FLOP", math.nan, math.nan)
    return Ledger("work as stated", work, "FLOP", _stated(read), _stated(written))


def _stated(value: float) -> float:
    """A number, or 0 where another one was stated instead."""
    return 0.0 if math.isnan(value) else value


def _unit(values: Parameters) -> str:
    return "OP" if values["dtype"] in _OPERATIONS else "FLOP"


KINDS: Final[Mapping[str, Kind]] = {
    "gemm": Kind(
        {"m": None, "n": None, "k": None, "dtype": None, "batch": 1.0, "beta": 0.0, "a": "", "b": "", "c": ""},
        "work 2mnk; read mk of a, kn of b, and mn of c if beta is not 0; written mn of c; a, b, c: types where they "
        "are not dtype",
        _gemm,
    ),
    "axpy": Kind({"n": None, "dtype": None}, "work 2n; read 2n, written n elements", _axpy),
    "copy": Kind({"bytes": None}, "no work; bytes read and written once", _copy),
    "work": Kind(
        {"flop": UNSTATED, "macs": UNSTATED, "read": UNSTATED, "written": UNSTATED},
        "what you know yourself: flop, or macs, of which one is two FLOP; bytes read and written at least",
        _work,
    ),
}
"""Kinds of problems by name."""
