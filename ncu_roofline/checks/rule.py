"""What a rule, its evidence and a finding are, and how a table of rules is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.arrays import BoolArray, FloatArray, nothing, numbered_rows, unknown
from ncu_roofline.claims import Verdict
from ncu_roofline.collect import COLLECT, collection_command
from ncu_roofline.errors import InputError
from ncu_roofline.identities import Identity
from ncu_roofline.identity import Grids
from ncu_roofline.maps import MetricMap
from ncu_roofline.readers import Loss, SkippedLines
from ncu_roofline.timings import Timings
from ncu_roofline.vocabulary import Severity


@dataclass(frozen=True)
class InputFacts:
    """What reading and normalising one input left behind for the checks."""

    path: str
    first_launch: int
    launches: int
    skipped: SkippedLines
    conflicts: pl.DataFrame
    not_available: pl.DataFrame
    not_numbers: pl.DataFrame
    negative: pl.DataFrame
    bad_units: pl.DataFrame
    locale: str
    has_units: bool
    is_binary: bool = False
    merges_launches: bool = False
    """Whether an entry stands for several launches."""
    loss: Loss | None = None
    cache_control: str | None = None
    clock_control: str | None = None
    replay_mode: str | None = None
    launch_count: int | None = None
    """How many launches were to be profiled at most, where the report says so."""
    rows_of_launch: npt.NDArray[np.int64] | None = None
    """Rows of metrics of each launch, where a launch has several."""
    alike: npt.NDArray[np.intp] | None = None
    """A number for each launch, the same for those of one kernel in one process on one device."""
    odd_identity: tuple[tuple[str, BoolArray, str, int], ...] = ()
    """Columns of the identity with a text that they cannot have: its launches, and text and line of the first."""
    rewritten: str = ""
    """How the table was turned back into one of ncu, where another program had written it again."""
    other_session: str = ""
    """Why a session page was not used."""


@dataclass(frozen=True)
class DeviceNote:
    """What is doubtful about a device, in words, and the launches.

    ``always``: it matters whether or not a number of the device table is used. ``contradicts``: the launches cannot
    have run on it.
    """

    text: str
    launches: BoolArray
    always: bool
    contradicts: bool


@dataclass(frozen=True)
class View:
    """All that a rule may look at: dotted columns over the launches, facts of the inputs, maps in use."""

    columns: Mapping[str, npt.NDArray[Any]]
    inputs: tuple[InputFacts, ...]
    maps: tuple[MetricMap, ...]
    read_metrics: Callable[[], frozenset[str]] = frozenset
    """Gives the metrics, with rollup, that these maps read; few reports have a finding that needs them."""
    passed_over: tuple[InputError, ...] = ()
    """Files of a folder that are no reports, with what they are."""
    identities: tuple[Identity, ...] = ()
    """Equations between counters that do not hold for some launch."""
    device_notes: tuple[DeviceNote, ...] = ()
    """What is doubtful about the devices."""
    per_unit: Mapping[tuple[str, str], BoolArray] = field(default_factory=dict)
    """Launches of which nothing is known of a tier or path but a value per unit, by that and the metric that has it."""
    grids: Grids | None = None
    """Grids that were brought to blocks, and those that contradict another size of the launch."""
    option_notes: tuple[str, ...] = ()
    """Options that had no effect, and why."""
    ceiling_notes: tuple[str, ...] = ()
    """What was taken from a file of measured ceilings, and what not."""

    coarse: tuple[tuple[str, BoolArray], ...] = ()
    """Used counters that were printed with too few digits, each with its launches."""
    timings: tuple[Timings, ...] = ()
    """Times of other producers."""
    aggregate: bool = False
    """Whether the inputs are ranks."""
    verdicts: tuple[Verdict, ...] = ()
    """What becomes of the claims of the user."""
    captures_apart: float | None = None
    """How far the total times of captures that were put together are apart, as a fraction; None: there are none."""

    @property
    def size(self) -> int:
        """Number of launches."""
        return len(self.columns["launch"])

    @cached_property
    def architectures(self) -> list[tuple[str, str | None, BoolArray]]:
        """Every pair of map and compute capability, with its launches."""
        codes, pairs = numbered_rows([self.labels("map"), self.labels("cc")])
        return [(map_id, cc, codes == number) for number, (map_id, cc) in enumerate(pairs)]

    @cached_property
    def commands(self) -> list[tuple[BoolArray, str]]:
        """Launches by the one command that collects their whole picture: a second report cannot be laid beside it."""
        maps = {metric_map.id: metric_map for metric_map in self.maps}
        by_command: dict[str, BoolArray] = {}
        for map_id, cc, rows in self.architectures:
            command = COLLECT + collection_command(maps[map_id], cc)
            by_command[command] = by_command.get(command, np.zeros(self.size, np.bool_)) | rows
        return [(rows, command) for command, rows in by_command.items()]

    def launches_of(self, facts: InputFacts) -> BoolArray:
        """The launches of an input."""
        mask = np.zeros(self.size, np.bool_)
        mask[facts.first_launch : facts.first_launch + facts.launches] = True
        return mask

    def by_input(self) -> Iterator[tuple[InputFacts, BoolArray]]:
        """Every input with its launches; captures that were put together are one."""
        for facts in self.inputs if self.captures_apart is None else self.inputs[:1]:
            yield facts, self.launches_of(facts)

    def matching(self, pattern: str) -> list[str]:
        """Names of the columns that match a pattern such as ``work.*.peak``; a star stands for some text.

        Not with ``fnmatch``: to compile its regular expressions took a third of the time of all rules.
        """
        if "*" not in pattern:
            return [pattern] if pattern in self.columns else []
        first, *between, last = pattern.split("*")
        return [
            name
            for name in self.columns
            if name.startswith(first)
            and name.endswith(last)
            and len(name) >= len(pattern)
            and all(part in name[len(first) : len(name) - len(last)] for part in between)
        ]

    def floats(self, name: str) -> FloatArray:
        """A column of numbers, NaN where it is not there."""
        return np.asarray(self.columns[name], float) if name in self.columns else unknown(self.size)

    def flags(self, name: str) -> BoolArray:
        """A column of flags, false where it is not there."""
        return np.asarray(self.columns.get(name, np.zeros(self.size)), np.bool_)

    def labels(self, name: str) -> npt.NDArray[np.object_]:
        """A column of names, None where it is not there."""
        return np.asarray(self.columns[name] if name in self.columns else nothing(self.size))


@dataclass(frozen=True)
class Evidence:
    """One thing that a rule found: which launches, and the operands put into a sentence."""

    launches: BoolArray
    message: str
    help: str = ""
    severity: Severity | None = None
    """Where it depends on the size of what was found; else that of the rule."""


@dataclass(frozen=True)
class Rule:
    """A check. ``needs`` are column patterns of which each has to match something that is known."""

    code: str
    name: str
    severity: Severity
    needs: tuple[str, ...]
    check: Callable[[Any], Iterable[Evidence]]
    """Of a `View`, or of a comparison."""

    @property
    def doc(self) -> str:
        """What the rule says, why, and what to do: the docstring of its function."""
        return inspect.cleandoc(self.check.__doc__ or "")

    @property
    def title(self) -> str:
        """The first paragraph of it, on one line."""
        return " ".join(self.doc.partition("\n\n")[0].split())


@dataclass(frozen=True)
class Finding:
    """What a rule found in an analysis, with the launches it concerns (none: the input as a whole)."""

    code: str
    name: str
    severity: Severity
    launches: tuple[int, ...]
    message: str
    help: str


@dataclass(frozen=True)
class SkippedRule:
    """A rule that could not be checked, which is not the same as passed."""

    code: str
    needs: tuple[str, ...]


def largest(values: FloatArray, hit: BoolArray) -> int:
    """The launch in ``hit``, which is not empty, with the largest value."""
    return int(np.where(hit, values, -np.inf).argmax())


def farthest_from_one(share: FloatArray, hit: BoolArray) -> int:
    """The launch in ``hit``, which is not empty, whose ratio is farthest from one in either direction."""
    return int(np.where(hit, np.abs(np.log(np.where(hit, share, 1.0))), -1.0).argmax())


def which(hit: BoolArray, launch: int) -> str:
    """Says which launch a number is of, where it may be one of several."""
    return f" (launch {launch})" if hit.sum() > 1 else ""


def run(rules: Iterable[Rule], view: View) -> tuple[tuple[Finding, ...], tuple[SkippedRule, ...]]:
    """Run rules over a view; findings come by severity, then in the order of the table."""
    findings: list[Finding] = []
    skipped: list[SkippedRule] = []
    for rule in rules:
        absent = tuple(pattern for pattern in rule.needs if not _known(view, pattern))
        if absent:
            skipped.append(SkippedRule(rule.code, absent))
            continue
        findings += [
            Finding(
                code=rule.code,
                name=rule.name,
                severity=evidence.severity or rule.severity,
                launches=tuple(np.flatnonzero(evidence.launches).tolist()),
                message=evidence.message,
                help=evidence.help,
            )
            for evidence in rule.check(view)
        ]
    findings.sort(key=lambda finding: -finding.severity)
    return tuple(findings), tuple(skipped)


def _known(view: View, pattern: str) -> bool:
    for name in view.matching(pattern):
        values = view.columns[name]
        if values.dtype == object:
            if (values != None).any():  # noqa: E711 (element by element)
                return True
        elif values.dtype.kind != "f" or not np.isnan(values).all():
            return True
    return False
