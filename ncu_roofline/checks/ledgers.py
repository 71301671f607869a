"""Rules on ledgers (L): what was executed and moved against what the problem needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ncu_roofline.arrays import FloatArray, ratio, sum_known, unknown
from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.rule import Evidence, View, which
from ncu_roofline.vocabulary import FLOP_PATHS, OP_PATHS, Extent, Severity, is_tensor

_PADDED: Final = 1.05
"""Executed over useful work from which it is said: tiles at the edge of a matrix of some thousand are below it."""
_MOSTLY_PADDED: Final = 2.0
"""From here on most of the work is not what the problem needs."""
_LESS: Final = 0.95
"""Share of what is needed below which something is missing: counters of work are exact, and bytes of sectors, which
round up."""
_HALF: Final = 0.02
"""Share by which twice a ratio may be off one that stands for a factor of two; loop ends add a little work."""
_MUCH_MORE: Final = 1.5
"""Measured over compulsory bytes from which reuse was lost; tiles that meet twice are below it."""


def work_beyond_useful(view: View) -> Iterator[Evidence]:
    """More work was executed than the problem needs.

    Tiles are padded to their size, and some algorithms compute twice. The rate of the executed work is no rate of
    useful work: quote both, or the time. From 5 % on it is a note, and a warning where most of the work is not needed.
    """
    executed, needed = _executed(view), _work(view)
    share = ratio(executed, needed)
    for hit, severity in (
        ((share > _PADDED) & (share <= _MOSTLY_PADDED), Severity.NOTE), (share > _MOSTLY_PADDED, Severity.WARNING)
    ):  # fmt: skip
        if hit.any():
            worst = int(np.where(hit, share, -np.inf).argmax())
            yield Evidence(
                hit,
                f"{_title(view, worst)}: {executed[worst]:.6g} {_unit(view, worst)} were executed, {needed[worst]:.6g} "
                f"are needed, {share[worst]:.3g} times as many{which(hit, worst)}{_rates(view, executed, worst)}.",
                "Look for padding of tiles, recomputation, or another problem size than the expected one.",
                severity,
            )


def work_below_useful(view: View) -> Iterator[Evidence]:
    """Less work was executed than the problem needs.

    Every path was counted, so that either the expectation is not that of this launch (a part of the problem, MACs given
    as FLOP), or the kernel computes something else than its ledger says, such as products of zeros left out by
    structured sparsity.
    """
    executed, needed = _executed(view), _work(view)
    share = ratio(executed, needed)
    hit = (share < _LESS) & view.flags("flop.complete")
    if hit.any():
        worst = int(np.where(hit, share, np.inf).argmin())
        is_half = abs(2.0 * share[worst] - 1.0) < _HALF
        cause = "MACs stated as FLOP, or a fused multiply-add counted as one" if is_half else ""
        yield Evidence(
            hit,
            f"{_title(view, worst)}: {needed[worst]:.6g} {_unit(view, worst)} are needed, and {executed[worst]:.6g} "
            f"were executed, {share[worst]:.3g} times as many{which(hit, worst)}"
            f"{f': {cause}' if cause else ''}.",
            "Look whether the launch does the whole problem, and whether FLOP (2mnk) or MACs (mnk) were stated.",
        )


def traffic_below_compulsory(view: View) -> Iterator[Evidence]:
    """Less moved between DRAM and L2 than each operand once.

    What was read less was in L2 before: with caches that ncu flushed before the launch this cannot be (an error), and
    usually means a slip of a unit, MiB for MB or elements for bytes, or another problem size. What was written less is
    still in L2 (a note). A bandwidth made of the bytes of the problem is then no DRAM bandwidth, and may be above its
    ceiling.
    """
    needed_read, needed_written = view.floats("ledger.read"), view.floats("ledger.written")
    total, read, written = (
        view.floats(name) for name in ("traffic.dram.bytes", "checks.dram.read", "checks.dram.written")
    )
    total = np.where(view.labels("traffic.dram.extent") == Extent.EXACT.label, total, np.nan)
    # All of it is at least what was read.
    read = np.where(np.isnan(read), total, read)
    cold = np.zeros(view.size, np.bool_)
    for facts in view.inputs:
        if facts.cache_control == "all":
            cold |= view.launches_of(facts)
    less_read = read < _LESS * needed_read
    less_written = ~less_read & ((written < _LESS * needed_written) | (total < _LESS * (needed_read + needed_written)))
    for hit, severity, verb, moved, needed in (
        (less_read & cold, Severity.ERROR, "read", read, needed_read),
        (less_read & ~cold, Severity.NOTE, "read", read, needed_read),
        (less_written, Severity.NOTE, "moved", total, needed_read + needed_written),
    ):
        if hit.any():
            moved = np.where(np.isnan(moved), read + written, moved)
            share = ratio(moved, needed)
            worst = int(np.where(hit, share, np.inf).argmin())
            cause = likely_cause(float(share[worst])) if share[worst] > 0 else ""
            where = {
                Severity.ERROR: "and the caches were flushed before: this cannot be",
                Severity.NOTE: "the rest was in L2 before" if verb == "read" else "the rest is still in L2",
            }[severity]
            yield Evidence(
                hit,
                f"{_title(view, worst)}: {needed[worst]:.6g} byte have to be {verb}, and {moved[worst]:.6g} were "
                f"({share[worst]:.3g} times as many){which(hit, worst)}; {where}{f' ({cause}?)' if cause else ''}"
                f"{_bandwidth(view, worst)}.",
                "Look for the unit and the problem size." if severity == Severity.ERROR else "",
                severity,
            )


def traffic_beyond_compulsory(view: View) -> Iterator[Evidence]:
    """Much more moved between DRAM and L2 than each operand once.

    Operands were read again because they did not stay in L2 (lost reuse), or intermediate results went through DRAM.
    The compulsory bytes are those of a cache without limits; a blocked product needs more by its tiles.
    """
    moved, needed = view.floats("traffic.dram.bytes"), view.floats("traffic.dram.compulsory")
    share = ratio(moved, needed)
    hit = share > _MUCH_MORE
    if hit.any():
        worst = int(np.where(hit, share, -np.inf).argmax())
        yield Evidence(
            hit,
            f"{_title(view, worst)}: {moved[worst]:.6g} byte moved, {needed[worst]:.6g} have to, {share[worst]:.3g} "
            f"times as many{which(hit, worst)}.",
            "Look for tiles that are read again; compare the L2 hit rate and the order of the blocks.",
        )


def _title(view: View, launch: int) -> str:
    return str(view.labels("ledger")[launch])


def _unit(view: View, launch: int) -> str:
    return str(view.labels("ledger.unit")[launch])


def _work(view: View) -> FloatArray:
    """Useful work where a ledger has some."""
    needed = view.floats("ledger.work")
    return np.where(needed > 0, needed, np.nan)


def _executed(view: View) -> FloatArray:
    """Work of all paths in the unit of the ledger."""
    result = unknown(view.size)
    for unit, paths in (("FLOP", FLOP_PATHS), ("OP", tuple(path for path in OP_PATHS if is_tensor(path)))):
        counted = []
        for path in paths:
            at_most = view.labels(f"work.{path}.extent") == Extent.AT_MOST.label
            counted.append(np.where(at_most, np.nan, view.floats(f"work.{path}.count")))
        mine = view.labels("ledger.unit") == unit
        result = np.where(mine, sum_known(counted), result)
    return result


def _rates(view: View, executed: FloatArray, launch: int) -> str:
    time = view.floats("time")[launch]
    if not time > 0:
        return ""
    unit = _unit(view, launch)
    useful = view.floats("ledger.work")[launch] / time
    return f": {executed[launch] / time:.4g} {unit}/s executed, {useful:.4g} {unit}/s useful"


def _bandwidth(view: View, launch: int) -> str:
    """Bandwidth made of the bytes of the problem, where it is not that of DRAM."""
    time, peak = view.floats("time")[launch], view.floats("traffic.dram.peak")[launch]
    if not time > 0:
        return ""
    effective = view.floats("traffic.dram.compulsory")[launch] / time
    share = f", {effective / peak:.0%} of the DRAM ceiling" if peak > 0 else ""
    return f"; with the bytes of the problem the bandwidth would be {effective:.4g} byte/s{share}"
