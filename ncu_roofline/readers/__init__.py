"""Readers: one module per form of ncu output, chosen by content.

A reader keeps what was printed, as text, with its line. It knows neither what units mean nor what counters
are for.
"""

from ncu_roofline.readers.lines import REPLAY
from ncu_roofline.readers.read import read_report, report_files
from ncu_roofline.readers.report import Progress, RawReport, Report, SkippedLines

__all__ = ["REPLAY", "Progress", "RawReport", "Report", "SkippedLines", "read_report", "report_files"]
