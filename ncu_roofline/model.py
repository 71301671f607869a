"""Quantities and ceilings joined to the roofline of each launch, as one table of dotted columns.

The columns are those of the contract (``work.fp32.count``, ``traffic.dram.bytes``, ``bound.fraction`` ...),
SI base units, NaN or None where unknown. This table is the one value that checks and renderers see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, Columns, FloatArray, highest, nothing, objects, ratio, unknown
from ncu_roofline.ceilings import (
    DEVICE,
    MEASURED,
    REPORT,
    Ceiling,
    Offers,
    chosen_ceiling,
    dram_from_attributes,
    from_report,
)
from ncu_roofline.evaluate import CYCLES_TIME, REPORT_TIME, Amount, Quantities
from ncu_roofline.maps import MetricMap
from ncu_roofline.roofline import Bound, Member, bound
from ncu_roofline.vocabulary import (
    CORE_TIERS,
    FLOP_PATHS,
    NEVER_BINDING_PATHS,
    SCALAR_FLOP_PATHS,
    Extent,
    TensorState,
    is_tensor,
)

_TENSOR_GAPS = ("tensor_state", "tensor_missing")
_TIME_SOURCES = {REPORT_TIME: "report", CYCLES_TIME: "cycles"}


def model(quantities: Quantities, metric_map: MetricMap, offers: Offers) -> Columns:
    """The roofline table of the launches that one map evaluated, with ceilings from elsewhere."""
    columns: Columns = {
        "time": quantities.time,
        "time_source": _named(quantities.time_source, _TIME_SOURCES),
        "tensor_state": quantities.tensor_state,
        "tensor_missing": quantities.tensor_missing,
    }
    if not np.isnan(quantities.tensor_range[0]).all():
        columns["tensor_operations.low"], columns["tensor_operations.high"] = quantities.tensor_range
    columns |= {f"clocks.{name}": values for name, values in quantities.clocks.items()}
    columns["time_from_cycles"] = quantities.time_from_cycles
    columns |= {
        f"hit_rate.{tier}": values for tier, values in quantities.hit_rates.items() if not np.isnan(values).all()
    }
    columns |= {f"checks.{name}": values for name, values in quantities.checks.items() if not np.isnan(values).all()}
    if not np.isnan(green := quantities.attributes.get("green_context", unknown(len(quantities.time)))).all():
        columns["green_context"] = green
    for name in ("registers", "spills", "occupancy", "waves", "sm_count"):
        if not np.isnan(of_launch := quantities.attributes.get(name, unknown(len(quantities.time)))).all():
            columns[name] = of_launch
    columns["clocks.sm_highest"] = quantities.attributes.get("sm_clock", unknown(len(quantities.time)))
    columns |= {f"utilization.{name}": values for name, values in quantities.utilization.items()}
    columns |= {f"utilization_active.{name}": values for name, values in quantities.utilization_active.items()}
    attributes = _attribute_ceiling(quantities)
    if not np.isnan(attributes.value).all():
        columns["ceilings.dram.attributes.value"] = attributes.value
        columns["ceilings.dram.attributes.clock"] = attributes.clock
    members: list[Member] = []
    for name, amount in quantities.work.items():
        roof = chosen_ceiling(name, from_report(amount.peak, amount.clock), None, offers)
        columns |= _work_columns(name, amount, roof)
        columns |= _own_peak(name, from_report(amount.first_peak, amount.clock), amount.peak_is_rounded)
        if name not in NEVER_BINDING_PATHS:
            pipe = metric_map.paths[name].pipe
            members.append(_member(name, f"pipe:{pipe}", pipe, amount, roof.value))
    for name, measures in quantities.traffic.items():
        others = (attributes if name == "dram" else None, offers)
        data_paths = {measure.id: measure.data_path for measure in metric_map.tiers[name].measures}
        members += _tier(columns, name, measures, others, data_paths)
        _unseen(columns, name, quantities.unseen.get(name, {}))
        columns[f"traffic.{name}.intensity"] = _intensity(quantities.work, columns, f"traffic.{name}")
    columns |= _offered(offers)
    for name in quantities.traffic:
        measures = quantities.traffic[name]
        in_use = [columns[f"traffic.{name}.measure"] == measure for measure in measures]
        peak = np.select(in_use, [amount.peak for amount in measures.values()], np.nan)
        clock = np.select(in_use, [amount.clock for amount in measures.values()], np.nan)
        rounded = np.select(in_use, [amount.peak_is_rounded for amount in measures.values()], False)
        columns |= _own_peak(name, from_report(peak, clock), rounded)
    columns |= _missing(columns, metric_map, len(quantities.time))
    result = bound(members, quantities.time, undecided=quantities.tensor_missing)
    columns |= _bound_columns(result)
    found = gaps(columns, metric_map)
    columns["bound.complete"] = ~np.any(list(found.values()), axis=0)
    return columns | _flop_columns(quantities.work, columns, found)


def for_all_invocations(columns: Columns, invocations: npt.NDArray[np.int64]) -> Columns:
    """Columns of entries that stand for several launches each, from the values of their average launch.

    Amounts, times and bounds are those of all invocations; rates, ceilings and fractions stay as they are.
    """
    if (invocations == 1).all():
        return columns
    scaled = {"time", "bound.time", "bound.headroom", "tensor_operations.low", "tensor_operations.high"}
    return {
        name: values * invocations
        if name in scaled or name.endswith((".count", ".count_most", ".bytes", ".unseen")) or name.startswith("checks.")
        else values
        for name, values in columns.items()
    }


def _offered(offers: Offers) -> Columns:
    """Ceilings to look at beside those in use: published peaks of the device, and what a user measured."""
    columns: Columns = {}
    for source, ceilings in ((DEVICE, offers.published), (MEASURED, offers.measured)):
        for name, ceiling in ceilings.items():
            columns[f"ceilings.{name}.{source}.value"] = ceiling.value
            columns[f"ceilings.{name}.{source}.clock"] = ceiling.clock
    return columns


def _own_peak(name: str, roof: Ceiling, rounded: BoolArray) -> Columns:
    """The report's own peak, which stands beside the ceiling in use; ``rounded``: it comes from a percentage."""
    if np.isnan(roof.value).all():
        return {}
    prefix = f"ceilings.{name}.report"
    return {f"{prefix}.value": roof.value, f"{prefix}.clock": roof.clock, f"{prefix}.rounded": rounded}


def _work_columns(name: str, amount: Amount, roof: Ceiling) -> Columns:
    columns = _amount_columns(f"work.{name}", "count", amount, roof)
    if not np.isnan(amount.mix).all():
        columns[f"ceilings.{name}.mix.value"] = amount.mix
        columns[f"ceilings.{name}.mix.clock"] = np.where(np.isnan(amount.mix), np.nan, amount.clock)
    return columns


def _tier(
    columns: Columns,
    name: str,
    measures: Mapping[str, Amount],
    others: tuple[Ceiling | None, Offers],
    data_paths: Mapping[str, str | None],
) -> list[Member]:
    """Add the columns of a tier; returns one bound member per measure, known where that one is in use.

    In use is the first measure with bytes and its own peak, else the first with bytes (contract, "Tiers"). A peak that
    is not known for want of digits counts as one: how a report was printed does not change what its bytes are of.
    """
    has_bytes = np.stack([amount.collected for amount in measures.values()])
    has_peak = has_bytes & np.stack([~np.isnan(amount.peak) | amount.peak_is_coarse for amount in measures.values()])
    in_use = highest(list(has_bytes.astype(np.int8) + has_peak))
    ids = np.array(list(measures), dtype=object)
    ids_in_use = ids[in_use]
    ids_in_use[~has_bytes.any(axis=0)] = None
    columns[f"traffic.{name}.measure"] = ids_in_use
    members = []
    for position, (measure, amount) in enumerate(measures.items()):
        used = (in_use == position) & amount.collected
        roof = chosen_ceiling(name, from_report(amount.peak, amount.clock), *others)
        found = _amount_columns(f"traffic.{name}", "bytes", amount, roof)
        if not used.all():
            found = {key: np.where(used, values, columns.get(key, _blank(values))) for key, values in found.items()}
        columns |= found
        prefix = f"traffic.{name}.measures.{measure}"
        columns |= {
            f"{prefix}.bytes": amount.total, f"{prefix}.rate": amount.rate, f"{prefix}.peak": amount.peak
        }  # fmt: skip
        resource = f"data:{data_paths[measure]}" if data_paths[measure] else f"tier:{name}"
        members.append(_member(name, resource, None, amount, np.where(used, roof.value, np.nan)))
    return members


def _unseen(columns: Columns, tier: str, by_measure: Mapping[str, FloatArray]) -> None:
    """Add the bytes that the measure in use does not see, where counters of them were collected."""
    known = {measure: values for measure, values in by_measure.items() if not np.isnan(values).all()}
    if known:
        in_use = columns[f"traffic.{tier}.measure"]
        columns[f"traffic.{tier}.unseen"] = np.select(
            [in_use == measure for measure in known], list(known.values()), np.nan
        )


def _attribute_ceiling(quantities: Quantities) -> Ceiling:
    known = quantities.attributes
    if not {"memory_clock", "memory_bus_width"} <= known.keys():
        return _no_ceiling(len(quantities.time))
    return dram_from_attributes(known["memory_clock"], known["memory_bus_width"])


def _no_ceiling(size: int) -> Ceiling:
    return Ceiling(unknown(size), nothing(size), unknown(size))


def _amount_columns(prefix: str, total_name: str, amount: Amount, roof: Ceiling) -> Columns:
    names = np.array([extent.label for extent in Extent], dtype=object)
    return {
        f"{prefix}.{total_name}": amount.total,
        f"{prefix}.rate": amount.rate,
        f"{prefix}.extent": names[amount.extent],
        f"{prefix}.peak": roof.value,
        f"{prefix}.peak_source": roof.source,
        f"{prefix}.peak_clock": roof.clock,
        f"{prefix}.recipe": _recipes(amount, roof),
    }


def _recipes(amount: Amount, roof: Ceiling) -> npt.NDArray[np.object_]:
    """How each amount came about, and its peak where that is the report's own."""
    whole = [text or None for text in amount.recipes]
    without = [text.partition("; peak:")[0] or None for text in amount.recipes]
    is_other: BoolArray = roof.source != REPORT
    return objects(whole + without)[amount.recipe + len(whole) * is_other]


def _member(name: str, resource: str, pipe: str | None, amount: Amount, peak: FloatArray) -> Member:
    """A bound member; an upper bound of an amount must not bind."""
    binds = (amount.extent == Extent.EXACT) | (amount.extent == Extent.AT_LEAST)
    return Member(name, resource, pipe, amount.total, amount.rate, np.where(binds, peak, np.nan))


def _intensity(work: Mapping[str, Amount], tier: Columns, prefix: str) -> FloatArray:
    """FLOP of all floating-point paths over the bytes of a tier, from rates where there are no counts."""
    size = len(tier[f"{prefix}.bytes"])
    count, flop_rate = np.zeros(size), np.zeros(size)
    known = np.zeros(size, np.bool_)
    for path in FLOP_PATHS:
        if path in work:
            amount = work[path]
            counts = (amount.extent == Extent.EXACT) | (amount.extent == Extent.AT_LEAST)
            count += np.where(counts, amount.total, 0.0)
            flop_rate += np.where(counts, amount.rate, 0.0)
            known |= counts
    by_count = ratio(count, tier[f"{prefix}.bytes"])
    value = np.where(np.isnan(by_count), ratio(flop_rate, tier[f"{prefix}.rate"]), by_count)
    usable = known & (tier[f"{prefix}.extent"] != Extent.AT_MOST.label)
    return np.where(usable, value, np.nan)


def _flop_columns(work: Mapping[str, Amount], columns: Columns, found: Mapping[str, BoolArray]) -> Columns:
    """Floating-point work of all paths together.

    ``flop.count`` and ``flop.rate``: what was counted, not known where a counted path is known in the other form only;
    ``flop.complete``: that is all of it; ``flop.count_most`` and ``flop.rate_most``: what it can be at most, not known
    where something was not collected.
    """
    size = len(columns["time"])
    counted, open_end = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    sums = {name: np.zeros(size) for name in ("count", "rate", "count_most", "rate_most")}
    for path in FLOP_PATHS:
        at_most = np.zeros(size, np.bool_)
        if path in work:
            amount = work[path]
            counts = (amount.extent == Extent.EXACT) | (amount.extent == Extent.AT_LEAST)
            at_most = amount.extent == Extent.AT_MOST
            counted |= counts
            for form, values in (("count", amount.total), ("rate", amount.rate)):
                sums[form] += np.where(counts, values, 0.0)
                sums[f"{form}_most"] += np.where(counts | at_most, values, 0.0)
        open_end |= found.get(f"work.{path}.extent", np.zeros(size, np.bool_)) & ~at_most
    gone = [found[name] for name in (*(f"work.{path}.extent" for path in FLOP_PATHS), *_TENSOR_GAPS) if name in found]
    open_end |= np.any([found[name] for name in _TENSOR_GAPS if name in found] or [np.zeros(size, np.bool_)], axis=0)
    result: Columns = {"flop.complete": ~np.any(gone, axis=0)}
    for form, values in sums.items():
        result[f"flop.{form}"] = np.where(~open_end if form.endswith("_most") else counted, values, np.nan)
    return result


def _bound_columns(result: Bound) -> Columns:
    return {
        "bound.by": result.by,
        "bound.pipe": result.pipe,
        "bound.time": result.time,
        "bound.fraction": result.fraction,
        "bound.headroom": result.headroom,
    }


def _missing(columns: Columns, metric_map: MetricMap, size: int) -> Columns:
    """Which tiers and paths of the map were not collected: ``missing.<name>`` columns."""
    names = {tier: f"traffic.{tier}.extent" for tier in CORE_TIERS}
    names |= {path: f"work.{path}.extent" for path in metric_map.paths if path not in NEVER_BINDING_PATHS}
    return {f"missing.{name}": _is(columns, column, None, size) for name, column in names.items()}


def _is(columns: Columns, name: str, label: str | None, size: int) -> BoolArray:
    """Where a column of labels has one of them; a column that is not there has none anywhere."""
    return np.asarray(columns[name] == label) if name in columns else np.full(size, label is None)


def gaps(columns: Columns, metric_map: MetricMap) -> dict[str, BoolArray]:
    """What keeps a bound from being complete (contract, "Bound"), as column of the table -> where it does.

    ``<amount>.extent``: the amount is not exactly known; ``<amount>.peak``: it has no ceiling; ``tensor_state``: there
    may be tensor work, which the map does not count; ``tensor_missing``: there is some that was not counted; ``time``:
    neither a time nor rates are known.
    """
    size = len(columns["time"])
    found: dict[str, BoolArray] = {}

    def inexact(prefix: str) -> BoolArray:
        return ~_is(columns, f"{prefix}.extent", Extent.EXACT.label, size)

    def without_ceiling(prefix: str) -> BoolArray:
        return np.isnan(columns.get(f"{prefix}.peak", unknown(size)))

    rated = ~np.isnan(columns["time"])
    for prefix in (f"traffic.{tier}" for tier in CORE_TIERS):
        found[f"{prefix}.extent"] = inexact(prefix)
        found[f"{prefix}.peak"] = ~found[f"{prefix}.extent"] & without_ceiling(prefix)
        rated |= ~np.isnan(columns.get(f"{prefix}.rate", unknown(size)))
    for path in SCALAR_FLOP_PATHS:
        found[f"work.{path}.extent"] = inexact(f"work.{path}")
    for path in metric_map.paths:
        # Work without a ceiling may bind as well.
        if path not in NEVER_BINDING_PATHS and f"work.{path}.count" in columns:
            works = (columns[f"work.{path}.count"] > 0) | (columns[f"work.{path}.rate"] > 0)
            found[f"work.{path}.peak"] = works & without_ceiling(f"work.{path}")
    active = columns["tensor_state"] != TensorState.IDLE
    if not any(map(is_tensor, metric_map.paths)):
        found["tensor_state"] = active
    for path in filter(is_tensor, metric_map.paths):
        found[f"work.{path}.extent"] = active & inexact(f"work.{path}")
    found["time"] = ~rated
    found["tensor_missing"] = np.asarray(columns["tensor_missing"], np.bool_)
    return found


def _named(codes: npt.NDArray[np.int8], names: Mapping[int, str]) -> npt.NDArray[np.object_]:
    result = nothing(len(codes))
    for code, name in names.items():
        result[codes == code] = name
    return result


def _blank(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column like the given one in which nothing is known."""
    if values.dtype == object:
        return nothing(len(values))
    return np.full(len(values), np.nan)
