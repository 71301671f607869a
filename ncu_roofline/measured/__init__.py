"""Ceilings that a user measured: the tool's own YAML file, and results of ERT, mixbench and BabelStream.

What a file is, is judged by its content, never by its name. Names of tiers and paths come out, numbers in base
units, and words that say where each number stands. Knows no launches, no counters and no other ceilings.
"""

from ncu_roofline.measured.load import load_measured
from ncu_roofline.measured.model import MeasuredCeiling, MeasuredCeilings, same_device

__all__ = ["MeasuredCeiling", "MeasuredCeilings", "load_measured", "same_device"]
