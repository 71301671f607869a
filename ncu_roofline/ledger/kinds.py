"""All kinds of problems, and what is wrong with the values that somebody gives for one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ncu_roofline.ledger import attention, matrix, vector
from ncu_roofline.ledger.problem import Kind, Ledger

KINDS: Final[Mapping[str, Kind]] = {**matrix.KINDS, **attention.KINDS, **vector.KINDS}
"""Kinds of problems by name."""


def problems_of(name: str, kind: Kind, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with values of parameters, with the parameter each is about (empty: the problem as a whole)."""
    wrong = False
    for key, value in given.items():
        if key not in kind.parameters:
            wrong = True
            yield key, f"{name} has no parameter {key!r}; it has {', '.join(kind.parameters)}"
        elif problem := kind.parameters[key].problem(value):
            wrong = True
            yield key, f"{key} is {problem}"
    for key, parameter in kind.parameters.items():
        if parameter.default is None and key not in given:
            wrong = True
            yield "", f"{name} needs {key}"
    if not wrong and (problem := kind.impossible(kind.complete(given)) or _too_large(kind.ledger(given))):
        yield "", problem


def _too_large(ledger: Ledger) -> str:
    amounts = (ledger.work, ledger.read, ledger.written, *ledger.details.values())
    return "work or bytes are beyond all numbers" if any(map(math.isinf, amounts)) else ""
