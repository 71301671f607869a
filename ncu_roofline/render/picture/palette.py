"""Colours of the picture and the page, light and dark, and how tiers are called."""

from __future__ import annotations

from typing import Final

from ncu_roofline.render.picture.chart import COMPUTE, FAR_FROM_ALL, NOT_KNOWN, Roof

LIGHT: Final = {
    "page": "#ffffff", "text": "#1b1f24", "muted": "#57606a", "grid": "#e6e8eb", "line": "#d0d7de", "panel": "#f6f8fa",
    "on fill": "#fff", "dram": "#004CED", "l2": "#08805A", "l1": "#AE5B0F", "shared": "#AE5B0F", "sysmem": "#1b1f24",
    "nvlink": "#1b1f24", COMPUTE: "#C4109F", FAR_FROM_ALL: "#404046", NOT_KNOWN: "#57606a",
}  # fmt: skip
"""Page and text on a fill are both white, written apart, because they differ in the dark."""
DARK: Final = {
    "page": "#14171c", "text": "#e6e8eb", "muted": "#9aa3ad", "grid": "#262b33", "line": "#363d47", "panel": "#1b2027",
    "on fill": "#000", "dram": "#4C8DF5", "l2": "#42D6AC", "l1": "#F57C04", "shared": "#F57C04", "sysmem": "#e6e8eb",
    "nvlink": "#e6e8eb", COMPUTE: "#EE9EE6", FAR_FROM_ALL: "#8B8B93", NOT_KNOWN: "#9aa3ad",
}  # fmt: skip

TITLES: Final = {"dram": "DRAM", "l2": "L2", "l1": "L1", "shared": "shared memory", "sysmem": "system memory",
                 "nvlink": "NVLink"}  # fmt: skip
"""Names of tiers for people; paths are called by their own."""


def title(name: str) -> str:
    """A tier or a path as people call it."""
    return TITLES.get(name, name)


def roof_color(roof: Roof, colors: dict[str, str]) -> str:
    """Colour of a ceiling: that of its tier, or of compute."""
    return colors[roof.name] if roof.is_tier else colors[COMPUTE]
