"""Compressed inputs: gzip and Zstandard, known by their first bytes and never by their name."""

from __future__ import annotations

import gzip
import sys
import zlib
from typing import Any, Final

from ncu_roofline.errors import InputError

_GZIP: Final = b"\x1f\x8b"
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"


def is_packed(head: bytes) -> bool:
    """Whether content that begins like this is compressed."""
    return head.startswith((_GZIP, _ZSTANDARD))


def unpack(path: str, content: bytes) -> bytes:
    """The content of a compressed input.

    Raises:
        InputError: if it is damaged or cut.

    """
    try:
        return gzip.decompress(content) if content.startswith(_GZIP) else bytes(_zstandard().decompress(content))
    except (OSError, EOFError, zlib.error, _zstandard().ZstdError) as error:
        raise InputError(path, f"the compressed file is damaged or cut: {error}", "Copy or write it again.") from error


def _zstandard() -> Any:
    """The module of the standard library (Python 3.14), or its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
