"""Several captures of one window put together: what each of them counted, for launches that are shown to be the same.

ncu can be asked for few metrics at a time, so that each run of the application needs one pass. Runs belong together
when they have the same launches in the same order; that is checked with everything that does not depend on time or
caches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ncu_roofline.arrays import FloatArray, ObjectArray, mapped
from ncu_roofline.errors import InputError
from ncu_roofline.normalise import Counters
from ncu_roofline.timings import with_arguments

_SAME: Final = ("kernel", "grid", "block", "cc")
_DEVICE: Final = "device__attribute_display_name"
_RATE: Final = ".sum.per_second"
_DETERMINISTIC: Final = re.compile(
    r"^(launch__|device__attribute_|opcode:|sm(sp)?__(sass_)?(thread_)?inst_executed|sm__ops_path_)"
)
_MEASURED: Final = re.compile(r"per_second|per_cycle|pct|peak_sustained|realtime")
"""Of these counters, the rollups that depend on time."""
_HELP: Final = "Without --merge the inputs are analysed one beside the other."


def merge(captures: Sequence[Counters], paths: Sequence[str], times: Sequence[str]) -> Counters:
    """The counters of several captures of the same launches; where two have a metric, that of the first.

    Args:
        captures: counters of each input.
        paths: how the inputs are called in messages.
        times: metrics that are durations, best first.

    Raises:
        InputError: at the first launch in which two of them disagree.

    """
    first = captures[0]
    for other, path in zip(captures[1:], paths[1:], strict=True):
        _refuse_other_launches(first, other, paths[0], path)
    values: dict[str, FloatArray] = {}
    rounding: dict[str, FloatArray] = {}
    for number, capture in enumerate(captures):
        for name, column in (capture.values if number == 0 else _with_own_time(capture, times)).items():
            if name not in values:
                values[name], rounding[name] = column.copy(), _half(capture, name).copy()
            else:
                gaps = np.isnan(values[name])
                values[name][gaps], rounding[name][gaps] = column[gaps], _half(capture, name)[gaps]
    texts = {name: column for capture in reversed(captures) for name, column in capture.texts.items()}
    opcodes = next((capture.opcodes for capture in captures if capture.opcodes), {})
    launches = {name: _filled([capture.launches[name] for capture in captures]) for name in first.launches}
    return replace(
        first, launches=launches, values=values, rounding=rounding, texts=texts, opcodes=opcodes,
        has_units=any(capture.has_units for capture in captures), captures=tuple(captures),
    )  # fmt: skip


def _with_own_time(capture: Counters, times: Sequence[str]) -> dict[str, FloatArray]:
    """Values of a capture, rates of it as totals: they belong to its own time and to no other."""
    time = _time(capture, times)
    found = {name: column for name, column in capture.values.items() if not name.endswith(_RATE)}
    for name, column in capture.values.items():
        total = name.removesuffix(".per_second")
        if name.endswith(_RATE) and total not in found and time is not None:
            found[total] = column * time
    return found


def _half(capture: Counters, name: str) -> FloatArray:
    known = capture.rounding.get(name)
    return np.zeros(len(capture)) if known is None else known


def _filled(columns: Sequence[ObjectArray]) -> ObjectArray:
    """What the first capture does not say, from those behind it."""
    result = columns[0].copy()
    for column in columns[1:]:
        if result.dtype == object:
            gaps = result == None  # noqa: E711 (element by element)
            result[gaps] = column[gaps]
    return result


def times_apart(captures: Sequence[Counters], times: Sequence[str]) -> float:
    """How far the longest total time of the captures is above the shortest one, as a fraction; NaN if one has none."""
    known = np.array([_total_time(capture, times) for capture in captures])
    return float(known.max() / known.min() - 1) if (known > 0).all() else np.nan


def _time(capture: Counters, times: Sequence[str]) -> FloatArray | None:
    return next((capture.values[name] for name in times if name in capture.values), None)


def _total_time(capture: Counters, times: Sequence[str]) -> float:
    column = _time(capture, times)
    return float("nan") if column is None else float(np.nansum(column))


def _refuse_other_launches(first: Counters, other: Counters, path: str, other_path: str) -> None:
    if len(first) != len(other):
        raise InputError(other_path, f"has {len(other)} launches, {path} has {len(first)}: not the same window", _HELP)
    differences = list(_differences(first, other))
    if differences:
        launch, what = min(differences)
        kernels = (side.launches[name][launch] for name in ("kernel", "function", "mangled") for side in (first, other))
        raise InputError(
            other_path, f"launch {launch} is not that of {path}: {what}", _HELP, kernels=tuple(filter(None, kernels))
        )


def _differences(first: Counters, other: Counters) -> Iterator[tuple[int, str]]:
    """The first launch in which each thing differs that both know."""
    for name in _SAME:
        plain = _as_of_any_form if name == "kernel" else _plain
        mine, theirs = (mapped(plain, side.launches[name].tolist()) for side in (first, other))
        apart = (mine != theirs) & (mine != None) & (theirs != None)  # noqa: E711 (element by element)
        if apart.any():
            launch = int(np.flatnonzero(apart)[0])
            yield launch, f"{name} {first.launches[name][launch]} and {other.launches[name][launch]}"
    devices, others = (side.texts.get(_DEVICE, ()) for side in (first, other))
    for launch, (one, two) in enumerate(zip(devices, others, strict=False)):
        if one and two and one != two:
            yield launch, f"device {one} and {two}"
            break
    for name in first.values.keys() & other.values.keys():
        if _DETERMINISTIC.match(name) and not _MEASURED.search(name):
            apart = np.abs(first.values[name] - other.values[name]) > first.rounding[name] + other.rounding[name]
            if apart.any():
                launch = int(np.flatnonzero(apart)[0])
                yield launch, f"{name} {first.values[name][launch]:.15g} and {other.values[name][launch]:.15g}"


def _as_of_any_form(name: str | None) -> str | None:
    """A kernel name without namespaces, which binary reports print and tables leave out."""
    return None if name is None else with_arguments(name)


def _plain(text: str | None) -> str | None:
    """A printed text without the blanks that some forms have in it."""
    return None if text is None else " ".join(text.replace("(", "( ").split()).replace("( ", "(")
