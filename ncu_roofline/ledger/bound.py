"""What a problem takes at least on a machine: the pair of ledgers, t >= max(work / peak, bytes / bandwidth).

Knows neither counters nor reports. Stages that depend on each other add up; the aggregate of their ledgers is a looser
bound, since it lets the memory of one overlap with the arithmetic of another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ncu_roofline.ledger.problem import Ledger
from ncu_roofline.machine import Machine
from ncu_roofline.vocabulary import is_tensor

DRAM: Final = "dram"


@dataclass(frozen=True)
class LedgerBound:
    """Seconds of a ledger on a machine; NaN where work, bytes or ceiling is not known."""

    path: str | None
    """The instruction path whose peak is taken; None: none is known."""
    peak: float
    bandwidth: float
    compute: float
    memory: float

    @property
    def time(self) -> float:
        """The larger of both, as far as they are known: a lower bound of the time."""
        known = [one for one in (self.compute, self.memory) if not math.isnan(one)]
        return max(known, default=math.nan)

    @property
    def by(self) -> str | None:
        """The path or ``dram``, whichever takes longer; None where nothing is known."""
        if math.isnan(self.time):
            return None
        return DRAM if math.isnan(self.compute) or self.memory > self.compute else self.path

    @property
    def ridge(self) -> float:
        """The intensity from which the path binds, FLOP/byte."""
        return self.peak / self.bandwidth

    @property
    def complete(self) -> bool:
        """Whether both sides are known."""
        return not math.isnan(self.compute + self.memory)


def ledger_bound(ledger: Ledger, machine: Machine) -> LedgerBound:
    """The bound of one problem."""
    path, peak = machine.peak(ledger.paths)
    ceiling = math.nan if peak is None else peak.value
    bandwidth = math.nan if machine.bandwidth is None else machine.bandwidth.value
    return LedgerBound(path, ceiling, bandwidth, ledger.work / ceiling, ledger.compulsory / bandwidth)


@dataclass(frozen=True)
class StagesBound:
    """Seconds of several stages: ``serial`` one after the other, ``aggregate`` if all of them overlapped perfectly.

    Of what is known: NaN where nothing is, and ``complete`` where both sides of every stage are.
    """

    serial: float
    aggregate: float
    by: str | None
    """What binds the aggregate."""
    complete: bool


def stages_bound(bounds: Sequence[LedgerBound], counts: Sequence[float], *, one_peak: bool = False) -> StagesBound:
    """Both bounds of stages that happen so many times.

    Paths of the tensor cores share their pipe (FP64 has one of its own on some chips), other paths have their own; with
    ``one_peak`` all work is held against a peak that was stated for whatever path.
    """
    loads: dict[str, float] = {}
    for bound, count in zip(bounds, counts, strict=True):
        pipe = "arithmetic" if one_peak else _pipe_of(bound.path)
        for name, seconds in ((pipe, bound.compute), (DRAM, bound.memory)):
            if not math.isnan(seconds):
                loads[name] = loads.get(name, 0.0) + count * seconds
    by = max(loads, key=lambda name: loads[name], default=None)
    times = [count * bound.time for bound, count in zip(bounds, counts, strict=True) if not math.isnan(bound.time)]
    return StagesBound(
        serial=sum(times) if times else math.nan,
        aggregate=loads[by] if by is not None else math.nan,
        by=by,
        complete=all(bound.complete for bound in bounds),
    )


def _pipe_of(path: str | None) -> str:
    return "tensor cores" if path is not None and is_tensor(path) and path != "tensor.fp64" else str(path)
