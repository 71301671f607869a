"""Times of other producers: what is read from each, what is refused, and how it is joined to launches."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.render.terminal import render_table
from ncu_roofline.timings import Timings, join, load_timings
from ncu_roofline.timings.names import base_name, beginning, normalised, with_arguments
from tests import binary_report
from tests.conftest import Write
from tests.support import cells, finding, launch, quoted

TRACE_2025 = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
)
TRACE_2021 = (
    "Start(sec),Duration(nsec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem,DymSMem,Bytes,Thru(MB/s),"
    "SrcMemKd,DstMemKd,Device,Ctx,Strm,Name"
)
SUMMARY_2025 = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name"
API = "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name"
SKIPPED = "Processing [x.sqlite] with [/opt/nsight-systems/2025.1.1/reports/cuda_gpu_kern_sum.py]... \nSKIPPED: x.sqlite does not contain CUDA kernel data.\n"


def trace_row(
    name: str, ns: float, *, grid: str = "512,1,1", block: str = "256,1,1", device: str = "NVIDIA A100 (0)"
) -> str:
    return f'1000,{ns},5,{grid},{block},32,0.000,0.000,,,,,{device},1,,7,"{name}"'


def trace(*rows: str) -> str:
    return "\n".join([TRACE_2025, *rows]) + "\n"


def load(write: Write, content: str | bytes, name: str = "times") -> Timings:
    return load_timings(write(content, name))


def first(timings: Timings) -> dict[str, Any]:
    return {name: column.tolist()[0] for name, column in timings.columns.items()}


def read_or_refused(path: Path) -> bool:
    """Whether a file has times or is refused by its name; anything else is a defect."""
    try:
        return len(load_timings(str(path))) > 0
    except nr.NcuRooflineError as error:
        return str(path) in str(error)


# --- nsys stats ---


def test_trace_has_a_row_for_each_kernel_launch(write: Write) -> None:
    copy = "900,22400,929,,,,,,,,,,1.000,44642.000,Pageable,Device,NVIDIA A100 (0),1,,7,[CUDA memcpy Host-to-Device]"
    found = load(write, trace(copy, trace_row("k(float *)", 11649), trace_row("k(float *)", 11700)))
    assert found.columns["time"].tolist() == pytest.approx([11.649e-6, 11.7e-6])
    assert first(found) | {"time": 0} == {
        "kernel": "k(float *)", "mangled": None, "grid": (512, 1, 1), "block": (256, 1, 1), "device": 0, "label": None,
        "nvtx": None,
        "statistic": "single launch", "time": 0, "samples": 1,
    }  # fmt: skip


def test_columns_of_a_trace_of_2021_have_units_of_their_own(write: Write) -> None:
    row = '1.5,35115,5,512,1,1,256,1,1,32,0,0,,,,,NVIDIA A100 (0),1,7,"k(int)"'
    assert first(load(write, f"{TRACE_2021}\n{row}\n"))["time"] == pytest.approx(35.115e-6)


def test_literal_none_is_an_empty_cell(write: Write) -> None:
    row = '1,22240,36,1024,1,1,256,2,1,40,0.000,0.006,None,,None,None,NVIDIA A100 (0),1,,7,"k()"'
    assert first(load(write, f"{TRACE_2025}\n{row}\n"))["grid"] == (1024, 1, 1)


@pytest.mark.parametrize(
    ("header", "row", "seconds", "statistic"),
    [
        (SUMMARY_2025, "100,9000,3,3000.0,2500.0,2000,4500,1.0,k", 2.5e-6, "median"),
        ("Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name", "100,9000,3,3000.0,2000,4500,k", 3e-6, "average"),
        ("Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name",
         "100,9,3,3.0,2.5,2,4.5,1,k", 2.5e-6, "median"),
    ],
)  # fmt: skip
def test_summary_gives_the_median_else_the_average_in_its_unit(
    write: Write, header: str, row: str, seconds: float, statistic: str
) -> None:
    found = first(load(write, f"{header}\n{row}\n"))
    assert found["time"] == pytest.approx(seconds)
    assert (found["statistic"], found["samples"], found["grid"]) == (statistic, 3, None)


def test_unit_may_stand_in_the_heading(write: Write) -> None:
    text = (
        "CUDA Kernel Statistics (microseconds)\n\n"
        "Time(%)      Total Time   Instances         Average  Name      \n"
        "-------  --------------  ----------  --------------  ----------\n"
        "  100.0           1,200           2             600  a_kernel  \n"
    )
    found = first(load(write, text))
    assert (found["kernel"], found["samples"]) == ("a_kernel", 2)
    assert found["time"] == pytest.approx(600e-6)


def test_summary_by_shape_has_the_shape(write: Write) -> None:
    header = SUMMARY_2025.replace(",Name", ",GridXYZ,BlockXYZ,Name")
    found = first(load(write, f"{header}\n100,9,1,9,9.0,9,9,0, 128    1    1, 64    2    1,k\n"))
    assert (found["grid"], found["block"]) == ((128, 1, 1), (64, 2, 1))


def test_kernel_table_is_found_among_other_reports_of_one_file(write: Write) -> None:
    text = f"{SKIPPED}\nProcessing x\n{API}\n90,5000,7,1,1,1,1,1,cudaLaunchKernel\n\nProcessing y\n{SUMMARY_2025}\n9,8,1,8,8,8,8,0,k\n"
    found = load(write, text)
    assert found.columns["kernel"].tolist() == ["k"]
    assert any("API calls" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SKIPPED, "no kernel data in this export"),
        (f"{API}\n90,5000,7,1,1,1,1,1,cudaLaunchKernel\n", "only times of API calls, which the CPU spends"),
        ("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range\n1,2,3,4,5,6,7,8,P,r\n",
         "only NVTX ranges, which are times of the CPU"),
        (f"{TRACE_2025}\n", "no kernel data"),
    ],
)  # fmt: skip
def test_output_of_nsys_without_kernel_times_is_refused_with_the_reason(write: Write, text: str, why: str) -> None:
    with pytest.raises(nr.NcuRooflineError, match=why):
        load(write, text)


# --- nsys export ---


def export(path: Path, *kernels: Sequence[Any], mangled: bool = True, extra: str = "") -> str:
    """An export with kernels as (device, start, end, name, mangled name, grid x)."""
    names = sorted({name for kernel in kernels for name in kernel[3:5] if name})
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(names)))
        column = ", mangledName" if mangled else ""
        if kernels:
            database.execute(
                f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (deviceId, start, end, demangledName{column}, gridX, gridY, gridZ, blockX, blockY, blockZ)"
            )
        for device, start, end, name, mangled_name, grid in kernels:
            values = [
                device,
                start,
                end,
                names.index(name),
                *([names.index(mangled_name)] if mangled else []),
                grid,
                1,
                1,
                256,
                1,
                1,
            ]
            database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * len(values))})", values)
        if extra:
            database.executescript(extra)
    database.close()
    return str(path)


def test_kernels_of_an_export_come_by_device_and_start(tmp_path: Path) -> None:
    path = export(
        tmp_path / "x.sqlite",
        (1, 50, 90, "b()", "_Z1bv", 2),
        (0, 70, 75, "a()", "_Z1av", 1),
        (0, 10, 30, "a()", "_Z1av", 1),
    )
    found = load_timings(path)
    assert found.columns["time"].tolist() == pytest.approx([20e-9, 5e-9, 40e-9])
    assert first(found)["mangled"] == "_Z1av"
    assert "kernels of 2 devices: 0, 1" in found.notes


def test_export_of_2021_has_no_mangled_names(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", (0, 0, 9, "a()", None, 1), mangled=False)
    assert first(load_timings(path))["mangled"] is None


NVTX = """
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid, domainId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (15, 16, 16777216 * 3 + 7, 1), (25, 26, 16777216 * 3 + 7, 2), (15, 16, 16777216 * 4 + 7, 2);
INSERT INTO NVTX_EVENTS VALUES
    (1, 1, 75, 'CCCL', NULL, 16777216 * 3 + 7, 1), (10, 30, 59, 'step', NULL, 16777216 * 3 + 7, 0),
    (12, 20, 59, 'sort', NULL, 16777216 * 3 + 7, 1), (10, 30, 59, 'other thread', NULL, 16777216 * 3 + 8, 0);
ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN globalPid; ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN correlationId;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = 16777216 * 3, correlationId = deviceId + 1;
"""
"""Calls of two processes with one correlation id, and nested ranges on one thread."""


def test_ranges_around_the_call_of_a_launch_are_its_ranges(tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", (0, 40, 49, "a()", "_Z1av", 1), (1, 50, 59, "b()", "_Z1bv", 1), extra=NVTX)
    found = load_timings(path).columns["nvtx"].tolist()
    # The first call, at 15, is inside both; the second, at 25, after the inner one.
    assert found == [(("", "step"), ("CCCL", "sort")), (("", "step"),)]


def test_launches_of_a_real_export_without_their_calls_have_no_ranges(corpus: Path) -> None:
    found = load_timings(str(corpus / "timings" / "t15-h100_2gpu_1s.sqlite")).columns["nvtx"].tolist()
    # 1810 of 3442 launches have lost their API call in trimming.
    assert found.count(None) == 1810


def test_kernels_in_graphs_are_told_to_be_hidden(tmp_path: Path) -> None:
    graphs = "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 2000000000);"
    (note,) = load_timings(export(tmp_path / "x.sqlite", (0, 0, 9, "a()", "_Z1av", 1), extra=graphs)).notes
    assert note.startswith("1 launches of CUDA graphs took 2 s, and their kernels are in no table")


def test_export_with_api_calls_only_is_refused(tmp_path: Path) -> None:
    calls = (
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 9);"
    )
    with pytest.raises(nr.NcuRooflineError, match="no kernels, only 1 API calls, whose times the CPU spends"):
        load_timings(export(tmp_path / "x.sqlite", extra=calls))


def test_damaged_export_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"SQLite format 3\0" + b"\x07" * 500)
    with pytest.raises(nr.NcuRooflineError, match="cannot be read"):
        load_timings(str(path))


def test_report_of_nsys_itself_is_answered_with_the_export(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="nsys stats --report cuda_gpu_trace --format csv"):
        load(write, b"NVIDIA Tegra Profiler Report 2025@5@2@266-1v0.\0\1\2")


# --- other producers ---


def kineto(*events: dict[str, Any], **more: Any) -> str:
    return json.dumps({"traceEvents": list(events), **more})


def event(name: str, dur: float, **changes: Any) -> dict[str, Any]:
    args = {"device": 0, "stream": 7, "grid": [8, 16, 5], "block": [128, 1, 1]}
    return {"ph": "X", "cat": "kernel", "name": name, "ts": 5, "dur": dur, "args": args} | changes


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_kernels_of_a_pytorch_trace_are_in_microseconds(write: Write, pack: Callable[[str], bytes]) -> None:
    others = [
        event("memset", 9, cat="gpu_memset"),
        event("op", 900, cat="cpu_op"),
        event("range", 900, cat="gpu_user_annotation"),
    ]
    found = load(write, pack(kineto(*others, event("sgemm", 77.5, cat="Kernel"))))
    assert len(found) == 1
    assert first(found)["time"] == pytest.approx(77.5e-6)
    assert first(found)["grid"] == (8, 16, 5)


def test_trace_with_whole_microseconds_says_how_coarse_it_is(write: Write) -> None:
    assert any("may be off by half" in note for note in load(write, kineto(event("k", 3))).notes)
    assert not load(write, kineto(event("k", 3.2))).notes


def test_trace_without_kernels_is_refused(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="the trace has no kernels"):
        load(write, kineto(event("op", 9, cat="cpu_op")))


NVPROF = """==15561== NVPROF is profiling process 15561, command: ./a.out
==15561== Profiling result:
"""


def test_summary_of_nvprof_has_a_unit_in_each_cell(write: Write) -> None:
    text = (
        f"{NVPROF}            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
        " GPU activities:   60.00%  1.0492ms        30  34.975us  17.000us  51.000us  vector_add(float const *, int)\n"
        "                   40.00%  155.39us         1  155.39us  155.39us  155.39us  [CUDA memcpy DtoH]\n"
        "      API calls:   99.00%  169.00ms         3  56.333ms  1.0000us  160.00ms  cudaMalloc\n"
    )
    found = load(write, text)
    assert found.columns["kernel"].tolist() == ["vector_add(float const *, int)"]
    assert (first(found)["time"], first(found)["samples"]) == (pytest.approx(34.975e-6), 30)


def test_trace_of_nvprof_has_shapes_and_no_launch_numbers(write: Write) -> None:
    text = (
        f"{NVPROF}   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput"
        "  SrcMemType  DstMemType           Device   Context    Stream  Name\n"
        "347.74ms  169.24us                    -               -         -         -         -  256.00KB  1.4426GB/s    Pageable"
        "      Device  GeForce GT 1030         1         7  [CUDA memcpy HtoD]\n"
        "347.92ms  17.506us            (128 2 1)       (256 1 1)        10  4.0000KB        0B         -           -           -"
        "           -  GeForce GT 1030         1         7  sum_reduction(int*, int*) [114]\n"
    )
    found = first(load(write, text))
    assert (found["kernel"], found["grid"], found["block"]) == ("sum_reduction(int*, int*)", (128, 2, 1), (256, 1, 1))
    assert found["time"] == pytest.approx(17.506e-6)


def test_csv_of_nvprof_has_its_units_in_a_row(write: Write) -> None:
    text = (
        '======== Profiling result:\n"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n'
        '"GPU activities",90.0,1.0,4,250.5,1,2,"k(int, float*)"\n"API calls",10.0,1.0,4,250.5,1,2,"cudaFree"\n'
    )
    found = load(write, text)
    assert found.columns["kernel"].tolist() == ["k(int, float*)"]
    assert first(found)["time"] == pytest.approx(250.5e-6)


NVBENCH = (
    "Benchmark,Device,Device Name,Size (pow2),Size,Skipped,Samples,CPU Time (sec),Noise,GPU Time (sec),Noise,Samples,Batch GPU (sec)\n"
    "copy,0,A100,2^4,16,No,500,2e-5,0.1,7.5e-6,0.2,900,5e-6\n"
    "copy,0,A100,2^5,32,Yes,,,,,,,\n"
)


def test_cold_gpu_time_of_nvbench_is_taken_although_names_come_twice(write: Write) -> None:
    found = load(write, NVBENCH)
    assert (first(found)["time"], first(found)["samples"], first(found)["label"]) == (7.5e-6, 500, "copy, 2^4, 16")
    assert found.conditions.cache_control == "all"
    assert "1 states were skipped" in found.notes


def test_nvbench_names_no_kernel_and_says_so(write: Write) -> None:
    assert any("name no kernel" in note for note in load(write, NVBENCH).notes)


def test_markdown_of_nvbench_has_units_in_its_cells(write: Write) -> None:
    text = "# copy\n\n| Size | Samples | CPU Time | Noise | GPU Time | Noise |\n|---|---|---|---|---|---|\n| 16 | 512x | 12.3 us | 1% | 7.731 us | 1% |\n"
    assert first(load(write, text))["time"] == pytest.approx(7.731e-6)


def test_json_of_nvbench_has_values_as_texts(write: Write) -> None:
    state = {
        "axis_values": [{"value": "16"}],
        "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "7.5e-06"}]}],
    }
    skipped = {"is_skipped": True, "summaries": None}
    text = json.dumps({"devices": [], "benchmarks": [{"name": "copy", "states": [state, skipped]}]})
    assert first(load(write, text))["time"] == 7.5e-6


CUTLASS = (
    "CSV Results:\n\nProblem,Provider,OperationKind,Operation,Disposition,Status,m,n,k,Bytes,Flops,Runtime,GB/s,GFLOPs\n"
    "1,CUTLASS,gemm,cutlass_tensorop_s1688tf32gemm_256x128_16x3_nn_align4,passed,success,8,8,8,1912602624,1,18.19,97.9245,1\n"
    "1,CUTLASS,gemm,cutlass_tensorop_h16816gemm_256x128_32x3_nn_align8,incorrect,success,8,8,8,1,1,34.1,1,1\n"
)


def test_wrong_results_of_cutlass_are_left_out_and_its_gibibytes_named(write: Write) -> None:
    found = load(write, CUTLASS)
    assert found.columns["time"].tolist() == pytest.approx([18.19e-3])
    # 1 912 602 624 byte / 18.19 ms / 2^30 = 97.92
    assert any("GB/s is in GiB/s" in note for note in found.notes)
    assert any("1 rows that failed or gave wrong results" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "seconds", "statistic"),
    [
        ("kernel,grid,block,time_us\nk,512x1x1,256,20\n", 20e-6, "as given"),
        ("Kernel,Grid,Block,Time (ms)\nk,\"(512, 1, 1)\",\"(256, 1, 1)\",0.02\n", 20e-6, "as given"),
        ("kernel,grid,block,time,unit\nk,512,256,20000,ns\n", 20e-6, "as given"),
        ("kernel,grid,block,mean_ms,median_ms\nk,512,256,0.03,0.02\n", 20e-6, "median"),
    ],
)  # fmt: skip
def test_own_csv_is_read_in_its_unit(write: Write, text: str, seconds: float, statistic: str) -> None:
    found = first(load(write, text))
    assert found["time"] == pytest.approx(seconds)
    assert (found["grid"], found["block"], found["statistic"]) == ((512, 1, 1), (256, 1, 1), statistic)


def test_conditions_of_an_own_csv_are_kept(write: Write) -> None:
    found = load(write, "kernel,time_us,cache_control,clock_control\nk,20,all,base\n")
    assert (found.conditions.cache_control, found.conditions.clock_control) == ("all", "base")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kernel,mean_kernel_execution_time\nk,20\n", "the unit of 'mean_kernel_execution_time' is not stated"),
        ("kernel,time\nk,20\n", "the unit of 'time' is not stated"),
        ("kernel,time_us\nk,fast\n", ":2: the time 'fast' 'us' cannot be read"),
        ("kernel,time_us,cache_control\nk,1,all\nk,1,none\n", "cache_control has several values: all, none"),
        ("N,Triton,Torch\n256,58.9,198.6\n", "have no unit and no kernel name"),
        ("a text about nothing\n", "no times of kernels"),
        ("{broken", "the JSON is damaged"),
        ("{}", "neither a trace of the PyTorch profiler nor"),
        (b"\x1f\x8bnot really", "cannot be read"),
        ("[" * 100_000, "not what it has to be|damaged"),
        ("kernel,time_us,samples\nk,1,1e999\n", "not what it has to be"),
        ("kernel,time_us\nk,1e999\n", "no rows"),
        (kineto(event("k", 1, ts="a")), "not what it has to be"),
    ],
)  # fmt: skip
def test_file_without_times_that_can_be_trusted_is_refused_with_the_reason(
    write: Write, text: str | bytes, why: str
) -> None:
    with pytest.raises(nr.NcuRooflineError, match=why):
        load(write, text)


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_content_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "times"
    path.write_bytes(content)
    assert read_or_refused(path)


@given(st.data())
def test_table_with_any_characters_lost_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    texts = [
        trace(trace_row("k<(int)4>(float *)", 5)),
        f"{SUMMARY_2025}\n9,8,1,8,8,8,8,0,k\n",
        NVBENCH,
        CUTLASS,
        kineto(event("k", 3.5)),
        "kernel,time_us\nk,3\n",
    ]
    text = data.draw(st.sampled_from(texts))
    begin, end = (data.draw(st.integers(0, len(text))) for _ in range(2))
    path = tmp_path_factory.mktemp("t") / "times"
    path.write_text(text[: min(begin, end)] + text[max(begin, end) :])
    assert read_or_refused(path)


# --- names ---


@pytest.mark.parametrize(
    ("ncu", "other"),
    [
        ("void Kernel2<cutlass_80_gemm>(Params)", "ABT_view (forced)/void cutlass::Kernel2<cutlass_80_gemm>(T1::Params)"),
        ("enable_if<!T7, void>::type kernel<int, 0, 1, 7>(T13)",
         "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0, (bool)1, (int)7>(T13)"),
        ("unnamed>::saxpyKernel(float, const float *, float *)", "<unnamed>::saxpyKernel(float, const float *, float *)"),
        ("void vectorized_elementwise_kernel<4, FillFunctor<float>, array<char *, 1>>(int, T2, T3)",
         "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"),
        ("void f<true>(const float *)", "void f<(bool)1>(float const*)"),
        ("void k<float>(T1 *)", "void (anonymous namespace)::k<float>(float*)"),
    ],
)  # fmt: skip
def test_names_of_one_kernel_are_equal(ncu: str, other: str) -> None:
    assert normalised(ncu) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("void Kernel2<cutlass_80_a>(P)", "void Kernel2<cutlass_80_b>(P)"),
        ("f<4>(int)", "f<8>(int)"),
        ("f(int)", "g(int)"),
    ],
)
def test_names_of_other_kernels_are_not_equal(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


def test_overloads_differ_in_their_arguments_only() -> None:
    assert normalised("f(int)") == normalised("f(float)")
    assert with_arguments("f(int)") != with_arguments("f(float)")


def test_name_that_was_cut_keeps_its_whole_pieces() -> None:
    assert beginning("void a::k<(int)4, at::nat\u2026") == "k<4,"
    assert beginning("void a::k<(int)4>") is None


def test_base_name_has_neither_namespaces_nor_arguments() -> None:
    assert base_name("void at::native::<unnamed>::reduce<float, (int)4>(T1 *)") == "reduce"


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, (bool)1>(T13)", "kernel"),
        ("void f<decltype(a->b), g<h<int>>>(int)", "f"),
        ("kernel<int, std::vector<flo\u2026", "kernel"),
        ("plain", "plain"),
    ],
)
def test_base_name_of_a_function_that_returns_a_template_is_its_own(name: str, base: str) -> None:
    assert base_name(name) == base


# --- joining ---


def report(write: Write, *kernels: tuple[str, str, str], time: str = "40 us") -> str:
    """A report of launches as (kernel, grid, block)."""
    lines = [quoted(["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
                     "Grid Size", "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value"])]  # fmt: skip
    counted = {"T": time, "DB": "4,000 byte", "FFMA": "500 inst", "FADD": "0 inst", "FMUL": "0 inst"}
    for number, (kernel, grid, block) in enumerate(kernels):
        rows = launch(counted, number=number, kernel=kernel)
        lines += [quoted(cells(row, grid=grid, block=block)) for row in rows]
    return write("\n".join(lines) + "\n", "report.csv")


SHAPE = ("(512, 1, 1)", "(256, 1, 1)")


def joined(write: Write, launches: Sequence[tuple[str, str, str]], times: str) -> list[tuple[float | None, str | None]]:
    columns = nr.analyze(report(write, *launches), timing=write(times, "times")).columns
    found = zip(columns["external.time"].tolist(), columns["external.match"].tolist(), strict=True)
    return [(None if time != time else round(time * 1e9, 3), match) for time, match in found]


def test_nth_launch_gets_the_nth_time_of_its_name_and_shape(write: Write) -> None:
    other = ("(9, 1, 1)", "(256, 1, 1)")
    launches = [("k(int)", *SHAPE), ("k(int)", *other), ("k(int)", *SHAPE)]
    times = trace(trace_row("k(int)", 10), trace_row("k(int)", 20), trace_row("k(int)", 30, grid="9,1,1"))
    assert joined(write, launches, times) == [(10, "strong"), (30, "strong"), (20, "strong")]


def test_position_and_id_are_never_enough(write: Write) -> None:
    assert joined(write, [("a(int)", *SHAPE)], trace(trace_row("b(int)", 10))) == [(None, None)]


def test_other_shape_is_another_launch(write: Write) -> None:
    assert joined(write, [("k(int)", *SHAPE)], trace(trace_row("k(int)", 10, grid="9,1,1"))) == [(None, None)]


@pytest.mark.parametrize(
    ("launch_name", "names", "expected"),
    [
        ("b::k(float *)", ["a::k(float *)", "b::k(float *)"], [(2, "strong")]),
        ("b::k(float *)", ["a::k(float *)"], [(None, None)]),
        ("k(float *)", ["a::k(float *)", "b::k(float *)"], [(None, None)]),
        ("k(const float *)", ["k(float *)", "k(float const*)"], [(2, "strong")]),
        ("k<b::Op>(int)", ["k<a::Op>(int)"], [(1, "weak")]),
    ],
)
def test_kernel_of_another_namespace_is_another_kernel(
    write: Write, launch_name: str, names: list[str], expected: list[tuple[float | None, str | None]]
) -> None:
    rows = [trace_row(name, number) for number, name in enumerate(names, start=1)]
    assert joined(write, [(launch_name, *SHAPE)], trace(*rows)) == expected


def test_launches_of_each_report_are_counted_on_their_own(write: Write) -> None:
    before = write(binary_report.of_launches(1), "before.ncu-rep")
    after = write(binary_report.of_launches(1), "after.ncu-rep")
    times = write(trace(trace_row("k", 1), trace_row("k", 2)), "times")
    columns = nr.analyze(before, after, timing=times).columns
    assert columns["external.time"].tolist() == pytest.approx([1e-9, 1e-9])


def test_number_of_launches_that_differs_from_the_trace_is_said(write: Write) -> None:
    path = report(write, ("k(int)", *SHAPE))
    both = write(trace(trace_row("k(int)", 1), trace_row("k(int)", 2)), "both")
    found = finding(nr.analyze(path, timing=both), "timing-counts-differ")
    assert found is not None
    assert "the trace has 2 launches of 'k(int)' with this shape, the report 1" in found.message
    assert finding(nr.analyze(path, timing=write(trace(trace_row("k(int)", 1)), "one")), "timing-counts-differ") is None


def test_row_of_an_own_csv_stands_for_every_launch_of_its_shape(write: Write) -> None:
    times = "kernel,grid,block,time_ns\nk(int),512,256,7\n"
    assert joined(write, [("k(int)", *SHAPE)] * 3, times) == [(7, "strong")] * 3


def test_own_csv_may_name_kernels_like_reports_of_nsys(write: Write) -> None:
    assert joined(write, [("row_sum(int)", *SHAPE)], "kernel,grid,block,time_ns\nrow_sum,512,256,7\n") == [
        (7, "strong")
    ]


def test_join_is_linear_in_launches(write: Write) -> None:
    found = load(write, trace(*[trace_row("k(int)", 5)] * 20_000))
    table = {name: column for name, column in found.columns.items() if name in ("kernel", "mangled", "grid", "block")}
    size = len(found)
    ours = table | {
        "device_ordinal": found.columns["device"],
        "input": np.zeros(size, int),
        "invocations": np.ones(size, int),
    }
    assert not np.isnan(join(ours, [found])["external.time"]).any()


def test_json_with_times_is_of_its_schema(write: Write) -> None:
    schema = json.loads((Path(nr.__file__).parent / "schema" / "analysis-1.json").read_text())
    times = write(trace(trace_row("k(int)", 5)), "times")
    jsonschema.validate(json.loads(nr.analyze(report(write, ("k(int)", *SHAPE)), timing=times).to_json()), schema)


def test_launch_without_a_counterpart_left_has_no_time(write: Write) -> None:
    assert joined(write, [("k(int)", *SHAPE)] * 2, trace(trace_row("k(int)", 10))) == [(10, "strong"), (None, None)]


def test_mangled_name_comes_first(tmp_path: Path, write: Write) -> None:
    content = binary_report.of_launches(1)
    times = export(tmp_path / "x.sqlite", (0, 0, 9, "printed in another way", "_Z1kv", 512))
    columns = nr.analyze(write(content, "r.ncu-rep"), timing=times).columns
    assert (columns["external.time"][0], columns["external.match"][0]) == (pytest.approx(9e-9), "strong")


def test_summary_without_shapes_is_a_weak_match(write: Write) -> None:
    times = f"{SUMMARY_2025}\n9,80,10,8,8,8,8,0,ns::k(int)\n"
    assert joined(write, [("k(int)", *SHAPE)] * 2, times) == [(8, "weak"), (8, "weak")]


def test_average_over_several_shapes_is_given_to_none(write: Write) -> None:
    times = f"{SUMMARY_2025}\n9,80,10,8,8,8,8,0,k(int)\n"
    assert joined(write, [("k(int)", *SHAPE), ("k(int)", "(9, 1, 1)", SHAPE[1])], times) == [(None, None)] * 2


def test_bare_name_with_shape_is_weak_and_needs_to_be_the_only_one(write: Write) -> None:
    times = "kernel,grid,block,time_ns\nkernel,512,256,7\n"
    assert joined(write, [("void kernel<4>(int)", *SHAPE)], times) == [(7, "weak")]
    assert (
        joined(write, [("void kernel<4>(int)", *SHAPE), ("void kernel<8>(int)", *SHAPE)], times) == [(None, None)] * 2
    )


def test_bare_name_without_shape_is_never_enough(write: Write) -> None:
    assert joined(write, [("void kernel<4>(int)", *SHAPE)], "kernel,time_ns\nkernel,7\n") == [(None, None)]


def test_overloads_are_told_apart_by_their_arguments(write: Write) -> None:
    launches = [("f(float)", *SHAPE), ("f(int)", *SHAPE)]
    assert joined(write, launches, trace(trace_row("f(int)", 1), trace_row("f(float)", 2))) == [
        (2, "strong"),
        (1, "strong"),
    ]
    assert joined(write, launches, trace(trace_row("f(T1)", 1))) == [(None, None)] * 2


def test_cut_name_is_completed_where_only_one_kernel_begins_like_that(write: Write) -> None:
    times = trace(trace_row("void a::k<(int)4, at::nat\u2026", 5))
    assert joined(write, [("void k<4, Half>(int)", *SHAPE)], times) == [(5, "weak")]
    assert (
        joined(write, [("void k<4, Half>(int)", *SHAPE), ("void k<4, float>(int)", *SHAPE)], times)
        == [(None, None)] * 2
    )


def test_operation_of_cutlass_is_found_in_the_name_of_its_kernel(write: Write) -> None:
    kernel = "void Kernel2<cutlass_80_tensorop_s1688tf32gemm_256x128_16x3_nn_align4>(Params)"
    assert joined(write, [(kernel, *SHAPE)], CUTLASS) == [(18_190_000, "weak")]


def test_times_of_the_device_of_a_launch_are_taken(tmp_path: Path, write: Write) -> None:
    times = export(
        tmp_path / "x.sqlite", (1, 0, 10, "k(int)", None, 512), (0, 0, 20, "k(int)", None, 512), mangled=False
    )
    columns = nr.analyze(report(write, ("k(int)", *SHAPE)), timing=times).columns
    assert columns["external.time"][0] == pytest.approx(20e-9)


def test_first_file_that_has_a_time_gives_it(write: Write) -> None:
    one, two = (
        write(trace(trace_row("a(int)", 1)), "one"),
        write(trace(trace_row("a(int)", 5), trace_row("b(int)", 6)), "two"),
    )
    columns = nr.analyze(report(write, ("a(int)", *SHAPE), ("b(int)", *SHAPE)), timing=[one, two]).columns
    assert columns["external.time"].tolist() == pytest.approx([1e-9, 6e-9])
    assert columns["external.source"].tolist() == [one, two]


# --- pairing ---


def test_work_over_the_given_time_is_a_rate_and_bytes_are_not(write: Write) -> None:
    path, times = report(write, ("k(int)", *SHAPE)), write(trace(trace_row("k(int)", 20_000)), "times")
    (got,) = json.loads(nr.analyze(path, timing=times).to_json())["launches"]
    # 500 fma x 2 FLOP / 20 us
    assert got["work"]["fp32"]["external_rate"] == pytest.approx(1000 / 20e-6)
    assert got["traffic"]["dram"]["external_rate"] is None
    assert got["time"] == pytest.approx(40e-6)
    assert got["external"]["conditions"] == {"cache_control": "none", "clock_control": "none"}


def test_bytes_are_paired_when_caches_were_treated_alike(write: Write) -> None:
    path, times = report(write, ("k(int)", *SHAPE)), write(trace(trace_row("k(int)", 20_000)), "times")
    (got,) = json.loads(nr.analyze(path, timing=times, conditions="cache=none").to_json())["launches"]
    assert got["traffic"]["dram"]["external_rate"] == pytest.approx(4000 / 20e-6)


def test_bound_stays_that_of_the_report(write: Write) -> None:
    path, times = report(write, ("k(int)", *SHAPE)), write(trace(trace_row("k(int)", 20_000)), "times")
    alone, paired = nr.analyze(path).columns, nr.analyze(path, timing=times).columns
    for name in ("bound.time", "bound.fraction", "bound.headroom"):
        assert paired[name].tolist() == pytest.approx(alone[name].tolist(), nan_ok=True)


def test_what_was_read_and_what_was_not_joined_are_reported(write: Write) -> None:
    path = report(write, ("k(int)", *SHAPE), ("other(int)", *SHAPE))
    analysis = nr.analyze(path, timing=write(trace(trace_row("k(int)", 5)), "times"))
    read, left = finding(analysis, "timing-read"), finding(analysis, "timing-not-joined")
    assert read is not None
    assert left is not None
    assert "1 time of nsys trace, given to 1 of 2 launches" in read.message
    assert left.launches == (1,)
    assert "other(int)" in left.message


def test_weak_times_are_marked_in_the_table(write: Write) -> None:
    times = write(f"{SUMMARY_2025}\n9,80,10,8,8000,8,8,0,k(int)\n", "times")
    text = render_table(nr.analyze(report(write, ("k(int)", *SHAPE)), timing=times), width=200, color=False)
    assert "~8.000 us" in text


def test_time_of_another_report_of_ncu_is_one(write: Write) -> None:
    other = write(binary_report.of_launches(1, command_line="ncu --cache-control none ./app"), "warm.ncu-rep")
    columns = nr.analyze(
        report(write, ("k", "(512, 1, 1)", "(256, 1, 1)")), timing=other, conditions="cache=none"
    ).columns
    assert columns["external.time"][0] == pytest.approx(20e-6)
    assert columns["traffic.dram.external_rate"][0] == pytest.approx(4000 / 20e-6)


# --- real files ---


@pytest.mark.parametrize(
    "name", ["t01-algo23_cuda_gpu_trace.csv", "t02-algo23_cuda_gpu_kern_gb_sum.csv", "t03-algo23_capture.sqlite"]
)
@pytest.mark.parametrize(
    "report_name",
    ["09-rep-sm100-algo23_profile.ncu-rep", "08-details-sm100-algo23_details.csv", "10-raw-sm100-algo23_raw.csv"],
)
def test_real_launch_and_its_real_time_are_joined_strongly(corpus: Path, name: str, report_name: str) -> None:
    columns = nr.analyze(corpus / report_name, timing=corpus / "timings" / name).columns
    assert columns["external.match"][0] == "strong"
    assert columns["external.time"][0] == pytest.approx(11_649e-9)


def test_real_kernel_is_found_among_113_of_its_program(corpus: Path) -> None:
    columns = nr.analyze(
        corpus / "12-details-sm120-k0001_ncu.details.csv",
        timing=corpus / "timings" / "t04-all-stage_summary_cuda_gpu_kern_sum.csv",
    ).columns
    assert columns["external.match"][0] == "weak"
    assert columns["external.time"][0] == pytest.approx(3712e-9)
    assert columns["external.samples"][0] == 329_035


def test_short_names_of_2019_are_given_only_where_one_shape_was_launched(corpus: Path) -> None:
    columns = nr.analyze(
        corpus / "timings" / "t30-baseline.ncu-rep", timing=corpus / "timings" / "t31-baseline_1000.txt"
    ).columns
    match = dict(zip(columns["function"], columns["external.match"], strict=True))
    # The convolution ran in several shapes, and its average is over them.
    assert match == {"conv_forward_kernel": None, "do_not_remove_this_kernel": "weak", "prefn_marker_kernel": "weak"}


REAL = {
    "t01-algo23_cuda_gpu_trace.csv": (1, 11_649e-9),
    "t02-algo23_cuda_gpu_kern_gb_sum.csv": (1, 11_649e-9),
    "t03-algo23_capture.sqlite": (1, 11_649e-9),
    "t04-all-stage_summary_cuda_gpu_kern_sum.csv": (113, 3712e-9),
    "t07-l2_gputrace.csv": (1, 22_240e-9),
    "t08-nsys_trace.log": (None, 41_152e-9),
    "t09-nsys_stats_clean.txt": (None, 1_447_966e-9),
    "t10-result_2_7B_compile_ro.sqlite": (30, None),
    "t11-vecadd_gpu_256t.txt": (1, 1_264_295_976e-9),
    "t12-nsys_output.txt": (1, 35_115.8e-9),
    "t13-prof.sqlite": (2102, None),
    "t14-report1.sqlite": (12, None),
    "t15-h100_2gpu_1s.sqlite": (3442, None),
    "t17-array_add_2060.csv": (26, 7.294797857753399e-06),
    "t20-timing.csv": (62, 0.017152e-3),
    "t24-multi_stream_event_sync_trace.json.gz": (3, 123e-6),
    "t25-torch_compile_triton_trace.json.gz": (12, 77.074e-6),
    "t31-baseline_1000.txt": (3, 2_163_155.7e-9),
}
"""Rows of each real file and its first time, read with the eye or counted in INDEX.tsv."""


@pytest.mark.parametrize("name", REAL)
def test_real_file_has_its_rows_and_times(corpus: Path, name: str) -> None:
    rows, seconds = REAL[name]
    found = load_timings(str(corpus / "timings" / name))
    assert rows is None or len(found) == rows
    if seconds is not None:
        assert found.columns["time"][0] == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("t05-nsys_stats.csv", "no kernel data"),
        ("t06-kern_sum.csv", "no kernel data"),
        ("t16-report1.sqlite", "no kernels"),
        ("t18-softmax-performance.csv", "no unit and no kernel name"),
        ("t19-cutlass_profiler_superbench_fp16_tc.csv", "no time of a verified operation"),
        ("t26-my_vector_add_report.nsys-rep", "report of Nsight Systems itself"),
        ("t21-roofline.titan.ccs.ornl.gov.01.json", "neither a trace"),
    ],
)
def test_real_file_without_usable_times_is_refused_with_the_reason(corpus: Path, name: str, why: str) -> None:
    with pytest.raises(nr.NcuRooflineError, match=why):
        load_timings(str(corpus / "timings" / name))


@pytest.mark.parametrize(
    ("name", "launches"), [("t28-metrics.csv", None), ("t29-timing.csv", 2), ("t32-cublaslt_ncu.log", None)]
)
def test_real_report_among_the_timings_is_analysed(corpus: Path, name: str, launches: int | None) -> None:
    found = nr.analyze(corpus / "timings" / name)
    assert launches is None or len(found) == launches


def test_real_summary_of_ncu_is_a_source_of_times(corpus: Path) -> None:
    columns = nr.analyze(corpus / "timings" / "t28-metrics.csv", timing=corpus / "timings" / "t29-timing.csv").columns
    found = dict(zip(columns["kernel"], columns["external.time"], strict=True))
    # 93188.16 ns on the average, of 100 invocations
    assert found["kernel_B"] == pytest.approx(100 * 93_188.16e-9)
