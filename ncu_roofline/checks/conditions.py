"""Rules on measuring conditions (C): what was measured together, and how."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ncu_roofline.arrays import BoolArray, mapped, numbered_rows, ratio
from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.rule import Evidence, View, farthest_from_one, which
from ncu_roofline.vocabulary import GRAPH, KERNEL, Severity
from ncu_roofline.wording import count

_TIMES_AGREE = 0.10
"""Share by which two times of one launch may differ before it is said."""
_SAME_CLOCK = 0.02
"""Share by which two clocks may differ that are taken for the same."""
_CLOCK_DRIFT = 0.10
"""Share by which clocks of launches may differ: under ncu's lock they stay within 6 % in real reports."""
_SLIP = 100.0
"""From this ratio on two times differ by a unit, not by conditions."""
_GRAPH = re.compile(r"(?:cuda ?)?graph(?:[ #_]*[0-9]+)?", re.IGNORECASE)
_VGPU = re.compile(r"^GRID |-[0-9]+[ABCQ]$")
_CAPTURES_APART = 0.05
"""Total times that are further apart than this are not those of one thing."""


def captures_merged(view: View) -> Iterator[Evidence]:
    """Counters of several captures were put together (``--merge``).

    The captures have the same launches, and everything that does not depend on time agrees. Time and counters of a
    launch are still from different runs: where the total times of the captures differ, so may the bytes, and a rate is
    only as good as that. The time is that of the first capture that has one.
    """
    if view.captures_apart is not None:
        apart = (
            "not every one has a time, so that it is not known how far they are apart"
            if np.isnan(view.captures_apart)
            else f"their total times differ by {100 * view.captures_apart:.1f} %"
        )
        is_far = view.captures_apart > _CAPTURES_APART
        yield Evidence(
            np.ones(view.size, np.bool_),
            f"counters of {len(view.inputs)} captures were put together; {apart}.",
            "Profile with locked clocks, in one run if it can be." if is_far else "",
            Severity.WARNING if is_far else Severity.NOTE,
        )


def session_of_another_report(view: View) -> Iterator[Evidence]:
    """A session page belongs to another report.

    The page names the processes that were profiled. None of them is one of the report, so that its cache control,
    clock control and replay mode say nothing about it; they stay unknown.
    """
    for facts in view.inputs:
        if facts.other_session:
            yield Evidence(view.launches_of(facts), f"{facts.other_session}: it is not used.")


def times_apart(view: View) -> Iterator[Evidence]:
    """The time of ncu and a time from elsewhere differ by more than 10 %.

    ncu locks the clock and flushes caches before every pass unless it is told not to; the running application does
    neither. Both times may be right, and they are not of the same thing: fractions hold for the time of ncu, and a rate
    with the other time belongs to another clock and other caches. The sentence gives the ratio of the times beside that
    of the clocks.
    """
    own, other = view.floats("time"), view.floats("external.time")
    share = ratio(own, other)
    hit = np.abs(share - 1.0) > _TIMES_AGREE
    if hit.any():
        launch = farthest_from_one(share, hit)
        facts = view.inputs[int(view.columns["input"][launch])]
        clock, highest = view.floats("clocks.sm")[launch], view.floats("clocks.sm_highest")[launch]
        causes = []
        if clock < highest * (1.0 - _SAME_CLOCK):
            causes.append(
                f"the SM clock was {clock / 1e9:.4g} GHz under ncu, and the device reaches {highest / 1e9:.4g} GHz "
                f"(ratio {highest / clock:.2f})"
            )
        if facts.cache_control == "all" and view.labels("external.cache_control")[launch] == "none":
            causes.append("ncu flushed the caches before every pass, and the other run found them as it left them")
        cause = likely_cause(float(share[launch]), "s")
        if cause and not 1.0 / _SLIP < share[launch] < _SLIP:
            causes = [cause]
        yield Evidence(
            hit,
            f"ncu took {own[launch] * 1e6:.4g} us and {view.labels('external.source')[launch]} "
            f"{other[launch] * 1e6:.4g} us (ratio {share[launch]:.2f}){which(hit, launch)}"
            f"{': ' if causes else ''}{'; '.join(causes)}.",
            "Quote each time with its conditions; to compare them, profile with --clock-control none "
            "--cache-control none.",
        )


def clock_drift(view: View) -> Iterator[Evidence]:
    """The SM clock of a device differs by more than 10 % between launches of one report.

    Clocks that are not locked follow load, temperature and power, so times and compute ceilings of such launches are
    not of one condition. Each launch is held against the ceilings at its own clock; do not compare their times.
    """
    clock = view.floats("clocks.sm")
    for facts, of_input in view.by_input():
        for device in dict.fromkeys(view.labels("device_ordinal")[of_input].tolist()):
            mine = of_input & (view.labels("device_ordinal") == device) & (clock > 0)
            if not mine.any():
                continue
            low, high = clock[mine].min(), clock[mine].max()
            if high > low * (1.0 + _CLOCK_DRIFT):
                yield Evidence(
                    np.asarray(mine, np.bool_),
                    f"{facts.path}: the SM clock is between {low / 1e9:.4g} and {high / 1e9:.4g} GHz "
                    f"({high / low - 1.0:.0%} apart){_same_cycles(view, mine)}.",
                    "The clocks were locked and moved all the same: look for throttling, and leave out short launches."
                    if facts.clock_control == "base"
                    else "Lock the clocks (ncu does with --clock-control base), and look for throttling.",
                )


def _same_cycles(view: View, mine: BoolArray) -> str:
    """Names a kernel that took the same cycles at clocks that are apart: the clock alone makes the difference."""
    clock, time = view.floats("clocks.sm"), view.floats("time")
    timed = np.flatnonzero(mine & (time > 0))
    job, jobs = numbered_rows([view.labels(name)[timed] for name in ("kernel", "grid", "block")])
    slowest, fastest = (
        timed[order[np.searchsorted(job[order], np.arange(len(jobs)))]]
        for order in (np.lexsort((clock[timed], job)), np.lexsort((-clock[timed], job)))
    )
    cycles, others = (clock[launches] * time[launches] for launches in (slowest, fastest))
    is_drift = clock[fastest] > clock[slowest] * (1.0 + _CLOCK_DRIFT)
    found = np.flatnonzero(is_drift & (np.abs(cycles / others - 1.0) < _SAME_CLOCK))
    if not len(found):
        return ""
    first = found[0]
    slow, fast = slowest[first], fastest[first]
    return (
        f"; launches {slow} and {fast} of {view.labels('kernel')[slow]!r} took the same cycles "
        f"({cycles[first]:.4g}): {time[slow] * 1e6:.4g} us against {time[fast] * 1e6:.4g} us is the clock alone"
    )


def conditions_unknown(view: View) -> Iterator[Evidence]:
    """It is not known whether caches were flushed and clocks locked.

    A table does not say it. Numbers of such a report must not be paired with times or bytes from elsewhere.
    """
    for facts in view.inputs:
        unknown = [
            name for name, value in (("cache", facts.cache_control), ("clock", facts.clock_control)) if value is None
        ]
        if unknown:
            yield Evidence(
                view.launches_of(facts),
                f"{facts.path}: {' and '.join(unknown)} control are not known."
                if len(unknown) > 1
                else f"{facts.path}: {unknown[0]} control is not known.",
                "Give the session page (--session FILE; ncu --import REPORT --page session --csv), or say it with "
                "--conditions cache=all,clock=base.",
            )


def replay_over_runs(view: View) -> Iterator[Evidence]:
    """Counters and time of a launch are from several runs, or of a whole range.

    Application replay starts the application once per pass, so that counters agree only if each run does the same.
    Range replay gives one result for all launches of a range; its name is no kernel, and nothing in it can be given to
    one.
    """
    for facts in view.inputs:
        if facts.replay_mode in ("application", "app-range", "range"):
            what = "one result per range of launches" if "range" in facts.replay_mode else "one pass per run"
            yield Evidence(view.launches_of(facts), f"{facts.path}: {facts.replay_mode} replay, {what}.")


def devices_mixed(view: View) -> Iterator[Evidence]:
    """Launches of several devices are in one input.

    Shares of time are per device, and ceilings are those of each launch. Sums over all of them are of no device.
    """
    for facts, mine in view.by_input():
        _, devices = numbered_rows([view.labels("device_ordinal")[mine], view.labels("device")[mine]])
        if len(devices) > 1:
            names = ", ".join(f"{ordinal}: {name or 'not named'}" for ordinal, name in devices)
            yield Evidence(mine, f"{facts.path}: launches of {len(devices)} devices ({names}).")


def graph_as_kernel(view: View) -> Iterator[Evidence]:
    """An entry is a whole CUDA graph, not a kernel.

    ncu profiles a graph as one piece of work unless it is told to take its nodes apart. Time and traffic are those of
    all kernels in it, instructions are not counted, and nothing in the entry can be given to one of them. Profile with
    ``--graph-profiling node``.
    """
    is_graph = mapped(lambda name: name is None or _GRAPH.fullmatch(name) is not None, view.labels("kernel").tolist())
    # A summary over a device has no names either.
    hit = is_graph.astype(np.bool_) & (view.floats("invocations") == 1) & (view.labels("kind") == KERNEL)
    hit |= view.labels("kind") == GRAPH
    if hit.any():
        yield Evidence(
            hit,
            f"{count(int(hit.sum()), 'entry')} without the name of a kernel: a CUDA graph as a whole, of which nothing "
            "can be given to one kernel.",
            "Profile its kernels with --graph-profiling node.",
        )


def green_contexts(view: View) -> Iterator[Evidence]:
    """A launch ran in a green context, on a part of the SMs.

    Counters of the SMs are of that part, DRAM and L2 are shared with what ran beside it. A compute ceiling of the whole
    device is out of reach for it, and the traffic may contain that of others.
    """
    hit = view.floats("green_context") > 0
    if hit.any():
        yield Evidence(
            hit,
            f"{count(int(hit.sum()), 'launch')} ran in a green context, on a part of the SMs: ceilings of the whole "
            "device are not theirs.",
            "Hold them against peaks of the report (.peak_sustained), which are scaled to their SMs.",
        )


def streams_serialised(view: View) -> Iterator[Evidence]:
    """Launches of several streams were measured one after another.

    ncu lets one kernel run at a time. In the application kernels of different streams may overlap, so that the sum of
    their times may be more than the application takes; the time of each kernel alone is right.
    """
    for facts, mine in view.by_input():
        streams = {stream for stream in view.labels("stream")[mine].tolist() if stream is not None}
        if len(streams) > 1:
            yield Evidence(
                mine,
                f"{facts.path}: launches of {len(streams)} streams, which ncu runs one after another: the total is a "
                "sum of serialised kernel times, not the time of the application.",
            )


def virtual_gpu(view: View) -> Iterator[Evidence]:
    """A launch ran on a virtual GPU.

    The name of the device ends in the profile of a vGPU. Its clocks cannot be locked, and DRAM and L2 are shared with
    other guests, whose traffic may be in the counters.
    """
    hit = mapped(
        lambda name: name is not None and _VGPU.search(name) is not None, view.labels("device").tolist()
    ).astype(np.bool_)
    if hit.any():
        yield Evidence(
            hit,
            f"{view.labels('device')[hit][0]} is a virtual GPU: clocks cannot be locked, and memory traffic of other "
            "guests may be counted.",
        )
