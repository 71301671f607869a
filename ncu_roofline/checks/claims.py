"""Rules on claims (K): what somebody says of kernels, held against what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ncu_roofline.arrays import Columns, ratio
from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.mapping import commands
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.claims import CONTRADICTED, OPEN, SUPPORTED, Measured, Verdict, dimension_of, value_of
from ncu_roofline.quantities import SHARE
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
            "Quote a number with its conditions; explain shows where the measured one comes from.",
        )


def claim_not_decided(view: View) -> Iterator[Evidence]:
    """A claim can be neither supported nor contradicted with this report.

    No launch is meant by it, a counter was not collected, what is known is only a bound, or the report was taken under
    other conditions than those of the claim. The help says what would decide it.
    """
    for verdict in _of(view, OPEN):
        help_ = "" if not verdict.launches.any() else _AS_CLAIMED
        if verdict.lacks:
            help_ = next((command for rows, command in commands(view) if (rows & verdict.launches).any()), "")
        yield Evidence(verdict.launches, f"{_words(verdict)}: not decided, {verdict.reason}.", help_)


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
    measured = verdict.measured
    bound = "at least " if measured.at_least else "at most " if measured.at_most else ""
    number = f"{bound}{measured.value:.6g}{_unit(verdict.claim.quantity)}"
    launches = int(verdict.launches.sum())
    if launches > 1:
        number += f" over {count(launches, 'launch')} ({measured.low:.6g} to {measured.high:.6g})"
    return f"{number} with the times of {measured.source}" if measured.source else number


def _unit(quantity: str) -> str:
    """The base unit of a quantity, behind a number; shares have none."""
    dimension = dimension_of(quantity)
    return "" if dimension in (None, SHARE) else f" {dimension}"


def _cause(view: View, verdict: Verdict) -> str:
    """What the difference usually means."""
    if verdict.measured is None:
        return ""
    claimed, measured = float(verdict.claim.value), verdict.measured
    share = float(ratio(np.array([claimed]), np.array([measured.value]))[0])
    columns = {name: column[verdict.launches] for name, column in view.columns.items()}
    causes = [f"the claim is {share:.4g} times it"] if np.isfinite(share) else []
    cause = likely_cause(share) if np.isfinite(share) else ""
    causes += [cause] if cause else []
    unit = _unit(verdict.claim.quantity)
    causes += [f"{name} is {value:.6g}{unit}" for name, value in _others(columns, verdict.claim.quantity, claimed)]
    sm, highest = (view.floats(f"clocks.{name}")[verdict.launches] for name in ("sm", "sm_highest"))
    clocks = ratio(highest, sm)
    if np.all(clocks > 1.0 + _SAME) and abs(share * clocks.mean() - 1.0) < _SAME:
        causes.append("that is the ratio of the SM clock of the run and the highest one of the device")
    elif np.all(clocks > 1.0 + _SAME) and abs(share / clocks.mean() - 1.0) < _SAME:
        causes.append("that is the ratio of the highest SM clock of the device and that of the run")
    return "; ".join(causes)


def _others(columns: Columns, quantity: str, claimed: float) -> Iterator[tuple[str, float]]:
    """Other quantities of the same kind that have the claimed value."""
    prefix, _, last = quantity.rpartition(".")
    kind = prefix.partition(".")[0]
    names = [name for name in columns if name.startswith(f"{kind}.") and name.endswith(f".{last}")]
    if quantity == "time":
        names = ["external.time"]
    if last == "rate":
        names += [f"{prefix}.external_rate"]
    for name in names:
        found = _known(columns, name) if name != quantity else None
        if found is not None and found.value > 0 and abs(claimed / found.value - 1.0) < _SAME:
            yield name, found.value


def _known(columns: Columns, name: str) -> Measured | None:
    return value_of(columns, name) if name in columns and columns[name].dtype.kind == "f" else None
