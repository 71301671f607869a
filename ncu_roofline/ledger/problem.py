"""What a ledger is: useful work and compulsory bytes of one problem, and the kinds of problems that have one.

Compulsory bytes are those of each operand once: inputs read, outputs written, nothing in the caches before and nothing
left in them after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SIZES: Final[Mapping[str, float]] = {
    "fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "fp4": 0.5, "int4": 0.5,
}  # fmt: skip
"""Bytes of an element; TF32 is stored as FP32."""

LARGEST: Final = 1e24
"""Beyond any problem; products of three such numbers are still finite."""

_TENSOR: Final[Mapping[str, tuple[str, ...]]] = {
    "fp64": ("tensor.fp64", "fp64"),
    "fp32": ("fp32",),
    "tf32": ("tensor.tf32",),
    "fp16": ("tensor.fp16.acc32", "tensor.fp16"),
    "bf16": ("tensor.bf16",),
    "fp8": ("tensor.fp8.acc32", "tensor.fp8", "tensor.fp4_fp6_fp8.acc32"),
    "int8": ("tensor.int8",),
    "fp4": ("tensor.fp4", "tensor.fp4_fp6.acc32", "tensor.fp4_fp6_fp8.acc32"),
    "int4": ("tensor.int4",),
}
_TENSOR_FP16: Final[Mapping[str, tuple[str, ...]]] = {
    "fp16": ("tensor.fp16.acc16", "tensor.fp16"),
    "fp8": ("tensor.fp8.acc16", "tensor.fp8", "tensor.fp4_fp6_fp8.acc16"),
    "fp4": ("tensor.fp4", "tensor.fp4_fp6.acc16", "tensor.fp4_fp6_fp8.acc16"),
}
_PACKED: Final = ("fp16", "bf16", "fp8", "fp4")
"""Types that may be computed two at a time: a bound must not be above what that allows."""

Value = float | str
Parameters = Mapping[str, Value]
"""Values of a problem; a number that is not stated is NaN, a text that is not stated is empty."""


@dataclass(frozen=True)
class Ledger:
    """Useful work and compulsory bytes of one problem; NaN: not stated, or none."""

    title: str
    work: float
    unit: str
    """``FLOP`` or ``OP``."""
    read: float
    written: float
    paths: tuple[str, ...] = ()
    """Instruction paths that can do the work, the best first: which of them there is depends on the device."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the problem by name; names that end in ``_bytes`` are in byte."""

    @property
    def compulsory(self) -> float:
        """Bytes that have to move at least."""
        return self.read + self.written

    @property
    def intensity(self) -> float:
        """Work over bytes; NaN where one of them is not known, or nothing moves."""
        return self.work / self.compulsory if self.compulsory > 0 else math.nan


@dataclass(frozen=True)
class Parameter:
    """A size or a choice of a problem. ``default`` None: it has to be given."""

    meaning: str
    default: Value | None = None
    choices: tuple[str, ...] = ()
    """Of a text; empty: it is a number."""
    whole: bool = True
    least: float = 0.0

    @property
    def is_text(self) -> bool:
        """Whether it is a word and not a number."""
        return bool(self.choices)

    def problem(self, value: Any) -> str:
        """What is wrong with a value; empty if nothing is."""
        if self.is_text:
            value = _word(value)
            is_known = isinstance(value, str) and value in self.choices
            return "" if is_known else f"{value!r}, which is none of {', '.join(filter(None, self.choices))}"
        number = as_number(value)
        if number is None:
            return f"{value!r}, which is no number of at least 0"
        if self.whole and not number.is_integer():
            return f"{value!r} and has to be a whole number"
        return "" if number >= self.least else f"{value!r} and has to be at least {self.least:g}"


@dataclass(frozen=True)
class Kind:
    """A kind of problem: its parameters, formula and assumptions in words, and the ledger of some values."""

    parameters: Mapping[str, Parameter]
    formula: str
    make: Callable[[Parameters], Ledger]
    assumes: tuple[str, ...] = ()
    impossible: Callable[[Parameters], str] = lambda _: ""
    """What is wrong with values that are fine one by one; empty if nothing is."""

    def complete(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """Values of all parameters, those that were not given by their default."""
        values: dict[str, Value] = {}
        for name, parameter in self.parameters.items():
            value = given.get(name, parameter.default)
            number = as_number(value)
            values[name] = str(_word(value)) if parameter.is_text else math.nan if number is None else number
        return values

    def ledger(self, given: Mapping[str, Any]) -> Ledger:
        """The ledger of values without problems."""
        return self.make(self.complete(given))


def as_number(value: Any) -> float | None:
    """A number of at least 0 that a problem can have, or None."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number <= LARGEST else None


def _word(value: Any) -> Any:
    """YAML 1.1 reads yes and no as flags."""
    return ("yes" if value else "no") if isinstance(value, bool) else value


def size_of(dtype: Value) -> float:
    """Bytes of an element of a type."""
    return SIZES[str(dtype)]


def number_of(values: Parameters, *names: str) -> tuple[float, ...]:
    """Some values that are numbers."""
    return tuple(float(values[name]) for name in names)


def unit_of(dtype: Value) -> str:
    """The unit in which work on a type is counted."""
    return "OP" if dtype in ("int8", "int4") else "FLOP"


def tensor_paths(dtype: Value, accumulate: Value = "fp32") -> tuple[str, ...]:
    """Paths of matrix products of a type, by what they accumulate in."""
    fallback = _TENSOR[str(dtype)]
    return _TENSOR_FP16.get(str(dtype), fallback) if accumulate == "fp16" else fallback


def vector_paths(dtype: Value) -> tuple[str, ...]:
    """Paths of element by element arithmetic, the fastest that a type may take first."""
    if unit_of(dtype) == "OP":
        return ("int",)
    return ("fp16", "fp32") if dtype in _PACKED else ("fp64",) if dtype == "fp64" else ("fp32",)


def dtype(meaning: str = "type of the elements", default: str | None = None) -> Parameter:
    """A parameter that is a data type; with the default "" it may be left out."""
    return Parameter(meaning, default, (*SIZES, *([""] if default == "" else [])))


def size(meaning: str, default: float | None = None, *, whole: bool = True, least: float = 0.0) -> Parameter:
    """A parameter that is a number."""
    return Parameter(meaning, default, (), whole, least)
