"""The device table: published peaks come out of it, and a name never means another product."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from ncu_roofline.data_files import metric_map_directory
from ncu_roofline.devices import Device, load_devices, match_device
from ncu_roofline.errors import DataFileError
from ncu_roofline.maps import load_library
from tests.conftest import Write
from tests.support import FACTS

PUBLISHED = [
    ("NVIDIA A100-SXM4-40GB", "tensor.fp16.acc32", 312e12),
    ("NVIDIA A100-SXM4-80GB", "fp64", 9.7e12),
    ("NVIDIA A100-SXM4-80GB", "tensor.fp64", 19.5e12),
    ("NVIDIA H100 80GB HBM3", "tensor.bf16", 989.4e12),
    ("NVIDIA H100 80GB HBM3", "tensor.fp64", 66.9e12),
    ("NVIDIA H100 PCIe", "tensor.fp8", 1513e12),
    ("Tesla T4", "fp32", 8.1e12),
    ("Tesla V100-SXM2-16GB", "tensor.fp16.acc32", 125e12),
    ("NVIDIA GeForce RTX 4090", "tensor.fp16.acc32", 165.2e12),
    ("NVIDIA GeForce RTX 4090", "tensor.fp16.acc16", 330.3e12),
    ("NVIDIA L40S", "tensor.fp8", 733e12),
    ("NVIDIA B200", "tensor.bf16", 2250e12),
]
TOLERANCE = 0.015

ROUNDED = {("NVIDIA B200", "tensor.tf32")}
"""Published with two digits (1.1 PFLOP/s): the chip's whole number gives 1.125."""

OTHER_NAMES = {"NVIDIA RTX PRO 6000 Blackwell": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"}
"""Names of the fact table that are shorter than what any GPU prints."""

NOT_PUBLISHED = "tensor.int1"
"""The one path whose rates were read from reports only."""

SMALL = """
schema: 1
not_listed: [NVIDIA Z9 Max]
devices:
  - name: NVIDIA Z9-40GB
    also: [NVIDIA Z9 SXM 40GB]
    model: Z9
    chip: GZ9
    compute_capability: "99.9"
    sm_count: 10
    boost_clock: 1_000_000_000
    l2_bytes: {value: 1000, confidence: low, note: a guess}
    rates:
      fp32: 256
      tensor.fp8: {value: 8192, confidence: low, note: a rumour}
    sources: [a test]
    confidence: high
"""


def named(name: str) -> Device:
    device = match_device(name).device
    assert device is not None, name
    return device


def rows(name: str) -> list[dict[str, str]]:
    path = FACTS / name
    if not path.exists():
        pytest.skip(f"no facts at {path}")
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def published(row: dict[str, str]) -> Iterator[tuple[str, float]]:
    """Paths and published peaks of a row of the fact table, by the paths that its chip has."""
    paths = load_library().for_compute_capability(row["cc"]).paths
    columns = {
        "fp64_tflops": ["fp64"],
        "fp64_tensor_tflops": ["tensor.fp64"],
        "fp32_tflops": ["fp32"],
        "fp16_nontensor_tflops": ["fp16"],
        "tf32_dense_tflops": ["tensor.tf32"],
        "fp16bf16_tensor_acc32_dense_tflops": ["tensor.bf16", "tensor.fp16", "tensor.fp16.acc32"],
        "fp16_tensor_acc16_dense_tflops": ["tensor.fp16.acc16"],
        "fp8_acc32_dense_tflops": ["tensor.fp8.acc32", "tensor.fp4_fp6_fp8.acc32"],
        "fp8_acc16_dense_tflops": ["tensor.fp8", "tensor.fp8.acc16", "tensor.fp4_fp6_fp8.acc16"],
        "int8_dense_tops": ["tensor.int8"],
        "int4_dense_tops": ["tensor.int4"],
        "fp4_dense_tflops": ["tensor.fp4"],
    }
    for column, names in columns.items():
        for path in names:
            if row[column] and path in paths:
                yield path, float(row[column]) * 1e12


def device_of(row: dict[str, str]) -> Device:
    return named(OTHER_NAMES.get(row["name"], row["name"]))


# -- numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "path", "peak"), PUBLISHED)
def test_rate_times_sms_times_clock_is_the_published_peak(name: str, path: str, peak: float) -> None:
    assert named(name).peak(path) == pytest.approx(peak, rel=TOLERANCE)


def test_every_published_peak_comes_out_of_the_table() -> None:
    wrong = {
        (row["name"], path): device_of(row).peak(path)
        for row in rows("devices.tsv")
        for path, peak in published(row)
        if device_of(row).peak(path) != pytest.approx(peak, rel=TOLERANCE)
    }
    assert set(wrong) == ROUNDED, wrong


def test_rounded_peak_is_reached_within_its_last_digit() -> None:
    # 148 x 4096 x 1.856 GHz = 1.125e15, published as 1.1e15.
    assert named("NVIDIA B200").peak("tensor.tf32") == pytest.approx(1.1e15, abs=0.05e15)


def test_table_has_no_rate_that_was_not_published() -> None:
    for row in rows("devices.tsv"):
        assert set(device_of(row).rates) - {NOT_PUBLISHED} == {path for path, _ in published(row)}, row["name"]


def test_table_has_the_products_of_the_facts() -> None:
    assert [device_of(row).name for row in rows("devices.tsv")] == [device.name for device in load_devices()]


@pytest.mark.parametrize(
    ("field", "column", "factor"),
    [
        ("sm_count", "sm_count", 1),
        ("base_clock", "base_mhz", 1e6),
        ("boost_clock", "boost_mhz", 1e6),
        ("dram_bandwidth", "dram_GBps_decimal", 1e9),
        ("l2_bytes", "l2_MiB", 2**20),
    ],
)
def test_other_numbers_are_those_of_the_facts(field: str, column: str, factor: float) -> None:
    for row in rows("devices.tsv"):
        expected = float(row[column]) * factor if row[column] else None
        assert getattr(device_of(row), field) == expected, row["name"]


@pytest.mark.parametrize(
    ("field", "column", "factor"),
    [
        ("sm_count", "multiprocessor_count", 1),
        ("boost_clock", "clock_rate", 1e3),
        ("l2_bytes", "l2_cache_size", 1),
    ],
)
def test_table_agrees_with_the_attributes_of_reports(field: str, column: str, factor: float) -> None:
    compared = 0
    for row in rows("measured_devices.tsv"):
        if device := match_device(row["device"]).device:
            assert getattr(device, field) == float(row[column]) * factor, row["device"]
            compared += 1
    assert compared >= 12


def test_dram_bandwidth_is_two_transfers_per_memory_clock() -> None:
    for row in rows("measured_devices.tsv"):
        if device := match_device(row["device"]).device:
            bandwidth = 2 * float(row["global_memory_bus_width"]) / 8 * float(row["memory_clock_rate"]) * 1e3
            assert device.dram_bandwidth == pytest.approx(bandwidth, rel=TOLERANCE), row["device"]


@pytest.mark.parametrize("device", load_devices(), ids=lambda device: device.name)
def test_every_path_of_a_device_exists_in_the_map_of_its_chip(device: Device) -> None:
    assert set(device.rates) <= set(load_library().for_compute_capability(device.compute_capability).paths)


@pytest.mark.parametrize("device", load_devices(), ids=lambda device: device.name)
def test_rate_that_is_no_whole_number_has_low_confidence_and_a_note(device: Device) -> None:
    for path, rate in device.rates.items():
        if not rate.is_integer():
            assert device.confidence_of(path) == "low"
            assert device.remarks[path].note


@pytest.mark.parametrize("name", ["NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 5090"])
def test_geforce_has_half_the_fp16_rate_with_fp32_accumulation(name: str) -> None:
    rates = named(name).rates
    assert 2 * rates["tensor.fp16.acc32"] == rates["tensor.fp16.acc16"]
    assert rates["tensor.bf16"] == rates["tensor.fp16.acc32"]


def test_path_without_accumulator_has_the_rate_of_the_faster_one() -> None:
    # RTX 4090: 660.6 TFLOP/s with FP16 accumulation, 330.3 with FP32.
    assert named("NVIDIA GeForce RTX 4090").peak("tensor.fp8") == pytest.approx(660.6e12, rel=TOLERANCE)


def test_tensor_peaks_of_hopper_rest_on_a_lower_clock_but_not_those_of_fp64() -> None:
    h100 = named("NVIDIA H100 80GB HBM3")
    assert [h100.clock(path) for path in ("tensor.bf16", "tensor.fp64", "fp32")] == [1.83e9, 1.98e9, 1.98e9]


def test_export_cut_product_has_its_own_fp64_rate() -> None:
    # A report of H800 has a dfma peak of 2 per SM and cycle, H100 64.
    assert (named("NVIDIA H800").rates["fp64"], named("NVIDIA H100 PCIe").rates["fp64"]) == (4.0, 128.0)


def test_rate_is_that_of_the_given_number_of_sms() -> None:
    # 128 FLOP per cycle and SM: 13824 on 108 SMs, 1792 on 14.
    a100 = named("NVIDIA A100-SXM4-40GB")
    assert (a100.rate("fp32"), a100.rate("fp32", 14)) == (13824.0, 1792.0)


def test_unknown_rate_is_none() -> None:
    assert named("NVIDIA B200").rate("fp16") is None
    assert named("NVIDIA B200").peak("fp16") is None


# -- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for device in load_devices() for name in device.names], ids=lambda name: name.replace(" ", "_")
)
def test_every_name_of_the_table_means_its_product_alone(name: str) -> None:
    match = match_device(name)
    assert match.device is not None
    assert (name in match.device.names, match.candidates, match.reason) == (True, (match.device,), "")


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("nvidia a100 sxm4 80gb", "NVIDIA A100-SXM4-80GB"),
        ("A100-PCIE-80GB", "NVIDIA A100 80GB PCIe"),
        ("NVIDIA_A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"),
        ("NVIDIA T4", "Tesla T4"),
        ("NVIDIA Tesla V100-SXM2-32GB", "Tesla V100-SXM2-32GB"),
        ("RTX 3090", "NVIDIA GeForce RTX 3090"),
        ("h100 sxm", "NVIDIA H100 80GB HBM3"),
        ("NVIDIA GH200 120GB", "NVIDIA GH200 480GB"),
        ("NVIDIA B300", "NVIDIA B300 SXM6 AC"),
    ],
)
def test_spelling_does_not_matter(name: str, product: str) -> None:
    assert named(name).name == product


def test_shortened_name_that_fits_one_product_means_it() -> None:
    assert named("H100 NVL 94GB").name == "NVIDIA H100 NVL"


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA X900",
        "NVIDIA A10G",
        "NVIDIA A800-SXM4-80GB",
        "NVIDIA A100-SXM-64GB",
        "NVIDIA GH200 144G HBM3e",
        "NVIDIA H200 NVL",
        "NVIDIA H800 PCIe",
        "NVIDIA H20-3e",
        "NVIDIA L40",
        "NVIDIA GB200",
        "NVIDIA GeForce RTX 3090 Ti",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "GRID A100-10C",
        "80GB HBM3",
        "NVIDIA",
        "",
    ],
)
def test_name_of_another_product_means_none_and_says_so(name: str) -> None:
    match = match_device(name)
    assert (match.device, match.candidates) == (None, ())
    assert "is not in the device table" in match.reason


@pytest.mark.parametrize(
    ("name", "count", "other"),
    [
        ("A100", 4, "NVIDIA A100 80GB PCIe"),
        ("A100 80GB", 2, "NVIDIA A100-SXM4-80GB"),
        ("H100", 3, "NVIDIA H100 NVL"),
        ("H100 80GB", 2, "NVIDIA H100 PCIe"),
        ("Tesla V100", 4, "Tesla V100-PCIE-32GB"),
        ("GH200", 1, "NVIDIA GH200 144G HBM3e (not listed)"),
        ("Orin", 1, "Jetson Orin NX 16GB (not listed)"),
        ("NVIDIA RTX PRO 6000 Blackwell", 1, "Server Edition (not listed)"),
    ],
)
def test_name_that_fits_several_products_means_none_and_lists_them(name: str, count: int, other: str) -> None:
    match = match_device(name)
    assert (match.device, len(match.candidates)) == (None, count)
    assert other in match.reason


def test_product_of_another_compute_capability_does_not_match() -> None:
    match = match_device("NVIDIA A100-SXM4-40GB", compute_capability="9.0")
    assert match.device is None
    assert match.reason == (
        "the launch has compute capability 9.0, but 'NVIDIA A100-SXM4-40GB' has 8.0 in the device table"
    )


def test_agreeing_compute_capability_and_sm_count_leave_no_doubt() -> None:
    match = match_device("NVIDIA A100-SXM4-40GB", compute_capability="8.0", sm_count=108.0)
    assert (match.device, match.sm_count, match.is_slice, match.reason) == (
        named("NVIDIA A100-SXM4-40GB"), 108, False, "",
    )  # fmt: skip


def test_more_sms_than_the_product_has_mean_another_product() -> None:
    match = match_device("NVIDIA H20", sm_count=132)
    assert match.device is None
    assert "132 SMs, but NVIDIA H20 has 78" in match.reason


@pytest.mark.parametrize("name", ["NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA A100-SXM4-40GB"])
def test_fewer_sms_than_the_product_has_are_a_slice(name: str) -> None:
    match = match_device(name, sm_count=14)
    assert (match.device, match.sm_count, match.is_slice) == (named("NVIDIA A100-SXM4-40GB"), 14, True)
    assert "14 of the 108 SMs" in match.reason


def test_rates_of_a_slice_are_those_of_its_sms() -> None:
    # 2048 FLOP per cycle and SM x 14 SMs
    assert match_device("NVIDIA A100-SXM4-40GB MIG 1g.5gb", sm_count=14).rate("tensor.bf16") == 28672.0


def test_slice_of_unknown_size_has_no_rates() -> None:
    match = match_device("NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    assert (match.is_slice, match.rate("fp32")) == (True, None)


def test_slice_with_all_sms_is_the_whole_product() -> None:
    assert not match_device("NVIDIA H100 80GB HBM3 MIG 7g.80gb", sm_count=132).is_slice


@pytest.mark.parametrize("sm_count", [None, float("nan"), 0.0])
def test_unknown_sm_count_is_no_doubt(sm_count: float | None) -> None:
    match = match_device("NVIDIA H20", sm_count=sm_count)
    assert (match.sm_count, match.reason, match.rate("tensor.fp8")) == (
        None,
        "",
        named("NVIDIA H20").rate("tensor.fp8"),
    )


def test_name_without_a_product_has_no_rates() -> None:
    assert match_device("NVIDIA X900").rate("fp32") is None


# -- file --------------------------------------------------------------------------------------------------


def problems(path: str) -> list[str]:
    with pytest.raises(DataFileError) as error:
        load_devices(Path(path))
    return [str(problem) for problem in error.value.problems]


def test_another_table_can_be_read(write: Write) -> None:
    (device,) = load_devices(Path(write(SMALL, "devices.yaml")))
    assert (device.name, device.peak("fp32"), device.base_clock) == ("NVIDIA Z9-40GB", 2560e9, None)


def test_number_may_have_its_own_confidence(write: Write) -> None:
    (device,) = load_devices(Path(write(SMALL, "devices.yaml")))
    names = ("fp32", "tensor.fp8", "l2_bytes")
    assert [device.confidence_of(name) for name in names] == ["high", "low", "low"]


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("schema: 1", "schema: 7", "$.schema", "schema 7 is not known"),
        ("schema: 1", "schema: 1\nunits: SI", "$.units", "unknown key"),
        ("chip:", "chips:", "$.devices[0].chips", "unknown key"),
        ("    chip: GZ9\n", "", "$.devices[0]", "missing key 'chip'"),
        ("chip: GZ9", "chip: GZ9\n    chip: GZ8", "$.devices[0].chip", "duplicate key"),
        ('"99.9"', "99.9", "$.devices[0].compute_capability", "must be a quoted text"),
        ('"99.9"', '"nine"', "$.devices[0].compute_capability", "is not a compute capability"),
        ("sm_count: 10", "sm_count: 10.5", "$.devices[0].sm_count", "is not a whole number"),
        ("sm_count: 10", "sm_count: 0", "$.devices[0].sm_count", "is not above zero"),
        ("1_000_000_000", "1e9", "$.devices[0].boost_clock", "is not a number"),
        ("1_000_000_000", "true", "$.devices[0].boost_clock", "is not a number"),
        ("1_000_000_000", ".inf", "$.devices[0].boost_clock", "is not above zero"),
        ("fp32: 256", "fp32: -256", "$.devices[0].rates.fp32", "is not above zero"),
        ("fp32: 256", "fp32: null", "$.devices[0].rates.fp32", "is left out"),
        ("fp32: 256", "fp33: 256", "$.devices[0].rates.fp33", "unknown instruction path"),
        ("value: 8192", "worth: 8192", "$.devices[0].rates.tensor.fp8.worth", "unknown key"),
        (", note: a rumour", "", "$.devices[0].rates.tensor.fp8.note", "not empty"),
        ("low, note: a rumour", "none, note: a rumour", "$.devices[0].rates.tensor.fp8.confidence", "is not one of"),
        ("sources: [a test]", "", "$.devices[0]", "missing key 'sources'"),
        ("sources: [a test]", "sources: []", "$.devices[0].sources", "at least one source"),
        ("sources: [a test]", "sources: a test", "$.devices[0].sources", "list of texts"),
        ("confidence: high", "confidence: sure", "$.devices[0].confidence", "is not one of"),
        ("model: Z9", "model: Z8", "$.devices[0].model", "words that the name does not have"),
        ("Z9 SXM 40GB", "Z9 40GB", "$.devices[0].also[0]", "has the words of"),
        ("Z9 Max", "Z9 40GB", "$.devices[0].name", "has the words of"),
        ("Z9 SXM 40GB", "Tesla", "$.devices[0].also[0]", "no word that tells products apart"),
    ],
)
def test_mistake_in_the_table_is_named_with_file_line_and_path(
    write: Write, old: str, new: str, where: str, message: str
) -> None:
    assert old in SMALL
    path = write(SMALL.replace(old, new), "broken.yaml")
    found = problems(path)
    assert any(text.startswith(f"{path}:") and f": {where}: " in text and message in text for text in found), found


def test_all_problems_of_the_table_are_reported_at_once(write: Write) -> None:
    text = (
        SMALL.replace('"99.9"', "99.9")
        .replace("fp32:", "fp33:")
        .replace("sources: [a test]", "")
        .replace("10\n", "-1\n")
    )
    assert len(problems(write(text, "broken.yaml"))) == 4


def test_line_of_a_problem_of_the_table_is_that_of_its_entry(write: Write) -> None:
    path = write(SMALL.replace("fp32:", "fp33:"), "broken.yaml")
    line = SMALL.splitlines().index("      fp32: 256") + 1
    assert [text.startswith(f"{path}:{line}: $.devices[0].rates.fp33:") for text in problems(path)] == [True]


@pytest.mark.parametrize("text", ["", "schema: 1\n", "schema: 1\ndevices: []\n", "- 1\n", "a: [", "devices: 3\n"])
def test_file_that_is_no_device_table_is_refused(write: Write, text: str) -> None:
    assert problems(write(text, "broken.yaml"))


def test_packaged_maps_are_found_beside_the_device_table() -> None:
    assert (metric_map_directory() / "devices.yaml").exists()
    assert "devices" not in load_library().maps
