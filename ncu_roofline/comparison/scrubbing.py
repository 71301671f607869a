"""A comparison without names of people, machines, places and, if asked for, kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ncu_roofline.comparison.compared import WHOLE, Alone, Compared, Comparison
from ncu_roofline.comparison.gate import Gate, GateResult
from ncu_roofline.comparison.pairing import GIVEN
from ncu_roofline.comparison.side import Key, Side
from ncu_roofline.scrub import Scrubber, scrubber

_EXPRESSION: Final = "kernels"
"""Stands for a regular expression of the user, which may be the name of a kernel."""


def scrubber_of(*sides: Side, kernels: bool) -> Scrubber:
    """A scrubber that knows the reports of some sides and, if they are to go, their kernels and ranges."""
    made = scrubber([source.name for side in sides for source in side.sources], kernels=kernels)
    for key in (key for side in sides for key in side.keys if kernels):
        made.kernel(key.kernel)
        if key.range:
            made.replacement("range", key.range)
    return made


def scrubbed_side(side: Side, made: Scrubber) -> Side:
    """A side with other names; its numbers stay."""
    sources = tuple(replace(source, name=made.text(source.name)) for source in side.sources)
    return replace(side, sources=sources, keys=tuple(_key(key, made) for key in side.keys))


def scrubbed(comparison: Comparison, made: Scrubber) -> Comparison:
    """A comparison with other names, pairs and verdicts as they are."""
    return replace(
        comparison,
        before=scrubbed_side(comparison.before, made),
        after=scrubbed_side(comparison.after, made),
        whole=_compared(comparison.whole, made),
        pairs=tuple(_compared(one, made) for one in comparison.pairs),
        gone=tuple(Alone(_key(one.key, made), one.time, _compared(one.of, made)) for one in comparison.gone),
        new=tuple(Alone(_key(one.key, made), one.time, _compared(one.of, made)) for one in comparison.new),
        finding_list=tuple(replace(finding, message=made.text(finding.message)) for finding in comparison.finding_list),
    )


def scrubbed_gate(result: GateResult, made: Scrubber) -> GateResult:
    """What became of a gate, whose regular expression may be the name of a kernel."""
    gate = result.gate
    if made.kernels and isinstance(gate, Gate) and gate.kernel is not None:
        gate = replace(gate, text=f"{gate.text.removesuffix(gate.kernel)}{_EXPRESSION}", kernel=_EXPRESSION)
    subject = result.subject
    if subject is not None and subject != WHOLE:
        subject = made.text(subject)
    return replace(result, gate=gate, subject=subject)


def _compared(one: Compared, made: Scrubber) -> Compared:
    return replace(
        one,
        name=one.name if one.name == WHOLE else made.text(one.name),
        rule=GIVEN if made.kernels and one.rule.startswith(GIVEN) else made.text(one.rule),
        before_keys=tuple(_key(key, made) for key in one.before_keys),
        after_keys=tuple(_key(key, made) for key in one.after_keys),
    )


def _key(key: Key, made: Scrubber) -> Key:
    return replace(key, kernel=made.text(key.kernel), range=None if key.range is None else made.text(key.range))
