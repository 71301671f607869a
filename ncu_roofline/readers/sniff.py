"""What an input is, judged by its content and never by its name; and what to say when it is not a table."""

from __future__ import annotations

import re
from typing import Final

from ncu_roofline.errors import InputError

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
_RULER: Final = re.compile(rb"^\s*-{5,}[ -]*$", re.MULTILINE)


def reject_binary(path: str, head: bytes) -> None:
    """Raise for inputs that are not text, with the way to get a table out of them.

    Raises:
        InputError: for a database, an archive, or an empty input.

    """
    if not head.strip(b"\0 \r\n\t"):
        raise InputError(path, "the file is empty", "Export a report with `ncu --csv --page raw`.")
    if head.startswith(b"version https://git-lfs"):
        raise InputError(path, "this is a Git LFS pointer, not a report", "Fetch the file itself with `git lfs pull`.")
    if head.startswith(b"SQLite format 3"):
        raise InputError(
            path,
            "this is an SQLite database (an Nsight Systems export), not an ncu report",
            "Profile the kernels with ncu and export with `ncu --csv --page raw`.",
        )
    if head.startswith(b"PK\x03\x04"):
        raise InputError(path, "this is a zip archive", "Unpack it first; .gz and .zst are read as they are.")


def explain_no_table(path: str, text: bytes) -> InputError:
    """The error for a text in which no table header was found: what it is, and what to do."""
    errors = _lines_with(text, _ERROR)
    warnings = _lines_with(text, b"==WARNING==")
    if re.search(rb'^"(Launch|Session) Attribute","Value"', text, re.MULTILINE):
        return InputError(
            path,
            "this is the session page of a report, which has no counters",
            "Export the counters: ncu --import REPORT --csv --page raw",
        )
    if b"Section:" in text or (_RULER.search(text) and _TABLE_ROW.search(text)):
        return InputError(
            path,
            "this is a piece of ncu's text output without the line that names the launch",
            "Give the whole output of ncu, or a report: ncu --import REPORT --csv --page raw",
        )
    messages = errors or warnings
    if messages:
        said = messages[0].partition("== ")[2]
        cause = next((why for key, why in _CAUSES.items() for said_line in messages if key in said_line), "")
        return InputError(path, f"ncu profiled nothing; it says: {said}", cause)
    return InputError(
        path,
        "this is not a CSV report of Nsight Compute: no line has the column 'Kernel Name' with metric columns",
        "Export a report with `ncu --csv --page raw` (or `--page details`).",
    )


def explain_no_launches(path: str, line: int, text: bytes) -> InputError:
    """The error for a table that has a header and no rows."""
    messages = _lines_with(text, _ERROR) + _lines_with(text, b"==WARNING==")
    said = f" ncu says: {messages[0].partition('== ')[2]}" if messages else ""
    return InputError(
        path,
        f"the table has a header and no launches.{said}",
        "ncu wrote no result: check its filters (-k, -s, -c, --nvtx) and its messages.",
        line=line,
    )


def _lines_with(text: bytes, mark: bytes) -> list[str]:
    return [line.decode("utf-8", "replace").strip() for line in text.splitlines() if line.startswith(mark)]
