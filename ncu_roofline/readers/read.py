"""Entry of the readers: one input in, one ``RawReport`` out."""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ncu_roofline.errors import InputError
from ncu_roofline.readers.lines import Text
from ncu_roofline.readers.packed import is_packed, unpack
from ncu_roofline.readers.report import Progress, RawReport
from ncu_roofline.readers.sniff import reject_binary
from ncu_roofline.readers.table import read_tables

STDIN = "-"


def read_report(path: str, *, names: AbstractSet[str] | None = None, progress: Progress | None = None) -> RawReport:
    """Read one input; ``-`` is standard input.

    Args:
        path: the file, or ``-``.
        names: printed metric names and labels to keep; None keeps all.
        progress: is told how far reading is.

    Raises:
        InputError: if no launch can be read.

    """
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError(path, "standard input is closed")
            printed = sys.stdin.buffer.read()
            return _read(path, printed, _digest_of(printed), names, progress)
        with Path(path).open("rb") as file, _mapped(file) as content:
            # What came through a pipe cannot be read again.
            digest = _Digest(path, os.fstat(file.fileno())) if isinstance(content, mmap.mmap) else _digest_of(content)
            return _read(path, content, digest, names, progress)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error


def _digest_of(content: bytes) -> Callable[[], str]:
    return lambda: hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class _Digest:
    """SHA-256 of a file, refused when the file is no longer the one that was read."""

    path: str
    seen: os.stat_result

    def __call__(self) -> str:
        try:
            return self._of_file()
        except OSError as error:
            raise InputError(self.path, f"cannot be read again: {error.strerror}") from error

    def _of_file(self) -> str:
        with Path(self.path).open("rb") as file:
            now = os.fstat(file.fileno())
            if (now.st_size, now.st_mtime_ns, now.st_ino) != (
                self.seen.st_size,
                self.seen.st_mtime_ns,
                self.seen.st_ino,
            ):
                raise InputError(self.path, "was changed while it was analysed", "Run again.")
            return hashlib.file_digest(file, "sha256").hexdigest()


def report_files(path: str) -> list[str]:
    """The files that a path stands for: itself, or every file below a folder, in the order of their names.

    Raises:
        InputError: if a folder is empty.

    """
    folder = Path(path)
    if path == STDIN or not folder.is_dir():
        return [path]
    files = sorted(str(file) for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError(path, "the folder has no files")
    return files


def _read(
    path: str,
    content: Text,
    digest: Callable[[], str],
    names: AbstractSet[str] | None,
    progress: Progress | None,
) -> RawReport:
    if is_packed(content[:4]):
        content = unpack(path, content[:])
    reject_binary(path, content[:4096])
    return read_tables(path, _utf8(content), names, digest, progress)


@contextmanager
def _mapped(file: BinaryIO) -> Iterator[Text]:
    """The content of a file without a copy; of a pipe, or of an empty file, as bytes."""
    try:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (ValueError, OSError):
        yield file.read()
        return
    try:
        yield content
    finally:
        # Arrays over it may live on in the traceback of an error, which must not be hidden by this one.
        with suppress(BufferError):
            content.close()


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
