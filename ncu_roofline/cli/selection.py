"""Options that select launches and name quantities, checked and turned into masks and names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ncu_roofline.errors import UsageError
from ncu_roofline.wording import some

if TYPE_CHECKING:
    from ncu_roofline.analysis import Analysis
    from ncu_roofline.arrays import BoolArray

_SHOWN = 3


def selected(
    analysis: Analysis, shown: Analysis, *, kernel: str | None, launch: str | None, nvtx: str | None
) -> BoolArray:
    """The launches that every given option selects; messages offer the names that are ``shown``.

    Raises:
        UsageError: if an option has no meaning or selects nothing.

    """
    import numpy as np

    keep = np.ones(len(analysis), np.bool_)
    for option, text, mask in (
        ("--kernel", kernel, _by_kernel),
        ("--launch", launch, _by_position),
        ("--nvtx", nvtx, _by_range),
    ):
        if text is not None:
            keep &= mask(analysis, text)
            if not keep.any():
                raise UsageError(option, text, f"selects none of the {len(analysis)} launches; {_offer(shown, option)}")
    return keep


def required(names: str | None) -> list[str]:
    """Tiers and paths of ``--require``, which are written as everywhere or in capitals.

    Raises:
        UsageError: if a name is none.

    """
    from ncu_roofline.vocabulary import PATHS, TIERS

    if names is None:
        return []
    found = [name.strip().lower() for name in names.split(",")]
    for name in found:
        if name not in PATHS and name not in TIERS:
            raise UsageError("--require", name or "''", f"is no tier or path; known are {', '.join((*TIERS, *PATHS))}")
    return found


def _by_kernel(analysis: Analysis, text: str) -> BoolArray:
    import numpy as np

    try:
        pattern = re.compile(text)
    except re.error as error:
        raise UsageError("--kernel", text, f"is not a regular expression: {error}") from error
    names = analysis.columns["kernel"]
    matching = {name for name in set(names) if pattern.search(name or "")}
    return np.fromiter((name in matching for name in names), np.bool_, len(names))


def _by_position(analysis: Analysis, text: str) -> BoolArray:
    import numpy as np

    launches = analysis.columns["launch"]
    keep = np.zeros(len(launches), np.bool_)
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None:
            raise UsageError("--launch", text, "is not a list of numbers and ranges such as 0,4-7")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise UsageError("--launch", text, f"the range {part.strip()} runs backwards")
        mine = (launches >= first) & (launches <= last)
        if not mine.any():
            raise UsageError("--launch", text, f"there is no launch {part.strip()}; {_offer(analysis, '--launch')}")
        keep |= mine
    return keep


def _by_range(analysis: Analysis, text: str) -> BoolArray:
    """Launches inside an NVTX range, ``RANGE`` in any domain or ``DOMAIN@RANGE``."""
    from ncu_roofline.launch_filter import inside_range

    return inside_range(analysis.columns["nvtx"], text)


def _offer(analysis: Analysis, option: str) -> str:
    """What could have been selected."""
    if option == "--launch":
        return f"they are numbered 0 to {len(analysis) - 1}"
    if option == "--kernel":
        names = list(dict.fromkeys(str(name) for name in analysis.columns["kernel"]))
        return f"kernels are {some(names, _SHOWN)}"
    found = dict.fromkeys(name for ranges in analysis.columns["nvtx"] for _, name in ranges or ())
    return f"NVTX ranges are {', '.join(found)}" if found else "the report has no NVTX ranges (ncu --nvtx records them)"
