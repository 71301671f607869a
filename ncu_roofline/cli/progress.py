"""How far reading is, on standard error, for inputs that take longer than a second."""

from __future__ import annotations

import time
from typing import Final

import click

_SECONDS: Final = 1.0


class ReadingProgress:
    """Says once a second how much of an input has been read; short work stays silent."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, path: str, done: int, size: int) -> None:
        """Take note of the bytes read of an input."""
        now = time.monotonic()
        if now - self._said >= _SECONDS:
            self._said = now
            click.echo(f"reading {path}: {done / size:.0%} of {size / 1e6:.0f} MB", err=True)
