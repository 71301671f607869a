"""Readers: one module per form of ncu output, chosen by content.

A reader keeps what was printed, as text, with its line. It knows neither what units mean nor what counters
are for.
"""

from ncu_roofline.readers.details import NOT_AVAILABLE
from ncu_roofline.readers.read import read_report, report_files
from ncu_roofline.readers.report import (
    HISTOGRAM,
    Loss,
    Progress,
    RawReport,
    Report,
    Session,
    SkippedLines,
    Stored,
    opcode_columns,
)
from ncu_roofline.readers.session import read_session, session_beside

__all__ = [
    "HISTOGRAM", "NOT_AVAILABLE", "Loss", "Progress", "RawReport", "Report", "Session", "SkippedLines", "Stored",
    "opcode_columns", "read_report", "read_session", "report_files", "session_beside",
]  # fmt: skip
