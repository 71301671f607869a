"""Entry of the readers: one input in, one ``RawReport`` out."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Set as AbstractSet
from pathlib import Path

from ncu_roofline.errors import InputError
from ncu_roofline.readers.report import RawReport
from ncu_roofline.readers.sniff import reject_binary
from ncu_roofline.readers.table import read_tables

STDIN = "-"


def read_report(path: str, *, names: AbstractSet[str] | None = None) -> RawReport:
    """Read one input; ``-`` is standard input.

    Args:
        path: the file, or ``-``.
        names: printed metric names and labels to keep; None keeps all.

    Raises:
        InputError: if no launch can be read.

    """
    content = _content(path)
    reject_binary(path, content[:4096])
    digest = hashlib.sha256(content).hexdigest()
    return read_tables(path, digest, _utf8(content), names)


def _content(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error


def _utf8(content: bytes) -> bytes:
    """The same text as UTF-8 without a byte order mark; UTF-16 is known by its mark or its zero bytes."""
    if content.startswith(b"\xef\xbb\xbf"):
        return content[3:]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace").encode()
    head = content[:200]
    if len(head) >= 4 and head[1::2].count(0) > len(head) // 4:
        return content.decode("utf-16-le", "replace").encode()
    if len(head) >= 4 and head[0::2].count(0) > len(head) // 4:
        return content.decode("utf-16-be", "replace").encode()
    return content
