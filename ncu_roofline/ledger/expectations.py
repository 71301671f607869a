"""What a user expects of some launches: ``gemm:m=64,n=64,k=64,dtype=bf16,kernel=REGEX``, or a file of such entries.

A text and an entry of a file say the same: a kind with its sizes, and the launches that do this work, each the whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import Columns, unknown
from ncu_roofline.errors import UsageError
from ncu_roofline.launch_filter import KEYS, LaunchFilter, launch_filter, problem_of
from ncu_roofline.ledger.kinds import KINDS, SIZES, UNSTATED, Ledger
from ncu_roofline.strict_yaml import YamlFile, read_yaml
from ncu_roofline.vocabulary import FLOP_PATHS, OP_PATHS, is_tensor

_OPTION: Final = "--expect"
_SCHEMA: Final = 1
_FILE: Final = re.compile(r".*\.ya?ml", re.IGNORECASE)
_HALF: Final = 0.5
_LARGEST: Final = 1e24
"""Beyond any problem; products of three such numbers are still finite."""
_WHOLE: Final = frozenset({"m", "n", "k", "batch"})
_TYPED: Final = frozenset({"dtype", "a", "b", "c"})


@dataclass(frozen=True)
class Expectation:
    """A ledger and the launches that it is of."""

    ledger: Ledger
    meant: LaunchFilter
    where: str
    """The text of the option, or file and line."""


def read_expectations(given: Sequence[str]) -> tuple[Expectation, ...]:
    """Read texts and files of expectations.

    Raises:
        UsageError: if a text has no meaning.
        DataFileError: with every problem of a file.

    """
    return tuple(found for text in given for found in (_of_file(text) if _FILE.fullmatch(text) else (_of_text(text),)))


def ledger_columns(table: Columns, expectations: Sequence[Expectation]) -> tuple[Columns, tuple[str, ...]]:
    """Columns of useful work and compulsory bytes, and what to say of expectations without a launch.

    Columns: ``ledger`` (its title, None without one), ``ledger.work`` and ``ledger.unit``, ``ledger.read`` and
    ``ledger.written`` in byte, all of the invocations of an entry; ``work.<path>.useful`` on the path that did most of
    the work in this unit, ``traffic.dram.compulsory``.

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
            raise UsageError(
                _OPTION, expectation.where, f"launch {table['launch'][first]} is also meant by {other}: one launch, "
                "one ledger; tell them apart by kernel, grid or block",
            )  # fmt: skip
        owner[mine] = number
        if not mine.any():
            notes.append(f"{_OPTION} {expectation.where} has no effect: no launch is meant by it")
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
    return columns | _useful(table, columns), tuple(notes)


def _useful(table: Columns, columns: Columns) -> Columns:
    """The useful work on the path that did most of the work in its unit, and at least half of what is needed.

    Of integer work only that of tensor cores is meant: other integer instructions are addresses and loops.
    """
    useful: Columns = {}
    integers = tuple(path for path in OP_PATHS if is_tensor(path))
    for unit, names in (("FLOP", FLOP_PATHS), ("OP", integers)):
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
    problems = list(_problems(entry))
    if not colon or problems:
        example = "write it as gemm:m=4096,n=4096,k=4096,dtype=bf16,kernel=REGEX"
        raise UsageError(_OPTION, text, "; ".join(message for _, message in problems) or example)
    return _made(entry, text)


def _of_file(path: str) -> Iterator[Expectation]:
    file: YamlFile = read_yaml(Path(path))
    entries = file.entries("expect", _SCHEMA, of="expectation")
    for number, entry in enumerate(entries):
        where = f"$.expect[{number}]"
        for key, message in _problems(file.mapping(where, entry)):
            file.report(f"{where}.{key}" if key else where, message)
    file.refuse_problems()
    for number, entry in enumerate(entries):
        yield _made(entry, f"{file.name}:{file.lines.get(f'$.expect[{number}]', 1)}")


def _problems(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with an entry, with the key it is in."""
    kind = KINDS.get(str(entry.get("kind")))
    if kind is None:
        yield "kind", f"{entry.get('kind')!r} is no kind of problem; known are {', '.join(KINDS)}"
        return
    known = (*kind.parameters, *KEYS, "kind")
    for key, value in entry.items():
        if key not in known:
            yield key, f"{entry['kind']} has no parameter {key!r}; it has {', '.join(kind.parameters)}"
        elif key in _TYPED and not (isinstance(value, str) and value in SIZES):
            yield key, f"{value!r} is no data type; known are {', '.join(SIZES)}"
        elif key in kind.parameters and key not in _TYPED and _size(value) is None:
            yield key, f"{key} is {value!r}, which is no number of at least 0"
        elif key in _WHOLE and not float(value).is_integer():
            yield key, f"{key} is {value!r} and has to be a whole number"
        elif key in KEYS and (problem := problem_of(key, value)):
            yield key, problem
    for key, default in kind.parameters.items():
        if default is None and key not in entry:
            yield "", f"{entry['kind']} needs {key}"


def _size(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number <= _LARGEST else None


def _made(entry: Mapping[str, Any], where: str) -> Expectation:
    kind = KINDS[entry["kind"]]
    values: dict[str, float | str] = {}
    for name, default in kind.parameters.items():
        value = entry.get(name, default)
        values[name] = str(value) if name in _TYPED else math.nan if value == UNSTATED else float(_size(value) or 0.0)
    return Expectation(kind.make(values), launch_filter(entry), where)
