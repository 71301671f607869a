"""Short names of kernels that stay apart: no arguments, no namespaces, and the first template argument that differs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ncu_roofline.formats import visible
from ncu_roofline.timings import base_name

WIDTH: Final = 26
_UNNAMED: Final = "(no name)"


def short_names(names: Sequence[str | None]) -> list[str]:
    """A short name for each; equal ones are told apart by a piece of what differs, else not at all."""
    plain = [visible(base_name(name)) or _UNNAMED if name else _UNNAMED for name in names]
    result = list(plain)
    for base in {name for name in plain if plain.count(name) > 1}:
        places = [place for place, name in enumerate(plain) if name == base]
        full = [names[place] or "" for place in places]
        if len(set(full)) > 1:
            start = _common(full)
            for place, text in zip(places, full, strict=True):
                piece = visible(re.split(r"[<>(),]", text[start:].lstrip(" ,<>()"), maxsplit=1)[0][:WIDTH])
                result[place] = f"{base} …{piece}" if piece else base
    return result


def _common(texts: Sequence[str]) -> int:
    """Length of the beginning that all texts share, back to the beginning of the word that differs."""
    length = 0
    for characters in zip(*texts, strict=False):
        if len(set(characters)) > 1:
            break
        length += 1
    while length > 0 and (texts[0][length - 1].isalnum() or texts[0][length - 1] == "_"):
        length -= 1
    return length
