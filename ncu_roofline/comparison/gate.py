"""Gates of a comparison: what has to hold, and whether it does, does not, or cannot be said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ncu_roofline.comparison.compared import Compared, Comparison, Verdict
from ncu_roofline.comparison.side import REGISTERS, SPILLS, TIME, Key
from ncu_roofline.errors import UsageError
from ncu_roofline.vocabulary import PATHS, TIERS, Severity

_FINDING: Final = "finding:"
_GATE: Final = re.compile(
    r"(?P<name>[a-z0-9_.]+)\s*(?P<sign>[<>])\s*(?P<number>[-+0-9.eE]+)(?P<percent>%?)(?::(?P<kernel>.+))?"
)
_NAMES: Final = frozenset(
    {TIME, "launches", REGISTERS, SPILLS, "bound.time", "bound.fraction", "bound.headroom"}
    | {f"work.{path}.{amount}" for path in PATHS for amount in ("count", "rate")}
    | {f"traffic.{tier}.{amount}" for tier in TIERS for amount in ("bytes", "rate")}
)


class Outcome(Enum):
    """What became of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    NO_EVIDENCE = "no evidence"


@dataclass(frozen=True)
class Gate:
    """A condition that must not hold: a quantity after (or its change in percent) above or below a limit.

    ``kernel`` restricts it to pairs whose name it finds, each of which is looked at; without it the whole job is.
    """

    text: str
    name: str
    is_above: bool
    limit: float
    is_change: bool
    kernel: str | None


@dataclass(frozen=True)
class FindingGate:
    """A severity that no finding of the comparison may have."""

    text: str
    severity: Severity


@dataclass(frozen=True)
class GateResult:
    """A gate, what became of it, and the numbers that say so."""

    gate: Gate | FindingGate
    outcome: Outcome
    message: str


def read_gate(text: str) -> Gate | FindingGate:
    """A gate such as ``time>5%``, ``traffic.dram.bytes>1%``, ``bound.fraction<0.7:gemm.*`` or ``finding:error``.

    Raises:
        UsageError: if it is none.

    """
    if text.startswith(_FINDING):
        try:
            return FindingGate(text, Severity[text.removeprefix(_FINDING).upper()])
        except KeyError as error:
            raise UsageError("--fail-on", text, "has no severity: note, warning or error") from error
    found = _GATE.fullmatch(text)
    if found is None:
        raise UsageError(
            "--fail-on",
            text,
            "is no gate: QUANTITY>LIMIT or QUANTITY<LIMIT, such as time>5% or bound.fraction<0.7:gemm.*",
        )
    if found["name"] not in _NAMES:
        raise UsageError(
            "--fail-on", text, f"has no such quantity: {found['name']}; take {', '.join(sorted(_NAMES)[:5])} ..."
        )
    try:
        limit = float(found["number"])
        re.compile(found["kernel"] or "")
    except (ValueError, re.error) as error:
        raise UsageError("--fail-on", text, f"cannot be read: {error}") from error
    percent = bool(found["percent"])
    return Gate(text, found["name"], found["sign"] == ">", limit / 100 if percent else limit, percent, found["kernel"])


def judge_gates(comparison: Comparison, gates: Sequence[Gate | FindingGate]) -> tuple[GateResult, ...]:
    """What becomes of each gate."""
    return tuple(
        _finding(comparison, gate) if isinstance(gate, FindingGate) else _quantity(comparison, gate) for gate in gates
    )


def _finding(comparison: Comparison, gate: FindingGate) -> GateResult:
    hit = [finding for finding in comparison.finding_list if finding.severity >= gate.severity]
    if hit:
        codes = ", ".join(dict.fromkeys(f"{finding.code} {finding.name}" for finding in hit))
        return GateResult(gate, Outcome.FAILED, codes)
    return GateResult(gate, Outcome.PASSED, f"no finding of severity {gate.severity.label} or above")


def _quantity(comparison: Comparison, gate: Gate) -> GateResult:
    looked_at = _looked_at(comparison, gate)
    if not looked_at:
        return GateResult(gate, Outcome.NO_EVIDENCE, f"no pair of kernels matches {gate.kernel}")
    if gate.is_change and gate.name == TIME and comparison.verdict is Verdict.INCOMPARABLE:
        return GateResult(gate, Outcome.NO_EVIDENCE, "the sides may not be compared")
    values = [(one, _value(one, gate)) for one in looked_at]
    unknown = [one.name for one, value in values if math.isnan(value)]
    over = [(one, value) for one, value in values if (value > gate.limit if gate.is_above else value < gate.limit)]
    if over:
        one, value = max(over, key=lambda pair: pair[1] if gate.is_above else -pair[1])
        more = f" and {len(over) - 1} more" if len(over) > 1 else ""
        return GateResult(gate, Outcome.FAILED, f"{one.name}: {_say(one, gate, value)}{more}")
    if unknown:
        return GateResult(gate, Outcome.NO_EVIDENCE, f"{gate.name} is not known on both sides of {unknown[0]}")
    worst, value = (max if gate.is_above else min)(values, key=lambda pair: pair[1])
    return GateResult(gate, Outcome.PASSED, f"{worst.name}: {_say(worst, gate, value)}")


def _looked_at(comparison: Comparison, gate: Gate) -> list[Compared]:
    if gate.kernel is None:
        return [comparison.whole]
    return [one for one in comparison.pairs if any(re.search(gate.kernel, key.kernel) for key in _keys(one))]


def _keys(one: Compared) -> Iterator[Key]:
    yield from one.before_keys
    yield from one.after_keys


def _value(one: Compared, gate: Gate) -> float:
    """The change as a share of the value before, or the value after."""
    before, after = (one.value(gate.name, side) for side in (0, 1))
    if not gate.is_change:
        return after
    if before == 0.0:
        # New from nothing is more than any percentage.
        return math.inf if after > 0 else after
    return after / before - 1.0


def _say(one: Compared, gate: Gate, value: float) -> str:
    before, after = (one.value(gate.name, side) for side in (0, 1))
    if not gate.is_change:
        return f"{gate.name} is {after:.6g}"
    change = "new" if math.isinf(value) else f"{value:+.2%}"
    return f"{gate.name} {change} ({before:.6g} to {after:.6g})"
