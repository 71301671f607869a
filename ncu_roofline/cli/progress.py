"""How far reading is, on standard error, for inputs that take longer than a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from ncu_roofline.scrub import Scrubber

_SECONDS: Final = 1.0


class ReadingProgress:
    """Says once a second how much of an input has been read; short work stays silent."""

    def __init__(self, scrubber: Scrubber | None = None) -> None:
        self._said = time.monotonic()
        self._scrubber = scrubber

    def __call__(self, path: str, done: int, size: int) -> None:
        """Take note of the bytes read of an input."""
        now = time.monotonic()
        if now - self._said >= _SECONDS:
            self._said = now
            name = path if self._scrubber is None else self._scrubber.text(path)
            click.echo(f"reading {name}: {done / size:.0%} of {size / 1e6:.0f} MB", err=True)
