"""Rules on times of other producers (T): what was read, and what could be joined."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.wording import count, some

_SHOWN = 3


def timing_read(view: View) -> Iterator[Evidence]:
    """Times of another producer were read.

    They stand beside the report's own time and never enter the bound. The finding says how many launches they were
    given to, and what the producer's numbers leave out.
    """
    for found in view.timings:
        mine = view.labels("external.source") == found.path
        said = "; ".join([f"given to {int(mine.sum())} of {view.size} launches", *found.notes])
        yield Evidence(
            np.asarray(mine, np.bool_),
            f"{found.path}: {count(len(found), 'time')} of {found.producer}, {said}.",
        )


def timing_not_joined(view: View) -> Iterator[Evidence]:
    """Launches have no counterpart in the times that were given.

    Times are given by name, grid and block, the n-th launch to the n-th, and never by position or id. A launch has
    none when its name or shape is not there, when there were fewer launches than it would need, or when several kernels
    share the name.
    """
    if view.timings:
        without = np.isnan(view.floats("external.time"))
        if without.any():
            names = list(dict.fromkeys(str(name) for name in view.labels("kernel")[without]))
            yield Evidence(
                without,
                f"no time was found for {int(without.sum())} of {view.size} launches: {some(names, _SHOWN)}.",
            )


def timing_weak(view: View) -> Iterator[Evidence]:
    """Times were given by less than name, grid and block.

    The producer tells no shape, cut the name, or prints the bare name only. The time may be that of another launch or
    an average over several shapes.
    """
    weak = view.labels("external.match") == "weak"
    if weak.any():
        first = int(np.flatnonzero(weak)[0])
        ours, theirs = view.labels("kernel")[first], view.labels("external.kernel")[first]
        yield Evidence(
            np.asarray(weak, np.bool_),
            f"times were given by the name alone or a part of it, first {theirs!r} to {ours!r}.",
            "Take a trace with grid and block: nsys stats --report cuda_gpu_trace --format csv",
        )


def timing_counts_differ(view: View) -> Iterator[Evidence]:
    """A trace has another number of launches of a kernel and shape than the report.

    The n-th launch of the report gets the n-th time of the trace. Where ncu skipped launches, or the application ran
    for another number of steps, these are not the same launches, and the first ones are often warm-up.
    """
    rows, launches = view.floats("external.rows"), view.floats("external.launches")
    hit = (rows > 0) & (rows != launches)
    if hit.any():
        first = int(np.flatnonzero(hit)[0])
        yield Evidence(
            hit,
            f"the trace has {rows[first]:.0f} launches of {view.labels('kernel')[first]!r} with this shape, the report "
            f"{launches[first]:.0f}: the n-th of the one was given the time of the n-th of the other.",
            "Trace and profile the same launches, or give a summary by shape (cuda_gpu_kern_gb_sum): a median.",
        )


def timing_of_other_conditions(view: View) -> Iterator[Evidence]:
    """Times were taken under other conditions than the counters.

    FLOP depend neither on caches nor on clocks, so their rate with such a time is right. Bytes that were counted with
    flushed caches did not move in a run with warm ones: no rate is formed of them.
    """
    if view.timings:
        joined = ~np.isnan(view.floats("external.time"))
        hidden = np.zeros(view.size, np.bool_)
        for name in view.matching("traffic.*.external_rate"):
            known = ~np.isnan(view.floats(name.replace("external_rate", "bytes")))
            hidden |= joined & known & np.isnan(view.floats(name))
        if hidden.any():
            yield Evidence(
                hidden,
                "bytes are not paired with the given times: the caches were others, or are not known to be the same.",
                "Profile with --cache-control none for the bytes of a running application, or say what is known with "
                "--conditions.",
            )


def timing_of_another_device(view: View) -> Iterator[Evidence]:
    """Times were taken on another device than the counters.

    The file of times names its device, and it is another product than that of the launch. Neither a rate nor a
    comparison of the two times says anything about the kernel.
    """
    hit = view.flags("external.other_device")
    for found in view.timings:
        mine = hit & (view.labels("external.source") == found.path)
        if mine.any():
            first = int(np.flatnonzero(mine)[0])
            yield Evidence(
                np.asarray(mine, np.bool_),
                f"{found.path} is of {', '.join(found.device_names)}, and the counters are of "
                f"{view.labels('device')[first]}.",
                "Take the times on the device that was profiled.",
            )
