"""Before and after: pairs, verdicts, factors, noise, gates and baselines, by hand and by what always holds."""

from __future__ import annotations

import gzip
import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.comparison import (
    COMPARISON_RULES,
    Comparison,
    Key,
    Outcome,
    Side,
    State,
    Verdict,
    decompose,
    from_json,
    judge_gates,
    noise,
    pair,
    read_gate,
    side_of,
    to_json,
)
from ncu_roofline.comparison.noise import _STUDENT_80, _STUDENT_975
from ncu_roofline.errors import InputError, UsageError
from ncu_roofline.render.comparison import to_html, to_junit, to_markdown, to_sarif, to_svg
from ncu_roofline.render.comparison.markdown import MARKER
from ncu_roofline.render.picture import LIGHT, fixed_frame
from tests.browser import Opened, violations
from tests.support import ROOT, details, launch
from tests.test_figure import FILLED

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"
Kernel = tuple[str, Mapping[str, str]]


def report(folder: Path, name: str, *kernels: Kernel) -> Path:
    """A report of launches, each with its kernel and what differs from ``FILLED``."""
    rows = [
        row
        for n, (kernel, metrics) in enumerate(kernels)
        for row in launch({**FILLED, **metrics}, number=n, kernel=kernel)
    ]
    path = folder / name
    # Compact rows are divided by bars, so that a name cannot have one.
    path.write_text(details(*rows).replace("BAR", "|"))
    return path


def both(folder: Path, before: Sequence[Kernel], after: Sequence[Kernel], **how: object) -> Comparison:
    return nr.compare(report(folder, "before.csv", *before), report(folder, "after.csv", *after), **how)  # type: ignore[arg-type]


def codes(comparison: Comparison) -> set[str]:
    return {finding.code for finding in comparison.finding_list}


# Verdict by time for the same job.


def test_the_same_report_twice_differs_by_exactly_zero() -> None:
    comparison = nr.compare(SAMPLE, SAMPLE)
    assert comparison.verdict is Verdict.INDISTINGUISHABLE
    assert [one.ratio for one in comparison.pairs] == [1.0] * 5
    assert (comparison.gone, comparison.new) == ((), ())
    assert all(before == after for one in comparison.pairs for before, after in one.amounts.values())
    assert "X824" in codes(comparison)


def test_less_work_in_less_time_is_an_improvement_though_the_rate_falls(tmp_path: Path) -> None:
    # 100 units in 10 against 40 units in 5: the rate falls from 10 to 8, the job is twice as fast.
    comparison = both(
        tmp_path, [("k", {"T": "10 us", "FFMA": "100,000 inst"})], [("k", {"T": "5 us", "FFMA": "40,000 inst"})]
    )
    (one,) = comparison.pairs
    rates = [one.value("work.fp32.rate", side) for side in (0, 1)]
    assert rates[1] / rates[0] == pytest.approx(0.8)
    assert (one.verdict, one.ratio) == (Verdict.IMPROVED, 0.5)


def test_rate_that_grows_with_the_work_is_no_speed_up(tmp_path: Path) -> None:
    # 1e9 FLOP in 100 us, 2e9 FLOP in 80 us: time -20 %, work +100 %, rate 2.5 times as high.
    comparison = both(
        tmp_path,
        [("k", {"T": "100 us", "FFMA": "500,000,000 inst"})],
        [("k", {"T": "80 us", "FFMA": "1,000,000,000 inst"})],
    )
    (one,) = comparison.pairs
    assert one.ratio == pytest.approx(0.8)
    (finding,) = (finding for finding in comparison.finding_list if finding.code == "X818")
    assert "work on fp32 +100.0%" in finding.message
    assert "rate changed by 2.5x, which is no speed-up: the time changed by -20.0%" in finding.message


def test_where_the_bound_moved_is_said(tmp_path: Path) -> None:
    # 40 MB at DRAM bind before; after, 5 MB do less than the 40 MB at L2.
    traffic = {"lts__t_sectors_srcunit_tex.sum": "6,250,000 sector"}
    comparison = both(tmp_path, [("k", {"T": "100 us", "DB": "80 Mbyte"} | traffic)], [("k", {"T": "60 us"} | traffic)])
    assert comparison.pairs[0].bound == ("dram", "l2")
    result = CliRunner().invoke(main, ["compare", str(tmp_path / "before.csv"), str(tmp_path / "after.csv")])
    assert "dram -> l2" in result.stdout


# Pairing.


def test_pairs_do_not_depend_on_order_or_ids(tmp_path: Path) -> None:
    kernels: list[Kernel] = [("a", {"T": "10 us"}), ("b", {"T": "20 us"}), ("c", {"T": "30 us"})]
    comparison = both(tmp_path, kernels, [kernels[2], kernels[0], kernels[1]])
    assert all(one.ratio == 1.0 for one in comparison.pairs)


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (Key("k", (1,), (2,), "r", 0), Key("k", (1,), (2,), "r", 0), "same kernel, grid, block and range"),
        (Key("k", (1,), (2,), "r", 0), Key("k", (1,), (2,), "s", 0), "same kernel, grid and block, another range"),
        (Key("k", (1,), (2,), "r", 0), Key("k", (3,), (2,), "r", 0), "same kernel and range, another grid or block"),
        (Key("k", (1,), (2,), "r", 0), Key("k", (3,), (2,), None, 0), "same kernel, another grid or block"),
        (Key("k<1>()", (1,), (2,), "r", 0), Key("k<2>()", (1,), (2,), "r", 0),
         "same name without template arguments, grid, block and range"),
        (Key("k<1>()", (1,), (2,), "r", 0), Key("k<2>()", (9,), (2,), "r", 0),
         "same name without template arguments and range"),
        (Key("k<1>()", (1,), (2,), "r", 0), Key("k<2>()", (9,), (2,), None, 0), "same name without template arguments"),
        (Key("one", (1,), (2,), "step", 0), Key("two", (9,), (2,), "step", 0), "same NVTX range"),
    ],
)  # fmt: skip
def test_rule_that_finds_a_partner(before: Key, after: Key, rule: str) -> None:
    found = pair([before], [after])
    assert [(one.before, one.after, one.rule) for one in found.pairs] == [((0,), (0,), rule)]


def test_strictest_rule_comes_first() -> None:
    exact, other = Key("k", (1,), (2,), None, 0), Key("k", (9,), (2,), None, 0)
    found = pair([exact, other], [other, exact])
    assert {(one.before, one.after) for one in found.pairs} == {((0,), (1,)), ((1,), (0,))}


def test_different_kernels_are_not_put_together() -> None:
    found = pair([Key("a", (1,), (2,), None, 0)], [Key("b", (1,), (2,), None, 0)])
    assert (found.pairs, found.gone, found.new) == ((), (0,), (0,))


def test_split_kernel_is_compared_as_a_set(tmp_path: Path) -> None:
    comparison = both(
        tmp_path,
        [("fused", {"T": "100 us", "FFMA": "3,000 inst"})],
        [("first", {"T": "30 us", "FFMA": "1,000 inst"}), ("second", {"T": "50 us", "FFMA": "2,000 inst"})],
        pair=[("fused", "first|second")],
    )
    (one,) = comparison.pairs
    assert one.ratio == pytest.approx(0.8)
    assert one.amounts["work.fp32.count"] == (6000.0, 6000.0)
    assert one.rule == "--pair fused=first|second"


def test_kernels_of_one_side_are_listed_with_their_time(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("a", {}), ("old", {"T": "7 us"})], [("a", {}), ("fresh", {"T": "9 us"})])
    assert [one.key.kernel for one in (*comparison.gone, *comparison.new)] == ["old", "fresh"]
    assert [one.time for one in (*comparison.gone, *comparison.new)] == pytest.approx([7e-6, 9e-6])
    assert comparison.whole.ratio == pytest.approx(29 / 27)


# Factors.


def test_factors_by_hand(tmp_path: Path) -> None:
    # DRAM binds: 40 MB to 20 MB are a factor of 0.5; 31.25 us of 50 us and 15.625 us of 30 us are fractions of 0.625
    # and 0.5208, a factor of 1.2; the time goes to 0.6 of what it was.
    comparison = both(tmp_path, [("k", {"T": "50 us", "DB": "40 Mbyte"})], [("k", {"T": "30 us", "DB": "20 Mbyte"})])
    factors = comparison.pairs[0].factors
    assert factors is not None
    assert [factors.work, factors.traffic, factors.ceilings] == pytest.approx([1.0, 0.5, 1.0])
    assert factors.efficiency == pytest.approx(1.2)


def test_clock_has_a_factor_of_its_own(tmp_path: Path) -> None:
    # FP32 binds; at 2 GHz instead of 1 GHz its peak doubles, and the time halves.
    busy = {"FFMA": "500,000,000 inst", "T": "100 us"}
    comparison = both(tmp_path, [("k", busy)], [("k", busy | {"T": "50 us", "SMHZ": "2 Ghz"})])
    factors = comparison.pairs[0].factors
    assert factors is not None
    assert [factors.work, factors.traffic, factors.ceilings, factors.efficiency] == pytest.approx([1, 1, 0.5, 1])
    assert "X814" in codes(comparison)


_NAMES = ("fp32", "fp64", "dram", "l2")
_RESOURCES = {"fp32": "pipe:fma", "fp64": "pipe:fp64", "dram": "tier:dram", "l2": "tier:l2"}
_POSITIVE = st.floats(1e-3, 1e6)
_STATES = st.builds(
    lambda time, totals, peaks: State(
        time, dict(zip(_NAMES, totals, strict=True)), dict(zip(_NAMES, peaks, strict=True))
    ),
    _POSITIVE, st.lists(_POSITIVE, min_size=4, max_size=4), st.lists(_POSITIVE, min_size=4, max_size=4),
)  # fmt: skip


@given(_STATES, _STATES)
def test_factors_multiply_to_the_ratio_of_the_times(before: State, after: State) -> None:
    found = decompose(before, after, _RESOURCES)
    product = found.work * found.traffic * found.ceilings * found.efficiency
    assert product == pytest.approx(after.time / before.time, rel=1e-9)


@given(_STATES, _STATES)
def test_factors_of_the_way_back_are_the_inverse(before: State, after: State) -> None:
    there, back = decompose(before, after, _RESOURCES), decompose(after, before, _RESOURCES)
    for name in ("time", "work", "traffic", "ceilings", "efficiency"):
        assert getattr(there, name) * getattr(back, name) == pytest.approx(1.0, rel=1e-9)


@given(_STATES)
def test_nothing_changed_gives_ones(state: State) -> None:
    found = decompose(state, state, _RESOURCES)
    assert (found.work, found.traffic, found.ceilings, found.efficiency) == (1.0, 1.0, 1.0, 1.0)


def test_without_a_bound_all_of_the_change_is_efficiency() -> None:
    found = decompose(State(10.0, {}, {}), State(5.0, {}, {}), {})
    assert (found.has_bound, found.efficiency, found.time) == (False, 0.5, 0.5)


# Properties of comparisons.


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 10**6), st.integers(1, 10**8)), min_size=1, max_size=6),
    st.randoms(),
)
def test_shuffling_does_nothing(
    tmp_path_factory: pytest.TempPathFactory, kernels: list[tuple[str, int, int]], random: object
) -> None:
    folder = tmp_path_factory.mktemp("c")
    made: list[Kernel] = [(name, {"T": f"{time} ns", "DB": f"{size} byte"}) for name, time, size in kernels]
    shuffled = list(made)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    comparison = both(folder, made, shuffled)
    assert all(one.ratio == pytest.approx(1.0, rel=1e-12) for one in comparison.pairs)
    assert (comparison.gone, comparison.new) == ((), ())


def test_way_back_is_the_inverse(tmp_path: Path) -> None:
    before: list[Kernel] = [("a", {"T": "50 us", "DB": "40 Mbyte"}), ("b", {"T": "10 us"})]
    after: list[Kernel] = [("a", {"T": "30 us"}), ("c", {"T": "10 us"})]
    there = both(tmp_path, before, after)
    back = both(tmp_path, after, before)
    assert there.whole.ratio * back.whole.ratio == pytest.approx(1.0)
    assert [one.key for one in there.gone] == [one.key for one in back.new]
    assert there.pairs[0].ratio * back.pairs[0].ratio == pytest.approx(1.0)


# Noise.


def test_noise_of_one_sample_is_not_known_and_said_to_be_so(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {})], [("k", {"T": "10 us"})])
    assert not comparison.whole.noise.is_known
    assert "X822" in codes(comparison)


def test_difference_within_the_noise_is_indistinguishable(tmp_path: Path) -> None:
    times = (("100 us", "110 us", "90 us"), ("98 us", "108 us", "91 us"))
    sides = [
        [report(tmp_path, f"{side}{n}.csv", ("k", {"T": time})) for n, time in enumerate(samples)]
        for side, samples in enumerate(times)
    ]
    comparison = nr.compare(sides[0], sides[1])
    assert comparison.verdict is Verdict.INDISTINGUISHABLE
    assert comparison.whole.before.median == pytest.approx(100e-6)
    assert comparison.whole.before.samples == 3


def test_difference_beyond_the_noise_is_one(tmp_path: Path) -> None:
    sides = [
        [report(tmp_path, f"{side}{n}.csv", ("k", {"T": time})) for n, time in enumerate(samples)]
        for side, samples in enumerate((("100 us", "101 us", "99 us"), ("80 us", "81 us", "79 us")))
    ]
    assert nr.compare(sides[0], sides[1]).verdict is Verdict.IMPROVED


def test_noise_by_hand() -> None:
    # Both sides have a variance of 1 and three samples: the error is sqrt(2/3), Welch has 4 degrees of freedom, for
    # which Student's t is 2.776 at 97.5 % and 0.941 at 80 %.
    found = noise([99.0, 100.0, 101.0], [79.0, 80.0, 81.0])
    error = math.sqrt(2 / 3)
    assert found.significant == pytest.approx(2.776 * error / 100)
    assert found.detectable == pytest.approx((2.776 + 0.941) * error / 100)


@pytest.mark.parametrize(("table", "level"), [(_STUDENT_975, 0.975), (_STUDENT_80, 0.80)])
def test_quantiles_are_those_of_students_distribution(table: Sequence[float], level: float) -> None:
    # The density is gamma((n+1)/2) / (sqrt(n pi) gamma(n/2)) (1 + x^2/n)^(-(n+1)/2); its integral from 0 to the
    # quantile is the level less one half.
    for freedom, quantile in enumerate(table, start=1):
        x = np.linspace(0.0, quantile, 200_001)
        scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
        density = scale * (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
        assert np.trapezoid(density, x) == pytest.approx(level - 0.5, abs=2e-4)


# Whether the sides may be compared.


def conditions(comparison: Comparison, **known: str) -> Comparison:
    """The same with another condition after."""
    source = comparison.after.sources[0]
    after = replace(comparison.after, sources=(replace(source, conditions={**source.conditions, **known}),))
    return nr.compare(comparison.before, after)


FIRING: dict[str, tuple[list[Kernel], list[Kernel]]] = {
    "X811": ([("k", {"device__attribute_display_name": "A100-SXM4-80GB"})],
             [("k", {"device__attribute_display_name": "H100"})]),
    "X814": ([("k", {})], [("k", {"SMHZ": "1.1 Ghz"})]),
    "X817": ([("k<1>()", {})], [("k<2>()", {})]),
    "X818": ([("k", {})], [("k", {"FFMA": "6,000,000 inst"})]),
    "X819": ([("k", {})], [("k", {}), ("k", {})]),
    "X821": ([("k", {})], [("k", {}), ("other", {})]),
    "X822": ([("k", {})], [("k", {})]),
    "X824": ([("k", {})], [("k", {})]),
}  # fmt: skip
"""Sides on which a rule fires; the rules that are not here have a test of their own."""
CLEAN = [("k", {"T": "20 us"})], [("k", {"T": "21 us"})]


@pytest.mark.parametrize("code", FIRING)
def test_rule_fires_on_its_case_and_not_on_a_clean_one(tmp_path: Path, code: str) -> None:
    assert code in codes(both(tmp_path, *FIRING[code]))
    if code != "X822":
        assert code not in codes(both(tmp_path, *CLEAN))


@pytest.mark.parametrize(
    ("code", "name", "values"),
    [
        ("X812", "cache_control", ("all", "none")),
        ("X813", "clock_control", ("base", "none")),
        ("X815", "replay_mode", ("kernel", "application")),
        ("X816", "ncu_version", ("2024.1.0", "2026.1.0")),
    ],
)
def test_condition_that_differs_is_found(tmp_path: Path, code: str, name: str, values: tuple[str, str]) -> None:
    comparison = both(tmp_path, *CLEAN)
    same = conditions(nr.compare(_with(comparison.before, name, values[0]), comparison.after), **{name: values[0]})
    assert code not in codes(same)
    assert code not in codes(comparison)
    assert code in codes(
        conditions(nr.compare(_with(comparison.before, name, values[0]), comparison.after), **{name: values[1]})
    )


def _with(side: Side, name: str, value: str) -> Side:
    source = side.sources[0]
    return replace(side, sources=(replace(source, conditions={**source.conditions, name: value}),))


def test_quantity_that_one_side_knows_is_found(tmp_path: Path) -> None:
    rows = launch({name: text for name, text in FILLED.items() if not name.startswith("lts__t_sectors")})
    (tmp_path / "less.csv").write_text(details(*rows))
    comparison = nr.compare(report(tmp_path, "all.csv", ("k", {})), tmp_path / "less.csv")
    (finding,) = (finding for finding in comparison.finding_list if finding.code == "X820")
    assert "known only before: traffic.l2.bytes" in finding.message


def test_work_that_varies_between_repeats_is_found(tmp_path: Path) -> None:
    repeats = [report(tmp_path, f"{n}.csv", ("k", {"FFMA": f"{5_000_000 + n} inst"})) for n in range(2)]
    same = [report(tmp_path, f"s{n}.csv", ("k", {"T": f"{20 + n} us"})) for n in range(2)]
    assert "X823" in codes(nr.compare(repeats, same))
    assert "X823" not in codes(nr.compare(same, same))


def test_every_rule_has_a_case() -> None:
    own = {"X812", "X813", "X815", "X816", "X820", "X823", "X825", "X826", "X827", "X828", "X829", "X830"}
    assert own | set(FIRING) == {rule.code for rule in COMPARISON_RULES}


def test_device_that_one_report_does_not_name_is_no_difference(tmp_path: Path) -> None:
    named = {"device__attribute_display_name": "A100-SXM4-80GB"}
    assert "X811" not in codes(both(tmp_path, [("k", named)], [("k", {"T": "21 us"})]))


def test_sides_that_may_not_be_compared_have_no_verdict(tmp_path: Path) -> None:
    comparison = both(tmp_path, *FIRING["X811"])
    assert comparison.verdict is Verdict.INCOMPARABLE
    assert {one.verdict for one in comparison.pairs} == {Verdict.INCOMPARABLE}


def test_sides_without_a_common_kernel_have_no_verdict(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("a", {})], [("b", {})])
    assert (comparison.verdict, "X825" in codes(comparison)) == (Verdict.INCOMPARABLE, True)
    assert "X825" not in codes(both(tmp_path, *CLEAN))


def test_repeat_that_did_not_run_every_kernel_is_no_sample(tmp_path: Path) -> None:
    full: list[Kernel] = [("k", {}), ("slow", {"T": "100 us"})]
    before = [report(tmp_path, f"b{n}.csv", *full) for n in range(3)]
    after = [report(tmp_path, "a0.csv", *full), *(report(tmp_path, f"a{n}.csv", full[0]) for n in (1, 2))]
    comparison = nr.compare(before, after)
    assert comparison.whole.after.samples == 1
    assert comparison.whole.ratio == 1.0
    assert "X826" in codes(comparison)
    assert "X826" not in codes(nr.compare(before, before))


def test_ceilings_of_another_source_are_said_and_gate_no_bound(tmp_path: Path) -> None:
    path = report(tmp_path, "r.csv", ("k", {}))
    roofs = tmp_path / "roofs.yaml"
    roofs.write_text("schema: 1\nsources: [by hand]\nceilings:\n  dram: {value: 0.6 TB/s}\n", encoding="utf-8")
    other = nr.analyze(path, ceilings=roofs, peak_source="measured")
    comparison = nr.compare(path, other)
    assert "X827" in codes(comparison)
    assert gate(comparison, "bound.time>5%")[0] is Outcome.NO_EVIDENCE
    assert "X827" not in codes(both(tmp_path, *CLEAN))


def test_errors_of_a_report_are_errors_of_the_comparison(tmp_path: Path) -> None:
    # 40 MB in 20 us are 156 % of 1.28 TB/s.
    comparison = both(tmp_path, [("k", {})], [("k", {"DB": "40 Mbyte"})])
    (finding,) = (finding for finding in comparison.finding_list if finding.code == "X828")
    assert finding.message.startswith("after: P301 above-ceiling")
    assert gate(comparison, "finding:error")[0] is Outcome.FAILED
    assert "X828" not in codes(both(tmp_path, *CLEAN))


def test_pair_that_finds_nothing_is_said(tmp_path: Path) -> None:
    assert "X829" in codes(both(tmp_path, *CLEAN, pair=[("nobody", "k")]))
    assert "X829" not in codes(both(tmp_path, *CLEAN, pair=[("k", "k")]))


def test_devices_that_changed_their_numbers_are_paired_by_what_they_are(tmp_path: Path) -> None:
    def node(name: str, first: str, second: str, times: tuple[str, str]) -> Path:
        named = "device__attribute_display_name"
        one = details(*launch(FILLED | {named: first, "T": times[0]}), device="0")
        two = details(*launch(FILLED | {named: second, "T": times[1]}, number=1), device="1")
        path = tmp_path / name
        path.write_text(one + two)
        return path

    before = node("b.csv", "A100", "H100", ("20 us", "10 us"))
    after = node("a.csv", "H100", "A100", ("10 us", "20 us"))
    comparison = nr.compare(before, after)
    assert [one.ratio for one in comparison.pairs] == [1.0, 1.0]
    assert {one.rule for one in comparison.pairs} == {
        "same kernel, grid, block and range on another device of the same kind"
    }


def test_what_binds_most_of_the_time_binds_the_group(tmp_path: Path) -> None:
    # One launch bound by L2 and three longer ones bound by DRAM, in either order.
    l2 = ("k", {"T": "50 us", "DB": "1 Mbyte", "lts__t_sectors_srcunit_tex.sum": "5,000,000 sector"})
    dram = ("k", {"T": "100 us", "DB": "100 Mbyte"})
    comparison = both(tmp_path, [l2, dram, dram, dram], [dram, dram, dram, l2])
    assert comparison.pairs[0].bound == ("dram", "dram")


def test_launches_that_are_bound_by_different_things_have_no_factors_of_their_sums(tmp_path: Path) -> None:
    dram: Kernel = ("k", {"T": "10 us", "DB": "12,800,000 byte", "FFMA": "0 inst"})
    fp32: Kernel = ("k", {"T": "10 us", "DB": "0 byte", "FFMA": "69,120,000 inst"})
    factors = both(tmp_path, [dram, fp32], [dram, fp32]).pairs[0].factors
    assert factors is not None
    assert not factors.has_bound


def test_equal_times_hide_no_change_of_an_amount(tmp_path: Path) -> None:
    some, more = ({"launch__registers_per_thread": f"{n} register/thread"} for n in (32, 48))
    before, after = report(tmp_path, "b.csv", ("k", some)), report(tmp_path, "a.csv", ("k", more))
    assert "registers +50.0% (32 -> 48)" in run(before, after).stdout
    assert "registers +50.0% (32 -> 48)" in to_markdown(nr.compare(before, after))


def test_medians_that_move_against_the_means_are_no_verdict(tmp_path: Path) -> None:
    times = (["100.1 us"] * 10, ["99.9 us"] * 6 + ["120 us"] * 4)
    sides = [
        [report(tmp_path, f"{side}{n}.csv", ("k", {"T": time})) for n, time in enumerate(samples)]
        for side, samples in enumerate(times)
    ]
    comparison = nr.compare(*sides)
    assert comparison.whole.noise.is_significant
    assert comparison.verdict is Verdict.INDISTINGUISHABLE


def test_single_times_that_differ_by_their_print_are_the_same(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {"T": "3.2320 us"})], [("k", {"T": "3.2330 us"})])
    assert comparison.verdict is Verdict.INDISTINGUISHABLE
    assert both(tmp_path, [("k", {"T": "3.232 us"})], [("k", {"T": "3.264 us"})]).verdict is Verdict.REGRESSED


def test_hidden_characters_of_names_are_written_out(tmp_path: Path) -> None:
    name = "\x1b[31mred\u202e"
    before = report(tmp_path, "b.csv", (name, {}), ("old\x1b", {}))
    after = report(tmp_path, "a.csv", (name, {"T": "5 us"}))
    for text in (run(before, after).stdout, to_markdown(nr.compare(before, after))):
        assert not re.search("[\x00-\x08\x1b\u202e]", text)
        assert "u001b" in text


def test_new_and_gone_kernels_are_in_the_figure(tmp_path: Path) -> None:
    svg = ElementTree.fromstring(to_svg(both(tmp_path, [("a", {}), ("old", {})], [("a", {}), ("new", {})]), LIGHT))
    found = {part.get("data-alone"): part.text for part in svg.iter() if part.get("data-alone")}
    assert found == {"new": "+", "gone": "\u00d7"}


# Times that are not known.


@pytest.mark.parametrize("gone", ["T of one", "T of all"])
def test_unknown_time_is_no_time_of_nothing(tmp_path: Path, gone: str) -> None:
    before = report(tmp_path, "b.csv", ("k", {}), ("slow", {}))
    untimed = launch({name: text for name, text in FILLED.items() if name != "T"}, number=1, kernel="slow")
    timed = launch(FILLED) if gone == "T of one" else launch({n: t for n, t in FILLED.items() if n != "T"})
    (tmp_path / "a.csv").write_text(details(*timed, *untimed))
    comparison = nr.compare(before, tmp_path / "a.csv")
    assert comparison.verdict is Verdict.INCOMPARABLE
    assert gate(comparison, "time>5%")[0] is Outcome.NO_EVIDENCE
    assert "X830" in codes(comparison)
    assert "X830" not in codes(both(tmp_path, *CLEAN))


def test_counters_gate_where_only_times_are_not_known(tmp_path: Path) -> None:
    paths = []
    for name, size in (("b.csv", "10 Mbyte"), ("a.csv", "20 Mbyte")):
        metrics = {key: value for key, value in FILLED.items() if key != "T"} | {"DB": size}
        paths.append(tmp_path / name)
        paths[-1].write_text(details(*launch(metrics)))
    comparison = nr.compare(*paths)
    assert comparison.verdict is Verdict.INCOMPARABLE
    assert gate(comparison, "traffic.dram.bytes>50%")[0] is Outcome.FAILED
    assert gate(comparison, "work.fp32.count>1%")[0] is Outcome.PASSED
    assert gate(comparison, "time>5%") == (Outcome.NO_EVIDENCE, "whole job: time is not known on both sides")


def test_order_of_the_sums_makes_no_verdict(tmp_path: Path) -> None:
    kernels: list[Kernel] = [(f"k{n}", {"T": f"{100 / (n + 3):.4f} us"}) for n in range(40)]
    comparison = both(tmp_path, kernels, kernels[::-1])
    assert (comparison.verdict, comparison.whole.ratio) == (Verdict.INDISTINGUISHABLE, 1.0)


def test_significance_is_the_same_on_the_way_back() -> None:
    one, two = [100.0, 100.0, 100.0, 100.0, 1000.0], [400.0, 401.0, 399.0, 400.0, 400.0]
    assert (noise(one, two).is_significant, noise(two, one).is_significant) == (False, False)


# Gates.


def gate(comparison: Comparison, text: str) -> tuple[Outcome, str]:
    (result,) = judge_gates(comparison, [read_gate(text)])
    return result.outcome, result.message


def test_gate_on_a_change_passes_and_fails_at_its_limit(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {"T": "100 us"})], [("k", {"T": "104 us"})])
    assert gate(comparison, "time>5%")[0] is Outcome.PASSED
    outcome, message = gate(comparison, "time>3%")
    assert (outcome, "+4.00%" in message) == (Outcome.FAILED, True)


def test_gate_on_a_value_looks_at_after(tmp_path: Path) -> None:
    # 10 MB in 20 us are 39.06 % of 1.28 TB/s.
    comparison = both(tmp_path, [("k", {"T": "10 us"})], [("k", {})])
    assert gate(comparison, "bound.fraction<0.4")[0] is Outcome.FAILED
    assert gate(comparison, "bound.fraction<0.39")[0] is Outcome.PASSED


def test_gate_with_a_kernel_looks_at_each_pair_that_matches(tmp_path: Path) -> None:
    comparison = both(
        tmp_path, [("a1", {}), ("a2", {}), ("b", {})], [("a1", {}), ("a2", {"T": "40 us"}), ("b", {"T": "1 us"})]
    )
    assert gate(comparison, "time>5%:a1")[0] is Outcome.PASSED
    outcome, message = gate(comparison, "time>5%:a")
    assert (outcome, message.startswith("a2: ")) == (Outcome.FAILED, True)


def test_gate_without_a_kernel_or_a_counter_has_no_evidence(tmp_path: Path) -> None:
    comparison = both(tmp_path, *CLEAN)
    assert gate(comparison, "time>5%:nobody") == (Outcome.NO_EVIDENCE, "no kernel of both sides matches")
    assert gate(comparison, "work.tensor.bf16.count>1%")[0] is Outcome.NO_EVIDENCE


def test_gate_on_times_of_different_devices_has_no_evidence(tmp_path: Path) -> None:
    assert gate(both(tmp_path, *FIRING["X811"]), "time>5%")[0] is Outcome.NO_EVIDENCE


def test_change_is_not_known_where_a_kernel_is_gone_or_launched_less_often(tmp_path: Path) -> None:
    gone = both(tmp_path, [("a", {}), ("b", {})], [("a", {})])
    assert gate(gone, "time>5%") == (Outcome.NO_EVIDENCE, "b: is gone")
    fewer = both(tmp_path, [("a", {}), ("a", {})], [("a", {})])
    assert gate(fewer, "time>5%") == (Outcome.NO_EVIDENCE, "a: was launched 2 times before and 1 times after")


def test_new_kernel_that_matches_is_looked_at(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("gemm_a", {})], [("gemm_a", {}), ("gemm_slow", {"T": "9 ms"})])
    assert gate(comparison, "time>5%:gemm") == (Outcome.NO_EVIDENCE, "gemm_slow: is new")
    # 10 MB in 9 ms are 0.09 % of 1.28 TB/s.
    outcome, message = gate(comparison, "bound.fraction<0.1:gemm")
    assert (outcome, message.startswith("gemm_slow: ")) == (Outcome.FAILED, True)


@pytest.mark.parametrize("text", ["bound.time>5%", "work.fp32.rate<-80%", "traffic.dram.bytes>1%"])
def test_no_change_is_judged_on_sides_that_may_not_be_compared(tmp_path: Path, text: str) -> None:
    assert gate(both(tmp_path, *FIRING["X811"]), text)[0] is Outcome.NO_EVIDENCE


def test_registers_that_one_kernel_lacks_are_not_known(tmp_path: Path) -> None:
    some, more = ({"launch__registers_per_thread": f"{n} register/thread"} for n in (32, 96))
    most = {"launch__registers_per_thread": "128 register/thread"}
    lacking = both(tmp_path, [("a", some), ("b", some)], [("a", some), ("b", {})])
    assert gate(lacking, "registers>0%")[0] is Outcome.NO_EVIDENCE
    # What changed is not hidden by a kernel with more of them.
    hidden = both(tmp_path, [("a", most), ("b", some)], [("a", most), ("b", more)])
    assert gate(hidden, "registers>0%") == (Outcome.FAILED, "b: registers +200.00% (32 to 96)")


def test_percentage_of_less_than_nothing_is_not_known(tmp_path: Path) -> None:
    # 10 MB at 1.28 TB/s take 7.8 us, so that 7 us leave less than nothing.
    comparison = both(tmp_path, [("k", {"T": "7 us"})], [("k", {})])
    assert gate(comparison, "bound.headroom>5%")[0] is Outcome.NO_EVIDENCE


def test_gate_on_findings(tmp_path: Path) -> None:
    comparison = both(tmp_path, *FIRING["X818"])
    assert gate(comparison, "finding:error")[0] is Outcome.PASSED
    outcome, message = gate(comparison, "finding:warning")
    assert (outcome, "X818" in message) == (Outcome.FAILED, True)


def test_amount_that_is_new_from_nothing_is_more_than_any_percentage(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {"FFMA": "0 inst"})], [("k", {"FFMA": "5 inst"})])
    outcome, message = gate(comparison, "work.fp32.count>1000%")
    assert (outcome, "work.fp32.count new" in message) == (Outcome.FAILED, True)


def test_amount_that_is_gone_is_a_hundred_percent_less(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {"FFMA": "5 inst"})], [("k", {"FFMA": "0 inst"})])
    assert "-100.00%" in gate(comparison, "work.fp32.count>1%")[1]


def test_registers_and_spills_are_compared_and_gate(tmp_path: Path) -> None:
    # The most registers of any launch, the spills of all of them.
    before = {"launch__registers_per_thread": "64 register/thread", "sass__inst_executed_register_spilling": "0 inst"}
    after = {
        "launch__registers_per_thread": "96 register/thread",
        "sass__inst_executed_register_spilling": "4,096 inst",
    }
    comparison = both(tmp_path, [("k", before), ("k", before)], [("k", before), ("k", after)])
    amounts = comparison.pairs[0].amounts
    assert (amounts["registers"], amounts["spills"]) == ((64.0, 96.0), (0.0, 4096.0))
    assert "spills new" in gate(comparison, "spills>0%")[1]
    assert gate(comparison, "registers>0%")[0] is Outcome.FAILED


@pytest.mark.parametrize("text", ["time", "time>x", "nothing>5%", "time>5%:(", "finding:bad", "time=5%"])
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_gate(text)


# Baselines.


def test_baseline_stands_for_its_report(tmp_path: Path) -> None:
    side = side_of(nr.analyze(SAMPLE))
    path = tmp_path / "b.json"
    path.write_text(to_json(side), encoding="utf-8")
    again = from_json(str(path))
    assert (again.keys, again.sources, again.bound_by) == (side.keys, side.sources, side.bound_by)
    assert all(np.array_equal(again.amounts[name], values, equal_nan=True) for name, values in side.amounts.items())
    assert [one.ratio for one in nr.compare(path, SAMPLE).pairs] == [1.0] * 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "ncu-roofline/baseline/0"}, "has schema ncu-roofline/baseline/0, this version reads"),
        ({"groups": [{}]}, "damaged baseline"),
        ({"groups": []}, "damaged baseline"),
        ({"devices": [{"name": [1], "cc": None}]}, "damaged baseline"),
        ({"sources": []}, "damaged baseline"),
    ],
)
def test_baseline_of_another_schema_or_damaged_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps(json.loads(to_json(side_of(nr.analyze(SAMPLE)))) | change), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        nr.compare(path, SAMPLE)


@pytest.mark.parametrize("time", ["1e400", "-5.0", '"x"'])
def test_baseline_with_an_impossible_amount_is_refused(tmp_path: Path, time: str) -> None:
    path = tmp_path / "b.json"
    text = to_json(side_of(nr.analyze(report(tmp_path, "r.csv", ("k", {})))))
    path.write_text(re.sub(r'("time": \[\s*)[^\]]+', rf"\g<1>{time}", text), encoding="utf-8")
    with pytest.raises(InputError, match="damaged baseline"):
        nr.compare(path, SAMPLE)


def test_baseline_is_known_whatever_its_order_and_packing(tmp_path: Path) -> None:
    document = json.loads(to_json(side_of(nr.analyze(SAMPLE))))
    path = tmp_path / "b.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document, sort_keys=True).encode()))
    assert [one.ratio for one in nr.compare(path, SAMPLE).pairs] == [1.0] * 5


# The command.


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_command_compares_and_gates(tmp_path: Path) -> None:
    before = report(tmp_path, "b.csv", ("k", {"T": "100 us"}))
    after = report(tmp_path, "a.csv", ("k", {"T": "125 us"}))
    result = run(before, after, "--fail-on", "time>5%")
    assert result.exit_code == 1
    assert "whole job: regressed, 1.25x slower; 100.0 us -> 125.0 us" in result.stdout
    assert "gate failed: time>5%: whole job: time +25.00%" in result.stderr
    assert run(after, before, "--fail-on", "time>5%").exit_code == 0


def test_gate_without_evidence_fails_unless_allowed(tmp_path: Path) -> None:
    one = report(tmp_path, "b.csv", ("k", {}))
    assert run(one, one, "--fail-on", "time>5%:nobody").exit_code == 1
    assert run(one, one, "--fail-on", "time>5%:nobody", "--allow-missing").exit_code == 0


def test_sides_that_may_not_be_compared_fail_by_default(tmp_path: Path) -> None:
    paths = [report(tmp_path, f"{n}.csv", *kernels) for n, kernels in enumerate(FIRING["X811"])]
    assert run(*paths).exit_code == 1
    assert run(*paths, "--fail-on", "never").exit_code == 0


def test_baseline_is_saved_and_compared_against(tmp_path: Path) -> None:
    baseline = tmp_path / "b.json"
    assert run(SAMPLE, "--save-baseline", baseline).exit_code == 0
    result = run(baseline, SAMPLE)
    assert (result.exit_code, "same time" in result.stdout) == (0, True)


def test_folder_is_a_side_of_repeats(tmp_path: Path) -> None:
    for side, time in (("before", 100), ("after", 80)):
        (tmp_path / side).mkdir()
        for n in range(3):
            report(tmp_path / side, f"{n}.csv", ("k", {"T": f"{time + n} us"}))
    result = run(tmp_path / "before", tmp_path / "after")
    assert "101.0 us (100.0 us to 102.0 us, 3 samples) -> 81.00 us" in result.stdout
    assert "significant" in result.stdout


@pytest.mark.parametrize(
    "arguments", [(SAMPLE,), (SAMPLE, SAMPLE, SAMPLE), (SAMPLE, SAMPLE, "--pair", "x"), (SAMPLE, "no.csv")]
)
def test_wrong_use_is_refused_without_output(arguments: tuple[object, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_pr_kit_has_every_file(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    assert run(SAMPLE, SAMPLE, "--pr-kit", kit).exit_code == 0
    assert sorted(path.name for path in kit.iterdir()) == [
        "baseline.json", "comment.md", "comparison.json", "findings.sarif", "junit.xml", "report.html",
        "roofline-dark.svg", "roofline.svg",
    ]  # fmt: skip


def test_inputs_are_never_overwritten(tmp_path: Path) -> None:
    one = report(tmp_path, "b.csv", ("k", {}))
    before = one.read_bytes()
    assert run(one, SAMPLE, "--save-baseline", one).exit_code == 2
    assert one.read_bytes() == before


def test_report_in_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    for side in ("x", "y"):
        (tmp_path / side).mkdir()
        report(tmp_path / side, "1.csv", ("k", {}))
    before = (tmp_path / "y" / "1.csv").read_bytes()
    assert run(tmp_path / "x", tmp_path / "y", "-o", tmp_path / "y" / "1.csv").exit_code == 2
    assert (tmp_path / "y" / "1.csv").read_bytes() == before


@pytest.mark.parametrize(
    "more",
    [
        ("--save-baseline", "base.json", "--figure", "out.png"),
        ("--save-baseline", "base.json", "--html", "none/x.html"),
        ("--pr-kit", "kit", "-o", "none/x.txt"),
        ("--figure", "same.svg", "-o", "same.svg"),
        ("--figure", "same.svg", "--html", "same.svg"),
    ],
)
def test_nothing_is_written_where_one_output_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(SAMPLE, SAMPLE, *more)
    assert (result.exit_code, result.stdout) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_kit_is_not_written_over_the_baseline_that_is_compared(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    assert run(SAMPLE, SAMPLE, "--pr-kit", kit).exit_code == 0
    before = {path.name: path.stat().st_mtime_ns for path in kit.iterdir()}
    assert run(kit / "baseline.json", SAMPLE, "--pr-kit", kit).exit_code == 2
    assert {path.name: path.stat().st_mtime_ns for path in kit.iterdir()} == before


@pytest.mark.parametrize("more", [("--fail-on", "time>5%"), ("--html", "x.html"), ("--pr-kit", "kk"), ("-o", "o.txt")])
def test_one_side_is_for_a_baseline_alone(tmp_path: Path, more: tuple[str, ...]) -> None:
    out = tmp_path / "b.json"
    assert run(SAMPLE, "--save-baseline", out, *more).exit_code == 2
    assert not out.exists()


def test_names_cannot_be_taken_out_of_a_baseline(tmp_path: Path) -> None:
    assert run(SAMPLE, "--save-baseline", tmp_path / "b.json", "--scrub-kernels").exit_code == 2


def test_scrubbing_leaves_numbers_and_words(tmp_path: Path) -> None:
    before, after = report(tmp_path, "b.csv", ("job", {})), report(tmp_path, "a.csv", ("job", {"T": "25 us"}))
    result = run(before, after, "--scrub-kernels", "--fail-on", "time>5%:o")
    assert "whole job: regressed" in result.stdout
    assert "gate failed: time>5%:kernels: kernel-0: time +25.00% (2e-05 to 2.5e-05)" in result.stdout


def test_gate_that_may_lack_evidence_is_no_error_in_junit(tmp_path: Path) -> None:
    out = tmp_path / "j.xml"
    arguments = ("--fail-on", "time>5%:nobody", "--allow-missing", "--format", "junit", "-o", out)
    assert run(SAMPLE, SAMPLE, *arguments).exit_code == 0
    assert ElementTree.parse(out).getroot().get("errors") == "0"


def test_sides_that_may_not_be_compared_show_no_change(tmp_path: Path) -> None:
    before, after = FIRING["X811"]
    paths = [
        report(tmp_path, "b.csv", *before),
        report(tmp_path, "a.csv", (after[0][0], {**after[0][1], "T": "40 us"})),
    ]
    result = run(*paths, "--html", tmp_path / "x.html", "--fail-on", "never")
    assert "+100" not in result.stdout
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "Not comparable" in text
    assert not re.search('data-value="2(.0)?"', re.sub("<td[^>]*>2</td>", "", text))


def test_gates_may_stand_in_the_configuration_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = report(tmp_path, "b.csv", ("k", {"T": "100 us"})), report(tmp_path, "a.csv", ("k", {"T": "125 us"}))
    (tmp_path / "ncu-roofline.toml").write_text('gate = ["time>5%"]\n')
    monkeypatch.chdir(tmp_path)
    assert run(before, after).exit_code == 1


def test_each_occurrence_is_a_pair_of_its_own_when_asked_for(tmp_path: Path) -> None:
    before = report(tmp_path, "b.csv", ("k", {"T": "10 us"}), ("k", {"T": "20 us"}))
    after = report(tmp_path, "a.csv", ("k", {"T": "10 us"}), ("k", {"T": "30 us"}))
    sides = [side_of(nr.analyze(path), per_launch=True) for path in (before, after)]
    ratios = {one.before_keys[0].occurrence: one.ratio for one in nr.compare(*sides).pairs}
    assert ratios == {0: 1.0, 1: pytest.approx(1.5)}
    assert run(before, after, "--per-launch").stdout.count("+50.0%") == 1


def test_scrubbed_comparison_has_no_name_of_a_kernel(tmp_path: Path) -> None:
    before = report(tmp_path, "b.csv", ("secret<1>(int)", {}), ("private", {}))
    after = report(tmp_path, "a.csv", ("secret<2>(int)", {"T": "10 us"}), ("other", {}))
    kit = tmp_path / "kit"
    result = run(before, after, "--scrub-kernels", "--pr-kit", kit, "--fail-on", "time>5%:secret")
    assert result.exit_code == 0
    texts = [result.stdout, *(path.read_text(encoding="utf-8") for path in kit.iterdir())]
    assert not any(name in text for text in texts for name in ("secret", "private", "other(", str(tmp_path)))


# Outputs.


def test_json_has_the_numbers_of_the_comparison(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {"T": "50 us", "DB": "40 Mbyte"})], [("k", {"T": "30 us", "DB": "20 Mbyte"})])
    document = json.loads(comparison.to_json())
    (one,) = document["pairs"]
    factors = one["factors"]
    assert document["schema"] == "ncu-roofline/comparison/1"
    assert one["time"]["ratio"] == pytest.approx(0.6)
    product = factors["work"] * factors["traffic"] * factors["ceilings"] * factors["efficiency"]
    assert product == pytest.approx(one["time"]["ratio"], rel=1e-9)
    assert one["amounts"]["traffic.dram.bytes"] == {"before": 4e7, "after": 2e7}


def many(folder: Path, name: str, factor: float) -> Path:
    kernels: list[Kernel] = [
        (f"void kernel{n}<{'x' * 500}BAR`>(int)", {"T": f"{(100 + n) * factor:.3f} us"}) for n in range(400)
    ]
    return report(folder, name, *kernels)


def test_comment_of_hundreds_of_kernels_fits_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    comparison = nr.compare(many(tmp_path, "b.csv", 1.0), many(tmp_path, "a.csv", 0.9))
    text = to_markdown(comparison)
    assert len(text) <= 65_536
    assert text.startswith("<!-- ncu-roofline compare -->\n")
    assert "more pairs do not fit into a comment" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_comment_with_many_gates_on_long_names_fits(tmp_path: Path) -> None:
    comparison = both(tmp_path, [(f"{'x' * 4000}", {})], [(f"{'x' * 4000}", {"T": "21 us"})])
    gates = judge_gates(comparison, [read_gate(f"time>{n}%:x`") for n in range(100)])
    gates += judge_gates(comparison, [read_gate(f"time>{n}%:x") for n in range(100)])
    text = to_markdown(comparison, gates)
    assert len(text) < 65_536
    assert "`` time>0%:x` ``" in text


def test_names_are_code_in_the_comment(tmp_path: Path) -> None:
    name = "k<aBARb>(</details>*x*`y`)"
    text = to_markdown(both(tmp_path, [(name, {})], [(name, {"T": "10 us"})]))
    (row,) = (line for line in text.splitlines() if line.startswith("| 1 | `` "))
    # A pipe in a cell is written with a backslash, also inside code (GitHub Flavored Markdown, tables).
    assert row.replace("\\|", "").count("|") == 11
    # That of the comment itself; all others are in the name, as code.
    assert re.sub("``.*?``", "", text).count("</details>") == 1


def test_sarif_is_valid(tmp_path: Path) -> None:
    comparison = both(tmp_path, *FIRING["X818"])
    document = json.loads(to_sarif(comparison, judge_gates(comparison, [read_gate("work.fp32.count>1%")])))
    schema = json.loads((ROOT / "tests" / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(document)
    assert {result["ruleId"] for result in document["runs"][0]["results"]} >= {"X818", "gate"}


def test_junit_has_a_case_for_each_gate(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {})], [("k", {"T": "30 us"})])
    gates = [read_gate(text) for text in ("time>5%", "time>80%", "time>5%:nobody")]
    suite = ElementTree.fromstring(to_junit(comparison, judge_gates(comparison, gates)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")


def test_figure_has_both_sides_at_their_places(tmp_path: Path) -> None:
    comparison = both(tmp_path, [("k", {"T": "50 us", "DB": "40 Mbyte"})], [("k", {"T": "30 us", "DB": "20 Mbyte"})])
    svg = ElementTree.fromstring(to_svg(comparison, LIGHT))
    marks = {part.get("data-side"): part for part in svg.iter() if part.get("data-side")}
    # 10 MFLOP over 40 MB and 20 MB, in 50 us and 30 us.
    assert float(str(marks["before"].get("data-intensity"))) == pytest.approx(0.25)
    assert float(str(marks["after"].get("data-intensity"))) == pytest.approx(0.5)
    assert float(str(marks["after"].get("data-value"))) == pytest.approx(1e7 / 30e-6)
    assert {part.get("data-other") for part in svg.iter() if part.get("data-other")} == {"l2", "l1"}
    assert any("1.667x faster" in str(text.text) for text in svg.iter("{http://www.w3.org/2000/svg}text"))


def test_ceilings_of_the_figure_have_their_source(tmp_path: Path) -> None:
    path, roofs = report(tmp_path, "r.csv", ("k", {})), tmp_path / "roofs.yaml"
    roofs.write_text("schema: 1\nsources: [by hand]\nceilings:\n  dram: {value: 0.6 TB/s}\n", encoding="utf-8")
    measured = nr.analyze(path, ceilings=roofs, peak_source="measured")
    svg = ElementTree.fromstring(to_svg(nr.compare(measured, measured), LIGHT))
    assert {part.get("data-source") for part in svg.iter() if part.get("data-roof")} == {"measured or report"}


def test_figure_of_sides_that_may_not_be_compared_has_no_arrow(tmp_path: Path) -> None:
    before, after = FIRING["X811"]
    changed = [(after[0][0], {**after[0][1], "T": "5 us", "DB": "1 Mbyte"})]
    svg = ElementTree.fromstring(to_svg(both(tmp_path, before, changed), LIGHT))
    assert not any("faster" in str(text.text) for text in svg.iter("{http://www.w3.org/2000/svg}text"))


def test_axes_can_be_fixed(tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    assert run(SAMPLE, SAMPLE, "--figure", out, "--axes", "1:10,1e9:1e12").exit_code == 0
    assert "10 T" not in out.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out-dark.svg", "out.svg"]


def test_pairs_outside_of_fixed_axes_are_counted(tmp_path: Path) -> None:
    # 10 MFLOP over 40 and 20 MB: 0.25 and 0.5 FLOP/byte.
    comparison = both(tmp_path, [("k", {"T": "50 us", "DB": "40 Mbyte"})], [("k", {"T": "30 us", "DB": "20 Mbyte"})])
    assert "outside, at the edge: 1 pair" in to_svg(comparison, LIGHT, fixed_frame("1:10,1e9:1e12"))
    assert "outside" not in to_svg(comparison, LIGHT, fixed_frame("0.1:10,1e9:1e12"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_silent_accessible_and_complete(browser: Any, tmp_path: Path, scheme: str) -> None:
    comparison = both(
        tmp_path,
        [("a</script><b>", {"T": "50 us", "DB": "40 Mbyte"}), ("b", {}), ("old", {})],
        [("a</script><b>", {"T": "30 us", "DB": "20 Mbyte"}), ("b", {}), ("new", {})],
    )
    opened = Opened(browser, to_html(comparison), tmp_path, "#k1", bypass_csp=True, color_scheme=scheme)
    opened.page.wait_for_selector('html[data-ready="true"]', state="attached")
    assert (opened.said, len(opened.asked)) == ([], 1)
    assert opened.page.locator('[data-testid="row"]').count() == 2
    assert opened.page.locator("#k1").is_visible()
    assert "time x 0.600 = traffic 0.500 x efficiency 1.200" in opened.page.inner_text("#k1")
    assert violations(opened) == []


def test_same_comparison_gives_the_same_bytes() -> None:
    one, two = (to_html(nr.compare(SAMPLE, SAMPLE)) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("file", "schema"),
    [("github-roofline.yml", "vendor.github-workflows"), ("gitlab-roofline.yml", "vendor.gitlab-ci")],
)
def test_ci_files_are_valid(file: str, schema: str) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / "docs" / "ci" / file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_commands_of_the_page_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_reports").symlink_to(ROOT / "sample_reports")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    commands = [line for line in text.splitlines() if line.startswith("ncu-roofline compare")]
    assert len(commands) >= 4
    for command in commands:
        assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0, command


def test_workflow_finds_its_comment_by_the_first_line_of_it() -> None:
    assert MARKER in (ROOT / "docs" / "ci" / "github-roofline.yml").read_text(encoding="utf-8")


def test_reports_of_the_corpus_are_the_same_as_themselves(corpus: Path) -> None:
    for name in ("02-*", "14-*", "20-*", "29-*", "34-*", "36-*"):
        path = next(corpus.glob(name))
        comparison = nr.compare(path, path)
        assert comparison.verdict in (Verdict.INDISTINGUISHABLE, Verdict.INCOMPARABLE), name
        assert all(one.ratio == 1.0 or math.isnan(one.ratio) for one in comparison.pairs), name
        assert (comparison.gone, comparison.new) == ((), ()), name
        assert to_html(comparison)
        assert json.loads(comparison.to_json())
