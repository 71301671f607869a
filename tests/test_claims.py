"""Claims of other people: supported, contradicted with the cause, or not decided with what would decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline.checks import Finding
from ncu_roofline.claims import read_claims
from ncu_roofline.cli import main
from ncu_roofline.errors import DataFileError
from tests.conftest import Write
from tests.support import details, launch
from tests.test_findings import CLEAN, SUMMARY

FILLED = CLEAN | {"T": "20 us", "DB": "10 Mbyte", "l1tex__t_bytes.sum": "20 Mbyte",
                  "lts__t_sectors_srcunit_tex.sum": "500,000 sector", "FFMA": "5,000,000 inst"}  # fmt: skip
# DRAM 10e6 byte / 20e-6 s = 0.5e12 byte/s of 1280 byte/cycle x 1 GHz = 1.28e12; L2 500000 x 32 = 16e6 byte, 0.8e12
# byte/s of 160 x 32 x 1e9 = 5.12e12; FP32 2 x 5e6 = 10e6 FLOP, 0.5e12 FLOP/s of 2 x 6912 x 1e9 = 13.824e12.


def judged(write: Write, *claims: str, report: str = "", **options: str) -> list[Finding]:
    text = report or details(*launch(FILLED))
    page = "schema: 1\nclaims:\n" + "".join(f"  - {{{claim}}}\n" for claim in claims)
    analysis = nr.analyze(write(text), claims=write(page, "claims.yaml"), **options)  # type: ignore[arg-type]
    return [found for found in analysis.finding_list if found.code.startswith("K6")]


@pytest.mark.parametrize(
    "claim",
    [
        "quantity: time, value: 20 us",
        "quantity: time, value: 0.021 ms",
        "quantity: traffic.dram.bytes, value: 10 MB",
        "quantity: traffic.dram.rate, value: 500 GB/s",
        "quantity: traffic.dram.rate, value: 0.45 TB/s, is: at least",
        "quantity: traffic.dram.rate, value: 1 TB/s, is: at most",
        "quantity: traffic.dram.share, value: 39 %",
        "quantity: traffic.l2.bytes, value: 15.26 MiB",
        "quantity: traffic.dram.intensity, value: 1 FLOP/byte",
        "quantity: work.fp32.count, value: 10 MFLOP",
        "quantity: work.fp32.peak, value: 13.8 TFLOP/s",
        "quantity: clocks.sm, value: 1 GHz",
        "quantity: bound.fraction, value: 0.39",
        "quantity: bound.by, value: dram",
        "quantity: bound.by, value: memory",
        "quantity: flop.rate, value: 0.5 TFLOP/s",
        "kernel: ^k$, grid: [512, 1, 1], block: [256, 1, 1], quantity: time, value: 20 us",
        "quantity: time, value: 25 us, tolerance: 30 %",
    ],
)
def test_claim_that_agrees_with_the_report_is_supported(write: Write, claim: str) -> None:
    (found,) = judged(write, claim)
    assert (found.code, found.launches) == ("K601", (0,))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("quantity: traffic.dram.rate, value: 0.8 TB/s", "traffic.l2.rate is 800.0 GB/s"),
        ("quantity: traffic.dram.bytes, value: 10 MiB, tolerance: 1 %", "MB against MiB"),
        ("quantity: work.fp32.count, value: 5 MFLOP", "a fused multiply-add counted as one operation"),
        ("quantity: work.fp32.peak, value: 27.65 TFLOP/s", "counted as one operation instead of two"),
        ("quantity: time, value: 20 ns", "factor 1000"),
        ("quantity: bound.by, value: compute", "measured bound.by dram"),
        ("quantity: bound.by, value: l2", "measured bound.by dram"),
        ("quantity: bound.fraction, value: 85 %, is: at least", "measured 39.1%"),
        ("quantity: time, value: 10 us, is: at most", "measured 20.00 us"),
    ],
)
def test_claim_that_does_not_agree_is_contradicted_with_both_numbers_and_the_cause(
    write: Write, claim: str, said: str
) -> None:
    (found,) = judged(write, claim)
    assert (found.code, found.severity.label) == ("K602", "error")
    assert said in found.message


def test_claim_at_the_highest_clock_is_named_as_such(write: Write) -> None:
    report = details(*launch(FILLED | {"device__attribute_clock_rate": "1,410,000 "}))
    (found,) = judged(write, "quantity: work.fp32.rate, value: 0.705 TFLOP/s", report=report)
    assert "ratio of the highest SM clock" in found.message


def test_counters_that_were_not_collected_decide_nothing_and_the_command_is_given(write: Write) -> None:
    (found,) = judged(write, "quantity: traffic.dram.rate, value: 1 TB/s", report=details("0|k|T|us|20"))
    assert (found.code, found.severity.label) == ("K603", "warning")
    assert "traffic.dram.rate is not known" in found.message
    assert "dram__bytes.sum" in found.help


def test_kernel_that_is_not_in_the_report_decides_nothing(write: Write) -> None:
    (found,) = judged(write, "kernel: absent, quantity: time, value: 20 us")
    assert (found.code, found.launches) == ("K603", ())


@pytest.mark.parametrize(("value", "code"), [("9 MFLOP", "K602"), ("20 MFLOP", "K603")])
def test_lower_bound_contradicts_less_and_does_not_decide_more(write: Write, value: str, code: str) -> None:
    part = {name: text for name, text in FILLED.items() if name not in ("FADD", "HADD")}
    (found,) = judged(write, f"quantity: flop.count, value: {value}", report=details(*launch(part)))
    assert found.code == code


def test_memory_bound_is_not_decided_while_something_else_may_bind(write: Write) -> None:
    part = {name: text for name, text in FILLED.items() if not name.startswith("l1tex")}
    (found,) = judged(write, "quantity: bound.by, value: memory", report=details(*launch(part)))
    assert found.code == "K603"
    assert "not everything that may bind was collected" in found.message


def test_claim_of_warm_caches_is_not_held_against_cold_ones(write: Write) -> None:
    warm = "quantity: traffic.dram.bytes, value: 1 MB, conditions: cache=none"
    (unknown,) = judged(write, warm)
    (cold,) = judged(write, warm, conditions="cache=all,clock=base")
    (same,) = judged(write, warm, conditions="cache=none,clock=base")
    assert [found.code for found in (unknown, cold, same)] == ["K603", "K603", "K602"]
    assert "the report was taken under cache=all" in cold.message


def test_work_depends_on_no_condition(write: Write) -> None:
    (found,) = judged(write, 'quantity: work.fp32.count, value: 10 MFLOP, conditions: "cache=none,clock=boost"')
    assert found.code == "K601"


def test_launches_are_taken_together_as_sums_over_sums(write: Write) -> None:
    # 10e6 byte in 20 us and 10e6 byte in 60 us: 20e6 / 80e-6 = 0.25e12, while the mean of the rates is 0.333e12.
    rows = [row for n, time in enumerate(("20 us", "60 us")) for row in launch(FILLED | {"T": time}, number=n)]
    first, second = judged(
        write, "quantity: traffic.dram.rate, value: 0.25 TB/s", "quantity: time, value: 40 us", report=details(*rows)
    )
    assert (first.code, second.code) == ("K601", "K601")
    assert "over 2 launches (20.00 us to 60.00 us)" in second.message


def test_order_of_launches_changes_no_verdict(write: Write) -> None:
    claims = ("quantity: traffic.dram.rate, value: 0.25 TB/s", "quantity: bound.by, value: memory")
    parts = [launch(FILLED | {"T": time}, number=n) for n, time in enumerate(("20 us", "60 us", "40 us"))]
    there = judged(write, *claims, report=details(*(row for part in parts for row in part)))
    back = judged(write, *claims, report=details(*(row for part in reversed(parts) for row in part)))
    assert [(found.code, found.message) for found in there] == [(found.code, found.message) for found in back]


def test_claims_on_the_same_kernel_under_ncu_and_in_the_application_are_told_apart(corpus: Path, write: Write) -> None:
    claims = write(
        "claims:\n"
        "  - {quantity: time, value: 11.65 us, conditions: cache=none}\n"
        "  - {quantity: time, value: 22.6 us, conditions: 'cache=all,clock=base'}\n"
        "  - {quantity: time, value: 11.65 us, says: it takes 11.65 us}\n",
        "claims.yaml",
    )
    analysis = nr.analyze(
        corpus / "09-rep-sm100-algo23_profile.ncu-rep",
        timing=corpus / "timings" / "t01-algo23_cuda_gpu_trace.csv",
        claims=claims,
    )
    found = {f.message.split('"')[0]: f for f in analysis.finding_list if f.code.startswith("K6")}
    codes = [found[f"{claims}:{line}: "].code for line in (2, 3, 4)]
    assert codes == ["K601", "K601", "K602"]
    assert "external.time is 11.65 us" in found[f"{claims}:4: "].message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("claims: []", "at least one claim"),
        ("claims: [{value: 3 us}]", "missing key 'quantity'"),
        ("claims: [{quantity: time}]", "missing key 'value'"),
        ("claims: [{quantity: speed, value: 3 us}]", "'speed' is no quantity; known are time"),
        ("claims: [{quantity: work.fp31.rate, value: 3}]", "is no quantity"),
        ("claims: [{quantity: work.fp32.bytes, value: 3}]", "is no quantity"),
        ("claims: [{quantity: time, value: 3 GB}]", "is in byte, and s is needed"),
        ("claims: [{quantity: work.fp32.rate, value: 3 TFLOP}]", "is in FLOP, and FLOP/s is needed"),
        ("claims: [{quantity: traffic.dram.rate, value: 3 TFLOP/s}]", "is in FLOP/s, and byte/s is needed"),
        ("claims: [{quantity: bound.by, value: disk}]", "is no tier or path"),
        ("claims: [{quantity: time, value: 3 us, is: exactly}]", "none of about"),
        ("claims: [{quantity: time, value: 3 us, kernel: '('}]", "is not a regular expression"),
        ("claims: [{quantity: time, value: 3 us, grid: [1, 2]}]", "must be three numbers"),
        ("claims: [{quantity: time, value: 3 us, conditions: cache=warm}]", "cache is one of all, none"),
        ("claims: [{quantity: time, value: 3 us, kernal: k}]", "unknown key"),
        ("schema: 2\nclaims: [{quantity: time, value: 3 us}]", "this version reads schema 1"),
    ],
)
def test_file_of_claims_is_read_strictly(write: Write, text: str, said: str) -> None:
    with pytest.raises(DataFileError) as caught:
        read_claims(Path(write(text, "claims.yaml")))
    assert said in str(caught.value)


def test_all_problems_of_a_file_are_reported_at_once(write: Write) -> None:
    path = write("claims:\n  - {quantity: speed, value: 1}\n  - {quantity: time, value: 3 GB}\n", "claims.yaml")
    with pytest.raises(DataFileError) as caught:
        read_claims(Path(path))
    assert [problem.line for problem in caught.value.problems] == [2, 3]


def test_contradicted_claim_fails_the_check_and_a_supported_one_does_not(write: Write) -> None:
    report = write(details(*launch(FILLED)))
    for value, code in (("20 us", 0), ("30 us", 1)):
        claims = write(f"claims: [{{quantity: time, value: {value}}}]", "claims.yaml")
        assert CliRunner().invoke(main, ["check", report, "--claims", claims]).exit_code == code
        found = CliRunner().invoke(main, ["analyze", report, "--claims", claims, "--format", "json"])
        assert found.exit_code == code
        assert [f["code"] for f in json.loads(found.stdout)["findings"] if f["code"][0] == "K"] == [f"K60{code + 1}"]


# What reviewers found.


def launches_of(*changes: dict[str, str], kernels: str = "kkkkkk") -> str:
    rows = [row for n, change in enumerate(changes) for row in launch(FILLED | change, number=n, kernel=kernels[n])]
    return details(*rows)


def test_tensor_work_that_is_known_to_be_missing_leaves_bounds(write: Write) -> None:
    report = details(*launch(FILLED | {"TEN": "7 inst"}), cc="7.0")
    fraction, flop = judged(
        write,
        "quantity: bound.fraction, value: 39 %",
        "quantity: flop.count, value: 1 GFLOP, is: at least",
        report=report,
    )
    assert (fraction.code, flop.code) == ("K603", "K603")


def test_flop_in_counts_and_in_rates_are_not_added_up(write: Write) -> None:
    mixed = {name: text for name, text in FILLED.items() if name not in ("T", "FFMA")}
    mixed |= {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.per_second": "2 Ginst/s", "DFMA": "100 inst"}
    for claim in ("quantity: flop.count, value: 200 FLOP", "quantity: flop.rate, value: 4 GFLOP/s"):
        (found,) = judged(write, claim, report=details(*launch(mixed)))
        assert found.code == "K603"


def test_clocks_of_several_launches_are_decided_by_their_range(write: Write) -> None:
    report = launches_of({"SMHZ": "1 Ghz"}, {"SMHZ": "1.001 Ghz"})
    inside, outside, between = judged(
        write, "quantity: clocks.sm, value: 1 GHz", "quantity: clocks.sm, value: 2 GHz",
        "quantity: clocks.sm, value: 1.0005 GHz, tolerance: 0.01 %", report=report,
    )  # fmt: skip
    # Contradicted ones come first.
    assert {found.code: found.message.split('"')[1] for found in (inside, outside, between)} == {
        "K602": "clocks.sm is 2 GHz", "K603": "clocks.sm is 1.0005 GHz", "K601": "clocks.sm is 1 GHz",
    }  # fmt: skip


def test_launches_of_several_devices_have_no_common_value(write: Write) -> None:
    report = details(*launch(FILLED)) + details(*launch(FILLED, number=1), cc="9.0")
    (found,) = judged(write, "quantity: traffic.dram.rate, value: 500 GB/s", report=report)
    assert (found.code, "several devices" in found.message) == ("K603", True)


def test_intensity_is_a_sum_over_a_sum_also_where_a_launch_moved_nothing(write: Write) -> None:
    # 20e6 FLOP over 10e6 byte
    (found,) = judged(
        write, "quantity: traffic.dram.intensity, value: 2 FLOP/byte", report=launches_of({}, {"DB": "0 byte"})
    )
    assert found.code == "K601"


def test_path_that_did_nothing_does_not_bind(write: Write) -> None:
    for name in ("fp64", "tensor.fp16.acc32"):
        (found,) = judged(write, f"quantity: bound.by, value: {name}")
        assert found.code == "K602"


def test_idle_tensor_pipe_did_no_tensor_work(write: Write) -> None:
    (found,) = judged(write, "quantity: work.tensor.bf16.rate, value: 100 TFLOP/s, is: at least")
    assert found.code == "K602"


def test_upper_bound_of_the_flop_contradicts_more(write: Write) -> None:
    # FP16 fused multiply-adds alone are an upper bound: between 10e6 and 10e6 + 4 x 1000 FLOP.
    report = details(*launch(FILLED | {"HFMA": "1,000 inst"}))
    more, same = judged(
        write, "quantity: flop.count, value: 20 MFLOP", "quantity: flop.count, value: 10 MFLOP", report=report
    )
    assert (more.code, same.code) == ("K602", "K601")


def test_time_from_elsewhere_is_that_of_one_invocation(write: Write) -> None:
    times = write("kernel,grid,block,time_us,cache_control\nk,1x1x1,1x1x1,2.0,none\n", "times.csv")
    (found,) = judged(write, "quantity: time, value: 2 us, conditions: cache=none", report=SUMMARY, timing=times)
    assert found.code == "K601"


def test_time_of_another_device_supports_nothing(write: Write) -> None:
    report = details(*launch(FILLED | {"device__attribute_display_name": "A100-SXM4-40GB"}))
    times = write("kernel,grid,block,time_us,cache_control,device\nk,512,256,5,none,NVIDIA B200\n", "times.csv")
    (found,) = judged(write, "quantity: time, value: 5 us, conditions: cache=none", report=report, timing=times)
    assert found.code == "K603"


@pytest.mark.parametrize(
    ("claim", "never"),
    [
        ("quantity: time, value: 40 us", "multiply-add"),
        ("quantity: time, value: 160 us", "bits"),
        ("quantity: clocks.sm, value: 2 GHz", "sparse"),
        ("quantity: work.fp32.count, value: 5 MFLOP", "sparse"),
    ],
)
def test_cause_is_one_that_the_quantity_can_have(write: Write, claim: str, never: str) -> None:
    (found,) = judged(write, claim)
    assert found.code == "K602"
    assert never not in found.message


def test_sum_over_the_launches_is_named(write: Write) -> None:
    (found,) = judged(write, "quantity: time, value: 60 us", report=launches_of({}, {}, {}))
    assert "the sum over the 3 launches" in found.message


@pytest.mark.parametrize(
    ("quantity", "counter"),
    [("hit_rate.l2", "lts__t_sector_hit_rate.pct"), ("utilization.sm__throughput", "sm__throughput.avg.pct")],
)
def test_help_collects_what_the_claim_is_about(write: Write, quantity: str, counter: str) -> None:
    (found,) = judged(write, f"quantity: {quantity}, value: 50 %")
    assert (found.code, counter in found.help) == ("K603", True)


def test_throughput_that_does_not_exist_is_told(write: Write) -> None:
    (found,) = judged(write, "quantity: utilization.sm__troughput, value: 50 %")
    assert "known are" in found.help


def test_claims_and_filters_of_launches_do_not_go_together(write: Write) -> None:
    claims = write("claims: [{quantity: time, value: 20 us}]", "claims.yaml")
    result = CliRunner().invoke(main, ["check", write(launches_of({}, {})), "--claims", claims, "--launch", "0"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a claim names its own" in result.stderr


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("quantity: time, value: 437", "needs its unit"),
        ("quantity: time, value: 1 ms, tolerance: 2", "write 2 % as"),
        ("quantity: bound.by, value: dram, is: at least", "neither more nor less"),
        ("quantity: bound.by, value: int", "no tier or path that may bind"),
        ("quantity: time, value: 1 ms, conditions: replay=range", "conditions of a claim are cache and clock"),
        ("quantity: time, value: 1 ms, kernel: 'a{99999999999}'", "is not a regular expression"),
    ],
)
def test_more_claims_that_are_refused(write: Write, claim: str, said: str) -> None:
    with pytest.raises(DataFileError) as caught:
        read_claims(Path(write(f"claims: [{{{claim}}}]", "claims.yaml")))
    assert said in str(caught.value)


def test_claim_shows_no_kernel_name_that_was_to_go(write: Write) -> None:
    report = write(details(*launch(FILLED, kernel="secretattn(float *)")))
    claims = write("claims: [{quantity: time, value: 1 us, says: secretattn is fast}]", "claims.yaml")
    result = CliRunner().invoke(main, ["check", report, "--claims", claims, "--scrub-kernels"])
    assert "kernel-0 is fast" in result.stdout
    assert "secretattn" not in result.output


def test_accepted_claim_accepts_no_other(write: Write, tmp_path: Path) -> None:
    report = write(details(*launch(FILLED)))
    one, two = (write(f"claims: [{{quantity: time, value: {value} us}}]", f"{value}.yaml") for value in (30, 40))
    accepted = tmp_path / "accepted.yaml"
    CliRunner().invoke(main, ["check", report, "--claims", one, "--select", "K", "--write-baseline", str(accepted)])
    accepted.write_text(accepted.read_text().replace("reason: ''", "reason: known"))
    for claims, code in ((one, 0), (two, 1)):
        run = ["check", report, "--claims", claims, "--select", "K", "--baseline", str(accepted)]
        assert CliRunner().invoke(main, run).exit_code == code
