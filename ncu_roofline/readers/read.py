"""Entry of the readers: one input in, one ``RawReport`` out."""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import sys
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import BinaryIO

import polars as pl

from ncu_roofline.errors import InputError
from ncu_roofline.readers.binary import FORM, frame_of_rules, read_results
from ncu_roofline.readers.container import MAGIC
from ncu_roofline.readers.newlines import Text
from ncu_roofline.readers.packed import UNPACKING_ERRORS, unpacked
from ncu_roofline.readers.report import CELL_SCHEMA, PRINTED_SCHEMA, Loss, Progress, RawReport, SkippedLines
from ncu_roofline.readers.sniff import reject_binary
from ncu_roofline.readers.table import read_tables

STDIN = "-"


def read_report(
    path: str, *, names: AbstractSet[str] | None = None, progress: Progress | None = None, partial: bool = False
) -> RawReport:
    """Read one input; ``-`` is standard input.

    Args:
        path: the file, or ``-``.
        names: printed metric names and labels to keep; None keeps all.
        progress: is told how far reading is.
        partial: keep the whole launches of a damaged binary report instead of refusing it.

    Raises:
        InputError: if no launch can be read, or some of a binary report are lost.

    """
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError(path, "standard input is closed")
            return _read_stream(path, sys.stdin.buffer.read(), names, progress, partial=partial)
        with Path(path).open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                # What came through a pipe cannot be read again.
                return _read_stream(path, file.read(), names, progress, partial=partial)
            return _read_file(path, file, names, progress, partial=partial)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error


def _read_stream(
    path: str, content: bytes, names: AbstractSet[str] | None, progress: Progress | None, *, partial: bool
) -> RawReport:
    def digest() -> str:
        return hashlib.sha256(content).hexdigest()

    stream = unpacked(BufferedReader(BytesIO(content)))
    if _begins(path, stream, MAGIC):
        return _read_binary(path, stream, digest, names, None, partial=partial)
    text = content if stream.raw.__class__ is BytesIO else _unpacked(path, stream)
    return _read_text(path, text, digest, names, progress)


def _read_file(
    path: str, file: BufferedReader, names: AbstractSet[str] | None, progress: Progress | None, *, partial: bool
) -> RawReport:
    digest = _Digest(path, os.fstat(file.fileno()))
    stream = unpacked(file)
    if _begins(path, stream, MAGIC):

        def at(_: int) -> None:
            if progress is not None:
                progress(path, file.tell(), digest.seen.st_size)

        return _read_binary(path, stream, digest, names, at, partial=partial)
    if stream is not file:
        return _read_text(path, _unpacked(path, stream), digest, names, progress)
    with _mapped(file) as content:
        return _read_text(path, content, digest, names, progress)


def _begins(path: str, stream: BufferedReader, magic: bytes) -> bool:
    try:
        return stream.peek(len(magic)).startswith(magic)
    except UNPACKING_ERRORS as error:
        raise _damaged(path, error) from error


def _unpacked(path: str, stream: BufferedReader) -> bytes:
    try:
        return stream.read()
    except UNPACKING_ERRORS as error:
        raise _damaged(path, error) from error


def _damaged(path: str, error: Exception) -> InputError:
    problem = f"the compressed file is damaged or cut: {error}"
    return InputError(path, problem, "Copy or write it again.", is_damaged=True)


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


def _read_text(
    path: str,
    content: Text,
    digest: Callable[[], str],
    names: AbstractSet[str] | None,
    progress: Progress | None,
) -> RawReport:
    reject_binary(path, content[:4096])
    return read_tables(path, _utf8(content), names, digest, progress)


def _read_binary(
    path: str,
    stream: BufferedReader,
    digest: Callable[[], str],
    names: AbstractSet[str] | None,
    at: Callable[[int], None] | None,
    *,
    partial: bool,
) -> RawReport:
    results, loss = read_results(stream, names, at or (lambda _: None))
    launches = len(results)
    if loss is not None and not (partial and launches):
        raise InputError(
            path, f"the report is damaged or cut: {loss.problem}", _what_is_left(launches, loss), is_damaged=True
        )
    if not launches:
        raise InputError(path, "the report has no launches", "Look at the messages that ncu printed.")
    stored = results.stored()
    return RawReport(
        path=path,
        digest=digest,
        form=FORM,
        launches=results.launches(stored),
        cells=pl.DataFrame(schema=CELL_SCHEMA),
        printed=pl.DataFrame(schema=PRINTED_SCHEMA),
        skipped=SkippedLines(),
        stored=stored,
        rules=frame_of_rules(results),
        session=results.session(),
        loss=loss,
    )


def _what_is_left(launches: int, loss: Loss) -> str:
    if not launches:
        return "No launch before it is whole. Copy the report again, or profile again."
    lost = f" and at least {loss.at_least} are lost" if loss.at_least else ""
    return f"{launches} launches before it are whole{lost}. Copy the report again; --partial analyses the whole ones."


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
