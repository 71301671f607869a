"""Who the launches of an analysis are: identity as printed, turned into numbers and tuples, over all inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, Columns, FloatArray, ObjectArray, joined, mapped, nothing, objects, unknown
from ncu_roofline.devices import match_device
from ncu_roofline.errors import UsageError
from ncu_roofline.maps import MetricMap
from ncu_roofline.normalise import Counters
from ncu_roofline.vocabulary import DEFAULT_DOMAIN, GRAPH, KERNEL, RANGE, is_compute_capability

_DIMENSIONS = re.compile(r"\(\s*([0-9]{1,10}),\s*([0-9]{1,10}),\s*([0-9]{1,10})\s*\)")
_ORDINAL = re.compile(r"[0-9]{1,9}")
_NOT_PRINTED = (None, "", "n/a")
_FORMS: dict[str, Callable[[str], object]] = {
    "grid": _DIMENSIONS.fullmatch,
    "block": _DIMENSIONS.fullmatch,
    "device_ordinal": _ORDINAL.fullmatch,
    "cc": is_compute_capability,
}
"""What the columns of the identity have to look like."""
_NVTX_ENTRY = re.compile(r'"([^"]*)"')


def identify(counters: Sequence[Counters], base: MetricMap) -> Columns:
    """Who each launch is; arrays over the launches of all inputs."""
    printed = {name: joined([c.launches[name] for c in counters]) for name in counters[0].launches}
    columns: Columns = {
        "launch": np.arange(len(printed["line"])),
        "input": np.repeat(np.arange(len(counters)), [len(counter) for counter in counters]),
    }
    columns |= {name: printed[name] for name in ("ncu_id", "process", "kernel", "function", "mangled")}
    columns |= {name: mapped(_dimensions, printed[name].tolist()) for name in ("grid", "block")}
    columns |= {name: printed[name] for name in ("stream", "context")}
    columns["device"] = joined([_text(counter, base, "name") for counter in counters])
    columns["cc"] = joined([_compute_capability(counter, base) for counter in counters])
    columns["device_ordinal"] = joined([_ordinals(counter, base) for counter in counters])
    columns["invocations"] = mapped(_count, printed["invocations"].tolist()).astype(np.int64)
    columns["nvtx"] = _nvtx(printed["nvtx_push_pop"], printed["nvtx_start_stop"], printed["nvtx"])
    columns["line"] = printed["line"].astype(np.int64)
    inside = np.flatnonzero(columns["nvtx"].astype(np.bool_))
    columns["kernel"] = _without_ranges(columns["kernel"], columns["nvtx"], inside)
    columns["kind"] = _kinds(printed["kind"], columns["kernel"], printed["grid"], printed["block"])
    columns["kernel"] = _named(columns["kernel"], columns["kind"], columns["nvtx"], inside)
    return columns


def _kinds(stored: ObjectArray, kernels: ObjectArray, grids: ObjectArray, blocks: ObjectArray) -> ObjectArray:
    """What each entry is a result of: as stored, else by the name that ncu prints where there is no grid and block."""
    found = np.where(stored == None, KERNEL, stored)  # noqa: E711 (element by element)
    may_be = (stored == None) & mapped(lambda name: name in (RANGE, GRAPH), kernels.tolist()).astype(np.bool_)  # noqa: E711
    for launch in np.flatnonzero(may_be):
        if {grids[launch], blocks[launch]} <= {None, "n/a"}:
            found[launch] = kernels[launch]
    return found


def _named(kernels: ObjectArray, kinds: ObjectArray, nvtx: ObjectArray, inside: npt.NDArray[np.intp]) -> ObjectArray:
    """Names of entries: ranges and graphs have that of the innermost NVTX range around them, as in ``step (range)``."""
    found = kernels.copy() if len(inside) else kernels
    for launch in inside:
        if kinds[launch] in (RANGE, GRAPH):
            domain = nvtx[launch][0][0]
            innermost = [name for of, name in nvtx[launch] if of == domain][-1]
            found[launch] = f"{innermost} ({kernels[launch]})"
    return found


def _without_ranges(kernels: ObjectArray, nvtx: ObjectArray, inside: npt.NDArray[np.intp]) -> ObjectArray:
    """Kernel names without the NVTX ranges that ``--print-nvtx-rename kernel`` puts before them, as in ``step/k(int)``.

    Only ranges that the launch is in are taken off; ``inside`` are the launches that are in any.
    """
    found = kernels.copy() if len(inside) else kernels
    for launch in inside:
        name, ranges = kernels[launch] or "", {f"{name}/" for _, name in nvtx[launch]}
        while begin := next(filter(name.startswith, ranges), ""):
            name = name.removeprefix(begin)
        found[launch] = name or None
    return found


@dataclass(frozen=True)
class Grids:
    """Launches whose grid was printed in threads and is now in blocks, and those whose sizes contradict each other."""

    in_threads: BoolArray
    contradicting: BoolArray
    blocks: FloatArray
    """How many blocks each launch has by its own metric, NaN where that was not collected."""


def grids_in_blocks(launches: Columns, blocks: FloatArray) -> Grids:
    """Bring grids that were printed in threads, as ncu did up to 2020, to blocks.

    Args:
        launches: who they are; the column ``grid`` is changed.
        blocks: how many blocks each launch has by its own metric, NaN where that was not collected.

    """
    size = len(blocks)
    found = Grids(np.zeros(size, np.bool_), np.zeros(size, np.bool_), blocks)
    if np.isnan(blocks).all():
        return found
    grids, threads = launches["grid"], launches["block"]
    products = mapped(lambda grid: None if grid is None else math.prod(grid), grids.tolist())
    for launch in np.flatnonzero(~np.isnan(blocks) & (products != None) & (products != blocks)).tolist():  # noqa: E711
        block = threads[launch] or (1, 1, 1)
        in_blocks = tuple(count // size for count, size in zip(grids[launch], block, strict=True))
        whole = all(count % size == 0 for count, size in zip(grids[launch], block, strict=True))
        if whole and math.prod(in_blocks) == blocks[launch]:
            grids[launch] = in_blocks
            found.in_threads[launch] = True
        else:
            found.contradicting[launch] = True
    return found


def state_compute_capability(launches: Columns, cc: str | None) -> tuple[str, ...]:
    """Put the user's compute capability where the report states none; what to say if it does so nowhere."""
    if cc is None:
        return ()
    unstated = launches["cc"] == None  # noqa: E711 (element by element)
    launches["cc"][unstated] = cc
    return () if unstated.any() else (f"--cc {cc} has no effect: every launch states its compute capability",)


def state_device(launches: Columns, device: str | None) -> tuple[str, ...]:
    """Put the user's device where the report states none; what to say if it does so nowhere.

    Raises:
        UsageError: if the name means no product, or one that the launches cannot have run on.

    """
    if device is None:
        return ()
    unnamed = launches["device"] == None  # noqa: E711 (element by element)
    for cc in dict.fromkeys(launches["cc"][unnamed].tolist()) or (None,):
        match = match_device(device, compute_capability=cc)
        if match.device is None:
            raise UsageError("device", device, match.reason)
    launches["device"][unnamed] = device
    return () if unnamed.any() else (f"--device {device} has no effect: every launch states its device",)


def not_understood(printed: Columns) -> tuple[tuple[str, BoolArray, str, int], ...]:
    """Columns of grid, block, device and compute capability that have something else.

    Of each its name, the launches, and the text and line of the first.
    """
    found = []
    for name, fits in _FORMS.items():
        odd = {text for text in set(printed[name].tolist()) if text not in _NOT_PRINTED and not fits(text)}
        if odd:
            hit = mapped(odd.__contains__, printed[name].tolist()).astype(np.bool_)
            first = int(np.flatnonzero(hit)[0])
            found.append((name, hit, str(printed[name][first]), int(printed["line"][first])))
    return tuple(found)


def _compute_capability(counters: Counters, base: MetricMap) -> ObjectArray:
    """CC column, else the device attributes."""
    printed = mapped(
        lambda text: text if text and is_compute_capability(text) else None, counters.launches["cc"].tolist()
    )
    major = counters.values.get(base.attributes["cc_major"], unknown(len(counters)))
    minor = counters.values.get(base.attributes["cc_minor"], unknown(len(counters)))
    for launch in np.flatnonzero(printed == None):  # noqa: E711 (element by element)
        if not np.isnan(major[launch] + minor[launch]):
            printed[launch] = f"{major[launch]:.0f}.{minor[launch]:.0f}"
    return printed


def _text(counters: Counters, base: MetricMap, attribute: str) -> ObjectArray:
    texts = counters.texts.get(base.attributes[attribute])
    return objects(texts) if texts else nothing(len(counters))


def _dimensions(text: str | None) -> tuple[int, ...] | None:
    """``(128, 1, 1)`` as a tuple; None where it was not printed or is the (0, 0, 0) of a failed launch."""
    match = _DIMENSIONS.fullmatch(text or "")
    value = tuple(map(int, match.groups())) if match else ()
    return value if value and all(value) else None


def _ordinals(counters: Counters, base: MetricMap) -> ObjectArray:
    """Device column, else the device attributes."""
    printed = mapped(_ordinal, counters.launches["device_ordinal"].tolist())
    index = counters.values.get(base.attributes["device_index"])
    if index is None:
        return printed
    known = [None if np.isnan(value) else int(value) for value in index.tolist()]
    return np.where(printed == None, objects(known), printed)  # noqa: E711 (element by element)


def _ordinal(text: str | None) -> int | None:
    return int(text) if text and _ORDINAL.fullmatch(text) else None


def _count(text: str | None) -> int:
    """How many launches an entry stands for; numbers of a summary may have separators."""
    digits = re.sub(r"\D", "", text or "")
    return int(digits) if digits else 1


def _nvtx(push_pop: ObjectArray, start_stop: ObjectArray, stored: ObjectArray) -> ObjectArray:
    """NVTX ranges around each launch as (domain, range) pairs, default domain first; None where there are none."""
    ranges = [mapped(_nvtx_ranges, column.tolist()) for column in (push_pop, start_stop)] + [stored]
    found = nothing(len(stored))
    for launch in np.flatnonzero(np.any([column.astype(np.bool_) for column in ranges], axis=0)):
        pairs = [pair for column in ranges for pair in column[launch] or ()]
        found[launch] = tuple(sorted(pairs, key=lambda pair: pair[0] != DEFAULT_DOMAIN))
    return found


def _nvtx_ranges(text: str | None) -> tuple[tuple[str, str], ...]:
    return tuple(_nvtx_range(entry) for entry in _NVTX_ENTRY.findall(text or ""))


def _nvtx_range(entry: str) -> tuple[str, str]:
    """Domain and name of an entry ``Domain:Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg``.

    A range name may have colons of its own.
    """
    fields = entry.split(":")
    name = ":".join(fields[1:-6]) if len(fields) >= 8 else ":".join(fields[1:2])
    return fields[0], name
