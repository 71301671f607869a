"""Names of people, machines and places taken out of a result, so that it can be handed on.

What is replaced has the same replacement everywhere in one result. Numbers, products and, unless
asked for, kernel names stay.
"""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from ipaddress import ip_address
from pathlib import Path, PurePath
from typing import Any, Final, TypeVar

from ncu_roofline.timings import base_name

_Value = TypeVar("_Value")

_PATTERNS: Final = {
    # Behind a letter or a digit a slash divides, as in FLOP/s; one name behind a slash may be part of a kernel's name.
    "url": r"\b[a-z]+://[^\s'\"]+",
    # The name of a folder may have blanks in it: a slash follows. In quotes everything belongs to the path.
    "path": r"(?<=['\"])(?:~|\.{1,2})?/[\w.+@%~-][^'\"\n]*/[^'\"\n]*(?=['\"])"
    r"|(?<![\w/.)])(?:~|\.{1,2})?/(?:[\w.+@%~-]+(?: [\w.+@%~-]+)*/)+[\w.+@%~-]+|(?<![\w/.])~/[\w.+@%-]+",
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
_WORD: Final = re.compile(r"\w+")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]*")
_PROFILED: Final = re.compile(r"(\b[Pp]rofil(?:e|ing) (?:kernel )?)\"(?!kernel-[0-9]+\")([^\"\n]+)\"")
_SHORTEST_HOST: Final = 3
_ROOT_PARTS: Final = 1
"""The root alone is no name of a person."""


@dataclass
class Scrubber:
    """Replaces texts, the same one always by the same."""

    kernels: bool = False
    """Whether the names of kernels go, too, and those of NVTX ranges, which say as much."""
    known: dict[str, str] = field(default_factory=dict)
    """Texts that are replaced wherever they stand, and by what; see ``learn``."""
    _by_word: dict[str, list[str]] = field(default_factory=dict)
    """The known texts by their longest word: only those of the words of a text can be in it."""
    _bare: dict[str, str] = field(default_factory=dict)
    """Bare names of kernels that could be words like any other, and what stands for them in texts of people."""
    _numbers: Counter[str] = field(default_factory=Counter)

    def learn(self, text: str, word: str) -> None:
        """Replace a text by a word from now on, unless it has one already."""
        if text not in self.known:
            self.known[text] = word
            self._by_word.setdefault(max(_WORD.findall(text), key=len, default=""), []).append(text)

    def replacement(self, kind: str, text: str) -> str:
        """What stands for a text from now on."""
        if text not in self.known:
            ending = "".join(PurePath(text.replace("\\", "/")).suffixes[-1:]) if kind in ("path", "input") else ""
            self.learn(text, f"{kind}-{self._numbers[kind]}{ending}")
            self._numbers[kind] += 1
        return self.known[text]

    def kernel(self, *names: str) -> str:
        """What stands for a kernel, which tools call by several names."""
        word = self.replacement("kernel", names[0])
        for name in names:
            self.learn(name, word)
            bare = base_name(name)
            # A message of ncu has the bare name in quotes; without them it could be a word like any other.
            if bare:
                self.learn(f'"{bare}"', f'"{word}"')
            if _PLAIN_WORD.fullmatch(bare):
                self._bare.setdefault(bare, word)
            else:
                self.learn(bare, word)
        return word

    def text_of_people(self, text: str) -> str:
        """A text that somebody wrote about kernels, in which any word may be the name of one."""
        return self.text(_WORD.sub(lambda found: self._bare.get(found[0], found[0]), text))

    def text(self, text: str) -> str:
        """A text without names of people, machines and places."""
        words = dict.fromkeys(["", *_WORD.findall(text)])
        candidates = [known for word in words for known in self._by_word.get(word, ()) if known in text]
        for known in sorted(candidates, key=len, reverse=True):
            text = re.sub(rf"(?<![\w/]){re.escape(known)}(?!\w)", lambda _: self.known[known], text)  # noqa: B023
        if self.kernels:
            text = _PROFILED.sub(lambda found: f'{found[1]}"{self.kernel(found[2])}"', text)
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


def scrubber(inputs: Iterable[str], *, kernels: bool = False) -> Scrubber:
    """A scrubber that knows the inputs, the home of the user and the name of this machine."""
    made = Scrubber(kernels)
    for path in inputs:
        # Standard input and the like are no names.
        if any(character.isalnum() for character in path):
            made.replacement("input", path)
    if len(Path.home().parts) > _ROOT_PARTS:
        made.learn(str(Path.home()), "home")
    host = socket.gethostname()
    if len(host) >= _SHORTEST_HOST and host != "localhost":
        made.learn(host, "host-0")
    return made


def _is_address(text: str) -> bool:
    """Whether a text is an address of IPv6 and not, say, a name with namespaces."""
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
