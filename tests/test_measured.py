"""Measured ceilings: own files, results of ERT, mixbench and BabelStream, and everything that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ncu_roofline.errors import DataFileError, InputError
from ncu_roofline.measured import MeasuredCeilings, load_measured
from ncu_roofline.vocabulary import PATHS, TIERS
from tests.conftest import Write

OWN = """\
schema: 1
title: node 7
device: NVIDIA A100-SXM4-40GB
sources: [a benchmark of the memory]
ceilings:
  dram: {value: 1.38 TB/s, clock: 1.215 GHz, note: triad}
  l2: {value: 4 TiB/s}
  fp32: {value: 18.9 TFLOP/s}
  tensor.fp16.acc32: {value: 250e12}
  int: {value: 9500 GOP/s}
levels: {}
"""

ERT = {
    "empirical": {
        "gbytes": {"data": [["L1", 2500.25], ["L2", 2000.5], ["DRAM", 600.75]], "metadata": {}},
        "gflops": {"data": [["FP64 GFLOPs", 7000.5]], "metadata": {}},
        "metadata": {},
    },
    "spec": {"gbytes": {"data": [["HBM", 900.0]]}, "gflops": {"data": []}},
}

WRAP = "schema: 1\nsources: [s]\nfrom: report.csv\n"

DEVICE = """\
mixbench (v0.04)
Device:              Test GPU
L2 cache size:       4096 KB
Memory bandwidth:    500.00 GB/sec
Buffer size:          256MB
"""
NAMES = "Experiment ID, Single Precision ops,,,, Double precision ops,,,, Half precision ops,,,, Integer operations,,, "
COLUMNS = (
    "Compute iters, Flops/byte, ex.time, GFLOPS, GB/sec, Flops/byte, ex.time, GFLOPS, GB/sec,"
    " Flops/byte, ex.time, GFLOPS, GB/sec, Iops/byte, ex.time, GIOPS, GB/sec"
)
FIRST = (
    "0, 0.250, 0.31, 107.50, 430.00, 0.125, 0.61, 55.00, 440.00,"
    " 0.500, 0.31, 217.50, 435.00, 0.250, 0.31, 107.75, 431.00"
)
LAST = (
    "256, 128.250, 2.06, 8000.50, 62.38, 64.125, 68.80, 250.25, 3.90,"
    " 256.500, 2.06, 16000.75, 62.38, 128.250, 2, 7000.25, 54.60"
)
RULE = "-" * 60


def mixbench(*rows: str, device: str = DEVICE, names: str = NAMES, columns: str = COLUMNS, end: str = RULE) -> str:
    return "\n".join([*device.splitlines(), f"{RULE} CSV data {RULE}", names, columns, *rows, end]) + "\n"


STREAM = """\
BabelStream
Version: 5.0
Implementation: CUDA
Array size: 268.4 MB (=0.3 GB)
Using CUDA device NVIDIA Test GPU
Init: 0.078539 s (=9999999.531921 MBytes/sec)
Function    MBytes/sec  Min (sec)   Max         Average
Copy        1400000.125 0.00039     0.00040     0.00039
Mul         1300000.250 0.00040     0.00041     0.00040
Add         1350000.375 0.00059     0.00061     0.00060
Triad       1375000.500 0.00059     0.00061     0.00060
Dot         1200000.625 0.00044     0.00047     0.00046
"""
STREAM_CSV = """\
Using CUDA device NVIDIA Test GPU
phase,n_elements,sizeof,max_mbytes_per_sec,runtime
Init,1024,8,9e9,0.1
function,num_times,n_elements,sizeof,max_mbytes_per_sec,min_runtime,max_runtime,avg_runtime
Copy,100,33554432,8,700,0.1,0.1,0.1
Mul,100,33554432,8,710.5,0.1,0.1,0.1
Add,100,33554432,8,705,0.1,0.1,0.1
Triad,100,33554432,8,706,0.1,0.1,0.1
"""


def load(write: Write, content: str | bytes, name: str = "report.csv") -> MeasuredCeilings:
    return load_measured(Path(write(content, name)))


def values(measured: MeasuredCeilings) -> dict[str, float]:
    return {name: ceiling.value for name, ceiling in measured.ceilings.items()}


def problems(write: Write, content: str, name: str = "own.yaml") -> list[str]:
    """Problems as ``line: $.path: message``."""
    with pytest.raises(DataFileError) as error:
        load(write, content, name)
    return [f"{problem.line}: {problem.path}: {problem.message}" for problem in error.value.problems]


def refusal(write: Write, content: str | bytes) -> InputError:
    with pytest.raises(InputError) as error:
        load(write, content)
    return error.value


def notes(measured: MeasuredCeilings) -> str:
    return "\n".join(measured.notes)


# The tool's own file.


def test_own_values_are_in_base_units(write: Write) -> None:
    assert values(load(write, OWN)) == {
        "dram": 1.38e12,
        "l2": 4.0 * 1024**4,
        "fp32": 1.89e13,
        "tensor.fp16.acc32": 2.5e14,
        "int": 9.5e12,
    }


def test_own_clock_is_in_hertz_and_unknown_where_not_given(write: Write) -> None:
    ceilings = load(write, OWN).ceilings
    assert (ceilings["dram"].clock, ceilings["fp32"].clock) == (1.215e9, None)


def test_own_source_names_tool_file_line_and_note(write: Write) -> None:
    measured = load(write, OWN)
    assert measured.ceilings["dram"].source == f"ncu-roofline, {measured.file}:6: dram, triad"


def test_own_file_keeps_tool_title_device_and_sources(write: Write) -> None:
    measured = load(write, OWN)
    assert (measured.tool, measured.title, measured.device, measured.sources) == (
        "ncu-roofline",
        "node 7",
        "NVIDIA A100-SXM4-40GB",
        ("a benchmark of the memory",),
    )


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("dram", "7 B/s", 7.0),
        ("dram", "7 kB/s", 7e3),
        ("dram", "7MB/s", 7e6),
        ("dram", "0.7 GB/s", 0.7e9),
        ("dram", "1e3 GB/s", 1e12),
        ("dram", "3 GiB/s", 3.0 * 1024**3),
        ("fp64", "9700 GFLOP/s", 9.7e12),
        ("tensor.fp4", "10 PFLOP/s", 1e16),
        ("tensor.int8", "624 TOP/s", 6.24e14),
        ("l1", "1.5e+13", 1.5e13),
        ("l1", "15000000000000", 1.5e13),
    ],
)
def test_unit_is_taken_as_spelled(write: Write, name: str, text: str, value: float) -> None:
    measured = load(write, f"schema: 1\nsources: [s]\nceilings:\n  {name}: {{value: {text}}}\n")
    assert values(measured) == {name: value}


@pytest.mark.parametrize("name", [*TIERS, *PATHS])
def test_every_tier_and_path_may_have_a_ceiling(write: Write, name: str) -> None:
    assert values(load(write, f"schema: 1\nsources: [s]\nceilings:\n  {name}: {{value: 2e+12}}\n")) == {name: 2e12}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dram", "18 TFLOP/s", "is in FLOP/s, and byte/s is needed here"),
        ("fp32", "1.4 TB/s", "is in byte/s, and FLOP/s is needed here"),
        ("tensor.int8", "1 TFLOP/s", "is in FLOP/s, and OP/s is needed here"),
        ("tensor.fp16", "1 TOP/s", "is in OP/s, and FLOP/s is needed here"),
        ("dram", "1 KBps", "unknown unit 'KBps'"),
        ("dram", "1 GB", "is in byte, and byte/s is needed here"),
        ("fp32", "1 TFLOPS", "unknown unit 'TFLOPS'"),
        ("dram", "0", "0 is not a finite number above zero"),
        ("dram", "-1 TB/s", "'-1 TB/s' is not a finite number above zero"),
        ("dram", ".inf", "is not a finite number above zero"),
        ("dram", ".nan", "is not a finite number above zero"),
        ("dram", "1e999", "is not a finite number above zero"),
        ("dram", "fast", "'fast' is not a number with a unit, such as '1.38 TB/s'"),
        ("fp32", "'1,380 GFLOP/s'", "'1,380 GFLOP/s' is not a number with a unit, such as '18.9 TFLOP/s'"),
        ("dram", "true", "True is neither a number nor a text with a unit"),
        ("dram", "null", "None is neither a number nor a text with a unit"),
        ("dram", "[1]", "[1] is neither a number nor a text with a unit"),
    ],
)
def test_value_that_is_no_ceiling_is_a_problem(write: Write, name: str, text: str, message: str) -> None:
    found = problems(write, f"schema: 1\nsources: [s]\nceilings:\n  {name}: {{value: {text}}}\n")
    assert message in found[0]
    assert found[0].startswith(f"4: $.ceilings.{name}")


def test_clock_in_another_unit_is_a_problem(write: Write) -> None:
    found = problems(write, "schema: 1\nsources: [s]\nceilings:\n  dram: {value: 1 TB/s, clock: 1 GB/s}\n")
    assert found == ["4: $.ceilings.dram.clock: '1 GB/s' is in byte/s, and Hz is needed here"]


def test_number_that_looks_like_a_forgotten_unit_gets_a_note(write: Write) -> None:
    measured = load(write, "schema: 1\nsources: [s]\nceilings:\n  dram: {value: 1380}\n")
    assert measured.notes == ("dram: 1380 is read as byte/s; a number without a unit is in base units",)


def test_all_problems_of_an_own_file_are_reported_at_once_with_their_lines(write: Write) -> None:
    text = (
        "schema: 2\n"
        "titel: x\n"
        "device: ''\n"
        "sources: [3]\n"
        "ceilings:\n"
        "  dram: {value: 1 TB/s}\n"
        "  dram: {value: 0}\n"
        "  l4: {value: 1 GB/s}\n"
        "  fp32: {value: 1 TFLOP/s, speed: 3}\n"
        "  fp64: {note: x}\n"
        "  fp16: 3\n"
        "levels: {L1: l1}\n"
    )
    assert [found.rpartition(": ")[0].split(": ")[:2] for found in problems(write, text)] == [
        ["1", "$.schema"],
        ["2", "$.titel"],
        ["3", "$.device"],
        ["4", "$.sources[0]"],
        ["7", "$.ceilings.dram"],
        ["7", "$.ceilings.dram.value"],
        ["8", "$.ceilings.l4"],
        ["9", "$.ceilings.fp32.speed"],
        ["10", "$.ceilings.fp64"],
        ["11", "$.ceilings.fp16"],
        ["12", "$.levels"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ceilings: {dram: {value: 1 TB/s}}\n", "missing key 'schema'"),
        ("schema: 1\nceilings: {dram: {value: 1 TB/s}}\n", "missing key 'sources'"),
        ("schema: 1\nsources: []\nceilings: {dram: {value: 1 TB/s}}\n", "must be a list of at least one text"),
        ("schema: 1\nsources: [s]\n", "needs either ceilings or from (a file of another tool), and not both"),
        ("schema: 1\nsources: [s]\nceilings: {}\n", "needs at least one tier or instruction path"),
        ("schema: 1\nsources: [s]\nceilings: [dram]\n", "must be a mapping"),
        ("schema: true\nsources: [s]\nceilings: {dram: {value: 1 TB/s}}\n", "schema True is not known"),
        ("schema: 1\nceilings: {dram: [\n", "is not valid YAML"),
        ("schema: 1\n---\nschema: 1\n", "is not valid YAML"),
    ],
)
def test_incomplete_own_file_is_refused(write: Write, text: str, message: str) -> None:
    assert any(message in found for found in problems(write, text))


def test_own_file_is_known_by_its_content(write: Write) -> None:
    text = json.dumps({"schema": 1, "sources": ["s"], "ceilings": {"dram": {"value": "1 TB/s"}}}, indent=1)
    assert values(load(write, text, "roofline.json")) == {"dram": 1e12}


# Which launches get the ceilings.


@pytest.mark.parametrize(
    ("device", "covered"),
    [
        ("NVIDIA A100-SXM4-40GB", True),
        ("A100-SXM4-40GB", True),
        ("nvidia  a100-sxm4-40gb", True),
        (None, True),
        ("NVIDIA A100-SXM4-80GB", False),
    ],
)
def test_ceilings_are_those_of_the_named_device(write: Write, device: str | None, covered: bool) -> None:
    assert load(write, OWN).covers(device) is covered


def test_ceilings_without_a_device_cover_every_device(write: Write) -> None:
    measured = load(write, "schema: 1\nsources: [s]\nceilings: {dram: {value: 1 TB/s}}\n")
    assert measured.covers("NVIDIA T4")


# ERT.


def test_ert_levels_are_not_taken_without_a_mapping(write: Write) -> None:
    error = refusal(write, json.dumps(ERT))
    assert error.problem == (
        "ERT does not say which memory tier or instruction path a result is (levels: L1, L2, DRAM; peaks: FP64 GFLOPs)"
    )


def test_ert_refusal_shows_the_file_to_write(write: Write) -> None:
    error = refusal(write, json.dumps(ERT))
    for line in ('from: "report.csv"', '  "L1": TIER', '  "DRAM": TIER', '  "FP64 GFLOPs": PATH'):
        assert line in error.help.splitlines()


def test_file_that_ert_refusal_shows_is_read_once_it_is_completed(write: Write) -> None:
    _, _, shown = refusal(write, json.dumps(ERT)).help.partition("\n")
    for place in ("l1", "l2", "dram"):
        shown = shown.replace(": TIER", f": {place}", 1)
    assert set(load(write, shown.replace(": PATH", ": fp64"), "own.yaml").ceilings) == {"l1", "l2", "dram", "fp64"}


def test_mapped_ert_values_are_decimal_gigabytes_and_gigaflops(write: Write) -> None:
    write(json.dumps(ERT))
    text = f"{WRAP}levels: {{DRAM: dram, L1: l2}}\npeaks: {{FP64 GFLOPs: fp64}}\n"
    # 600.75 GB/s, 2500.25 GB/s, 7000.5 GFLOP/s
    assert values(load(write, text, "own.yaml")) == {"dram": 600.75e9, "l2": 2500.25e9, "fp64": 7000.5e9}


def test_mapped_ert_source_has_its_own_name_and_line(write: Write) -> None:
    path = write(json.dumps(ERT, indent=1))
    line = 1 + next(n for n, line in enumerate(Path(path).read_text().splitlines()) if '"DRAM"' in line)
    measured = load(write, f"{WRAP}levels: {{DRAM: dram}}\n", "own.yaml")
    assert measured.ceilings["dram"].source == f"ERT, {path}:{line}: bandwidth 'DRAM', 600.75 GB/s"


def test_mapping_names_what_it_leaves_out(write: Write) -> None:
    write(json.dumps(ERT))
    measured = load(write, f"{WRAP}levels: {{DRAM: dram}}\n", "own.yaml")
    assert [note.split(" (line")[0] for note in measured.notes] == [
        "dram: bandwidth 'DRAM', 600.75 GB/s",
        "left out: bandwidth 'L1', 2500.25 GB/s",
        "left out: bandwidth 'L2', 2000.5 GB/s",
        "left out: compute peak 'FP64 GFLOPs', 7000.5 GFLOP/s",
    ]


def test_mapped_file_belongs_to_the_yaml_and_its_tool(write: Write) -> None:
    write(json.dumps(ERT))
    measured = load(write, f"{WRAP}device: V100\nlevels: {{DRAM: dram}}\n", "own.yaml")
    assert (Path(measured.file).name, measured.tool, measured.device) == ("own.yaml", "ERT", "V100")


@pytest.mark.parametrize(
    ("mapping", "found"),
    [
        ("levels: {DRAM: memory}", "4: $.levels.DRAM: unknown memory tier 'memory'"),
        ("levels: {DRAM: fp32}", "4: $.levels.DRAM: unknown memory tier 'fp32'"),
        ("levels: {HBM: dram}", "4: $.levels.HBM: "),
        ("levels: {FP64 GFLOPs: dram}", "4: $.levels.FP64 GFLOPs: "),
        ("levels: {L1: l1, L2: l1}", "4: $.levels.L2: l1 is given twice"),
        ("peaks: {FP64 GFLOPs: int}", "4: $.peaks.FP64 GFLOPs: unknown floating-point path 'int'"),
        ("peaks: {FP64 GFLOPs: [fp64]}", "4: $.peaks.FP64 GFLOPs: unknown floating-point path ['fp64']"),
        ("levels: L1", "4: $.levels: must be a mapping"),
        ("levels: {}", "3: $.from: ERT does not say which memory tier"),
        ("ceilings: {dram: {value: 1 TB/s}}", "1: $: needs either ceilings or from"),
    ],
)
def test_mapping_that_does_not_fit_is_a_problem(write: Write, mapping: str, found: str) -> None:
    write(json.dumps(ERT))
    assert problems(write, f"{WRAP}{mapping}\n")[0].startswith(found)


def test_all_problems_of_a_mapping_are_reported_at_once(write: Write) -> None:
    write(json.dumps(ERT))
    text = f"{WRAP}levels: {{HBM: dram, L1: l9}}\npeaks: {{GFLOPs: fp32}}\nspeed: 1\n"
    assert len(problems(write, text)) == 4


def test_name_that_ert_has_twice_cannot_be_mapped(write: Write) -> None:
    twice = {"empirical": {"gbytes": {"data": [["DRAM", 1.0], ["DRAM", 2.0]]}, "gflops": {"data": []}}}
    write(json.dumps(twice))
    assert "has this name 2 times" in problems(write, f"{WRAP}levels: {{DRAM: dram}}\n")[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.json", "cannot be read: No such file"),
        ("own.yaml", "is a file of ncu-roofline itself"),
        ("notes.txt", "is not a file of measured ceilings"),
    ],
)
def test_mapped_file_that_cannot_be_used_is_a_problem_of_the_mapping(write: Write, name: str, message: str) -> None:
    write("nothing", "notes.txt")
    found = problems(write, f"schema: 1\nsources: [s]\nfrom: {name}\nlevels: {{DRAM: dram}}\n")
    assert len(found) == 1
    assert found[0].startswith("3: $.from: ")
    assert message in found[0]


def test_run_of_ert_on_a_cpu_gets_a_note(write: Write) -> None:
    ert = json.loads(json.dumps(ERT))
    ert["empirical"]["metadata"] = {"CONFIG": {"ERT_GPU": [False]}}
    write(json.dumps(ert))
    assert "measured on a CPU" in notes(load(write, f"{WRAP}levels: {{DRAM: dram}}\n", "own.yaml"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('[["L1", "fast"]]', "empirical.gbytes.data[0] is not a name and a number"),
        ('[["L1", 1.0], ["L2"]]', "empirical.gbytes.data[1] is not a name and a number"),
        ('[["L1", 0.0]]', "bandwidth 'L1': 0.0 is not a finite number above zero"),
        ('[["L1", NaN]]', "bandwidth 'L1': nan is not a finite number above zero"),
        ('"L1"', "has no list empirical.gbytes.data"),
        ('[["L1", 1.0', "is not valid JSON"),
    ],
)
def test_damaged_ert_file_is_refused(write: Write, change: str, message: str) -> None:
    text = f'{{"empirical": {{"gbytes": {{"data": {change}}}, "gflops": {{"data": []}}}}}}'
    assert message in refusal(write, text).problem


# mixbench.


def test_mixbench_peaks_are_the_highest_of_each_floating_point_kind(write: Write) -> None:
    middle = LAST.replace("8000.50", "8100.25").replace("256,", "192,", 1)
    found = values(load(write, mixbench(FIRST, middle, LAST)))
    assert {name: found[name] for name in ("fp32", "fp64", "fp16")} == {
        "fp32": 8100.25e9,
        "fp64": 250.25e9,
        "fp16": 16000.75e9,
    }


def test_mixbench_bandwidth_is_the_highest_of_the_row_without_compute(write: Write) -> None:
    second = FIRST.replace("0, 0.250", "1, 0.750", 1).replace("430.00", "490.00")
    assert values(load(write, mixbench(FIRST, second, LAST)))["dram"] == 440e9


def test_mixbench_rows_may_come_in_any_order(write: Write) -> None:
    assert values(load(write, mixbench(LAST, FIRST))) == values(load(write, mixbench(FIRST, LAST)))


def test_mixbench_names_its_device(write: Write) -> None:
    measured = load(write, mixbench(FIRST, LAST))
    assert (measured.tool, measured.device) == ("mixbench", "Test GPU")


def test_mixbench_source_says_which_number_of_which_row(write: Write) -> None:
    measured = load(write, mixbench(FIRST, LAST))
    words = "440.00 GB/sec of Double precision ops at 0 compute iterations"
    assert measured.ceilings["dram"].source == f"mixbench, {measured.file}:9: {words}"


def test_mixbench_integers_are_left_out_because_a_multiply_add_counts_twice_there(write: Write) -> None:
    measured = load(write, mixbench(FIRST, LAST))
    assert "int" not in measured.ceilings
    assert "left out: Integer operations: GIOPS count a multiply-add as two operations" in notes(measured)


def test_mixbench_kind_that_the_device_does_not_have_is_left_out(write: Write) -> None:
    first = FIRST.replace("217.50, 435.00", "-nan, inf")
    last = LAST.replace("16000.75, 62.38", "inf, -nan(ind)")
    measured = load(write, mixbench(first, last))
    assert "left out: Half precision ops: was not measured on that device" in notes(measured)
    assert set(measured.ceilings) == {"dram", "fp32", "fp64"}


def test_mixbench_bandwidth_above_that_of_the_memory_is_left_out(write: Write) -> None:
    measured = load(write, mixbench(FIRST.replace("431.00", "501.00"), LAST))
    assert "dram" not in measured.ceilings
    assert "is above the 500.00 GB/sec calculated there for the memory" in notes(measured)


def test_mixbench_memory_bandwidth_of_zero_says_nothing(write: Write) -> None:
    text = mixbench(FIRST, LAST).replace("500.00", "0.00")
    assert values(load(write, text))["dram"] == 440e9


def test_mixbench_data_of_half_the_buffer_counts_less_when_the_cache_is_large(write: Write) -> None:
    # L2 40 MB: 256 MB of double precision are 6.4 times that, 128 MB of the other kinds 3.2 times.
    text = mixbench(FIRST.replace("430.00", "470.00"), LAST).replace("4096 KB", "40960 KB")
    assert values(load(write, text))["dram"] == 440e9


def test_mixbench_data_of_less_than_four_times_the_cache_gives_no_bandwidth(write: Write) -> None:
    # L2 65 MB: 256 MB are 3.9 times that.
    measured = load(write, mixbench(FIRST, LAST).replace("4096 KB", "66560 KB"))
    assert "dram" not in measured.ceilings
    assert "the data is less than 4 times the L2" in notes(measured)


def test_mixbench_alternating_kernels_give_no_bandwidth(write: Write) -> None:
    first = FIRST.replace("0.250, 0.31, 107.50", "0.000, 0.31, 0.00", 1)
    measured = load(write, mixbench(first, LAST))
    assert "dram" not in measured.ceilings
    assert "alternating kernels" in notes(measured)


def test_mixbench_peak_that_memory_still_limits_is_left_out(write: Write) -> None:
    # 400 of 440 GB/s in the row with the most single precision GFLOPS
    measured = load(write, mixbench(FIRST, LAST.replace("8000.50, 62.38", "8000.50, 400.00")))
    assert "fp32" not in measured.ceilings
    assert "its highest row is still limited by memory" in notes(measured)


def test_mapping_takes_a_mixbench_bandwidth_in_doubt_and_repeats_the_doubt(write: Write) -> None:
    write(mixbench(FIRST, LAST).replace("4096 KB", "66560 KB"))
    measured = load(write, f"{WRAP}levels: {{GB/sec: dram}}\n", "own.yaml")
    assert values(measured) == {"dram": 440e9}
    assert "although the data is less than 4 times the L2" in notes(measured)


def test_mixbench_integers_cannot_be_mapped(write: Write) -> None:
    write(mixbench(FIRST, LAST))
    found = problems(write, f"{WRAP}peaks: {{Integer operations: fp32}}\n")
    assert found[0].startswith("4: $.peaks.Integer operations: Integer operations cannot be used: GIOPS count")


def test_mixbench_file_may_be_wrapped_without_a_mapping_to_name_its_device(write: Write) -> None:
    write(mixbench(FIRST, LAST))
    measured = load(write, f"{WRAP}device: NVIDIA Other\n", "own.yaml")
    assert set(measured.ceilings) == {"dram", "fp32", "fp64", "fp16"}
    assert "mixbench printed 'Test GPU'" in notes(measured)


def test_mixbench_without_a_closing_line_gets_a_note(write: Write) -> None:
    assert "may have been cut off" in notes(load(write, mixbench(FIRST, LAST, end="")))


def test_mixbench_of_the_hip_version_leaves_packed_operations_out(write: Write) -> None:
    names = "Experiment ID, Single Precision ops,,,, Packed Single Precision ops,,,,"
    columns = ",".join(COLUMNS.split(",")[:9])
    rows = (
        "0, 0.25, 0.3, 107.50, 430.00, 0.25, 0.3, 107.50, 430.00",
        "64, 32.25, 1, 8000.00, 65.00, 32, 1, 9999.00, 65.00",
    )
    measured = load(write, mixbench(*rows, names=names, columns=columns))
    assert values(measured) == {"dram": 430e9, "fp32": 8000e9}
    assert "Packed Single Precision ops at 64 compute iterations" in notes(measured)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (mixbench(FIRST, LAST) + mixbench(FIRST, LAST), "has 2 tables of mixbench"),
        (mixbench(FIRST, LAST, device="mixbench-cpu (v0.04)"), "is a run of mixbench-cpu"),
        (mixbench(), "the table of mixbench has no rows"),
        (mixbench(FIRST, LAST[:60]), "is not a row of 17 numbers"),
        (mixbench(FIRST, "Segmentation fault", LAST), "is not a row of 17 numbers"),
        (mixbench(FIRST, columns="CPU or GPU, " + COLUMNS), "columns of mixbench are not as expected"),
        (mixbench(FIRST, columns=""), "columns of mixbench are not as expected"),
        (mixbench(names="Experiment ID,"), "names no kind of operation"),
        (mixbench("0, 0.25, 0.3, 1, 1"), "is not a row of 17 numbers"),
        (f"{NAMES}\n", "columns of mixbench are not as expected"),
    ],
)
def test_mixbench_output_that_is_not_one_complete_run_is_refused(write: Write, text: str, message: str) -> None:
    assert message in refusal(write, text).problem


def test_damaged_row_of_mixbench_is_named_by_its_line(write: Write) -> None:
    assert refusal(write, mixbench(FIRST, "oops", LAST)).line == 10


def test_mixbench_without_any_usable_number_is_refused_with_the_reasons(write: Write) -> None:
    # One row: nothing says what limits it but that its own bandwidth does.
    error = refusal(write, mixbench(FIRST).replace("4096 KB", "66560 KB"))
    assert error.problem.startswith("no result of mixbench can be taken as a ceiling without a mapping: GB/sec: ")


# BabelStream.


def test_babelstream_gives_the_highest_function_as_dram(write: Write) -> None:
    measured = load(write, STREAM)
    assert (measured.tool, measured.device, values(measured)) == (
        "BabelStream",
        "NVIDIA Test GPU",
        {"dram": 1400000.125e6},
    )


def test_babelstream_source_has_function_and_line(write: Write) -> None:
    measured = load(write, STREAM)
    assert measured.ceilings["dram"].source == f"BabelStream, {measured.file}:8: Copy, 1400000.125 MBytes/sec"


def test_babelstream_notes_say_what_is_not_the_highest_and_how_large_the_arrays_were(write: Write) -> None:
    found = notes(load(write, STREAM))
    assert "left out: Triad, 1375000.500 MBytes/sec (line 11): not the highest" in found
    assert "arrays of 268.4 MB" in found


def test_babelstream_mebibytes_are_binary(write: Write) -> None:
    text = STREAM.replace("MBytes/sec", "MiBytes/sec").replace("1400000.125", "1000000.000")
    # The highest is now Triad: 1375000.500 x 2^20
    assert values(load(write, text)) == {"dram": pytest.approx(1375000.500 * 1048576, rel=1e-15)}


def test_babelstream_csv_is_read_without_its_phases(write: Write) -> None:
    assert values(load(write, STREAM_CSV)) == {"dram": 710.5e6}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (STREAM.split("Copy")[0] + "Runtime (seconds): 1.0\nBandwidth (GB/s):  790.25\n", 790.25e9),
        (STREAM.split("Copy")[0] + "Bandwidth (GiB/s):  2\n", 2.0 * 1024**3),
        (STREAM.split("Copy")[0] + "Nstream     800.5       0.1         0.1         0.1\n", 800.5e6),
        (
            STREAM_CSV.split("Copy")[0]
            + "function,num_times,n_elements,sizeof,gbytes_per_sec,runtime\nTriad,100,33554432,8,790.25,0.1\n",
            790.25e9,
        ),
    ],
)
def test_babelstream_run_of_a_single_function_is_read(write: Write, text: str, value: float) -> None:
    assert values(load(write, text)) == {"dram": value}


def test_babelstream_function_can_be_chosen_by_a_mapping(write: Write) -> None:
    write(STREAM)
    assert values(load(write, f"{WRAP}levels: {{Triad: dram}}\n", "own.yaml")) == {"dram": 1375000.500e6}


def test_babelstream_dot_with_a_wrong_sum_is_not_taken(write: Write) -> None:
    text = STREAM.replace("1200000.625", "9999999.000") + "Validation failed on sum. Error 1e-5\n"
    assert values(load(write, text)) == {"dram": 1400000.125e6}


def test_babelstream_with_wrong_arrays_is_refused(write: Write) -> None:
    error = refusal(write, STREAM + "Validation failed on a[]. Average error 1.5\n")
    assert "its result was wrong (validation failed)" in error.problem


def test_babelstream_without_a_device_says_so(write: Write) -> None:
    measured = load(write, STREAM.replace("Using CUDA device NVIDIA Test GPU\n", ""))
    assert measured.device is None
    assert "does not name the device" in notes(measured)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STREAM + STREAM, "more than one run"),
        (STREAM.split("Copy")[0], "the table of BabelStream has no rows"),
        (STREAM.split("Triad")[0], "was cut off: no Triad"),
        (STREAM.replace("0.00040     0.00039", "0.00040"), "the row of Copy has not 5 cells"),
        (STREAM.replace("1400000.125", "inf"), "Copy: 'inf' is no bandwidth"),
        (STREAM.replace("1400000.125", "0.000"), "Copy: '0.000' is no bandwidth"),
        (STREAM_CSV.replace(",700,", ","), "the row of Copy has not 8 cells"),
    ],
)
def test_babelstream_output_that_is_not_one_complete_run_is_refused(write: Write, text: str, message: str) -> None:
    assert message in refusal(write, text).problem


# Everything else.


@pytest.mark.parametrize(
    "content",
    ["", "nothing known\n", "{}", "[1, 2]", '{"a": 1}', "Function    Best Rate MB/s  Avg time\nCopy: 1 1 1 1\n"],
)
def test_unknown_content_is_refused_with_what_was_expected(write: Write, content: str) -> None:
    error = refusal(write, content)
    assert error.problem == "is not a file of measured ceilings"
    assert all(name in error.help for name in ("schema: 1", "ERT", "mixbench", "BabelStream"))


def test_bytes_that_are_no_text_are_refused(write: Write) -> None:
    assert "is not text" in refusal(write, b"\x00\xff\xfe\x80").problem


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_measured(tmp_path / "none.yaml")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_output_that_was_redirected_on_windows_is_read(write: Write, encoding: str) -> None:
    assert values(load(write, STREAM.replace("\n", "\r\n").encode(encoding))) == {"dram": 1400000.125e6}


def test_own_file_may_begin_with_a_byte_order_mark(write: Write) -> None:
    assert values(load(write, OWN.encode("utf-8-sig")))["dram"] == 1.38e12


# Real files.


def test_real_babelstream_file(corpus: Path) -> None:
    measured = load_measured(corpus / "timings" / "t23-nvidia-gtx-titan_x.txt")
    # Add: 268732.653 MBytes/sec
    assert (measured.device, values(measured)) == ("GeForce GTX TITAN X", {"dram": 268732.653e6})


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("t21-roofline.titan.ccs.ornl.gov.01.json", "(levels: L1, L2, DRAM; peaks: GFLOPs)"),
        ("t22-roofline.json", "(levels: L1, L2, DRAM; peaks: FP64 GFLOPs)"),
    ],
)
def test_real_ert_file_needs_a_mapping(corpus: Path, name: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        load_measured(corpus / "timings" / name)
    assert error.value.problem.endswith(found)


def test_real_ert_file_is_read_with_a_mapping(corpus: Path, write: Write) -> None:
    file = corpus / "timings" / "t22-roofline.json"
    mapping = {"levels": {"DRAM": "dram"}, "peaks": {"FP64 GFLOPs": "fp64"}}
    measured = load(write, json.dumps({"schema": 1, "sources": ["s"], "from": str(file), **mapping}))
    assert values(measured) == {"dram": 200.3e9, "fp64": 2772.78e9}
    assert "measured on a CPU" in notes(measured)


def test_real_file_of_a_plotting_script_is_refused(corpus: Path) -> None:
    with pytest.raises(InputError, match="is not a file of measured ceilings"):
        load_measured(corpus / "timings" / "t27-data_hierarchical.txt")
