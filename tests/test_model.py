"""Ledgers and what machines allow of them: published numbers by hand, formulas, sweeps, stages, and the command."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from ncu_roofline.cli import main
from ncu_roofline.cli.model import model
from ncu_roofline.errors import DataFileError, UsageError
from ncu_roofline.ledger import KINDS, Ledger, cases, crossing, ledger_bound, read_stages, stages_bound
from ncu_roofline.machine import Machine, Roof, machine
from ncu_roofline.measured import load_measured
from tests.conftest import Write

BOARD = machine(peak=120e12, bandwidth=2e12)
"""120 TFLOP/s and 2 TB/s: ridge 60 FLOP/byte."""
H20 = machine(device="NVIDIA H20")


def ledger(kind: str, **values: Any) -> Ledger:
    return KINDS[kind].ledger(values)


def run(command: str, *more: str) -> str:
    """What the command prints; arguments with blanks come behind the others."""
    result = CliRunner().invoke(main, ["model", *command.split(), *more])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["model", *arguments])
    assert result.exit_code == 2
    assert not result.stdout
    return result.stderr


# GEMM with n = k = 4096, two-byte elements, beta 0.


@pytest.mark.parametrize(
    ("m", "intensity", "arithmetic", "memory"),
    [
        # 2 x 4096^2 = 33554432 FLOP; (4096 + 4096^2 + 4096) x 2 = 33570816 byte; / 120e12, / 2e12
        (1, 0.9995, 0.280e-6, 16.785e-6),
        # 1073741824 FLOP; (2 x 32 x 4096 + 4096^2) x 2 = 34078720 byte
        (32, 31.5077, 8.948e-6, 17.039e-6),
        # 4294967296 FLOP; (2 x 128 x 4096 + 4096^2) x 2 = 35651584 byte
        (128, 120.4706, 35.791e-6, 17.826e-6),
    ],
)
def test_gemm_against_a_board_by_hand(m: int, intensity: float, arithmetic: float, memory: float) -> None:
    found = ledger("gemm", m=m, n=4096, k=4096, dtype="bf16")
    bound = ledger_bound(found, BOARD)
    assert found.intensity == pytest.approx(intensity, rel=5e-5)
    assert bound.compute == pytest.approx(arithmetic, rel=2e-3)
    assert bound.memory == pytest.approx(memory, rel=5e-5)
    assert bound.time == max(bound.compute, bound.memory)
    assert bound.by == ("tensor.bf16" if m == 128 else "dram")


def test_beta_reads_the_result_once_more() -> None:
    without, with_it = (ledger("gemm", m=32, n=4096, k=4096, dtype="bf16", beta=beta) for beta in (0, 1))
    assert with_it.compulsory - without.compulsory == 2 * 32 * 4096


def test_command_prints_the_numbers_of_the_gemm() -> None:
    text = run("gemm -m 128 -n 4096 -k 4096 --dtype bf16 --beta 0 --peak 120e12 --bandwidth 2e12")
    for number in ("4.2950 GFLOP", "35.652 MB", "120.471", "35.791 us", "17.826 us", "tensor.bf16", "ridge 60.00"):
        assert number in text


def test_batch_and_types_of_the_operands() -> None:
    # 2 x 8 x 16 x 32 x 3; 3 x (8 x 32 x 1 + 16 x 32 x 0.5) read, 3 x 8 x 16 x 4 written
    found = ledger("gemm", m=8, n=16, k=32, dtype="fp8", b="fp4", c="fp32", batch=3)
    assert (found.work, found.read, found.written) == (24_576, 1_536, 1_536)


def test_accumulator_chooses_the_path() -> None:
    paths = [ledger("gemm", m=1, n=1, k=1, dtype="fp16", accumulate=one).paths[0] for one in ("fp32", "fp16")]
    assert paths == ["tensor.fp16.acc32", "tensor.fp16.acc16"]


# Blocks (Hong and Kung).


def test_blocks_in_a_fast_memory() -> None:
    # 3 blocks of fp64 in 196608 byte: 24576 words, edge sqrt(8192) = 90.5, whole 90; moved 2 n^3/90 + n^2 words;
    # least order n^3/sqrt(24576).
    found = ledger("gemm", m=1024, n=1024, k=1024, dtype="fp64", fast_memory=196_608).details
    assert found["block_edge"] == 90
    assert found["blocked_bytes"] == pytest.approx(8 * (2 * 1024**3 / 90 + 1024**2))
    assert found["least_order_bytes"] == pytest.approx(8 * 1024**3 / math.sqrt(24_576))


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 10**7), st.integers(64, 4096))
def test_blocks_never_move_less_than_the_least_order(words: int, n: int) -> None:
    found = ledger("gemm", m=n, n=n, k=n, dtype="fp64", fast_memory=8 * words).details
    assert found["block_edge"] <= math.sqrt(words / 3) or found["block_edge"] == 1
    assert found["blocked_bytes"] > found["least_order_bytes"]


# Stages.


def test_two_dependent_stages(write: Write) -> None:
    # A: 0.12e9 / 120e12 = 1 us, 200e6 / 2e12 = 100 us; B: 100 us, 1 us. Serial 100 + 100; aggregate 1 + 100 on either.
    path = write(
        "schema: 1\nstages:\n"
        "  - {name: A, kind: work, flop: 0.12e+9, read: 200.0e+6}\n"
        "  - {name: B, kind: work, flop: 12.0e+9, read: 2.0e+6}\n",
        "stages.yaml",
    )
    stages = read_stages(path)
    bounds = [ledger_bound(stage.ledger, BOARD) for stage in stages]
    found = stages_bound(bounds, [stage.count for stage in stages])
    assert found.serial == pytest.approx(200e-6)
    assert found.aggregate == pytest.approx(101e-6)
    text = run("stages --peak 120e12 --bandwidth 2e12", path)
    assert "Serial bound (stages one after the other): 200.00 us" in text
    assert "Aggregate bound (looser: as if all stages overlapped): 101.00 us" in text
    document = json.loads(run("stages --peak 120e12 --bandwidth 2e12 --format json", path))
    assert document["bound"]["serial"] == pytest.approx(200e-6)


def test_stage_that_happens_several_times(write: Write) -> None:
    path = write("schema: 1\nstages:\n  - {kind: copy, bytes: 1.0e+9, count: 3}\n", "stages.yaml")
    # 3 x 2e9 byte / 2e12
    document = json.loads(run("stages --peak 1e12 --bandwidth 2e12 --format json", path))
    assert document["bound"]["serial"] == pytest.approx(3e-3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1e15), st.floats(1, 1e12), st.integers(1, 9)), min_size=1, max_size=6))
def test_serial_is_never_below_aggregate(stages: list[tuple[float, float, int]]) -> None:
    bounds = [ledger_bound(ledger("work", flop=flop, read=read), BOARD) for flop, read, _ in stages]
    found = stages_bound(bounds, [count for *_, count in stages])
    assert found.serial >= found.aggregate * (1 - 1e-12)


# H20: ridges and quantised weights.


def test_ridge_of_published_figures() -> None:
    # 296 TFLOP/s / 4 TB/s
    assert ledger_bound(ledger("gemm", m=1, n=1, k=1, dtype="fp8"), H20).ridge == pytest.approx(74, rel=1e-3)


def test_effective_ridges_of_measured_figures(write: Write) -> None:
    path = write(
        "schema: 1\ndevice: NVIDIA H20\nsources: [measured]\nceilings:\n"
        "  tensor.bf16: {value: 138 TFLOP/s}\n  tensor.fp8: {value: 282 TFLOP/s}\n  dram: {value: 3.33 TB/s}\n",
        "h20.yaml",
    )
    effective = machine(device="NVIDIA H20", measured=load_measured(Path(path)))
    # 138 / 3.33 = 41.44, 282 / 3.33 = 84.68
    for dtype, ridge in (("bf16", 41.44), ("fp8", 84.68)):
        found = ledger_bound(ledger("gemm", m=1, n=1, k=1, dtype=dtype), effective)
        assert found.ridge == pytest.approx(ridge, rel=2e-4)
    text = run("gemm -m 1 -n 8 -k 8 --dtype fp8", "--device", "NVIDIA H20", "--ceilings", path)
    assert "ridge 84.68" in text
    assert "by the device table alone: tensor.fp8 296.0 TFLOP/s" in text
    assert "ridge 74.00" in text


def test_batch_from_which_four_bit_weights_are_bound_by_arithmetic() -> None:
    # Weights alone: 2 B K N / 148e12 = K N / 2 / 4e12 gives B = 148 / (4 x 4) = 9.25.
    weights = 0.5 * 7168 * 2048
    assert 148e12 * weights / 4e12 / (2 * 7168 * 2048) == pytest.approx(9.25)
    # With activations of two bytes: B (2 K N / 148e12 - 2 (K + N) / 4e12) = K N / 2 / 4e12.
    by_hand = (weights / 4e12) / (2 * 7168 * 2048 / 148e12 - 2 * (7168 + 2048) / 4e12)
    found = crossing(KINDS["quantised"], {"n": 2048, "k": 7168, "scheme": "w4a16", "group": 0}, "m", H20)
    assert found == pytest.approx(by_hand, rel=1e-3)
    assert 9.25 < found < 9.5


def test_scales_and_zero_points_of_quantised_weights() -> None:
    # 2048 rows of ceil(7168/128) = 56 groups: 114688 scales of 2 byte, zero points of half a byte
    found = ledger("quantised", m=1, n=2048, k=7168, scheme="w4a16", zero_points="yes").details
    assert found == {"weight_bytes": 7_340_032, "scale_bytes": 114_688 * 2.5}


@pytest.mark.parametrize(
    ("scheme", "path"), [("w4a16", "tensor.bf16"), ("w8a8", "tensor.fp8.acc32"), ("w4a8", "tensor.fp8.acc32")]
)
def test_unit_that_computes_quantised_weights(scheme: str, path: str) -> None:
    assert ledger("quantised", m=1, n=8, k=8, scheme=scheme).paths[0] == path
    assert ledger("quantised", m=1, n=8, k=8, scheme=scheme, compute="int8").paths[0] == "tensor.int8"


# Attention with heads of 128 in two bytes.


def attention(**values: Any) -> Ledger:
    return ledger("attention", **{"heads": 1, "head_dim": 128, "dtype": "bf16", **values})


@pytest.mark.parametrize(("form", "limit"), [("unfused", 128 / 2), ("unfused-scaled", 128 / 3)])
def test_unfused_attention_is_bound_by_its_scores(form: str, limit: float) -> None:
    # 4 s^2 d FLOP over 4 (or 6) s^2 scores of b byte: d/b = 64, and 2d/(3b) = d/3
    assert attention(keys=10_000_000, form=form).intensity == pytest.approx(limit, rel=1e-4)


def test_fused_attention_by_hand() -> None:
    # 4 s^2 d FLOP over 4 s d elements of b byte: s/b
    assert attention(keys=4096).intensity == pytest.approx(4096 / 2)


@pytest.mark.parametrize("queries_per_head", [1, 4, 8])
def test_decode_by_hand(queries_per_head: int) -> None:
    # 4 s d g FLOP over 2 s d b byte for each head of keys and values: 2g/b
    found = attention(keys=1_000_000, phase="decode", heads=8 * queries_per_head, kv_heads=8)
    assert found.intensity == pytest.approx(2 * queries_per_head / 2, rel=1e-4)


def test_latent_attention_by_hand() -> None:
    # 128 heads x 2 x (576 + 512) FLOP over 576 x 2 byte for each key: 241.8
    found = ledger("mla", keys=1_000_000, heads=128, phase="decode", dtype="bf16")
    assert found.intensity == pytest.approx(242, rel=2e-3)
    assert found.details["kv_token_bytes"] == 1152


def test_causal_pairs_by_hand() -> None:
    # 3 queries on 5 keys see 3, 4 and 5 of them: 12 pairs x 4 x 128
    assert attention(keys=5, queries=3, causal="yes").work == 12 * 4 * 128


def test_bytes_of_a_token() -> None:
    # 8 heads x (128 + 128) x 2 byte
    assert attention(keys=1, heads=32, kv_heads=8).details["kv_token_bytes"] == 4096


# Vectors and grids.


@pytest.mark.parametrize(
    ("values", "intensity"),
    [
        # 8 FLOP over 7 reads and a write of 8 byte; over a read and a write; with the write allocated
        ({"reuse": "none"}, 0.125),
        ({"reuse": "ideal"}, 0.5),
        ({"reuse": "ideal", "write_allocate": "yes"}, 8 / 24),
        # Five steps through memory need five times of everything.
        ({"reuse": "ideal", "steps": 5}, 0.5),
    ],
)
def test_seven_point_stencil(values: dict[str, Any], intensity: float) -> None:
    assert ledger("stencil", cells=10**6, dtype="fp64", **values).intensity == pytest.approx(intensity)


@pytest.mark.parametrize(
    ("kind", "values", "work", "read", "written"),
    [
        ("axpy", {"n": 100, "dtype": "fp64"}, 200, 1600, 800),
        ("dot", {"n": 100, "dtype": "fp32"}, 200, 800, 4),
        # 2 x 10 x 20; (200 + 20) x 8; 10 x 8; with beta y is read as well
        ("gemv", {"m": 10, "n": 20, "dtype": "fp64"}, 400, 1760, 80),
        ("gemv", {"m": 10, "n": 20, "dtype": "fp64", "beta": 1}, 400, 1840, 80),
        ("reduction", {"n": 100, "dtype": "fp32"}, 99, 400, 4),
        ("elementwise", {"n": 10, "dtype": "fp16", "inputs": 2, "flop": 3}, 30, 40, 20),
        # 5 x 8 x 3; two passes of 8 complex numbers of 8 byte
        ("fft", {"n": 8, "dtype": "fp32", "passes": 2}, 120, 128, 128),
        ("copy", {"bytes": 64}, math.nan, 64, 64),
        # 4 tokens x 2 experts: 2 x 4 x 2 x 16 x 8; 4 x 8 + 3 x 16 x 8 elements of 2 byte; 8 x 16 x 2
        ("moe", {"tokens": 4, "n": 16, "k": 8, "experts": 6, "top_k": 2, "active": 3, "dtype": "bf16"}, 2048, 832, 256),
    ],
)
def test_ledger_by_hand(kind: str, values: dict[str, Any], work: float, read: float, written: float) -> None:
    found = ledger(kind, **values)
    assert [found.work, found.read, found.written] == pytest.approx([work, read, written], nan_ok=True)


def test_expected_number_of_active_experts() -> None:
    # 8 x (1 - (1 - 2/8)^4) = 8 x (1 - 81/256)
    found = ledger("moe", tokens=4, n=1, k=1, experts=8, top_k=2, dtype="bf16")
    assert found.details["active_experts"] == pytest.approx(8 * (1 - 81 / 256))


# What must hold of every kind.

SMALL: dict[str, dict[str, Any]] = {
    "gemm": {"m": 3, "n": 4, "k": 5, "dtype": "bf16"},
    "moe": {"tokens": 3, "n": 4, "k": 5, "experts": 4, "top_k": 2, "dtype": "bf16"},
    "quantised": {"m": 3, "n": 4, "k": 5, "scheme": "w4a16"},
    "gemv": {"m": 3, "n": 4, "dtype": "fp32"},
    "attention": {"keys": 7, "heads": 2, "head_dim": 4, "dtype": "fp16"},
    "mla": {"keys": 7, "heads": 2, "dtype": "fp16"},
    "axpy": {"n": 5, "dtype": "fp32"},
    "dot": {"n": 5, "dtype": "fp32"},
    "elementwise": {"n": 5, "dtype": "fp32"},
    "reduction": {"n": 5, "dtype": "fp32"},
    "fft": {"n": 8, "dtype": "fp32"},
    "stencil": {"cells": 9, "dtype": "fp32"},
    "copy": {"bytes": 9},
    "work": {"flop": 9, "read": 3},
}


def test_every_kind_has_a_small_problem() -> None:
    assert set(SMALL) == set(KINDS)


def test_every_kind_says_what_it_assumes() -> None:
    assert [name for name, kind in KINDS.items() if not kind.assumes or not kind.formula] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_runs_as_a_command(kind: str) -> None:
    given = [
        text for name, value in SMALL[kind].items()
        for text in (f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')}", str(value))
    ]  # fmt: skip
    (case,) = json.loads(run(f"{kind} --peak 1e12 --bandwidth 1e12 --format json", *given))["cases"]
    assert case["bytes"] == ledger(kind, **SMALL[kind]).compulsory


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "copy"])
@settings(max_examples=20, deadline=None)
@given(factor=st.integers(2, 50))
def test_bound_does_not_fall_when_a_size_grows(kind: str, factor: int) -> None:
    small = SMALL[kind]
    before = ledger_bound(ledger(kind, **small), BOARD)
    for name, value in small.items():
        if isinstance(value, str) or name in ("top_k", "kv_heads", "group"):
            continue
        grown = {**small, name: value * factor}
        after = ledger_bound(ledger(kind, **grown), BOARD)
        assert after.time >= before.time * (1 - 1e-12), name


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True))
def test_sweep_equals_single_runs(sizes: list[int]) -> None:
    given = {"n": 64, "k": 32, "dtype": "bf16"}
    swept = cases("gemm", KINDS["gemm"], given, {"m": sizes}, BOARD)
    singles = [cases("gemm", KINDS["gemm"], {**given, "m": m}, {}, BOARD)[0] for m in sizes]
    assert [(one.ledger, one.bound) for one in swept] == [(one.ledger, one.bound) for one in singles]


def test_both_sides_take_equally_long_at_a_crossing() -> None:
    m = crossing(KINDS["gemm"], {"n": 4096, "k": 4096, "dtype": "bf16"}, "m", BOARD)
    bound = ledger_bound(ledger("gemm", m=m, n=4096, k=4096, dtype="bf16"), BOARD)
    assert bound.compute == pytest.approx(bound.memory, rel=1e-9)


def test_without_a_crossing_there_is_none() -> None:
    assert math.isnan(crossing(KINDS["axpy"], {"dtype": "fp64"}, "n", BOARD))
    text = run("axpy --dtype fp64 --peak 1e12 --bandwidth 1e12 --crossing n")
    assert "take equally long at no n" in text
    assert "as one side is not" in run("axpy --dtype fp64 --peak 1e12 --crossing n")


BOARD_50 = machine(peak=100e12, bandwidth=2e12)


@pytest.mark.parametrize(
    ("kind", "given", "parameter", "low", "high"),
    [
        # Only as many queries as keys are possible.
        (
            "attention",
            {"keys": 4096, "heads": 32, "head_dim": 128, "dtype": "bf16", "causal": "yes"},
            "queries",
            50.9,
            51,
        ),
        # At least as many experts as each token chooses.
        ("moe", {"tokens": 2000, "n": 2048, "k": 7168, "top_k": 8, "dtype": "fp8"}, "experts", 636, 638),
        ("gemm", {"n": 4096, "k": 4096, "dtype": "bf16"}, "m", 51.2, 51.3),
        # Only multiples of the heads of keys, only divisors of the heads.
        (
            "attention",
            {"keys": 1024, "kv_heads": 6, "head_dim": 128, "dtype": "bf16", "phase": "decode"},
            "heads",
            312,
            318,
        ),
        (
            "attention",
            {"keys": 1024, "heads": 300, "head_dim": 128, "dtype": "bf16", "phase": "decode"},
            "kv_heads",
            5,
            6,
        ),
        # Numbers that are not whole: 8 byte per element x 100e12 / 2e12.
        ("elementwise", {"n": 1000, "dtype": "fp32"}, "flop", 399.9, 400.1),
    ],
)
def test_crossing_among_possible_sizes(
    kind: str, given: dict[str, Any], parameter: str, low: float, high: float
) -> None:
    found = crossing(KINDS[kind], given, parameter, BOARD_50)
    assert low < found < high
    bound = ledger_bound(ledger(kind, **given, **{parameter: found}), BOARD_50)
    assert bound.compute == pytest.approx(bound.memory, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        # 50 FLOP/byte is the limit, and is not passed; a batch changes nothing.
        ({"m": 100, "n": 100, "dtype": "bf16"}, "k"),
        ({"m": 200, "n": 200, "k": 100, "dtype": "bf16"}, "batch"),
    ],
)
def test_sides_that_only_come_near_have_no_crossing(given: dict[str, Any], parameter: str) -> None:
    assert math.isnan(crossing(KINDS["gemm"], given, parameter, BOARD_50))


def test_crossings_at_the_edge_of_what_is_possible() -> None:
    # 5 log2(n) / 16 = 5 at n = 2^16; equal at the only FLOP; half a FLOP.
    board = machine(peak=10e12, bandwidth=2e12)
    assert crossing(KINDS["fft"], {"dtype": "fp32"}, "n", board) == pytest.approx(65536)
    even = machine(peak=1e12, bandwidth=8e12)
    assert crossing(KINDS["elementwise"], {"n": 1000, "dtype": "fp32"}, "flop", even) == pytest.approx(1.0)
    half = machine(peak=1e12, bandwidth=4e12)
    assert crossing(KINDS["elementwise"], {"n": 1000, "dtype": "int8"}, "flop", half) == pytest.approx(0.5)


def test_table_of_a_crossing_has_the_smallest_possible_value() -> None:
    text = run(
        "attention --keys 8 --kv-heads 8 --head-dim 8 --dtype bf16 --peak 1e12 --bandwidth 1e12 --crossing heads"
    )
    assert "8 heads of 8" in text


def test_crossing_leaves_the_other_defaults_alone() -> None:
    text = run("mla --keys 4096 --heads 128 --dtype bf16 --peak 1e14 --bandwidth 2e12 --crossing rank")
    assert "attention on a latent of 576" in text
    assert "(case" not in text
    assert run("attention --keys 8 --heads 8 --head-dim 8 --dtype bf16 --peak 1 --bandwidth 1 --crossing head-dim")


# Machines.


def test_balance_of_a_table_is_input() -> None:
    # A machine of 100 MFLOP/s and 50 Mwords of 8 byte: balance 2 FLOP/word, ridge 0.25 FLOP/byte.
    found = ledger_bound(ledger("axpy", n=10, dtype="fp64"), machine(peak=100e6, bandwidth=400e6))
    assert found.ridge == 0.25


def test_unknown_side_is_left_out_and_said() -> None:
    bound = ledger_bound(ledger("axpy", n=10, dtype="fp64"), machine(bandwidth=240.0))
    assert (bound.time, bound.by, bound.complete) == (1.0, "dram", False)
    text = run("axpy -n 10 --dtype fp64", "--bandwidth", "240 B/s")
    assert "no peak of fp64 is known there: arithmetic is left out of the bound" in text
    assert "1.0000 s" in text


def test_other_path_of_a_type_is_taken_where_the_device_has_no_first_one() -> None:
    # The A10 has no FP64 tensor cores.
    found = machine(device="NVIDIA A10").peak(("tensor.fp64", "fp64"))
    assert found[0] == "fp64"


def test_measured_file_of_another_device_is_refused(write: Write) -> None:
    path = write("schema: 1\ndevice: NVIDIA H20\nsources: [x]\nceilings: {dram: {value: 3 TB/s}}\n", "h20.yaml")
    with pytest.raises(UsageError, match="is of NVIDIA H20, and --device is"):
        machine(device="NVIDIA H200", measured=load_measured(Path(path)))


def test_stated_numbers_come_before_those_of_the_device() -> None:
    found = machine(device="NVIDIA H20", bandwidth=1e12)
    assert found.bandwidth == Roof(1e12, "as stated")
    assert isinstance(found, Machine)


# The command.


def test_sweeps_multiply_and_formats_agree() -> None:
    command = "quantised --sweep m=1,16 --sweep scheme=w4a16,w8a8 -k 64 -n 64 --device NVIDIA-H20 --format"
    document = json.loads(run(f"{command} json"))
    rows = list(csv.DictReader(io.StringIO(run(f"{command} csv"))))
    assert [(case["swept"]["m"], case["swept"]["scheme"]) for case in document["cases"]] == [
        ("1", "w4a16"), ("1", "w8a8"), ("16", "w4a16"), ("16", "w8a8")
    ]  # fmt: skip
    assert [float(row["bound.time"]) for row in rows] == [case["bound"]["time"] for case in document["cases"]]
    assert run(f"{command} markdown").count("\n| ") == 2 + 4


def test_figure_has_a_line_along_the_roof_with_the_ridge(tmp_path: Path) -> None:
    path = tmp_path / "gemm.svg"
    run("gemm --sweep m=1,128 -n 4096 -k 4096 --dtype bf16 --peak 120e12 --bandwidth 2e12 --figure", str(path))
    drawing = path.read_text()
    (corners,) = re.findall(r'<polyline points="([^"]+)"', drawing)
    # The two cases, and the ridge between them.
    assert len(corners.split()) == 3
    assert drawing.count("data-intensity=") == 2
    assert (tmp_path / "gemm-dark.svg").exists()


def test_blocks_move_no_less_than_what_is_compulsory() -> None:
    # Everything fits: 3 x 100 elements of 8 byte.
    found = ledger("gemm", m=10, n=10, k=10, dtype="fp64", fast_memory=1e9)
    assert (found.details["block_edge"], found.details["blocked_bytes"]) == (10, found.compulsory) == (10, 2400)


def test_attention_on_integers_counts_operations() -> None:
    assert attention(keys=8, dtype="int8").unit == "OP"
    assert ledger("mla", keys=8, heads=2, dtype="int8").unit == "OP"


def test_bound_of_short_types_is_that_of_packed_arithmetic() -> None:
    for kind in ("axpy", "gemv", "elementwise"):
        assert ledger(kind, **(SMALL[kind] | {"dtype": "bf16"})).paths[0] == "fp16"


def test_flags_of_yaml_are_words(write: Write) -> None:
    path = write(
        "schema: 1\nstages: [{kind: attention, keys: 5, queries: 3, heads: 1, head_dim: 128, dtype: bf16,"
        " causal: yes}]",
        "stages.yaml",
    )
    assert read_stages(path)[0].ledger.work == 12 * 4 * 128


def test_stages_without_anything_known_have_no_bound(write: Write) -> None:
    path = write("schema: 1\nstages: [{kind: copy, bytes: 1}, {kind: work, flop: 2}]\n", "stages.yaml")
    text = run("stages --bandwidth 1e12", path)
    assert "Serial bound (stages one after the other): >=0.002000 ns" in text
    assert "is not known, and is left out" in text
    document = json.loads(run("stages --peak 1e12 --format json", write(
        "schema: 1\nstages: [{kind: copy, bytes: 1}]\n", "copies.yaml")))  # fmt: skip
    assert document["bound"] == {"serial": None, "aggregate": None, "aggregate_by": None, "complete": False}


def test_tensor_paths_of_stages_share_their_pipe(write: Write) -> None:
    path = write(
        "schema: 1\nstages:\n"
        "  - {kind: gemm, m: 8192, n: 8192, k: 8192, dtype: bf16}\n"
        "  - {kind: gemm, m: 8192, n: 8192, k: 8192, dtype: fp16}\n",
        "stages.yaml",
    )
    bound = json.loads(run("stages --format json", path, "--device", "NVIDIA A100-SXM4-40GB"))["bound"]
    assert bound["aggregate"] == pytest.approx(bound["serial"])
    assert bound["aggregate_by"] == "tensor cores"


def test_numbers_that_yaml_reads_as_texts_are_numbers(write: Write) -> None:
    path = write("kinds: {k: {parameters: {rows: null}, work: [[1e9, rows]], read: [[rows]]}}", "kinds.yaml")
    (case,) = json.loads(run(f"--kinds {path} k --rows 2 --peak 1 --bandwidth 1 --format json"))["cases"]
    assert case["work"] == 2e9


def test_own_kind_without_bytes_has_none_that_are_known(write: Write) -> None:
    path = write("kinds: {k: {work: [[2]]}}", "kinds.yaml")
    (case,) = json.loads(run(f"--kinds {path} k --peak 1 --bandwidth 1 --format json"))["cases"]
    assert (case["bytes"], case["bound"]["memory_time"], case["bound"]["complete"]) == (None, None, False)


def test_amounts_beyond_all_numbers_are_refused(write: Write) -> None:
    factors = ", ".join(["a"] * 14)
    path = write(f"kinds: {{k: {{parameters: {{a: null}}, work: [[{factors}]]}}}}", "kinds.yaml")
    assert "beyond all numbers" in refused("--kinds", path, "k", "-a", "1e24", "--peak", "1")


def test_no_parameter_is_called_as_an_option(write: Write) -> None:
    command = model.get_command(click.Context(model), "axpy")
    assert command is not None
    options = [name for option in command.params if not str(option.name).startswith("given_") for name in option.opts]
    names = [name.lstrip("-") for name in options]
    for name in names:
        path = write(f"kinds: {{k: {{parameters: {{{name}: 3}}, work: [[2]]}}}}", "kinds.yaml")
        assert f"'{name}' is the name of an option or key" in refused("--kinds", path, "axpy")
    assert {"device", "o", "output"} <= set(names)


def test_kinds_have_no_effect_on_stages(write: Write) -> None:
    path = write("kinds: {k: {work: [[2]]}}", "kinds.yaml")
    assert "has no effect here" in refused("--kinds", path, "stages", "x.yaml", "--peak", "1")


def test_own_kind(write: Write) -> None:
    path = write(
        "schema: 1\nkinds:\n  rms_norm:\n    parameters: {rows: null, width: null, size: 2}\n"
        "    work: [[4, rows, width]]\n    read: [[rows, width, size], [width, size]]\n"
        "    written: [[rows, width, size]]\n    path: fp32\n",
        "kinds.yaml",
    )
    (case,) = json.loads(run(f"--kinds {path} rms_norm --rows 3 --width 5 --device NVIDIA-H20 --format json"))["cases"]
    # 4 x 15; 15 x 2 + 5 x 2; 15 x 2
    assert (case["work"], case["read"], case["written"], case["bound"]["path"]) == (60, 40, 30, "fp32")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kinds: {gemm: {work: [[2]]}}", "'gemm' is the name of a kind or command that is there"),
        ("kinds: {k: {parameters: {n: null}, work: [[2, m]]}}", "'m' is neither a number nor one of n"),
        ("kinds: {k: {work: 3}}", "must be a list of products"),
        ("kinds: {k: {path: fp31}}", "'fp31' is no instruction path"),
        ("kinds: {k: {parameters: {N: 3}}}", "must be a number, or null"),
        ("kinds: {k: {formula: x}}", "unknown key"),
        ("kinds: {stages: {work: [[2]]}}", "'stages' is the name of a kind or command that is there"),
        ("kinds: {k: {parameters: {device: 3}}}", "'device' is the name of an option or key"),
        ("kinds: {}\nschema: 7", "schema 7 is not known"),
        ("kinds: {k: {parameters: {n: 1}}}", "needs work, read, written, or some of them"),
        ("kinds: {}\nformula: x", "unknown key"),
        ("work: []", "has no kinds"),
        ("kinds: [", "is not valid YAML"),
    ],
)
def test_own_kind_with_a_problem_is_refused(write: Write, text: str, said: str) -> None:
    assert said in refused("--kinds", write(text, "kinds.yaml"), "axpy", "-n", "1", "--dtype", "fp64", "--peak", "1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gemm -m 1 -n 1 -k 1 --dtype bf16", "--device is not given: no machine is"),
        ("gemm -m 1 -n 1", "gemm needs k; gemm needs dtype"),
        ("gemm -m 1 -n 1 -k 1 --dtype fp64 --fast-memory 8 --peak 1", "has to be at least 24"),
        ("gemm -m 1 -n 1 -k 1 --dtype bf16 --peak 1 --crossing k --format csv", "has no place in CSV"),
        ("moe --tokens 4 -n 1 -k 1 --experts 9 --top-k 2 --active 1 --dtype bf16 --peak 1", "not between top_k"),
        ("moe --tokens 1 -n 1 -k 1 --experts 9 --top-k 2 --active 3 --dtype bf16 --peak 1", "not between top_k"),
        ("reduction -n 10 --results 20 --dtype fp32 --peak 1", "results are above n"),
        ("work --macs 1 --flop 1 --peak 1", "flop and macs are the same work"),
        ("work --peak 1", "work needs flop or macs, read or written"),
        ("gemm -m 1.5 -n 1 -k 1 --dtype bf16 --peak 1", "m is '1.5' and has to be a whole number"),
        ("gemm -m -1 -n 1 -k 1 --dtype bf16 --peak 1", "no number of at least 0"),
        ("gemm -n 1 --peak 1", "gemm needs m; gemm needs k; gemm needs dtype"),
        ("gemm -m 1 -n 1 -k 1 --dtype half --peak 1", "dtype is 'half', which is none of"),
        ("gemm --sweep q=1,2 -n 1 -k 1 --dtype bf16 --peak 1", "is not NAME=A,B,... with a parameter of gemm"),
        ("gemm -m 1 --sweep m=1,2 -n 1 -k 1 --dtype bf16 --peak 1", "is given twice"),
        ("gemm -n 1 -k 1 --dtype bf16 --peak 1 --crossing dtype", "is no number of gemm"),
        ("axpy -n 1 --dtype fp64 --peak fast", "is not a number with a unit"),
        ("axpy -n 1 --dtype fp64 --bandwidth 0", "is not a finite number above zero"),
        ("axpy -n 1 --dtype fp64 --device RTX-9999", "is not in the device table"),
        ("axpy -n 1 --dtype fp64 --peak 1 --bandwidth 1 --figure x.bmp", "is no name of a picture"),
        ("copy --bytes 1 --peak 1 --bandwidth 1 --figure x.svg", "has nothing to draw"),
        ("attention --keys 8 --heads 6 --kv-heads 4 --head-dim 8 --dtype bf16 --peak 1", "a multiple of kv_heads"),
        ("attention --keys 2 --queries 3 --causal yes --heads 1 --head-dim 8 --dtype bf16 --peak 1", "no more queries"),
        ("moe --tokens 1 -n 1 -k 1 --experts 2 --top-k 3 --dtype bf16 --peak 1", "top_k is above experts"),
        ("gemm -m 1e20 -n 1e20 -k 1e20 --batch 1e300 --dtype bf16 --peak 1", "no number"),
        ("fft -n 1 --dtype fp32 --peak 1", "has to be at least 2"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments: str, said: str) -> None:
    assert said in refused(*arguments.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stages: []", "must be a list of at least one stage"),
        ("stages: [{kind: gem}]", "'gem' is no kind of problem"),
        ("stages: [{kind: copy, bytes: 1, count: -1}]", "-1 is no number of at least 0"),
        ("stages: [{kind: copy, bytes: 1, kernel: x}]", "copy has no parameter 'kernel'"),
        ("stages: [{kind: copy, bytes: 1, name: 3}]", "3 must be a text"),
        ("schema: 9\nstages: [{kind: copy, bytes: 1}]", "schema 9 is not known"),
    ],
)
def test_stages_with_a_problem_are_refused(write: Write, text: str, said: str) -> None:
    with pytest.raises(DataFileError, match=re.escape(said)):
        read_stages(write(text, "stages.yaml"))
