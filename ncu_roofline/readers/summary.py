"""``--print-summary``: one row per kernel (or GPU, or NVTX range) and metric, launches merged.

The table has minimum, maximum and average over a number of invocations. The average is the value of a cell; how
often it happened is part of the identity.
"""

from __future__ import annotations

from typing import Final

from ncu_roofline.readers import details
from ncu_roofline.readers.launches import identity_columns
from ncu_roofline.readers.lines import Header

FORM: Final = "csv-summary"

_VALUE: Final = "Average"


def matches(header: Header) -> bool:
    """Whether a table is a summary."""
    return {"Metric Name", "Invocations", _VALUE} <= set(header.columns)


def columns(header: Header) -> dict[str, int]:
    """Positions of the identity and of the columns that carry the values."""
    return identity_columns(header) | details.columns(header, value=_VALUE)
