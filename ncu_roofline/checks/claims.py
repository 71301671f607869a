"""Rules on claims (K): what somebody says of kernels, held against what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.claims import CONTRADICTED, OPEN, SUPPORTED, Chosen, Verdict, dimension_of, value_of
from ncu_roofline.formats import measure
from ncu_roofline.vocabulary import PATHS, is_tensor
from ncu_roofline.wording import count

_SAME: Final = 0.02
"""Share within which a claimed number is taken for another one of the report."""
_AS_CLAIMED: Final = (
    "Profile under the conditions of the claim (--cache-control, --clock-control), or give times that were taken so "
    "with --timing; what is known of this report can be said with --session or --conditions."
)


def claim_supported(view: View) -> Iterator[Evidence]:
    """A claim of the file of claims (``--claims``) agrees with what was measured.

    The measured value is within the tolerance of the claim, 5 % unless it says otherwise, for all launches that it
    means, taken together: amounts and times are those of one launch on average, rates and intensities sums over sums.
    """
    for verdict in _of(view, SUPPORTED):
        yield Evidence(verdict.launches, f"{_words(verdict)}: supported, measured {_value(verdict)}.")


def claim_contradicted(view: View) -> Iterator[Evidence]:
    """A claim does not agree with what was measured.

    Both numbers stand in the sentence, with what their ratio usually means: binary prefixes, a fused multiply-add
    counted as one operation, a sparse peak, a slip of a unit, the value of another tier or path, bytes of caches taken
    for those of DRAM, the clock at its highest, or a time of other conditions.
    """
    for verdict in _of(view, CONTRADICTED):
        cause = _cause(view, verdict)
        yield Evidence(
            verdict.launches,
            f"{_words(verdict)}: contradicted, measured {_value(verdict)}{f': {cause}' if cause else ''}.",
            "Quote a number with its conditions, its launches and where it comes from.",
        )


def claim_not_decided(view: View) -> Iterator[Evidence]:
    """A claim can be neither supported nor contradicted with this report.

    No launch is meant by it, a counter was not collected, what is known is only a bound, or the report was taken under
    other conditions than those of the claim. The help says what would decide it.
    """
    for verdict in _of(view, OPEN):
        help_ = "" if not verdict.launches.any() or verdict.measured is not None else _AS_CLAIMED
        if verdict.lacks:
            help_ = _metric(view, verdict) or next(
                (command for rows, command in view.commands if (rows & verdict.launches).any()), ""
            )
        yield Evidence(verdict.launches, f"{_words(verdict)}: not decided, {verdict.reason}.", help_)


def _metric(view: View, verdict: Verdict) -> str:
    """How a quantity is collected that is in no picture: a hit rate or a throughput."""
    kind, _, name = verdict.claim.quantity.partition(".")
    if kind == "hit_rate":
        counters = {metric_map.hit_rates[name] for metric_map in view.maps if name in metric_map.hit_rates}
        return f"Collect it with: ncu --metrics {','.join(sorted(f'{counter}.pct' for counter in counters))}"
    if kind in ("utilization", "utilization_active"):
        known = sorted({counter for metric_map in view.maps for counter in metric_map.utilization})
        if name not in known:
            return f"No throughput of this name is read; known are {', '.join(known)}."
        cycles = "active" if kind.endswith("_active") else "elapsed"
        return f"Collect it with: ncu --metrics {name}.avg.pct_of_peak_sustained_{cycles}"
    return ""


def _of(view: View, outcome: str) -> list[Verdict]:
    return [verdict for verdict in view.verdicts if verdict.outcome == outcome]


def _words(verdict: Verdict) -> str:
    claim = verdict.claim
    said = f'{claim.where}: "{claim.says}"{f" ({claim.source})" if claim.source else ""}'
    number = f"{claim.quantity} {'' if claim.relation == 'about' else f'{claim.relation} '}{claim.printed}"
    return said if number.split() == claim.says.replace(" is ", " ").split() else f"{said}, {number}"


def _value(verdict: Verdict) -> str:
    """The measured value in words, with its range over several launches."""
    if verdict.measured is None:
        return f"{verdict.claim.quantity} {verdict.name}"
    measured, dimension = verdict.measured, dimension_of(verdict.claim.quantity)
    launches = int(verdict.launches.sum())
    number = measure(measured.value, dimension)
    if np.isinf(measured.most):
        number = f"at least {measure(measured.least, dimension)}"
    elif np.isinf(measured.least):
        number = f"at most {measure(measured.most, dimension)}"
    elif measured.least != measured.most:
        number = f"between {measure(measured.least, dimension)} and {measure(measured.most, dimension)}"
    if launches > 1:
        number += (
            f" over {count(launches, 'launch')} ({measure(measured.low, dimension)} to "
            f"{measure(measured.high, dimension)})"
        )
    return f"{number} with the times of {measured.source}" if measured.source else number


def _cause(view: View, verdict: Verdict) -> str:
    """What the difference usually means."""
    if verdict.measured is None:
        return ""
    quantity, claimed, measured = verdict.claim.quantity, float(verdict.claim.value), verdict.measured
    dimension = dimension_of(quantity) or ""
    columns = Chosen(view.columns, verdict.launches)
    causes = []
    if claimed > 0 and measured.value > 0:
        share = claimed / measured.value
        path = quantity.removeprefix("work.").rpartition(".")[0]
        causes.append(f"the claim is {share:.4g} times it")
        causes += filter(None, [likely_cause(share, dimension, tensor=is_tensor(path) if path in PATHS else None)])
        launches = int(columns["invocations"].sum())
        if launches > 1 and dimension in ("s", "byte", "FLOP", "OP") and abs(share / launches - 1.0) < _SAME:
            causes.append(f"that is the sum over the {launches} launches")
        if dimension == "s" or dimension.endswith("/s"):
            causes += _clocks(columns, share)
    causes += [f"{name} is {measure(value, dimension)}" for name, value in _others(columns, quantity, claimed)]
    return "; ".join(causes)


def _clocks(columns: Chosen, share: float) -> list[str]:
    """Whether a ratio is that of the highest SM clock and the one of the run."""
    ran, highest = columns["clocks.sm"], columns["clocks.sm_highest"]
    if np.isnan(ran).any() or np.isnan(highest).any() or not (highest > ran * (1.0 + _SAME)).all():
        return []
    clocks = float((highest / ran).mean())
    if abs(share / clocks - 1.0) < _SAME:
        return ["that is the ratio of the highest SM clock of the device and that of the run"]
    if abs(share * clocks - 1.0) < _SAME:
        return ["that is the ratio of the SM clock of the run and the highest one of the device"]
    return []


def _others(columns: Chosen, quantity: str, claimed: float) -> Iterator[tuple[str, float]]:
    """Other quantities of the same kind that have the claimed value; a measure only where its tier has another one."""
    prefix, _, last = quantity.rpartition(".")
    kind = prefix.partition(".")[0]
    names = [name for name in columns if name.startswith(f"{kind}.") and name.endswith(f".{last}")]
    if quantity == "time":
        names = ["external.time"]
    if last == "rate":
        names.append(f"{prefix}.external_rate")
    seen: set[float] = set()
    for name in sorted(names, key=lambda one: ".measures." in one):
        found = value_of(columns, name) if name != quantity and name in columns else None
        if found is None or found.value in seen or found.value <= 0:
            continue
        if abs(claimed / found.value - 1.0) < _SAME:
            seen.add(found.value)
            yield name, found.value
