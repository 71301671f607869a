"""Options from a configuration file: ``ncu-roofline.toml``, or ``[tool.ncu-roofline]`` in ``pyproject.toml``.

The file of the current folder is read; keys are the long names of options without their dashes, and options on the
command line come first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from ncu_roofline.errors import UsageError

_OWN: Final = "ncu-roofline.toml"
_PROJECT: Final = "pyproject.toml"
_OWN_TABLE: Final = re.compile(r"\s*\[\s*tool\s*\.\s*[\"']?ncu-roofline[\"']?\s*\]")
_COMMANDS: Final = ("analyze", "check", "compare", "explain", "budget")
_NOT_FOR_FILES: Final = frozenset({"output", "write-baseline", "save-baseline"})


def defaults(commands: Mapping[str, click.Command]) -> dict[str, dict[str, Any]]:
    """Values for the options of each command.

    Raises:
        UsageError: if the file cannot be read, or has a key that is no option.

    """
    path, table, text = _table()
    options = {name: _options(commands[name]) for name in _COMMANDS}
    found: dict[str, dict[str, Any]] = {name: {} for name in _COMMANDS}
    for key, value in table.items():
        takers = [name for name in _COMMANDS if key in options[name]]
        if not takers or key in _NOT_FOR_FILES:
            known = sorted({key for known in options.values() for key in known} - _NOT_FOR_FILES)
            place = _place(path, text, key)
            raise UsageError(place, key, f"is no option that can be set here; known are {', '.join(known)}")
        for name in takers:
            parameter = options[name][key]
            found[name][str(parameter.name)] = _value(_place(path, text, key), key, value, parameter)
    return found


def place_of(error: Exception) -> str:
    """The file and line from which the value of an option is that cannot be used; empty: it is not of a file."""
    if not isinstance(error, UsageError) or not error.option.startswith("--"):
        return ""
    path, table, text = _table()
    key = error.option.removeprefix("--")
    values = table.get(key, [])
    given = map(str, values if isinstance(values, list) else [values])
    return _place(path, text, key) if error.value in given else ""


def _place(path: Path, text: str, key: str) -> str:
    """A file with the line of a key of our table, where the key stands at the beginning of one."""
    names = re.compile(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*=")
    lines = list(enumerate(text.splitlines(), 1))
    own = next((place for place, (_, line) in enumerate(lines) if _OWN_TABLE.match(line)), 0)
    line = next((number for number, line in lines[own:] if names.match(line)), None)
    return str(path) if line is None else f"{path}:{line}"


def _options(command: click.Command) -> dict[str, click.Option]:
    return {
        option.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if option.startswith("--")
    }


def _value(place: str, key: str, value: Any, parameter: click.Option) -> Any:
    found = _plain(place, key, value, parameter)
    for text in found if isinstance(found, list) else [found]:
        if "\0" in str(text):
            raise UsageError(place, key, "has a NUL character, which is in no path and no name")
        if not isinstance(text, bool):
            try:
                parameter.type.convert(str(text), parameter, None)
            except click.BadParameter as error:
                raise UsageError(place, key, error.message.rstrip(".")) from error
    return found


def _plain(place: str, key: str, value: Any, parameter: click.Option) -> Any:
    """A value as the command line would give it."""
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if parameter.is_flag:
        if isinstance(value, bool):
            return value
        raise UsageError(place, key, f"is {value!r} and has to be true or false")
    if parameter.multiple and is_list:
        return value
    if is_list:
        return ",".join(value)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return [value] if parameter.multiple else value
    raise UsageError(place, key, f"is {value!r} and has to be a text or a list of texts")


def _table() -> tuple[Path, Mapping[str, Any], str]:
    """The file that holds options, its table of them, and its text."""
    own, project = Path(_OWN), Path(_PROJECT)
    if own.is_file():
        return own, *_read(own)
    if project.is_file():
        document, text = _read(project)
        tools = document.get("tool", {})
        if not isinstance(tools, dict):
            raise UsageError(_place(project, text, "tool"), "tool", "is not a table")
        table = tools.get("ncu-roofline", {})
        if not isinstance(table, dict):
            raise UsageError(_place(project, text, "ncu-roofline"), "tool.ncu-roofline", "is not a table")
        return project, table, text
    return own, {}, ""


def _read(path: Path) -> tuple[dict[str, Any], str]:
    try:
        text = path.read_text("utf-8")
        return tomllib.loads(text), text
    except (OSError, ValueError, RecursionError) as error:
        if path.name == _PROJECT:
            # Not ours to complain about a file of another project.
            return {}, ""
        raise UsageError("configuration", str(path), f"cannot be read: {error}") from error
