"""The values that a metric map consists of; plain, frozen, without behaviour beyond looking things up.

Names in a map are *base counters* (``dram__bytes``); which rollup of a report gives their total, rate or
peak is resolved in ``counters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Weights = Mapping[str, int]
"""Base counter -> amount (FLOP, OP or byte) per counted event."""


@dataclass(frozen=True)
class Part:
    """Counters that are added up and share one peak."""

    work: Weights
    peak: Weights
    """The counter whose own peak, times its weight, is the ceiling of this part; empty: no ceiling."""


@dataclass(frozen=True)
class Alternative:
    """One way to obtain an amount: disjoint parts; the time at the ceiling is the sum of F_part / C_part."""

    parts: tuple[Part, ...]
    file: str
    line: int
    is_separate: bool = False
    """Whether it counts other raw events than the alternatives before it, so that the two need not agree."""

    def counters(self) -> tuple[str, ...]:
        """All counters of the amount, in order."""
        return tuple(counter for part in self.parts for counter in part.work)


@dataclass(frozen=True)
class PathMap:
    """How the work of one instruction path is counted, best alternative first."""

    path: str
    pipe: str
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Measure:
    """One way of counting the bytes of a tier, with the peak that belongs to the same way of counting."""

    id: str
    counts: str
    alternatives: tuple[Alternative, ...]
    misses: tuple[str, ...]
    """Counters of bytes that this way of counting does not see."""
    contains: Mapping[str, str]
    """What it counts beyond the tier's own traffic on some chips, by compute capability."""
    data_path: str | None
    """Tiers whose measures in use name the same data path share it: their times add up."""


@dataclass(frozen=True)
class TierMap:
    """The measures of one memory tier in order of preference."""

    tier: str
    measures: tuple[Measure, ...]


@dataclass(frozen=True)
class TensorActivity:
    """Counters that tell whether the tensor pipe worked at all."""

    active: tuple[str, ...]
    constant_loads: str | None
    """Counter of HFMA2.MMA warp instructions where the active counters include them."""
    includes_constant_loads: bool
    operations_per_instruction: tuple[int, int] | None = None
    """Fewest and most operations of an instruction of the first active counter, where its shapes are all known."""


@dataclass(frozen=True)
class MetricMap:
    """The resolved translation of counters into quantities for some compute capabilities."""

    id: str
    title: str
    file: str
    compute_capabilities: tuple[str, ...]
    time: tuple[str, ...]
    """Metrics (with rollup) that are the duration of a launch, best first."""
    cycles: tuple[str, ...]
    """Base counters whose ``.avg`` or ``.max`` over ``.avg.per_second`` is a duration, best first."""
    clocks: Mapping[str, str]
    """Clock name -> base counter of its cycles."""
    hit_rates: Mapping[str, str]
    """Tier -> base counter of the share of hits of its cache, which ncu gives as a percentage."""
    utilization: tuple[str, ...]
    """Throughput metrics that ncu gives only as a percentage of peak."""
    attributes: Mapping[str, str]
    """What of the device is of use -> metric: name, memory_clock, memory_bus_width, sm_count, sm_clock,
    device_index, cc_major, cc_minor, green_context, grid_size (blocks), registers per thread, spills,
    achieved occupancy, waves of blocks (of the launch)."""
    tensor_activity: TensorActivity
    opcodes: Mapping[str, tuple[str, ...]]
    """Opcodes of a histogram by what they tell: ``tensor`` work, ``half``-precision work on two values, and
    ``constant_loads``, which look like the latter."""
    checks: Mapping[str, tuple[Weights, ...]]
    """Amounts that only checks look at, each with its alternatives in order of preference."""
    paths: Mapping[str, PathMap]
    tiers: Mapping[str, TierMap]
    unmeasured: Mapping[str, Mapping[str, str]]
    """Tiers that cannot be measured on some compute capabilities: tier -> compute capability -> reason."""
    only_seen_in: Mapping[str, str]
    """Counters of old reports that today's lists of the chip lack, with the report they were seen in."""
    sources: tuple[str, ...]
    origins: Mapping[str, tuple[str, int]]
    """File and line of the entries that have no alternatives: ``time``, ``cycles``, ``clocks.sm`` ..."""

    def alternatives(self) -> Iterator[Alternative]:
        """Every alternative of every path and measure."""
        for path in self.paths.values():
            yield from path.alternatives
        for tier in self.tiers.values():
            for measure in tier.measures:
                yield from measure.alternatives

    def base_counters(self) -> frozenset[str]:
        """Every base counter that an amount, a peak or the tensor pipe's state may be read from."""
        names = {*self.cycles, *self.clocks.values(), *self.utilization, *self.tensor_activity.active}
        if self.tensor_activity.constant_loads:
            names.add(self.tensor_activity.constant_loads)
        names.update(*self.opcodes.values(), *(way for ways in self.checks.values() for way in ways))
        for tier in self.tiers.values():
            names.update(*(measure.misses for measure in tier.measures))
        for alternative in self.alternatives():
            for part in alternative.parts:
                names.update(part.work, part.peak)
        return frozenset(names)
