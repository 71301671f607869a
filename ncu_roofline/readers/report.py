"""What every reader returns: the printed cells of one input, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.arrays import Columns, FloatArray, ObjectArray, combined, unknown

Progress = Callable[[str, int, int], None]
"""Is told the path of an input, the bytes of it that were read, and how many there are."""

CELL_SCHEMA: Final = pl.Schema(
    {"launch": pl.Int32(), "printed_as": pl.UInt32(), "text": pl.Categorical(), "line": pl.Int64()}
)
"""One row per printed value: launch position, row of ``RawReport.printed`` that says what it was printed as, value as
printed, 1-based line of the row."""

PRINTED_SCHEMA: Final = pl.Schema({"section": pl.String(), "metric": pl.String(), "unit": pl.String()})
"""What cells were printed as: section (empty on the raw page), metric name or label, and unit."""

RULE_SCHEMA: Final = pl.Schema(
    {"launch": pl.Int32(), "rule": pl.String(), "section": pl.String(), "title": pl.String(), "text": pl.String()}
)
"""One row per message of a rule of NVIDIA."""

IDENTITY_COLUMNS: Final = (
    "kind", "ncu_id", "process", "kernel", "function", "mangled", "context", "stream", "block", "grid",
    "device_ordinal", "cc", "invocations", "nvtx_push_pop", "nvtx_start_stop", "nvtx", "line",
)  # fmt: skip
"""Columns of ``RawReport.launches``: texts as printed, or None; ``kind`` is that of a binary report; ``nvtx`` has
tuples of (domain, range) of a binary report, and ``line`` numbers (0: there are no lines)."""

REPLAY: Final = "==PROF== Creating report from application replay"
"""How ncu says that time and counters come from different runs of the application."""

HISTOGRAM: Final = "sass__inst_executed_per_opcode_with_modifier_all"
"""The metric whose instances count every opcode with all its modifiers."""


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
    profiled: int = 0
    """How many launches ncu says among them that it profiled."""

    @property
    def replayed(self) -> bool:
        """Whether ncu says among them that it replayed the application."""
        return any(text.startswith(REPLAY) for _, text in self.messages)

    @property
    def total(self) -> int:
        """All skipped lines."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Session:
    """How a report was made, as far as it says so."""

    command_line: str | None = None
    ncu_version: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    """Everything it says about tools and machine, by name."""
    processes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    path: str | None = None
    """The session page that says so; None: the report itself."""


@dataclass(frozen=True)
class Loss:
    """Launches that an input lost at its end."""

    problem: str
    at_least: int
    """How many launches it promised and does not have."""


@dataclass(frozen=True)
class Stored:
    """Values of a binary report: a column over the launches for each metric, numbers in base units."""

    values: Mapping[str, FloatArray] = field(default_factory=dict)
    texts: Mapping[str, ObjectArray] = field(default_factory=dict)
    opcodes: Mapping[str, FloatArray] = field(default_factory=dict)
    """Executed warp instructions by opcode with modifiers, NaN where no histogram was collected."""


def opcode_columns(histograms: Mapping[int, Mapping[str, float]], launches: int) -> dict[str, FloatArray]:
    """Histograms of some launches as a column for each opcode, as in ``Stored.opcodes``.

    An opcode that the histogram of a launch does not list was not executed.
    """
    columns: dict[str, FloatArray] = {}
    for opcode in dict.fromkeys(opcode for counts in histograms.values() for opcode in counts):
        columns[opcode] = unknown(launches)
        columns[opcode][list(histograms)] = [counts.get(opcode, 0.0) for counts in histograms.values()]
    return columns


def numbered_cells(cells: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells whose section, metric and unit are columns of their own, as those of a ``RawReport``.

    Returns:
        cells (schema ``CELL_SCHEMA``) and what they were printed as, in order of first appearance (``PRINTED_SCHEMA``).

    """
    number, firsts = combined([cells[name].cast(pl.Categorical).to_physical().to_numpy() for name in PRINTED_SCHEMA])
    columns = {name: cells[name] for name in cells.columns} | {"printed_as": pl.Series(number, dtype=pl.UInt32)}
    return (
        pl.DataFrame({name: columns[name].cast(dtype) for name, dtype in CELL_SCHEMA.items()}),
        pl.DataFrame({name: columns[name][firsts].cast(dtype) for name, dtype in PRINTED_SCHEMA.items()}),
    )


@dataclass(frozen=True)
class RawReport:
    """One input as printed or, of a binary report, as stored."""

    path: str
    digest: Callable[[], str]
    """Gives the SHA-256 of the input; read when somebody asks, since it takes longer than the table."""
    form: str
    launches: Columns
    cells: pl.DataFrame
    """The printed values (schema ``CELL_SCHEMA``); a binary report has none."""
    printed: pl.DataFrame
    """What they were printed as (schema ``PRINTED_SCHEMA``)."""
    skipped: SkippedLines
    rule_rows: int = 0
    """Rows of the details page that carry a rule result instead of a metric."""
    stored: Stored | None = None
    """Values of a binary report."""
    rules: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RULE_SCHEMA))
    """What NVIDIA's own rules said, of a binary report that was read as a whole (schema ``RULE_SCHEMA``)."""
    session: Session = field(default_factory=Session)
    loss: Loss | None = None
    rows_of_launch: npt.NDArray[np.int64] | None = None
    """Rows of metrics of each launch, where a launch has several."""
    rewritten: str = ""
    """How the table was turned back into one of ncu, where another program had written it again."""

    def __len__(self) -> int:
        return len(self.launches["line"])


@dataclass(frozen=True)
class Report:
    """Several inputs as printed, in the order in which they were given."""

    inputs: tuple[RawReport, ...]

    def __len__(self) -> int:
        return sum(len(report) for report in self.inputs)
