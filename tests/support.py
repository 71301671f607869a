"""Small reports in the layouts of ncu, built from compact rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ncu_roofline.analysis import Analysis
from ncu_roofline.checks import Finding
from ncu_roofline.maps import MetricMap
from ncu_roofline.vocabulary import OPCODE

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("NCU_ROOFLINE_CORPUS", ROOT.parent / "shared" / "corpus"))
FACTS = CORPUS.parent / "facts"

H11 = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Section Name",
       "Metric Name", "Metric Unit", "Metric Value"]  # fmt: skip
H15 = [*H11[:7], "Block Size", "Grid Size", "Device", "CC", *H11[7:]]
H20 = [*H15, "Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]

METRICS_SECTION = "Command line profiler metrics"
OP = "sm__sass_thread_inst_executed_op_{}_pred_on"

SHORT = {
    "T": "gpu__time_duration.sum",
    "DB": "dram__bytes.sum",
    "DR": "dram__bytes_read.sum",
    "DW": "dram__bytes_write.sum",
    "SMHZ": "sm__cycles_elapsed.avg.per_second",
    "DHZ": "dram__cycles_elapsed.avg.per_second",
    "PKF": f"{OP.format('ffma')}.sum.peak_sustained",
    "PKD": "dram__bytes.sum.peak_sustained",
    "TEN": "sm__inst_executed_pipe_tensor.sum",
    "OPS": "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
    **{name.upper(): f"{OP.format(name)}.sum" for name in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma")},
    **{name.upper(): f"{OP.format(name)}.sum" for name in ("hadd", "hmul", "hfma")},
}
"""Short names of metrics in compact rows."""


def quoted(cells: Iterable[str]) -> str:
    """One CSV line as ncu writes it."""
    return ",".join('"{}"'.format(cell.replace('"', '""')) for cell in cells)


def cells(
    row: str,
    *,
    block: str = "(256, 1, 1)",
    grid: str = "(512, 1, 1)",
    device: str = "0",
    cc: str = "8.0",
    section: str = METRICS_SECTION,
    process: str = "4242",
) -> list[str]:
    """Cells of a details row from ``id|kernel|metric|unit|value``; ``metric`` may be a short name."""
    number, kernel, metric, unit, value = row.split("|")
    name = SHORT.get(metric, metric)
    return [
        number,
        process,
        "app",
        "127.0.0.1",
        kernel,
        "1",
        "7",
        block,
        grid,
        device,
        cc,
        section,
        name,
        unit,
        value,
    ]


def details(*rows: str, header: list[str] = H15, preface: str = "", **options: str) -> str:
    """A details page of compact rows."""
    lines = [quoted(header), *(quoted(cells(row, **options)) for row in rows)]
    return preface + "\n".join(lines) + "\n"


def launch(metrics: Mapping[str, str], *, number: int = 0, kernel: str = "k") -> list[str]:
    """Compact rows of one launch from ``metric -> "value unit"``."""
    rows = []
    for metric, text in metrics.items():
        value, _, unit = text.partition(" ")
        rows.append(f"{number}|{kernel}|{metric}|{unit}|{value}")
    return rows


def raw_page(metrics: Mapping[str, tuple[str, list[str]]], *, kernels: list[str] | None = None, cc: str = "8.0") -> str:
    """A raw page from ``metric -> (unit, value per launch)``."""
    count = len(next(iter(metrics.values()))[1])
    identity = H15[:11]
    lines = [
        quoted([*identity, *metrics]),
        quoted([*[""] * len(identity), *(unit for unit, _ in metrics.values())]),
    ]
    for number in range(count):
        kernel = kernels[number] if kernels else "k"
        row = cells(f"{number}|{kernel}|x||", cc=cc)[:11]
        lines.append(quoted([*row, *(values[number] for _, values in metrics.values())]))
    return "\n".join(lines) + "\n"


def counters_of(metric_map: MetricMap) -> frozenset[str]:
    """Base counters of a map; opcodes are instances of one metric and none themselves."""
    return frozenset(name for name in metric_map.base_counters() if not name.startswith(OPCODE))


def row_of(analysis: Analysis, position: int = 0) -> pd.Series[Any]:
    """One launch of an analysis."""
    return analysis.launches.iloc[position]


def finding(analysis: Analysis, name: str) -> Finding | None:
    """The finding with a name, the most severe one, or None."""
    return next((found for found in analysis.finding_list if found.name == name), None)


PUSH = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
START = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"


def with_ranges(*launches: tuple[str, list[str]]) -> str:
    """Launches with a time in ns, and the NVTX ranges (``domain:range``) around each."""
    lines = [[*H15[:4], PUSH, START, *H15[4:]]]
    for number, (time, ranges) in enumerate(launches):
        entries = " ".join(f'1  "{name}:none:none:none:none:none:none"' for name in ranges)
        row = cells(f"{number}|k{number}|T|ns|{time}")
        lines.append([*row[:4], entries, "", *row[4:]])
    return "\n".join(map(quoted, lines))


NESTED = with_ranges(
    ("1,000", ["<default domain>:step", "<default domain>:forward"]),
    ("2,000", ["<default domain>:step", "<default domain>:forward"]),
    ("5,000", ["<default domain>:step", "opt:adam"]),
    ("2,000", []),
)
