"""What a user expects of some launches: ``gemm:m=64,n=64,k=64,dtype=bf16,kernel=REGEX``, or a file of such entries.

A text and an entry of a file say the same: a kind with its sizes, and the launches that do this work, each the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import Columns, ratio, sum_known, unknown
from ncu_roofline.errors import UsageError
from ncu_roofline.launch_filter import KEYS, LaunchFilter, launch_filter, problem_of
from ncu_roofline.ledger.custom import read_kinds
from ncu_roofline.ledger.kinds import KINDS, problems_of
from ncu_roofline.ledger.problem import Kind, Ledger, as_number
from ncu_roofline.strict_yaml import YamlFile, read_yaml
from ncu_roofline.vocabulary import FLOP_PATHS, OP_PATHS, is_tensor

_OPTION: Final = "--expect"
_SCHEMA: Final = 1
_FILE: Final = re.compile(r".*\.ya?ml", re.IGNORECASE)
_HALF: Final = 0.5
_ENTRIES: Final = {"expect": "expectation", "work": "problem", "stages": "stage"}
"""What files are made of, by their key."""
_OF_STAGES: Final = ("name", "count")
_TENSOR_INTEGERS: Final = tuple(path for path in OP_PATHS if is_tensor(path))


@dataclass(frozen=True)
class Expectation:
    """A ledger and the launches that it is of."""

    ledger: Ledger
    meant: LaunchFilter
    option: str
    where: str
    """The text of the option, or file and line."""


@dataclass(frozen=True)
class Stage:
    """A ledger that is done so many times; the name is empty where none is given."""

    name: str
    ledger: Ledger
    count: float


def read_expectations(given: Sequence[str], work: Sequence[str] = ()) -> tuple[Expectation, ...]:
    """Read texts and files of expectations (``--expect``), and work files (``--work``).

    Raises:
        UsageError: if a text has no meaning.
        DataFileError: with every problem of a file.

    """
    expected = (_of_file(text, "expect") if _FILE.fullmatch(text) else (_of_text(text),) for text in given)
    return tuple(chain.from_iterable((*expected, *(_of_file(path, "work") for path in work))))


def ledger_columns(table: Columns, expectations: Sequence[Expectation]) -> tuple[Columns, tuple[str, ...]]:
    """Columns of useful work and compulsory bytes, and what to say of expectations without a launch.

    Columns: ``ledger`` (its title, None without one), ``ledger.work`` and ``ledger.unit``, ``ledger.read`` and
    ``ledger.written`` in byte, all of the invocations of an entry; ``work.<path>.useful`` on the path that did most of
    the work in this unit, ``traffic.dram.compulsory``; ``ledger.executed``, all work of that unit that was counted;
    ``ledger.complete``, whether that is all of it; ``ledger.rate``, useful work per second; ``ledger.padding``
    (executed over useful) and ``ledger.traffic`` (measured over compulsory bytes of DRAM).

    Raises:
        UsageError: if two expectations are of one launch.

    """
    if not expectations:
        return {}, ()
    size = len(table["launch"])
    invocations = np.asarray(table["invocations"], np.float64)
    owner = np.full(size, -1)
    notes = []
    for number, expectation in enumerate(expectations):
        mine = expectation.meant.launches(table)
        twice = mine & (owner >= 0)
        if twice.any():
            first = int(np.flatnonzero(twice)[0])
            other = expectations[owner[first]].where
            problem = (
                f"launch {table['launch'][first]} is also meant by {other}: one launch, one ledger; tell them apart by "
                "kernel, grid or block"
            )
            raise UsageError(expectation.option, expectation.where, problem)
        owner[mine] = number
        if not mine.any():
            notes.append(f"{expectation.option} {expectation.where} has no effect: no launch is meant by it")
    known = owner >= 0
    if not known.any():
        return {}, tuple(notes)
    ledgers = [expectation.ledger for expectation in expectations]
    columns: Columns = {
        "ledger": np.array([*(ledger.title for ledger in ledgers), None], dtype=object)[owner],
        "ledger.unit": np.array([*(ledger.unit for ledger in ledgers), None], dtype=object)[owner],
    }
    for name in ("work", "read", "written"):
        of_one = np.array([*(getattr(ledger, name) for ledger in ledgers), np.nan])
        columns[f"ledger.{name}"] = of_one[owner] * invocations
    columns["traffic.dram.compulsory"] = columns["ledger.read"] + columns["ledger.written"]
    columns |= _against_counters(table, columns)
    return columns | _useful(table, columns), tuple(notes)


def _against_counters(table: Columns, columns: Columns) -> Columns:
    """Executed work in the unit of each ledger, useful work per second, and what both ledgers are of one another."""
    integers = [table[f"work.{path}.count"] for path in _TENSOR_INTEGERS if f"work.{path}.count" in table]
    operations = sum_known(integers) if integers else unknown(len(table["launch"]))
    executed = np.where(columns["ledger.unit"] == "FLOP", table["flop.count"], operations)
    moved = table.get("traffic.dram.bytes", unknown(len(executed)))
    return {
        "ledger.executed": np.where(np.isnan(columns["ledger.work"]), np.nan, executed),
        "ledger.complete": (columns["ledger.unit"] != "FLOP") | table["flop.complete"],
        "ledger.rate": ratio(columns["ledger.work"], table["time"]),
        "ledger.padding": ratio(executed, columns["ledger.work"]),
        "ledger.traffic": ratio(moved, columns["traffic.dram.compulsory"]),
    }


def _useful(table: Columns, columns: Columns) -> Columns:
    """The useful work on the path that did most of the work in its unit, and at least half of what is needed.

    Of integer work only that of tensor cores is meant: other integer instructions are addresses and loops.
    """
    useful: Columns = {}
    for unit, names in (("FLOP", FLOP_PATHS), ("OP", _TENSOR_INTEGERS)):
        paths = [name for name in names if f"work.{name}.count" in table]
        if not paths:
            continue
        counts = np.nan_to_num(np.stack([table[f"work.{name}.count"] for name in paths]), nan=-1.0)
        leading = counts.argmax(axis=0)
        for number, name in enumerate(paths):
            does_it = (counts[number] > 0) & (counts[number] >= _HALF * columns["ledger.work"])
            mine = (leading == number) & (columns["ledger.unit"] == unit) & does_it
            if mine.any():
                useful[f"work.{name}.useful"] = np.where(mine, columns["ledger.work"], unknown(len(mine)))
    return useful


def _of_text(text: str) -> Expectation:
    kind, colon, rest = text.partition(":")
    entry: dict[str, Any] = {"kind": kind}
    # A regular expression may have commas in it, so that it comes last and takes the rest.
    head, has_kernel, kernel = rest.partition("kernel=")
    if has_kernel:
        entry["kernel"] = kernel
    for item in filter(None, (part.strip() for part in head.split(","))):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name in entry or name in KEYS:
            raise UsageError(_OPTION, text, f"{item!r} is not NAME=VALUE, or is there twice; kernel=REGEX comes last")
        entry[name] = value
    problems = list(_problems(entry, KINDS, KEYS))
    if not colon or problems:
        example = "write it as gemm:m=4096,n=4096,k=4096,dtype=bf16,kernel=REGEX"
        raise UsageError(_OPTION, text, "; ".join(message for _, message in problems) or example)
    return Expectation(_ledger(entry, KINDS), launch_filter(entry), _OPTION, text)


def _of_file(path: str, name: str) -> Iterator[Expectation]:
    file: YamlFile = read_yaml(Path(path))
    for where, entry, kinds in _entries(file, name, KEYS):
        yield Expectation(_ledger(entry, kinds), launch_filter(entry), _OPTION if name == "expect" else "--work", where)


def read_stages(path: str) -> tuple[Stage, ...]:
    """Read the stages of a job: a file of problems, each with how often it happens.

    Raises:
        DataFileError: with every problem of the file.

    """
    found = _entries(read_yaml(Path(path)), "stages", _OF_STAGES)
    return tuple(
        Stage(str(entry.get("name", "")), _ledger(entry, kinds), float(entry.get("count", 1.0)))
        for _, entry, kinds in found
    )


def read_kinds_file(path: str) -> dict[str, Kind]:
    """Read the kinds of problems that a file defines; what else is in it is of no interest.

    Raises:
        DataFileError: with every problem of them.

    """
    file = read_yaml(Path(path))
    file.refuse_problems()
    top = file.top(_SCHEMA, {"kinds", *_ENTRIES})
    if "kinds" not in top:
        file.report("$", "has no kinds")
    found = read_kinds(file, top.get("kinds", {}), KINDS)
    file.refuse_problems()
    return found


def _entries(
    file: YamlFile, name: str, others: Sequence[str]
) -> list[tuple[str, Mapping[str, Any], Mapping[str, Kind]]]:
    """The entries of a file without problems, each with its place, and the kinds that there are."""
    entries = file.entries(name, _SCHEMA, of=_ENTRIES[name], beside=("kinds",))
    top = file.data if isinstance(file.data, dict) else {}
    kinds = {**KINDS, **read_kinds(file, top["kinds"], KINDS)} if "kinds" in top else KINDS
    for number, entry in enumerate(entries):
        where = f"$.{name}[{number}]"
        for key, message in _problems(file.mapping(where, entry), kinds, others):
            file.report(f"{where}.{key}" if key else where, message)
    file.refuse_problems()
    return [
        (f"{file.name}:{file.lines.get(f'$.{name}[{number}]', 1)}", entry, kinds)
        for number, entry in enumerate(entries)
    ]


def _problems(entry: Mapping[str, Any], kinds: Mapping[str, Kind], others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with an entry, with the key it is in; ``others`` are keys that are no parameters."""
    name = str(entry.get("kind"))
    if name not in kinds:
        yield "kind", f"{entry.get('kind')!r} is no kind of problem; known are {', '.join(kinds)}"
        return
    yield from problems_of(
        name, kinds[name], {key: value for key, value in entry.items() if key != "kind" and key not in others}
    )
    for key in others:
        if key in entry and (problem := _problem_of_other(key, entry[key])):
            yield key, problem


def _problem_of_other(key: str, value: Any) -> str:
    if key == "count":
        return "" if as_number(value) is not None else f"{value!r} is no number of at least 0"
    if key == "name":
        return "" if isinstance(value, str) and value else f"{value!r} must be a text that is not empty"
    return problem_of(key, value)


def _ledger(entry: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Ledger:
    return kinds[str(entry["kind"])].ledger(entry)
