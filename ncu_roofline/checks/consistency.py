"""Rules on counters that are held against others and enter no bound themselves (P)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ncu_roofline.arrays import BoolArray, FloatArray, ratio
from ncu_roofline.checks.rule import Evidence, View, largest, which
from ncu_roofline.formats import quantity
from ncu_roofline.vocabulary import FLOP_PATHS, PATHS, SCALAR_FLOP_PATHS, Extent, Severity, is_tensor

_MISSES: Final = 2.5
"""Times the misses that a tier may read from the next: up to 2.0 in real reports, since DRAM is read in 64 byte where a
sector of 32 byte missed."""
_NOISE: Final = 1e6
"""Bytes that other engines and contexts may read from a memory that is shared with them."""
_HALF_DIGIT: Final = 5e-5
"""Half the last digit of a percentage as ncu prints it."""
_LEFT: Final = 0.9
"""Share of what was written that reaches DRAM when nothing of note is left in L2."""
_MORE: Final = 1.01
"""As for equations between counters (contract, "Severity and exit codes")."""
_WARP: Final = 32
_FETCHED: Final = 2.0
"""Times its bytes that L2 may fetch: a missing sector of 32 byte fetches two of them."""
_LOW: Final = 0.5
"""Hit rate below which most of what L2 delivers comes from below it."""
_READS: Final = "read_return"
"""The measure of L2 that has no writes."""
_TRANSCENDENTAL: Final = 0.05
"""Share of transcendental instructions from which on FLOP understate the work."""


def reads_against_hit_rate(view: View) -> Iterator[Evidence]:
    """A tier was read more than the hit rate of the one above leaves misses.

    What misses in L2 is read from DRAM, what misses in L1 from L2. More than 2.5 times that (a missing sector of 32
    byte may fetch 64) means that hit rate and traffic are of passes that did not do the same, that the hit rate is of
    another cache, or that other work ran on the device. Collect both in one pass, and do not quote an intensity of such
    a launch.
    """
    for above, below in (("l2", "dram"), ("l1", "l2")):
        read, rate = view.floats(f"checks.{below}.read"), view.floats(f"hit_rate.{above}")
        seen = view.floats(f"traffic.{above}.measures.tag.bytes")
        missed = np.clip(1.0 - rate + _HALF_DIGIT, 0.0, 1.0) * seen
        # A hit rate of several launches is an average of percentages, no share of their sums.
        hit = (read > _MISSES * missed + _NOISE) & (view.floats("invocations") == 1)
        if above == "l1":
            # TMA copies reach L2 without a look into L1.
            hit &= ~_goes_past(view, above)
        if hit.any():
            worst = largest(read - missed, hit)
            yield Evidence(
                hit,
                f"{quantity(read[worst], 'B')} were read from {below}, and at a hit rate of {rate[worst]:.2%} only "
                f"{quantity(missed[worst], 'B')} of {quantity(seen[worst], 'B')} missed in {above}{which(hit, worst)}.",
                "The passes differed, or something else used the device: profile again with nothing beside it.",
            )


def _goes_past(view: View, tier: str) -> BoolArray:
    """Launches on chips where some traffic goes past the counters of a tier, and was not counted or is not zero."""
    past = np.zeros(view.size, np.bool_)
    by_id = {metric_map.id: metric_map for metric_map in view.maps}
    for map_id, _, rows in view.architectures:
        tier_map = by_id[map_id].tiers.get(tier)
        if tier_map is not None and any(measure.misses for measure in tier_map.measures):
            past |= rows
    return np.asarray(past & (view.floats(f"traffic.{tier}.unseen") != 0))


def writes_left_in_l2(view: View) -> Iterator[Evidence]:
    """Less was written to DRAM than the SMs wrote to L2.

    L2 writes back later, so that the output of a launch, or a part of it, may still be there when it ends. The DRAM
    bytes are what moved during the launch; what was left is written during another one, and an intensity with these
    bytes is higher than that of the data.
    """
    written, reached = view.floats("checks.l2.written"), view.floats("checks.dram.written")
    hit = reached < _LEFT * written
    if hit.any():
        worst = largest(written - reached, hit)
        yield Evidence(
            hit,
            f"SMs wrote {quantity(written[worst], 'B')} to L2, and {quantity(reached[worst], 'B')} reached DRAM during "
            "the launch"
            f"{which(hit, worst)}.",
        )


def dram_beyond_l2(view: View) -> Iterator[Evidence]:
    """More bytes moved at DRAM than at L2.

    What SMs move passes L2, so that DRAM moves more only where a missing sector of 32 byte fetches 64, where L2 writes
    back what an earlier launch left, or where something goes past the counter of L2: copy engines, other processes. An
    intensity at one of the two is then not that of the launch. Where L2 is known in part, or by a measure that sees
    reads only, nothing follows.
    """
    dram, l2 = view.floats("traffic.dram.bytes"), view.floats("traffic.l2.bytes")
    is_whole = (view.labels("traffic.l2.extent") == Extent.EXACT.label) & (view.labels("traffic.l2.measure") != _READS)
    l2 = np.where(is_whole, l2, np.nan)
    beyond, far = dram > _MORE * l2 + _NOISE, dram > _FETCHED * l2 + _NOISE
    for hit, severity, cause in (
        (far, Severity.WARNING, "some traffic is in one of them only"),
        (beyond & ~far, Severity.NOTE, "missing sectors may have fetched 64 bytes each, or other traffic is in it"),
    ):
        if hit.any():
            worst = largest(dram - l2, hit)
            measure = view.labels("traffic.l2.measure")[worst]
            yield Evidence(
                hit,
                f"{quantity(dram[worst], 'B')} moved at DRAM and only {quantity(l2[worst], 'B')} at L2 (counted as "
                f"{measure}){which(hit, worst)}: {cause}.",
                "Profile with nothing else on the device, and collect lts__t_sectors_srcunit_tex.sum beside "
                "dram__bytes.sum.",
                severity,
            )


def misses_without_source(view: View) -> Iterator[Evidence]:
    """L2 missed far more than DRAM moved, and no other memory was counted.

    At a low hit rate most of what L2 delivers comes from below it. Where DRAM moved much less, the data are in system
    memory, in another GPU or in the other half of L2, whose bandwidths are lower, and no tier of this report shows it.
    """
    dram, seen = view.floats("traffic.dram.bytes"), view.floats("traffic.l2.measures.tag.bytes")
    # Of a part of what DRAM moved nothing follows.
    dram = np.where(view.labels("traffic.dram.extent") == Extent.EXACT.label, dram, np.nan)
    rate = view.floats("hit_rate.l2")
    seen = np.where(np.isnan(seen), view.floats("traffic.l2.bytes"), seen)
    missed = np.clip(1.0 - rate - _HALF_DIGIT, 0.0, 1.0) * seen
    others = ("traffic.sysmem.bytes", "traffic.nvlink.bytes", "checks.l2.sysmem", "checks.l2.peer")
    is_counted = np.any([~np.isnan(view.floats(name)) for name in others], axis=0)
    hit = (missed > _MISSES * dram + _NOISE) & (rate < _LOW) & ~is_counted & (view.floats("invocations") == 1)
    if hit.any():
        worst = largest(missed - dram, hit)
        yield Evidence(
            hit,
            f"{quantity(missed[worst], 'B')} of {quantity(seen[worst], 'B')} missed in L2 (hit rate {rate[worst]:.1%}) "
            f"and DRAM moved {quantity(dram[worst], 'B')}{which(hit, worst)}: the rest came from a memory that was not "
            "counted.",
            "Collect lts__t_sectors_aperture_sysmem.sum and lts__t_sectors_aperture_peer.sum.",
        )


def transcendental_work(view: View) -> Iterator[Evidence]:
    """Many instructions of a kernel are transcendental, which count as no FLOP.

    Sine, exponential, logarithm, reciprocal and square root, and conversions, run on their own unit (XU), at a quarter
    of the rate of FP32 or less. They are in no FLOP counter, so that FLOP understate what such a kernel computes, and
    its roof is that of XU. A kernel without floating-point work has conversions only; work on tensor cores counts with
    two FLOP an instruction.
    """
    xu, scalar = view.floats("checks.transcendental.warp") * _WARP, view.floats("checks.transcendental.scalar")
    tensor = [view.floats(f"work.{path}.count") / 2 for path in FLOP_PATHS if path not in SCALAR_FLOP_PATHS]
    counted = scalar + np.nansum(tensor, axis=0)
    share = ratio(xu, xu + counted)
    hit = (share > _TRANSCENDENTAL) & (counted > 0)
    if hit.any():
        worst = largest(share, hit)
        yield Evidence(
            hit,
            f"{share[worst]:.0%} of the floating-point instructions are transcendental or conversions (XU)"
            f"{which(hit, worst)}: they count as no FLOP, so that FLOP understate the work.",
            "See how busy XU is: ncu --metrics sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
        )


def work_beyond_instructions(view: View) -> Iterator[Evidence]:
    """There is more work than the executed instructions can have done.

    A thread instruction of a path does a known number of operations at most (two of a fused multiply-add, four on two
    half-precision values), and a warp instruction is at most 32 thread instructions. Scalar work beyond that was
    counted in a pass that did not do the same, or by a counter that means something else.
    """
    threads = np.fmin(view.floats("checks.instructions.thread"), _WARP * view.floats("checks.instructions.warp"))
    needed = _needed(view)
    hit = needed > _MORE * threads
    if hit.any():
        worst = largest(ratio(needed, threads), hit)
        yield Evidence(
            hit,
            f"the counted scalar work needs {needed[worst]:.6g} thread instructions at least, and {threads[worst]:.6g} "
            f"can have been executed{which(hit, worst)}.",
            "Both cannot be true of one run: the passes differed, or a counter is not what its name says.",
        )


def _needed(view: View) -> FloatArray:
    """Fewest thread instructions that the scalar work of each launch can have taken."""
    needed = np.zeros(view.size)
    by_id = {metric_map.id: metric_map for metric_map in view.maps}
    for map_id, _, rows in view.architectures:
        for name in PATHS:
            path = by_id[map_id].paths.get(name)
            if path is None or is_tensor(name):
                continue
            heaviest = max(weight for way in path.alternatives for part in way.parts for weight in part.work.values())
            count = np.nan_to_num(view.floats(f"work.{name}.count")) / heaviest
            needed += np.where(rows, count, 0.0)
    return needed
