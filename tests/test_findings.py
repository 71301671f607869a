"""Every rule fires on its case, stays silent on a clean one, and is documented."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from ncu_roofline.checks import RULES
from ncu_roofline.vocabulary import Severity
from tests import binary_report
from tests.conftest import Write
from tests.support import H11, ROOT, cells, details, finding, launch, quoted, raw_page

CLEAN = {
    "T": "20 us", "DB": "1,000 byte", "PKD": "1,280 byte/cycle", "DHZ": "1 Ghz", "SMHZ": "1 Ghz", "TEN": "0 inst",
    "lts__t_sectors_srcunit_tex.sum": "40 sector", "lts__t_sectors_srcunit_tex.sum.peak_sustained": "160 sector/cycle",
    "lts__cycles_elapsed.avg.per_second": "1 Ghz",
    "l1tex__t_bytes.sum": "1,000 byte", "l1tex__t_bytes.sum.peak_sustained": "13,824 byte/cycle",
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "FADD", "FMUL", "HADD", "HMUL", "HFMA"), "0 inst"),
    "FFMA": "5,000 inst", "PKF": "6,912 inst/cycle",
}  # fmt: skip
"""A launch to which no rule has anything to say."""

NAME = "device__attribute_display_name"
TMA_LOAD = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"

SUMMARY = (
    '"Process ID","Kernel Name","Block Size","Grid Size","Invocations","Section Name","Metric Name","Metric Unit",'
    '"Minimum","Maximum","Average"\n'
    '"1","k","(1, 1, 1)","(1, 1, 1)","14","x","gpu__time_duration.sum","us","1","3","2"\n'
)

SESSION_OF_ANOTHER = (
    'Launch Settings\n"Launch Attribute","Value"\n"Profiler Command Line","ncu --clock-control none ./app"\n\n'
    'Processes\n"Process Id","Process Name"\n"99","/opt/app"\n'
)

TIMED = ("C403", "C404", "T501", "T502", "T503", "T504", "T505")
TIMES = {"T505": "kernel,time_us,device\nk,9,NVIDIA B200\n"}
TRACE = "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n" + "1,9,512,1,1,256,1,1,twice\n" * 2


def page(changes: dict[str, str], *, gone: tuple[str, ...] = (), cc: str = "8.0") -> str:
    metrics = {name: value for name, value in (CLEAN | changes).items() if name not in gone}
    return details(*launch(metrics), cc=cc)


def without_architecture() -> str:
    rows = [cells(row) for row in launch(CLEAN)]
    return "\n".join(quoted(row) for row in [H11, *([*row[:7], *row[11:]] for row in rows)])


FIRING: dict[str, Callable[[], str | bytes]] = {
    "R101": lambda: "==PROF== Connected\n" + page({}),
    "R102": lambda: page({}) + "epoch 1 " + quoted(cells("1|k|T|ns|5")) + "\n",
    "R103": lambda: page({}) + quoted(cells("0|k|T|us|30")) + "\n",
    "R104": lambda: page({"dram__bytes_read.sum": "n/a"}),
    "R105": lambda: page({"dram__bytes_read.sum": "many byte"}),
    "R106": lambda: details("0|k|T|ns|20.000", "0|k|DB|byte|33.554.432"),
    "R107": lambda: '==ERROR== Failed to profile "k2" in process 1\n' + page({}),
    "R108": lambda: page({"dram__bytes_read.sum": "-5 byte"}),
    "R109": lambda: "==PROF== Creating report from application replay data: 0%....100%\n" + page({}),
    "R110": lambda: page({}).replace('"k"', '"unnamed>::k(float *)"'),
    "R111": lambda: page({}),
    "R112": lambda: details("0|k|gpu__time_duration||20,000", "0|k|dram__read_bytes.sum||4,096", cc="6.1"),
    "R113": lambda: page({NAME: "A100-SXM4-40GB"}),
    "R114": lambda: binary_report.of_launches(2)[:-1],
    "R115": lambda: binary_report.of_launches(2),
    "R121": lambda: page({"DR": "5 inst"}),
    "R122": lambda: pandas.read_csv(io.StringIO(page({}))).to_csv(),
    "R123": lambda: page({}),
    "R124": lambda: details(*launch(CLEAN | {"launch__grid_size": "2 "}), grid="(512, 1, 1)"),
    "R125": lambda: details(*launch(CLEAN | {"launch__grid_size": "3 "}), grid="(512, 1, 1)"),
    "R126": lambda: details(*launch(CLEAN), *launch(CLEAN, number=1)[:5]),
    "R127": lambda: page({}).replace('"8.0"', '"eight"'),
    "M218": lambda: page({"dram__bytes.avg": "100 byte"}, gone=("DB",)),
    "P310": lambda: page({"DB": "5,000,000 byte"}),
    "P311": lambda: page(
        {"lts__t_sector_hit_rate.pct": "10 %", "lts__t_sectors_srcunit_tex.sum": "320,000 sector", "DB": "1,000 byte"}
    ),
    "P312": lambda: page({"sm__inst_executed_pipe_xu.sum": "100 inst"}),
    "X805": lambda: (
        SUMMARY
        + SUMMARY.splitlines()[1].replace('"gpu__time_duration.sum","us"', '"dram__bytes.sum.per_second","byte/s"')
        + "\n"
    ),
    "R117": lambda: '==PROF== Profiling "a" - 0: 100% - 1 pass\n==PROF== Profiling "b" - 1: 100%\n' + page({}),
    "C401": lambda: page({}),
    "C402": lambda: page({}),
    "C403": lambda: page({}),
    "R118": lambda: page({"gpc__cycles_elapsed.max": "20,000 cycle", "gpc__cycles_elapsed.avg.per_second": "1 Mhz"}),
    "R119": lambda: page({"PKD": "1,117.5871 byte/cycle"}),
    "R120": lambda: page({"DR": "0.01 Mbyte"}, gone=("DB",)),
    "C404": lambda: page({}),
    "C405": lambda: details(*(row for n in (0, 1) for row in launch(CLEAN | {"SMHZ": f"{1 + n / 5} Ghz"}, number=n))),
    "C406": lambda: page({}),
    "C407": lambda: page({}),
    "C408": lambda: details(*launch(CLEAN)) + details(*launch(CLEAN), device="1"),
    "P306": lambda: page({"lts__t_sector_hit_rate.pct": "100.02 %"}),
    "T501": lambda: page({}),
    "T502": lambda: page({}, cc="9.0").replace('"k"', '"other"'),
    "T504": lambda: page({}).replace('"k"', '"twice"'),
    "T503": lambda: page({}).replace('"k"', '"void k<4>(int)"'),
    "M201": lambda: page({}, gone=("DB",)),
    "M202": lambda: page({"TEN": "7 inst"}),
    "M203": lambda: page({"TEN": "7 inst", "HFMA": "224 inst"}),
    "M204": lambda: page({"HFMA": "8 inst"}),
    "M205": lambda: page({}, cc="13.7"),
    "M206": without_architecture,
    "M207": lambda: page({}, gone=("FADD",)),
    "M208": lambda: page({"lts__t_bytes.sum": "9,000 byte"}),
    "M209": lambda: page({}, gone=("PKD",)),
    "M210": lambda: SUMMARY,
    "M211": lambda: page({}, gone=("T",)),
    "M212": lambda: page({TMA_LOAD: "4,096 byte"}, cc="9.0"),
    "M213": lambda: page(
        {"lts__t_bytes.sum": "1,280 byte", "lts__t_bytes.sum.peak_sustained": "5,120 byte/cycle"},
        gone=("lts__t_sectors_srcunit_tex.sum",),
    ),
    "M214": lambda: page({NAME: "A100"}, gone=("PKF",)),
    "M215": lambda: page({NAME: "A100-SXM4-40GB", "PKF": "9,999 inst/cycle"}),
    "M216": lambda: page({}),
    "P301": lambda: page({"DB": "30,000,000 byte"}),
    "P302": lambda: page({"T": "9.9 us"}),
    "P303": lambda: page({"FADD": "500,000 inst", "FFMA": "0 inst"}),
    "P304": lambda: page({"sm__throughput.avg.pct_of_peak_sustained_elapsed": "171.46 %"}),
    "P307": lambda: page(
        {"lts__t_sector_hit_rate.pct": "99 %", "lts__t_bytes.sum": "1,280 byte", "DR": "3,000,000 byte"}
    ),
    "P308": lambda: page({"lts__t_sectors_srcunit_tex_op_write.sum": "40 sector", "DW": "1,000 byte"}),
    "P309": lambda: page({"sm__inst_executed.sum": "10 inst"}),
    "C409": lambda: page({}).replace('"k"', '"Graph 3"'),
    "C410": lambda: page({"launch__uses_green_context": "1 "}),
    "C411": lambda: (
        details(*launch(CLEAN))
        + quoted([cell if n != 6 else "13" for n, cell in enumerate(cells("1|k|T|us|20"))])
        + "\n"
    ),
    "C412": lambda: page({NAME: "A100-20C"}),
    "T505": lambda: page({NAME: "A100-SXM4-40GB"}),
    "M217": lambda: page({"DB": "10 Mbyte", "dram__bytes.sum.pct_of_peak_sustained_elapsed": "39.06 %"}, gone=("PKD",)),
    "X801": lambda: page({}),
    "X802": lambda: page({}),
    "X803": lambda: page({}),
    "X804": lambda: (
        SUMMARY
        + SUMMARY.splitlines()[1].replace(
            '"gpu__time_duration.sum","us"', '"sm__throughput.avg.pct_of_peak_sustained_elapsed","%"'
        )
        + "\n"
    ),
    "K601": lambda: page({}),
    "K602": lambda: page({}),
    "K603": lambda: page({}),
    "L701": lambda: page({}),
    "L702": lambda: page({}),
    "L703": lambda: page({}),
    "L704": lambda: page({}),
    "L705": lambda: page({}),
    "P305": lambda: page({"DR": "600 byte", "DW": "900 byte"}),
}


CLAIMED = {"K601": "20 us", "K602": "30 us", "K603": "20 us, kernel: absent"}
# The clean launch does 2 x 5000 FLOP and moves 1000 byte in DRAM.
EXPECTED = {
    "L701": "work:flop=9000", "L702": "work:flop=20000", "L703": "copy:bytes=9000", "L704": "work:flop=10000,read=100",
    "L705": "work:flop=10000",
}  # fmt: skip


def codes(analysis: Analysis) -> set[str]:
    return {found.code for found in analysis.finding_list}


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_rule_fires_on_its_case(write: Write, code: str) -> None:
    path = Path(write(FIRING[code]()))
    if code == "R111":
        (path.parent / "notes.txt").write_text("no report")
        path = path.parent
    if code == "R123":
        (path.parent / "pointer.ncu-rep").write_text("version https://git-lfs.github.com/spec/v1")
        path = path.parent
    if code == "C401":
        (path.parent / "report_session.csv").write_text(SESSION_OF_ANOTHER)
    ceilings = path.parent / "roofs.yaml"
    ceilings.write_text("schema: 1\nsources: [a stream benchmark]\nceilings: {dram: {value: 1.2 TB/s}}\n")
    device = "A30" if code == "R113" else None
    roofs = ceilings if code in ("M216", "R119") else None
    inputs = [path, path] if code == "C402" else [path]
    times = path.parent / "times.csv"
    (path.parent / "trace.csv").write_text(TRACE)
    times.write_text(TIMES.get(code, "kernel,grid,block,time_us\nk,512,256,10\n"))
    if code.startswith("X") and code not in ("X804", "X805"):
        again = path.parent / "again.csv"
        again.write_text(path.read_text() if code == "X801" else path.read_text().replace('"k"', '"other"'))
        inputs.append(again)
    claims = path.parent / "claims.yaml"
    claims.write_text(f"claims: [{{quantity: time, value: {CLAIMED.get(code)}}}]")
    analysis = nr.analyze(
        *inputs, ceilings=roofs, device=device, partial=code == "R114", merge=code == "C402",
        timing={"T504": path.with_name("trace.csv")}.get(code, times) if code in TIMED else None,
        conditions="cache=all,clock=base,replay=application" if code == "C407" else None, aggregate=code == "X803",
        claims=claims if code in CLAIMED else None, expect=EXPECTED.get(code, ()),
    )  # fmt: skip
    assert code in codes(analysis)


def test_no_rule_fires_on_a_clean_report(write: Write) -> None:
    analysis = nr.analyze(write(page({})), conditions="cache=all,clock=base")
    assert [(f.code, f.message) for f in analysis.finding_list] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule_is_documented_with_what_and_why(rule: object) -> None:
    doc = getattr(rule, "doc", "")
    assert len(doc.split()) >= 10


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES) == len({rule.name for rule in RULES})


def test_fixed_names_of_the_contract_are_there() -> None:
    fixed = {"unknown-architecture", "architecture-not-stated", "counter-not-collected", "tensor-not-counted",
             "phantom-fp16", "above-ceiling", "too-short"}  # fmt: skip
    assert fixed <= {rule.name for rule in RULES}


def test_rule_whose_inputs_are_absent_is_skipped_and_not_passed(write: Write) -> None:
    analysis = nr.analyze(write(details("0|k|DB|byte|5")))
    skipped = {rule.code: rule.needs for rule in analysis.skipped_rules}
    assert skipped["P302"] == ("time",)
    assert "P301" in skipped


def test_finding_lists_the_launches_that_it_hits(write: Write) -> None:
    rows = [row for n in range(3) for row in launch(CLEAN | ({"T": "5 us"} if n != 1 else {}), number=n)]
    found = finding(nr.analyze(write(details(*rows))), "too-short")
    assert found is not None
    assert found.launches == (0, 2)


def test_launch_of_exactly_ten_microseconds_is_long_enough(write: Write) -> None:
    assert finding(nr.analyze(write(page({"T": "10 us"}))), "too-short") is None


# 1280 byte/cycle at 1 GHz in 20 us: 25 600 000 byte are 100 % of the ceiling.
@pytest.mark.parametrize(
    ("bytes_moved", "severity"),
    [
        ("25,600,000", None),
        ("25,700,000", Severity.NOTE),
        ("26,112,000", Severity.NOTE),
        ("26,200,000", Severity.WARNING),
        ("28,160,000", Severity.WARNING),
        ("28,200,000", Severity.ERROR),
    ],
)
def test_severity_of_an_excess_depends_on_its_size(write: Write, bytes_moved: str, severity: Severity | None) -> None:
    found = finding(nr.analyze(write(page({"DB": f"{bytes_moved} byte"}))), "above-ceiling")
    assert (found.severity if found else None) == severity


def test_excesses_of_different_size_are_reported_apart(write: Write) -> None:
    rows = [
        row for n, b in enumerate(("25,700,000", "99,000,000")) for row in launch(CLEAN | {"DB": f"{b} byte"}, number=n)
    ]
    found = [f for f in nr.analyze(write(details(*rows))).finding_list if f.name == "above-ceiling"]
    assert [(f.severity, f.launches) for f in found] == [(Severity.ERROR, (1,)), (Severity.NOTE, (0,))]


def test_value_above_its_ceiling_is_not_clipped(write: Write) -> None:
    analysis = nr.analyze(write(page({"DB": "51,200,000 byte"})))
    assert analysis.launches["bound.fraction"][0] == pytest.approx(2.0)


def test_missing_counters_come_with_the_command_that_collects_them(write: Write) -> None:
    found = finding(nr.analyze(write(page({}, gone=("DB", "PKD")))), "counter-not-collected")
    assert found is not None
    assert found.severity == Severity.NOTE
    assert "ncu --metrics" in found.help
    for metric in ("gpu__time_duration.sum", "dram__bytes.sum", "dram__bytes.sum.peak_sustained"):
        assert metric in found.help


def test_collected_command_really_completes_the_picture(write: Write) -> None:
    """Every metric of the suggested command, answered, leaves nothing to collect."""
    found = finding(nr.analyze(write(details("0|k|T|us|20", cc="9.0"))), "counter-not-collected")
    assert found is not None
    metrics = found.help.split("--metrics ")[1].split(" ")[0].split(",")

    def unit(metric: str) -> tuple[str, list[str]]:
        if "time_duration" in metric:
            return "us", ["20"]
        if "bytes" in metric:
            return ("byte/cycle" if metric.endswith("peak_sustained") else "byte"), ["100"]
        return ("hz", ["1000000000"]) if metric.endswith("per_second") else ("", ["100"])

    answered = nr.analyze(write(raw_page({metric: unit(metric) for metric in metrics}, cc="9.0"), "answered.csv"))
    assert finding(answered, "counter-not-collected") is None
    assert finding(answered, "ceiling-not-known") is None
    assert answered.columns["bound.complete"].all()


@pytest.mark.parametrize(
    ("name", "changes", "gone"),
    [
        # Reads of L2 only, and a measure that has no writes.
        (
            "dram-beyond-l2",
            {"DB": "5,000,000 byte", "lts__t_sectors_srcunit_tex_op_read.sum": "40 sector"},
            ("lts__t_sectors_srcunit_tex.sum",),
        ),
        (
            "dram-beyond-l2",
            {"DB": "5,000,000 byte", "lts__lts2xbar_cycles_active.sum": "40 cycle"},
            ("lts__t_sectors_srcunit_tex.sum",),
        ),
        # Writes of DRAM only.
        (
            "misses-without-source",
            {
                "lts__t_sector_hit_rate.pct": "10 %",
                "lts__t_sectors_srcunit_tex.sum": "320,000 sector",
                "DW": "1,000 byte",
            },
            ("DB",),
        ),
        # Conversions of a kernel without floating-point work, and a kernel whose work is on tensor cores.
        ("transcendental-work", {"sm__inst_executed_pipe_xu.sum": "100 inst", "FFMA": "0 inst"}, ()),
        (
            "transcendental-work",
            {
                "sm__inst_executed_pipe_xu.sum": "100 inst",
                "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum": "1,000,000,000 ",
            },
            (),
        ),
    ],
)
def test_nothing_follows_from_a_part_of_what_moved_or_was_computed(
    write: Write, name: str, changes: dict[str, str], gone: tuple[str, ...]
) -> None:
    assert finding(nr.analyze(write(page(changes, gone=gone))), name) is None


def test_documentation_of_the_rules_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("build_findings", ROOT / "docs" / "build_findings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = ROOT / "docs" / "findings"
    assert module.pages() == {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(("cc", "asks"), [("8.6", True), ("12.1", False), ("8.7", False)])
def test_command_does_not_ask_for_counters_that_the_chip_lacks(write: Write, cc: str, asks: bool) -> None:
    found = finding(nr.analyze(write(details("0|k|T|us|20", cc=cc))), "counter-not-collected")
    assert found is not None
    assert ("dram__bytes.sum" in found.help) == asks
    assert ("no DRAM counters" in found.message) != asks
