"""Values with the way to them, in names and in numbers, written out from the recipes of ``counters``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ncu_roofline.counters import CounterView, is_quantity, recipes
from ncu_roofline.maps import Alternative

_DIGITS: Final = 15


@dataclass(frozen=True)
class Expression:
    """A value with the way to it, in names and in numbers, and the metrics that it reads."""

    value: float
    formula: str
    numbers: str
    metrics: tuple[str, ...] = ()

    def in_brackets(self, *, unless: str = "x") -> Expression:
        """The same in brackets, if it has operators other than the given ones; fit to stand in a product."""
        if not set(re.findall(r" ([+/x]) ", self.formula)) - set(unless):
            return self
        return Expression(self.value, f"({self.formula})", f"({self.numbers})", self.metrics)


def weighted(view: CounterView, quantity: str, alternative: Alternative) -> list[Expression]:
    """The terms of an amount whose counters are known."""
    terms = [
        weigh(weight, expression_of(view, quantity, counter))
        for part in alternative.parts
        for counter, weight in part.work.items()
    ]
    return [term for term in terms if term is not None]


def expression_of(view: CounterView, quantity: str, counter: str) -> Expression | None:
    """The first recipe that is known, written out."""
    return first_of(
        _product(
            [_factor(view, name, way.counter) for name in way.factors],
            _factor(view, way.divisor, way.counter) if way.divisor else None,
            divided=way.divisor is not None,
        )
        for way in recipes(quantity, counter)
    )


def _factor(view: CounterView, name: str, counter: str) -> Expression | None:
    if is_quantity(name):
        return expression_of(view, name, counter)
    if name == "time":
        time = float(view.time[0])
        return None if math.isnan(time) else Expression(time, "time", text_of(time))
    return read_metric(view, name)


def read_metric(view: CounterView, name: str) -> Expression | None:
    """A metric as it was printed, in base units; None where it was not collected."""
    value = float(view.get(name)[0])
    return None if math.isnan(value) else Expression(value, name, text_of(value), (name,))


def _product(factors: Sequence[Expression | None], divisor: Expression | None, *, divided: bool) -> Expression | None:
    known = [factor.in_brackets() if len(factors) > 1 else factor for factor in factors if factor is not None]
    if len(known) < len(factors) or (divided and (divisor is None or divisor.value == 0)):
        return None
    product = known[0]
    for factor in known[1:]:
        product = Expression(
            product.value * factor.value,
            f"{product.formula} x {factor.formula}",
            f"{product.numbers} x {factor.numbers}",
            product.metrics + factor.metrics,
        )
    return product if divisor is None else divide(product, divisor)


def divide(above: Expression, below: Expression) -> Expression:
    """A quotient."""
    above, below = above.in_brackets(unless="x/"), below.in_brackets(unless="")
    return Expression(
        above.value / below.value,
        f"{above.formula} / {below.formula}",
        f"{above.numbers} / {below.numbers}",
        above.metrics + below.metrics,
    )


def weigh(weight: int, expression: Expression | None) -> Expression | None:
    """A weight times an expression."""
    if expression is None or weight == 1:
        return expression
    inner = expression.in_brackets()
    return Expression(weight * inner.value, f"{weight} x {inner.formula}", f"{weight} x {inner.numbers}", inner.metrics)


def total_of(terms: Sequence[Expression]) -> Expression:
    """The sum of terms."""
    return Expression(
        sum(term.value for term in terms),
        " + ".join(term.formula for term in terms),
        " + ".join(term.numbers for term in terms),
        tuple(name for term in terms for name in term.metrics),
    )


def first_of(candidates: Iterable[Expression | None]) -> Expression | None:
    """The first that is known."""
    return next((candidate for candidate in candidates if candidate is not None), None)


def text_of(value: float) -> str:
    """A number as it stands in a formula."""
    return f"{value:.{_DIGITS}g}"
