"""Entry of the readers: one input in, one ``RawReport`` out."""

from __future__ import annotations

import hashlib
import mmap
import sys
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ncu_roofline.errors import InputError
from ncu_roofline.readers.lines import Text
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
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError(path, "standard input is closed")
            content = sys.stdin.buffer.read()
            return _read(path, content, hashlib.sha256(content).hexdigest, names)
        with Path(path).open("rb") as file, ThreadPoolExecutor(1) as worker:
            digest = worker.submit(_digest, path)
            with _mapped(file) as content:
                return _read(path, content, digest.result, names)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error


def _read(path: str, content: Text, digest: Callable[[], str], names: AbstractSet[str] | None) -> RawReport:
    reject_binary(path, content[:4096])
    return read_tables(path, _utf8(content), names, digest)


@contextmanager
def _mapped(file: BinaryIO) -> Iterator[Text]:
    """The content of a file without a copy; of a pipe, or of an empty file, as bytes."""
    try:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (ValueError, OSError):
        yield file.read()
        return
    with content:
        yield content


def _digest(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _utf8(content: Text) -> Text:
    """The same text as UTF-8 without a byte order mark; UTF-16 is known by its mark or its zero bytes."""
    head = content[:200]
    if head.startswith(b"\xef\xbb\xbf"):
        return content[3:]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content[:].decode("utf-16", "replace").encode()
    if len(head) >= 4 and head[1::2].count(0) > len(head) // 4:
        return content[:].decode("utf-16-le", "replace").encode()
    if len(head) >= 4 and head[0::2].count(0) > len(head) // 4:
        return content[:].decode("utf-16-be", "replace").encode()
    return content
