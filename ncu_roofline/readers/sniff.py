"""What an input is, judged by its content and never by its name; and what to say when it is not a table."""

from __future__ import annotations

import re
from typing import Final

from ncu_roofline.errors import InputError

RAW_PAGE: Final = "ncu --import REPORT --csv --page raw"
"""How a report is exported so that it is read with every digit and counter."""

_CAUSES: Final = {
    "ERR_NVGPUCTRPERM": (
        "The user was not permitted to read GPU performance counters. Run ncu as root, or have the "
        "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0."
    ),
    "No kernels were profiled": (
        "ncu saw no kernel launch: the filters (-k, -s, -c, --nvtx) excluded all, the application ended "
        "early, or the launches are in a child process (--target-processes all)."
    ),
    "application returned an error code": (
        "The application failed under ncu. Run it alone first and look at its own messages."
    ),
    "driver resource was unavailable": (
        "Another profiler or monitor holds the GPU counters (DCGM, a second ncu). Stop it and profile again."
    ),
    "Failed to profile": "A launch could not be profiled; the application's own error is the usual cause.",
}
_TABLE_ROW: Final = re.compile(rb"^\s+[A-Za-z][\w .()/,%#-]*?\s{2,}[\w/%]*\s+[\d,.]+\s*$", re.MULTILINE)
_ERROR: Final = b"==ERROR=="
_WARNING: Final = b"==WARNING=="
_NOTE: Final = "Note:"
"""How messages begin that ncu prints in every run, such as that clocks are not locked."""
_RULER: Final = re.compile(rb"^\s*-{5,}[ -]*$", re.MULTILINE)
_REPORT_WRITTEN: Final = re.compile(rb"^==PROF== Report: (\S.*?)\s*$", re.MULTILINE)
_PAGE: Final = re.compile(
    rb'^"?(?:(?P<session>(?:Launch|Session) Attribute"?,"?Value)'
    rb'|(?P<source>(?:#"?,"?)?(?:Address"?,"?Source|Source"?,"?(?:Warp Stall|# Samples|Sampling)'
    rb'|Address"?,"?.*Warp Stall)))',
    re.MULTILINE,
)
_NSYS_REPORTS: Final = (b"NVIDIA Tegra Profiler Report", b"QDSTRM")
_NSYS_TEXT: Final = re.compile(
    rb"^\"?(?:Start ?\(ns\)\"?,\"?Duration|Time ?\(%\)\"?,\"?Total Time)"
    rb"|^ *Time ?\(%\) +Total Time|^ *Start ?\(ns\) +Duration|^ *\*\* [\w/ ]+ \([a-z_]+\):"
    rb"|^Generating '.*\.qdstrm'|^Generating SQLite file |^Processing \[.*\.sqlite\]|\[ *[0-9]+%.*\] .*\.nsys-rep",
    re.MULTILINE,
)
"""Headers of the tables of ``nsys stats``, and lines that nsys prints while it writes reports."""
_BEGIN_OF_HEADER: Final = (b'"ID","Process ID"', b'"Process ID","Process Name"')
_TRACE: Final = re.compile(rb'"traceEvents"|"schemaVersion"\s*:')

_AS_TIMING: Final = "Give it beside a report of ncu: ncu-roofline analyze REPORT --timing {path}"
_AS_TIMELINE: Final = (
    "Use it beside a report of ncu: `ncu-roofline budget REPORT --timeline {path}` for the whole step, "
    "`ncu-roofline analyze REPORT --timing {path}` for the times of kernels."
)
_EXPORT_TIMELINE: Final = (
    "Export it with `nsys export --type sqlite {path}` and use that beside a report of ncu: "
    "`ncu-roofline budget REPORT --timeline X.sqlite` for the whole step, "
    "`ncu-roofline analyze REPORT --timing X.sqlite` for the times of kernels."
)


def reject_binary(path: str, head: bytes) -> None:
    """Raise for inputs that are not text, with the way to get a table out of them.

    Raises:
        InputError: for a database, an archive, a report of another tool, or an empty input.

    """
    if not head.strip(b"\0 \r\n\t"):
        raise InputError(
            path,
            "the file is empty",
            "Export a report with `ncu --csv --page raw`.",
            is_damaged=_is_called_report(path),
        )
    if head.startswith(b"version https://git-lfs"):
        raise InputError(
            path,
            "this is a Git LFS pointer, not a report",
            "Fetch the file itself with `git lfs pull`.",
            is_damaged=True,
        )
    if head.startswith(b"SQLite format 3"):
        raise InputError(
            path,
            "this is an SQLite database, such as Nsight Systems exports, not an ncu report",
            _AS_TIMELINE.format(path=path),
        )
    if head.startswith(_NSYS_REPORTS):
        raise InputError(
            path,
            "this is a report of Nsight Systems (nsys), not of Nsight Compute (ncu)",
            _EXPORT_TIMELINE.format(path=path),
        )
    if head.startswith(b"PK\x03\x04"):
        raise InputError(path, "this is a zip archive", "Unpack it first; .gz and .zst are read as they are.")


def _is_called_report(path: str) -> bool:
    """Whether a file without content of its own kind was meant to be a report; nothing else is told by a name."""
    return path.endswith((".ncu-rep", ".ncu-repz", ".nsight-cuprof-report"))


def explain_no_table(path: str, text: bytes) -> InputError:
    """The error for a text in which no table header was found: what it is, and what to do."""
    if page := other_page(path, text):
        return page
    if b"Section:" in text or (_RULER.search(text) and _TABLE_ROW.search(text)):
        return InputError(
            path,
            "this is a piece of ncu's text output without the line that names the launch",
            f"Give the whole output of ncu, or a report: {RAW_PAGE}",
        )
    message, cause = _message(text)
    if written := _REPORT_WRITTEN.search(text):
        name = written[1].decode("utf-8", "replace")
        return InputError(
            path,
            "this is the log of a run of ncu, which has no results",
            f"ncu wrote them to {name}: analyse that file.",
        )
    if message:
        return InputError(path, f"ncu profiled nothing; it says: {message}", cause)
    if _NSYS_TEXT.search(text):
        return InputError(
            path,
            "this is output of Nsight Systems (nsys), which has no counters",
            f"{_AS_TIMING.format(path=path)}. For a timeline: nsys export --type sqlite X.nsys-rep, then "
            "ncu-roofline budget REPORT --timeline X.sqlite",
        )
    if text.lstrip()[:1] in (b"{", b"[") and _TRACE.search(text):
        return InputError(
            path,
            "this is a trace of the PyTorch profiler, which has no counters",
            f"{_AS_TIMING.format(path=path)}. For a timeline, profile with nsys: nsys export --type sqlite X.nsys-rep, "
            "then ncu-roofline budget REPORT --timeline X.sqlite",
        )
    if text.lstrip(b"\xef\xbb\xbf \r\n").startswith(_BEGIN_OF_HEADER):
        return InputError(
            path,
            "the table ends inside its header: the file is cut",
            f"Copy it again, or export it again: {RAW_PAGE}",
            is_damaged=True,
        )
    if _is_called_report(path):
        return InputError(
            path,
            "this is named as a binary report of ncu and does not begin as one: it is damaged, or no report",
            "Copy it again, or profile again.",
            is_damaged=True,
        )
    return InputError(
        path,
        "this is not a CSV report of Nsight Compute: no line has the column 'Kernel Name' with metric columns",
        f"Export a report with `{RAW_PAGE}` (or `--page details`). Times of kernels from elsewhere go with --timing.",
    )


def other_page(path: str, text: bytes) -> InputError | None:
    """The error for a page of a report that has no counters of launches; None if it is no such page."""
    found = _PAGE.search(text)
    if found is None:
        return None
    if found["session"] is not None:
        return InputError(
            path,
            "this is the session page of a report, which has no counters",
            f"Export the counters: {RAW_PAGE}; give this file beside them with --session",
        )
    return InputError(
        path,
        "this is the source page of a report, which has counters of instructions, not of launches",
        f"Export the counters of launches: {RAW_PAGE}",
    )


def explain_no_launches(path: str, line: int, text: bytes, damaged: int) -> InputError:
    """The error for a table that has a header and no rows, or only damaged ones."""
    message, cause = _message(text)
    if damaged:
        return InputError(
            path,
            f"none of the {damaged} rows of the table has as many cells as its header: they are cut, or another "
            "program has removed the quotes around cells with commas",
            f"Analyse the table that ncu wrote, or export it again: {RAW_PAGE}",
            line=line,
            is_damaged=True,
        )
    return InputError(
        path,
        f"the table has a header and no launches.{f' ncu says: {message}' if message else ''}",
        cause or "ncu wrote no result: check its filters (-k, -s, -c, --nvtx) and its messages.",
        line=line,
        is_damaged=True,
    )


def _message(text: bytes) -> tuple[str, str]:
    """The message of ncu that says why there is no result, with its usual cause; empty where there is none.

    An error comes before a warning, and one of known cause before others; notes, which ncu prints in every run, are no
    reason.
    """
    found = [message for mark in (_ERROR, _WARNING) for message in _marked(text, mark)]
    reasons = [message for message in found if not message.startswith(_NOTE)]
    errors = [message for message in _marked(text, _ERROR) if not message.startswith(_NOTE)]
    message = next(iter(errors or [m for m in reasons if _cause(m)] or reasons or found), "")
    causes = [_cause(message), *map(_cause, errors or reasons)]
    return message, next(filter(None, causes), "")


def _cause(message: str) -> str:
    return next((why for key, why in _CAUSES.items() if key in message), "")


def _marked(text: bytes, mark: bytes) -> list[str]:
    """What stands behind a mark of ncu in its lines; output of the application may stand before it."""
    lines = [line.partition(mark)[2] for line in text.splitlines() if mark in line]
    return [line.decode("utf-8", "replace").strip() for line in lines]
