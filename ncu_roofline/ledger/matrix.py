"""Ledgers of matrix products: dense, grouped (mixture of experts), with quantised weights, matrix times vector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from ncu_roofline.ledger.problem import (
    Kind,
    Ledger,
    Parameter,
    Parameters,
    dtype,
    number_of,
    size,
    size_of,
    tensor_paths,
    unit_of,
    vector_paths,
)

_BLOCKS: Final = 3.0
"""Blocks of A, B and C that are in fast memory at once."""


def _gemm(values: Parameters) -> Ledger:
    m, n, k, batch = number_of(values, "m", "n", "k", "batch")
    a, b, c = (size_of(values[name] or values["dtype"]) for name in ("a", "b", "c"))
    result = batch * m * n * c
    return Ledger(
        title=f"GEMM {m:.0f} x {n:.0f} x {k:.0f}{f' x {batch:.0f}' if batch > 1 else ''} in {values['dtype']}",
        work=2.0 * m * n * k * batch,
        unit=unit_of(values["dtype"]),
        read=batch * (m * k * a + k * n * b) + (result if float(values["beta"]) else 0.0),
        written=result,
        paths=tensor_paths(values["dtype"], values["accumulate"]),
        details=_blocked(values),
    )


def _blocked(values: Parameters) -> dict[str, float]:
    """What a product in square blocks moves that fit three at a time into a fast memory, and the least of its order."""
    m, n, k, batch, fast = number_of(values, "m", "n", "k", "batch", "fast_memory")
    if math.isnan(fast):
        return {}
    element = size_of(values["dtype"])
    words = fast / element
    # Blocks are no larger than the matrices.
    edge = max(min(math.floor(math.sqrt(words / _BLOCKS)), m, n, k), 1.0)
    work = m * n * k * batch
    return {
        "block_edge": edge,
        "blocked_bytes": element * batch * (2.0 * m * n * k / edge + m * n * (2.0 if float(values["beta"]) else 1.0)),
        "least_order_bytes": element * work / math.sqrt(words),
    }


def _gemv(values: Parameters) -> Ledger:
    (m, n), element = number_of(values, "m", "n"), size_of(values["dtype"])
    return Ledger(
        title=f"matrix {m:.0f} x {n:.0f} times vector in {values['dtype']}",
        work=2.0 * m * n,
        unit=unit_of(values["dtype"]),
        read=element * (m * n + n + (m if float(values["beta"]) else 0.0)),
        written=element * m,
        paths=vector_paths(values["dtype"]),
    )


def _moe(values: Parameters) -> Ledger:
    tokens, n, k, experts, chosen = number_of(values, "tokens", "n", "k", "experts", "top_k")
    active = float(values["active"])
    if math.isnan(active):
        # Each token leaves an expert out with probability 1 - top_k/experts, independently of the others.
        left_out = -math.inf if chosen >= experts else math.log1p(-chosen / experts)
        active = experts * -math.expm1(tokens * left_out) if tokens else 0.0
    inputs, weights, outputs = (size_of(values[name] or values["dtype"]) for name in ("a", "b", "c"))
    return Ledger(
        title=f"{experts:.0f} experts {n:.0f} x {k:.0f}, {chosen:.0f} for each of {tokens:.0f} tokens",
        work=2.0 * tokens * chosen * n * k,
        unit=unit_of(values["dtype"]),
        read=tokens * k * inputs + active * n * k * weights,
        written=tokens * chosen * n * outputs,
        paths=tensor_paths(values["dtype"]),
        details={"active_experts": active, "weight_bytes": active * n * k * weights},
    )


def _impossible_experts(values: Parameters) -> str:
    tokens, experts, chosen, active = number_of(values, "tokens", "experts", "top_k", "active")
    if chosen > experts:
        return "top_k is above experts"
    if active > min(experts, tokens * chosen) or (active < chosen and tokens > 0):
        return "active is not between top_k and what the tokens and experts allow"
    return ""


_SCHEMES: Final[Mapping[str, tuple[float, float, str]]] = {
    "w16a16": (2.0, 2.0, "bf16"),
    "w8a16": (1.0, 2.0, "bf16"),
    "w4a16": (0.5, 2.0, "bf16"),
    "w8a8": (1.0, 1.0, "fp8"),
    "w4a8": (0.5, 1.0, "fp8"),
    "w4a4": (0.5, 0.5, "fp4"),
}
"""Bytes of a weight and of an activation, and the type in which the product is computed: that of the activations."""


def _quantised(values: Parameters) -> Ledger:
    m, n, k, group = number_of(values, "m", "n", "k", "group")
    weight, activation, natural = _SCHEMES[str(values["scheme"])]
    computed = str(values["compute"] or natural)
    scales = n * (math.ceil(k / group) if group else 0.0) * size_of(values["scale"])
    zeros = scales / size_of(values["scale"]) * weight if values["zero_points"] == "yes" else 0.0
    weights = n * k * weight
    return Ledger(
        title=f"{str(values['scheme']).upper()} product {m:.0f} x {n:.0f} x {k:.0f}, computed in {computed}",
        work=2.0 * m * n * k,
        unit=unit_of(computed),
        read=weights + scales + zeros + m * k * activation,
        written=m * n * size_of(values["c"]),
        paths=tensor_paths(computed),
        details={"weight_bytes": weights, "scale_bytes": scales + zeros},
    )


_MNK: Final = {"m": size("rows of A and C"), "n": size("columns of B and C"), "k": size("columns of A, rows of B")}
_OPERANDS: Final = {
    "a": dtype("type of A where it is not dtype", ""),
    "b": dtype("type of B where it is not dtype", ""),
    "c": dtype("type of C where it is not dtype", ""),
}

KINDS: Final[Mapping[str, Kind]] = {
    "gemm": Kind(
        _MNK
        | {
            "dtype": dtype("type in which it is computed, and of the elements"),
            "batch": size("products of this size, each with its own A, B and C", 1.0),
            "beta": size("factor of C; unless it is 0, C is read as well", 0.0, whole=False),
            "accumulate": Parameter("accumulator, where a path depends on it", "fp32", ("fp32", "fp16")),
        }
        | _OPERANDS
        | {"fast_memory": size("bytes of a fast memory: adds what a product in blocks moves", math.nan, least=24)},
        "work 2mnk; read mk of a, kn of b, and mn of c if beta is not 0; written mn of c; a, b, c: types where they "
        "are not dtype",
        _gemm,
        (
            "A, B and C move once: tiles that are read again are not compulsory",
            "fp32 is computed on the FP32 path, tf32 on the tensor cores",
            "fast_memory has three blocks of edge sqrt(words/3); least order mnk/sqrt(words), Hong and Kung 1981",
        ),
    ),
    "moe": Kind(
        {
            "tokens": size("rows of the input"),
            "n": size("columns of the weights of an expert"),
            "k": size("rows of the weights of an expert"),
            "experts": size("experts that there are", least=1.0),
            "top_k": size("experts for each token", least=1.0),
            "dtype": dtype("type in which it is computed, and of the elements"),
            "active": size("experts that get any token; expected number if it is not given", math.nan, whole=False),
        }
        | _OPERANDS,
        "work 2 tokens top_k nk; read tokens k of a, active nk of b; written tokens top_k n of c",
        _moe,
        (
            "each token chooses top_k experts with equal chances, so that E(1 - (1 - top_k/E)^tokens) of E are active",
            "a token is read once, whatever the number of its experts",
        ),
        _impossible_experts,
    ),
    "quantised": Kind(
        _MNK
        | {
            "scheme": Parameter("bits of weights and activations", None, tuple(_SCHEMES)),
            "group": size("weights along k that share a scale; 0: no scales are counted", 128.0),
            "scale": dtype("type of a scale", "fp16"),
            "zero_points": Parameter("whether a scale has a zero point, of the type of weights", "no", ("no", "yes")),
            "compute": Parameter(
                "type in which the product is computed", "", ("bf16", "fp16", "fp8", "int8", "fp4", "int4", "")
            ),
            "c": dtype("type of the result", "bf16"),
        },
        "work 2mnk; read nk weights, n ceil(k/group) scales, mk activations; written mn of c",
        _quantised,
        (
            "the product is computed in the type of the activations (w4a16: bf16; w8a8, w4a8: fp8) unless compute says",
            "unpacking of weights is not counted as work, and activations have no scales",
        ),
    ),
    "gemv": Kind(
        {
            "m": size("rows"), "n": size("columns"), "dtype": dtype(),
            "beta": size("factor of y; unless it is 0, y is read as well", 0.0, whole=False),
        },
        "work 2mn; read mn + n, and m if beta is not 0; written m elements",
        _gemv,
        ("each vector moves once", "types of two bytes and less may be computed two at a time"),
    ),
}  # fmt: skip
"""Kinds of problems by name."""
