"""What an explanation consists of: launches, subjects, steps and printed cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ncu_roofline.arrays import Columns
from ncu_roofline.checks import Finding
from ncu_roofline.counters import CounterView
from ncu_roofline.evaluate import Quantities
from ncu_roofline.maps import MetricMap
from ncu_roofline.measured import MeasuredCeilings
from ncu_roofline.normalise import Counters
from ncu_roofline.vocabulary import Extent

COUNTED: Final = (Extent.EXACT.label, Extent.AT_LEAST.label)
"""Extents of amounts that are in intensities and bounds."""


@dataclass(frozen=True)
class Step:
    """One number: its column, value and unit, the formula in names, and the same with numbers put in.

    ``source`` and ``clock`` (Hz) are those of a ceiling. ``limit`` is ``at_least`` or ``at_most`` where the number is
    a bound of the true one.
    """

    name: str
    value: float
    unit: str
    formula: str
    numbers: str
    source: str | None = None
    clock: float | None = None
    limit: str | None = None


@dataclass(frozen=True)
class Cell:
    """One printed value of the report and what it is in base units (``rounding``: half the printed step).

    A binary report has no lines and no text; then ``text`` has all digits of the stored number.

    Derived values of charts are printed as a multiple of the counter; ``divided_by`` takes that back.
    """

    metric: str
    section: str
    printed_name: str
    text: str
    unit: str
    line: int | None
    value: float
    base_unit: str
    rounding: float
    divided_by: int
    path: str | None = None
    """The input that it is from, where several captures were put together."""


@dataclass(frozen=True)
class Explained:
    """One subject: the steps to its numbers, the cells that they stand on, the map entry, and what is lacking.

    ``alternative`` says which of the map entry's alternatives was used; ``collect`` is the command that would give what
    is not known, or a better answer.
    """

    subject: str
    extent: str | None
    measure: str | None
    remark: str | None
    steps: tuple[Step, ...]
    cells: tuple[Cell, ...]
    map_file: str | None
    map_line: int | None
    collect: str | None
    alternative: str | None = None


@dataclass(frozen=True)
class Explanation:
    """A launch and its explained subjects; the hashes are SHA-256."""

    path: str
    sha256: str
    form: str
    map: str
    map_sha256: Mapping[str, str]
    launch: Mapping[str, Any]
    subjects: tuple[Explained, ...]
    findings: tuple[Finding, ...]
    """Findings that name this launch."""


@dataclass(frozen=True)
class Launch:
    """One launch, evaluated on its own, and its row of the analysis."""

    columns: Columns
    row: Mapping[str, Any]
    metric_map: MetricMap
    view: CounterView
    quantities: Quantities
    counters: Counters
    position: int
    paths: tuple[str, ...]
    """Of all inputs."""
    measured: MeasuredCeilings | None

    def number(self, column: str) -> float:
        """A number of the row of the analysis; NaN where it is not known."""
        value = self.row.get(column)
        return math.nan if value is None else float(value)
