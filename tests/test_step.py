"""A step on a timeline of nsys: gaps, overlap, what ncu knows of it, and the list of where time could be won."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.arrays import FloatArray
from ncu_roofline.budget import Step, Triage, devices_apart, resource_seconds, steps_of, triage
from ncu_roofline.budget.occupied import covered, covered_within, merged, shared
from ncu_roofline.cli import main
from ncu_roofline.errors import InputError
from ncu_roofline.render.budget_report import to_markdown
from ncu_roofline.timings import Timeline, read_timeline
from tests.conftest import Write
from tests.support import ROOT, details, launch
from tests.test_figure import FILLED

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"
MICRO = 1_000
# 10 MB of DRAM at 1.28 TB/s are 7.8125 us of 20 us.
FRACTION = 7.8125 / 20


def timeline(
    path: Path,
    kernels: Sequence[tuple[Any, ...]] = (),
    *,
    copies: Sequence[tuple[int, int, int, int]] = (),
    waits: Sequence[tuple[int, int, int, str]] = (),
    graphs: Sequence[tuple[int, int]] = (),
    calls: Sequence[tuple[int, int, int]] = (),
    gpu: str | None = None,
    ranges: Sequence[tuple[int, int, str]] = (),
    devices: str = "",
) -> str:
    """An export: kernels as (device, stream, start, end, name, correlation), times in microseconds.

    A device is also the process that used it. Copies are (stream, start, end, kind), waits (process, start, end, name
    of the call), calls (correlation, start, end).
    """
    names = sorted({kernel[4] for kernel in kernels} | {"cudaLaunchKernel_v7000"} | {wait[3] for wait in waits})
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id, value)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(names)))
        database.execute(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (deviceId, contextId, streamId, start, end, correlationId, "
            "globalPid, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ)"
        )
        for device, stream, start, end, name, correlation in kernels:
            times = start * MICRO, end * MICRO
            row = (device, 1, stream, *times, correlation, device << 24, names.index(name), 512, 1, 1, 256, 1, 1)
            database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * 14)})", row)
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (globalTid, correlationId, start, end, nameId)")
        database.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?)",
            [
                *(
                    (5, number, start * MICRO, end * MICRO, names.index("cudaLaunchKernel_v7000"))
                    for number, start, end in calls
                ),
                *(
                    (process << 24, 1000 + place, start * MICRO, end * MICRO, names.index(name))
                    for place, (process, start, end, name) in enumerate(waits)
                ),
            ],
        )
        database.execute(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (deviceId, contextId, globalPid, streamId, start, end, copyKind)"
        )
        database.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 1, 0, ?, ?, ?, ?)",
            [(stream, start * MICRO, end * MICRO, kind) for stream, start, end, kind in copies],
        )
        if graphs:
            database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (deviceId, streamId, start, end)")
            database.executemany(
                "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 7, ?, ?)",
                [(start * MICRO, end * MICRO) for start, end in graphs],
            )
        if ranges:
            database.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)")
            database.executemany(
                "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, 5, 0)",
                [(start * MICRO, end * MICRO, text) for start, end, text in ranges],
            )
        if gpu is not None:
            database.execute("CREATE TABLE TARGET_INFO_GPU (id, name, clockRate, memoryBandwidth)")
            database.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, ?, 1000, 1000)", (gpu,))
        database.executescript(devices)
    database.close()
    return str(path)


def report(write: Write, *kernels: str, **more: str) -> nr.Analysis:
    """Launches that need 7.8125 us of DRAM and take 20 us."""
    rows = [row for number, name in enumerate(kernels) for row in launch(FILLED | more, number=number, kernel=name)]
    return nr.analyze(write(details(*rows)))


def needed(analysis: nr.Analysis) -> Mapping[str, FloatArray]:
    return resource_seconds(analysis.columns, analysis.maps)


def step(analysis: nr.Analysis, path: str) -> Step:
    (found,) = steps_of(analysis.columns, needed(analysis), read_timeline(path))
    return found


def test_gaps_by_what_they_wait_for(write: Write, tmp_path: Path) -> None:
    # 10..20 busy; the launch of the next is issued at 50, it begins at 53: the host is late by 30, of which it waits
    # 20..26; 3 are queued. 60..64 is a gap whose launch was issued at 40 already.
    path = timeline(
        tmp_path / "t.sqlite",
        [(0, 7, 10, 20, "k", 1), (0, 7, 53, 60, "k", 2), (0, 7, 64, 70, "k", 3)],
        calls=[(1, 0, 4), (2, 50, 52), (3, 40, 46)],
        waits=[(0, 12, 26, "cudaDeviceSynchronize_v3020"), (0, 30, 45, "cudaStreamWaitEvent_v3020")],
    )
    found = step(report(write, "k"), path)
    assert found.span == pytest.approx(60e-6)
    assert found.busy == pytest.approx(23e-6)
    assert found.idle_by == pytest.approx(
        {"host": 24e-6, "synchronisation": 6e-6, "queued": 7e-6, "unknown": 0.0}, abs=1e-15
    )
    # Calls of 4, 2 and 6.
    assert found.call == pytest.approx(4e-6)


def test_gap_before_an_activity_whose_call_is_not_traced_is_not_explained(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 5, "k", 1), (0, 7, 9, 12, "k", 2)])
    found = step(report(write, "k"), path)
    assert found.idle_by["unknown"] == pytest.approx(4e-6)
    assert math.isnan(found.call)
    assert "2 of 2 activities have no API call" in read_timeline(path).notes[0]


def test_kernels_of_two_streams_overlap(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "a", 1), (0, 8, 6, 20, "b", 2)])
    found = step(report(write, "a", "b"), path)
    assert (found.streams, found.launches) == (2, 2)
    assert found.kernels == pytest.approx(24e-6)
    assert found.overlapped == pytest.approx(4e-6)
    by_name = dict(zip(found.groups["kernel"], found.groups["alone"], strict=True))
    assert by_name == pytest.approx({"a": 6e-6, "b": 10e-6})


def test_bounds_of_a_step_by_hand(write: Write, tmp_path: Path) -> None:
    # Both kernels reach FRACTION of their bound, of the 4 us in which both run each has half; the copy stays as it is.
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "a", 1), (0, 8, 6, 20, "b", 2)], copies=[(7, 20, 25, 1)])
    found = step(report(write, "a", "b"), path)
    assert found.known_share == pytest.approx(1.0)
    assert found.serial == pytest.approx(FRACTION * 20e-6 + 5e-6)
    assert found.by_stream == pytest.approx(max(FRACTION * 8e-6 + 5e-6, FRACTION * 12e-6))
    assert found.aggregate == pytest.approx(FRACTION * 20e-6)
    assert found.resource == "dram"


def test_kernel_that_ncu_did_not_see_stays_as_it_is(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 30, "k", 1), (0, 7, 30, 40, "other", 2)])
    found = step(report(write, "k"), path)
    assert found.known_share == pytest.approx(0.75)
    assert found.serial == pytest.approx(FRACTION * 30e-6 + 10e-6)


def test_sample_of_ncu_is_weighted_by_the_launches_of_the_timeline(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 10 * n, 10 * n + 8, "k", n) for n in range(5)])
    found = step(report(write, "k"), path)
    assert found.groups["launches"].tolist() == [5]
    assert found.groups["could"][0] == pytest.approx(FRACTION * 40e-6)


def test_list_is_ranked_by_the_time_to_win_and_says_what_the_step_gains(write: Write, tmp_path: Path) -> None:
    path = timeline(
        tmp_path / "t.sqlite",
        [(0, 7, 0, 40, "k", 1), (0, 7, 90, 100, "ncclDevKernel_AllReduce(int)", 2)],
        calls=[(1, 0, 0), (2, 80, 82)],
    )
    found = step(report(write, "k"), path)
    kinds = [item.kind for item in found.items]
    assert kinds == ["host", "kernel", "communication", "queued"]
    # 40 us late of 100; 40 (1 - FRACTION) us of the kernel; 10 us of communication alone; 10 us queued.
    assert [item.seconds for item in found.items] == pytest.approx([40e-6, 40e-6 * (1 - FRACTION), 10e-6, 10e-6])
    assert found.items[0].speedup == pytest.approx(100 / 60)


def test_only_what_runs_alone_can_be_won(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 40, "k", 1), (0, 8, 0, 30, "other", 2)])
    found = step(report(write, "k"), path)
    (item,) = [item for item in found.items if item.kind == "kernel"]
    assert item.seconds == pytest.approx(10e-6 * (1 - FRACTION))


@pytest.mark.parametrize(("kind", "name"), [(1, "transfer"), (2, "transfer"), (10, "transfer"), (8, "copy")])
def test_copy_that_a_kernel_hides_is_not_exposed(write: Write, tmp_path: Path, kind: int, name: str) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)], copies=[(8, 6, 18, kind)])
    assert step(report(write, "k"), path).exposed == pytest.approx({name: 8e-6})


def test_graph_is_busy_and_not_explained(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)], graphs=[(10, 60)])
    found = step(report(write, "k"), path)
    assert found.graphs == pytest.approx(50e-6)
    assert found.serial == pytest.approx(FRACTION * 10e-6 + 50e-6)
    assert "their kernels are in no table" in " ".join(read_timeline(path).notes)


def test_devices_are_steps_of_their_own(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1), (1, 7, 5, 25, "k", 2)])
    analysis = report(write, "k")
    found = steps_of(analysis.columns, needed(analysis), read_timeline(path))
    assert [one.device for one in found] == [0, 1]
    assert [one.span for one in found] == pytest.approx([10e-6, 20e-6])


NAMED = {"device__attribute_display_name": "A100-SXM4-40GB"}


def test_fractions_of_another_device_are_not_used(write: Write, tmp_path: Path) -> None:
    analysis = report(write, "k", **NAMED)
    other, same, unnamed = (
        timeline(tmp_path / f"{gpu}.sqlite", [(0, 7, 0, 10, "k", 1)], gpu=gpu)
        for gpu in ("NVIDIA B200", "NVIDIA A100 SXM4 40GB", None)
    )
    assert [step(analysis, path).known_share for path in (other, same, unnamed)] == [0.0, 1.0, 1.0]
    said = [" ".join(devices_apart(analysis.columns, read_timeline(path))) for path in (other, same, unnamed)]
    assert "no fraction is used of the 1 launches of the reports that ran on A100-SXM4-40GB" in said[0]
    assert said[1] == ""
    assert "does not say what device 0 is" in said[2]


def second_gpu(name: str, devices: str) -> str:
    """Another GPU of the machine, and the number (gpuId, cudaId, pid) that each GPU has in each process."""
    return (
        f"INSERT INTO TARGET_INFO_GPU VALUES (1, '{name}', 1, 1);"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
        f"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES {devices};"
    )


def test_device_of_an_activity_is_that_of_cuda(write: Write, tmp_path: Path) -> None:
    # The machine numbers its GPUs in another order than CUDA does.
    more = second_gpu("NVIDIA A100-SXM4-40GB", "(1, 0, 7), (0, 1, 7)")
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)], gpu="NVIDIA H200", devices=more)
    assert read_timeline(path).devices == {0: "NVIDIA A100-SXM4-40GB", 1: "NVIDIA H200"}


def test_report_of_two_devices_gives_the_fractions_of_the_right_one(write: Write, tmp_path: Path) -> None:
    slow = FILLED | {"device__attribute_display_name": "H100-PCIe", "T": "80 us"}
    rows = [*launch(FILLED | NAMED, kernel="k"), *launch(slow, number=1, kernel="k")]
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)], gpu="NVIDIA A100-SXM4-40GB")
    found = step(nr.analyze(write(details(*rows))), path)
    assert found.groups["fraction"].tolist() == pytest.approx([FRACTION])


def test_waits_of_another_process_explain_nothing(write: Write, tmp_path: Path) -> None:
    path = timeline(
        tmp_path / "t.sqlite",
        [(0, 7, 0, 10, "k", 1), (0, 7, 110, 120, "k", 2), (1, 7, 0, 100, "k", 3)],
        calls=[(1, 0, 1), (2, 105, 106)],
        waits=[(1, 5, 100, "cudaDeviceSynchronize_v3020")],
    )
    analysis = report(write, "k")
    first, _ = steps_of(analysis.columns, needed(analysis), read_timeline(path))
    assert first.idle_by["synchronisation"] == 0
    assert first.idle_by["host"] == pytest.approx(95e-6)


def test_kernels_of_a_graph_share_the_time_of_their_call(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 10 * n, 10 * n + 5, "k", 1) for n in range(100)], calls=[(1, 0, 60)])
    found = step(report(write, "k"), path)
    assert (found.launches, found.calls) == (100, 1)
    assert found.host_time == pytest.approx(60e-6)


def test_bounds_of_a_step_are_not_above_what_it_took(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 100, "k", 1), (0, 8, 0, 100, "k", 2)])
    found = step(report(write, "k"), path)
    assert found.serial == pytest.approx(FRACTION * 100e-6)
    assert max(found.serial, found.by_stream, found.aggregate) <= found.span
    # Neither runs alone, so that nothing is promised.
    assert found.items == ()


def test_kernel_above_its_ceiling_is_taken_to_be_at_it(write: Write, tmp_path: Path) -> None:
    # 40 MB at 1.28 TB/s are 31.25 us of 20 us.
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)])
    found = step(report(write, "k", DB="40 Mbyte"), path)
    assert [found.serial, found.by_stream, found.aggregate] == pytest.approx([10e-6] * 3)


def test_communication_is_listed_once(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "nccl_x", 1)])
    assert [item.kind for item in step(report(write, "nccl_x"), path).items] == ["communication"]


def test_number_that_means_several_devices_is_told_apart_by_process(write: Write, tmp_path: Path) -> None:
    more = second_gpu("NVIDIA H200", "(1, 0, 0), (0, 0, 1)")
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)], gpu="NVIDIA A100-SXM4-40GB", devices=more)
    read = read_timeline(path)
    assert [read.devices[device] for device in read.activities["device"].tolist()] == ["NVIDIA H200"]


def test_activities_of_one_device_that_processes_number_differently_are_by_start(tmp_path: Path) -> None:
    more = second_gpu("NVIDIA H200", "(0, 0, 0), (0, 1, 1), (1, 0, 1)")
    path = timeline(
        tmp_path / "t.sqlite",
        [(0, 7, 10, 12, "b", 1), (0, 7, 30, 32, "d", 2), (1, 7, 0, 2, "a", 3), (1, 7, 20, 22, "c", 4)],
        gpu="NVIDIA A100-SXM4-40GB", devices=more,
    )  # fmt: skip
    read = read_timeline(path)
    assert (read.activities["device"].tolist(), read.activities["kernel"].tolist()) == ([0] * 4, ["a", "b", "c", "d"])


def test_names_of_ranges_are_scrubbed_from_messages(tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 10, 20, "k", 1)], calls=[(1, 1, 2)], ranges=[(0, 5, "secret")])
    result = CliRunner().invoke(main, ["budget", str(SAMPLE), "--timeline", path, "--nvtx", "x", "--scrub-kernels"])
    assert (result.exit_code, "secret" in result.stderr) == (2, False)


def test_launches_without_a_time_are_in_no_fraction(write: Write, tmp_path: Path) -> None:
    rows = [*launch(FILLED), *launch({name: text for name, text in FILLED.items() if name != "T"}, number=1)]
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 40, "k", 1)])
    found = step(nr.analyze(write(details(*rows))), path)
    assert found.aggregate == pytest.approx(FRACTION * 40e-6)
    assert found.serial == pytest.approx(FRACTION * 40e-6)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", "communication"),
        ("void vllm::cross_device_reduce_1stage<float, 2>(int)", "communication"),
        ("two_shot_all_reduce_kernel", "communication"),
        ("smallReduceKernel(int)", "kernel"),
        ("small_gather_rows", "kernel"),
        ("void reduce<all_reduce_tag>(int)", "kernel"),
    ],
)
def test_communication_is_known_by_the_name_of_the_function(write: Write, tmp_path: Path, name: str, kind: str) -> None:
    found = step(report(write, "k"), timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, name, 1)]))
    assert found.groups["kind"].tolist() == [kind]


def test_values_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)])
    with sqlite3.connect(path) as database:
        database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'many'")
    database.close()
    with pytest.raises(InputError, match="is not what it has to be"):
        read_timeline(path)


def test_device_that_is_not_told_has_no_number(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)])
    with sqlite3.connect(path) as database:
        database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = NULL")
    database.close()
    assert step(report(write, "k"), path).device is None


def test_copy_from_host_to_host_is_no_activity_of_a_device(tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 10, "k", 1)], copies=[(7, 20, 25, 9)])
    assert read_timeline(path).activities["kind"].tolist() == ["kernel"]


def test_only_activities_of_a_range_are_the_step(write: Write, tmp_path: Path) -> None:
    path = timeline(
        tmp_path / "t.sqlite",
        [(0, 7, 10, 20, "k", 1), (0, 7, 30, 40, "k", 2), (0, 7, 50, 80, "k", 3)],
        calls=[(1, 1, 2), (2, 21, 22), (3, 41, 42)],
        ranges=[(20, 45, "step")],
    )
    document = budget(write(details(*launch(FILLED))), "--timeline", path, "--nvtx", "step", "--format", "json")
    (found,) = document["steps"]
    assert found["span"] == pytest.approx(50e-6)
    assert found["launches"] == 2


def test_what_runs_outside_of_the_range_hides_gaps(tmp_path: Path) -> None:
    path = timeline(
        tmp_path / "t.sqlite",
        [(0, 7, 0, 10, "k", 1), (0, 8, 5, 90, "other", 2), (0, 7, 95, 100, "k", 3)],
        calls=[(1, 0, 1), (2, 2, 3), (3, 4, 5)],
        ranges=[(0, 1, "step"), (4, 5, "step")],
    )
    document = budget(str(SAMPLE), "--timeline", path, "--nvtx", "step", "--format", "json")
    (found,) = document["steps"]
    assert (found["launches"], found["span"]) == (2, pytest.approx(100e-6))
    assert found["idle"] == pytest.approx(5e-6)
    assert [group["kernel"] for group in found["groups"]] == ["k"]


def test_scrubbed_names_are_still_joined_and_nowhere_in_the_output(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "secret.sqlite", [(0, 7, 0, 30, "k_of_mine", 1), (0, 7, 30, 40, "another_one", 2)])
    source = write(details(*launch(FILLED, kernel="k_of_mine")))
    document = budget(source, "--timeline", path, "--scrub-kernels", "--format", "json")
    assert document["steps"][0]["known_share"] == pytest.approx(0.75)
    text = json.dumps(document)
    for name in ("k_of_mine", "another_one", "secret"):
        assert name not in text


def test_findings_of_the_reports_are_named(write: Write) -> None:
    source = write(details(*launch(FILLED | {"DB": "100 Mbyte"})))
    result = CliRunner().invoke(main, ["budget", source])
    assert result.exit_code == 1
    assert "error P301 above-ceiling" in result.stdout


def budget(*arguments: str) -> Any:
    result = CliRunner().invoke(main, ["budget", *arguments])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout) if "json" in arguments else result.stdout


def test_analysis_gives_its_budget(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 30, "k", 1)], calls=[(1, 0, 3)])
    found = report(write, "k").budget(path)
    assert [one.launches for one in found.steps] == [1]
    assert found.call == pytest.approx(3e-6)
    alone = report(write, "k").budget(launch_time=5e-6)
    assert (alone.timeline, alone.steps, alone.call) == (None, (), 5e-6)
    (bound,) = alone.bounds
    assert bound.bound is not None
    assert bound.bound.serial == pytest.approx(7.8125e-6)


def test_kernel_without_a_name_has_a_dash_in_markdown(write: Write) -> None:
    analysis = report(write, "k")
    found = analysis.budget()
    (one,) = found.triage
    text = to_markdown(replace(found, triage=(replace(one, kernel=None),)), analysis, 12)
    assert "\n-, grid 512: " in text
    assert "None" not in text


def test_what_is_not_shown_is_no_row_of_a_table(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 30, "a", 1), (0, 7, 30, 60, "b", 2)])
    source = write(details(*launch(FILLED, kernel="a"), *launch(FILLED, kernel="b", number=1)))
    lines = budget(source, "--timeline", path, "--top", "1", "--format", "markdown").splitlines()
    said = [place for place, line in enumerate(lines) if line == "1 more not shown."]
    assert [lines[place - 1] for place in said] == ["", ""]


def test_control_characters_of_a_report_do_not_reach_the_terminal(write: Write) -> None:
    text = budget(write(details(*launch(FILLED)), "a\x1b[31m.csv"))
    assert "a\\u001b[31m.csv" in text
    assert "\x1b" not in text


def test_launch_overhead_without_a_timeline_is_that_of_the_user() -> None:
    assert "Launch overhead: 5 launches x 3.000 us = 15.00 us of the host." in budget(
        str(SAMPLE), "--launch-time", "3 us"
    )
    assert "Launch overhead" not in budget(str(SAMPLE))


def test_without_a_timeline_the_bounds_of_the_launches_remain() -> None:
    text = budget(str(SAMPLE))
    assert "serial bound (one after the other) 3.329 ms" in text
    assert "aggregate bound (looser: as if all overlapped)" in text
    assert "No timeline was given" in text


def test_output_names_what_was_looked_at(write: Write, tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 0, 30, "k", 1), (0, 7, 30, 40, "other", 2)], calls=[(1, 0, 3)])
    text = budget(write(details(*launch(FILLED))), "--timeline", path)
    for part in ("took 40.00 us", "ncu knows a fraction of the bound for 75.0% of the kernel time",
                 "launching: 1 call x 3.000 us = 3.000 us of the host", "could take: serial"):  # fmt: skip
        assert part in text
    markdown = budget(write(details(*launch(FILLED))), "--timeline", path, "--format", "markdown")
    assert "| `k` |" in markdown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nvtx", "step"], "give --timeline FILE"),
        (["--launch-time", "3 MB"], "is in byte"),
        (["--launch-time", "3"], "needs its unit"),
        (["--timeline", "absent.sqlite"], "cannot be read"),
        (["--timeline", str(SAMPLE)], "which is an SQLite export of nsys"),
        (["--figure", "x.bmp"], "is no name of a picture"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["budget", str(SAMPLE), *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_range_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(0, 7, 10, 20, "k", 1)], calls=[(1, 1, 2)], ranges=[(0, 5, "forward")])
    result = CliRunner().invoke(main, ["budget", str(SAMPLE), "--timeline", path, "--nvtx", "step"])
    assert "ranges are forward" in result.stderr


def test_figure_has_three_bars_for_each_group(tmp_path: Path) -> None:
    budget(str(SAMPLE), "--launch-time", "3 us", "--figure", str(tmp_path / "b.svg"))
    drawing = (tmp_path / "b.svg").read_text()
    assert drawing.count("data-measured=") == drawing.count("data-memory=") == 5
    # The hash does no floating-point work.
    assert drawing.count("data-arithmetic=") == 4
    assert "launching takes the host 3.000 us" in drawing


# Real exports.


@pytest.mark.parametrize(
    ("name", "devices", "kernels"),
    [
        ("t03-algo23_capture.sqlite", [0], 11_649e-9),
        ("t10-result_2_7B_compile_ro.sqlite", [0], 78_270e-9),
        ("t13-prof.sqlite", [0], 422_543_322e-9),
        ("t14-report1.sqlite", [0], 8_544_420e-9),
        ("t15-h100_2gpu_1s.sqlite", [0, 1], 22_385_163e-9),
    ],
)
def test_real_timeline(corpus: Path, name: str, devices: list[int], kernels: float) -> None:
    # Sums of end - start by SQL.
    analysis = nr.analyze(str(SAMPLE))
    found = steps_of(analysis.columns, needed(analysis), read_timeline(str(corpus / "timings" / name)))
    assert [one.device for one in found] == devices
    assert found[0].kernels == pytest.approx(kernels)
    for one in found:
        assert one.span == pytest.approx(one.busy + sum(one.idle_by.values()))


def test_real_graphs_hide_their_kernels(corpus: Path) -> None:
    analysis = nr.analyze(str(SAMPLE))
    (found,) = steps_of(
        analysis.columns, needed(analysis), read_timeline(str(corpus / "timings" / "t10-result_2_7B_compile_ro.sqlite"))
    )
    assert found.graphs == pytest.approx(7.811, rel=1e-4)
    assert found.exposed["graph"] > 0.999 * found.span


def test_real_export_without_kernels_says_so(corpus: Path) -> None:
    with pytest.raises(InputError, match="no kernels"):
        read_timeline(str(corpus / "timings" / "t16-report1.sqlite"))


# Intervals.

INTERVALS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=12)


def arrays(intervals: list[tuple[int, int]]) -> tuple[Any, Any]:
    start = np.array([begin for begin, _ in intervals], np.float64)
    return start, start + np.array([length for _, length in intervals], np.float64)


@settings(max_examples=100, deadline=None)
@given(INTERVALS)
def test_covered_time_is_that_of_every_instant(intervals: list[tuple[int, int]]) -> None:
    start, end = arrays(intervals)
    instants = {t for begin, length in intervals for t in range(begin, begin + length)}
    assert covered(start, end) == len(instants)
    begins, ends = merged(start, end)
    assert (begins[1:] > ends[:-1]).all()


@settings(max_examples=100, deadline=None)
@given(INTERVALS, st.integers(0, 40), st.integers(0, 40))
def test_covered_part_of_a_window(intervals: list[tuple[int, int]], low: int, length: int) -> None:
    start, end = arrays(intervals)
    instants = {t for begin, size in intervals for t in range(begin, begin + size) if low <= t < low + length}
    found = covered_within(start, end, np.array([float(low)]), np.array([float(low + length)]))
    assert found[0] == pytest.approx(len(instants))


@settings(max_examples=100, deadline=None)
@given(INTERVALS)
def test_time_alone_and_shared_is_that_of_the_instants(intervals: list[tuple[int, int]]) -> None:
    start, end = arrays(intervals)
    running = [sum(begin <= t < begin + length for begin, length in intervals) for t in range(80)]
    alone, part = shared(start, end)
    for number, (begin, length) in enumerate(intervals):
        mine = running[begin : begin + length]
        assert alone[number] == pytest.approx(mine.count(1))
        assert part[number] == pytest.approx(sum(1 / count for count in mine))
    assert part.sum() == pytest.approx(covered(start, end))


# Triage.


def judged(analysis: nr.Analysis, call: float = math.nan) -> Triage:
    (found,) = triage(analysis.columns, needed(analysis), analysis.groups(), call)
    return found


def says(found: Triage, check: str) -> tuple[str | None, str]:
    (statement,) = [one for one in found.statements if one.check == check]
    return statement.says, statement.evidence


def test_metric_fits_the_side_of_the_ridge() -> None:
    analysis = nr.analyze(str(SAMPLE))
    found = triage(analysis.columns, needed(analysis), analysis.groups())
    sides = {str(one.kernel).split("(")[0].split("<")[0]: (one.side, one.metric) for one in found}
    assert sides["triad"] == ("left", "dram B/s over its ceiling")
    assert sides["void gemm_tensor"] == ("right", "tensor.fp16.acc32 FLOP/s over its ceiling")


def test_times_of_a_launch_against_both_bounds(write: Write) -> None:
    # 10 MB / 1.28 TB/s; 10 MFLOP / 13.824 TFLOP/s; two launches of one group.
    found = judged(report(write, "k", "k"))
    assert found.memory == pytest.approx(7.8125e-6)
    assert found.arithmetic == pytest.approx(1e7 / 13.824e12)
    assert found.time == pytest.approx(20e-6)


def test_checks_are_made_only_where_the_bound_is_far(write: Write) -> None:
    assert judged(report(write, "k", T="10 us")).statements == ()
    checks = [one.check for one in judged(report(write, "k")).statements]
    assert checks == ["no overlap", "host", "communication", "occupancy", "waves and tail", "parallelism"]


def test_sum_of_both_sides_means_that_they_do_not_overlap(write: Write) -> None:
    # 7.8125 us of memory + 40 MFMA: 80 MFLOP / 13.824 TFLOP/s = 5.787 us = 13.6 us, took 14.
    found = judged(report(write, "k", T="14 us", FFMA="40,000,000 inst"))
    said, evidence = says(found, "no overlap")
    assert said is not None
    assert "gains up to 1.74x" in said
    assert "5.787 us arithmetic + 7.813 us memory = 13.60 us, took 14.00 us" in evidence
    far = judged(report(write, "k", T="30 us", FFMA="40,000,000 inst"))
    assert says(far, "no overlap")[0] is None


def test_missing_counter_makes_no_verdict(write: Write) -> None:
    found = judged(report(write, "k"))
    for check in ("host", "communication", "occupancy", "waves and tail"):
        said, evidence = says(found, check)
        assert said is None
        assert evidence.startswith("not checked")


def test_launch_whose_amount_is_not_known_is_in_no_mean(write: Write) -> None:
    rows = [*launch(FILLED), *launch({"T": "20 us", "FFMA": "5,000,000 inst"}, number=1)]
    found = judged(nr.analyze(write(details(*rows))))
    assert found.memory == pytest.approx(7.8125e-6)
    without_time = {name: text for name, text in FILLED.items() if name != "T"}
    rows = [*launch(FILLED), *launch(without_time, number=1)]
    assert judged(nr.analyze(write(details(*rows)))).time == pytest.approx(20e-6)


@pytest.mark.parametrize(("call", "is_late"), [(25e-6, True), (15e-6, False)])
def test_host_cannot_stay_ahead_of_launches_shorter_than_their_calls(write: Write, call: float, is_late: bool) -> None:
    said, evidence = says(judged(report(write, "k"), call), "host")
    assert (said is not None) == is_late
    assert "a launch runs 20.00 us" in evidence


@pytest.mark.parametrize(
    ("check", "metrics", "said"),
    [
        ("occupancy", {"sm__warps_active.avg.pct_of_peak_sustained_active": "21 %"}, "few warps hide latency"),
        ("waves and tail", {"launch__waves_per_multiprocessor": "1.2"}, "up to 40% of the SMs"),
        (
            "parallelism",
            {"device__attribute_multiprocessor_count": "1,024"},
            "too few blocks: 50% of the SMs have none",
        ),
    ],
)
def test_check_with_its_counter(write: Write, check: str, metrics: dict[str, str], said: str) -> None:
    found, _ = says(judged(report(write, "k", **metrics)), check)
    assert found is not None
    assert said in found


@pytest.mark.parametrize(
    ("check", "metrics"),
    [
        ("occupancy", {"sm__warps_active.avg.pct_of_peak_sustained_active": "91 %"}),
        ("waves and tail", {"launch__waves_per_multiprocessor": "7.95"}),
        ("parallelism", {"device__attribute_multiprocessor_count": "108"}),
    ],
)
def test_check_that_finds_nothing_gives_its_numbers(write: Write, check: str, metrics: dict[str, str]) -> None:
    said, evidence = says(judged(report(write, "k", **metrics)), check)
    assert said is None
    assert "not checked" not in evidence


def test_timeline_is_ordered_by_device_and_start(tmp_path: Path) -> None:
    path = timeline(tmp_path / "t.sqlite", [(1, 7, 5, 9, "k", 1), (0, 7, 8, 9, "k", 2), (0, 7, 1, 2, "k", 3)])
    read: Timeline = read_timeline(path)
    assert read.activities["start"].tolist() == pytest.approx([0.0, 7e-6, 4e-6])
