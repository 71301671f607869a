"""Claims against the columns of an analysis: what was measured for the kernels of each, and whether it agrees.

Amounts are summed and rates are sums over sums; an amount that is a bound decides only what a bound can decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, Columns, FloatArray, ratio
from ncu_roofline.claims.document import ABOUT, AT_LEAST, COMPUTE, MEMORY, Claim
from ncu_roofline.conditions import Conditions
from ncu_roofline.vocabulary import PATHS, TIERS, Extent, TensorState, amount_prefix, is_tensor

SUPPORTED: Final = "supported"
CONTRADICTED: Final = "contradicted"
OPEN: Final = "not decided"

_FIELDS: Final = {"cache": "cache_control", "clock": "clock_control"}
_TIMES: Final = ("time", "bound.time", "bound.headroom", "external.time")
_AMOUNTS: Final = ("count", "bytes", "count_most")

Table = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Measured:
    """What a report says of a quantity for some launches; ``low`` and ``high`` are those of single launches.

    ``least`` and ``most``: between which the true value lies; both are ``value`` where that is exact, and those of
    single launches where no sum stands for them all.
    """

    value: float
    low: float
    high: float
    least: float
    most: float
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


class Chosen(Table):
    """Columns of some launches, each taken out of the table when it is asked for."""

    def __init__(self, table: Table, launches: BoolArray) -> None:
        self._table, self._launches = table, launches

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._table[name][self._launches]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


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
    columns = Chosen(table, launches)
    try:
        _refuse_several_devices(columns)
        if isinstance(claim.value, str):
            _under_conditions(columns, claim, conditions)
            outcome, name = _binding(columns, claim.value)
            return Verdict(claim, launches, outcome, name=name)
        measured = _under_conditions(columns, claim, conditions) or _measured(columns, claim.quantity)
    except _NotKnownError as unknown:
        return Verdict(claim, launches, OPEN, reason=str(unknown), lacks=unknown.lacks)
    outcome = _compared(claim, measured)
    reason, lacks = _why_open(measured) if outcome == OPEN else ("", False)
    return Verdict(claim, launches, outcome, measured, reason=reason, lacks=lacks)


def _refuse_several_devices(columns: Table) -> None:
    devices = set(zip(columns["device"].tolist(), columns["cc"].tolist(), strict=True))
    if len(devices) > 1:
        names = ", ".join(sorted(f"{name or 'not named'} (CC {cc or 'not stated'})" for name, cc in devices))
        raise _NotKnownError(f"launches of several devices are meant by it: {names}", lacks=False)


def _compared(claim: Claim, measured: Measured) -> str:
    """Whether what is measured, which may be a range, is that of the claim within its tolerance."""
    claimed = float(claim.value)
    low = claimed * (1.0 - claim.tolerance) if claim.relation in (ABOUT, AT_LEAST) else -np.inf
    high = claimed * (1.0 + claim.tolerance) if claim.relation != AT_LEAST else np.inf
    if measured.least > high or measured.most < low:
        return CONTRADICTED
    return SUPPORTED if low <= measured.least and measured.most <= high else OPEN


def _why_open(measured: Measured) -> tuple[str, bool]:
    """Why a range decides nothing, and whether counters would make it narrower."""
    if np.isinf(measured.most) and np.isinf(measured.least):
        return "the report gives a lower bound for some launches and an upper one for others", True
    if np.isinf(measured.most):
        return f"the report gives a lower bound of {measured.least:.4g} only", True
    if np.isinf(measured.least):
        return f"the report gives an upper bound of {measured.most:.4g} only", True
    return f"the report says that it is between {measured.least:.6g} and {measured.most:.6g}", False


def _binding(columns: Table, claimed: str) -> tuple[str, str]:
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
        raise _NotKnownError(f"of what is known {said} binds, and not everything that may bind was collected")
    # What is known to take longer rules out what is known to take less.
    if complete or (claimed not in kinds and _is_known(columns, claimed)):
        return CONTRADICTED, said
    raise _NotKnownError(f"of what is known {said} binds, and {claimed} is not fully known")


def _is_known(columns: Table, name: str) -> bool:
    """Whether amount and ceiling of a resource are known for every launch, or that it did nothing."""
    prefix = amount_prefix(name)
    if is_tensor(name) and (columns["tensor_state"] == TensorState.IDLE).all():
        return True
    if f"{prefix}.extent" not in columns:
        return False
    exact = columns[f"{prefix}.extent"] == Extent.EXACT.label
    nothing = columns[f"{prefix}.{'bytes' if name in TIERS else 'count'}"] == 0
    return bool((exact & (nothing | ~np.isnan(columns[f"{prefix}.peak"]))).all())


# Values of quantities.


def _under_conditions(columns: Table, claim: Claim, conditions: Sequence[Conditions]) -> Measured | None:
    """The value from elsewhere where that was taken under the conditions of the claim; None: the report's own was."""
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
    if quantity.endswith(".count"):
        return ()
    if quantity.endswith(".peak") or quantity.startswith("clocks."):
        return ("clock",)
    if quantity.endswith((".bytes", ".intensity")) or quantity.startswith("hit_rate."):
        return ("cache",)
    return ("cache", "clock")


def _external(columns: Table, claim: Claim) -> Measured | None:
    """The quantity with times from elsewhere, where those are of this device and were taken as the claim says."""
    time = columns.get("external.time")
    if time is None or np.isnan(time).any() or columns["external.other_device"].any():
        return None
    for condition, wanted in claim.conditions.items():
        if not (columns[f"external.{_FIELDS[condition]}"] == wanted).all():
            return None
    found = _with_external_time(columns, claim.quantity)
    if found is None:
        return None
    weak = " (found by a part of the name)" if (columns["external.match"] == "weak").any() else ""
    source = ", ".join(dict.fromkeys(str(path) for path in columns["external.source"])) + weak
    return Measured(found.value, found.low, found.high, found.least, found.most, source)


def _with_external_time(columns: Table, quantity: str) -> Measured | None:
    """Time and rates of launches with times from elsewhere: a rate is the sum of work over the sum of times."""
    prefix, _, last = quantity.rpartition(".")
    if quantity == "time":
        return value_of(columns, "external.time")
    if last != "rate":
        return None
    is_traffic = prefix.startswith("traffic")
    if is_traffic and np.isnan(columns.get(f"{prefix}.external_rate", np.array([np.nan]))).any():
        # Bytes of other caches.
        return None
    amount = value_of(columns, f"{prefix}.{'bytes' if is_traffic else 'count'}")
    if amount is None:
        return None
    whole, invocations = columns["external.time"].sum(), columns["invocations"].sum()
    factor = float(invocations / whole)
    value, low, high, least, most = (
        number * factor for number in (amount.value, amount.low, amount.high, amount.least, amount.most)
    )
    return Measured(value, low, high, least, most)


def _measured(columns: Table, quantity: str) -> Measured:
    found = value_of(columns, quantity)
    if found is None:
        gone, size = int(np.isnan(_column(columns, quantity)).sum()), len(columns["launch"])
        raise _NotKnownError(
            f"{quantity} is not known" + (f" for {gone} of {size} launches" if 0 < gone < size else "")
        )
    return found


def value_of(columns: Table, quantity: str) -> Measured | None:
    """A quantity of some launches taken together; None where it is not known for all of them.

    Times and amounts are those of one launch on average; rates, shares and intensities are sums over sums. Of other
    quantities (clocks, peaks, percentages) no sum stands for all launches, and the range does.
    """
    prefix, _, last = quantity.rpartition(".")
    values = _column(columns, quantity)
    known = values[~np.isnan(values)]
    together = _sum_over_sum(columns, prefix) if last == "intensity" else None
    if len(known) == 0 or (len(known) < len(values) and together is None):
        return None
    low, high = float(known.min()), float(known.max())
    weights = _weights(columns, quantity)
    if together is not None:
        value = together
    elif weights is not None and weights.sum() > 0:
        value = float((values * weights).sum() / weights.sum())
    else:
        return Measured(low, low, high, *_with_bounds(columns, quantity, low, high))
    return Measured(value, low, high, *_with_bounds(columns, quantity, value, value))


def _sum_over_sum(columns: Table, prefix: str) -> float | None:
    """Work of all launches over the bytes of a tier; None where one of them is not known."""
    count, size = columns["flop.count"], columns.get(f"{prefix}.bytes")
    if size is None or np.isnan(count).any() or np.isnan(size).any() or size.sum() == 0:
        return None
    return float(count.sum() / size.sum())


def _column(columns: Table, quantity: str) -> FloatArray:
    """A quantity of each launch, per invocation; NaN where it is not known."""
    gone = np.full(len(columns["launch"]), np.nan)
    prefix, _, last = quantity.rpartition(".")
    if last == "share":
        rate, peak = (np.asarray(columns.get(f"{prefix}.{name}", gone), np.float64) for name in ("rate", "peak"))
        return ratio(rate, peak)
    values = np.asarray(columns.get(quantity, gone), np.float64)
    if last in ("count", "rate") and is_tensor(prefix.partition(".")[2]):
        # Where the tensor pipe was idle there was no work, whether or not it was counted.
        values = np.where(np.isnan(values) & (columns["tensor_state"] == TensorState.IDLE), 0.0, values)
    if quantity in _TIMES or last in _AMOUNTS:
        return np.asarray(values / columns["invocations"], np.float64)
    return values


def _weights(columns: Table, quantity: str) -> FloatArray | None:
    """What a mean over launches is weighted with, so that it is a sum over a sum; None: there is no such mean."""
    prefix, _, last = quantity.rpartition(".")
    if quantity in _TIMES or last in _AMOUNTS:
        return np.asarray(columns["invocations"], np.float64)
    if last == "intensity":
        weights = np.asarray(columns[f"{prefix}.bytes"], np.float64)
    elif last in ("rate", "share", "fraction", "rate_most"):
        weights = np.asarray(columns["time"], np.float64)
    else:
        return None
    return None if np.isnan(weights).any() else weights


def _with_bounds(columns: Table, quantity: str, least: float, most: float) -> tuple[float, float]:
    """Between which values the true one lies, given what the columns say."""
    prefix, _, last = quantity.rpartition(".")
    if quantity in ("bound.time", "bound.fraction", "bound.headroom") and not columns["bound.complete"].all():
        return (-np.inf, most) if quantity == "bound.headroom" else (least, np.inf)
    if prefix == "flop" and last in ("count", "rate") and not columns["flop.complete"].all():
        highest = value_of(columns, f"{quantity}_most")
        return least, np.inf if highest is None else highest.most
    extent = columns.get(f"{prefix}.extent")
    if extent is None or last == "peak":
        return least, most
    below, above = (extent == Extent.AT_MOST.label).any(), (extent == Extent.AT_LEAST.label).any()
    if last == "intensity":
        # Its bytes stand below the line.
        below, above = above, below or not columns["flop.complete"].all()
    return (-np.inf if below else least), (np.inf if above else most)
