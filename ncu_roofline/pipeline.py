"""The one place that knows the order of the stages: read, normalise, evaluate, model, check.

Launches are evaluated in groups of one architecture and put back into one table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ncu_roofline.analysis import DEVICE_KEY, Analysis, Input
from ncu_roofline.arrays import FloatArray
from ncu_roofline.checks import InputFacts, View, run_rules
from ncu_roofline.conditions import Conditions
from ncu_roofline.counters import metrics_of
from ncu_roofline.errors import UsageError
from ncu_roofline.evaluate import evaluate
from ncu_roofline.labels import load_labels
from ncu_roofline.maps import MapLibrary, MetricMap, load_library, load_map
from ncu_roofline.maps.library import BASE
from ncu_roofline.model import Columns, model
from ncu_roofline.normalise import Counters, normalise
from ncu_roofline.readers import RawReport, Report, read_report

_CC = re.compile(r"\d+\.\d+")
_DIMENSIONS = re.compile(r"\(\s*(\d+),\s*(\d+),\s*(\d+)\s*\)")
_TEXT_ATTRIBUTES = ("name",)


def read(*paths: str | Path) -> Report:
    """Read reports and keep every printed value; ``-`` is standard input.

    Raises:
        InputError: if one of them cannot be read.

    """
    return Report(tuple(read_report(str(path)) for path in paths))


def analyze(
    *inputs: str | Path | Report,
    map: str | Path | MetricMap | None = None,  # noqa: A002 (the name users expect)
    cc: str | None = None,
    locale: str = "auto",
) -> Analysis:
    """Analyse one or more reports.

    Args:
        inputs: paths (``-`` is standard input) or reports that were read before.
        map: a metric map, or the path of one, that answers first for its compute capabilities.
        cc: compute capability of launches whose report does not state it, such as ``9.0``.
        locale: number format of the inputs, ``auto``, ``c`` or ``european``.

    Raises:
        NcuRooflineError: if an input cannot be read, a map is invalid or an argument has no meaning.

    """
    if cc is not None and not _CC.fullmatch(cc):
        raise UsageError("--cc", cc, "is not a compute capability such as 9.0")
    library = load_library()
    if map is not None:
        library = library.with_map(map if isinstance(map, MetricMap) else load_map(Path(map)))
    labels = load_labels()
    used, texts = _used_metrics(library)
    names = labels.printed_names(used | texts)
    reports: list[RawReport] = []
    for given in inputs:
        reports += given.inputs if isinstance(given, Report) else [read_report(str(given), names=names)]
    counters = [normalise(report, labels, used=used, texts=texts, locale=locale) for report in reports]
    launches = _identities(counters, library.maps[BASE], cc)
    columns, maps = _evaluate(launches, _joined(counters), library)
    table = pd.DataFrame(launches | columns)
    by_device = table.groupby(list(DEVICE_KEY), dropna=False)["time"]
    table["device_time"] = by_device.transform("sum", min_count=1)
    view = View(columns=launches | columns, inputs=_facts(reports, counters), maps=maps)
    findings, skipped = run_rules(view)
    return Analysis(
        inputs=tuple(
            Input(
                report.path,
                report.sha256,
                report.form,
                len(report.launches),
                report.skipped.total,
                Conditions(),
            )
            for report in reports
        ),
        launches=table,
        finding_list=findings,
        skipped_rules=skipped,
        maps={metric_map.id: metric_map for metric_map in maps},
    )


def _used_metrics(library: MapLibrary) -> tuple[frozenset[str], frozenset[str]]:
    """Numeric and text metrics that any map may read."""
    used: set[str] = set()
    texts: set[str] = set()
    for metric_map in library.maps.values():
        used.update(metric_map.time)
        for counter in metric_map.base_counters():
            used |= metrics_of(counter)
        for name, metric in metric_map.attributes.items():
            (texts if name in _TEXT_ATTRIBUTES else used).add(metric)
    return frozenset(used), frozenset(texts)


def _identities(counters: Sequence[Counters], base: MetricMap, cc: str | None) -> Columns:
    """Who each launch is; arrays over the launches of all inputs."""
    frames = [
        counter.launches.assign(
            input=position,
            device=_text(counter, base, "name"),
            cc=_compute_capability(counter, base, cc),
        )
        for position, counter in enumerate(counters)
    ]
    frame = pd.concat(frames, ignore_index=True)
    columns: Columns = {"launch": np.arange(len(frame)), "input": frame["input"].to_numpy()}
    for name in ("ncu_id", "process", "kernel"):
        columns[name] = _objects(frame[name])
    columns["grid"] = _dimensions(frame["grid"])
    columns["block"] = _dimensions(frame["block"])
    for name in ("stream", "context", "device", "cc"):
        columns[name] = _objects(frame[name])
    columns["device_ordinal"] = np.array(
        [int(text) if text is not None and text.isdigit() else None for text in _objects(frame["device_ordinal"])],
        dtype=object,
    )
    columns["line"] = frame["line"].to_numpy()
    return columns


def _compute_capability(counters: Counters, base: MetricMap, stated: str | None) -> npt.NDArray[np.object_]:
    """CC column, else the device attributes, else what the user says."""
    printed = _objects(counters.launches["cc"])
    nothing = np.full(len(counters), np.nan)
    major = counters.values.get(base.attributes["cc_major"], nothing)
    minor = counters.values.get(base.attributes["cc_minor"], nothing)
    return np.array(
        [
            text if text is not None and _CC.fullmatch(text) else (stated if np.isnan(a) else f"{a:.0f}.{b:.0f}")
            for text, a, b in zip(printed, major, minor, strict=True)
        ],
        dtype=object,
    )


def _text(counters: Counters, base: MetricMap, attribute: str) -> npt.NDArray[np.object_]:
    texts = counters.texts.get(base.attributes[attribute])
    return np.array(texts if texts else [None] * len(counters), dtype=object)


def _dimensions(texts: pd.Series[Any]) -> npt.NDArray[np.object_]:
    """``(128, 1, 1)`` as a tuple; None where it was not printed or is the (0, 0, 0) of a failed launch."""
    known: dict[Any, tuple[int, ...] | None] = {}
    for text in texts.unique():
        match = _DIMENSIONS.fullmatch(text) if isinstance(text, str) else None
        value = tuple(map(int, match.groups())) if match else None
        known[text] = value if value and all(value) else None
    result = np.empty(len(texts), dtype=object)
    result[:] = [known.get(text) if isinstance(text, str) else None for text in texts]
    return result


def _objects(column: pd.Series[Any]) -> npt.NDArray[np.object_]:
    """A text column with None for what is absent or empty."""
    return np.array([text if isinstance(text, str) and text else None for text in column], dtype=object)


def _joined(counters: Sequence[Counters]) -> Mapping[str, FloatArray]:
    """The metrics of all inputs over all launches; NaN where an input did not collect one."""
    if len(counters) == 1:
        return counters[0].values
    names = dict.fromkeys(name for counter in counters for name in counter.values)
    return {name: np.concatenate([c.values.get(name, np.full(len(c), np.nan)) for c in counters]) for name in names}


def _evaluate(
    launches: Columns, values: Mapping[str, FloatArray], library: MapLibrary
) -> tuple[Columns, tuple[MetricMap, ...]]:
    """Evaluate and model every architecture on its own launches and put the columns together."""
    stated = launches["cc"]
    by_cc = {cc: library.for_compute_capability(cc) for cc in dict.fromkeys(stated)}
    ids = np.array([by_cc[cc].id for cc in stated], dtype=object)
    maps = tuple({metric_map.id: metric_map for metric_map in by_cc.values()}.values())
    parts = []
    for metric_map in maps:
        rows = np.flatnonzero(ids == metric_map.id)
        part = {name: column[rows] for name, column in values.items()}
        parts.append((rows, model(evaluate(metric_map, part, len(rows)), metric_map)))
    return {"map": ids} | _scatter(parts, len(ids)), maps


def _scatter(parts: Iterable[tuple[npt.NDArray[np.intp], Columns]], size: int) -> Columns:
    result: Columns = {}
    for rows, columns in parts:
        if len(rows) == size:
            return columns
        for name, values in columns.items():
            if name not in result:
                result[name] = _empty(values.dtype, size)
            result[name][rows] = values
    return result


def _empty(dtype: np.dtype[Any], size: int) -> npt.NDArray[Any]:
    if dtype.kind == "O":
        return np.full(size, None, dtype=object)
    return np.full(size, np.nan) if dtype.kind == "f" else np.zeros(size, dtype)


def _facts(reports: Sequence[RawReport], counters: Sequence[Counters]) -> tuple[InputFacts, ...]:
    facts = []
    first = 0
    for report, counter in zip(reports, counters, strict=True):
        facts.append(
            InputFacts(
                path=report.path,
                first_launch=first,
                launches=len(counter),
                skipped=report.skipped,
                conflicts=counter.conflicts,
                not_available=counter.not_available,
                not_numbers=counter.not_numbers,
                locale=counter.locale,
            )
        )
        first += len(counter)
    return tuple(facts)
