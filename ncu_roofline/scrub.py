"""Names of people, machines and places taken out of a result, so that it can be handed on.

What is replaced has the same replacement everywhere in one result. Numbers, products and, unless
asked for, kernel names stay.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from ipaddress import ip_address
from pathlib import Path, PurePath
from typing import Any, Final, TypeVar

_Value = TypeVar("_Value")

_PATTERNS: Final = {
    # Behind a letter or a digit a slash divides, as in FLOP/s; one name behind a slash may be part of a kernel's name.
    "url": r"\b[a-z]+://[^\s'\"]+",
    "path": r"(?<![\w/.)])(?:~|\.{1,2})?/(?:[\w.+@%~-]+/)+[\w.+@%~-]+|(?<![\w/.])~/[\w.+@%-]+",
    "windows path": r"(?<!\w)(?:[A-Za-z]:[\\/]+|\\\\)(?:[^\\/:*?\"<>|\n]+[\\/]+)*[^\\/:*?\"<>|\s,;]+",
    "address": r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b",
    "long address": r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}(?:%\w+)?(?![\w:])",
    "pci": r"\b[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]\b",
    "uuid": r"\b(?:GPU-|MIG-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b",
    "user": r"\b[\w.-]+@[A-Za-z][\w.-]*\b",
}
_WORDS: Final = {"windows path": "path", "long address": "address"}
_ORDER: Final = ("pci", "uuid", "url", "windows path", "user", "address", "long address", "path")
_ALL: Final = re.compile("|".join(f"(?P<{name.replace(' ', '_')}>{_PATTERNS[name]})" for name in _ORDER))
_SHORTEST_HOST: Final = 3
_ROOT_PARTS: Final = 1
"""The root alone is no name of a person."""


@dataclass
class Scrubber:
    """Replaces texts, the same one always by the same."""

    known: dict[str, str] = field(default_factory=dict)
    """Texts that are replaced wherever they stand, and by what."""

    def replacement(self, kind: str, text: str) -> str:
        """What stands for a text from now on."""
        if text not in self.known:
            number = sum(value.startswith(f"{kind}-") for value in self.known.values())
            ending = "".join(PurePath(text.replace("\\", "/")).suffixes[-1:]) if kind in ("path", "input") else ""
            self.known[text] = f"{kind}-{number}{ending}"
        return self.known[text]

    def text(self, text: str) -> str:
        """A text without names of people, machines and places."""
        for known in sorted(self.known, key=len, reverse=True):
            if known in text:
                text = re.sub(rf"(?<![\w/]){re.escape(known)}(?!\w)", self.known[known], text)
        return _ALL.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        kind = str(found.lastgroup).replace("_", " ")
        if kind == "long address" and not _is_address(found[0]):
            return found[0]
        return self.replacement(_WORDS.get(kind, kind), found[0])

    def apply(self, value: _Value) -> _Value:
        """The same for every text in nested plain data and frozen dataclasses."""
        result: Any = value
        if isinstance(value, str):
            result = self.text(value)
        elif isinstance(value, Mapping):
            result = {self.apply(name): self.apply(item) for name, item in value.items()}
        elif isinstance(value, tuple | list):
            result = type(value)(self.apply(item) for item in value)
        elif is_dataclass(value) and not isinstance(value, type):
            result = replace(value, **{part.name: self.apply(getattr(value, part.name)) for part in fields(value)})
        return result  # type: ignore[no-any-return]


def scrubber(inputs: Iterable[str]) -> Scrubber:
    """A scrubber that knows the inputs, the home of the user and the name of this machine."""
    made = Scrubber()
    for path in inputs:
        # Standard input and the like are no names.
        if any(character.isalnum() for character in path):
            made.replacement("input", path)
    if len(Path.home().parts) > _ROOT_PARTS:
        made.known[str(Path.home())] = "home"
    host = socket.gethostname()
    if len(host) >= _SHORTEST_HOST and host != "localhost":
        made.known[host] = "host-0"
    return made


def _is_address(text: str) -> bool:
    """Whether a text is an address of IPv6 and not, say, a name with namespaces."""
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
