"""Rules on printed cells (R): values and units that cannot be used, each with how many there are and the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl

from ncu_roofline.arrays import BoolArray
from ncu_roofline.checks.rule import Evidence, InputFacts, View
from ncu_roofline.vocabulary import Severity
from ncu_roofline.wording import count, some

_SHOWN = 5
_IDENTITY = {"grid": "grid", "block": "block", "device_ordinal": "device", "cc": "compute capability"}


def conflicting_values(view: View) -> Iterator[Evidence]:
    """One metric of one launch was printed with values that contradict each other.

    The same metric may be in several sections of a report and is then printed more than once, possibly
    rounded differently. Values that differ by more than their rounding cannot both be true; the one that is
    printed with more digits is used.
    """
    for facts in view.inputs:
        if facts.conflicts.height:
            row = facts.conflicts.row(0, named=True)
            yield Evidence(
                _launches(view, facts, facts.conflicts),
                f"{facts.path}: {count(facts.conflicts.height, 'printed value')} against another one of the same "
                f"metric and launch, first {row['metric']} with {row['text']} {row['unit']} on line {row['line']} "
                f"against the value on line {row['line_used']}, which is used.",
                "The file may hold two reports of the same launches; analyse them one by one.",
            )


def not_available(view: View) -> Iterator[Evidence]:
    """A counter was asked for and printed as not available.

    ncu prints ``n/a``, ``(!) n/a`` or ``(!) nan`` when the chip does not have a metric, when its name is
    misspelt, or when no value was measured. What depends on it is unknown, not zero.
    """
    for facts in view.inputs:
        if facts.not_available.height:
            names = facts.not_available["metric"].unique(maintain_order=True).to_list()
            yield Evidence(
                _launches(view, facts, facts.not_available),
                f"{facts.path}: printed as not available: {some(names, _SHOWN)}.",
                _spelling(view, names),
            )


def not_a_number(view: View) -> Iterator[Evidence]:
    """The value of a counter is not a number that can have been counted.

    The cell cannot be read as a number of the file's format, or its size is beyond every counter. It is taken as not
    collected.
    """
    for facts in view.inputs:
        for row, number, mask in _by_metric(view, facts, facts.not_numbers):
            yield Evidence(
                mask,
                f"{facts.path}: {count(number, 'value')} of {row['metric']} cannot be read as a counted number: "
                f"{row['text']!r} on line {row['line']}{' is the first' if number > 1 else ''}.",
                f"{_effect(row)} Export the report again.",
                _weight(view, row),
            )


def unit_not_understood(view: View) -> Iterator[Evidence]:
    """The unit of a counter does not fit it, or is unknown.

    Bytes that are printed as instructions, a duration in cycles or a rate without "per second" cannot be converted: no
    factor is known, and a guessed one gives a wrong number. Such a value is unknown, and so is what depends on it; the
    rest of the report is used. Sectors of bytes are converted, since a sector is 32 bytes. The finding is a warning
    where a metric map in use reads the counter, else a note.
    """
    for facts in view.inputs:
        for row, number, mask in _by_metric(view, facts, facts.bad_units):
            yield Evidence(
                mask,
                f"{facts.path}: {row['metric']} {row['problem']}: {count(number, 'value')} not used, "
                f"{'first on' if number > 1 else 'on'} line {row['line']} ({row['text']}).",
                f"{_effect(row)} Export again with `ncu --import REPORT --csv --page raw --print-units base`, or "
                "report the unit so that it can be added.",
                _weight(view, row),
            )


def identity_not_understood(view: View) -> Iterator[Evidence]:
    """The grid, the block, the device or the compute capability of a launch cannot be read.

    Such a cell is not known: the launch keeps its counters, and forms a group of its own. Without a compute capability
    only the common metric map is used.
    """
    for facts in view.inputs:
        for name, odd, text, line in facts.odd_identity:
            mask = view.launches_of(facts)
            mask[mask] = odd
            first = " is the first" if odd.sum() > 1 else ""
            yield Evidence(
                mask,
                f"{facts.path}: {count(int(odd.sum()), 'launch')} with a {_IDENTITY[name]} that cannot be read: "
                f"{text!r} on line {line}{first}.",
                "It is taken as not known. Export the report again.",
            )


def negative_value(view: View) -> Iterator[Evidence]:
    """A counter is negative.

    Everything that is used counts something. A negative value was not measured and is taken as not collected.
    """
    for facts in view.inputs:
        advice = "Profile again; do not use this report."
        yield from _refused(view, facts, facts.negative, "below zero, first {text} {unit}", advice)


def _by_metric(view: View, facts: InputFacts, cells: pl.DataFrame) -> Iterator[tuple[dict[str, Any], int, BoolArray]]:
    """The cells of each metric and unit: the first as a row, how many there are, and their launches.

    Those whose launch has the metric from another cell are told apart.
    """
    for part in cells.partition_by("metric", "unit", "is_known", maintain_order=True):
        yield part.sort("line").row(0, named=True), part.height, _launches(view, facts, part)


def _weight(view: View, row: Mapping[str, Any]) -> Severity:
    """How much it matters: a warning where a map in use reads the metric and no other cell has it."""
    is_missed = row["metric"] in view.read_metrics() and not row["is_known"]
    return Severity.WARNING if is_missed else Severity.NOTE


def _effect(row: Mapping[str, Any]) -> str:
    """What becomes of the metric."""
    if row["is_known"]:
        return "Another cell of the same launch has the metric, which is used."
    return "The metric is unknown for these launches, everything else is used."


def _refused(view: View, facts: InputFacts, cells: pl.DataFrame, what: str, advice: str = "") -> Iterator[Evidence]:
    """Cells of an input that are no measured values, with the first of them; ``what`` may name its text and unit."""
    if cells.height:
        row = cells.row(0, named=True)
        found = f"{count(cells.height, 'value')} {what.format(text=row['text'], unit=row['unit'])}"
        yield Evidence(
            _launches(view, facts, cells), f"{facts.path}: {found} of {row['metric']} on line {row['line']}.", advice
        )


def units_not_stated(view: View) -> Iterator[Evidence]:
    """An input states no units of time, bytes or rates.

    Reports of 2019 have none, and neither has an export of a chip that is newer than the ncu which made the export. ncu
    then chooses no prefix either: the numbers are in base units, nanoseconds, bytes, events and events per second.
    """
    for facts in view.inputs:
        if not facts.has_units:
            yield Evidence(
                view.launches_of(facts),
                f"{facts.path}: no units of time, bytes or rates are printed; such numbers are taken as base units "
                "(nanosecond, byte, per second).",
            )


def european_numbers(view: View) -> Iterator[Evidence]:
    """The numbers of an input are written with a decimal comma.

    ncu follows the locale of the machine it ran on. The format was decided from cells that can be read in
    one way only and applied to the whole file; ``--locale c`` overrules it.
    """
    for facts in view.inputs:
        if facts.locale == "european":
            yield Evidence(
                np.zeros(view.size, np.bool_),
                f"{facts.path}: numbers are read with a decimal comma and with dots between thousands.",
            )


def _spelling(view: View, names: list[str]) -> str:
    """Names that exist and look like those that were not available."""
    known = view.read_metrics()
    near = {name: get_close_matches(name, known - {name}, 1, 0.9) for name in names[:_SHOWN] if name not in known}
    meant = ", ".join(f"{name} -> {match[0]}" for name, match in near.items() if match)
    advice = "Not every chip has every metric: `ncu --query-metrics` lists those of a chip."
    return f"Misspelt? {meant}. {advice}" if meant else advice


def _launches(view: View, facts: InputFacts, cells: pl.DataFrame) -> BoolArray:
    mask = np.zeros(view.size, np.bool_)
    mask[facts.first_launch + cells["launch"].unique().to_numpy()] = True
    return mask
