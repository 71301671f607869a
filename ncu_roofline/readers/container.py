r"""The container of a binary report: blocks of length-prefixed messages, walked without keeping them.

Layout (NVIDIA, Nsight Compute Customization Guide, "Report File Format"): the magic ``NVR\0``, the size and message
of the file header, then blocks until the end of the file. A block is the size and message of its header, then as many
bytes as the header says, in which sources and the results of kernels, ranges, command lists and graphs follow each
other, each as size and message. All sizes are little-endian 32-bit numbers. Whatever does not fit this exactly is
damage.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, Final

from google.protobuf.message import DecodeError

from ncu_roofline.readers.messages import BlockHeader, FileHeader
from ncu_roofline.readers.packed import UNPACKING_ERRORS
from ncu_roofline.vocabulary import COMMAND_LIST, GRAPH, KERNEL, RANGE

MAGIC: Final = b"NVR\0"
VERSION: Final = 7
"""Version of the container in every report from 2019 to 2026 that was seen."""

KINDS: Final = {
    KERNEL: "results", RANGE: "range_results", COMMAND_LIST: "command_list_results", GRAPH: "graph_results"
}  # fmt: skip
"""What results may be of, and the field of a block's header that counts them, in the order in which they follow."""

_SIZE: Final = struct.Struct("<I")
_CHUNK: Final = 1 << 20


class DamagedError(Exception):
    r"""The container does not fit its own description; the text says where and how."""


@dataclass(frozen=True)
class Block:
    """The header of a block and its results as undecoded messages, each with its kind (a key of ``KINDS``)."""

    header: Any
    results: Iterator[tuple[str, bytes]]


class Container:
    """Reads a container from a stream, never more than one message at a time.

    ``offset`` is how many bytes were read, ``expected`` how many results the headers of the blocks so far promise.
    """

    def __init__(self, stream: BufferedReader) -> None:
        self._stream = stream
        self.offset = 0
        self.expected = 0

    def version(self) -> int:
        """The version in the file header; has to be read first."""
        magic = self._take(len(MAGIC), "the magic")
        if magic != MAGIC:
            raise DamagedError("the file does not begin with NVR")
        return int(self._message(FileHeader, "the file header").version)

    def blocks(self) -> Iterator[Block]:
        """Every block; its results have to be used up before the next one."""
        number = 0
        while not self._at_end():
            number += 1
            what = f"block {number} at byte {self.offset}"
            header = self._message(BlockHeader, what)
            self.expected += sum(getattr(header, field) for field in KINDS.values())
            end = self.offset + header.payload_size
            yield Block(header, self._results(header, end, what))
            if self.offset != end:
                raise DamagedError(f"{what} has {end - self.offset} bytes that belong to nothing")

    def _results(self, header: Any, end: int, what: str) -> Iterator[tuple[str, bytes]]:
        for _ in range(header.sources):
            self._entry(end, what, wanted=False)
        for kind, field in KINDS.items():
            for _ in range(getattr(header, field)):
                yield kind, self._entry(end, what, wanted=True)

    def _entry(self, end: int, what: str, *, wanted: bool) -> bytes:
        size = self._size(what)
        if self.offset + size > end:
            raise DamagedError(f"{what} has an entry of {size} bytes that passes its end")
        if wanted:
            return self._take(size, what)
        while size:
            size -= len(self._take(min(size, _CHUNK), what))
        return b""

    def _message(self, kind: Any, what: str) -> Any:
        return self._decoded(kind, self._take(self._size(what), what), what)

    def _at_end(self) -> bool:
        try:
            return not self._stream.peek(1)
        except UNPACKING_ERRORS as error:
            raise DamagedError(f"what follows byte {self.offset} cannot be read: {error}") from error

    def _size(self, what: str) -> int:
        return int(_SIZE.unpack(self._take(_SIZE.size, what))[0])

    def _take(self, size: int, what: str) -> bytes:
        """Exactly so many bytes; in pieces, so that a damaged size asks for no more memory than there are bytes."""
        pieces = []
        left = size
        while left:
            try:
                piece = self._stream.read(min(left, _CHUNK))
            except UNPACKING_ERRORS as error:
                raise DamagedError(f"{what} cannot be read: {error}") from error
            if not piece:
                raise DamagedError(f"{what} is cut: {size} bytes are announced and {size - left} are there")
            pieces.append(piece)
            left -= len(piece)
        self.offset += size
        return b"".join(pieces)

    def _decoded(self, kind: Any, content: bytes, what: str) -> Any:
        try:
            return kind.FromString(content)
        except DecodeError as error:
            raise DamagedError(f"{what} has a header that cannot be decoded") from error
