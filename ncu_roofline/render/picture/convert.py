"""Pictures of other kinds, made of the static drawing without a browser."""

from __future__ import annotations

from typing import Final

EXTRA: Final = "figure"
"""Name of the optional extra that brings the converter."""
_PIXELS: Final = 2.0
"""Pixels of a PNG for each unit of the drawing: legible on dense screens and when enlarged."""
PRINT: Final = 600.0 / 96.0
"""The same for 600 dots per inch, where the size of the drawing is given in points (96 pixels are an inch)."""


def to_png(svg: str, *, scale: float = _PIXELS) -> bytes:
    """The drawing as PNG, of 1600 pixels in width if it is one for screens.

    Raises:
        ModuleNotFoundError: if the converter is not installed.

    """
    from vl_convert import svg_to_png

    return bytes(svg_to_png(svg, scale=scale))


def to_pdf(svg: str) -> bytes:
    """The drawing as PDF with its fonts embedded; objects inside may be numbered differently from run to run.

    Raises:
        ModuleNotFoundError: if the converter is not installed.

    """
    from vl_convert import svg_to_pdf

    return bytes(svg_to_pdf(svg))
