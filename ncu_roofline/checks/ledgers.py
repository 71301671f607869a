"""Rules on ledgers (L): what was executed and moved against what the problem needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ncu_roofline.arrays import BoolArray, FloatArray, ratio
from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.rule import Evidence, View, largest, which
from ncu_roofline.formats import quantity
from ncu_roofline.vocabulary import FLOP_PATHS, OP_PATHS, Extent, Severity, is_tensor

_INTEGER_PATHS: Final = tuple(path for path in OP_PATHS if is_tensor(path))
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
    executed, needed = view.floats("ledger.executed"), _work(view)
    share = ratio(executed, needed)
    for hit, severity in (
        ((share > _PADDED) & (share <= _MOSTLY_PADDED), Severity.NOTE), (share > _MOSTLY_PADDED, Severity.WARNING)
    ):  # fmt: skip
        if hit.any():
            worst = largest(share, hit)
            yield Evidence(
                hit,
                f"{_title(view, worst)}: {_amount(view, executed, worst)} were executed, "
                f"{_amount(view, needed, worst)} are needed, {share[worst]:.3g} times as many{which(hit, worst)}"
                f"{_rates(view, executed, worst)}.",
                "Look for padding of tiles, recomputation, or another problem size than the expected one.",
                severity,
            )


def work_below_useful(view: View) -> Iterator[Evidence]:
    """Less work was executed than the problem needs.

    Of everything that was counted, upper bounds too, it is less: either the expectation is not that of this launch (a
    part of the problem, MACs given as FLOP), or the kernel computes something else than its ledger says, such as
    products of zeros left out by structured sparsity.
    """
    executed, needed = _most(view), _work(view)
    share = ratio(executed, needed)
    hit = share < _LESS
    if hit.any():
        worst = int(np.where(hit, share, np.inf).argmin())
        is_half = abs(2.0 * share[worst] - 1.0) < _HALF
        cause = "MACs stated as FLOP, or a fused multiply-add counted as one operation" if is_half else ""
        yield Evidence(
            hit,
            f"{_title(view, worst)}: {_amount(view, needed, worst)} are needed, and at most "
            f"{_amount(view, executed, worst)} were executed, {share[worst]:.3g} times as many{which(hit, worst)}"
            f"{f': {cause}' if cause else ''}.",
            "Look whether the launch does the whole problem, and whether FLOP (2mnk) or MACs (mnk) were stated.",
        )


def traffic_below_compulsory(view: View) -> Iterator[Evidence]:
    """Less moved between DRAM and L2 than each operand once.

    What was read less was in L2 before: with caches that ncu flushed before the launch this cannot be (an error), and
    usually means a slip of a unit, MiB for MB or elements for bytes, or another problem size. What was written less is
    still in L2 (a note), unless the SMs did not even write it there (a warning). A bandwidth made of the bytes of the
    problem is then no DRAM bandwidth, and may be above its ceiling.
    """
    for moved in _below(view):
        share = ratio(moved.measured, moved.needed)
        if moved.hit.any():
            worst = int(np.where(moved.hit, share, np.inf).argmin())
            cause = likely_cause(float(share[worst]), "byte") if share[worst] > 0 else ""
            yield Evidence(
                moved.hit,
                f"{_title(view, worst)}: {quantity(moved.needed[worst], 'B')} have to be {moved.verb}, and "
                f"{quantity(moved.measured[worst], 'B')} were ({share[worst]:.3g} times as many)"
                f"{which(moved.hit, worst)}; {moved.why}{f' ({cause}?)' if cause else ''}{_bandwidth(view, worst)}.",
                "Look for the unit and the problem size." if moved.severity > Severity.NOTE else "",
                moved.severity,
            )


@dataclass(frozen=True)
class _Moved:
    """Bytes that were less than needed: where, of which kind, and what that means."""

    hit: BoolArray
    verb: str
    measured: FloatArray
    needed: FloatArray
    severity: Severity
    why: str


def _below(view: View) -> Iterator[_Moved]:
    needed_read, needed_written = view.floats("ledger.read"), view.floats("ledger.written")
    total, read, written = (
        view.floats(name) for name in ("traffic.dram.bytes", "checks.dram.read", "checks.dram.written")
    )
    total = np.where(view.labels("traffic.dram.extent") == Extent.EXACT.label, total, np.nan)
    # All of it is at least what was read.
    at_most_read = np.where(np.isnan(read), total, read)
    cold = _cold(view)
    less_read = at_most_read < _LESS * needed_read
    yield _Moved(
        less_read & cold, "read", at_most_read, needed_read, Severity.ERROR,
        "and the caches were flushed before: this cannot be",
    )  # fmt: skip
    yield _Moved(
        less_read & ~cold, "read", at_most_read, needed_read, Severity.NOTE,
        "the rest was in L2 before, or the problem is another one",
    )  # fmt: skip
    less_written = written < _LESS * needed_written
    # What SMs did not even write to L2 is not left there.
    not_stored = less_written & (view.floats("checks.l2.written") < _LESS * needed_written)
    yield _Moved(
        not_stored, "written", view.floats("checks.l2.written"), needed_written, Severity.WARNING,
        "SMs did not write more, not even to L2: the problem is another one",
    )  # fmt: skip
    yield _Moved(
        less_written & ~not_stored, "written", written, needed_written, Severity.NOTE, "the rest is still in L2"
    )
    needed = needed_read + needed_written
    less = np.isnan(written) & ~less_read & (total < _LESS * needed)
    yield _Moved(less, "moved", total, needed, Severity.NOTE, "the rest is still in L2, or was there before")


def _cold(view: View) -> BoolArray:
    """Launches before which caches are known to have been flushed; of merged captures in all of them."""
    if view.captures_apart is not None:
        return np.full(view.size, all(facts.cache_control == "all" for facts in view.inputs))
    cold = np.zeros(view.size, np.bool_)
    for facts in view.inputs:
        if facts.cache_control == "all":
            cold |= view.launches_of(facts)
    return cold


def traffic_beyond_compulsory(view: View) -> Iterator[Evidence]:
    """Much more moved between DRAM and L2 than each operand once.

    Operands were read again because they did not stay in L2 (lost reuse), or intermediate results went through DRAM.
    The compulsory bytes are those of a cache without limits; a blocked product needs more by its tiles.
    """
    moved, needed = view.floats("traffic.dram.bytes"), view.floats("traffic.dram.compulsory")
    share = ratio(moved, needed)
    hit = share > _MUCH_MORE
    if hit.any():
        worst = largest(share, hit)
        yield Evidence(
            hit,
            f"{_title(view, worst)}: {quantity(moved[worst], 'B')} moved, {quantity(needed[worst], 'B')} have to, "
            f"{share[worst]:.3g} times as many{which(hit, worst)}.",
            "Look for tiles that are read again; compare the L2 hit rate and the order of the blocks.",
        )


def ledger_against_counters(view: View) -> Iterator[Evidence]:
    """What a ledger says beside what the counters say.

    Useful and executed work, compulsory and measured bytes of each problem that was stated, and how much of one the
    other is. It is said where they agree, too: a ledger that was held against nothing would look the same.
    """
    titles = view.labels("ledger")
    for title in dict.fromkeys(titles[titles != None].tolist()):  # noqa: E711 (element by element)
        hit = titles == title
        launch = int(np.flatnonzero(hit)[0])
        parts = [
            _held(view, launch, "ledger.work", "useful", "ledger.padding", f"executed{_path_of(view, launch)}"),
            _held(view, launch, "traffic.dram.compulsory", "compulsory", "ledger.traffic", "moved by DRAM"),
        ]
        yield Evidence(hit, f"{title}: {'; '.join(filter(None, parts)) or 'nothing is needed'}{which(hit, launch)}.")


def _held(view: View, launch: int, needed: str, called: str, ratio_of: str, done: str) -> str:
    """What is needed and how many times as much was done; empty where nothing is."""
    amount, times = view.floats(needed)[launch], view.floats(ratio_of)[launch]
    if not amount > 0:
        return ""
    unit = _unit(view, launch) if needed == "ledger.work" else "B"
    rate = view.floats("ledger.rate")[launch]
    per_second = f" ({quantity(rate, f'{unit}/s')})" if needed == "ledger.work" and rate > 0 else ""
    partial = needed == "ledger.work" and not view.flags("ledger.complete")[launch]
    least = "at least " if partial else ""
    known = f"{least}{times:.4g} times as much {done}" if times >= 0 else f"how much was {done} is not known"
    return f"{quantity(amount, unit)} {called}{per_second}, {known}"


def _path_of(view: View, launch: int) -> str:
    """The path that did most of the work, whatever the type in the title."""
    paths = FLOP_PATHS if _unit(view, launch) == "FLOP" else _INTEGER_PATHS
    counts = {path: view.floats(f"work.{path}.count")[launch] for path in paths}
    leading = max(paths, key=lambda path: np.nan_to_num(counts[path]))
    return f", mostly on {leading}" if counts[leading] > 0 else ""


def _title(view: View, launch: int) -> str:
    return str(view.labels("ledger")[launch])


def _unit(view: View, launch: int) -> str:
    return str(view.labels("ledger.unit")[launch])


def _work(view: View) -> FloatArray:
    """Useful work where a ledger has some."""
    needed = view.floats("ledger.work")
    return np.where(needed > 0, needed, np.nan)


def _most(view: View) -> FloatArray:
    """The same at most; not known where something was not counted, or integer instructions may have done the work."""
    is_flop = view.labels("ledger.unit") == "FLOP"
    exact = np.zeros(view.size, np.bool_)
    for path in _INTEGER_PATHS:
        extent = view.labels(f"work.{path}.extent")
        exact |= extent == Extent.EXACT.label
    for path in _INTEGER_PATHS:
        exact &= view.labels(f"work.{path}.extent") != Extent.AT_LEAST.label
    exact &= view.floats("work.int.count") == 0
    return np.where(is_flop, view.floats("flop.count_most"), np.where(exact, view.floats("ledger.executed"), np.nan))


def _amount(view: View, values: FloatArray, launch: int) -> str:
    return quantity(values[launch], _unit(view, launch))


def _rates(view: View, executed: FloatArray, launch: int) -> str:
    time = view.floats("time")[launch]
    if not time > 0:
        return ""
    unit = f"{_unit(view, launch)}/s"
    useful = view.floats("ledger.work")[launch] / time
    return f": {quantity(executed[launch] / time, unit)} executed, {quantity(useful, unit)} useful"


def _bandwidth(view: View, launch: int) -> str:
    """Bandwidth made of the bytes of the problem, where it is not that of DRAM."""
    time, peak = view.floats("time")[launch], view.floats("traffic.dram.peak")[launch]
    if not time > 0:
        return ""
    effective = view.floats("traffic.dram.compulsory")[launch] / time
    share = f", {effective / peak:.0%} of the DRAM ceiling" if peak > 0 else ""
    return f"; with the bytes of the problem the bandwidth would be {quantity(effective, 'B/s')}{share}"
