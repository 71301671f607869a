"""One row per launch with dotted column names, as CSV or Parquet.

The columns are those of the contract (``work.fp32.count``, ``traffic.dram.bytes``, ``bound.fraction`` ...) in SI base
units; an empty cell or null is unknown.
"""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ncu_roofline.analysis import Analysis
from ncu_roofline.vocabulary import TensorState

_INTEGERS: Final = ("launch", "input", "invocations", "device_ordinal")
_FIRST: Final = (
    "launch", "input", "kind", "ncu_id", "process", "kernel", "grid.x", "grid.y", "grid.z", "block.x", "block.y",
    "block.z", "stream", "context", "nvtx", "device", "device_ordinal", "cc", "map", "invocations", "time",
    "time_source",
)  # fmt: skip


def to_csv(analysis: Analysis) -> str:
    """The launches as CSV."""
    return launch_frame(analysis).write_csv()


def to_parquet(analysis: Analysis) -> bytes:
    """The launches as a Parquet file."""
    stream = io.BytesIO()
    launch_frame(analysis).write_parquet(stream)
    return stream.getvalue()


def launch_frame(analysis: Analysis) -> pl.DataFrame:
    """One row per launch; numbers, texts and flags, no nested values."""
    columns = analysis.columns
    flat: dict[str, pl.Series] = {}
    for name, values in columns.items():
        if name in ("grid", "block"):
            for axis, place in (("x", 0), ("y", 1), ("z", 2)):
                sizes = [None if size is None else size[place] for size in values]
                flat[f"{name}.{axis}"] = pl.Series(sizes, dtype=pl.Int64)
        elif name == "nvtx":
            ranges = [None if pairs is None else ";".join(f"{d}@{r}" for d, r in pairs) for pairs in values]
            flat[name] = pl.Series(ranges, dtype=pl.String)
        elif name == "tensor_state":
            flat["tensor.state"] = pl.Series([TensorState(value).name.lower() for value in values], dtype=pl.String)
        elif name == "tensor_missing":
            flat["tensor.missing"] = pl.Series(values)
        else:
            flat[name] = _series(name, values)
    order: list[str] = [name for name in _FIRST if name in flat]
    order += sorted((name for name in flat if name not in order), key=_group)
    return pl.DataFrame({name: flat[name] for name in order})


def _series(name: str, values: npt.NDArray[Any]) -> pl.Series:
    if name == "line":
        # A binary report has no lines.
        return pl.Series(values, dtype=pl.Int64).replace(0, None)
    if name in _INTEGERS:
        return pl.Series([None if value is None else int(value) for value in values], dtype=pl.Int64)
    if values.dtype == object:
        return pl.Series(values.tolist(), dtype=pl.String)
    if values.dtype.kind == "f":
        return pl.Series(np.where(np.isfinite(values), values, np.nan)).fill_nan(None)
    return pl.Series(values)


def _group(name: str) -> int:
    """Columns of one kind side by side; inside a kind the order of the analysis stays."""
    kinds = ("clocks", "utilization", "utilization_active", "work", "traffic", "bound", "ceilings", "missing", "tensor")
    kind = name.partition(".")[0]
    return kinds.index(kind) if kind in kinds else len(kinds)
