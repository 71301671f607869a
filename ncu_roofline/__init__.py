"""Hierarchical rooflines from NVIDIA Nsight Compute reports, with the evidence behind every number.

>>> import ncu_roofline as nr
>>> analysis = nr.analyze("report.csv")  # doctest: +SKIP
>>> analysis.launches, analysis.points, analysis.findings  # doctest: +SKIP

Importing this package is fast: what it offers is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ncu_roofline.errors import NcuRooflineError

if TYPE_CHECKING:
    from ncu_roofline.analysis import Analysis
    from ncu_roofline.comparison import Comparison
    from ncu_roofline.maps import load_map
    from ncu_roofline.pipeline import analyze, compare, read
    from ncu_roofline.readers import Report

_LAZY = {
    "Analysis": "ncu_roofline.analysis",
    "Comparison": "ncu_roofline.comparison",
    "Report": "ncu_roofline.readers",
    "analyze": "ncu_roofline.pipeline",
    "compare": "ncu_roofline.pipeline",
    "load_map": "ncu_roofline.maps",
    "read": "ncu_roofline.pipeline",
}

__all__ = ["Analysis", "Comparison", "NcuRooflineError", "Report", "analyze", "compare", "load_map", "read"]


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name == "__version__":
        return import_module("ncu_roofline.version").VERSION
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
