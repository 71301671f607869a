"""Kinds of problems of a user: parameters and sums of products of them, read from YAML, and no other arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from ncu_roofline.launch_filter import KEYS
from ncu_roofline.ledger.problem import Kind, Ledger, Parameter, Parameters, as_number
from ncu_roofline.strict_yaml import YamlFile
from ncu_roofline.vocabulary import PATHS, work_unit

_KEYS: Final = ("parameters", "work", "read", "written", "path", "assumes")
_AMOUNTS: Final = ("work", "read", "written")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_STAGES: Final = "stages"
"""The name of a command beside those of the kinds."""
_RESERVED: Final = frozenset(
    {
        *KEYS,
        "kind",
        "name",
        "count",
        "sweep",
        "crossing",
        "figure",
        "device",
        "ceilings",
        "peak",
        "bandwidth",
        "format",
        "output",
        "o",
        "help",
        "h",
    }
)
"""Names of options and of keys of entries."""
_DEFAULT_PATH: Final = "fp32"

Terms = Sequence[Sequence[float | str]]
"""A sum of products; texts are parameters."""


def read_kinds(file: YamlFile, entries: Any, taken: Mapping[str, Kind]) -> dict[str, Kind]:
    """The kinds below ``$.kinds`` of a file; what is wrong with them is reported there."""
    found = {}
    for name, entry in file.mapping("$.kinds", entries).items():
        where = f"$.kinds.{name}"
        if not _NAME.fullmatch(name):
            file.report(where, f"{name!r} must consist of small letters, digits and _")
        elif name in taken or name == _STAGES:
            file.report(where, f"{name!r} is the name of a kind or command that is there already")
        else:
            found[name] = _kind(file, where, name, file.mapping(where, entry))
    return found


def _kind(file: YamlFile, where: str, name: str, entry: Mapping[str, Any]) -> Kind:
    file.only(where, entry, _KEYS)
    parameters = {}
    for key, default in file.mapping(f"{where}.parameters", entry.get("parameters", {})).items():
        number = as_number(default)
        if key in _RESERVED:
            file.report(f"{where}.parameters.{key}", f"{key!r} is the name of an option or key; call it otherwise")
        elif not _NAME.fullmatch(key) or (default is not None and number is None):
            file.report(
                f"{where}.parameters.{key}", f"{key}: {default!r} must be a number, or null if it must be given"
            )
        else:
            parameters[key] = Parameter("of your own", number, (), whole=False)
    terms = {amount: _terms(file, f"{where}.{amount}", entry.get(amount), parameters) for amount in _AMOUNTS}
    if not any(terms.values()):
        file.report(where, f"needs {', '.join(_AMOUNTS)}, or some of them")
    path = entry.get("path", _DEFAULT_PATH)
    if path not in PATHS:
        file.report(f"{where}.path", f"{path!r} is no instruction path; known are {', '.join(PATHS)}")
        path = _DEFAULT_PATH
    assumes = entry.get("assumes", [])
    if not (isinstance(assumes, list) and all(isinstance(one, str) for one in assumes)):
        file.report(f"{where}.assumes", "must be a list of texts")
        assumes = []
    formula = "; ".join(f"{amount} {_said(terms[amount])}" for amount in _AMOUNTS if terms[amount])
    return Kind(parameters, formula, partial(_ledger, name, terms, path), tuple(assumes))


def _terms(file: YamlFile, where: str, entry: Any, known: Mapping[str, object]) -> Terms:
    if entry is None:
        return ()
    if not isinstance(entry, list) or not entry or not all(isinstance(term, list) and term for term in entry):
        file.report(where, "must be a list of products, each a list of numbers and parameters: [[2, m, n, k]]")
        return ()
    for number, term in enumerate(entry):
        for factor in term:
            if not (isinstance(factor, str) and factor in known) and as_number(factor) is None:
                file.report(f"{where}[{number}]", f"{factor!r} is neither a number nor one of {', '.join(known)}")
    # YAML 1.1 reads 1e9 as a text.
    return tuple(
        tuple(factor if isinstance(factor, str) and factor in known else as_number(factor) or 0.0 for factor in term)
        for term in entry
    )


def _said(terms: Terms) -> str:
    return " + ".join(" x ".join(map(str, term)) for term in terms)


def _ledger(name: str, terms: Mapping[str, Terms], path: str, values: Parameters) -> Ledger:
    work, read, written = (_sum(terms[amount], values) for amount in _AMOUNTS)
    if not (terms["read"] or terms["written"]):
        read = written = math.nan
    sizes = ", ".join(f"{key} {value:g}" for key, value in values.items())
    title = f"{name}: {sizes}" if sizes else name
    return Ledger(title, work if terms["work"] else math.nan, work_unit(path), read, written, (path,))


def _sum(terms: Terms, values: Parameters) -> float:
    return sum(
        math.prod(float(values[factor]) if isinstance(factor, str) else factor for factor in term) for term in terms
    )
