"""YAML as plain data, with the line of every value and with nothing passed over in silence.

Duplicate keys are problems, and so is anything but mappings, sequences and scalars. Problems are
collected, never raised one by one: whoever reads a file wants to see all that is wrong with it. This
module knows nothing of what the files mean.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ncu_roofline.errors import DataFileError, DataFileProblem

_TEXT = "tag:yaml.org,2002:str"
_WRONG_TAG = (
    yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError,
)  # fmt: skip
"""What the constructors of PyYAML raise for a value that does not fit its tag."""
_MOST_VALUES = 200_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class YamlFile:
    """Content of one file: ``data`` as plain Python values, ``lines`` from JSON path to 1-based line."""

    name: str
    data: Any
    lines: Mapping[str, int]
    problems: list[DataFileProblem] = field(default_factory=list)

    def report(self, path: str, message: str) -> None:
        """Add a problem found at a JSON path such as ``$.paths.fp32``; the nearest known line is used."""
        known = path
        while known not in self.lines and "." in known:
            known = known.rsplit(".", 1)[0]
        self.problems.append(DataFileProblem(self.name, self.lines.get(known, 1), path, message))

    def mapping(self, path: str, value: Any) -> dict[str, Any]:
        """The value at a path, which has to be a mapping; what is none is a problem and gives an empty one."""
        if isinstance(value, dict):
            return value
        self.report(path, "must be a mapping")
        return {}

    def only(self, path: str, mapping: Mapping[str, Any], keys: Collection[str]) -> None:
        """Report the keys of a mapping that are not among the known ones."""
        for key in mapping:
            if key not in keys:
                self.report(f"{path}.{key}", f"unknown key; known here are {', '.join(sorted(keys))}")

    def top(self, schema: int, keys: Collection[str]) -> dict[str, Any]:
        """The mapping that a file is, which has no keys but these and a schema."""
        top = self.mapping("$", self.data)
        self.only("$", top, {"schema", *keys})
        if top.get("schema", schema) != schema:
            self.report("$.schema", f"schema {top['schema']!r} is not known; this version reads schema {schema}")
        return top

    def entries(self, name: str, schema: int, *, of: str = "", beside: Collection[str] = ()) -> list[Any]:
        """The list that a file consists of beside its schema; at least one entry where ``of`` names what they are.

        ``beside`` are further keys that may be there.
        """
        if self.problems:
            return []
        found = self.top(schema, {name, *beside}).get(name)
        if isinstance(found, list) and (found or not of):
            return found
        self.report(f"$.{name}", f"must be a list of at least one {of}" if of else "must be a list")
        return []

    def refuse_problems(self) -> None:
        """Raise what was found.

        Raises:
            DataFileError: with every problem of the file, by line; nothing is raised where there is none.

        """
        if self.problems:
            raise DataFileError(sorted(self.problems, key=lambda problem: problem.line))


def read_yaml(path: Path) -> YamlFile:
    """Read one YAML file; syntax errors and unreadable files become problems of the result."""
    lines: dict[str, int] = {"$": 1}
    result = YamlFile(str(path), None, lines)
    try:
        loader = _LOADER(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
    except OSError as error:
        result.report("$", f"cannot be read: {error.strerror}")
        return result
    except (yaml.YAMLError, ValueError) as error:
        # A path with a NUL is a ValueError, too.
        mark = getattr(error, "problem_mark", None)
        lines["$"] = mark.line + 1 if mark else 1
        result.report("$", f"is not valid YAML: {getattr(error, 'problem', None) or error}")
        return result
    except RecursionError:
        result.report("$", "is nested too deeply")
        return result
    try:
        data = None if node is None else _plain(loader, node, "$", result, lines)
    except RecursionError:
        data = None
        result.report("$", "refers to itself, or is nested too deeply")
    except _TooLargeError:
        data = None
        result.report("$", f"has more than {_MOST_VALUES:,} values, those of its aliases included")
    return YamlFile(result.name, data, lines, result.problems)


class _TooLargeError(Exception):
    """A file whose aliases stand for more values than any real one has."""


def _plain(loader: Any, node: yaml.Node, path: str, file: YamlFile, lines: dict[str, int]) -> Any:
    if len(lines) > _MOST_VALUES:
        raise _TooLargeError
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                line = key_node.start_mark.line + 1
                file.problems.append(DataFileProblem(file.name, line, path, "a key must be a plain value"))
                continue
            key = str(key_node.value)
            child = f"{path}.{key}"
            if key in mapping:
                file.problems.append(DataFileProblem(file.name, key_node.start_mark.line + 1, child, "duplicate key"))
            mapping[key] = _plain(loader, value_node, child, file, lines)
            lines[child] = key_node.start_mark.line + 1
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_plain(loader, item, f"{path}[{position}]", file, lines) for position, item in enumerate(node.value)]
    if node.tag == _TEXT:
        return node.value
    try:
        value = loader.construct_object(node)
    except _WRONG_TAG as error:
        file.report(
            path, f"is not a plain value: {getattr(error, 'problem', None) or f'{node.value!r} is no {_named(node)}'}"
        )
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    file.report(path, f"is a {type(value).__name__}; put it in quotes if a text is meant")
    return None


def _named(node: yaml.Node) -> str:
    """The type that the tag of a value asks for."""
    return str(node.tag.rpartition(":")[2])
