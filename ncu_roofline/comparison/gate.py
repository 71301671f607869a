"""Gates of a comparison: what has to hold, and whether it does, does not, or cannot be said."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ncu_roofline.comparison.compared import Compared, Comparison
from ncu_roofline.comparison.pairing import SAME
from ncu_roofline.comparison.rules import NO_VERDICT
from ncu_roofline.comparison.side import REGISTERS, SPILLS, TIME, Key
from ncu_roofline.errors import UsageError
from ncu_roofline.formats import short_kernel
from ncu_roofline.vocabulary import PATHS, TIERS, Severity

_WIDTH: Final = 100
"""Characters of the name of a kernel in a message."""
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
    """A gate, what became of it, the kernel that decided (None: it is about none), and why."""

    gate: Gate | FindingGate
    outcome: Outcome
    subject: str | None
    detail: str

    @property
    def message(self) -> str:
        """Kernel and reason."""
        return f"{short_kernel(self.subject, _WIDTH)}: {self.detail}" if self.subject else self.detail


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
        known = "QUANTITY>LIMIT or QUANTITY<LIMIT, such as time>5% or bound.fraction<0.7:gemm.*"
        raise UsageError("--fail-on", text, f"is no gate: {known}")
    if found["name"] not in _NAMES:
        some = ", ".join(sorted(_NAMES)[:5])
        raise UsageError("--fail-on", text, f"has no such quantity: {found['name']}; take {some} ...")
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
        return GateResult(gate, Outcome.FAILED, None, codes)
    return GateResult(gate, Outcome.PASSED, None, f"no finding of severity {gate.severity.label} or above")


def _quantity(comparison: Comparison, gate: Gate) -> GateResult:
    """Failed if any value is beyond the limit; else without evidence if one that should be there is not."""
    values = [(one, _value(one, gate)) for one in _looked_at(comparison, gate)]
    reason = _why_not(comparison, gate)
    over = [(one, value) for one, value in values if (value > gate.limit if gate.is_above else value < gate.limit)]
    if over and not (reason and gate.is_change):
        one, value = max(over, key=lambda pair: pair[1] if gate.is_above else -pair[1])
        more = f", and {len(over) - 1} more" if len(over) > 1 else ""
        return GateResult(gate, Outcome.FAILED, one.name, f"{_say(one, gate, value)}{more}")
    if reason:
        return GateResult(gate, Outcome.NO_EVIDENCE, None, reason)
    unknown = [one.name for one, value in values if math.isnan(value)]
    if unknown:
        where = "on both sides" if gate.is_change else "after"
        return GateResult(gate, Outcome.NO_EVIDENCE, unknown[0], f"{gate.name} is not known {where}")
    worst, value = (max if gate.is_above else min)(values, key=lambda pair: pair[1])
    lost = _lost(comparison, gate)
    if lost is not None:
        return GateResult(gate, Outcome.NO_EVIDENCE, lost[0], lost[1])
    return GateResult(gate, Outcome.PASSED, worst.name, _say(worst, gate, value))


def _why_not(comparison: Comparison, gate: Gate) -> str:
    """Why nothing can be said; empty where something can."""
    if gate.is_change and not NO_VERDICT.isdisjoint(finding.code for finding in comparison.finding_list):
        return "the sides may not be compared"
    sources = comparison.before.peak_sources, comparison.after.peak_sources
    if gate.is_change and gate.name.startswith("bound.") and all(sources) and sources[0] != sources[1]:
        return "the ceilings of the sides come from different sources"
    if not _looked_at(comparison, gate):
        return "no kernel of both sides matches"
    return ""


def _lost(comparison: Comparison, gate: Gate) -> tuple[str, str] | None:
    """A kernel that a change has to be known of, and is not: it, or launches of it, are on one side only."""
    if not gate.is_change:
        return None
    for alone, word in ((comparison.gone, "is gone"), (comparison.new, "is new")):
        # Without an expression the whole job counts what is new; what is gone may not have been run.
        for lonely in alone if gate.kernel is not None or word == "is gone" else ():
            if _matches(gate, (lonely.key,)):
                return lonely.key.kernel, word
    for one in comparison.pairs:
        before, after = one.amounts.get("launches", (math.nan, math.nan))
        if after < before and one.rule == SAME and _matches(gate, (*one.before_keys, *one.after_keys)):
            return one.name, f"was launched {before:g} times before and {after:g} times after"
    return None


def _looked_at(comparison: Comparison, gate: Gate) -> list[Compared]:
    """The whole job, or every pair that matches; what is new is looked at where only the value after counts."""
    # The most registers of any kernel would hide the change of another one.
    if gate.kernel is None and gate.name != REGISTERS:
        return [comparison.whole]
    new = [] if gate.is_change else [one.of for one in comparison.new]
    return [one for one in (*comparison.pairs, *new) if _matches(gate, (*one.before_keys, *one.after_keys))]


def _matches(gate: Gate, keys: Sequence[Key]) -> bool:
    return gate.kernel is None or any(re.search(gate.kernel, key.kernel) for key in keys)


def _value(one: Compared, gate: Gate) -> float:
    """The change as a share of the value before, or the value after."""
    before, after = (one.value(gate.name, side) for side in (0, 1))
    if not gate.is_change:
        return after
    if before == 0.0:
        # New from nothing is more than any percentage.
        return math.inf if after > 0 else after
    # A share of what is below nothing says nothing.
    return after / before - 1.0 if before > 0 else math.nan


def _say(one: Compared, gate: Gate, value: float) -> str:
    before, after = (one.value(gate.name, side) for side in (0, 1))
    if not gate.is_change:
        return f"{gate.name} is {after:.6g}"
    change = "new" if math.isinf(value) else f"{value:+.2%}"
    return f"{gate.name} {change} ({before:.6g} to {after:.6g})"
