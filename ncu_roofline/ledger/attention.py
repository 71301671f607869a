"""Ledgers of attention: prefill and decode, heads that share keys and values, a latent (MLA), fused or not."""

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
)

_SCORE_PASSES: Final = 4.0
"""Scores are written, read by the softmax, written as probabilities and read by the second product."""
_SCALE_PASSES: Final = 2.0
"""A kernel of its own that scales or masks the scores reads and writes them once more."""


def _pairs(queries: float, keys: float, *, causal: bool) -> float:
    """Pairs of query and key that are computed; the last query sees all keys."""
    return queries * keys - (queries * (queries - 1.0) / 2.0 if causal else 0.0)


def _queries(values: Parameters) -> float:
    stated = float(values["queries"])
    if not math.isnan(stated):
        return stated
    return 1.0 if values["phase"] == "decode" else float(values["keys"])


def _attention(values: Parameters) -> Ledger:
    batch, keys, heads, width = number_of(values, "batch", "keys", "heads", "head_dim")
    queries, is_causal = _queries(values), values["causal"] == "yes"
    kv_heads = heads if math.isnan(float(values["kv_heads"])) else float(values["kv_heads"])
    value_width = width if math.isnan(float(values["value_dim"])) else float(values["value_dim"])
    element, kv_element = size_of(values["dtype"]), size_of(values["kv"] or values["dtype"])
    pairs = batch * heads * _pairs(queries, keys, causal=is_causal)
    token = kv_heads * (width + value_width) * kv_element
    scores = 0.0 if values["form"] == "fused" else pairs * element
    passes = _SCORE_PASSES + (_SCALE_PASSES if values["form"] == "unfused-scaled" else 0.0)
    return Ledger(
        title=f"{values['form']} attention, {queries:.0f} queries on {keys:.0f} keys, {heads:.0f} heads of {width:.0f}",
        work=2.0 * pairs * (width + value_width),
        unit=unit_of(values["dtype"]),
        read=batch * (queries * heads * width * element + keys * token) + scores * passes / 2.0,
        written=batch * queries * heads * value_width * element + scores * passes / 2.0,
        paths=tensor_paths(values["dtype"]),
        details={"kv_token_bytes": token, "kv_bytes": batch * keys * token, "score_bytes": scores * passes},
    )


def _mla(values: Parameters) -> Ledger:
    batch, keys, heads, rank, rope = number_of(values, "batch", "keys", "heads", "rank", "rope")
    queries, is_causal = _queries(values), values["causal"] == "yes"
    element, kv_element = size_of(values["dtype"]), size_of(values["kv"] or values["dtype"])
    pairs = batch * heads * _pairs(queries, keys, causal=is_causal)
    token = (rank + rope) * kv_element
    return Ledger(
        title=f"attention on a latent of {rank + rope:.0f}, {queries:.0f} queries on {keys:.0f} keys, "
        f"{heads:.0f} heads",
        work=2.0 * pairs * (rank + rope + rank),
        unit=unit_of(values["dtype"]),
        read=batch * (queries * heads * (rank + rope) * element + keys * token),
        written=batch * queries * heads * rank * element,
        paths=tensor_paths(values["dtype"]),
        details={"kv_token_bytes": token, "kv_bytes": batch * keys * token},
    )


_COMMON: Final = {
    "keys": size("keys and values of each sequence, the new ones among them", least=1.0),
    "heads": size("query heads", least=1.0),
    "phase": Parameter("decode: one query; prefill: as many as keys", "prefill", ("prefill", "decode")),
    "queries": size("queries of each sequence, where the phase does not say it", math.nan),
    "batch": size("sequences", 1.0),
    "dtype": dtype("type of queries and results, in which it is computed"),
    "kv": dtype("type of keys and values where it is not dtype", ""),
    "causal": Parameter("whether a query sees only keys up to its own", "no", ("no", "yes")),
}


def _too_many_queries(values: Parameters) -> str:
    """A causal query has a key of its own."""
    if values["causal"] == "yes" and _queries(values) > float(values["keys"]):
        return "causal attention has no more queries than keys"
    return ""


def _impossible(values: Parameters) -> str:
    heads, kv_heads = number_of(values, "heads", "kv_heads")
    if kv_heads == 0 or (kv_heads > 0 and heads % kv_heads):
        return "heads have to be a multiple of kv_heads"
    return _too_many_queries(values)


_ASSUMES: Final = (
    "FLOP are those of both products; exponentials, sums and scales of the softmax are not counted",
    "keys and values of a sequence are read once for all queries and heads that share them",
)

KINDS: Final[Mapping[str, Kind]] = {
    "attention": Kind(
        _COMMON
        | {
            "head_dim": size("width of a head of queries and keys", least=1.0),
            "value_dim": size("width of a head of values where it is not head_dim", math.nan, least=1.0),
            "kv_heads": size("heads of keys and values: heads (MHA), fewer (GQA), 1 (MQA)", math.nan),
            "form": Parameter(
                "fused keeps the scores on the chip; unfused moves them four times, unfused-scaled six times",
                "fused", ("fused", "unfused", "unfused-scaled"),
            ),
        },
        "work 4 pairs head_dim; read queries, keys and values; written results; unfused adds 4 (or 6) pairs of scores",
        _attention,
        (*_ASSUMES, "unfused scores have the type dtype and are not left in L2"),
        _impossible,
    ),
    "mla": Kind(
        _COMMON
        | {
            "rank": size("width of the latent that stands for keys and values", 512.0),
            "rope": size("width of the part with positions", 64.0),
        },
        "work 2 pairs (2 rank + rope); read queries heads (rank + rope), keys (rank + rope); written queries heads "
        "rank",
        _mla,
        (*_ASSUMES, "all heads read one latent (the absorbed form), whose products with the weights are not counted"),
        _too_many_queries,
    ),
}  # fmt: skip
"""Kinds of problems by name."""
