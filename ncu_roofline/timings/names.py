"""Names of kernels as different tools print them, brought to one form.

The rules are those that made names of ncu, nsys and PyTorch for the same kernels equal: namespaces, casts of template
arguments and argument lists are printed by some and not by others.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

CUT: Final = "\u2026"
"""How nsys ends a name that it cut."""

_OVER_LAUNCHES: Final = re.compile(r".* \((range|graph)\)", re.DOTALL)
"""The name of a result over several launches: an NVTX range, and what it is."""
_ANONYMOUS: Final = re.compile(r"\(anonymous namespace\)::|<unnamed>::|^(void )?unnamed>::")
_CAST: Final = re.compile(r"\([A-Za-z_][\w: ]*\)(?=-?[0-9])")
_NAMESPACE: Final = re.compile(r"\b[A-Za-z_]\w*::")
_CONST: Final = re.compile(r"\bconst\b")
_SUFFIX: Final = re.compile(r"\b([0-9]+)(?:ull|ul|u|ll|l)\b", re.IGNORECASE)
_WORDS: Final = (("true", "1"), ("false", "0"), ("const", ""))
_LAST_PIECE: Final = re.compile(r"[<(, ][^<(, ]*$")
_OPERATION: Final = re.compile(r"\bcutlass(?:3x)?_(?:[0-9]+_|sm[0-9]+_)?(\w+)")


@lru_cache(maxsize=1 << 16)
def normalised(name: str) -> str:
    """A name in the form in which names of different tools are equal, without its argument list."""
    return name if kind_in(name) else _without_arguments(_simplified(name)).removeprefix("void")


@lru_cache(maxsize=1 << 16)
def with_arguments(name: str) -> str:
    """The same with the argument list, which tells overloads apart where both tools print it."""
    text = name if kind_in(name) else _simplified(name).removeprefix("void")
    # Pointers to constants are written in two ways; how many there are is the same in both.
    return f"{text}#{len(_CONST.findall(name))}"


@lru_cache(maxsize=1 << 16)
def exact(name: str) -> str:
    """A name with everything that it says; only spaces, casts and the spelling of unnamed namespaces are left out."""
    return re.sub(r"\s+", "", _CAST.sub("", _ANONYMOUS.sub("", _behind_range(name)))).removeprefix("void")


@lru_cache(maxsize=1 << 16)
def qualified(name: str) -> tuple[str, str]:
    """Namespaces of the function itself and of everything in its template arguments; empty where none is printed.

    Tools that print namespaces print all of them, so that two names which differ in them are of two kernels.
    """
    text = exact(name)
    begin = min((at for at in (text.find("<"), text.find("(")) if at >= 0), default=len(text))
    arguments = _without_arguments(text)[begin:]
    return text[:begin].rpartition("::")[0], arguments if "::" in arguments else ""


def beginning(name: str) -> str | None:
    """The normalised beginning of a name that was cut; None if it was not."""
    if not name.endswith(CUT):
        return None
    # The last piece is not whole, and a namespace in it would not be seen as one.
    whole = _LAST_PIECE.sub("", name.removesuffix(CUT))
    return _simplified(whole).removeprefix("void")


def base_name(name: str) -> str:
    """The bare name of a function: no return type, namespaces, template or other arguments."""
    if kind_in(name):
        return name
    # The type that a function returns may be a template itself, so that its own arguments are not the first ones.
    plain = _without_templates(_behind_range(_ANONYMOUS.sub("", name))).partition("(")[0]
    return plain.split("::")[-1].split(" ")[-1]


def kind_in(name: str) -> str:
    """What a result over several launches is of, ``range`` or ``graph``, by its name; empty for a kernel."""
    found = _OVER_LAUNCHES.fullmatch(name)
    return found[1] if found else ""


def operation(name: str) -> str | None:
    """The operation of the CUTLASS library in a name, without library and architecture; None if there is none."""
    found = _OPERATION.search(name)
    return found[1] if found else None


def _simplified(name: str) -> str:
    text = _CAST.sub("", _ANONYMOUS.sub("", _behind_range(name)))
    text = _NAMESPACE.sub("", text)
    for word, replacement in _WORDS:
        text = re.sub(rf"\b{word}\b", replacement, text)
    return re.sub(r"\s+", "", _SUFFIX.sub(r"\1", text))


def _behind_range(name: str) -> str:
    """The name behind an NVTX range that nsys puts in front of it with a slash."""
    depth, begin = 0, 0
    for position, character in enumerate(name):
        depth += character in "<([{"
        depth -= character in ">)]}"
        if character == "/" and depth == 0:
            begin = position + 1
    return name[begin:]


def _without_templates(text: str) -> str:
    """A text without template arguments; what is open at the end of a cut one goes, too."""
    depth, kept = 0, []
    for position, character in enumerate(text):
        opens, closes = character == "<", character == ">" and text[position - 1 : position] != "-"
        if depth == 0 and not opens:
            kept.append(character)
        depth = max(depth + opens - closes, 0)
    return "".join(kept).strip()


def _without_arguments(text: str) -> str:
    depth = 0
    for position, character in enumerate(text):
        if character == "(" and depth == 0 and position > 0:
            return text[:position]
        depth += character == "<"
        depth -= character == ">" and text[position - 1 : position] != "-"
    return text
