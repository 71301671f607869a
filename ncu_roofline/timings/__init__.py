"""Times of kernels from other producers: nsys, PyTorch, nvprof, benchmarks, own CSV; read, and joined to launches.

What may be paired with what is not decided here; the times come with the conditions under which they were taken.
"""

from ncu_roofline.timings.join import join
from ncu_roofline.timings.load import load_timings
from ncu_roofline.timings.model import AVERAGE, GIVEN, SINGLE, UNLOCKED, Rows, TimingConditions, Timings
from ncu_roofline.timings.names import base_name, kind_in, with_arguments
from ncu_roofline.timings.timeline import COPY, GRAPH, KERNEL, TRANSFER, Timeline, read_timeline

__all__ = [
    "AVERAGE", "COPY", "GIVEN", "GRAPH", "KERNEL", "SINGLE", "TRANSFER", "UNLOCKED", "Rows", "Timeline",
    "TimingConditions", "Timings", "base_name", "join", "kind_in", "load_timings", "read_timeline", "with_arguments",
]  # fmt: skip
