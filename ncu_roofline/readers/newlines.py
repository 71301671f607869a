"""Where the lines of a text end: offsets of lines, the bytes between them, and the memory that a mapped text takes."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray

Text = bytes | mmap.mmap
Offsets = npt.NDArray[np.int64]

BLOCK_BYTES: Final = 16 << 20
"""Bytes of text that are parsed at once: large enough for the parser's threads, small in memory."""

SCAN_BYTES: Final = 1 << 20
_LONG_LINE: Final = 4096
"""Bytes from which on looking for one newline after the other is faster."""
_NEWLINE: Final = 0x0A


@dataclass(frozen=True)
class Lines:
    """Where the lines of a text end, piece by piece of it: large arrays cost more to get than to fill."""

    begin: int
    """Offset of the first."""
    pieces: Sequence[tuple[int, npt.NDArray[np.uint32]]]
    """Offset of each piece, and the places in it of what ends a line."""

    @classmethod
    def of(cls, text: Text, begin: int, at: Callable[[int], None]) -> Lines:
        """The lines behind an offset; no more than a block of the text is kept in memory behind it.

        ``at`` is told how far that is.
        """
        found, last = [], begin
        for start, end, newlines in _pieces(text, begin):
            found.append((start, newlines.astype(np.uint32)))
            at(end)
            if end - last >= BLOCK_BYTES:
                forget(text, last, end)
                last = end
        if not text[len(text) - 1 :].endswith(b"\n"):
            found.append((len(text) - 1, np.zeros(1, np.uint32)))
        return cls(begin, found)

    def __len__(self) -> int:
        return sum(len(places) for _, places in self.pieces)

    def starts(self, numbers: npt.NDArray[np.intp]) -> Offsets:
        """Offsets of lines, whose numbers (from 0) ascend."""
        return np.where(numbers > 0, self.ends(np.maximum(numbers - 1, 0)), self.begin)

    def ends(self, numbers: npt.NDArray[np.intp]) -> Offsets:
        """Offsets behind lines, whose numbers (from 0) ascend."""
        found, first = [np.zeros(0, np.int64)], 0
        for start, places in self.pieces:
            mine = numbers[slice(*np.searchsorted(numbers, (first, first + len(places))))]
            found.append(places[mine - first] + np.int64(start + 1))
            first += len(places)
        return np.concatenate(found)


def line_starts(text: Text, begin: int) -> Offsets:
    """Offset of every line behind an offset."""
    found = [newlines + (start + 1) for start, _, newlines in _pieces(text, begin)]
    starts = np.concatenate([np.full(1, begin, np.int64), *found])
    return starts[starts < len(text)]


def _pieces(text: Text, begin: int) -> Iterator[tuple[int, int, Offsets]]:
    """Begin and end of each piece of a text behind an offset, and the places of the newlines in it."""
    content = np.frombuffer(text, np.uint8)
    is_newline = np.empty(SCAN_BYTES, np.bool_)
    are_long = False
    for start in range(begin, len(content), SCAN_BYTES):
        part = content[start : start + SCAN_BYTES]
        newlines = _each_newline(text, start, start + len(part)) if are_long else _newlines(part, is_newline)
        are_long = len(newlines) * _LONG_LINE < SCAN_BYTES
        yield start, start + len(part), newlines


def _newlines(part: npt.NDArray[np.uint8], is_newline: BoolArray) -> Offsets:
    """Places of the newlines in a piece; ``is_newline`` has room for it.

    Lines are longer than the words of 8 bytes, so words with a newline are found first: it saves half of the time.
    """
    np.equal(part, _NEWLINE, out=is_newline[: len(part)])
    is_newline[len(part) :] = False
    words = is_newline.view(np.uint64)
    word = np.flatnonzero(words != 0)
    within = np.flatnonzero(words[word].view(np.bool_))
    return np.asarray(word[within >> 3] * 8 + (within & 7), np.int64)


def _each_newline(text: Text, start: int, end: int) -> Offsets:
    """Places of the newlines in a piece, found one after the other."""
    found = []
    newline = text.find(b"\n", start, end)
    while newline >= 0:
        found.append(newline - start)
        newline = text.find(b"\n", newline + 1, end)
    return np.array(found, np.int64)


def records_at(text: Text, begins: Offsets, ends: Offsets) -> list[bytes]:
    """Records between ascending offsets."""
    found = []
    forgotten = 0
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        found.append(text[begin:end])
        if end - forgotten > BLOCK_BYTES:
            forget(text, forgotten, end)
            forgotten = end
    return found


def line_at(text: Text, start: int) -> tuple[bytes, int]:
    """The line that begins at an offset, and the offset behind it."""
    end = line_end(text, start)
    return text[start:end], end


def line_end(text: Text, position: int) -> int:
    """The offset behind the line that has a position."""
    end = text.find(b"\n", position)
    return len(text) if end < 0 else end + 1


def forget(text: Text, start: int, end: int) -> None:
    """Let the system take back the memory of what was read of a mapped file."""
    if isinstance(text, mmap.mmap) and hasattr(text, "madvise"):
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        if end - first >= mmap.PAGESIZE:
            text.madvise(mmap.MADV_DONTNEED, first, (end - first) // mmap.PAGESIZE * mmap.PAGESIZE)
