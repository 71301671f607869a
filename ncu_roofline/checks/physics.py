"""Rules on numbers that cannot all be true, or cannot carry a verdict (P)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ncu_roofline.arrays import BoolArray, ratio, repeated
from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.vocabulary import TIERS, Severity, amount_prefix, is_tensor, work_unit

TOO_SHORT: Final = 10e-6
"""Seconds below which a launch is too short to judge (contract, "Severity and exit codes")."""

_LIMITS: Final = ((Severity.NOTE, 1.0, 1.02), (Severity.WARNING, 1.02, 1.10), (Severity.ERROR, 1.10, np.inf))
_ROUNDING: Final = 1e-9
_SAME_CLOCK: Final = 0.02
"""Share by which two clocks may differ that are taken for the same."""
_BUSY_LIMIT: Final = 1.02
_HIT_RATE_ROUNDING: Final = 1e-4


def above_ceiling(view: View) -> Iterator[Evidence]:
    """A rate is above its ceiling.

    Several passes make small excesses normal, so up to 102 % is a note and up to 110 % a warning. Beyond, the
    amount and the ceiling do not belong together: peak and traffic of different scopes, a clock that changed
    between the passes, or counters that mean something else. The value is shown as it is and not clipped.
    """
    worst = np.zeros(view.size)
    name = repeated("", view.size)
    for column in view.matching("work.*.peak") + view.matching("traffic.*.peak"):
        if ".measures." in column:
            continue
        quantity = column.removesuffix(".peak")
        share = np.nan_to_num(ratio(view.floats(f"{quantity}.rate"), view.floats(column)))
        name[share > worst] = quantity.partition(".")[2]
        worst = np.maximum(worst, share)
    together = np.nan_to_num(view.floats("bound.fraction"))
    name[together > worst + _ROUNDING] = "what shares a pipe or data path, taken together,"
    worst = np.maximum(worst, together)
    for severity, low, high in _LIMITS:
        hit = (worst > low + _ROUNDING) & (worst <= high + _ROUNDING)
        if hit.any():
            top = int(np.where(hit, worst, 0.0).argmax())
            yield Evidence(
                hit,
                f"{name[top]} runs at {worst[top]:.1%} of its ceiling{_where(hit, top)}"
                f"{_why_above(view, str(name[top]), top, worst[top])}.",
                "Look whether the amount and the ceiling were measured for the same device, clock and scope; a tensor "
                "counter that mixes dense and sparse operations is held against the dense peak.",
                severity,
            )


def _why_above(view: View, name: str, launch: int, share: float) -> str:
    """The operands, and what such an excess usually means."""
    prefix = amount_prefix(name)
    if f"{prefix}.peak" not in view.columns:
        return ""
    unit = "byte/s" if name in TIERS else f"{work_unit(name)}/s"
    rate, peak = view.floats(f"{prefix}.rate")[launch], view.floats(f"{prefix}.peak")[launch]
    source = view.labels(f"{prefix}.peak_source")[launch]
    said = [f"{rate:.4g} {unit} against {peak:.4g} {unit} ({source})"]
    clock, ran = view.floats(f"{prefix}.peak_clock")[launch], view.floats("clocks.sm")[launch]
    if source == "measured":
        said.append("a measured ceiling may not have reached the roof")
    if name not in TIERS and ran > clock * (1.0 + _SAME_CLOCK):
        said.append(f"the ceiling is of {clock / 1e9:.4g} GHz, and the launch ran at {ran / 1e9:.4g} GHz")
    cause = likely_cause(share, unit, tensor=is_tensor(name))
    if share > _LIMITS[-1][1] and cause:
        said.append(cause)
    return f": {'; '.join(said)}"


def too_short(view: View) -> Iterator[Evidence]:
    """A launch is too short to judge.

    Under 10 microseconds launch overhead, timer resolution and the flush of caches before each pass weigh as
    much as the kernel. What binds is still given; fractions and percentages are not to be quoted.
    """
    time = view.floats("time") / view.floats("invocations")
    hit = time < TOO_SHORT
    if hit.any():
        shortest = int(np.where(hit, time, np.inf).argmin())
        yield Evidence(
            hit,
            f"under 10 us, the shortest {time[shortest] * 1e6:.3g} us{_where(hit, shortest)}: too short to judge.",
            "Profile a larger problem, or several launches as one range.",
        )


def instruction_mix(view: View) -> Iterator[Evidence]:
    """The mix of instructions keeps the binding path below its peak.

    A peak counts fused multiply-adds. A kernel that mostly adds or multiplies cannot pass the share of it that
    its instructions allow; up to there is the headroom that exists.
    """
    for column in view.matching("ceilings.*.mix.value"):
        path = column.removeprefix("ceilings.").removesuffix(".mix.value")
        share = ratio(view.floats(column), view.floats(f"ceilings.{path}.report.value"))
        hit = (share < 0.9) & (view.labels("bound.by") == path)
        if hit.any():
            lowest = int(np.where(hit, share, np.inf).argmin())
            yield Evidence(
                hit,
                f"the mix of add, mul and fma limits {path} to {share[lowest]:.0%} of its peak{_where(hit, lowest)}.",
            )


def busy_above_peak(view: View) -> Iterator[Evidence]:
    """A throughput percentage of ncu is above 100 %.

    Counters of one launch come from several passes, and in short kernels they do not fit together. The percentage is
    shown as it was printed.
    """
    for column in [*view.matching("utilization.*"), *view.matching("utilization_active.*")]:
        busy = view.floats(column)
        hit = busy > _BUSY_LIMIT
        if hit.any():
            top = int(np.where(hit, busy, 0.0).argmax())
            kind, _, name = column.partition(".")
            cycles = " over its active cycles" if kind.endswith("_active") else ""
            yield Evidence(hit, f"{name} is at {busy[top]:.1%}{cycles}{_where(hit, top)}, which cannot be.")


def hit_rate_impossible(view: View) -> Iterator[Evidence]:
    """A hit rate is above 100 %.

    Hits and accesses were counted in different passes that did not do the same. Nothing can be said about reuse in such
    a launch.
    """
    for column in view.matching("hit_rate.*"):
        rate = view.floats(column)
        hit = rate > 1.0 + _HIT_RATE_ROUNDING
        if hit.any():
            top = int(np.where(hit, rate, 0.0).argmax())
            yield Evidence(hit, f"the hit rate of {column.partition('.')[2]} is {rate[top]:.1%}{_where(hit, top)}.")


def _where(hit: BoolArray, launch: int) -> str:
    """The launch with the worst value, where there are several."""
    return f" (launch {launch})" if hit.sum() > 1 else ""


def identity_broken(view: View) -> Iterator[Evidence]:
    """Counters of a launch contradict each other.

    A total is the sum of its parts, a rate times the duration is the total, a percentage of peak is the rate over
    the peak. Where the two sides differ by more than 1 % and their rounding, they were counted in passes that did not
    do the same, or one of them is not what its name says. Kernels of a few microseconds are prone to it. Profile
    longer kernels, collect the two in one pass, and do not quote an intensity or a share of such a launch.
    """
    for identity in view.identities:
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.abs(identity.left - identity.right) / np.fmax(np.abs(identity.left), np.abs(identity.right))
        apart = np.where(identity.broken, apart, 0.0)
        worst = int(np.argmax(apart))
        yield Evidence(
            identity.broken,
            f"{identity.text} does not hold: {identity.left[worst]:.6g} against {identity.right[worst]:.6g} in launch "
            f"{worst}, {apart[worst]:.1%} apart.",
            "Both cannot be true of one run: the passes differed, or a counter is not what its name says.",
        )
