"""The closed lists of names that the whole project shares.

Instruction paths, memory tiers, severities and extents. This module knows no architecture: which counters
stand behind a name is the business of the metric maps.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

FLOP_PATHS: Final = (
    "fp64",
    "fp32",
    "fp16",
    "tensor.fp64",
    "tensor.tf32",
    "tensor.bf16",
    "tensor.fp16",
    "tensor.fp16.acc32",
    "tensor.fp16.acc16",
    "tensor.fp8",
    "tensor.fp8.acc32",
    "tensor.fp8.acc16",
    "tensor.fp4",
    "tensor.fp4_fp6.acc32",
    "tensor.fp4_fp6.acc16",
    "tensor.fp4_fp6_fp8.acc32",
    "tensor.fp4_fp6_fp8.acc16",
)
"""Instruction paths that do floating-point work, in the order in which they are listed."""

OP_PATHS: Final = ("tensor.int8", "tensor.int4", "tensor.int1", "int")
"""Instruction paths whose work is counted in OP and is never added to FLOP."""

PATHS: Final = FLOP_PATHS + OP_PATHS

SCALAR_FLOP_PATHS: Final = ("fp64", "fp32", "fp16")

NEVER_BINDING_PATHS: Final = ("int",)
"""Paths that are shown but never bind (contract, "Bound")."""

TIERS: Final = ("dram", "l2", "l1", "shared", "sysmem", "nvlink")

CORE_TIERS: Final = ("dram", "l2", "l1")
"""The tiers that a complete picture needs."""

KERNEL: Final = "kernel"
RANGE: Final = "range"
COMMAND_LIST: Final = "command-list"
GRAPH: Final = "graph"
"""What an entry of a report is a result of: one launch, or all that ran in a range, a command list or a graph."""

_COMPUTE_CAPABILITY: Final = re.compile(r"[0-9]+\.[0-9]+")

OPCODE: Final = "opcode:"
"""How the name of a counter begins that is an opcode of the histogram."""

DEFAULT_DOMAIN: Final = "<default domain>"
"""NVTX domain of ranges that an application pushes without naming one."""


def work_unit(path: str) -> str:
    """``FLOP`` or ``OP``, the unit in which the work of an instruction path is counted."""
    return "OP" if path in OP_PATHS else "FLOP"


def is_tensor(path: str) -> bool:
    """Whether a path runs on tensor cores."""
    return path.startswith("tensor.")


def amount_prefix(name: str) -> str:
    """The columns of a memory tier or an instruction path: ``traffic.dram``, ``work.fp32``."""
    return f"traffic.{name}" if name in TIERS else f"work.{name}"


def is_compute_capability(text: str) -> bool:
    """Whether a text is a compute capability such as ``9.0``."""
    return _COMPUTE_CAPABILITY.fullmatch(text) is not None


class Severity(IntEnum):
    """How much a finding says about the numbers; ordered, so that thresholds compare."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The lower-case name used in every output."""
        return self.name.lower()


class Extent(IntEnum):
    """What an amount says about the true one; stored as int8 columns."""

    ABSENT = 0
    EXACT = 1
    AT_LEAST = 2
    AT_MOST = 3

    @property
    def label(self) -> str | None:
        """The name used in every output, None for an absent amount."""
        return None if self is Extent.ABSENT else self.name.lower()


class TensorState(IntEnum):
    """What is known of the tensor pipe of a launch when its operations were not all counted."""

    NOT_MEASURED = 0
    IDLE = 1
    ACTIVE = 2
    AMBIGUOUS = 3
    """Active, but only in instructions that may all be the compiler's constant loads (HFMA2.MMA)."""
