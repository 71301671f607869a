"""A metric map applied to the counters of some launches: time, work per path, bytes per tier and measure.

Columnar: every value is an array over the launches. Each amount carries its extent and a code into a small
table of recipes, so that a number can be traced back to counters, map and alternative. Knows neither YAML
nor rendering, and does no roofline arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ncu_roofline.arrays import BoolArray, FloatArray, first_known, highest, ratio, sum_known, unknown
from ncu_roofline.counters import (
    PEAK_OF_DEVICE,
    PEAK_OF_PERCENTAGE,
    PEAK_TOO_COARSE,
    CounterView,
    activity,
    clock,
    duration_from_cycles,
    is_collected,
    own_peak,
    per_unit,
    rate,
    recipe_text,
    total,
)
from ncu_roofline.maps import Alternative, MetricMap, Part, Weights
from ncu_roofline.vocabulary import OPCODE, Extent, TensorState, is_tensor

CodeArray = npt.NDArray[np.int16]
NO_RECIPE = -1
_ATTRIBUTE_FACTORS = {"memory_clock": 1e3, "sm_clock": 1e3}
"""Device attributes are printed without a unit; CUDA defines clocks in kHz (cudaDeviceAttr)."""
_ALL = np.iinfo(np.int16).max
"""Stands for the number of counters where all were collected: more than any alternative has."""
HIT_RATE = ".pct"
"""Rollup of a hit rate."""
REPORT_TIME, CYCLES_TIME, NO_TIME = 0, 1, -1


@dataclass(frozen=True)
class Amount:
    """Work of a path or bytes of a measure; arrays of shape (launches,), NaN where unknown.

    ``total`` in FLOP, OP or byte, ``rate`` per second, ``peak`` the matching ceiling per second, ``first_peak``
    that of the first part alone (dense, the fastest instructions), ``peak_is_rounded`` where it comes from a
    percentage, which ncu prints with two decimals, ``peak_is_coarse`` where it is not known since that has too few
    digits, ``mix`` the ceiling that the mix of
    instructions itself sets (NaN where it is not below the peak), ``clock`` of the unit that counts, in Hz.
    ``extent`` holds ``Extent`` values, ``recipe`` indices into ``recipes``, ``choice`` the position of the
    alternative in the map.
    """

    total: FloatArray
    rate: FloatArray
    peak: FloatArray
    first_peak: FloatArray
    peak_is_rounded: BoolArray
    peak_is_coarse: BoolArray
    mix: FloatArray
    clock: FloatArray
    extent: npt.NDArray[np.int8]
    choice: CodeArray
    recipe: CodeArray
    recipes: tuple[str, ...]

    @property
    def collected(self) -> BoolArray:
        """Where there is an amount at all."""
        return np.asarray(self.extent != Extent.ABSENT)


@dataclass(frozen=True)
class Quantities:
    """What the counters of some launches say, by name of the vocabulary; a missing key was not collected."""

    time: FloatArray
    time_source: npt.NDArray[np.int8]
    time_from_cycles: FloatArray
    """Cycles over their clock, where both were collected."""
    hit_rates: Mapping[str, FloatArray]
    """Share of hits of the caches, by tier."""
    checks: Mapping[str, FloatArray]
    """Amounts that only checks look at."""
    clocks: Mapping[str, FloatArray]
    utilization: Mapping[str, FloatArray]
    """Throughputs as a share of their peak over all cycles of the launch."""
    utilization_active: Mapping[str, FloatArray]
    """The same over the cycles in which the unit was active, which is another number."""
    attributes: Mapping[str, FloatArray]
    """Device attributes: ``memory_clock`` and ``sm_clock`` (highest) in Hz, ``memory_bus_width`` in bit."""
    work: Mapping[str, Amount]
    traffic: Mapping[str, Mapping[str, Amount]]
    unseen: Mapping[str, Mapping[str, FloatArray]]
    """Bytes that a measure is known not to see, by tier and measure."""
    per_unit: Mapping[tuple[str, str], BoolArray]
    """Where only a value per unit of a counter of a tier or path is known, by that and the metric that has it."""
    tensor_state: npt.NDArray[np.int8]
    tensor_missing: BoolArray
    """Tensor work that is known not to be counted."""
    tensor_range: tuple[FloatArray, FloatArray]
    """Fewest and most operations of the tensor instructions, NaN where their shapes are not limited by the map."""


def evaluate(
    metric_map: MetricMap,
    values: Mapping[str, FloatArray],
    launches: int,
    rounding: Mapping[str, FloatArray] | None = None,
    device: npt.NDArray[np.intp] | None = None,
) -> Quantities:
    """Evaluate one map over all given launches.

    Args:
        metric_map: what counters mean.
        values: metric with rollup -> array of shape (launches,) in base units, NaN where not collected.
        launches: how many there are.
        rounding: half the printed step of each value, where it is not exact.
        device: number of the device of each launch; launches of one device have the same peaks per cycle.

    """
    timeless = CounterView(values, unknown(launches))
    time, time_source, from_cycles = _time(metric_map, timeless)
    view = CounterView(values, time, rounding or {}, device)
    work = {
        name: amount
        for name, path in metric_map.paths.items()
        if (amount := _amount(view, path.alternatives, f"{metric_map.id}:{name}")) is not None
    }
    if "fp16" in work:
        work["fp16"] = _bound_phantom_fp16(work, _fma_only(view, metric_map) & ~_half_seen(view, metric_map))
    traffic: dict[str, dict[str, Amount]] = {}
    for name, tier in metric_map.tiers.items():
        measures = {
            measure.id: amount
            for measure in tier.measures
            if (amount := _amount(view, measure.alternatives, f"{metric_map.id}:{name}.{measure.id}")) is not None
        }
        if measures:
            traffic[name] = measures
    state = _tensor_state(view, metric_map)
    return Quantities(
        time=time,
        time_source=time_source,
        time_from_cycles=from_cycles,
        hit_rates={tier: view.get(counter + HIT_RATE) for tier, counter in metric_map.hit_rates.items()},
        checks={name: _first_way(view, ways) for name, ways in metric_map.checks.items()},
        clocks={name: clock(view, counter) for name, counter in metric_map.clocks.items()},
        utilization=_utilization(view, metric_map, ".avg.pct_of_peak_sustained_elapsed"),
        utilization_active=_utilization(view, metric_map, ".avg.pct_of_peak_sustained_active"),
        attributes={
            name: view.get(metric) * _ATTRIBUTE_FACTORS.get(name, 1.0) for name, metric in metric_map.attributes.items()
        },
        work=work,
        traffic=traffic,
        unseen={
            name: {
                measure.id: sum_known([total(view, counter).value for counter in measure.misses])
                for measure in tier.measures
                if measure.misses
            }
            for name, tier in metric_map.tiers.items()
        },
        per_unit=_per_unit(view, metric_map, work, traffic),
        tensor_state=state,
        tensor_range=_tensor_range(view, metric_map),
        tensor_missing=_tensor_missing(view, metric_map, work, state),
    )


def _per_unit(
    view: CounterView,
    metric_map: MetricMap,
    work: Mapping[str, Amount],
    traffic: Mapping[str, Mapping[str, Amount]],
) -> dict[tuple[str, str], BoolArray]:
    """Tiers and paths of which nothing is known but a value per unit of one of their counters."""
    alternatives = {name: path.alternatives for name, path in metric_map.paths.items()}
    alternatives |= {
        name: tuple(way for measure in tier.measures for way in measure.alternatives)
        for name, tier in metric_map.tiers.items()
    }
    found = {}
    for name, ways in alternatives.items():
        amounts = [work[name]] if name in work else list(traffic.get(name, {}).values())
        for counter in dict.fromkeys(counter for way in ways for counter in way.counters()):
            known = per_unit(view, counter)
            if known is not None:
                metric, hit = known
                hit &= ~np.any([amount.collected for amount in amounts] or [~hit], axis=0)
                if hit.any():
                    found[name, metric] = hit
    return found


def _first_way(view: CounterView, ways: Sequence[Weights]) -> FloatArray:
    """An amount by the first alternative whose counters were collected."""
    return first_known(
        np.sum([weight * total(view, counter).value for counter, weight in way.items()], axis=0) for way in ways
    )[0]


def _time(metric_map: MetricMap, view: CounterView) -> tuple[FloatArray, npt.NDArray[np.int8], FloatArray]:
    """Duration in seconds, where it is from (the report's own, else cycles over cycles per second), and the latter."""
    reported = first_known([view.get(metric) for metric in metric_map.time])[0]
    cycles = [duration_from_cycles(view, counter) for counter in metric_map.cycles]
    counted = first_known([unknown(len(view.time)), *cycles])[0]
    value, source = first_known([reported, counted])
    # A launch that took no time was not measured.
    measured = value > 0
    return np.where(measured, value, np.nan), np.where(measured, source, NO_TIME).astype(np.int8), counted


def _utilization(view: CounterView, metric_map: MetricMap, share: str) -> dict[str, FloatArray]:
    found = {counter: view.get(counter + share) for counter in metric_map.utilization}
    return {counter: values for counter, values in found.items() if not np.isnan(values).all()}


@dataclass(frozen=True)
class _Candidate:
    """One alternative, evaluated: amounts over the launches."""

    total: FloatArray
    rate: FloatArray
    peak: FloatArray
    first_peak: FloatArray
    mix: FloatArray
    clock: FloatArray
    recipe: npt.NDArray[np.int16]
    collected: npt.NDArray[np.int16]
    """How many of its counters were collected; ``_ALL`` where it is every one."""


def _amount(view: CounterView, alternatives: Sequence[Alternative], name: str) -> Amount | None:
    """The first complete alternative of each launch, else the fullest, which then gives a lower bound.

    None where no launch has any of the counters.
    """
    places = [n for n, a in enumerate(alternatives) if any(is_collected(view, counter) for counter in a.counters())]
    if not places:
        return None
    candidates = [_candidate(view, alternatives[place]) for place in places]
    chosen = highest([candidate.collected for candidate in candidates])

    def pick(column: str) -> npt.NDArray[np.float64]:
        picked = np.asarray(getattr(candidates[0], column), np.float64).copy()
        for number, candidate in enumerate(candidates[1:], start=1):
            np.copyto(picked, getattr(candidate, column), where=chosen == number)
        return picked

    collected, total_value, rate_value = pick("collected"), pick("total"), pick("rate")
    # Counters of which some give a total and others a rate cannot be added up without a time.
    has_any = (collected > 0) & ~(np.isnan(total_value) & np.isnan(rate_value))
    extent = np.where(has_any, np.where(collected == _ALL, Extent.EXACT, Extent.AT_LEAST), Extent.ABSENT)
    # Alternative, total recipe and peak recipe make one code; only the codes that occur get a text.
    codes = np.where(has_any, np.array(places)[chosen] * 100 + pick("recipe"), NO_RECIPE).astype(np.int16)
    used = np.flatnonzero(np.bincount(codes - NO_RECIPE)) + NO_RECIPE
    recipe = np.searchsorted(used, codes)
    amount = Amount(
        total=total_value,
        rate=rate_value,
        peak=pick("peak"),
        first_peak=pick("first_peak"),
        peak_is_rounded=np.asarray(
            (codes != NO_RECIPE) & np.isin(codes % 10, (PEAK_OF_PERCENTAGE + 1, PEAK_OF_DEVICE + 1))
        ),
        peak_is_coarse=np.asarray((codes != NO_RECIPE) & (codes % 10 == PEAK_TOO_COARSE + 1)),
        mix=pick("mix"),
        clock=pick("clock"),
        extent=extent.astype(np.int8),
        choice=np.array(places, np.int16)[chosen],
        recipe=recipe.astype(np.int16),
        recipes=tuple("" if code == NO_RECIPE else _recipe_text(alternatives, int(code), name) for code in used),
    )
    return amount if amount.collected.any() else None


def _candidate(view: CounterView, alternative: Alternative) -> _Candidate:
    totals, rates, peaks, slots = [], [], [], []
    size = len(view.time)
    present = np.zeros(size, np.int16)
    total_recipe = np.full(size, -1, np.int16)
    peak_recipe = np.full(size, -1, np.int16)
    for part in alternative.parts:
        part_totals = [total(view, counter) for counter in part.work]
        part_rates = [rate(view, counter).value for counter in part.work]
        weights = list(part.work.values())
        collected = [~np.isnan(t.value) | ~np.isnan(r) for t, r in zip(part_totals, part_rates, strict=True)]
        present += np.sum(collected, axis=0, dtype=np.int16)
        part_total = _weighted([t.value for t in part_totals], weights, collected)
        part_rate = _weighted(part_rates, weights, collected)
        for resolved in part_totals:
            total_recipe = np.where(total_recipe < 0, resolved.recipe, total_recipe)
        peak, recipe = _part_peak(view, part)
        peak_recipe = np.where(peak_recipe < 0, recipe, peak_recipe)
        totals.append(part_total)
        rates.append(part_rate)
        peaks.append(peak)
        slots.append(_slots([t.value for t in part_totals], part_rates))
    all_total, all_rate, peak = totals[0], rates[0], peaks[0]
    if len(alternative.parts) > 1:
        all_total, all_rate = _sum_collected(totals, rates), _sum_collected(rates, totals)
        peak = _shared_peak(_total_or_rate(all_total, all_rate), map(_total_or_rate, totals, rates), peaks)
    counters = alternative.counters()
    return _Candidate(
        total=all_total,
        rate=all_rate,
        peak=peak,
        first_peak=peaks[0],
        mix=_mix_ceiling(alternative, _total_or_rate(all_total, all_rate), slots[0], peak),
        clock=clock(view, counters[0]),
        recipe=((total_recipe + 1) * 10 + peak_recipe + 1).astype(np.int16),
        collected=np.where(present == len(counters), _ALL, present).astype(np.int16),
    )


def _total_or_rate(total_: FloatArray, rate_: FloatArray) -> FloatArray:
    return np.where(np.isnan(total_), rate_, total_)


def _shared_peak(amount: FloatArray, of_parts: Iterable[FloatArray], peaks: Sequence[FloatArray]) -> FloatArray:
    """Ceiling of several parts together, each at its own; that of the first where there is nothing."""
    loads = [
        np.where(np.isnan(part) | (part == 0), 0.0, ratio(part, peak))
        for part, peak in zip(of_parts, peaks, strict=True)
    ]
    return np.where(amount > 0, ratio(amount, np.sum(loads, axis=0)), peaks[0])


def _weighted(columns: Sequence[FloatArray], weights: Sequence[int], collected: Sequence[BoolArray]) -> FloatArray:
    """Weighted sum over the collected counters; not known where one of them has no value of this kind."""
    terms = [
        np.where(there, weight * column, 0.0) for column, weight, there in zip(columns, weights, collected, strict=True)
    ]
    return np.where(np.any(collected, axis=0), np.sum(terms, axis=0), np.nan)


def _sum_collected(columns: Sequence[FloatArray], others: Sequence[FloatArray]) -> FloatArray:
    """Sum over the parts that were collected; not known where one of them is known only in the other form."""
    partial = np.any([np.isnan(a) & ~np.isnan(b) for a, b in zip(columns, others, strict=True)], axis=0)
    return np.where(partial, np.nan, sum_known(columns))


def _part_peak(view: CounterView, part: Part) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    for counter, weight in part.peak.items():
        resolved = own_peak(view, counter)
        return weight * resolved.value, resolved.recipe
    return unknown(len(view.time)), np.full(len(view.time), -1, np.int8)


def _slots(totals: Sequence[FloatArray], rates: Sequence[FloatArray]) -> FloatArray:
    """Instructions of a part (or their rate), each of which takes one issue slot of the pipe."""
    return _total_or_rate(np.sum(totals, axis=0), np.sum(rates, axis=0))


def _mix_ceiling(alternative: Alternative, amount: FloatArray, slots: FloatArray, peak: FloatArray) -> FloatArray:
    """FLOP/s that the mix of add, mul and fma can reach: C x F / (weight of the peak x instructions)."""
    first = alternative.parts[0]
    if len(alternative.parts) != 1 or len(set(first.work.values())) < 2 or not first.peak:
        return unknown(len(amount))
    (best,) = first.peak.values()
    ceiling = peak * ratio(amount, best * slots)
    return np.where(ceiling < peak, ceiling, np.nan)


def _recipe_text(alternatives: Sequence[Alternative], code: int, name: str) -> str:
    number, inner = divmod(code, 100)
    total_code, peak_code = divmod(inner, 10)
    alternative = alternatives[number]
    terms = " + ".join(
        f"{weight} x {counter}" if weight != 1 else counter
        for part in alternative.parts
        for counter, weight in part.work.items()
    )
    text = f"{name}[{number}] = {terms}"
    if total_code:
        text += f"; total: {recipe_text('total', total_code - 1)}"
    if peak_code:
        text += f"; peak: {recipe_text('peak', peak_code - 1)}"
    return text


def _fma_counter(metric_map: MetricMap) -> str | None:
    """The counter of half-precision fused multiply-adds: that with the largest weight; None without FP16 path."""
    if "fp16" not in metric_map.paths:
        return None
    work = metric_map.paths["fp16"].alternatives[0].parts[0].work
    return max(work, key=lambda counter: work[counter])


def _fma_only(view: CounterView, metric_map: MetricMap) -> BoolArray:
    """Where half-precision work is in fused multiply-adds alone (add and mul zero or not collected)."""
    counters = metric_map.paths["fp16"].alternatives[0].parts[0].work
    seen = [
        np.nan_to_num(total(view, counter).value) + np.nan_to_num(rate(view, counter).value)
        for counter in counters
        if counter != _fma_counter(metric_map)
    ]
    return np.asarray(np.sum(seen, axis=0) == 0)


def _bound_phantom_fp16(work: Mapping[str, Amount], fma_only: BoolArray) -> Amount:
    """FP16 work that may be the compiler's constant loads (HFMA2.MMA) is an upper bound.

    They are fused multiply-adds only, and appear in kernels that do FP32 or FP64 work.
    """
    fp16 = work["fp16"]
    real = np.zeros(len(fma_only), np.bool_)
    for path in ("fp32", "fp64"):
        if path in work:
            real |= (work[path].total > 0) | (work[path].rate > 0)
    phantom = fma_only & real & ((fp16.total > 0) | (fp16.rate > 0))
    extent = np.where(phantom, Extent.AT_MOST, fp16.extent).astype(np.int8)
    return replace(fp16, extent=extent)


def _tensor_state(view: CounterView, metric_map: MetricMap) -> npt.NDArray[np.int8]:
    """Whether the tensor pipe worked, apart from constant loads where those are in its counters."""
    known = metric_map.tensor_activity
    size = len(view.time)
    state = np.full(size, TensorState.NOT_MEASURED, np.int8)
    listed = _listed(view, metric_map, "tensor")
    measures = [activity(view, counter) for counter in known.active]
    if not measures:
        return np.where(np.isnan(listed), state, np.where(listed > 0, TensorState.ACTIVE, TensorState.IDLE))
    active = np.fmax.reduce(measures)
    state[active == 0] = TensorState.IDLE
    state[active > 0] = TensorState.ACTIVE
    instructions = total(view, known.active[0]).value
    counted = total(view, known.constant_loads).value if known.constant_loads else unknown(size)
    if known.includes_constant_loads:
        # Without their own counter: hfma counts every thread of a constant load, so it is an upper bound.
        fma = _fma_counter(metric_map)
        at_most = first_known([counted, total(view, fma).value if fma else unknown(size)])[0]
        state[(active > 0) & ~(instructions > at_most)] = TensorState.AMBIGUOUS
    state[(active > 0) & (instructions == counted)] = TensorState.IDLE
    # The histogram names the instructions, so that constant loads are told apart.
    state[listed > 0] = TensorState.ACTIVE
    state[listed == 0] = TensorState.IDLE
    return state


def _listed(view: CounterView, metric_map: MetricMap, kind: str) -> FloatArray:
    """Executed warp instructions of a kind of opcodes; NaN where there is no histogram."""
    return sum_known([unknown(len(view.time)), *(view.get(name) for name in metric_map.opcodes.get(kind, ()))])


def _half_seen(view: CounterView, metric_map: MetricMap) -> BoolArray:
    """Where the histogram lists half-precision work other than constant loads."""
    loads = np.nan_to_num(_listed(view, metric_map, "constant_loads"))
    return np.asarray(_listed(view, metric_map, "half") - loads > 0)


def _tensor_missing(
    view: CounterView, metric_map: MetricMap, work: Mapping[str, Amount], state: npt.NDArray[np.int8]
) -> BoolArray:
    """Where tensor work is known not to be counted, or the histogram lists tensor instructions of unknown shape."""
    weighed = [unknown(len(view.time))]
    by_opcode = np.zeros(len(view.time), np.bool_)
    for name, path in metric_map.paths.items():
        for place, alternative in enumerate(path.alternatives):
            if is_tensor(name) and alternative.counters()[0].startswith(OPCODE):
                weighed += [view.get(counter) for counter in alternative.counters()]
                by_opcode |= work[name].collected & (work[name].choice == place) if name in work else False
    unknown_shapes = _listed(view, metric_map, "tensor") - np.nan_to_num(sum_known(weighed)) > 0
    not_seen = (state == TensorState.ACTIVE) & ~_tensor_work_seen(work, metric_map, len(view.time))
    return np.asarray(not_seen | (by_opcode & unknown_shapes))


def _tensor_range(view: CounterView, metric_map: MetricMap) -> tuple[FloatArray, FloatArray]:
    """Fewest and most operations that the counted tensor instructions can be."""
    known = metric_map.tensor_activity
    if known.operations_per_instruction is None:
        return unknown(len(view.time)), unknown(len(view.time))
    instructions = total(view, known.active[0]).value
    fewest, most = known.operations_per_instruction
    return instructions * fewest, instructions * most


def _tensor_work_seen(work: Mapping[str, Amount], metric_map: MetricMap, launches: int) -> BoolArray:
    """Where some tensor operations were counted and are not zero, or all of the map were counted."""
    paths = [path for path in metric_map.paths if is_tensor(path)]
    seen = np.zeros(launches, np.bool_)
    every = np.full(launches, bool(paths))
    for path in paths:
        if path in work:
            seen |= (work[path].total > 0) | (work[path].rate > 0)
            every &= work[path].extent == Extent.EXACT
        else:
            every[:] = False
    return np.asarray(seen | every)
