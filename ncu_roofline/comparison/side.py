"""What a comparison knows of one side: amounts of every kernel group in every sample, and how they were measured.

A side is one or more reports of the same job; each report is a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import Columns, FloatArray, numbered, ratio, unknown
from ncu_roofline.conditions import Conditions
from ncu_roofline.grouping import leading_bound, whole_sum
from ncu_roofline.vocabulary import NEVER_BINDING_PATHS, PATHS, TIERS, Extent, Severity, amount_prefix
from ncu_roofline.wording import base_of

LAUNCHES: Final = "launches"
TIME: Final = "time"
ADDED: Final = "launches.added"
"""Launches that count in the whole; only where some do not."""
BOUND: Final = "bound.time"
REGISTERS: Final = "registers"
"""Registers per thread, the most of the launches of a group."""
SPILLS: Final = "spills"
"""Instructions executed to spill registers."""
CLOCKS: Final = ("clocks.sm", "clocks.dram")


@dataclass(frozen=True)
class Key:
    """Who a kernel group is: what its launches have in common, whatever their ids and order."""

    kernel: str
    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    range: str | None
    """NVTX ranges around it, outermost first, joined by `` > ``."""
    device: int
    """Number of the device in its report."""
    product: str | None = None
    """What the device is called, None where the report does not say."""
    occurrence: int | None = None
    """Which launch of these it is, counted from 0 in each report; None: all of them together."""


@dataclass(frozen=True)
class Source:
    """A report of a side: its name without folders, the hash of its content, and how it was measured."""

    name: str
    sha256: str
    conditions: Mapping[str, str | None]


@dataclass(frozen=True)
class Device:
    """The product on which launches ran and its compute capability, None where the report does not say."""

    name: str | None
    cc: str | None

    @property
    def label(self) -> str:
        """Both for people."""
        return f"{self.name or 'device not named'}{f', CC {self.cc}' if self.cc else ''}"


@dataclass(frozen=True)
class Side:
    """Kernel groups over samples. ``amounts``: arrays of groups x samples in SI base units, NaN where not known.

    There are ``launches`` (``launches.added`` where some are in no total), ``time``, ``bound.time``, ``clocks.*``, and
    for every path and tier its total (``work.fp32.count``, ``traffic.dram.bytes``) and peak (``work.fp32.peak``).
    ``resources`` says which pipe or data path each of them occupies; those of one add up.
    """

    sources: tuple[Source, ...]
    devices: tuple[Device, ...]
    keys: tuple[Key, ...]
    amounts: Mapping[str, FloatArray]
    bound_by: tuple[str | None, ...]
    complete: tuple[bool, ...]
    resources: Mapping[str, str]
    peak_sources: tuple[str, ...] = ()
    """Where its ceilings are from, sorted."""
    errors: tuple[str, ...] = ()
    """What is wrong with numbers of its reports."""

    @property
    def samples(self) -> int:
        """Number of reports."""
        return len(self.sources)

    def amount(self, name: str) -> FloatArray:
        """An amount over groups and samples, all unknown where it is in no report."""
        return self.amounts.get(name, self._nothing)

    @cached_property
    def collected(self) -> tuple[str, ...]:
        """Paths and tiers that may bind and of which some amount is known."""
        return tuple(name for name in self.resources if total_name(name) in self.amounts)

    @cached_property
    def _nothing(self) -> FloatArray:
        return unknown(len(self.keys) * self.samples).reshape(len(self.keys), self.samples)

    @cached_property
    def in_total(self) -> tuple[int, ...]:
        """Places of the groups that the whole is the sum of: no range beside the launches that it contains."""
        if ADDED not in self.amounts:
            return tuple(range(len(self.keys)))
        return tuple(np.flatnonzero((self.amounts[ADDED] > 0).any(axis=1)).tolist())

    def totals(self) -> FloatArray:
        """Time of every sample over its whole; not known where a launch has no time or some were not run."""
        places = list(self.in_total)
        launched = np.nan_to_num(self.amount(LAUNCHES)[places])
        times = np.where(launched > 0, self.amount(TIME)[places], 0.0).sum(axis=0)
        # A report in which launches of the others are missing is no sample of the same job.
        return np.where(launched.sum(axis=0) == launched.sum(axis=0).max(initial=0.0), times, np.nan)


def total_name(name: str) -> str:
    """The column of the total of a path or tier."""
    return f"{amount_prefix(name)}.{'bytes' if name in TIERS else 'count'}"


def side_of(analysis: Analysis, *, per_launch: bool = False) -> Side:
    """The side that an analysis is: each of its inputs is a sample.

    Args:
        analysis: what was measured.
        per_launch: whether every occurrence of a kernel is a group of its own.

    """
    columns = analysis.columns
    keys = [
        Key(kernel or "", grid, block, _range(ranges), int(device or 0), product)
        for kernel, grid, block, ranges, device, product in zip(
            *(columns[name].tolist() for name in ("kernel", "grid", "block", "nvtx", "device_ordinal", "device")),
            strict=True,
        )
    ]
    if per_launch:
        keys = _numbered(keys, columns["input"].tolist())
    codes, distinct = numbered(keys)
    cells = codes * len(analysis.inputs) + columns["input"].astype(np.intp)
    shape = (len(distinct), len(analysis.inputs))
    launched = whole_sum(columns["invocations"].astype(float), cells, shape[0] * shape[1])
    gone = launched == 0
    amounts: dict[str, FloatArray] = {LAUNCHES: launched}
    added = columns["adds_up"]
    if not added.all():
        amounts[ADDED] = whole_sum(np.where(added, columns["invocations"], 0.0), cells, len(launched))
    for name, values in _summed(columns).items():
        amounts[name] = whole_sum(values, cells, len(launched))
    for name in CLOCKS:
        if name in columns:
            amounts[name] = ratio(whole_sum(columns[name] * columns[TIME], cells, len(launched)), amounts[TIME])
    if REGISTERS in columns:
        amounts[REGISTERS] = _highest(cells, columns[REGISTERS], len(launched))
    for name in (*PATHS, *TIERS):
        if f"{amount_prefix(name)}.peak" in columns:
            amounts[f"{amount_prefix(name)}.peak"] = _capacity(columns, name, cells, len(launched))
    complete = np.bincount(codes, ~columns["bound.complete"], minlength=shape[0]) == 0
    return Side(
        sources=tuple(
            Source(base_of(item.path), item.sha256, _conditions(item.conditions)) for item in analysis.inputs
        ),
        devices=tuple(
            dict.fromkeys(Device(*one) for one in zip(columns["device"].tolist(), columns["cc"].tolist(), strict=True))
        ),
        keys=tuple(distinct),
        amounts={name: np.where(gone, np.nan, values).reshape(shape) for name, values in amounts.items()},
        bound_by=tuple(leading_bound(columns, codes, shape[0]).tolist()),
        complete=tuple(complete.tolist()),
        resources=_resources(analysis),
        peak_sources=_peak_sources(columns),
        errors=tuple(
            f"{finding.code} {finding.name}: {finding.message}"
            for finding in analysis.finding_list
            if finding.severity == Severity.ERROR
        ),
    )


def _numbered(keys: Sequence[Key], inputs: Sequence[int]) -> list[Key]:
    """Keys with the number of their occurrence in the report."""
    seen: Counter[tuple[Key, int]] = Counter()
    found = []
    for key, place in zip(keys, inputs, strict=True):
        found.append(replace(key, occurrence=seen[key, place]))
        seen[key, place] += 1
    return found


def _summed(columns: Columns) -> dict[str, FloatArray]:
    """Columns that are added up; what may be no work at all is not known."""
    found: dict[str, FloatArray] = {name: columns[name] for name in (TIME, BOUND, SPILLS) if name in columns}
    # No launch takes no time: what is printed as 0 was not measured.
    found[TIME] = np.where(columns[TIME] > 0, columns[TIME], np.nan)
    for name in (*PATHS, *TIERS):
        total = total_name(name)
        if total in columns:
            extent = columns[f"{amount_prefix(name)}.extent"]
            counts = (extent == Extent.EXACT.label) | (extent == Extent.AT_LEAST.label)
            found[total] = np.where(counts, columns[total], np.nan)
    return found


def _capacity(columns: Columns, name: str, cells: npt.NDArray[np.intp], size: int) -> FloatArray:
    """Peak of a path or tier over launches of a group: their total over the time that it needs at each one's peak."""
    total, peak = columns[total_name(name)], columns[f"{amount_prefix(name)}.peak"]
    needed = whole_sum(ratio(total, peak), cells, size)
    effective = ratio(whole_sum(total, cells, size), needed)
    return np.where(np.isnan(effective), _highest(cells, peak, size), effective)


def _highest(cells: npt.NDArray[np.intp], values: FloatArray, size: int) -> FloatArray:
    """Highest known value of each cell."""
    highest = unknown(size)
    np.fmax.at(highest, cells, values)
    return highest


def _peak_sources(columns: Columns) -> tuple[str, ...]:
    """Sources of the ceilings in use."""
    return tuple(
        sorted({str(one) for name, column in columns.items() if name.endswith(".peak_source") for one in column if one})
    )


def _resources(analysis: Analysis) -> dict[str, str]:
    """What each path and tier that may bind occupies."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(analysis.columns["map"].tolist()):
        metric_map = analysis.maps[name]
        found |= {path: f"pipe:{one.pipe}" for path, one in metric_map.paths.items() if path not in NEVER_BINDING_PATHS}
        for tier, bytes_of in metric_map.tiers.items():
            shared = next((measure.data_path for measure in bytes_of.measures if measure.data_path), None)
            found[tier] = f"data:{shared}" if shared else f"tier:{tier}"
    return found


def _range(ranges: Any) -> str | None:
    """NVTX ranges as one text."""
    names = [name for _, name in ranges or ()]
    return " > ".join(names) if names else None


def _conditions(conditions: Conditions) -> dict[str, str | None]:
    return {
        "cache_control": conditions.cache_control,
        "clock_control": conditions.clock_control,
        "replay_mode": conditions.replay_mode,
        "ncu_version": conditions.ncu_version,
    }
