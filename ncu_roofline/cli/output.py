"""Writing results: whole files or nothing, never over an input."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ncu_roofline.errors import UsageError

STANDARD = "-"
_PIPE_WIDTH = 160


def write(text: str | bytes, output: str | None, inputs: Sequence[str], *, option: str = "--output") -> None:
    """Print a text (``None`` or ``-``), or write it to a file under a temporary name that is then renamed.

    Links are followed; what is no regular file (a pipe, a device) is written into and not replaced.

    Raises:
        UsageError: if the file is an input or cannot be written.

    """
    content = (
        text if isinstance(text, bytes) else (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")
    )
    if output in (None, STANDARD):
        if sys.stdout is None:
            raise UsageError("--output", STANDARD, "standard output is closed")
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(str(output)).resolve()
    _refuse_input(target, str(output), inputs, option)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise UsageError(option, str(output), f"cannot be written: {error.strerror}") from error


@dataclass(frozen=True)
class Output:
    """A file to be written: its name, the option that asks for it, its content."""

    name: str
    option: str
    content: str | bytes
    makes_folder: bool = False
    """Whether its folder is made where it is missing."""


def write_all(outputs: Sequence[Output], inputs: Sequence[str]) -> None:
    """Write several files and then what is for standard output; none of them if one cannot be.

    Raises:
        UsageError: if a file is an input, is asked for twice or cannot be written.

    """
    files = [output for output in outputs if output.name != STANDARD]
    seen: set[Path] = set()
    for output in files:
        target = Path(output.name).resolve()
        _refuse_input(target, output.name, inputs, output.option)
        if target in seen:
            raise UsageError(output.option, output.name, "is the name of another output as well")
        seen.add(target)
        if target.is_dir():
            raise UsageError(output.option, output.name, "is a folder: give the name of a file")
        folder = next(parent for parent in target.parents if parent.exists())
        is_there = folder == target.parent or output.makes_folder
        if not (is_there and folder.is_dir() and os.access(folder, os.W_OK)):
            raise UsageError(output.option, output.name, "cannot be written: there is no such folder, or it is closed")
    for output in files:
        Path(output.name).resolve().parent.mkdir(parents=True, exist_ok=True)
        write(output.content, output.name, inputs, option=output.option)
    for output in outputs:
        if output.name == STANDARD:
            write(output.content, STANDARD, inputs)


def _refuse_input(target: Path, name: str, inputs: Sequence[str], option: str) -> None:
    if any(Path(one).exists() and target.exists() and target.samefile(one) for one in inputs):
        raise UsageError(option, name, "is an input, and inputs are never overwritten")


def _replace(target: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def terminal_width() -> int:
    """Columns of the terminal; wide when the output is piped and nobody said otherwise."""
    if is_terminal() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    return _PIPE_WIDTH


def is_terminal() -> bool:
    """Whether standard output is open and a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
