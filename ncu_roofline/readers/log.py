"""The text output of ncu for people: a line per launch, sections below it, and tables between rulers.

Up to 2022 a table is 70, 15 and 30 characters wide and has no header; later it is as wide as it needs to be. Texts of
rules and everything that is not of a launch are counted and passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from ncu_roofline.arrays import objects
from ncu_roofline.errors import InputError
from ncu_roofline.readers.details import NOT_AVAILABLE, name_of
from ncu_roofline.readers.lines import LineLog
from ncu_roofline.readers.newlines import Text
from ncu_roofline.readers.report import IDENTITY_COLUMNS, PRINTED_SCHEMA, RawReport, numbered_cells

FORM: Final = "text-log"

_LAUNCH: Final = re.compile(
    r"\s*(?P<kernel>\S.*?)"
    r"(?: (?P<grid>\([0-9]+, [0-9]+, [0-9]+\))x(?P<block>\([0-9]+, [0-9]+, [0-9]+\)))?"
    r"(?:, [0-9]{4}-[A-Z][a-z]{2}-[0-9]{2} [0-9:]{8})?"
    r", Context (?P<context>[0-9]+)(?:, Stream (?P<stream>[0-9]+)|(?=, Device [0-9]+, CC [0-9]))"
    r"(?:, Device (?P<device_ordinal>[0-9]+), CC (?P<cc>[0-9]+\.[0-9]+))?"
    r"(?:, Invocations (?P<invocations>[0-9,.]+))?"
    r"(?:, (?!Device )[A-Z].*)?\s*"
)
_MARK: Final = re.compile(rb", Context [0-9]+, (?:Stream [0-9]+|Device [0-9]+, CC [0-9])")
"""What every line of a launch has; that of a range names no stream."""
_PROCESS: Final = re.compile(r"\[([0-9]+)\] \S.*@\S+\s*")
_SECTION: Final = re.compile(r"\s+Section: (.*\S)\s*")
_RULER: Final = re.compile(r"\s*-{3,}(?: -{3,})+\s*")
_RULE: Final = re.compile(r"\s+(?:OPT|WRN|INF|ERR|OK)\s{2,}\S.*")
_WIDE: Final = re.compile(r"\s*(?P<metric>\S*__\S*)(?:\s+(?P<unit>\S+))??\s+(?P<text>(?:\(!\) )?\S+)\s*")
_COLUMNS: Final = {"Metric Name": "metric", "Metric Unit": "unit", "Metric Value": "text", "Average": "text"}
_WITHOUT_HEADER: Final = ("metric", "unit", "text")


def is_log(text: Text) -> bool:
    """Whether a text has launches as ncu prints them for people."""
    return _MARK.search(text) is not None


@dataclass
class _Table:
    """An open table: where its columns are, by the ruler above it, and what is in them."""

    spans: Sequence[tuple[int, int]]
    names: Sequence[str | None]
    has_header: bool = False
    below_header: bool = False
    last: int | None = None
    """Place of the cell of the last row, None where it was not kept."""

    def cells(self, line: str) -> dict[str, str]:
        """The cells of a line by name; empty if it does not fit."""
        if all(line[end : end + 1] in ("", " ") for _, end in self.spans[:-1]):
            begins = [start for start, _ in self.spans]
            parts = [line[begin:end].strip() for begin, end in zip(begins, [*begins[1:], None], strict=True)]
            return {name: part for name, part in zip(self.names, parts, strict=False) if name}
        # The name of a metric that is wider than its column pushes the others to the right.
        found = _WIDE.fullmatch(line)
        return found.groupdict("") if found and tuple(self.names) == _WITHOUT_HEADER else {}


@dataclass
class _Log:
    """Collects launches and cells line by line."""

    names: AbstractSet[str] | None
    skipped: LineLog = field(default_factory=LineLog)
    identity: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in IDENTITY_COLUMNS})
    cells: list[tuple[int, str, str, str, str, int]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    """Rows of metrics of each launch."""
    rules: int = 0
    process: str | None = None
    section: str = ""
    table: _Table | None = None
    in_rule: bool = False
    is_lost: bool = False
    """Whether the line of the launch could not be read."""

    def take(self, line: str, number: int) -> None:
        """Take one line."""
        if not line.strip():
            self.table, self.in_rule = None, False
        elif found := _PROCESS.fullmatch(line):
            self.process = found[1]
        elif ", Context " in line and (found := _LAUNCH.fullmatch(line)):
            self._launch(found, number)
        elif _MARK.search(line.encode()):
            # What follows belongs to a launch that is not known, and to no other.
            self.skipped.skip("damaged", line.encode(), number)
            self.is_lost, self.table, self.in_rule = True, None, False
        elif self.is_lost:
            self.skipped.skip("foreign", line.encode(), number)
        elif not self.identity["line"]:
            self.skipped.skip("preface", line.encode(), number)
        elif found := _SECTION.fullmatch(line):
            self.section, self.table, self.in_rule = found[1], None, False
        elif self.in_rule:
            pass
        elif _RULER.fullmatch(line):
            self._ruler(line)
        elif self.table is not None:
            self._row(self.table, line, number)
        elif _RULE.match(line):
            self.rules += 1
            self.in_rule = True
        else:
            self.skipped.skip("foreign", line.encode(), number)

    def _launch(self, found: re.Match[str], number: int) -> None:
        parts: dict[str, Any] = {**found.groupdict(), "process": self.process, "line": number}
        for name, values in self.identity.items():
            values.append(parts.get(name))
        self.rows.append(0)
        self.section, self.table, self.in_rule, self.is_lost = "", None, False, False

    def _ruler(self, line: str) -> None:
        if self.table is None:
            self.table = _Table([match.span() for match in re.finditer("-+", line)], _WITHOUT_HEADER)
        elif self.table.has_header and not self.table.below_header:
            self.table.below_header = True
        else:
            self.table = None

    def _row(self, table: _Table, line: str, number: int) -> None:
        cells = table.cells(line)
        if cells.get("metric") == "Metric Name":
            table.names = [_COLUMNS.get(line[start:end].strip()) for start, end in table.spans]
            table.has_header = True
        elif cells.get("metric") and "text" in cells and len(table.spans) == len(table.names):
            self.rows[-1] += 1
            metric = name_of(cells["metric"])
            table.last = None
            if self.names is None or metric in self.names or cells["text"] in NOT_AVAILABLE:
                launch = len(self.identity["line"]) - 1
                table.last = len(self.cells)
                self.cells.append((launch, self.section, metric, cells.get("unit", ""), cells["text"], number))
        elif self.rows[-1] and cells.get("text") and not cells.get("metric") and not cells.get("unit"):
            # A text that is wider than its column, such as the name of a device, goes on below it.
            if table.last is not None:
                launch, section, metric, unit, text, at = self.cells[table.last]
                self.cells[table.last] = (launch, section, metric, unit, f"{text} {cells['text']}", at)
        else:
            self.skipped.skip("foreign", line.encode(), number)


def read_log(path: str, text: Text, names: AbstractSet[str] | None, digest: Callable[[], str]) -> RawReport:
    """Read the launches of a text for which ``is_log`` holds.

    Args:
        path: how the input is called in messages.
        text: its content as UTF-8.
        names: printed metric names and labels to keep; None keeps all.
        digest: gives the SHA-256 of the input.

    Raises:
        InputError: if no line of a launch can be read.

    """
    log = _Log(names)
    for number, line in enumerate(text[:].decode("utf-8", "replace").split("\n"), start=1):
        log.take(line.rstrip("\r"), number)
    if not log.identity["line"]:
        damaged = log.skipped.lines["damaged"][0]
        raise InputError(path, "no line that names a launch can be read", "Give the whole output of ncu.", damaged)
    cells, printed = numbered_cells(
        pl.DataFrame(log.cells, schema=["launch", *PRINTED_SCHEMA, "text", "line"], orient="row")
    )
    return RawReport(
        path=path,
        digest=digest,
        form=FORM,
        launches={name: objects(values) for name, values in log.identity.items()},
        cells=cells,
        printed=printed,
        skipped=log.skipped.result(),
        rule_rows=log.rules,
        rows_of_launch=np.array(log.rows),
    )
