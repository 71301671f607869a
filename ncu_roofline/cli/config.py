"""Options from a configuration file: ``ncu-roofline.toml``, or ``[tool.ncu-roofline]`` in ``pyproject.toml``.

The file of the current folder is read; keys are the long names of options without their dashes, and options on the
command line come first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from ncu_roofline.errors import UsageError

_OWN: Final = "ncu-roofline.toml"
_PROJECT: Final = "pyproject.toml"
_COMMANDS: Final = ("analyze", "check", "compare", "explain", "budget")
_NOT_FOR_FILES: Final = frozenset({"output", "write-baseline", "save-baseline"})


def defaults(commands: Mapping[str, click.Command]) -> dict[str, dict[str, Any]]:
    """Values for the options of each command.

    Raises:
        UsageError: if the file cannot be read, or has a key that is no option.

    """
    path, table = _table()
    options = {name: _options(commands[name]) for name in _COMMANDS}
    found: dict[str, dict[str, Any]] = {name: {} for name in _COMMANDS}
    for key, value in table.items():
        takers = [name for name in _COMMANDS if key in options[name]]
        if not takers or key in _NOT_FOR_FILES:
            known = sorted({key for known in options.values() for key in known} - _NOT_FOR_FILES)
            raise UsageError(str(path), key, f"is no option that can be set here; known are {', '.join(known)}")
        for name in takers:
            parameter = options[name][key]
            found[name][str(parameter.name)] = _value(path, key, value, parameter)
    return found


def _options(command: click.Command) -> dict[str, click.Option]:
    return {
        option.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if option.startswith("--")
    }


def _value(path: Path, key: str, value: Any, parameter: click.Option) -> Any:
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if parameter.is_flag:
        if isinstance(value, bool):
            return value
        raise UsageError(str(path), key, f"is {value!r} and has to be true or false")
    if parameter.multiple and is_list:
        return value
    if is_list:
        return ",".join(value)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return [value] if parameter.multiple else value
    raise UsageError(str(path), key, f"is {value!r} and has to be a text or a list of texts")


def _table() -> tuple[Path, Mapping[str, Any]]:
    own, project = Path(_OWN), Path(_PROJECT)
    if own.is_file():
        return own, _read(own)
    if project.is_file():
        table = _read(project).get("tool", {}).get("ncu-roofline", {})
        if not isinstance(table, dict):
            raise UsageError(str(project), "tool.ncu-roofline", "is no table")
        return project, table
    return own, {}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        if path.name == _PROJECT:
            # Not ours to complain about a file of another project.
            return {}
        raise UsageError("configuration", str(path), f"cannot be read: {error}") from error
