"""Rules of comparisons: whether two sides may be compared, and what to know when they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from ncu_roofline.checks import Evidence, Finding, Rule
from ncu_roofline.comparison.compared import Comparison, incomparable
from ncu_roofline.comparison.pairing import SAME
from ncu_roofline.comparison.side import LAUNCHES, TIME
from ncu_roofline.formats import quantity
from ncu_roofline.vocabulary import PATHS, Severity
from ncu_roofline.wording import some

WORK: Final = 0.10
"""Share by which work may change without a word."""
_CLOCK: Final = 0.02
"""Share by which clocks of the same setting vary."""
_ALONE: Final = 0.01
"""Share of the time of a side from which an unpaired group is a warning."""
_NAMED: Final = 3


def devices_differ(comparison: Comparison) -> Iterator[Evidence]:
    """The two sides ran on different devices.

    Times of different devices say nothing about a change of the program, and their ceilings differ. There is no
    verdict. Measure both sides on one device.
    """
    sides = (comparison.before.devices, comparison.after.devices)
    names = [{device.name for device in side if device.name} for side in sides]
    capabilities = [{device.cc for device in side if device.cc} for side in sides]
    # What a report does not say is no difference.
    if any(all(known) and known[0] != known[1] for known in (names, capabilities)):
        before, after = (_few(device.label for device in side) for side in sides)
        yield _said(f"before ran on {before}, after on {after}", "Measure both sides on one device.")


def cache_control_differs(comparison: Comparison) -> Iterator[Evidence]:
    """One side was measured with flushed caches and the other with warm ones.

    With ``--cache-control all`` (the default) ncu flushes all caches before every launch, which changes bytes and
    times. There is no verdict. Profile both sides with the same ``--cache-control``.
    """
    yield from _condition(comparison, "cache_control", "Profile both sides with the same --cache-control.")


def clock_control_differs(comparison: Comparison) -> Iterator[Evidence]:
    """The clock was locked on one side only, or to another frequency.

    Times then differ by the clock alone. There is no verdict. Profile both sides with the same ``--clock-control``.
    """
    yield from _condition(comparison, "clock_control", "Profile both sides with the same --clock-control.")


def clocks_apart(comparison: Comparison) -> Iterator[Evidence]:
    """The SM clock of paired kernels differs by more than 2 %.

    The factor of the ceilings has the part of the change that the clock explains for what binds; a program is not
    faster because the clock was. Lock the clock (``--clock-control base``), or let the device settle before measuring.
    """
    apart = []
    for one in comparison.pairs:
        before, after = one.clock
        if before > 0 and after > 0 and abs(after / before - 1.0) > _CLOCK:
            apart.append((abs(after / before - 1.0), one.name, one.clock))
    if apart:
        _, name, clocks = max(apart)
        yield _said(
            f"the SM clock of {len(apart)} of {len(comparison.pairs)} pairs differs by more than 2 %, most for {name}: "
            f"{quantity(clocks[0], 'Hz')} before, {quantity(clocks[1], 'Hz')} after",
            "Lock the clock (--clock-control base) or let the device settle.",
        )


def replay_differs(comparison: Comparison) -> Iterator[Evidence]:
    """The passes of the two sides were replayed in different ways.

    Kernel replay restores memory between passes, application replay runs the program again; caches and data differ.
    Profile both sides with the same ``--replay-mode``.
    """
    yield from _condition(comparison, "replay_mode", "Profile both sides with the same --replay-mode.")


def versions_differ(comparison: Comparison) -> Iterator[Evidence]:
    """The two sides were profiled with different versions of ncu.

    Defaults (clock control since 2026.1) and the meaning of single counters changed between versions. Differences of
    counters that should be the same may come from there.
    """
    yield from _condition(comparison, "ncu_version", "Profile both sides with one version of ncu.")


def shapes_differ(comparison: Comparison) -> Iterator[Evidence]:
    """Kernels were put together although their grid, block, range or name differs.

    The strictest rule that finds a partner is used, and stands with each pair: a changed launch shape, a template that
    is instantiated otherwise, a kernel that was split or fused. Say with ``--pair BEFORE=AFTER`` what belongs together
    if that is wrong.
    """
    loose: dict[str, list[str]] = {}
    for one in comparison.pairs:
        if one.rule != SAME:
            loose.setdefault(one.rule, []).append(one.name)
    for rule, names in loose.items():
        yield _said(f"paired by {rule}: {_few(names)}", "If that is wrong, say what belongs together with --pair.")


def work_changed(comparison: Comparison) -> Iterator[Evidence]:
    """The work of a pair changed by more than 10 %.

    Then rates do not say what became of the program: more FLOP in the same time is no speed-up, less FLOP in less time
    is one although the rate may fall. The verdict is by time for the job; look whether it is still the same job.
    """
    for one in comparison.pairs:
        changes = [
            (path, before, after)
            for path in PATHS
            for before, after in [one.amounts.get(f"work.{path}.count", (math.nan, math.nan))]
            if abs(after - before) > WORK * before
        ]
        for path, before, after in changes:
            change = f"{after / before - 1.0:+.1%}" if before > 0 else "new"
            rates = [one.value(f"work.{path}.rate", side) for side in (0, 1)]
            more = ""
            if rates[0] > 0 and rates[1] > 0 and one.ratio > 0:
                more = (
                    f"; its rate changed by {rates[1] / rates[0]:.3g}x, which is no speed-up: the time changed by "
                    f"{one.ratio - 1.0:+.1%}"
                )
            yield _said(f"{one.name}: work on {path} {change} ({before:.6g} to {after:.6g}){more}", "")


def launches_differ(comparison: Comparison) -> Iterator[Evidence]:
    """A pair has another number of launches than before.

    Amounts and times of a pair are sums over its launches. Another number of them may be the change itself (fusion), or
    another length of the run (``--launch-count``), which makes the sums incomparable.
    """
    differing = []
    for one in comparison.pairs:
        before, after = one.amounts.get(LAUNCHES, (math.nan, math.nan))
        if before != after:
            differing.append(f"{one.name} ({before:g} before, {after:g} after)")
    if differing:
        yield _said(f"another number of launches: {_few(differing)}", "Profile the same part of the run on both sides.")


def quantities_differ(comparison: Comparison) -> Iterator[Evidence]:
    """A path or tier of a pair was collected on one side only.

    It is in no factor of the change. Collect the same counters on both sides.
    """
    only: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for one in comparison.pairs:
        for name, (before, after) in one.amounts.items():
            if math.isnan(before) != math.isnan(after):
                only[math.isnan(before)][name] = None
    for names, side in zip(only, ("before", "after"), strict=True):
        if names:
            yield _said(f"known only {side}: {some(sorted(names), 8)}", "Collect the same counters on both sides.")


def times_unknown(comparison: Comparison) -> Iterator[Evidence]:
    """The time of the whole job is not known on a side.

    A launch has no time, so that there is no verdict. Counters are compared all the same. Collect
    ``gpu__time_duration.sum`` with every launch.
    """
    for side, word in ((comparison.before, "before"), (comparison.after, "after")):
        if not (side.totals() > 0).any():
            launched, times = side.amount(LAUNCHES), side.amount(TIME)
            names = [
                side.keys[place].kernel for place in np.flatnonzero(((launched > 0) & np.isnan(times)).any(axis=1))
            ]
            yield _said(f"{word}: no time is known of {_few(names)}", "Collect gpu__time_duration.sum.")


def nothing_in_common(comparison: Comparison) -> Iterator[Evidence]:
    """No kernel of one side has a partner on the other.

    Then the sides are not the same job. There is no verdict. Say with ``--pair BEFORE=AFTER`` what belongs together if
    they are.
    """
    if not comparison.pairs:
        yield _said("no kernel of one side has a partner on the other", "Put them together with --pair BEFORE=AFTER.")


def repeats_differ(comparison: Comparison) -> Iterator[Evidence]:
    """Repeats of a side did not launch the same kernels equally often.

    A report in which launches of the others are missing is no sample of the time of the whole job, and is left out of
    it. Repeat the same run.
    """
    for side, word in ((comparison.before, "before"), (comparison.after, "after")):
        launched = np.nan_to_num(side.amount(LAUNCHES))
        fewer = (launched != launched[:, :1]).any(axis=0) if launched.size else np.zeros(0, np.bool_)
        if fewer.any():
            names = _few(side.sources[place].name for place in np.flatnonzero(fewer))
            yield _said(f"{word}: other launches than in {side.sources[0].name}: {names}", "Repeat the same run.")


def ceilings_differ(comparison: Comparison) -> Iterator[Evidence]:
    """The ceilings of the two sides come from different sources.

    The report's own peaks, the device table and measured ceilings are different scales: fractions, bounds and factors
    of the two sides cannot be held against each other, times can. Use the same ``--peak-source`` and ``--ceilings``.
    """
    one, two = comparison.before.peak_sources, comparison.after.peak_sources
    if one and two and one != two:
        yield _said(
            f"ceilings are from {_few(one)} before and from {_few(two)} after",
            "Use the same --peak-source and --ceilings on both sides.",
        )


def reports_with_errors(comparison: Comparison) -> Iterator[Evidence]:
    """A report of a side has findings that are errors: some of its numbers are wrong.

    See what they are with ``ncu-roofline check`` before anything is concluded from the comparison.
    """
    for side, word in ((comparison.before, "before"), (comparison.after, "after")):
        if side.errors:
            yield _said(f"{word}: {some(side.errors, 1).removesuffix('.')}", "See ncu-roofline check for that report.")


def pairs_unused(comparison: Comparison) -> Iterator[Evidence]:
    """A ``--pair`` found no kernel on one of the sides.

    It had no effect. Regular expressions are searched for in the full names of kernels.
    """
    if comparison.unused_pairs:
        yield _said(f"--pair without effect: {_few(comparison.unused_pairs)}", "")


def unpaired(comparison: Comparison) -> Iterator[Evidence]:
    """Kernels of one side have no partner on the other, and take a noticeable part of the time.

    They count in the time of the whole job. A renamed kernel looks like one that is gone and one that is new: put them
    together with ``--pair BEFORE=AFTER``.
    """
    for side, alone, word in (
        (comparison.before, comparison.gone, "gone"), (comparison.after, comparison.new, "new"),
    ):  # fmt: skip
        totals = side.totals()
        total = float(np.nanmedian(totals)) if not np.isnan(totals).all() else math.nan
        share = sum(one.time for one in alone if not math.isnan(one.time)) / total if total > 0 else 0.0
        if alone and share > _ALONE:
            names = _few([one.key.kernel for one in alone])
            yield _said(
                f"{word}, {share:.1%} of the time of that side: {names}", "Put renamed kernels together with --pair."
            )


def noise_unknown(comparison: Comparison) -> Iterator[Evidence]:
    """A side has one report only, so that nothing is known about the noise of its times.

    Whether a difference of times is more than noise cannot be said. Give several reports of each side (``--before`` and
    ``--after``, or folders). Counters such as FLOP and bytes hardly vary and can be compared without repeats.
    """
    sides = [word for side, word in ((comparison.before, "before"), (comparison.after, "after")) if side.samples < 2]
    if sides:
        yield _said(
            f"one sample {' and '.join(sides)}: the noise of the times is not known", "Give repeats of each side."
        )


def counters_vary(comparison: Comparison) -> Iterator[Evidence]:
    """A counter of work differs between repeats of one side.

    Work of one program on one input is the same every time. Repeats that differ did not do the same, or their kernels
    depend on timing.
    """
    for side, word in ((comparison.before, "before"), (comparison.after, "after")):
        for path in PATHS:
            counts = side.amount(f"work.{path}.count")
            with np.errstate(invalid="ignore"):
                apart = np.nanmax(counts, axis=1, initial=-np.inf) - np.nanmin(counts, axis=1, initial=np.inf)
            if side.samples > 1 and (apart > 0).any():
                worst = int(np.argmax(apart))
                yield _said(f"{word}: work on {path} of {side.keys[worst].kernel} differs between repeats", "")


def same_input(comparison: Comparison) -> Iterator[Evidence]:
    """The same report stands on both sides.

    Then nothing can have changed, as long as both sides are analysed with the same options.
    """
    both = {source.sha256 for source in comparison.before.sources} & {one.sha256 for one in comparison.after.sources}
    names = [source.name for source in comparison.before.sources if source.sha256 in both]
    if names:
        yield _said(f"on both sides: {_few(names)}", "")


COMPARISON_RULES: Final = (
    Rule("X811", "devices-differ", Severity.ERROR, (), devices_differ),
    Rule("X812", "cache-control-differs", Severity.ERROR, (), cache_control_differs),
    Rule("X813", "clock-control-differs", Severity.ERROR, (), clock_control_differs),
    Rule("X814", "clocks-apart", Severity.WARNING, (), clocks_apart),
    Rule("X815", "replay-differs", Severity.WARNING, (), replay_differs),
    Rule("X816", "versions-differ", Severity.NOTE, (), versions_differ),
    Rule("X817", "paired-loosely", Severity.NOTE, (), shapes_differ),
    Rule("X818", "work-changed", Severity.WARNING, (), work_changed),
    Rule("X819", "launches-differ", Severity.WARNING, (), launches_differ),
    Rule("X820", "quantities-differ", Severity.WARNING, (), quantities_differ),
    Rule("X821", "unpaired", Severity.WARNING, (), unpaired),
    Rule("X822", "noise-unknown", Severity.NOTE, (), noise_unknown),
    Rule("X823", "work-varies", Severity.WARNING, (), counters_vary),
    Rule("X824", "same-report", Severity.NOTE, (), same_input),
    Rule("X825", "nothing-in-common", Severity.ERROR, (), nothing_in_common),
    Rule("X826", "repeats-differ", Severity.WARNING, (), repeats_differ),
    Rule("X827", "ceilings-differ", Severity.WARNING, (), ceilings_differ),
    Rule("X828", "report-has-errors", Severity.ERROR, (), reports_with_errors),
    Rule("X829", "pair-without-effect", Severity.WARNING, (), pairs_unused),
    Rule("X830", "times-unknown", Severity.WARNING, (), times_unknown),
)
"""Rules over a comparison."""

NO_VERDICT: Final = frozenset({"X811", "X812", "X813", "X825"})
"""Rules that mean that the times of the sides may not be held against each other."""


def judged(comparison: Comparison) -> Comparison:
    """The comparison with its findings, and without a verdict where the sides may not be compared."""
    found = [
        Finding(rule.code, rule.name, evidence.severity or rule.severity, (), evidence.message, evidence.help)
        for rule in COMPARISON_RULES
        for evidence in rule.check(comparison)
    ]
    found.sort(key=lambda finding: -finding.severity)
    result = replace(comparison, finding_list=tuple(found))
    return incomparable(result) if any(one.code in NO_VERDICT for one in found) else result


def _said(message: str, advice: str) -> Evidence:
    return Evidence(np.zeros(0, np.bool_), f"{message}.", advice)


def _condition(comparison: Comparison, name: str, advice: str) -> Iterator[Evidence]:
    """A condition that both sides know and that is not the same."""
    one, two = (
        sorted({str(source.conditions.get(name)) for source in side.sources if source.conditions.get(name)})
        for side in (comparison.before, comparison.after)
    )
    if one and two and one != two:
        yield _said(f"{name.replace('_', ' ')} is {_few(one)} before and {_few(two)} after", advice)


def _few(names: Iterable[str]) -> str:
    return some(list(names), _NAMED)
