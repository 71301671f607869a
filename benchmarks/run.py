"""Complete ``analyze()`` against polars' own work on the same files, in one run: ``python benchmarks/run.py``.

Every job runs in a process of its own, several times and in turn with the one that it is held against; shown are the
median time, the lowest peak of memory and the median ratio of the pairs. The baselines: on the details page strip
thousands separators, cast and pivot the wanted metrics; on the raw page read the wanted columns as text. Import times
are left out.

``--like REPORT`` repeats the launches of a binary report (about 500 metrics each) and measures it against NVIDIA's
reader (``ncu-report``), which loads the file and reads the same metrics.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

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


@dataclass(frozen=True)
class Measured:
    """What one process took."""

    seconds: float
    peak: float
    """Highest memory in bytes."""


def measure(job: str, path: Path) -> Measured:
    """Run a job in a process of its own."""
    command = [sys.executable, "-c", JOBS[job] + END, str(path), json.dumps(list(USED))]
    seconds, peak, _ = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return Measured(seconds, peak)


def alternate(first: tuple[str, Path], second: tuple[str, Path], repeats: int) -> tuple[str, str, str]:
    """Median seconds and lowest peak of two jobs, and the median of second over first.

    The two run in turn, so that a machine whose speed drifts is as fast for one as for the other.
    """
    # What was just written is not to be written back while the jobs run.
    os.sync()
    pairs = [(measure(*first), measure(*second)) for _ in range(repeats)]
    said = [
        f"{median(one.seconds for one in runs):.3f} s, {min(one.peak for one in runs) / 1e6:.0f} MB"
        for runs in zip(*pairs, strict=True)
    ]
    return said[0], said[1], f"{median(two.seconds / one.seconds for one, two in pairs):.2f}x"


def measure_binary(like: Path, repeats: int, scale: float) -> None:
    """Print 10 000 launches against NVIDIA's reader, and ten times as many alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.ncu-rep"
        launches = int(10_000 * scale)
        binary(path, like=like, launches=launches)
        size = path.stat().st_size
        ours, base, ratio = alternate(("analyze", path), ("nvidia", path), repeats)
        print(f"binary {size / 1e6:.0f} MB, {launches} launches: analyze {ours}; ncu_report {base} = {ratio}")
        more = Path(folder) / "more.ncu-rep"
        binary(more, like=like, launches=10 * launches)
        _, seconds, ratio = alternate(("analyze", path), ("analyze", more), 1)
        print(f"ten times the launches: {seconds} = {ratio}")


def main() -> None:
    """Print one line per job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
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
            base, ours, ratio = alternate((f"polars {name}", path), ("analyze", path), options.repeats)
            print(f"{name} {path.stat().st_size / 1e6:.0f} MB: polars {base}; analyze {ours} = {ratio}")
            twice = Path(folder) / f"twice-{name}.csv"
            write(twice, launches=int(2 * launches * options.scale))
            _, seconds, ratio = alternate(("analyze", path), ("analyze", twice), options.repeats)
            print(f"twice the rows: {seconds} = {ratio}")


if __name__ == "__main__":
    main()
