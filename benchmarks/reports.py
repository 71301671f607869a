"""Large reports of the real ragged shape for the benchmarks: ``python benchmarks/reports.py FOLDER``.

The details page has ncu's preface, a header of 20 columns, metric rows of 16 fields (a trailing comma) and a rule
row per launch; the raw page has a units row. Values are made from the launch number, so files are reproducible.
"""

from __future__ import annotations

import struct
import sys
from io import BufferedReader, BytesIO
from pathlib import Path

from ncu_roofline.readers.container import Container

KERNEL = "void gemm_tile<(int)128, (int)64, cutlass::half_t, float>(T1 *, const T2 *, const T2 *, int, int, int)"
PREFACE = "==PROF== Connected to process 4711 (/opt/app)\nstep 1 of 3\n==PROF== Disconnected from process 4711\n"
HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description",'
    '"Estimated Speedup Type","Estimated Speedup"\n'
)
OP = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
USED = {
    "gpu__time_duration.sum": ("us", "{:,.2f}", 20.0),
    "dram__bytes.sum": ("Mbyte", "{:,.2f}", 7.0),
    "dram__bytes.sum.peak_sustained": ("byte/cycle", "{:,.0f}", 1280.0),
    "dram__cycles_elapsed.avg.per_second": ("Ghz", "{:.2f}", 1.215),
    "sm__cycles_elapsed.avg.per_second": ("Ghz", "{:.2f}", 1.095),
    "lts__t_sectors_srcunit_tex.sum": ("sector", "{:,.0f}", 400_000.0),
    "l1tex__t_bytes.sum": ("Mbyte", "{:,.2f}", 9.0),
    "sm__inst_executed_pipe_tensor.sum": ("inst", "{:,.0f}", 0.0),
    **{OP.format(name): ("inst", "{:,.0f}", 1_000_000.0) for name in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma")},
}


def cells(metrics: int) -> list[tuple[str, str, str, float]]:
    """(metric, unit, format, base value) of a launch with a number of metrics, the used ones spread among them."""
    filler = [(f"smsp__counter_{n:04d}.avg", "warp", "{:,.2f}", 1234.5) for n in range(metrics - len(USED))]
    used = [(name, *rest) for name, rest in USED.items()]
    step = max(metrics // len(used), 1)
    for position, item in enumerate(used):
        filler.insert(min(position * step, len(filler)), item)
    return filler


def details(path: Path, *, launches: int = 16_000, metrics: int = 60) -> None:
    """About 240 MB with the default size."""
    head = f'","4711","app","127.0.0.1","{KERNEL}","1","7","(256, 1, 1)","(512, 4, 1)","0","8.0","'
    rule = f'{head}SpeedOfLight","","","","SOLBottleneck","OPT","This kernel, with its grid, is too small.","",""\n'
    columns = cells(metrics)
    with path.open("w", encoding="utf-8") as file:
        file.write(PREFACE + HEADER)
        for launch in range(launches):
            for name, unit, form, base in columns:
                value = form.format(base * (1 + launch % 97 / 100))
                file.write(f'"{launch}{head}Command line profiler metrics","{name}","{unit}","{value}",\n')
            file.write(f'"{launch}{rule}')


def raw(path: Path, *, launches: int = 10_000, metrics: int = 1_000) -> None:
    """About 100 MB with the default size."""
    columns = cells(metrics)
    identity = HEADER.split(',"Section Name"', maxsplit=1)[0]
    with path.open("w", encoding="utf-8") as file:
        file.write(PREFACE + identity + "".join(f',"{name}"' for name, *_ in columns) + "\n")
        file.write(",".join(['""'] * 11) + "".join(f',"{unit}"' for _, unit, *_ in columns) + "\n")
        for launch in range(launches):
            values = "".join(f',"{form.format(base * (1 + launch % 97 / 100))}"' for *_, form, base in columns)
            first = f'"{launch}","4711","app","127.0.0.1","{KERNEL}","1","7","(256, 1, 1)","(512, 4, 1)","0","8.0"'
            file.write(f"{first}{values}\n")


def binary(path: Path, *, like: Path, launches: int) -> None:
    """A binary report of many launches: the blocks with results of a real one, again and again.

    The blocks before the first repeated one, and those of the session, are written once.
    """
    size = struct.Struct("<I").unpack_from
    content = like.read_bytes()
    at = 8 + size(content, 4)[0]
    container = Container(BufferedReader(BytesIO(content)))
    container.version()
    once, results = [content[:at]], []
    for block in container.blocks():
        found = len(list(block.results))
        end = at + 4 + size(content, at)[0] + block.header.payload_size
        # The first block with results has the strings, which must not be repeated.
        (results if found and not block.header.strings.texts else once).append(content[at:end])
        at = end
    with path.open("wb") as file:
        file.writelines(once)
        for number in range(launches):
            file.write(results[number % len(results)])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    details(folder / "details.csv")
    raw(folder / "raw.csv")
