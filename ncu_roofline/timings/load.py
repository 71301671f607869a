"""Which producer a file of times is from, by its content; and what to say when it has no times of kernels."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from pathlib import Path
from typing import Any, Final

from ncu_roofline.errors import InputError
from ncu_roofline.timings import benchmarks, nsys, nvprof, own, sqlite, trace
from ncu_roofline.timings.model import Timings

_GZIP: Final = b"\x1f\x8b"
_NSYS_REPORT: Final = b"NVIDIA Tegra Profiler Report"
_HEAD: Final = 64
_UNREADABLE: Final = (
    ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, LookupError, csv.Error,
)  # fmt: skip
_LONGEST: Final = 300


def load_timings(path: str) -> Timings:
    """Read the times of one file.

    Raises:
        InputError: if it cannot be read, or has no times of kernels.

    """
    try:
        return _load(path)
    except _UNREADABLE as error:
        # Files of other tools; what is in their fields is not in our hands.
        problem = f"a value in it is not what it has to be: {type(error).__name__}: {error}"
        raise InputError(path, problem[:_LONGEST], "Export it again.") from error


def _load(path: str) -> Timings:
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(sqlite.MAGIC):
            return sqlite.read_sqlite(path)
        content = Path(path).read_bytes()
        if head.startswith(_GZIP):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(path, f"cannot be read: {error}") from error
    if content.startswith(_NSYS_REPORT):
        raise InputError(
            path,
            "this is a report of Nsight Systems itself",
            f"Export it: nsys stats --report cuda_gpu_trace --format csv {path}, or nsys export --type sqlite {path}",
        )
    text = content.decode("utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig", "replace")
    if text.lstrip().startswith(("{", "[")):
        return _of_json(path, text)
    return _of_text(path, text)


def _of_json(path: str, text: str) -> Timings:
    try:
        document: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"the JSON is damaged: {error.msg}", line=error.lineno) from error
    if isinstance(document, list):
        document = {"traceEvents": document}
    if trace.is_trace(document):
        return trace.read_trace(path, document)
    if benchmarks.is_nvbench_json(document):
        return benchmarks.read_nvbench_json(path, document)
    raise InputError(path, "this JSON is neither a trace of the PyTorch profiler nor a result of nvbench")


def _of_text(path: str, text: str) -> Timings:
    for recognises, read in (
        (benchmarks.is_cutlass, benchmarks.read_cutlass),
        (benchmarks.is_nvbench_csv, benchmarks.read_nvbench_csv),
        (benchmarks.is_nvbench_markdown, benchmarks.read_nvbench_markdown),
        (nvprof.is_nvprof, nvprof.read_nvprof),
        (nsys.is_nsys, nsys.read_nsys),
        (own.is_own, own.read_own),
        (nsys.has_marks, nsys.read_nsys),
    ):
        if recognises(text):
            return read(path, text)
    benchmarks.refuse_triton(path, text)
    raise InputError(
        path,
        "there are no times of kernels in it that can be read",
        "Known are nsys stats (CSV, text), nsys export (SQLite), PyTorch traces, nvprof, nvbench, cutlass_profiler, "
        "reports of ncu, and a CSV with the columns kernel, grid, block and time_us.",
    )
