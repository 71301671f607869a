"""Claims against the columns of an analysis: what was measured for the kernels of each, and whether it agrees.

Amounts are summed and rates are sums over sums; an amount that is a bound decides only what a bound can decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ncu_roofline.arrays import BoolArray, Columns, FloatArray
from ncu_roofline.claims.document import ABOUT, AT_LEAST, COMPUTE, MEMORY, Claim
from ncu_roofline.conditions import Conditions
from ncu_roofline.vocabulary import FLOP_PATHS, PATHS, TIERS, Extent, amount_prefix

SUPPORTED: Final = "supported"
CONTRADICTED: Final = "contradicted"
OPEN: Final = "not decided"

_FIELDS: Final = {"cache": "cache_control", "clock": "clock_control", "replay": "replay_mode"}


@dataclass(frozen=True)
class Measured:
    """What a report says of a quantity for some launches; ``low`` and ``high`` are those of single launches.

    ``at_least``: the true value may be above; ``at_most``: below.
    """

    value: float
    low: float
    high: float
    at_least: bool = False
    at_most: bool = False
    source: str = ""
    """The file of times from elsewhere that it was formed with."""


@dataclass(frozen=True)
class Verdict:
    """A claim with what becomes of it."""

    claim: Claim
    launches: BoolArray
    outcome: str
    measured: Measured | None = None
    name: str = ""
    """What binds, for a claim that names it."""
    reason: str = ""
    """Why it is not decided."""
    lacks: bool = False
    """Whether counters would decide it that were not collected."""


class _NotKnownError(Exception):
    """Nothing can be said, with the reason."""

    def __init__(self, reason: str, *, lacks: bool = True) -> None:
        super().__init__(reason)
        self.lacks = lacks


def judge(table: Columns, claims: Sequence[Claim], conditions: Sequence[Conditions]) -> tuple[Verdict, ...]:
    """A verdict for every claim.

    Args:
        table: the launches.
        claims: the claims.
        conditions: those of each input.

    """
    return tuple(_verdict(table, claim, conditions) for claim in claims)


def _verdict(table: Columns, claim: Claim, conditions: Sequence[Conditions]) -> Verdict:
    launches = claim.meant.launches(table)
    if not launches.any():
        return Verdict(claim, launches, OPEN, reason="no launch of the report is meant by it")
    columns = {name: column[launches] for name, column in table.items()}
    try:
        if isinstance(claim.value, str):
            _as_claimed(columns, claim, conditions)
            outcome, name = _binding(columns, claim.value)
            return Verdict(claim, launches, outcome, name=name)
        measured = _measured(columns, claim, conditions)
    except _NotKnownError as unknown:
        return Verdict(claim, launches, OPEN, reason=str(unknown), lacks=unknown.lacks)
    outcome = _compared(claim, measured)
    reason = ""
    if outcome == OPEN:
        reason = f"the report gives {'a lower' if measured.at_least else 'an upper'} bound of {measured.value:.4g} only"
    return Verdict(claim, launches, outcome, measured, reason=reason, lacks=outcome == OPEN)


def _compared(claim: Claim, measured: Measured) -> str:
    """Whether the measured value, which may be a bound, is that of the claim within its tolerance."""
    claimed = float(claim.value)
    low, high = sorted((claimed * (1.0 - claim.tolerance), claimed * (1.0 + claim.tolerance)))
    low = -np.inf if claim.relation not in (ABOUT, AT_LEAST) else low
    high = np.inf if claim.relation in (AT_LEAST,) else high
    at_least = -np.inf if measured.at_most else measured.value
    at_most = np.inf if measured.at_least else measured.value
    if at_least > high or at_most < low:
        return CONTRADICTED
    return SUPPORTED if low <= at_least and at_most <= high else OPEN


def _binding(columns: Columns, claimed: str) -> tuple[str, str]:
    """Whether it is the claimed resource that binds, and what does."""
    by = columns["bound.by"].tolist()
    if None in by:
        raise _NotKnownError("what binds is not known")
    names = list(dict.fromkeys(by))
    kinds = {MEMORY: TIERS, COMPUTE: PATHS}
    meant = kinds.get(claimed, (claimed,))
    said = " and ".join(names)
    complete = bool(columns["bound.complete"].all())
    if set(names) <= set(meant):
        if complete:
            return SUPPORTED, said
        raise _NotKnownError(f"of what is known {said} binds, and not everything was collected")
    # What is known to take longer rules out what is known to take less.
    if complete if claimed in kinds else _is_known(columns, claimed):
        return CONTRADICTED, said
    raise _NotKnownError(f"of what is known {said} binds, and {claimed} is not fully known")


def _is_known(columns: Columns, name: str) -> bool:
    """Whether amount and ceiling of a resource are known for every launch."""
    prefix = amount_prefix(name)
    if f"{prefix}.extent" not in columns:
        return False
    exact = columns[f"{prefix}.extent"] == Extent.EXACT.label
    return bool(exact.all() and not np.isnan(columns[f"{prefix}.peak"]).any())


# Values of quantities.


def _measured(columns: Columns, claim: Claim, conditions: Sequence[Conditions]) -> Measured:
    other = _as_claimed(columns, claim, conditions)
    if other is not None:
        return other
    found = value_of(columns, claim.quantity)
    if found is None:
        gone, size = int(np.isnan(_column(columns, claim.quantity)).sum()), len(columns["launch"])
        if not gone:
            raise _NotKnownError(
                f"{claim.quantity} differs between {size} launches, and they have no times", lacks=False
            )
        raise _NotKnownError(
            f"{claim.quantity} is not known" + (f" for {gone} of {size} launches" if gone < size else "")
        )
    return found


def _as_claimed(columns: Columns, claim: Claim, conditions: Sequence[Conditions]) -> Measured | None:
    """The value under the conditions of the claim where it is from elsewhere; None: the report's own is under them."""
    for name, wanted in claim.conditions.items():
        if name not in _depends_on(claim.quantity):
            continue
        known = {getattr(conditions[number], _FIELDS[name]) for number in columns["input"].tolist()}
        if known == {wanted}:
            continue
        other = _external(columns, claim)
        if other is not None:
            return other
        if None in known:
            raise _NotKnownError(
                f"it is meant under {name}={wanted}, and the {name} control of the report is not known", lacks=False
            )
        said = " and ".join(sorted(str(value) for value in known))
        raise _NotKnownError(
            f"it is meant under {name}={wanted}, and the report was taken under {name}={said}", lacks=False
        )
    return None


def _depends_on(quantity: str) -> tuple[str, ...]:
    """Conditions on which a quantity depends."""
    if quantity.endswith(".count") or (quantity.startswith("work.") and quantity.endswith(".intensity")):
        return ()
    if quantity.endswith(".peak") or quantity.startswith("clocks."):
        return ("clock",)
    if quantity.endswith((".bytes", ".intensity")) or quantity.startswith("hit_rate."):
        return ("cache",)
    return ("cache", "clock")


def _external(columns: Columns, claim: Claim) -> Measured | None:
    """The quantity with times from elsewhere, where those were taken as the claim says."""
    if "external.time" not in columns or np.isnan(columns["external.time"]).any():
        return None
    for condition, wanted in claim.conditions.items():
        column = columns.get(f"external.{_FIELDS[condition]}")
        if column is None or not (column == wanted).all():
            return None
    time = columns["external.time"]
    prefix, _, last = claim.quantity.rpartition(".")
    if claim.quantity == "time":
        values, weights = time, np.ones(len(time))
    elif last == "rate":
        values, weights = _column(columns, f"{prefix}.external_rate"), time
    else:
        return None
    if np.isnan(values).any():
        return None
    at_least, at_most = _bounds(columns, claim.quantity)
    source = ", ".join(dict.fromkeys(str(path) for path in columns["external.source"]))
    value = float((values * weights).sum() / weights.sum())
    return Measured(value, float(values.min()), float(values.max()), at_least, at_most, source)


def value_of(columns: Columns, quantity: str) -> Measured | None:
    """A quantity of some launches taken together; None where it is not known for all of them.

    Times and amounts are those of one launch on average; rates and intensities are sums over sums.
    """
    values = _column(columns, quantity)
    if np.isnan(values).any():
        return None
    low, high = float(values.min()), float(values.max())
    at_least, at_most = _bounds(columns, quantity)
    weights = _weights(columns, quantity)
    if weights is None:
        if high - low > 1e-9 * abs(high):
            return None
        value = low
    else:
        value = float((values * weights).sum() / weights.sum()) if weights.sum() else low
    return Measured(value, low, high, at_least=at_least, at_most=at_most)


def _column(columns: Columns, quantity: str) -> FloatArray:
    """A quantity of each launch, per invocation; NaN where it is not known."""
    gone = np.full(len(columns["launch"]), np.nan)
    prefix, _, last = quantity.rpartition(".")
    if prefix == "flop":
        return _flop(columns, last)
    if last == "share":
        rate, peak = (np.asarray(columns.get(f"{prefix}.{name}", gone), np.float64) for name in ("rate", "peak"))
        return np.asarray(np.where(peak > 0, rate / np.where(peak > 0, peak, 1.0), np.nan))
    values = np.asarray(columns.get(quantity, gone), np.float64)
    if quantity in ("time", "bound.time", "bound.headroom") or last in ("count", "bytes"):
        return values / columns["invocations"]
    return values


def _weights(columns: Columns, quantity: str) -> FloatArray | None:
    """What a mean over launches is weighted with, so that it is a sum over a sum; None: there is no such mean."""
    prefix, _, last = quantity.rpartition(".")
    invocations = np.asarray(columns["invocations"], np.float64)
    if quantity in ("time", "bound.time", "bound.headroom") or last in ("count", "bytes"):
        return invocations
    if last == "intensity":
        weights = np.asarray(columns[f"{prefix}.bytes"], np.float64)
    elif last in ("rate", "share", "fraction"):
        weights = np.asarray(columns["time"], np.float64)
    else:
        return None
    return None if np.isnan(weights).any() else weights


def _flop(columns: Columns, last: str) -> FloatArray:
    """Floating-point work of all paths (``count``, per invocation) or its rate; NaN where none is known."""
    total = np.full(len(columns["launch"]), np.nan)
    for path in FLOP_PATHS:
        values = columns.get(f"work.{path}.{last}")
        if values is not None:
            counts = columns[f"work.{path}.extent"] != Extent.AT_MOST.label
            add = counts & ~np.isnan(values)
            total = np.where(add, np.nan_to_num(total) + np.nan_to_num(values), total)
    return total / columns["invocations"] if last == "count" else total


def _bounds(columns: Columns, quantity: str) -> tuple[bool, bool]:
    """Whether a quantity may be above what the columns say, and whether below."""
    prefix, _, last = quantity.rpartition(".")
    if quantity in ("bound.time", "bound.fraction"):
        return not bool(columns["bound.complete"].all()), False
    if quantity == "bound.headroom":
        return False, not bool(columns["bound.complete"].all())
    if prefix == "flop":
        return not bool(columns["flop.complete"].all()), False
    extent = columns.get(f"{prefix}.extent")
    if extent is None or last == "peak":
        return False, False
    at_least, at_most = bool((extent == Extent.AT_LEAST.label).any()), bool((extent == Extent.AT_MOST.label).any())
    if last == "intensity":
        # Its bytes stand below the line.
        return not bool(columns["flop.complete"].all()) or at_most, at_least
    return at_least, at_most
