"""Where the packaged data files lie: in a wheel, in an editable install and in a plain checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def metric_map_directory() -> Path:
    """The folder of metric maps and labels.

    A wheel carries it inside the package; a checkout (also one that is installed as editable) has it
    beside the package.
    """
    package = Path(__file__).resolve().parent
    inside = package / "metric_maps"
    return inside if inside.is_dir() else package.parent / "metric_maps"
