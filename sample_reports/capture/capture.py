"""Capture real reports of kernels whose work is known: ``python sample_reports/capture/capture.py OUTPUT_FOLDER``.

Needs a GPU with nvcc, ncu and nvidia-smi. Only the counters of the metric map of the GPU are collected, in as few
passes as they need. Written are the report and its raw and details pages as CSV, with units as ncu chooses them and
with base units, and ``known.jsonl`` with the work that the program states. Then every count of the raw page is held
against that statement; the exit code is 1 when one differs.

``--check REPORT.csv KNOWN.jsonl`` does the last step only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ncu_roofline as nr
from ncu_roofline.collect import metrics_to_collect
from ncu_roofline.maps.library import load_library

SOURCE = Path(__file__).with_name("kernels.cu")
CONSTANT_LOADS = 8
"""Packed instructions per thread that the compiler may add to half_fma for constants (HFMA2.MMA), at 4 FLOP each."""


def build(folder: Path, compute_capability: str) -> Path:
    """Compile the kernels for one compute capability such as ``9.0``."""
    program = folder / "kernels"
    architecture = f"sm_{compute_capability.replace('.', '')}"
    subprocess.run(["nvcc", "-O3", f"-arch={architecture}", "-o", str(program), str(SOURCE)], check=True)
    return program


def capture(folder: Path, clock_control: str) -> tuple[Path, Path]:
    """Build, run and profile; returns the raw page and the statement of the work."""
    folder.mkdir(parents=True, exist_ok=True)
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"]
    compute_capability = _output(query).strip()
    program = build(folder, compute_capability)
    known = folder / "known.jsonl"
    known.write_text(_output([str(program)]))
    metric_map = load_library().for_compute_capability(compute_capability)
    metrics = [*metrics_to_collect(metric_map, compute_capability), *metric_map.attributes.values()]
    report = folder / "kernels.ncu-rep"
    command = ["ncu", "--force-overwrite", "--clock-control", clock_control, "--metrics", ",".join(metrics)]
    subprocess.run([*command, "--export", str(report), str(program)], check=True)
    for page in ("raw", "details"):
        for name, units in (("auto", "auto"), ("base", "base")):
            export = ["ncu", "--import", str(report), "--csv", "--page", page, "--print-units", units]
            (folder / f"{page}_{name}.csv").write_text(_output(export))
    program.unlink()
    return folder / "raw_base.csv", known


def check(report: Path, known: Path) -> list[str]:
    """What differs between the counts of a report and the statement of the program, one text each."""
    statements = {entry["kernel"]: entry for entry in map(json.loads, known.read_text().splitlines())}
    launches: list[dict[str, Any]] = json.loads(nr.analyze(report).to_json())["launches"]
    by_name = {str(launch["kernel"]).partition("(")[0].split()[-1]: launch for launch in launches}
    problems = [f"{name}: not in the report" for name in statements if name not in by_name]
    for name, launch in by_name.items():
        if name in statements:
            problems += _difference(statements[name], launch)
    return problems


def _difference(statement: dict[str, Any], launch: dict[str, Any]) -> list[str]:
    path = statement["path"]
    # Where the accumulator is told apart, FP16 tensor work with FP32 accumulation is a path of its own.
    found = launch["work"].get(path) or launch["work"].get(f"{path}.acc32")
    if found is None:
        return [f"{statement['kernel']}: {path} was not counted"]
    threads = 1
    for size in (launch["grid"] or []) + (launch["block"] or []):
        threads *= size
    slack = 4 * CONSTANT_LOADS * threads if path == "fp16" else 0
    if not statement["work"] <= found["count"] <= statement["work"] + slack:
        return [f"{statement['kernel']}: {path} is {found['count']:.0f}, known is {statement['work']:.0f}"]
    return []


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Capture and check, or check alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where the reports are written")
    parser.add_argument("--clock-control", choices=["base", "none"], default="base", help="none leaves clocks alone")
    parser.add_argument("--check", nargs=2, type=Path, metavar=("REPORT", "KNOWN"))
    options = parser.parse_args()
    if options.check is None and options.folder is None:
        parser.error("give a folder, or --check REPORT KNOWN")
    report, known = options.check or capture(options.folder, options.clock_control)
    problems = check(report, known)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{report}: {'all counts are as known' if not problems else f'{len(problems)} counts differ'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
