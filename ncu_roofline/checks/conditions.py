"""Rules on measuring conditions (C): what was measured together, and how."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.vocabulary import Severity

_CAPTURES_APART = 0.05
"""Total times that are further apart than this are not those of one thing."""


def captures_merged(view: View) -> Iterator[Evidence]:
    """Counters of several captures were put together (``--merge``).

    The captures have the same launches, and everything that does not depend on time agrees. Time and counters of a
    launch are still from different runs: where the total times of the captures differ, so may the bytes, and a rate is
    only as good as that. The time is that of the first capture that has one.
    """
    if view.captures_apart is not None:
        apart = "a capture has no time" if np.isnan(view.captures_apart) else f"{100 * view.captures_apart:.1f} %"
        is_far = view.captures_apart > _CAPTURES_APART
        yield Evidence(
            np.ones(view.size, np.bool_),
            f"counters of {len(view.inputs)} captures were put together; their total times differ by: {apart}.",
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
