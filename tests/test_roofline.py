"""The roofline arithmetic on plain arrays, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncu_roofline.roofline import Member, bound

NAN = float("nan")


def member(
    name: str,
    total: float,
    peak: float,
    *,
    resource: str | None = None,
    pipe: str | None = None,
    rate: float = NAN,
) -> Member:
    return Member(name, resource or name, pipe, np.array([total]), np.array([rate]), np.array([peak]))


def with_rate(name: str, total: float, peak: float, time: float, **options: str) -> Member:
    return member(name, total, peak, rate=total / time, **options)


DECIDED = np.array([False])


def test_slowest_resource_binds() -> None:
    # 12e9 B over 2e12 B/s = 6 ms; 4e9 FLOP over 1e12 FLOP/s = 4 ms; measured 8 ms.
    time = 8e-3
    members = [with_rate("fp32", 4e9, 1e12, time, pipe="fma"), with_rate("dram", 12e9, 2e12, time)]
    result = bound(members, np.array([time]), undecided=DECIDED)
    assert (result.by[0], result.pipe[0]) == ("dram", None)
    assert result.time[0] == pytest.approx(6e-3)
    assert result.fraction[0] == pytest.approx(0.75)
    assert result.headroom[0] == pytest.approx(2e-3)


def test_paths_on_one_pipe_add_up() -> None:
    # 3 ms + 2 ms on one pipe against 4 ms of DRAM.
    time = 1e-2
    members = [
        with_rate("fp32", 3e9, 1e12, time, resource="pipe:fma", pipe="fma"),
        with_rate("fp16", 4e9, 2e12, time, resource="pipe:fma", pipe="fma"),
        with_rate("dram", 8e9, 2e12, time),
    ]
    result = bound(members, np.array([time]), undecided=DECIDED)
    assert (result.by[0], result.pipe[0]) == ("fp32", "fma")
    assert result.time[0] == pytest.approx(5e-3)


def test_different_pipes_overlap() -> None:
    time = 1e-2
    members = [
        with_rate("fp32", 3e9, 1e12, time, resource="pipe:fma", pipe="fma"),
        with_rate("fp16", 4e9, 2e12, time, resource="pipe:fp16", pipe="fp16"),
    ]
    assert bound(members, np.array([time]), undecided=DECIDED).time[0] == pytest.approx(3e-3)


def test_tiers_on_one_data_path_add_up() -> None:
    # L1 load return 1 ms and shared memory 2 ms share the path; DRAM 2.5 ms.
    time = 1e-2
    members = [
        with_rate("l1", 1e9, 1e12, time, resource="data:l1"),
        with_rate("shared", 2e9, 1e12, time, resource="data:l1"),
        with_rate("dram", 2.5e9, 1e12, time),
    ]
    result = bound(members, np.array([time]), undecided=DECIDED)
    assert result.by[0] == "shared"
    assert result.time[0] == pytest.approx(3e-3)


def test_rates_alone_give_a_fraction_and_no_times() -> None:
    # 345.14 of 1756.16 GB/s against 0.344 of 93.57 TFLOP/s.
    members = [
        member("fp32", NAN, 93.568e12, rate=344.1935e9, pipe="fma"),
        member("dram", NAN, 1756.16e9, rate=345.14e9),
    ]
    result = bound(members, np.array([NAN]), undecided=DECIDED)
    assert result.by[0] == "dram"
    assert result.fraction[0] == pytest.approx(345.14 / 1756.16)
    assert np.isnan(result.time[0])
    assert np.isnan(result.headroom[0])


def test_totals_alone_tell_what_binds_and_neither_a_time_nor_a_fraction() -> None:
    members = [member("dram", 2e9, 1e12), member("l2", 1e9, 1e12)]
    result = bound(members, np.array([NAN]), undecided=DECIDED)
    assert result.by[0] == "dram"
    assert np.isnan([result.time[0], result.fraction[0], result.headroom[0]]).all()


def test_totals_and_rates_without_a_time_cannot_be_compared() -> None:
    members = [member("fp32", 5e12, 1e12, pipe="fma"), member("dram", NAN, 1e12, rate=1e10)]
    result = bound(members, np.array([NAN]), undecided=DECIDED)
    assert result.by[0] is None
    assert result.fraction[0] == pytest.approx(0.01)


def test_amount_without_a_ceiling_does_not_bind() -> None:
    result = bound([with_rate("dram", 2e9, NAN, 1.0)], np.array([1.0]), undecided=DECIDED)
    assert result.by[0] is None
    assert np.isnan(result.fraction[0])


def test_zero_work_binds_nothing() -> None:
    result = bound([with_rate("fp32", 0.0, 1e12, 1.0)], np.array([1.0]), undecided=DECIDED)
    assert result.by[0] is None
    assert result.fraction[0] == 0.0


def test_nothing_binds_where_work_is_known_to_be_missing() -> None:
    result = bound([with_rate("dram", 1e9, 1e12, 2e-3)], np.array([2e-3]), undecided=np.array([True]))
    assert result.by[0] is None
    assert result.fraction[0] == pytest.approx(0.5)


def test_no_members_leave_everything_unknown() -> None:
    result = bound([], np.array([1.0]), undecided=DECIDED)
    assert result.by[0] is None
    assert np.isnan(result.time[0])


def test_gpp_on_v100_turns_from_memory_to_compute_between_3_and_4_iterations() -> None:
    # Published series (roofs 828.758 GB/s and 7068.86 GFLOP/s): rate x 1 s of work, bytes by intensity.
    gflops = np.array([2085.757, 3593.593, 4381.739, 4625.536, 4599.764, 4692.209])
    intensity = np.array([2.58479, 4.73888, 6.89297, 9.04706, 11.08619, 13.21154])
    seconds = np.ones(6)
    work, traffic = gflops * 1e9, gflops * 1e9 / intensity
    members = [
        Member("fp64", "pipe:fp64", "fp64", work, work, np.full(6, 7068.86e9)),
        Member("dram", "tier:dram", None, traffic, traffic, np.full(6, 828.758e9)),
    ]
    result = bound(members, seconds, undecided=np.zeros(6, bool))
    assert result.by.tolist() == ["dram"] * 3 + ["fp64"] * 3
    assert (traffic / 1e9).tolist() == pytest.approx([806.9, 758.3, 635.7, 511.3, 414.9, 355.2], abs=0.06)


@given(
    amounts=st.lists(st.floats(1e3, 1e15), min_size=2, max_size=2),
    peaks=st.lists(st.floats(1e9, 1e15), min_size=2, max_size=2),
    time=st.floats(1e-6, 1e2),
)
def test_doubled_time_halves_the_fraction_and_keeps_the_bound(
    amounts: list[float], peaks: list[float], time: float
) -> None:
    def result(seconds: float) -> tuple[object, float, float]:
        members = [with_rate(n, a, p, seconds) for n, a, p in zip(("fp32", "dram"), amounts, peaks, strict=True)]
        found = bound(members, np.array([seconds]), undecided=DECIDED)
        return found.by[0], found.time[0], found.fraction[0]

    by, bound_time, fraction = result(time)
    by_twice, bound_twice, fraction_twice = result(2 * time)
    assert by_twice == by or peaks[0] == peaks[1] or amounts[0] / peaks[0] == pytest.approx(amounts[1] / peaks[1])
    assert bound_twice == pytest.approx(bound_time)
    assert fraction_twice == pytest.approx(fraction / 2)
