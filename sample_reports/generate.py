"""Writes the synthetic sample reports: stated kernels on real device figures, in the layouts of ncu.

Run ``python sample_reports/generate.py`` to write them again. The kernels and the arithmetic behind every
counter are in ``meta.yaml``, written by hand; the tests hold the analysis of the reports against it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

OP = "sm__sass_thread_inst_executed_op_{}_pred_on"
TENSOR = "sm__ops_path_tensor_{}"
SECTORS = "lts__t_sectors_srcunit_tex"
WRITEBACK = {"8.0": "l1tex__lsu_writeback_active_mem_lg", "9.0": "l1tex__lsu_writeback_active_mem_lgds"}
SCALAR = [OP.format(name) for name in ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma")]
TENSOR_COUNTERS = {
    "8.0": [
        "src_fp64",
        "src_int1",
        *(
            f"src_{types}_sparsity_{state}"
            for types in ("tf32_dst_fp32", "bf16_dst_fp32", "fp16_dst_fp32", "fp16_dst_fp16", "int8", "int4")
            for state in ("off", "on")
        ),
    ],
    "9.0": [
        f"op_{family}_sparsity_{state}"
        for family in ("hgmma_src_fp16", "hmma_src_fp16_dst_fp32", "hmma_src_fp16_dst_fp16")
        for state in ("off", "on")
    ],
}


@dataclass(frozen=True)
class Device:
    """Figures of a product: clocks in Hz under ncu's default lock, peaks per cycle of the whole GPU."""

    name: str
    cc: str
    memory_clock_khz: int
    bus_width: int
    clocks: Mapping[str, int]
    peaks: Mapping[str, float]


@dataclass(frozen=True)
class Kernel:
    """One launch: shape, nanoseconds and the counters that are not zero."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    nanoseconds: int
    counts: Mapping[str, int]


A100 = Device(
    "NVIDIA A100-SXM4-40GB",
    "8.0",
    1_215_000,
    5120,
    {"sm": 1_095_000_000, "dram": 1_215_000_000, "lts": 1_063_500_000, "l1tex": 1_095_000_000},
    {
        "dram__bytes": 1280,
        SECTORS: 160,
        WRITEBACK["8.0"]: 108,
        OP.format("dfma"): 108 * 32,
        OP.format("ffma"): 108 * 64,
        OP.format("hfma"): 108 * 128,
        TENSOR.format("src_fp64"): 108 * 128,
        TENSOR.format("src_int1"): 108 * 32768,
        **{
            TENSOR.format(f"src_{types}_sparsity_{state}"): 108 * dense * factor
            for types, dense in (
                ("tf32_dst_fp32", 1024),
                ("bf16_dst_fp32", 2048),
                ("fp16_dst_fp32", 2048),
                ("fp16_dst_fp16", 2048),
                ("int8", 4096),
                ("int4", 8192),
            )
            for state, factor in (("off", 1), ("on", 2))
        },
    },
)

H100 = Device(
    "NVIDIA H100 PCIe",
    "9.0",
    1_593_000,
    5120,
    {"sm": 1_095_000_000, "dram": 1_593_000_000, "lts": 1_425_000_000, "l1tex": 1_095_000_000},
    {
        "dram__bytes": 1280,
        SECTORS: 160,
        WRITEBACK["9.0"]: 114,
        OP.format("ffma"): 114 * 128,
        **{
            TENSOR.format(f"op_{family}_sparsity_{state}"): 114 * rate
            for family, rates in (
                ("hgmma_src_fp16", (4096, 8192)),
                ("hmma_src_fp16_dst_fp32", (8192 / 3, 4096)),
                ("hmma_src_fp16_dst_fp16", (8192 / 3, 4096)),
            )
            for state, rate in zip(("off", "on"), rates, strict=True)
        },
    },
)

N = 2**26
A100_KERNELS = (
    Kernel(
        "triad(double *, const double *, const double *, double, long)",
        (N // 256, 1, 1),
        (256, 1, 1),
        1_100_000,
        {OP.format("dfma"): N, "dram__bytes": 24 * N, SECTORS: 24 * N // 32, WRITEBACK["8.0"]: 16 * N // 128},
    ),
    Kernel(
        "void gemm_tensor<(int)128, (int)128, __half, float>(const T3 *, const T3 *, T3 *, int, int, int)",
        (32, 32, 1),
        (256, 1, 1),
        800_000,
        {
            TENSOR.format("src_fp16_dst_fp32_sparsity_off"): 2 * 4096**3,
            "dram__bytes": 3 * 4096**2 * 2,
            SECTORS: (2 * 4096**3 // 128 * 2 + 4096**2 * 2) // 32,
        },
    ),
    Kernel(
        "stencil7(const float *, float *, int, int, int)",
        (4, 128, 512),
        (128, 4, 1),
        900_000,
        {
            OP.format("fadd"): 5 * 512**3,
            OP.format("fmul"): 512**3,
            OP.format("ffma"): 512**3,
            "dram__bytes": 8 * 512**3,
            SECTORS: 10 * 512**3 // 32,
            WRITEBACK["8.0"]: 28 * 512**3 // 128,
        },
    ),
    Kernel(
        "void reduce_sum<float, (unsigned int)256>(const T1 *, T1 *, unsigned long)",
        (4096, 1, 1),
        (256, 1, 1),
        760_000,
        {
            OP.format("fadd"): 2**28,
            "dram__bytes": 4 * 2**28,
            SECTORS: 4 * 2**28 // 32,
            WRITEBACK["8.0"]: 4 * 2**28 // 128,
        },
    ),
    Kernel(
        "hash_u32(const unsigned int *, unsigned int *, long)",
        (N // 256, 1, 1),
        (256, 1, 1),
        400_000,
        {
            OP.format("integer"): 8 * N,
            "dram__bytes": 8 * N,
            SECTORS: 8 * N // 32,
            WRITEBACK["8.0"]: 4 * N // 128,
        },
    ),
)

H100_KERNELS = (
    Kernel(
        "void gemm_wgmma<cute::tuple<cute::C<128>, cute::C<256>>, __half>(Params<T1, T2>)",
        (32, 64, 1),
        (384, 1, 1),
        2_900_000,
        {
            TENSOR.format("op_hgmma_src_fp16_sparsity_off"): 2 * 8192**3,
            "dram__bytes": 3 * 8192**2 * 2,
            SECTORS: (32 + 64 + 1) * 8192**2 * 2 // 32,
        },
    ),
    Kernel(
        "void gemm_mma_sync<(int)128, (int)128, __half, float>(const T3 *, const T3 *, T3 *, int)",
        (64, 64, 1),
        (256, 1, 1),
        4_300_000,
        {
            TENSOR.format("op_hmma_src_fp16_dst_fp32_sparsity_off"): 2 * 8192**3,
            "dram__bytes": 3 * 8192**2 * 2,
            SECTORS: (64 + 64 + 1) * 8192**2 * 2 // 32,
            WRITEBACK["9.0"]: 128 * 8192**2 * 2 // 128,
        },
    ),
)


def counters(device: Device, kernel: Kernel) -> dict[str, tuple[str, str]]:
    """Metric -> (unit, value) of a launch in base units, as a report with all roofline counters has them."""
    integer = OP.format("integer")
    counted = [*SCALAR, integer, *map(TENSOR.format, TENSOR_COUNTERS[device.cc])]
    units = dict.fromkeys([*SCALAR, integer], "inst") | {"dram__bytes": "byte", SECTORS: "sector"}
    units |= {WRITEBACK[device.cc]: "cycle"}
    metrics = {"gpu__time_duration.sum": ("ns", str(kernel.nanoseconds))}
    for unit, clock in device.clocks.items():
        metrics[f"{unit}__cycles_elapsed.avg.per_second"] = ("hz", str(clock))
    for counter in [*counted, "dram__bytes", SECTORS, WRITEBACK[device.cc]]:
        metrics[f"{counter}.sum"] = (units.get(counter, ""), str(kernel.counts.get(counter, 0)))
    for counter, peak in device.peaks.items():
        unit = units.get(counter, "")
        metrics[f"{counter}.sum.peak_sustained"] = (f"{unit}/cycle" if unit else "", f"{peak:.6f}")
    return dict(sorted(metrics.items()))


def identity(number: int, kernel: Kernel, device: Device, process: str) -> list[str]:
    """The cells of a launch that are the same on every page."""
    block, grid = str(kernel.block), str(kernel.grid)
    return [str(number), "4711", process, "127.0.0.1", kernel.name, "1", "7", block, grid, "0", device.cc]


IDENTITY = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
]
DETAILS = [*IDENTITY, "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
RULES = ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]


def table(rows: Iterable[Sequence[str]]) -> str:
    """Rows as ncu writes CSV: every cell quoted, quotes doubled."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


def raw_page(device: Device, kernels: Sequence[Kernel], process: str) -> str:
    """``ncu --page raw --csv --print-units base``."""
    attributes = {
        "device__attribute_compute_capability_major": device.cc.partition(".")[0],
        "device__attribute_compute_capability_minor": device.cc.partition(".")[2],
        "device__attribute_display_name": device.name,
        "device__attribute_global_memory_bus_width": str(device.bus_width),
        "device__attribute_memory_clock_rate": str(device.memory_clock_khz),
    }
    columns = [attributes | {name: value for name, (_, value) in counters(device, k).items()} for k in kernels]
    units = dict.fromkeys(attributes, "") | {n: unit for n, (unit, _) in counters(device, kernels[0]).items()}
    names = list(columns[0])
    rows = [[*IDENTITY, *names], [*[""] * len(IDENTITY), *(units[name] for name in names)]]
    rows += [
        [*identity(number, kernel, device, process), *(values[name] for name in names)]
        for number, (kernel, values) in enumerate(zip(kernels, columns, strict=True))
    ]
    return table(rows)


def metrics_page(device: Device, kernels: Sequence[Kernel], process: str) -> str:
    """Live ``ncu --metrics ... --csv``: messages first, thousands separators in the numbers."""
    preface = [f"==PROF== Connected to process 4711 (/opt/{process})"]
    preface += [f'==PROF== Profiling "{k.name.split("<")[0]}": 0%....50%....100% - 9 passes' for k in kernels]
    preface += ["max error 0.00195", "==PROF== Disconnected from process 4711"]
    rows = [
        [
            *identity(number, kernel, device, process),
            "Command line profiler metrics",
            name,
            unit,
            grouped(value),
        ]
        for number, kernel in enumerate(kernels)
        for name, (unit, value) in counters(device, kernel).items()
    ]
    return "\n".join(preface) + "\n" + table([DETAILS, *rows])


def grouped(value: str) -> str:
    """A number with thousands separators, as ncu prints it."""
    whole, point, fraction = value.partition(".")
    return f"{int(whole):,}{point}{fraction}"


def default_set_page(device: Device, kernels: Sequence[Kernel], process: str) -> str:
    """``ncu --page details --csv`` of the default set: labels, auto-scaled units, rule rows, ragged rows."""
    lines = [table([[*DETAILS, *RULES]])]
    for number, kernel in enumerate(kernels):
        first = identity(number, kernel, device, process)
        dram = 100 * kernel.counts["dram__bytes"] / (device.peaks["dram__bytes"] * device.clocks["dram"])
        busy = dram / kernel.nanoseconds * 1e9
        cells = [
            ("GPU Speed Of Light Throughput", "DRAM Frequency", "Ghz", f"{device.clocks['dram'] / 1e9:.2f}"),
            ("GPU Speed Of Light Throughput", "SM Frequency", "Ghz", f"{device.clocks['sm'] / 1e9:.2f}"),
            ("GPU Speed Of Light Throughput", "Memory Throughput", "%", f"{busy:.2f}"),
            ("GPU Speed Of Light Throughput", "DRAM Throughput", "%", f"{busy:.2f}"),
            ("GPU Speed Of Light Throughput", "Duration", "us", f"{kernel.nanoseconds / 1000:,.2f}"),
            ("Launch Statistics", "Block Size", "", str(kernel.block[0] * kernel.block[1] * kernel.block[2])),
            ("Launch Statistics", "Waves Per SM", "", "2.37"),
        ]
        lines += [table([[*first, *cell]])[:-1] + ",\n" for cell in cells]
        rule = ["SOLBottleneck", "OPT", "Memory is more heavily utilized,\nsee the memory section.", "", ""]
        lines.append(table([[*first, "SpeedOfLight", "", "", "", *rule]]))
    return "".join(lines)


def nsys_trace(launches: Sequence[tuple[Kernel, int]], device: Device) -> str:
    """The kernel trace of an nsys run without locked clocks: nanoseconds of each launch."""
    header = (
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
        "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
    )
    lines = [
        f"{1_200_000_000 + number * 3_000_000},{nanoseconds},{15 + number},{','.join(map(str, kernel.grid))},"
        f'{",".join(map(str, kernel.block))},32,0.000,0.000,,,,,{device.name} (0),1,,7,"{kernel.name}"\n'
        for number, (kernel, nanoseconds) in enumerate(launches)
    ]
    return header + "".join(lines)


def other_files() -> dict[str, str]:
    """Inputs of other forms, and those that are broken: what people hand in beside tables."""
    name, device = A100_KERNELS[0].name, A100
    row = [*identity(0, A100_KERNELS[0], device, "demo"), "Command line profiler metrics"]
    good = table([[*row, "gpu__time_duration.sum", "ns", "1,100,000"]])
    gemm = next(kernel for kernel in A100_KERNELS if "gemm" in kernel.name)
    return {
        "a100_cuda_gpu_trace.csv": nsys_trace([(A100_KERNELS[0], 1_075_000), (gemm, 620_000)], device),
        "session.csv": table(
            [
                ["Launch Attribute", "Value"],
                ["Profiler Command Line", "ncu --set basic --export demo ./demo"],
                ["Session Attribute", "Value"],
                ["Nsight Compute Target", "2025.3.1.0"],
            ]
        ),
        "permission_error.log": (
            "==PROF== Connected to process 4711 (/opt/demo)\n"
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
            "Counters on the target device 0.\n"
            "==PROF== Disconnected from process 4711\n"
            "==WARNING== No kernels were profiled.\n"
        ),
        "header_only.csv": table([DETAILS]),
        "text_output.txt": (
            f"[4711] demo@127.0.0.1\n  {name} (262144, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n"
            "    Section: GPU Speed Of Light Throughput\n"
            "    ----------------------- ----------- ------------\n"
            "    Metric Name             Metric Unit Metric Value\n"
            "    ----------------------- ----------- ------------\n"
            "    Duration                         us     1,100.00\n"
            "    ----------------------- ----------- ------------\n"
        ),
        "damaged_rows.csv": table([DETAILS])
        + good
        + "epoch 1 "
        + table([[*row, "dram__bytes.sum", "byte", "1,610,612,736"]])
        + table([row[:6]]),
    }


def main() -> None:
    """Write every file."""
    reports = {
        "a100_raw.csv": raw_page(A100, A100_KERNELS, "kernels"),
        "h100_gemm_metrics.csv": metrics_page(H100, H100_KERNELS, "gemm"),
        "a100_default_set.csv": default_set_page(A100, A100_KERNELS[:2], "kernels"),
    }
    for name, text in (reports | {f"other/{name}": text for name, text in other_files().items()}).items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
