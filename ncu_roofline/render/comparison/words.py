"""What is said of a comparison in every output: verdicts, factors, amounts; percentages are of the value before."""

from __future__ import annotations

import math
from typing import Final

from ncu_roofline.comparison import Alone, Compared, Comparison, GateResult, Noise, Side, Spread, Verdict
from ncu_roofline.comparison.noise import EQUAL
from ncu_roofline.formats import UNKNOWN, percent, quantity, seconds
from ncu_roofline.vocabulary import work_unit
from ncu_roofline.wording import count

_FACTORS: Final = ("work", "traffic", "ceilings", "efficiency")
NOISE_UNKNOWN: Final = "noise not known"


def speed(one: Compared) -> str:
    """How much faster or slower: ``1.25x faster``, ``1.10x slower``, ``same time``."""
    if math.isnan(one.ratio) or one.ratio <= 0.0:
        return "times not known"
    if one.ratio == 1.0:
        return "same time"
    return f"{1 / one.ratio:.4g}x faster" if one.ratio < 1.0 else f"{one.ratio:.4g}x slower"


def verdict(one: Compared) -> str:
    """The verdict with its number, where there is one."""
    if one.verdict is Verdict.INCOMPARABLE:
        return str(one.verdict.value)
    if one.verdict is Verdict.INDISTINGUISHABLE:
        return "same time" if one.ratio == 1.0 else f"indistinguishable ({change(one.ratio)})"
    return f"{one.verdict.value}, {speed(one)}"


def change(ratio: float) -> str:
    """A ratio as a change in percent of the value before."""
    return UNKNOWN if math.isnan(ratio) else f"{ratio - 1.0:+.1%}"


def amount_change(before: float, after: float) -> str:
    """How an amount changed: in percent of what it was, new from nothing, gone, or not at all."""
    if math.isnan(before) or math.isnan(after):
        return UNKNOWN
    if math.isclose(before, after, rel_tol=EQUAL):
        return "="
    return "new" if before == 0.0 else change(after / before)


def time_change(one: Compared) -> str:
    """How the time changed, unless that may not be said."""
    return UNKNOWN if one.verdict is Verdict.INCOMPARABLE else change(one.ratio)


def times(one: Compared) -> str:
    """Median before and after, with the range where there are repeats."""
    return f"{spread(one.before)} -> {spread(one.after)}"


def spread(samples: Spread) -> str:
    """A median, with its range where there are repeats."""
    if samples.samples < 2:
        return seconds(samples.median)
    return f"{seconds(samples.median)} ({seconds(samples.low)} to {seconds(samples.high)}, {samples.samples} samples)"


def noise(found: Noise) -> str:
    """What repeats can tell apart."""
    if not found.is_known:
        return f"{NOISE_UNKNOWN}: a side has one sample"
    return (
        f"differences above {found.significant:.1%} are significant, those above {found.detectable:.1%} are found in "
        "four of five comparisons"
    )


def factors(one: Compared) -> list[str]:
    """Factors of the time in their order, ``1.00`` where nothing changed; unknown ones are dashes."""
    found = one.factors
    if found is None or math.isnan(found.time) or one.verdict is Verdict.INCOMPARABLE:
        return [UNKNOWN] * len(_FACTORS)
    if not found.has_bound:
        return [UNKNOWN] * (len(_FACTORS) - 1) + [f"{found.efficiency:.3f}"]
    return [f"{value:.3f}" for value in (found.work, found.traffic, found.ceilings, found.efficiency)]


def bound(one: Compared) -> str:
    """What binds, and where it moved."""
    before, after = (by or UNKNOWN for by in one.bound)
    return before if before == after else f"{before} -> {after}"


def cause(one: Compared) -> str:
    """The factors as a sentence, the strongest first; empty where no bound is known on both sides."""
    found = one.factors
    if found is None or not found.has_bound or one.verdict is Verdict.INCOMPARABLE:
        return ""
    named = zip(_FACTORS, (found.work, found.traffic, found.ceilings, found.efficiency), strict=True)
    moved = sorted(
        ((value, name) for name, value in named if abs(value - 1.0) >= 0.005), key=lambda pair: -abs(math.log(pair[0]))
    )
    if not moved:
        return ""
    said = " x ".join(f"{name} {value:.3f}" for value, name in moved)
    return f"time x {found.time:.3f} = {said}"


def amounts(one: Compared) -> list[tuple[str, str, str, str]]:
    """Name, before, after and change of every amount that a side knows."""
    rows = []
    for name, (before, after) in one.amounts.items():
        parts = name.split(".")
        unit = "B" if parts[0] == "traffic" else work_unit(".".join(parts[1:-1])) if parts[0] == "work" else ""
        change_ = amount_change(before, after)
        rows.append((name, _amount(name, before, unit), _amount(name, after, unit), change_))
    first, second = (one.value("bound.fraction", side) for side in (0, 1))
    if not (math.isnan(first) and math.isnan(second)):
        rows.append(("bound.fraction", percent(first), percent(second), _points(first, second)))
    return rows


def _points(before: float, after: float) -> str:
    """How a share changed, in percentage points."""
    if math.isnan(before) or math.isnan(after):
        return UNKNOWN
    return "=" if math.isclose(before, after, rel_tol=EQUAL) else f"{100 * (after - before):+.1f} pp"


def _amount(name: str, value: float, unit: str) -> str:
    if math.isnan(value):
        return UNKNOWN
    if name in ("launches", "registers", "spills"):
        return f"{value:g}"
    return seconds(value) if name == "bound.time" else quantity(value, unit)


def side(known: Side) -> str:
    """Names of the reports, their device, and how they were measured."""
    names = ", ".join(source.name for source in known.sources[:3])
    more = f" and {known.samples - 3} more" if known.samples > 3 else ""
    conditions = [
        f"{word} {' and '.join(values)}"
        for name, word in (
            ("cache_control", "cache control"),
            ("clock_control", "clock control"),
            ("ncu_version", "ncu"),
        )
        if (values := sorted({str(one.conditions[name]) for one in known.sources if one.conditions.get(name)}))
    ]
    return ", ".join([f"{names}{more}", *(device.label for device in known.devices), *conditions])


def tally(comparison: Comparison) -> str:
    """How many pairs became what, and how many kernels are on one side only."""
    counts = [
        f"{number} {verdict_.value}"
        for verdict_ in Verdict
        if (number := sum(one.verdict is verdict_ for one in comparison.pairs))
    ]
    alone = [f"{len(some)} {word}" for some, word in ((comparison.gone, "gone"), (comparison.new, "new")) if some]
    return "; ".join([f"{count(len(comparison.pairs), 'pair')}: {', '.join(counts) or 'none'}", *alone])


def alone(one: Alone) -> str:
    """A kernel of one side with its time."""
    return f"{one.key.kernel or 'kernel not named'} ({seconds(one.time)})"


def gate(result: GateResult) -> str:
    """What became of a gate, and why."""
    return f"{result.outcome.value}: {result.gate.text}: {result.message}"


def shown(comparison: Comparison) -> list[tuple[int, Compared]]:
    """Pairs that changed, with their numbers in the table; the others are counted."""
    return [(number, one) for number, one in enumerate(comparison.pairs, start=1) if one.is_changed]
