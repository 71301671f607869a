"""What every producer of times is read into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ncu_roofline.arrays import Columns, objects

SINGLE: Final = "single launch"
MEDIAN: Final = "median"
AVERAGE: Final = "average"
GIVEN: Final = "as given"
"""A row of one's own, which stands for every launch of its kernel and shape."""

NO_FLUSH: Final = "none"
"""Caches are left as the application leaves them."""
UNLOCKED: Final = "none"
"""Clocks are left to the GPU."""

_COLUMNS: Final = ("kernel", "mangled", "grid", "block", "device", "label", "nvtx")


@dataclass(frozen=True)
class TimingConditions:
    """Under which conditions times were taken, in the words of ncu's options; None is unknown."""

    cache_control: str | None = None
    clock_control: str | None = None


IN_APPLICATION: Final = TimingConditions(NO_FLUSH, UNLOCKED)
"""Of tracers, which neither flush caches nor lock clocks."""


@dataclass(frozen=True)
class Timings:
    """Times of one file.

    ``columns``: ``kernel`` (name as written, None: not named), ``mangled``, ``grid``, ``block`` (tuples or None: not
    told), ``device`` (ordinal or None), ``label`` (of a benchmark), ``nvtx`` (ranges around the launch as
    (domain, range) pairs, None: not known), ``time`` in seconds, ``samples`` (launches behind
    it) and ``statistic`` of each row, in the order of the launches.
    """

    path: str
    producer: str
    columns: Columns
    conditions: TimingConditions
    notes: tuple[str, ...] = ()
    """What the reader of the numbers has to know."""
    device_names: tuple[str, ...] = ()
    """Products that the times were taken on; empty: not told."""

    def __len__(self) -> int:
        return len(self.columns["time"])


@dataclass
class Rows:
    """Collects rows of a file."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, time: float, *, samples: int = 1, statistic: str = SINGLE, **identity: Any) -> None:
        """Add the time of one launch, or of several by a statistic; one that is not above zero and finite is none."""
        if 0 < time < float("inf"):
            self.rows.append({"time": time, "samples": samples, "statistic": statistic, **identity})

    def __len__(self) -> int:
        return len(self.rows)

    def timings(
        self, path: str, producer: str, conditions: TimingConditions, notes: Iterable[str] = (),
        device_names: Iterable[str] = (),
    ) -> Timings:  # fmt: skip
        """The rows as a value."""
        columns: Columns = {name: objects(row.get(name) for row in self.rows) for name in (*_COLUMNS, "statistic")}
        columns["time"] = np.array([row["time"] for row in self.rows], np.float64)
        columns["samples"] = np.array([row["samples"] for row in self.rows], np.int64)
        names = tuple(dict.fromkeys(filter(None, device_names)))
        return Timings(path, producer, columns, conditions, tuple(notes), names)
