"""Launches taken together: amounts, times and bounds are summed; no rate or percentage is ever averaged.

Works on the dotted columns of the roofline table.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from ncu_roofline.arrays import FloatArray, ratio
from ncu_roofline.vocabulary import NEVER_BINDING_PATHS, PATHS, TIERS

GROUP_KEY: Final = ("input", "device_ordinal", "cc", "kernel", "grid", "block")


def group_launches(launches: pd.DataFrame, *, per_launch: bool = False) -> pd.DataFrame:
    """Groups of one input, device, CC, kernel, grid and block, longest first, those without a time last.

    ``per_launch`` makes every launch a group of its own.

    Columns: the key; ``launches`` (positions); ``time``; ``share`` of the time on its device; ``bound.by``
    (what binds most of the time), ``bound.time``, ``bound.fraction``, ``bound.headroom``,
    ``bound.complete``; ``leading.path``, ``leading.rate``, ``leading.share`` of the path that comes nearest
    to its ceiling; ``<tier>.rate``, ``<tier>.share`` and ``<tier>.bytes``; ``utilization.<name>.low`` and ``.high``.
    """
    codes: npt.NDArray[np.intp] = np.arange(len(launches), dtype=np.intp)
    if not per_launch:
        numbers = launches.groupby(list(GROUP_KEY), dropna=False, sort=False).ngroup()
        codes = np.asarray(numbers.to_numpy(), np.intp)
    size = int(codes.max(initial=-1)) + 1
    grouped = launches.groupby(codes, sort=False)
    first = grouped.head(1)
    time = _sum(launches, "time", codes, size)
    result = first[list(GROUP_KEY)].reset_index(drop=True)
    result["launches"] = pd.Series(list(grouped["launch"].agg(tuple)), dtype=object)
    result["time"] = time
    result["share"] = ratio(time, first["device_time"].to_numpy(dtype=float))
    _add_bound(result, launches, codes, size)
    _add_leading_path(result, launches, codes, size)
    for tier in TIERS:
        if f"traffic.{tier}.rate" in launches:
            rate, share = _rate_and_share(launches, f"traffic.{tier}", "bytes", codes, size)
            result[f"{tier}.rate"], result[f"{tier}.share"] = rate, share
            bytes_moved = launches[f"traffic.{tier}.bytes"].to_numpy(dtype=float)
            result[f"{tier}.bytes"] = _whole_sum(bytes_moved, codes, size)
    for name in [column for column in launches.columns if column.startswith("utilization.")]:
        result[f"{name}.low"] = grouped[name].min().to_numpy()
        result[f"{name}.high"] = grouped[name].max().to_numpy()
    order = np.argsort(-np.nan_to_num(time, nan=-np.inf), kind="stable")
    return result.iloc[order].reset_index(drop=True)


def _add_bound(result: pd.DataFrame, launches: pd.DataFrame, codes: npt.NDArray[np.intp], size: int) -> None:
    both = launches["bound.time"].notna() & launches["time"].notna()
    measured = _sum(launches.where(both), "time", codes, size)
    bound = _sum(launches.where(both), "bound.time", codes, size)
    highest = launches["bound.fraction"].groupby(codes, sort=False).max().to_numpy(dtype=float)
    result["bound.by"] = _leading_bound(launches, codes, size)
    result["bound.time"] = _sum(launches, "bound.time", codes, size)
    result["bound.fraction"] = np.where(np.isnan(measured), highest, ratio(bound, measured))
    result["bound.headroom"] = measured - bound
    result["bound.complete"] = launches["bound.complete"].groupby(codes, sort=False).all().to_numpy()


def _leading_bound(launches: pd.DataFrame, codes: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.object_]:
    """What binds most of the bound time of each group; None where nothing can be said."""
    weight = launches["bound.time"].fillna(launches["bound.fraction"]).to_numpy(dtype=float)
    by = launches["bound.by"].to_numpy(dtype=object)
    best = np.zeros(size)
    leading = np.full(size, None, dtype=object)
    for name in dict.fromkeys(name for name in by if isinstance(name, str)):
        mine = (by == name) & ~np.isnan(weight)
        amount = np.bincount(codes[mine], weight[mine], minlength=size)
        leading[amount > best] = name
        best = np.maximum(best, amount)
    return leading


def _add_leading_path(result: pd.DataFrame, launches: pd.DataFrame, codes: npt.NDArray[np.intp], size: int) -> None:
    """The path nearest to its ceiling; without any ceiling, that with the highest rate."""
    path = np.full(size, None, dtype=object)
    rate, share = np.full(size, np.nan), np.full(size, np.nan)
    for name in PATHS:
        if f"work.{name}.rate" not in launches:
            continue
        counts = launches[f"work.{name}.extent"].isin(["exact", "at_least"])
        own_rate, own_share = _rate_and_share(launches.where(counts), f"work.{name}", "count", codes, size)
        nearer = (np.nan_to_num(own_share, nan=-1.0) > np.nan_to_num(share, nan=-1.0)) & (own_rate > 0)
        faster = np.isnan(share) & np.isnan(own_share) & (own_rate > np.nan_to_num(rate))
        if name in NEVER_BINDING_PATHS:
            nearer, faster = nearer & (path == None), faster & (path == None)  # noqa: E711
        take = nearer | faster
        path[take], rate[take], share[take] = name, own_rate[take], own_share[take]
    result["leading.path"], result["leading.rate"], result["leading.share"] = path, rate, share


def _rate_and_share(
    launches: pd.DataFrame, prefix: str, amount: str, codes: npt.NDArray[np.intp], size: int
) -> tuple[FloatArray, FloatArray]:
    """Amount per second and share of the ceiling of each group: sums over sums.

    Without times or amounts only a group of one launch has them.
    """
    total = launches[f"{prefix}.{amount}"].to_numpy(dtype=float)
    rate = launches[f"{prefix}.rate"].to_numpy(dtype=float)
    peak = launches[f"{prefix}.peak"].to_numpy(dtype=float)
    time = launches["time"].to_numpy(dtype=float)
    at_ceiling = ratio(total, peak)
    alone = np.bincount(codes, minlength=size) == 1
    single_rate = _single(rate, codes, size)
    single_share = _single(ratio(rate, peak), codes, size)
    group_time = _whole_sum(time, codes, size)
    group_rate = ratio(_whole_sum(total, codes, size), group_time)
    group_share = ratio(_whole_sum(at_ceiling, codes, size), group_time)
    return np.where(alone, single_rate, group_rate), np.where(alone, single_share, group_share)


def _single(values: FloatArray, codes: npt.NDArray[np.intp], size: int) -> FloatArray:
    result = np.full(size, np.nan)
    result[codes] = values
    return result


def _whole_sum(values: FloatArray, codes: npt.NDArray[np.intp], size: int) -> FloatArray:
    """Sum per group, not known where one value is not known."""
    return np.bincount(codes, values, minlength=size).astype(float)


def _sum(frame: pd.DataFrame, column: str, codes: npt.NDArray[np.intp], size: int) -> FloatArray:
    """Sum per group of what is known, not known where nothing is."""
    values: npt.NDArray[Any] = frame[column].to_numpy(dtype=float)
    known = ~np.isnan(values)
    total = np.bincount(codes[known], values[known], minlength=size)
    return np.where(np.bincount(codes[known], minlength=size) > 0, total, np.nan)
