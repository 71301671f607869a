"""Binary reports (``.ncu-rep``, ``.nsight-cuprof-report``): results of a container as columns.

Values are kept as stored. The file has no units: its numbers are in base units, which ``normalise`` knows by name.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import repeat
from operator import itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from google.protobuf.message import DecodeError

from ncu_roofline.arrays import Columns, FloatArray, ObjectArray, mapped, nothing, objects, unknown
from ncu_roofline.readers.container import VERSION, Container, DamagedError
from ncu_roofline.readers.messages import CommandListResult, GraphResult, Metric, RangeResult, Result, text
from ncu_roofline.readers.report import HISTOGRAM, IDENTITY_COLUMNS, RULE_SCHEMA, Loss, Session, Stored, opcode_columns
from ncu_roofline.readers.session import VERSION_PROPERTY
from ncu_roofline.vocabulary import COMMAND_LIST, GRAPH, KERNEL, RANGE

FORM: Final = "ncu-rep"

_VALUE_OF_DOUBLE: Final = b"\x12\x09\x19"
"""How the value of a metric begins that is a double: its field, its size, and the field of the double in it."""
_HEAD: Final = slice(3)
"""Bytes of a metric that tell its name: the field and a number of up to two bytes."""
_NAMES_IN_HEAD: Final = 1 << 14
_ROWS: Final = 4096
_MESSAGES: Final = {KERNEL: Result, RANGE: RangeResult, COMMAND_LIST: CommandListResult, GRAPH: GraphResult}
_NUMBERS_KNOWN: Final = 4096
BLOCKS: Final = "launch__grid_size"
"""The metric that says how many blocks a launch has."""
_GRID_IN_BLOCKS_SINCE: Final = "2022"
"""Version from which on the size of a grid is known to be stored in blocks."""


class _UnknownNameError(Exception):
    """A metric whose name no string table so far has."""


@dataclass(frozen=True)
class _Layout:
    """The metrics of a result in their order, and where the wanted ones are among them.

    Wanted metrics whose value is a double have a fixed length and are decoded for many launches at once.
    """

    heads: bytes
    doubles: tuple[int, ...]
    """Positions of the wanted metrics that are doubles."""
    lengths: tuple[int, ...]
    offsets: npt.NDArray[np.intp]
    """Where the value of each begins when they are put one behind the other."""
    begins: tuple[int, ...]
    """Where the value of each begins in its own bytes."""
    others: tuple[int, ...]
    names: tuple[str, ...]
    """Of the doubles, then of the others."""


@dataclass
class _Part:
    """Values of launches of one layout, in chunks of rows."""

    layout: _Layout
    launches: list[int] = field(default_factory=list)
    doubles: list[bytes] = field(default_factory=list)
    others: list[list[float]] = field(default_factory=list)
    odd: dict[int, list[float]] = field(default_factory=dict)
    """Rows that wait in which a number of another type has the length of a double, already decoded."""
    chunks: list[FloatArray] = field(default_factory=list)

    def add(self, launch: int, doubles: Sequence[bytes], others: list[float]) -> None:
        """Take a launch.

        Raises:
            DecodeError: if one of its numbers cannot be decoded.

        """
        kind = _VALUE_OF_DOUBLE
        if not all(map(bytes.startswith, doubles, repeat(kind), self.layout.begins)):
            self.odd[len(self.others)] = [_number(Metric.FromString(content).value) for content in doubles]
        self.launches.append(launch)
        self.doubles.append(b"".join(doubles))
        self.others.append(others)
        if len(self.others) == _ROWS:
            self.flush()

    def flush(self) -> None:
        """Decode the rows that wait."""
        if not self.others:
            return
        count, layout = len(self.others), self.layout
        content = np.frombuffer(b"".join(self.doubles), np.uint8).reshape(count, sum(layout.lengths))
        values = np.ascontiguousarray(content[:, (layout.offsets[:, None] + np.arange(8)).ravel()]).view("<f8")
        for row, decoded in self.odd.items():
            values[row] = decoded
        self.chunks.append(np.hstack([values, np.array(self.others, np.float64).reshape(count, -1)]))
        self.doubles, self.others, self.odd = [], [], {}

    def matrix(self) -> FloatArray:
        """Values of every launch (rows) and metric of the layout (columns)."""
        self.flush()
        return np.concatenate(self.chunks)


@dataclass
class Results:
    """Collects the results of a report, launch by launch."""

    names: AbstractSet[str] | None
    """Metrics to keep; None keeps all, and the results of rules."""
    strings: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    command_line: str | None = None
    identity: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in IDENTITY_COLUMNS})
    parts: list[_Part] = field(default_factory=list)
    texts: dict[str, dict[int, str]] = field(default_factory=dict)
    histograms: dict[int, dict[str, float]] = field(default_factory=dict)
    rules: list[tuple[int, str, str, str, str]] = field(default_factory=list)
    _found_texts: dict[str, str] = field(default_factory=dict)
    _found_opcodes: dict[str, float] | None = None
    """Of the launch that is being read; they count when it is whole."""
    _known_texts: dict[bytes, str] = field(default_factory=dict)
    _known_numbers: dict[bytes, float] = field(default_factory=dict)
    """Of metrics by their content; the attributes of a device are the same in every launch."""
    _waiting: deque[tuple[str, bytes]] = field(default_factory=deque)
    """Results that name metrics whose strings are in a later block, and those behind them."""

    def __len__(self) -> int:
        return len(self.identity["ncu_id"])

    def header(self, header: Any) -> None:
        """Take the strings and the session of a block's header."""
        self.strings += [text(value) for value in header.strings.texts]
        for entry in header.session.properties:
            self.properties[text(entry.name)] = text(entry.value)
        if header.session.command_line:
            self.command_line = text(header.session.command_line)
        if header.strings.texts:
            self._take_waiting()

    def add(self, kind: str, content: bytes) -> None:
        """Take one result of a kind; it may have to wait for names.

        Raises:
            DamagedError: if it cannot be decoded.

        """
        self._waiting.append((kind, content))
        if len(self._waiting) == 1:
            self._take_waiting()

    def finish(self) -> None:
        """Say that there are no more blocks.

        Raises:
            DamagedError: if results still wait for names.

        """
        if self._waiting:
            raise DamagedError(f"result {len(self)} has a metric whose name is not in the file")

    def _take_waiting(self) -> None:
        with suppress(_UnknownNameError):
            while self._waiting:
                self._take(*self._waiting[0])
                self._waiting.popleft()

    def _take(self, kind: str, content: bytes) -> None:
        launch = len(self)
        try:
            result = _MESSAGES[kind].FromString(content)
            metrics = list(result.metrics)
            part, doubles = self._part(metrics)
            layout = part.layout
            names = layout.names[len(layout.doubles) :]
            self._found_texts, self._found_opcodes = {}, None
            others = [self._value(name, metrics[at]) for name, at in zip(names, layout.others, strict=True)]
            part.add(launch, doubles, others)
        except DecodeError as error:
            raise DamagedError(f"result {launch} cannot be decoded") from error
        self._identify(kind, result, launch)
        self._commit(launch)
        if self.names is None and kind in (KERNEL, COMMAND_LIST):
            self._rules(result, launch)

    def _part(self, metrics: Sequence[bytes]) -> tuple[_Part, list[bytes]]:
        """The part whose layout these metrics have, mostly that of the result before, and those that are doubles."""
        heads = b"".join(map(itemgetter(_HEAD), metrics))
        is_short = len(self.strings) <= _NAMES_IN_HEAD
        for number, part in enumerate(reversed(self.parts)):
            if is_short and part.layout.heads == heads:
                doubles = [metrics[position] for position in part.layout.doubles]
                if tuple(map(len, doubles)) == part.layout.lengths:
                    if number:
                        self.parts.append(self.parts.pop(-1 - number))
                    return part, doubles
        layout = self._layout(metrics, heads)
        self.parts.append(_Part(layout))
        return self.parts[-1], [metrics[position] for position in layout.doubles]

    def _layout(self, metrics: Sequence[bytes], heads: bytes) -> _Layout:
        doubles, others, begins = [], [], []
        names: dict[int, str] = {}
        for position, content in enumerate(metrics):
            metric = Metric.FromString(content)
            if not metric.HasField("name"):
                raise DamagedError(f"result {len(self)} has a metric without a name")
            if metric.name >= len(self.strings):
                raise _UnknownNameError
            name = self.strings[metric.name]
            if self.names is not None and name not in self.names and name != BLOCKS:
                continue
            names[position] = name
            begin = 2 if content[1:2] < b"\x80" else 3
            if content.startswith(_VALUE_OF_DOUBLE, begin) and len(content) >= begin + 11 and name != HISTOGRAM:
                doubles.append(position)
                begins.append(begin + len(_VALUE_OF_DOUBLE))
            else:
                others.append(position)
        lengths = tuple(len(metrics[position]) for position in doubles)
        offsets = np.cumsum([0, *lengths[:-1]])[: len(lengths)] + np.array(begins, np.intp)
        ordered = tuple(names[position] for position in (*doubles, *others))
        values = tuple(begin - len(_VALUE_OF_DOUBLE) for begin in begins)
        return _Layout(heads, tuple(doubles), lengths, offsets.astype(np.intp), values, tuple(others), ordered)

    def _commit(self, launch: int) -> None:
        """Keep texts and opcodes of a launch that is whole."""
        for name, found in self._found_texts.items():
            self.texts.setdefault(name, {})[launch] = found
        if self._found_opcodes is not None:
            self.histograms[launch] = self._found_opcodes

    def _value(self, name: str, content: bytes) -> float:
        """The number of a metric, NaN where it has none; a text or a histogram is put aside."""
        known = self._known_numbers.get(content)
        if known is not None:
            return known
        metric = Metric.FromString(content)
        if name == HISTOGRAM:
            self._histogram(metric)
        if metric.value.HasField("text"):
            self._found_texts[name] = self._text(metric.value.text)
        number = _number(metric.value)
        if name != HISTOGRAM and not math.isnan(number) and len(self._known_numbers) < _NUMBERS_KNOWN:
            self._known_numbers[content] = number
        return number

    def _histogram(self, metric: Any) -> None:
        found: dict[str, float] = {}
        self._found_opcodes = found
        for instance in metric.instances:
            opcode = self._text(instance.key.text)
            found[opcode] = found.get(opcode, 0.0) + _number(instance.value)

    def _identify(self, kind: str, result: Any, launch: int) -> None:
        columns: dict[str, Any] = {
            "kind": kind,
            "ncu_id": str(launch),
            "context": str(result.context) if result.HasField("context") else None,
            "stream": str(result.stream) if kind != RANGE and result.HasField("stream") else None,
            "nvtx": _ranges(result.nvtx),
            "line": 0,
        }
        if kind == KERNEL:
            name = result.demangled_name or result.function_name or result.mangled_name
            columns |= {
                "process": str(result.process) if result.HasField("process") else None,
                "kernel": self._text(name) or None,
                "function": self._text(result.function_name) or None,
                "mangled": self._text(result.mangled_name) or None,
                "grid": _size(result.grid) if result.HasField("grid") else None,
                "block": _size(result.block) if result.HasField("block") else None,
            }
        else:
            columns["kernel"] = self._text(result.display_name) if kind == COMMAND_LIST else kind
        for column, values in self.identity.items():
            values.append(columns.get(column))

    def _rules(self, result: Any, launch: int) -> None:
        for rule in result.rules:
            for item in rule.body.items:
                message = item.message
                found = (text(rule.name), text(rule.section), text(message.title), text(message.text))
                self.rules.append((launch, *found))

    def _text(self, value: bytes) -> str:
        """A text, which many launches share."""
        known = self._known_texts.get(value)
        if known is None:
            known = self._known_texts[value] = text(value)
        return known

    def session(self) -> Session:
        """What the report says about its making."""
        return Session(self.command_line, self.properties.get(VERSION_PROPERTY), dict(self.properties))

    def launches(self, stored: Stored) -> Columns:
        """Identity of every launch."""
        columns = {name: objects(values) for name, values in self.identity.items()}
        if (self.properties.get(VERSION_PROPERTY) or "") < _GRID_IN_BLOCKS_SINCE:
            # It may be in threads, and nothing says whether it is.
            columns["grid"][np.isnan(stored.values.get(BLOCKS, unknown(len(self))))] = None
        columns["grid"], columns["block"] = (mapped(_printed, columns[name].tolist()) for name in ("grid", "block"))
        return columns

    def stored(self) -> Stored:
        """Values of every metric over the launches."""
        values: dict[str, FloatArray] = {}
        while self.parts:
            part = self.parts.pop(0)
            if not part.launches:
                continue
            launches, matrix = np.array(part.launches), part.matrix()
            for number, name in enumerate(part.layout.names):
                values.setdefault(name, unknown(len(self)))[launches] = matrix[:, number]
        known = {name: column for name, column in values.items() if not np.isnan(column).all()}
        texts = {name: self._spread(found) for name, found in self.texts.items()}
        return Stored(known, texts, opcode_columns(self.histograms, len(self)))

    def _spread(self, found: dict[int, str]) -> ObjectArray:
        column = nothing(len(self))
        for launch, value in found.items():
            column[launch] = value
        return column


def read_results(stream: BufferedReader, names: AbstractSet[str] | None, at: Any) -> tuple[Results, Loss | None]:
    """Read a binary report as far as it is whole.

    Args:
        stream: its content.
        names: metrics to keep; None keeps all.
        at: is told how many bytes were read.

    Returns:
        the results; what is lost after them, None if nothing.

    """
    results = Results(names)
    container = Container(stream)
    try:
        version = container.version()
        if version != VERSION:
            raise DamagedError(f"version {version} of the file format is not known, only {VERSION}")
        for block in container.blocks():
            results.header(block.header)
            for kind, content in block.results:
                results.add(kind, content)
            at(container.offset)
        results.finish()
    except DamagedError as damage:
        return results, Loss(str(damage), max(container.expected - len(results), 0))
    return results, None


def frame_of_rules(results: Results) -> pl.DataFrame:
    """Results of NVIDIA's rules (schema ``RULE_SCHEMA``)."""
    return pl.DataFrame(results.rules, schema=RULE_SCHEMA, orient="row")


def _number(value: Any) -> float:
    for kind in ("double", "uint64", "uint32", "float"):
        if value.HasField(kind):
            return float(getattr(value, kind))
    return math.nan


def _size(size: Any) -> tuple[int, int, int]:
    return size.x, size.y, size.z


def _printed(size: tuple[int, ...] | None) -> str | None:
    return None if size is None else "({}, {}, {})".format(*size)


def _ranges(state: Any) -> tuple[tuple[str, str], ...] | None:
    """Pushed NVTX ranges as (domain, range) pairs; None where there are none."""
    return tuple(_pairs(state)) or None


def _pairs(state: Any) -> Iterator[tuple[str, str]]:
    domains = {domain.id: text(domain.name) for domain in state.domains}
    for thread in state.threads:
        for ranges in thread.domains:
            for pushed in ranges.pushed:
                yield domains.get(ranges.domain, ""), text(pushed.name)
