"""Rules on ceilings: the device behind them, what a user measured, and ceilings that contradict each other (M)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncu_roofline.arrays import BoolArray, FloatArray, ratio
from ncu_roofline.checks.causes import likely_cause
from ncu_roofline.checks.rule import Evidence, View
from ncu_roofline.vocabulary import CORE_TIERS, NEVER_BINDING_PATHS, PATHS, TIERS, Severity, amount_prefix, is_tensor

_CEILINGS_AGREE = 0.10
"""Share by which two ceilings of one resource may differ."""
_SAME_CEILING = 0.02
"""Share within which a ceiling is taken for that of another path or tier."""
_SAME_CLOCK = 0.02
"""Share by which two clocks may differ that are taken for the same."""


def device_doubtful(view: View) -> Iterator[Evidence]:
    """The device of a launch is not in the device table, its name is ambiguous, or it is a part of one.

    The table gives ceilings where the report has none. A name that may mean several products, one that the table does
    not have, and one that contradicts the compute capability or the number of SMs (a warning) give none: another GPU's
    numbers are never used. On a MIG slice the ceilings of the paths are those of its SMs. Numbers of low confidence are
    said to be so.
    """
    asks = np.zeros(view.size, np.bool_)
    for prefix, _ in _amounts() if view.device_notes else ():
        asks |= (view.floats(f"{prefix}.rate") > 0) & np.isnan(view.floats(f"{prefix}.peak"))
        asks |= view.labels(f"{prefix}.peak_source") == "device"
    for note in view.device_notes:
        hit = note.launches if note.always else note.launches & asks
        if hit.any():
            yield Evidence(
                hit,
                f"{note.text}.",
                "" if note.always else "Collect own peaks (.peak_sustained), or give measured ones with --ceilings.",
                Severity.WARNING if note.contradicts else None,
            )


def measured_ceilings(view: View) -> Iterator[Evidence]:
    """What was taken from a file of measured ceilings, and what was left out.

    Benchmarks name levels of the memory by guesses, and a measured number may be of another kind than its name says.
    A measured ceiling enters a bound only with ``--peak-source measured``; otherwise it stands beside the others.
    """
    for note in view.ceiling_notes:
        yield Evidence(np.zeros(view.size, np.bool_), f"{note.rstrip('.')}.")


def ceilings_disagree(view: View) -> Iterator[Evidence]:
    """Two ceilings of one resource differ by more than 10 %, or a measured one is of another clock.

    The report's own dense peak of a path and that of the device table are compared per cycle; DRAM bandwidth from the
    attributes as it is, and an own DRAM peak where it is above the table (below it the memory clock may be lower); a
    measured ceiling with the one in use, at the same clock where both are known. Another product than the report says,
    a sparse peak that is taken as dense, or a measurement that did not reach the roof show here. Peaks that come from a
    percentage are left out, since it is rounded. The sentence names a factor that units make, and another path or tier
    that has just this ceiling.
    """
    for prefix, name in _amounts():
        if f"ceilings.{name}.device.value" in view.columns:
            yield from _against_device(view, name)
        if f"ceilings.{name}.measured.value" in view.columns:
            yield from _against_measured(view, prefix, name)


def _against_device(view: View, name: str) -> Iterator[Evidence]:
    own, own_clock = ceiling_of(view, name, "report")
    attributes, _ = ceiling_of(view, name, "attributes")
    device, device_clock = ceiling_of(view, name, "device")
    rounded = view.flags(f"ceilings.{name}.report.rounded")
    scale = 1.0 if name in TIERS else ratio(own_clock, device_clock)
    share = np.where(rounded, np.nan, ratio(own, device * scale))
    low = 0.0 if name in TIERS else 1.0 - _CEILINGS_AGREE
    for source, value, is_apart in (
        ("the report's own peak", share, (share > 1.0 + _CEILINGS_AGREE) | (share < low)),
        ("the bandwidth from the attributes", ratio(attributes, device), _apart(ratio(attributes, device))),
    ):
        if is_apart.any():
            first = int(np.flatnonzero(is_apart)[0])
            likely = _likely(view, name, float(value[first]), float(value[first] * device[first]))
            yield Evidence(
                is_apart,
                f"{name}: {source} is {value[first]:.3g} times that of the device table"
                f"{'' if name in TIERS else ' at the same clock'}{likely}.",
                "Look whether it is this product, and a dense peak; explain shows both.",
            )


def _against_measured(view: View, prefix: str, name: str) -> Iterator[Evidence]:
    measured, clock = ceiling_of(view, name, "measured")
    in_use, run = view.floats(f"{prefix}.peak"), view.floats(f"{prefix}.peak_clock")
    is_path = name not in TIERS
    scale = ratio(run, clock) if is_path else np.full(view.size, np.nan)
    share = ratio(measured * np.where(np.isnan(scale), 1.0, scale), in_use)
    source = view.labels(f"{prefix}.peak_source")
    rounded = view.flags(f"ceilings.{name}.report.rounded") & (source == "report")
    is_apart = _apart(share) & (source != "measured") & ~rounded
    if is_apart.any():
        at_clock = " at the same clock" if not np.isnan(scale[is_apart][0]) else ""
        yield Evidence(
            is_apart,
            f"{name}: the measured ceiling is {share[is_apart][0]:.3g} times the ceiling in use{at_clock}"
            f"{_likely(view, name, float(share[is_apart][0]), float(measured[is_apart][0]))}.",
            "A measurement may stay below a peak, or be of another clock or scope; explain shows both.",
        )
    sm = view.floats("clocks.sm")
    other_clock = (view.labels(f"{prefix}.peak_source") == "measured") & (np.abs(ratio(sm, clock) - 1.0) > _SAME_CLOCK)
    if is_path and other_clock.any():
        first = int(np.flatnonzero(other_clock)[0])
        yield Evidence(
            other_clock,
            f"{name}: the measured ceiling in use is of {clock[first] / 1e9:.4g} GHz, and the SM clock of the run was "
            f"{sm[first] / 1e9:.4g} GHz: the fraction is not that of one clock.",
            "Measure at the clock under which you profile.",
        )


def _likely(view: View, name: str, share: float, value: float) -> str:
    """What two ceilings that differ usually are: a factor that units make, or the ceiling of another path or tier."""
    dimension = "byte/s" if name in TIERS else "FLOP/s"
    said = list(filter(None, [likely_cause(share, dimension, tensor=is_tensor(name))]))
    for _, other in _amounts():
        for source in ("device", "report"):
            others = ceiling_of(view, other, source)[0]
            if (
                other != name
                and (other in TIERS) == (name in TIERS)
                and np.any(np.abs(ratio(others, np.full(view.size, value)) - 1.0) < _SAME_CEILING)
            ):
                said.append(f"it is that of {other} ({'the device table' if source == 'device' else 'the report'})")
                break
    return f": {'; '.join(said)}?" if said else ""


def _apart(share: FloatArray) -> BoolArray:
    return np.asarray(np.abs(share - 1.0) > _CEILINGS_AGREE)


def ceiling_of(view: View, name: str, source: str) -> tuple[FloatArray, FloatArray]:
    """Value per second and clock of a ceiling that stands beside."""
    return view.floats(f"ceilings.{name}.{source}.value"), view.floats(f"ceilings.{name}.{source}.clock")


def _amounts() -> list[tuple[str, str]]:
    """Column prefix and name of every tier and path that may bind."""
    names = (*CORE_TIERS, *(path for path in PATHS if path not in NEVER_BINDING_PATHS))
    return [(amount_prefix(name), name) for name in names]
