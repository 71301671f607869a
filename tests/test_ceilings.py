"""Where ceilings come from: report, attributes, device table, measured file; each at its clock, never another GPU's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ncu_roofline as nr
from ncu_roofline.vocabulary import Severity
from tests.conftest import Write
from tests.support import cells, details, finding, launch, quoted, row_of

# GA100 has 108 SMs x 64 FFMA x 2 = 13824 FP32 FLOP per cycle; published at 1.41 GHz.
PER_CYCLE = 108 * 64 * 2
COUNTS = {"T": "20 us", "FADD": "0 inst", "FMUL": "0 inst", "FFMA": "1,000,000 inst", "DB": "1,000,000 byte"}
RUN = COUNTS | {"SMHZ": "1 Ghz"}
A100 = "NVIDIA A100-SXM4-40GB"
MEASURED = """
schema: 1
sources: [a benchmark]
ceilings:
  dram: {value: 1.4 TB/s}
  fp32: {value: 18 TFLOP/s, clock: 1.41 GHz}
"""


def report(write: Write, metrics: dict[str, str], *, device: str | None = A100, cc: str = "8.0") -> str:
    text = details(*launch(metrics), cc=cc)
    if device is not None:
        row = cells("0|k|device__attribute_display_name||x", cc=cc)
        text += quoted([*row[:-1], device]) + "\n"
    return write(text)


def test_path_without_own_peak_is_held_against_the_device_at_the_clock_of_the_run(write: Write) -> None:
    found = row_of(nr.analyze(report(write, RUN)))
    assert found["work.fp32.peak"] == PER_CYCLE * 1e9
    assert (found["work.fp32.peak_source"], found["work.fp32.peak_clock"]) == ("device", 1e9)


def test_own_peak_of_the_report_comes_before_the_device_table(write: Write) -> None:
    found = row_of(nr.analyze(report(write, RUN | {"PKF": "6,912 inst/cycle"})))
    assert found["work.fp32.peak_source"] == "report"


def test_device_comes_first_on_demand(write: Write) -> None:
    path = report(write, RUN | {"PKF": "6,912 inst/cycle"})
    assert row_of(nr.analyze(path, peak_source="device"))["work.fp32.peak_source"] == "device"


def test_device_ceiling_without_a_clock_of_the_run_is_listed_and_enters_no_bound(write: Write) -> None:
    found = json.loads(nr.analyze(report(write, COUNTS)).to_json())["launches"][0]
    assert found["work"]["fp32"]["peak"] is None
    assert {"of": "fp32", "value": PER_CYCLE * 1.41e9, "source": "device", "clock": 1.41e9} in found["ceilings"]


def test_dram_falls_back_to_attributes_before_the_device_table(write: Write) -> None:
    # 2 x 5120 bit / 8 x 1.215 GHz = 1.5552e12
    attributes = {
        "device__attribute_memory_clock_rate": "1,215,000 ",
        "device__attribute_global_memory_bus_width": "5,120 ",
    }
    found = row_of(nr.analyze(report(write, RUN | attributes)))
    assert (found["traffic.dram.peak"], found["traffic.dram.peak_source"]) == (1.5552e12, "attributes")


def test_dram_without_attributes_has_the_bandwidth_of_the_device(write: Write) -> None:
    found = row_of(nr.analyze(report(write, RUN)))
    assert (found["traffic.dram.peak"], found["traffic.dram.peak_source"]) == (1.555e12, "device")
    assert np.isnan(found["traffic.dram.peak_clock"])


def test_slice_of_a_device_has_the_peaks_of_its_sms_and_no_dram_bandwidth(write: Write) -> None:
    # 14 of 108 SMs: 14 x 64 x 2 = 1792 FLOP per cycle
    analysis = nr.analyze(report(write, RUN | {"device__attribute_multiprocessor_count": "14 "}))
    found = row_of(analysis)
    assert found["work.fp32.peak"] == 1792e9
    assert np.isnan(found["traffic.dram.peak"])
    note = finding(analysis, "device-doubtful")
    assert note is not None
    assert "14 of the 108 SMs" in note.message


@pytest.mark.parametrize("device", ["A100", "NVIDIA A199", "NVIDIA H100 PCIe"])
def test_device_that_is_ambiguous_unknown_or_of_another_architecture_gives_no_ceiling(
    write: Write, device: str
) -> None:
    analysis = nr.analyze(report(write, RUN, device=device))
    assert np.isnan(row_of(analysis)["work.fp32.peak"])
    assert finding(analysis, "device-doubtful") is not None


def test_report_that_names_no_device_gets_the_one_that_the_user_names(write: Write) -> None:
    path = report(write, RUN, device=None)
    assert np.isnan(row_of(nr.analyze(path))["work.fp32.peak"])
    found = row_of(nr.analyze(path, device="A100-SXM4-40GB"))
    assert (found["device"], found["work.fp32.peak"]) == ("A100-SXM4-40GB", PER_CYCLE * 1e9)


def test_device_of_the_report_comes_before_that_of_the_user(write: Write) -> None:
    assert row_of(nr.analyze(report(write, RUN), device="NVIDIA A30"))["device"] == A100


@pytest.mark.parametrize(("device", "message"), [("A100", "may be any of"), ("Voodoo 2", "not in the device table")])
def test_device_of_the_user_that_means_no_product_is_a_usage_error(write: Write, device: str, message: str) -> None:
    with pytest.raises(nr.NcuRooflineError, match=message):
        nr.analyze(report(write, RUN), device=device)


def test_launches_of_two_devices_have_their_own_ceilings(write: Write) -> None:
    first = report(write, RUN)
    second = write(details(*launch(RUN), cc="9.0"), "b.csv")
    columns = nr.analyze(first, second).columns
    assert columns["work.fp32.peak"][0] == PER_CYCLE * 1e9
    assert np.isnan(columns["work.fp32.peak"][1])


def test_measured_ceiling_stands_beside_and_does_not_bind(write: Write) -> None:
    analysis = nr.analyze(report(write, RUN), ceilings=write(MEASURED, "m.yaml"))
    assert row_of(analysis)["work.fp32.peak_source"] == "device"
    listed = json.loads(analysis.to_json())["launches"][0]["ceilings"]
    assert {"of": "fp32", "value": 18e12, "source": "measured", "clock": 1.41e9} in listed


def test_measured_ceiling_binds_on_demand(write: Write) -> None:
    # 1e6 FFMA x 2 / 18 TFLOP/s = 1.1111e-7 s; 1e6 byte / 1.4 TB/s = 7.142857e-7 s
    analysis = nr.analyze(report(write, RUN), ceilings=write(MEASURED, "m.yaml"), peak_source="measured")
    found = row_of(analysis)
    assert (found["work.fp32.peak"], found["work.fp32.peak_source"]) == (18e12, "measured")
    assert found["bound.time"] == pytest.approx(1e6 / 1.4e12)


def test_measured_ceilings_of_another_device_are_not_used(write: Write) -> None:
    roofs = write(MEASURED + "device: NVIDIA H100 PCIe\n", "m.yaml")
    analysis = nr.analyze(report(write, RUN), ceilings=roofs, peak_source="measured")
    assert row_of(analysis)["work.fp32.peak_source"] == "device"
    note = finding(analysis, "measured-ceilings")
    assert note is not None
    assert "which no launch ran on" in note.message


def test_peak_source_measured_needs_a_file(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match="needs a file of measured ceilings"):
        nr.analyze(report(write, RUN), peak_source="measured")


@pytest.mark.parametrize(("peak", "fires"), [("6,912", False), ("7,500", False), ("7,700", True), ("13,824", True)])
def test_report_and_device_more_than_ten_percent_apart_are_a_finding(write: Write, peak: str, fires: bool) -> None:
    analysis = nr.analyze(report(write, RUN | {"PKF": f"{peak} inst/cycle"}))
    assert (finding(analysis, "ceilings-disagree") is not None) == fires


def test_sparse_peak_taken_as_dense_is_found_against_the_device_table(write: Write) -> None:
    name = "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum"
    metrics = RUN | {name: "1,000 ", f"{name}.peak_sustained": f"{108 * 4096:,} "}
    found = finding(nr.analyze(report(write, metrics)), "ceilings-disagree")
    assert found is not None
    assert "tensor.bf16: the report's own peak is 2 times that of the device table" in found.message


def test_launch_that_really_ran_sparse_is_no_finding(write: Write) -> None:
    metrics = dict(RUN)
    for sparsity, count, peak in (("off", 0, 2048), ("on", 1000, 4096)):
        name = f"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_{sparsity}.sum"
        metrics |= {name: f"{count} ", f"{name}.peak_sustained": f"{108 * peak:,} "}
    analysis = nr.analyze(report(write, metrics))
    assert row_of(analysis)["work.tensor.bf16.peak"] == 108 * 4096e9
    assert finding(analysis, "ceilings-disagree") is None


def test_dram_peak_at_a_lower_memory_clock_than_published_is_no_finding(write: Write) -> None:
    # 1280 byte per cycle x 1 GHz = 1.28 TB/s of the published 1.555
    metrics = RUN | {"PKD": "1,280 byte/cycle", "DHZ": "1 Ghz"}
    assert finding(nr.analyze(report(write, metrics)), "ceilings-disagree") is None


def test_dram_peak_above_the_published_bandwidth_is_a_finding(write: Write) -> None:
    found = finding(nr.analyze(report(write, RUN | {"PKD": "1,280 byte/cycle", "DHZ": "2 Ghz"})), "ceilings-disagree")
    assert found is not None
    assert "dram: the report's own peak is 1.65 times that of the device table" in found.message
    assert "same clock" not in found.message


def test_own_peak_that_is_not_in_use_stands_beside(write: Write) -> None:
    analysis = nr.analyze(report(write, RUN | {"PKF": "6,912 inst/cycle"}), peak_source="device")
    listed = json.loads(analysis.to_json())["launches"][0]["ceilings"]
    assert {"of": "fp32", "value": PER_CYCLE * 1e9, "source": "report", "clock": 1e9} in listed


def test_explain_says_where_a_measured_ceiling_stands(write: Write) -> None:
    analysis = nr.analyze(report(write, RUN), ceilings=write(MEASURED, "m.yaml"))
    (step,) = [step for step in analysis.explain(0, "dram").subjects[0].steps if step.source == "measured"]
    assert "m.yaml" in step.formula


def test_device_of_the_user_that_contradicts_the_launches_is_a_usage_error(write: Write) -> None:
    with pytest.raises(nr.NcuRooflineError, match=r"compute capability 8\.0, but 'T4' has 7\.5"):
        nr.analyze(report(write, RUN, device=None), device="T4")


def test_device_of_the_user_that_no_launch_needs_is_said_to_have_no_effect(write: Write) -> None:
    found = finding(nr.analyze(report(write, RUN), device="NVIDIA A30"), "option-without-effect")
    assert found is not None
    assert "every launch states its device" in found.message


def test_compute_capability_of_the_user_that_no_launch_needs_is_said_to_have_no_effect(write: Write) -> None:
    found = finding(nr.analyze(report(write, RUN), cc="7.0"), "option-without-effect")
    assert found is not None
    assert "--cc 7.0 has no effect: every launch states its compute capability" in found.message


def test_peak_source_device_without_a_product_is_said_to_have_no_effect(write: Write) -> None:
    found = finding(nr.analyze(report(write, RUN, device=None), peak_source="device"), "option-without-effect")
    assert found is not None


def test_launch_with_more_sms_than_its_product_is_a_warning_whatever_the_peaks(write: Write) -> None:
    metrics = RUN | {"PKF": "6,912 inst/cycle", "device__attribute_multiprocessor_count": "120 "}
    found = finding(nr.analyze(report(write, metrics)), "device-doubtful")
    assert found is not None
    assert found.severity == Severity.WARNING
    assert "it ran on another product" in found.message


def test_recipe_does_not_claim_a_peak_that_is_not_the_reports(write: Write) -> None:
    path = report(write, RUN | {"PKF": "6,912 inst/cycle"})
    assert "; peak: " in row_of(nr.analyze(path))["work.fp32.recipe"]
    assert "; peak: " not in row_of(nr.analyze(path, peak_source="device"))["work.fp32.recipe"]


def test_peak_from_a_rounded_percentage_is_not_compared(write: Write) -> None:
    # 454000 byte / 20 us at 1 % of peak would be 2.27 TB/s of the 1.555 of this device.
    metrics = RUN | {"DB": "454,000 byte", "dram__bytes.sum.pct_of_peak_sustained_elapsed": "1.00 %"}
    assert finding(nr.analyze(report(write, metrics)), "ceilings-disagree") is None


def test_measured_ceiling_of_another_clock_in_use_is_a_warning(write: Write) -> None:
    analysis = nr.analyze(report(write, RUN), ceilings=write(MEASURED, "m.yaml"), peak_source="measured")
    found = finding(analysis, "ceilings-disagree")
    assert found is not None
    assert "fp32: the measured ceiling in use is of 1.41 GHz, and the SM clock of the run was 1 GHz" in found.message


def test_measured_ceiling_is_compared_at_the_same_clock_where_both_are_known(write: Write) -> None:
    # 18 TFLOP/s at 1.41 GHz are 12.77 at 1 GHz, 0.923 of 13.824
    analysis = nr.analyze(report(write, RUN | {"PKF": "6,912 inst/cycle"}), ceilings=write(MEASURED, "m.yaml"))
    assert finding(analysis, "ceilings-disagree") is None


def test_bandwidth_from_attributes_that_is_not_that_of_the_product_is_a_warning(write: Write) -> None:
    attributes = {
        "device__attribute_memory_clock_rate": "1,215,000 ",
        "device__attribute_global_memory_bus_width": "2,560 ",
    }
    found = finding(nr.analyze(report(write, RUN | attributes)), "ceilings-disagree")
    assert found is not None
    assert "the bandwidth from the attributes is 0.5 times that of the device table" in found.message


@pytest.mark.parametrize("options", [{"cc": 7.0}, {"device": 5}])
def test_argument_of_another_type_is_a_usage_error(write: Write, options: dict[str, Any]) -> None:
    with pytest.raises(nr.NcuRooflineError):
        nr.analyze(report(write, RUN), **options)


def test_map_without_tensor_paths_is_incomplete_while_the_tensor_pipe_works(write: Write) -> None:
    own = "schema: 1\nid: own\ntitle: t\ncompute_capabilities: ['8.0']\nextends: base\nsources: [a test]\n"
    path = report(write, RUN | {"TEN": "7 inst"})
    assert "tensor_state" in row_of(nr.analyze(path, map=write(own, "own.yaml")))
    assert not row_of(nr.analyze(path, map=write(own, "own.yaml")))["bound.complete"]


def test_map_of_another_architecture_is_said_to_have_no_effect(write: Write) -> None:
    own = "schema: 1\nid: own\ntitle: t\ncompute_capabilities: ['99.0']\nextends: base\nsources: [a test]\n"
    found = finding(nr.analyze(report(write, RUN), map=write(own, "own.yaml")), "option-without-effect")
    assert found is not None
    assert "no launch has compute capability 99.0" in found.message


def test_explain_shows_report_device_and_measured_ceilings_side_by_side(write: Write) -> None:
    path = report(write, RUN | {"PKF": "6,912 inst/cycle"})
    steps = nr.analyze(path, ceilings=write(MEASURED, "m.yaml")).explain(0, "fp32").subjects[0].steps
    beside = {step.name: (step.value, step.source, step.clock) for step in steps if step.source}
    assert beside == {
        "work.fp32.peak": (PER_CYCLE * 1e9, "report", 1e9),
        "ceilings.fp32.device.value": (PER_CYCLE * 1.41e9, "device", 1.41e9),
        "ceilings.fp32.measured.value": (18e12, "measured", 1.41e9),
    }


def test_explain_of_a_device_ceiling_puts_the_numbers_in(write: Write) -> None:
    steps = nr.analyze(report(write, RUN)).explain(0, "fp32").subjects[0].steps
    (peak,) = [step for step in steps if step.name == "work.fp32.peak"]
    assert peak.formula == "ceilings.fp32.device.value / ceilings.fp32.device.clock x clocks.sm"
    assert (peak.value, peak.source) == (PER_CYCLE * 1e9, "device")


def test_mix_is_explained_with_the_peak_that_it_came_from(write: Write) -> None:
    # Adds alone: half of the report's own peak of 13.824 TFLOP/s, whatever ceiling is in use.
    metrics = RUN | {"FADD": "500,000 inst", "FFMA": "0 inst", "PKF": "6,912 inst/cycle"}
    roofs = write(MEASURED, "m.yaml")
    analysis = nr.analyze(report(write, metrics), ceilings=roofs, peak_source="measured")
    (mix,) = [step for step in analysis.explain(0, "fp32").subjects[0].steps if step.source == "mix"]
    assert mix.value == pytest.approx(6.912e12)
    assert mix.formula.startswith("ceilings.fp32.report.value x ")
    assert mix.numbers.startswith("13824000000000 x ")


def test_mix_is_a_share_of_the_peak_that_it_came_from(write: Write) -> None:
    metrics = RUN | {"FADD": "50,000,000 inst", "FFMA": "0 inst", "PKF": "6,912 inst/cycle"}
    roofs = write(MEASURED, "m.yaml")
    for source in ("report", "measured"):
        found = finding(nr.analyze(report(write, metrics), ceilings=roofs, peak_source=source), "instruction-mix")
        assert found is not None
        assert "to 50% of its peak" in found.message


def test_sm_clock_of_zero_gives_no_ceiling(write: Write) -> None:
    found = json.loads(nr.analyze(report(write, RUN | {"SMHZ": "0.00 Ghz"})).to_json())["launches"][0]
    assert found["work"]["fp32"]["peak"] is None
    assert [entry["value"] for entry in found["ceilings"] if entry["of"] == "fp32"] == [PER_CYCLE * 1.41e9]


def test_measured_ceiling_is_listed_where_no_other_is_known(write: Write) -> None:
    analysis = nr.analyze(report(write, COUNTS, device=None), ceilings=write(MEASURED, "m.yaml"))
    listed = json.loads(analysis.to_json())["launches"][0]["ceilings"]
    assert {(entry["of"], entry["source"]) for entry in listed} == {("dram", "measured"), ("fp32", "measured")}


def test_bandwidth_of_the_device_table_that_is_in_use_is_not_listed_again(write: Write) -> None:
    listed = json.loads(nr.analyze(report(write, RUN)).to_json())["launches"][0]["ceilings"]
    assert [(entry["of"], entry["source"]) for entry in listed] == [("fp32", "device")]


@pytest.mark.parametrize("source", ["report", "device"])
def test_peak_from_a_rounded_percentage_is_compared_with_nothing(write: Write, source: str) -> None:
    metrics = RUN | {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.pct_of_peak_sustained_elapsed": "0.82 %"}
    roofs = write(MEASURED.replace("18 TFLOP/s, clock: 1.41 GHz", "9 TFLOP/s"), "m.yaml")
    path = report(write, metrics)
    assert finding(nr.analyze(path, peak_source=source), "ceilings-disagree") is None
    if source == "report":
        assert finding(nr.analyze(path, ceilings=roofs), "ceilings-disagree") is None
