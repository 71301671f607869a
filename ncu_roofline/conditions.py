"""Under which conditions the counters of an input were measured: what is known, and from where.

A CSV carries none of them: cache control, clock control and replay mode stand only in the profiler's
command line, which the session page and the binary report have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Conditions:
    """Measuring conditions of one input; None is unknown. Sources as in the contract."""

    cache_control: str | None = None
    cache_control_source: str = "unknown"
    clock_control: str | None = None
    clock_control_source: str = "unknown"
    replay_mode: str | None = None
    ncu_version: str | None = None


def from_messages(messages: Iterable[str], replay: str) -> Conditions:
    """Conditions that ncu's own messages around a table tell: only that it replayed the application."""
    replayed = any(message.startswith(replay) for message in messages)
    return Conditions(replay_mode="application" if replayed else None)
