"""Several captures of one window put together: what each of them counted, for launches that are shown to be the same.

ncu can be asked for few metrics at a time, so that each run of the application needs one pass. Runs belong together
when they have the same launches in the same order; that is checked with everything that does not depend on time or
caches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ncu_roofline.arrays import FloatArray
from ncu_roofline.errors import InputError
from ncu_roofline.normalise import Counters

_SAME: Final = ("kernel", "grid", "block", "cc")
_DETERMINISTIC: Final = re.compile(
    r"^(launch__|device__attribute_|opcode:|sm(sp)?__(sass_)?(thread_)?inst_executed|sm__ops_path_)"
)
_MEASURED: Final = re.compile(r"per_second|per_cycle|pct|peak_sustained|realtime")
"""Of these counters, the rollups that depend on time."""
_HELP: Final = "Without --merge the inputs are analysed one beside the other."


def merge(captures: Sequence[Counters], paths: Sequence[str]) -> Counters:
    """The counters of several captures of the same launches; where two have a metric, that of the first.

    Args:
        captures: counters of each input.
        paths: how the inputs are called in messages.

    Raises:
        InputError: at the first launch in which two of them disagree.

    """
    first = captures[0]
    for other, path in zip(captures[1:], paths[1:], strict=True):
        _refuse_other_launches(first, other, paths[0], path)
    values: dict[str, FloatArray] = {}
    rounding: dict[str, FloatArray] = {}
    for capture in captures:
        for name, column in capture.values.items():
            if name not in values:
                values[name], rounding[name] = column.copy(), capture.rounding[name].copy()
            else:
                gaps = np.isnan(values[name])
                values[name][gaps], rounding[name][gaps] = column[gaps], capture.rounding[name][gaps]
    texts = {name: column for capture in reversed(captures) for name, column in capture.texts.items()}
    opcodes = next((capture.opcodes for capture in captures if capture.opcodes), {})
    return replace(
        first, values=values, rounding=rounding, texts=texts, opcodes=opcodes,
        has_units=any(capture.has_units for capture in captures), captures=tuple(captures),
    )  # fmt: skip


def times_apart(captures: Sequence[Counters], metrics: Iterable[str]) -> float:
    """How far the longest total time of the captures is above the shortest one, as a fraction; NaN if one has none."""
    known = [_total_time(capture, tuple(metrics)) for capture in captures]
    return max(known) / min(known) - 1 if min(known) > 0 else np.nan


def _total_time(capture: Counters, metrics: Sequence[str]) -> float:
    column = next((capture.values[name] for name in metrics if name in capture.values), None)
    return float("nan") if column is None else float(np.nansum(column))


def _refuse_other_launches(first: Counters, other: Counters, path: str, other_path: str) -> None:
    if len(first) != len(other):
        raise InputError(other_path, f"has {len(other)} launches, {path} has {len(first)}: not the same window", _HELP)
    differences = list(_differences(first, other))
    if differences:
        launch, what = min(differences)
        raise InputError(other_path, f"launch {launch} is not that of {path}: {what}", _HELP)


def _differences(first: Counters, other: Counters) -> Iterator[tuple[int, str]]:
    """The first launch in which each thing differs that both know."""
    for name in _SAME:
        mine, theirs = first.launches[name], other.launches[name]
        apart = (mine != theirs) & (mine != None) & (theirs != None)  # noqa: E711 (element by element)
        if apart.any():
            launch = int(np.flatnonzero(apart)[0])
            yield launch, f"{name} {mine[launch]} and {theirs[launch]}"
    for name in first.values.keys() & other.values.keys():
        if _DETERMINISTIC.match(name) and not _MEASURED.search(name):
            apart = np.abs(first.values[name] - other.values[name]) > first.rounding[name] + other.rounding[name]
            if apart.any():
                launch = int(np.flatnonzero(apart)[0])
                yield launch, f"{name} {first.values[name][launch]:.15g} and {other.values[name][launch]:.15g}"
