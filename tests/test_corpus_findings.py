"""What is found in each real report, and why a knowledgeable reader would agree."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncu_roofline as nr

WHY = {
    "R101": "the output of ncu or of the application stands before the table",
    "R104": "the file prints n/a or (!) nan",
    "R106": "it is written with decimal commas",
    "R107": "ncu printed ==ERROR==",
    "R110": "its kernel names begin with unnamed>::",
    "R115": "a binary report that does not say how many launches it should have",
    "C405": "clocks in it differ by more than 10 %",
    "C406": "a table or an old report without the command line of the profiler",
    "C411": "it has launches of the streams 7 and 14",
    "M201": "counters of the picture were not asked for",
    "M202": "the tensor pipe was active, or the opcode histogram lists tensor work, without operation counters",
    "M203": "on 8.0 and 9.0 an active tensor pipe may be constant loads",
    "M204": "half-precision fused multiply-adds and nothing else beside FP32 work",
    "M205": "Pascal has no map",
    "M206": "neither CC nor device is in it",
    "M207": "some of the counters of an amount are there and some are not",
    "M208": "another measure of a tier saw more",
    "M209": "no peak was collected and the device is not named",
    "M210": "a summary merges launches",
    "M211": "no duration was collected",
    "M213": "tag-stage bytes on a chip of two L2 halves",
    "P302": "a launch under 10 us",
    "P303": "more additions and products than fused ones in what binds",
    "P308": "outputs of less than L2 holds, of which nothing reached DRAM",
    "P310": "DRAM moved more than L2, by less than the 64 bytes that a missing sector may fetch",
    "P312": "exponentials, of random numbers, of an activation or of a softmax",
    "R124": "a report of 2019 or 2020, whose grids are in threads",
    "R125": "an excerpt that says 128 blocks in one place and 512 in another",
    "P304": "L1 at 253 % of its peak in a kernel of 2 us",
}

FOUND = {
    "01-rep-sm120-ncu_report.ncu-rep": "R115 M201",
    "02-rep-sm80-a100_2025-04-21-77_06-MT.ncu-rep": "M204 M208 P312",
    "03-rep-sm90-rms_norm_triton.ncu-rep": "M201 M203",
    "04-text-sm90-silu-pytorch-ncu-report.txt": "R101 C406 M201",
    "05-details-old-smxx-bfs_adapt.default.profile.result.csv": "R101 C405 C406 M201 M206 M209 P302",
    "06-rep-sm86-profile.ncu-rep": "R115 M201",
    "07-rep-sm61-profile.nsight-cuprof-report": "M205 R115 R124 C406 M201 P302",
    "08-details-sm100-algo23_details.csv": "C406 M201",
    "09-rep-sm100-algo23_profile.ncu-rep": "M202 R115 M201",
    "10-raw-sm100-algo23_raw.csv": "M202 C406 M201",
    "12-details-sm120-k0001_ncu.details.csv": "R104 C406 M201 M209 P302",
    "13-details-sm120-k0001_ncu.metrics.csv": "R104 C406 M201 M209 P302",
    "14-details-sm120-k0001_ncu.section_SpeedOfLight_RooflineChart.csv": "C406 M201 M211",
    "15-text-sm89-ncu_report.txt": "R107 R101 R104 C406 M201 M211",
    "17-details-sm80-share_tile.csv": "R107 R101 C406 M201 M203 M204 M209 M213",
    "18-rep-sm75-naive.ncu-rep": "R115 M201",
    "19-details-sm100-ncu-details.csv": "R101 C406 M201 M209 P302 P304",
    "20-rep-sm89-my_report.ncu-rep": "R115 M201 P302",
    "21-rep-sm86-CuVectorAddDrv.ncu-rep": "R115 M201 P302",
    "22-rep-sm86-CuVectorAddDrv_2.ncu-rep": "R115 M201 P302",
    "23-rep-sm86-manual_nvtx.ncu-rep": "R115 C405 C411 M201",
    "24-details-sm120-saxpy.csv": "R101 R110 C406 M201 M209",
    "25-rep-sm75-profile_report_4_.ncu-rep": "R115 M207 P310",
    "27-details-sm121-gb10_cc121_dram_na.csv": "R101 R104 C406 M201",
    "28-details-sm89-locale_eu_windows_cc89.csv": "R125 R101 R106 C406 M201 M209",
    "29-summary-sm110-print_summary_per_kernel_thor_cc110.csv": "R110 C406 M201 M210 M211",
    "30-rep-sm75-PS1_10_profile.ncu-rep": "R115 M201",
    "31-rep-sm75-report.ncu-rep": "R115 M201 P310",
    "32-rep-sm86-profile.ncu-rep": "M202 R115 C406 M201 P310",
    "33-rep-sm75-profile.nsight-cuprof-report": "R115 R124 C406 M201 M211",
    "34-rep-sm90-profile.ncu-rep": "R115 M201 M208 M211 P302 P303 P308 P312",
    "35-details-sm80-ncu_report.csv": "R104 C406 M201 M209 M211 M213",
    "36-text-sm86-ncu_fma_memory.txt": "R101 C406 M201 M209 M211",
    "38-rep-sm75-profile.ncu-rep": "R115 M201 P302",
    "39-text-smxx-ncu.log": "R101 C406 M201 M206",
    "41-raw-sm100-flashinfer_paged_decode_gqa_bf16_b1_ctx4k_p64.ncu.csv": "R101 C406 M201 P302",
    "42-rep-sm86-output.ncu-rep": "R115 M201",
    "43-details-sm89-ncu_fused.csv": "R101 C406 M201 M209",
    "44-rep-sm75-3136_64_64_rtx2080ti_sgemm.ncu-rep": "R115 M201 P308",
    "45-text-smxx-ncu_log.txt": "R107 R101 C405 C406 M201 M206",
    "timings/t28-metrics.csv": "C406 M201 M209 M210 M211 P308",
    "timings/t29-timing.csv": "C406 M201 M210 M211",
    "timings/t30-baseline.ncu-rep": "R115 R124 C405 C406 M201 P302 P308 P310 P312",
    "timings/t32-cublaslt_ncu.log": "R101 C406 M201",
}
"""Codes of each file, looked at one by one."""


@pytest.mark.parametrize("name", FOUND)
def test_findings_of_a_real_report_are_those_that_were_looked_at(corpus: Path, name: str) -> None:
    assert [finding.code for finding in nr.analyze(corpus / name).finding_list] == FOUND[name].split()


def test_every_code_that_real_reports_have_is_justified() -> None:
    assert {code for codes in FOUND.values() for code in codes.split()} == set(WHY)


def test_no_real_report_has_an_error(corpus: Path) -> None:
    for name in FOUND:
        assert not [finding for finding in nr.analyze(corpus / name).finding_list if finding.severity.label == "error"]


def test_times_of_one_kernel_under_ncu_and_nsys_are_told_apart_with_both_causes(corpus: Path) -> None:
    analysis = nr.analyze(
        corpus / "09-rep-sm100-algo23_profile.ncu-rep", timing=corpus / "timings" / "t01-algo23_cuda_gpu_trace.csv"
    )
    (found,) = (finding for finding in analysis.finding_list if finding.code == "C404")
    # 22.592 / 11.649 = 1.94 and 1.965 / 1.099 = 1.79
    for part in ("22.59 us", "11.65 us", "ratio 1.94", "1.099 GHz", "1.965 GHz", "ratio 1.79", "flushed the caches"):
        assert part in found.message
