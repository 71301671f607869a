"""Metric maps: what the counters of an architecture mean, as data.

Loaded from YAML, checked strictly, inherited and matched by compute capability. A map knows no launches.
"""

from ncu_roofline.maps.library import MapLibrary, load_library, load_map
from ncu_roofline.maps.model import Alternative, Measure, MetricMap, Part, PathMap, TensorActivity, TierMap, Weights

__all__ = [
    "Alternative",
    "MapLibrary",
    "Measure",
    "MetricMap",
    "Part",
    "PathMap",
    "TensorActivity",
    "TierMap",
    "Weights",
    "load_library",
    "load_map",
]
