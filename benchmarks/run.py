"""Complete ``analyze()`` against polars' own work on the same files, in one run: ``python benchmarks/run.py``.

Every job runs in a process of its own, several times; the best time and the peak memory are shown. The baselines:
on the details page strip thousands separators, cast and pivot the wanted metrics; on the raw page read the wanted
columns as text. Import times are left out.

``--like REPORT`` repeats the launches of a binary report (about 500 metrics each) and measures it against NVIDIA's
reader (``ncu-report``), which loads the file and reads the same metrics.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from reports import USED, binary, details, raw

BASELINE = """
import sys, time, json, resource, polars as pl
path, wanted = sys.argv[1], json.loads(sys.argv[2])
skip = 3
begin = time.perf_counter()
"""
JOBS = {
    "polars details": BASELINE
    + """
frame = (pl.scan_csv(path, skip_lines=skip, infer_schema=False, truncate_ragged_lines=True)
    .select("ID", "Metric Name", "Metric Value").filter(pl.col("Metric Name").is_in(wanted))
    .with_columns(pl.col("Metric Value").str.replace_all(",", "").cast(pl.Float64, strict=False)).collect()
    .pivot("Metric Name", index="ID", values="Metric Value", aggregate_function="first"))
""",
    "polars raw": BASELINE
    + """
frame = pl.read_csv(path, skip_lines=skip, infer_schema=False, columns=["ID", *wanted])
""",
    "nvidia": BASELINE
    + """
import ncu_report
begin = time.perf_counter()
part = ncu_report.load_report(path).range_by_idx(0)
frame = range(part.num_actions())
for number in frame:
    action = part.action_by_idx(number)
    for name in wanted:
        metric = action.metric_by_name(name)
        if metric is not None:
            metric.value()
""",
    "analyze": """
import sys, time, json, resource
import numpy.ma, ncu_roofline.pipeline, ncu_roofline.render.json_report
path = sys.argv[1]
begin = time.perf_counter()
frame = ncu_roofline.pipeline.analyze(path).columns["launch"]
""",
}
END = """
print(json.dumps([time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, len(frame)]))
"""


def measure(job: str, path: Path, repeats: int) -> tuple[float, float]:
    """Best seconds and lowest peak bytes of a job over several processes."""
    results = []
    for _ in range(repeats):
        command = [sys.executable, "-c", JOBS[job] + END, str(path), json.dumps(list(USED))]
        results.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return min(result[0] for result in results), min(result[1] for result in results)


def measure_binary(like: Path, repeats: int, scale: float) -> None:
    """Print 10 000 launches against NVIDIA's reader, and ten times as many alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.ncu-rep"
        launches = int(10_000 * scale)
        binary(path, like=like, launches=launches)
        size = path.stat().st_size
        base, base_memory = measure("nvidia", path, 1)
        ours, memory = measure("analyze", path, repeats)
        binary(path, like=like, launches=10 * launches)
        more, more_memory = measure("analyze", path, 1)
    print(
        f"binary {size / 1e6:.0f} MB, {launches} launches: ncu_report {base:.2f} s, {base_memory / 1e6:.0f} MB; "
        f"analyze {ours:.2f} s = 1/{base / ours:.1f}, {memory / 1e6:.0f} MB = 1/{base_memory / memory:.1f}; "
        f"ten times the launches {more / ours:.1f}x, {more_memory / 1e6:.0f} MB"
    )


def main() -> None:
    """Print one line per job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the reports; 1 is 240 MB and 100 MB")
    parser.add_argument("--like", type=Path, help="a binary report whose launches are repeated")
    options = parser.parse_args()
    if options.like is not None:
        measure_binary(options.like, options.repeats, options.scale)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, write, launches in (("details", details, 16_000), ("raw", raw, 10_000)):
            path = Path(folder) / f"{name}.csv"
            write(path, launches=int(launches * options.scale))
            size = path.stat().st_size
            base, base_memory = measure(f"polars {name}", path, options.repeats)
            ours, memory = measure("analyze", path, options.repeats)
            write(path, launches=int(2 * launches * options.scale))
            twice, _ = measure("analyze", path, options.repeats)
            print(
                f"{name} {size / 1e6:.0f} MB: polars {base:.3f} s, {base_memory / 1e6:.0f} MB; "
                f"analyze {ours:.3f} s = {ours / base:.2f}x, {memory / 1e6:.0f} MB; twice the rows {twice / ours:.2f}x"
            )


if __name__ == "__main__":
    main()
