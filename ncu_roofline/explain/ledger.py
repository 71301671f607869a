"""The ledger of a launch explained: what the problem needs, and what of it was executed and moved."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ncu_roofline.explain.expression import text_of
from ncu_roofline.explain.values import Explained, Launch, Step

LEDGER = "ledger"


def explain_ledger(found: Launch) -> Explained:
    """Useful work and compulsory bytes as stated, useful work per second, and both ratios to the counters."""
    remark = f"{found.row['ledger']}; stated with --work or --expect, of all invocations"
    return Explained(LEDGER, None, None, remark, tuple(_steps(found)), (), None, None, None)


def _steps(found: Launch) -> Iterator[Step]:
    unit = str(found.row["ledger.unit"])
    for name, of in (("ledger.work", unit), ("ledger.read", "byte"), ("ledger.written", "byte")):
        value = found.number(name)
        if not math.isnan(value):
            yield Step(name, value, of, name, text_of(value))
    compulsory = ("traffic.dram.compulsory", "byte", "ledger.read", "+", "ledger.written")
    rate = ("ledger.rate", f"{unit}/s", "ledger.work", "/", "time")
    padding = ("ledger.padding", "1", "ledger.executed", "/", "ledger.work")
    traffic = ("ledger.traffic", "1", "traffic.dram.bytes", "/", "traffic.dram.compulsory")
    for name, of, left, sign, right in (compulsory, rate, padding, traffic):
        value = found.number(name)
        if not math.isnan(value):
            numbers = f"{text_of(found.number(left))} {sign} {text_of(found.number(right))}"
            yield Step(name, value, of, f"{left} {sign} {right}", numbers)
