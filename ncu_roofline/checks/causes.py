"""What a ratio of two numbers that should be one usually means."""

from __future__ import annotations

from typing import Final

_NEAR: Final = 0.002
"""Share within which a ratio is taken for a known one; printed numbers have three digits and more."""
_BINARY: Final = {
    1.024: "KB against KiB",
    1.024**2: "MB against MiB",
    1.024**3: "GB against GiB",
    1.024**4: "TB against TiB",
}
_BYTES: Final = ("byte", "byte/s")
_WORK: Final = ("FLOP", "FLOP/s", "OP", "OP/s")
_FACTORS: Final[tuple[tuple[float, str, tuple[str, ...]], ...]] = (
    *((factor, cause, _BYTES) for factor, cause in _BINARY.items()),
    (1e3, "a slip of one prefix or unit of time (factor 1000)", ()),
    (1e6, "a slip of two prefixes (factor 1000000)", ()),
    (8.0, "bits against bytes", _BYTES),
    (32.0, "sectors against bytes", _BYTES),
    (32.0, "warp against thread instructions", _WORK),
    (100.0, "a percentage taken for a fraction", ("1",)),
)
"""Factor, what it means, and the dimensions of which it does; none named: of all."""


def likely_cause(ratio: float, dimension: str, *, tensor: bool | None = None) -> str:
    """The usual cause of a ratio of two values of a dimension, in either direction; empty if none is known.

    ``tensor``: whether the work is that of tensor cores; None: both may be.
    """
    for factor, cause, dimensions in _FACTORS:
        if _is_near(ratio, factor) and (not dimensions or dimension in dimensions):
            return cause
    if _is_near(ratio, 2.0) and dimension in _WORK:
        causes = [] if tensor else ["a fused multiply-add counted as one operation instead of two"]
        if tensor is not False and dimension.endswith("/s"):
            causes.append("a sparse peak for a dense one")
        return ", or ".join(causes)
    return ""


def is_binary_prefix(ratio: float) -> bool:
    """Whether a ratio is that of a decimal and a binary prefix."""
    return any(_is_near(ratio, factor) for factor in _BINARY)


def _is_near(ratio: float, factor: float) -> bool:
    return any(abs(ratio / known - 1.0) < _NEAR for known in (factor, 1.0 / factor))
