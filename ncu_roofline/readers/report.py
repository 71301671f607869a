"""What every reader returns: the printed cells of one input, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ncu_roofline.arrays import Columns

Progress = Callable[[str, int, int], None]
"""Is told the path of an input, the bytes of it that were read, and how many there are."""

CELL_SCHEMA: Final = pl.Schema(
    {
        "launch": pl.Int32(),
        "section": pl.Categorical(),
        "metric": pl.Categorical(),
        "unit": pl.Categorical(),
        "text": pl.String(),
        "line": pl.Int64(),
    }
)
"""One row per printed value: launch position, section (empty on the raw page), metric name or label, unit,
value as printed, 1-based line of the row."""

IDENTITY_COLUMNS: Final = (
    "ncu_id", "process", "kernel", "context", "stream", "block", "grid", "device_ordinal", "cc",
    "invocations", "nvtx_push_pop", "nvtx_start_stop", "line",
)  # fmt: skip
"""Columns of ``RawReport.launches``; all but ``line`` hold texts as printed, or None."""


@dataclass(frozen=True)
class SkippedLines:
    """Lines of the input that are not part of a table, by kind, with the first line numbers of each kind.

    Kinds: ``preface`` (before the first header), ``foreign`` (between or after rows), ``damaged`` (looks
    like a row but cannot be read as one), ``header`` (a repeated header).
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    messages: tuple[tuple[int, str], ...] = ()
    """Errors, warnings and the replay mode among them, as ncu wrote them, with their lines."""

    @property
    def total(self) -> int:
        """All skipped lines."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class RawReport:
    """One input as printed."""

    path: str
    digest: Callable[[], str]
    """Gives the SHA-256 of the input; read when somebody asks, since it takes longer than the table."""
    form: str
    launches: Columns
    cells: pl.DataFrame
    skipped: SkippedLines
    rule_rows: int = 0
    """Rows of the details page that carry a rule result instead of a metric."""

    def __len__(self) -> int:
        return len(self.launches["line"])


@dataclass(frozen=True)
class Report:
    """Several inputs as printed, in the order in which they were given."""

    inputs: tuple[RawReport, ...]

    def __len__(self) -> int:
        return sum(len(report) for report in self.inputs)
