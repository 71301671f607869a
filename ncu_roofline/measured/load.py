"""One file in, ceilings out: the form is chosen by what the file contains."""

from __future__ import annotations

from pathlib import Path

from ncu_roofline.measured.model import MeasuredCeilings
from ncu_roofline.measured.own import is_own, read_own
from ncu_roofline.measured.text import read_text
from ncu_roofline.measured.tools import from_tool, read_tool


def load_measured(path: Path) -> MeasuredCeilings:
    """Read a user's file of measured ceilings.

    Raises:
        DataFileError: a file of the tool's own form has problems; all are given at once.
        InputError: the file is of no known form, is damaged, or does not say which ceilings its numbers are.

    """
    text = read_text(path)
    return read_own(path) if is_own(text) else from_tool(read_tool(path, text))
