"""Launches held against times of other producers: rates where the conditions allow it.

Work depends neither on caches nor on clocks, so its rate may be formed with any time of the same launch. Bytes are
those of the caches that they were counted with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, Columns, ObjectArray, mapped, objects, ratio
from ncu_roofline.conditions import Conditions
from ncu_roofline.devices import product_of
from ncu_roofline.timings import Timings, join
from ncu_roofline.vocabulary import PATHS, TIERS

_WITHOUT_CACHES: Final = frozenset({"shared"})
"""Tiers whose bytes do not depend on what is in the caches."""


def external_columns(table: Columns, timings: Sequence[Timings], conditions: Sequence[Conditions]) -> Columns:
    """Columns of times from elsewhere and of rates with them.

    Args:
        table: the launches.
        timings: what was read, the first file first.
        conditions: of each input.

    """
    columns = join(table, timings)
    time, file = columns["external.time"], columns["external.file"]
    known = [found.conditions for found in timings]
    columns["external.source"] = objects(timings[n].path if n >= 0 else None for n in file)
    columns["external.cache_control"] = objects(known[n].cache_control if n >= 0 else None for n in file)
    columns["external.clock_control"] = objects(known[n].clock_control if n >= 0 else None for n in file)
    ours = objects(conditions[number].cache_control for number in table["input"])
    same = np.array(
        [
            mine is not None and mine == theirs
            for mine, theirs in zip(ours, columns["external.cache_control"], strict=True)
        ]
    )
    for path in PATHS:
        if f"work.{path}.count" in table:
            columns[f"work.{path}.external_rate"] = ratio(table[f"work.{path}.count"], time)
    for tier in TIERS:
        if f"traffic.{tier}.bytes" in table:
            rate = ratio(table[f"traffic.{tier}.bytes"], time)
            columns[f"traffic.{tier}.external_rate"] = rate if tier in _WITHOUT_CACHES else np.where(same, rate, np.nan)
    columns["external.other_device"] = _of_another_device(table["device"], file, timings)
    del columns["external.file"], columns["external.row"]
    return columns


def _of_another_device(devices: ObjectArray, file: npt.NDArray[np.intp], timings: Sequence[Timings]) -> BoolArray:
    """Launches whose times were taken on another product, where both are known ones."""
    other = np.zeros(len(devices), np.bool_)
    products = mapped(product_of, devices.tolist())
    for number, found in enumerate(timings):
        names = {product_of(name) for name in found.device_names}
        if names and None not in names:
            known = products != None  # noqa: E711 (element by element)
            other |= (file == number) & known & np.logical_and.reduce([products != name for name in names])
    return other
