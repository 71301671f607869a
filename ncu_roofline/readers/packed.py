"""Compressed inputs: gzip and Zstandard, known by their first bytes and never by their name."""

from __future__ import annotations

import gzip
import sys
import zlib
from io import BufferedReader
from typing import Any, Final, cast

_GZIP: Final = b"\x1f\x8b"
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
HEAD: Final = 4
"""Bytes that tell whether an input is compressed."""


def _zstandard() -> Any:
    """The module of the standard library (Python 3.14), or its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


UNPACKING_ERRORS: Final = (OSError, EOFError, zlib.error, cast("type[Exception]", _zstandard().ZstdError))
"""What reading an unpacked stream raises when the input is damaged or cut."""


def unpacked(file: BufferedReader) -> BufferedReader:
    """The content of an input as a stream: itself, or what is compressed in it."""
    head = file.peek(HEAD)[:HEAD]
    if head.startswith(_GZIP):
        return BufferedReader(gzip.GzipFile(fileobj=file))
    if head.startswith(_ZSTANDARD):
        return BufferedReader(_zstandard().ZstdFile(file))
    return file
