"""Rules on units (R): numbers that are off by a factor that units and prefixes make."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncu_roofline.arrays import ratio
from ncu_roofline.checks.causes import is_binary_prefix, likely_cause
from ncu_roofline.checks.ceilings import ceiling_of
from ncu_roofline.checks.rule import Evidence, View, farthest_from_one, which
from ncu_roofline.vocabulary import PATHS, TIERS, Severity
from ncu_roofline.wording import some

_AGREE = 0.10
"""Share by which a duration and its cycles over their clock may differ: 3 % was the most in real reports."""
_SLIP = 100.0
"""From this ratio on it is a unit, not a measurement."""
_SHOWN = 3


def time_against_cycles(view: View) -> Iterator[Evidence]:
    """The duration of a launch is not its cycles over their clock.

    Both count the same launch, so they agree within a few percent. A factor of 1000 is a slip between ns, us and ms; a
    smaller one means that the two are from different runs or clocks. Times, rates and everything made of them are then
    wrong by it.
    """
    time, counted = view.floats("time"), view.floats("time_from_cycles") * view.floats("invocations")
    share = ratio(time, counted)
    apart = np.abs(share - 1.0) > _AGREE
    slip = apart & ((share > _SLIP) | (share < 1.0 / _SLIP))
    for hit, severity in ((slip, Severity.ERROR), (apart & ~slip, Severity.WARNING)):
        if hit.any():
            launch = farthest_from_one(share, hit)
            cause = likely_cause(float(share[launch]), "s")
            yield Evidence(
                hit,
                f"the duration is {time[launch]:.4g} s, the cycles over their clock {counted[launch]:.4g} s, a ratio "
                f"of {share[launch]:.4g}{which(hit, launch)}{f': {cause}' if cause else ''}.",
                "Export the report again; do not quote its times or rates.",
                severity,
            )


def binary_prefix(view: View) -> Iterator[Evidence]:
    """A ceiling is off by the ratio of a decimal and a binary prefix.

    1 GiB is 1.0737 GB. A bandwidth that was typed in GiB/s as if it were GB/s is 7 % too low, and the other way round
    too high; ncu's prefixes are decimal. A measurement may by chance reach just that share of the peak.
    """
    for name in (*TIERS, *PATHS):
        measured, _ = ceiling_of(view, name, "measured")
        for source in ("report", "attributes", "device"):
            other, _ = ceiling_of(view, name, source)
            share = ratio(measured, other)
            hit = np.array([is_binary_prefix(float(value)) for value in np.nan_to_num(share, nan=1.0)])
            if hit.any():
                first = int(np.flatnonzero(hit)[0])
                yield Evidence(
                    hit,
                    f"{name}: the measured ceiling is {share[first]:.4f} times that of the {source}: "
                    f"{likely_cause(float(share[first]), 'byte/s')}?",
                    "Write the ceiling with its unit spelled out, such as GiB/s.",
                )
                break


def rounded_too_much(view: View) -> Iterator[Evidence]:
    """A counter was printed so coarsely that what depends on it is not known to 5 %.

    ncu prints two decimals after choosing a prefix, so that a small number has one digit. Export with
    ``--print-units base`` or read the binary report, which have all digits.
    """
    if view.coarse:
        names = list(dict.fromkeys(name for name, _ in view.coarse))
        hit = np.zeros(view.size, np.bool_)
        for _, launches in view.coarse:
            hit |= launches
        yield Evidence(
            hit,
            f"printed with too few digits to be known to 5 %: {some(names, _SHOWN)}.",
            "Export with --print-units base, or analyse the binary report.",
        )
