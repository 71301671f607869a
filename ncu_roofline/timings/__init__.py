"""Times of kernels from other producers: nsys, PyTorch, nvprof, benchmarks, own CSV; read, and joined to launches.

What may be paired with what is not decided here; the times come with the conditions under which they were taken.
"""

from ncu_roofline.timings.join import join
from ncu_roofline.timings.load import load_timings
from ncu_roofline.timings.model import AVERAGE, SINGLE, Rows, TimingConditions, Timings
from ncu_roofline.timings.names import base_name, with_arguments

__all__ = [
    "AVERAGE", "SINGLE", "Rows", "TimingConditions", "Timings", "base_name", "join", "load_timings", "with_arguments",
]  # fmt: skip
