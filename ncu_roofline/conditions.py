"""Under which conditions the counters of an input were measured: what is known, and from where.

A table of counters carries none of them. Cache control, clock control and replay mode stand in the command line of the
profiler, which a binary report and the session page have; what it does not name is the default of that version of ncu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ncu_roofline.errors import UsageError

UNKNOWN: Final = "unknown"
COMMAND_LINE: Final = "command-line"
SESSION: Final = "session"
DEFAULT: Final = "default"
USER: Final = "user"
MESSAGES: Final = "messages"
"""What ncu printed around a table."""

_VALUES: Final = {
    "cache": ("all", "none"),
    "clock": ("base", "none", "boost", "force-boost"),
    "replay": ("kernel", "application", "range", "app-range"),
}
"""What the user may say of each condition (Nsight Compute CLI manual, options of profiling)."""
_FIELDS: Final = {"cache": "cache_control", "clock": "clock_control", "replay": "replay_mode"}
"""The field of each condition; that of its source is called the same with ``_source`` behind it."""
_BOOST_SINCE: Final = (2026, 1)
"""From this version on the clock is boosted by default (CLI manual 2026.1); before, it is locked to base."""
_TOKEN: Final = re.compile(r'(?:[^\s"]|"[^"]*")+|\S+')
_SHORT_WITH_VALUE: Final = re.compile(r"-[a-z].+")
_VERSION: Final = re.compile(r"([0-9]{4})\.([0-9]+)")
_WITHOUT_VALUE: Final = frozenset(
    {
        "--call-stack", "--csv", "--disable-extra-suffixes", "--force-overwrite", "-f", "--nvtx", "--open-in-ui",
        "--null-stdin", "--quiet", "--support-32bit", "--verbose",
    }
)  # fmt: skip
"""Options of ncu without a value (CLI manual); after any other one the next word is its value."""


@dataclass(frozen=True)
class Conditions:
    """Measuring conditions of one input; None is unknown. Sources as in the contract."""

    cache_control: str | None = None
    cache_control_source: str = UNKNOWN
    clock_control: str | None = None
    clock_control_source: str = UNKNOWN
    replay_mode: str | None = None
    ncu_version: str | None = None
    replay_mode_source: str = UNKNOWN
    metric_set: str | None = None
    """The set of ``--set`` where one was given."""
    launch_count: int | None = None
    """How many launches were to be profiled at most, where that was given."""


def conditions_of(
    command_line: str | None, ncu_version: str | None, *, source: str, replayed: bool, said: Mapping[str, str]
) -> Conditions:
    """What is known of an input.

    Args:
        command_line: that of the profiler; None: not known, so that no default is assumed either.
        ncu_version: as the report says it.
        source: where the command line stands, ``COMMAND_LINE`` or ``SESSION``.
        replayed: whether ncu said that it replayed the application.
        said: what the user says (``read_conditions``); it comes first.

    """
    found = Conditions(ncu_version=ncu_version)
    if command_line is not None:
        given = _options(command_line)
        for name, option in (("cache", "--cache-control"), ("clock", "--clock-control"), ("replay", "--replay-mode")):
            value = given.get(option, _default(name, ncu_version))
            if option not in given and option in command_line:
                # It stands where it cannot be told from an option of the application.
                value = None
            if value is not None:
                found = _with(found, name, value, source if option in given else DEFAULT)
        count = given.get("--launch-count", given.get("-c", ""))
        found = replace(found, metric_set=given.get("--set"), launch_count=int(count) if count.isdecimal() else None)
    if replayed:
        found = _with(found, "replay", "application", MESSAGES)
    for name, value in said.items():
        found = _with(found, name, value, USER)
    return found


def common(known: Sequence[Conditions]) -> Conditions:
    """What several captures that were put together have in common; what differs is unknown."""
    alike = Conditions()
    for name, field in _FIELDS.items():
        value = getattr(known[0], field)
        if value is not None and all(getattr(other, field) == value for other in known):
            alike = _with(alike, name, value, getattr(known[0], f"{field}_source"))
    return alike


def read_conditions(text: str) -> dict[str, str]:
    """What a user says of the conditions, as in ``cache=none,clock=boost``.

    Raises:
        UsageError: if it is not of this form, or a condition or value is not known.

    """
    said: dict[str, str] = {}
    for item in text.split(","):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name not in _VALUES:
            raise UsageError("--conditions", text, f"give {', '.join(_VALUES)} as in cache=none,clock=boost")
        if value not in _VALUES[name]:
            raise UsageError("--conditions", text, f"{name} is one of {', '.join(_VALUES[name])}")
        said[name] = value
    return said


def _with(found: Conditions, name: str, value: str, source: str) -> Conditions:
    said: dict[str, Any] = {_FIELDS[name]: value, f"{_FIELDS[name]}_source": source}
    return replace(found, **said)


def _default(name: str, ncu_version: str | None) -> str | None:
    """What ncu does when an option is not given; None where that depends on a version that is not known."""
    if name != "clock":
        return {"cache": "all", "replay": "kernel"}[name]
    version = _VERSION.search(ncu_version or "")
    if version is None:
        return None
    return "boost" if (int(version[1]), int(version[2])) >= _BOOST_SINCE else "base"


def _options(command_line: str) -> dict[str, str]:
    """Options of ncu with their values; those of the application behind it are not looked at."""
    return dict(_pairs([word.replace('"', "") for word in _TOKEN.findall(command_line)][1:]))


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(words) and words[position].startswith("-"):
        option, equals, value = words[position].partition("=")
        position += 1
        if not option.startswith("--") and _SHORT_WITH_VALUE.fullmatch(option):
            option, value = option[:2], option[2:]
        # An option is no value of another one.
        elif (
            not equals and option not in _WITHOUT_VALUE and not "".join(words[position : position + 1]).startswith("--")
        ):
            value = "".join(words[position : position + 1])
            position += 1
        yield option, value
