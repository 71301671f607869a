"""The values of this room: a user's ceilings, and what a benchmark printed before it is mapped to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

OWN_TOOL: Final = "ncu-roofline"
_VENDOR: Final = "nvidia "


@dataclass(frozen=True)
class MeasuredCeiling:
    """One roof: FLOP/s, OP/s or byte/s; clock in Hz where the file states it; where the number stands, in words."""

    value: float
    clock: float | None
    source: str


@dataclass(frozen=True)
class MeasuredCeilings:
    """The roofs of one file, by memory tier or instruction path, and what was done to get them.

    ``notes`` say what was mapped to what, and what was left out and why.
    """

    file: str
    tool: str
    ceilings: Mapping[str, MeasuredCeiling]
    notes: tuple[str, ...]
    device: str | None = None
    title: str | None = None
    sources: tuple[str, ...] = ()

    def covers(self, device: str | None) -> bool:
        """Whether launches on a device of this name get these ceilings.

        Case, blanks and the vendor's name in front make no difference, since drivers began to print it in 2021.
        Where either name is unknown nothing speaks against it: a CSV report often does not state a name.
        """
        return device is None or self.device is None or same_device(device, self.device)


@dataclass(frozen=True)
class Entry:
    """One result of a benchmark under the name that the file has for it; byte/s or FLOP/s.

    ``words`` say which number of the file it is. A ``doubt`` is a reason why it may not be what its name says;
    such an entry is used only when the user maps it.
    """

    name: str
    value: float
    line: int | None
    words: str
    doubt: str | None = None


@dataclass(frozen=True)
class ToolResult:
    """One file of a benchmark: bandwidths (``levels``, byte/s) and compute peaks (``peaks``, FLOP/s) as named there.

    ``stated`` has the tier or path of those names whose meaning the format leaves no doubt about, ``unstated`` the
    reason why the others are not used without a mapping; ``left_out`` has a reason for names that were printed and
    cannot be used at all.
    """

    tool: str
    file: str
    levels: tuple[Entry, ...]
    peaks: tuple[Entry, ...] = ()
    stated: Mapping[str, str] = field(default_factory=dict)
    unstated: str = "the format does not say which tier or path it is"
    left_out: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Bandwidths, then peaks."""
        return self.levels + self.peaks


def same_device(one: str, other: str) -> bool:
    """Whether two spellings name the same model of GPU."""
    return _plain(one) == _plain(other)


def _plain(device: str) -> str:
    return " ".join(device.casefold().split()).removeprefix(_VENDOR)
