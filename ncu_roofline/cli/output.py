"""Writing results: whole files or nothing, never over an input."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from ncu_roofline.errors import UsageError

_PIPE_WIDTH = 160


def write(text: str, output: str | None, inputs: Sequence[str]) -> None:
    """Print a text, or write it to a file under a temporary name that is then renamed.

    Raises:
        UsageError: if the file is an input or cannot be written.

    """
    if output is None:
        click.echo(text, nl=not text.endswith("\n"), color=True)
        return
    target = Path(output)
    if any(Path(name).exists() and target.exists() and target.samefile(name) for name in inputs):
        raise UsageError("--output", output, "is an input, and inputs are never overwritten")
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text if text.endswith("\n") else text + "\n")
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError("--output", output, f"cannot be written: {error.strerror}") from error


def terminal_width() -> int:
    """Columns of the terminal; wide when the output is piped and nobody said otherwise."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    return _PIPE_WIDTH


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
