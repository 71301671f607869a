"""The plotly.js that a page brings along or names, and what its policy has to allow for it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from html import escape

_GLOBAL = "Plotly"


@dataclass(frozen=True)
class Library:
    """plotly.js: its text, and the address from which a page loads it (None: it stands in the page)."""

    text: str
    address: str | None = None

    @property
    def element(self) -> str:
        """The script element."""
        if self.address is None:
            return f"<script>{self.text}</script>"
        integrity = script_hash(self.text)
        return f'<script src="{escape(self.address)}" integrity="{integrity}" crossorigin="anonymous"></script>'

    @property
    def source(self) -> str:
        """What ``script-src`` of the policy has to have."""
        if self.address is None:
            return f"'{script_hash(self.text)}'"
        return f"{self.address.rpartition('/')[0]}/"


def inline() -> Library:
    """The one that the installed plotly brings, in the page."""
    from plotly.offline import get_plotlyjs

    return given(get_plotlyjs())


def from_network() -> Library:
    """The same version at plotly's own address, held to the hash of the installed one."""
    from plotly.offline import get_plotlyjs, get_plotlyjs_version

    return Library(get_plotlyjs(), f"https://cdn.plot.ly/plotly-{get_plotlyjs_version()}.min.js")


def given(text: str) -> Library:
    """A bundle of plotly.js, in the page.

    Raises:
        ValueError: if it is none, or cannot stand inside a script element.

    """
    if _GLOBAL not in text:
        raise ValueError("is no bundle of plotly.js")
    lower = text.lower()
    if "</script" in lower or "<!--" in lower:
        raise ValueError("has </script or <!-- in it and cannot stand in a page; take a minified bundle")
    return Library(text)


def script_hash(text: str) -> str:
    """Hash of a script for the policy and for ``integrity``."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
