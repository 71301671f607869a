"""What a ratio of two numbers that should be one usually means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_NEAR: Final = 0.002
"""Share within which a ratio is taken for a known one; printed numbers have three digits and more."""
_BINARY: Final = {
    1.024: "KB against KiB",
    1.024**2: "MB against MiB",
    1.024**3: "GB against GiB",
    1.024**4: "TB against TiB",
}
_FACTORS: Final = {
    2.0: "a fused multiply-add counted as one operation, or a sparse peak for a dense one",
    1e3: "a slip of one prefix or unit of time (factor 1000)",
    1e6: "a slip of two prefixes (factor 1000000)",
    8.0: "bits against bytes",
    32.0: "sectors against bytes, or warp against thread instructions",
}


def likely_cause(ratio: float) -> str:
    """The usual cause of a ratio, in either direction; empty if it is none that is known."""
    return next(_causes(ratio), "")


def is_binary_prefix(ratio: float) -> bool:
    """Whether a ratio is that of a decimal and a binary prefix."""
    return any(_is_near(ratio, factor) for factor in _BINARY)


def _causes(ratio: float) -> Iterator[str]:
    for factor, cause in (_BINARY | _FACTORS).items():
        if _is_near(ratio, factor):
            yield cause


def _is_near(ratio: float, factor: float) -> bool:
    return any(abs(ratio / known - 1.0) < _NEAR for known in (factor, 1.0 / factor))
