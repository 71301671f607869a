"""The static figure: numbers in their places, the same frame for the same machine, well-formed whatever the names."""

from __future__ import annotations

import math
import re
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.formats import visible
from ncu_roofline.render.picture import DARK, LIGHT, Chart, Frame, charts, to_svg
from ncu_roofline.render.picture.convert import to_png
from ncu_roofline.render.picture.frame import frame_of
from ncu_roofline.render.picture.labels import Box, place_labels
from ncu_roofline.render.picture.names import short_names
from ncu_roofline.render.picture.paper import to_paper
from tests.conftest import Write
from tests.support import ROOT, details, launch
from tests.test_findings import CLEAN

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"
SVG = "{http://www.w3.org/2000/svg}"
FILLED = CLEAN | {"T": "20 us", "DB": "10 Mbyte", "l1tex__t_bytes.sum": "20 Mbyte",
                  "lts__t_sectors_srcunit_tex.sum": "500,000 sector", "FFMA": "5,000,000 inst"}  # fmt: skip


def drawn(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(chart, LIGHT))


@pytest.fixture(scope="module")
def sample() -> Chart:
    (chart,) = charts(nr.analyze(SAMPLE))
    return chart


def with_data(svg: ElementTree.Element, name: str) -> dict[str, ElementTree.Element]:
    return {str(part.get(name)): part for part in svg.iter() if part.get(name) is not None}


def test_roofs_have_the_values_of_the_analysis(sample: Chart) -> None:
    # By hand, see sample_reports/meta.yaml.
    values = {name: float(str(part.get("data-value"))) for name, part in with_data(drawn(sample), "data-roof").items()}
    by_hand = {
        "dram": 1.5552e12, "l2": 5.44512e12, "l1": 1.513728e13, "fp64": 7.56864e12, "fp32": 1.513728e13,
        "tensor.fp16.acc32": 2.4219648e14,
    }  # fmt: skip
    assert values == pytest.approx(by_hand)


def test_mark_stands_at_its_intensity_and_rate(sample: Chart) -> None:
    svg, frame = drawn(sample), sample.frame
    triad = with_data(svg, "data-kernel-id")["k1"]
    # 134217728 FLOP over 1610612736 byte, in 1.1 ms
    assert float(str(triad.get("data-intensity"))) == pytest.approx(1 / 12)
    assert float(str(triad.get("data-value"))) == pytest.approx(134217728 / 1.1e-3)
    assert float(str(triad.get("cx"))) == pytest.approx(66 + 566 * frame.x(1 / 12), abs=0.01)
    assert float(str(triad.get("cy"))) == pytest.approx(396 - 356 * frame.y(134217728 / 1.1e-3), abs=0.01)


def test_point_on_a_roof_lies_on_its_line(sample: Chart) -> None:
    line = with_data(drawn(sample), "data-roof")["dram"]
    x1, y1, x2, y2 = (float(str(line.get(name))) for name in ("x1", "y1", "x2", "y2"))
    frame = sample.frame
    for intensity in (0.01, 1.0, 50.0):
        x, y = 66 + 566 * frame.x(intensity), 396 - 356 * frame.y(1.5552e12 * intensity)
        assert y == pytest.approx(y1 + (y2 - y1) * (x - x1) / (x2 - x1), abs=0.05)


def test_group_without_flop_is_in_the_strip_and_not_dropped(sample: Chart) -> None:
    marks = with_data(drawn(sample), "data-kernel-id")
    assert set(marks) == {f"k{number}" for number in range(1, 6)}
    (aside,) = (mark for mark in sample.marks if not mark.is_on_chart)
    assert aside.name == "hash_u32"
    points = [tuple(map(float, corner.split(","))) for corner in str(marks["k5"].get("points")).split()]
    # In the middle of its share of the DRAM ceiling.
    assert points[0][0] == pytest.approx(66 + 566 * aside.usage["dram"], abs=0.01)


def test_frame_is_that_of_the_machine_whatever_was_profiled() -> None:
    whole = charts(nr.analyze(SAMPLE))[0].frame
    roofs = charts(nr.analyze(SAMPLE))[0]
    tiers, peaks = [roof.value for roof in roofs.tiers], [roof.value for roof in roofs.paths]
    for points in ([], [(1.0, 1e12)], [(100.0, 1e11), (0.1, 1e10)]):
        assert frame_of(tiers, peaks, points) == whole


def test_frame_by_hand() -> None:
    # Ridges of 10 / 1 = 10 and 10 / 4 = 2.5 FLOP/byte: two decades below 1, one above 10; 1e12 x 0.01 = 1e10.
    frame = frame_of([1e12, 4e12], [10e12], [])
    assert [frame.x_low, frame.x_high, frame.y_low, frame.y_high] == pytest.approx([1e-2, 1e2, 1e10, 18e12])


@pytest.mark.parametrize(
    ("point", "low", "high"), [((5e-4, 1e11), 1e-4, 1e2), ((1e-9, 1e11), 1e-4, 1e2), ((3e3, 1e11), 1e-2, 1e4)]
)
def test_point_outside_widens_the_frame_by_whole_decades_and_two_at_most(
    point: tuple[float, float], low: float, high: float
) -> None:
    frame = frame_of([1e12, 4e12], [10e12], [point])
    assert [frame.x_low, frame.x_high] == pytest.approx([low, high])
    assert frame.widened


def test_fixed_axes_are_those_of_the_picture_and_what_lies_outside_is_said(tmp_path: Path) -> None:
    out = tmp_path / "o.svg"
    how = ["analyze", str(SAMPLE), "--figure", str(out), "--axes", "0.1:10000,1e9:1e15"]
    assert CliRunner().invoke(main, how).exit_code == 0
    texts = [str(part.text) for part in ElementTree.parse(out).iter(f"{SVG}text")]
    # Only the triad, at 1/12 FLOP/byte, is left of 0.1.
    assert any("Outside, at the edge: 1 group." in text for text in texts)
    assert {"0.1", "1 P"} <= set(texts)
    assert "0.01" not in texts


def test_group_outside_is_a_hollow_caret_inside_the_frame() -> None:
    (chart,) = charts(nr.analyze(SAMPLE), Frame(0.1, 100.0, 1e9, 1e13))
    marks = with_data(drawn(chart), "data-kernel-id")
    # The triad lies left of the frame, the GEMM (1365 FLOP/byte, above 100 TFLOP/s) right of it and above.
    for name, inside in (("k1", 66 + 8), ("k3", 632 - 8)):
        corners = [tuple(map(float, pair.split(","))) for pair in str(marks[name].get("points")).split()]
        assert marks[name].get("fill") == LIGHT["page"]
        assert all(66 < x < 632 and 40 < y < 396 for x, y in corners)
        assert abs(sum(x for x, _ in corners) / 3 - inside) < 3
    assert marks["k2"].tag == f"{SVG}circle"


def test_ceilings_outside_fixed_axes_are_named_and_not_moved_inside() -> None:
    # Peaks of the sample: FP64 7.569, FP32 15.14 and tensor 242.2 TFLOP/s; slopes end where the frame does.
    (chart,) = charts(nr.analyze(SAMPLE), Frame(0.1, 100.0, 1e9, 1e13))
    svg = drawn(chart)
    lines = with_data(svg, "data-roof")
    assert set(lines) == {"dram", "l2", "l1", "fp64"}
    assert any("Ceilings outside: fp32, tensor.fp16.acc32." in str(text.text) for text in svg.iter(f"{SVG}text"))
    # L1 at 15.14 TB/s reaches 10 TFLOP/s at 0.66 FLOP/byte: 0.82 of three decades from the left edge.
    place = 66 + (632 - 66) * math.log10((1e13 / 15.14e12) / 0.1) / 3
    assert float(str(lines["l1"].get("x2"))) == pytest.approx(place, abs=0.1)


@pytest.mark.parametrize("axes", ["", "1:2", "1:100,1:2", "0:10,1:100", "a:b,1:100", "1:10:100,1:100", "1:inf,1:100"])
def test_axes_that_are_none_are_refused(tmp_path: Path, axes: str) -> None:
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--html", str(tmp_path / "o.html"), "--axes", axes])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "LOW:HIGH" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_slopes_reach_the_highest_path_and_paths_the_right_edge(sample: Chart) -> None:
    roofs = with_data(drawn(sample), "data-roof")
    top = float(str(roofs["tensor.fp16.acc32"].get("y1")))
    for tier in ("dram", "l2", "l1"):
        assert float(str(roofs[tier].get("y2"))) == pytest.approx(top, abs=0.01)
    assert {roofs[path].get("x2") for path in ("fp64", "fp32", "tensor.fp16.acc32")} == {"632.00"}


def test_source_of_a_roof_is_its_line_style(write: Write) -> None:
    report = details(*launch({n: t for n, t in FILLED.items() if n != "PKD"}))
    roofs = write("schema: 1\nsources: [s]\nceilings: {dram: {value: 1.2 TB/s}}\n", "roofs.yaml")
    (chart,) = charts(nr.analyze(write(report), ceilings=roofs, peak_source="measured"))
    lines = with_data(drawn(chart), "data-roof")
    assert lines["dram"].get("stroke-dasharray") == "7 4"
    assert lines["l2"].get("stroke-dasharray") is None


def test_color_says_what_binds_and_shape_at_which_tier(write: Write) -> None:
    bound_by_l2 = FILLED | {"lts__t_sectors_srcunit_tex.sum": "2,500,000 sector"}
    of = {"a": FILLED | {"DB": "20 Mbyte"}, "b": bound_by_l2}
    rows = [row for n, (name, metrics) in enumerate(of.items()) for row in launch(metrics, number=n, kernel=name)]
    (chart,) = charts(nr.analyze(write(details(*rows))))
    marks = with_data(drawn(chart), "data-kernel-id")
    shapes = {mark.name: marks[f"k{mark.number}"] for mark in chart.marks}
    kinds = {mark.name: (mark.kind, shapes[mark.name].tag, shapes[mark.name].get("fill")) for mark in chart.marks}
    assert kinds == {"a": ("dram", f"{SVG}circle", LIGHT["dram"]), "b": ("l2", f"{SVG}polygon", LIGHT["l2"])}


def test_group_far_from_every_roof_is_hollow(write: Write) -> None:
    (chart,) = charts(nr.analyze(write(details(*launch(FILLED | {"T": "2 ms"})))))
    mark = with_data(drawn(chart), "data-kernel-id")["k1"]
    assert (chart.marks[0].kind, mark.get("fill"), mark.get("stroke")) == ("far", LIGHT["page"], LIGHT["far"])


def test_area_is_the_share_of_the_time(write: Write) -> None:
    of = {"a": FILLED | {"T": "60 us"}, "b": FILLED | {"T": "15 us"}, "c": FILLED | {"T": "5 us"}}
    rows = [row for n, (name, metrics) in enumerate(of.items()) for row in launch(metrics, number=n, kernel=name)]
    (chart,) = charts(nr.analyze(write(details(*rows))))
    radii = [float(str(part.get("r"))) for part in with_data(drawn(chart), "data-kernel-id").values()]
    # 3.1 x sqrt(75) = 26.8 is cut to 18; 3.1 x sqrt(18.75) = 13.42; 3.1 x sqrt(6.25) = 7.75
    assert radii == [18.0, pytest.approx(13.42, abs=0.01), 7.75]


def test_several_devices_have_a_chart_each(write: Write) -> None:
    text = details(*launch(FILLED)) + details(*launch(FILLED | {"PKD": "2,560 byte/cycle"}), device="1")
    found = charts(nr.analyze(write(text)))
    assert [roof.value for chart in found for roof in chart.roofs if roof.name == "dram"] == [
        1.28e12,
        2.56e12,
    ]


@pytest.mark.parametrize("name", ["</svg><script>alert(1)</script>", 'k"&<>', "k\x01\u202e", "x" * 600])
def test_names_are_data(write: Write, name: str) -> None:
    (chart,) = charts(nr.analyze(write(details(*launch(FILLED, kernel=name)))))
    text = to_svg(chart, LIGHT)
    assert not list(ElementTree.fromstring(text).iter(f"{SVG}script"))
    assert not re.search("[\x00-\x08\u202a-\u202e]", text)


def test_same_analysis_gives_the_same_bytes() -> None:
    one, two = (to_svg(charts(nr.analyze(SAMPLE))[0], DARK) for _ in range(2))
    assert one == two
    assert "nan" not in one
    assert len(one) < 16_000


def test_every_report_of_the_corpus_is_drawn(corpus: Path) -> None:
    for path in sorted(corpus.glob("[0-9]*")):
        try:
            analysis = nr.analyze(path)
        except nr.NcuRooflineError:
            continue
        for chart in charts(analysis):
            svg = drawn(chart)
            numbers = [float(str(part.get(n))) for part in svg.iter() for n in ("cx", "cy", "x1", "y1") if part.get(n)]
            assert all(math.isfinite(number) and -1 <= number <= 801 for number in numbers)
            on_axes = any(mark.is_on_chart for mark in chart.marks)
            has_usage = any(mark.usage for mark in chart.marks)
            expected = {
                mark.number for mark in chart.marks
                if mark.is_on_chart or mark.usage or (not on_axes and not has_usage and mark.busy)
            }  # fmt: skip
            assert expected == {int(name.removeprefix("k")) for name in with_data(svg, "data-kernel-id")}


def test_groups_beyond_two_thousand_are_counted_in_cells(write: Write) -> None:
    metrics = {"DB": "10 Mbyte", "FFMA": "5,000,000 inst"}
    rows = [row for n in range(2100) for row in launch(metrics | {"T": f"{30_000 - n} ns"}, number=n, kernel=f"k{n}")]
    (chart,) = charts(nr.analyze(write(details(*rows))))
    assert (len(chart.marks), chart.rest.groups, chart.groups, chart.launches) == (2000, 100, 2100, 2100)
    svg = drawn(chart)
    assert len(with_data(svg, "data-kernel-id")) == 2000
    assert sum(int(str(part.get("data-groups"))) for part in svg.iter() if part.get("data-groups")) == 100


def test_shares_take_the_place_of_axes_without_flop(write: Write) -> None:
    # 20 MB in 20 us are 1 TB/s of 1.28 TB/s; 16 MB are 800 GB/s of 5.12 TB/s at L2.
    report = {name: text for name, text in FILLED.items() if ("sass" not in name and name.islower()) or name in "T PKD"}
    report |= {"DB": "20 Mbyte", "DHZ": "1 Ghz", "SMHZ": "1 Ghz"}
    (chart,) = charts(nr.analyze(write(details(*launch(report)))))
    svg = drawn(chart)
    assert "intensity, FLOP/byte" not in {text.text for text in svg.iter(f"{SVG}text")}
    shares = [float(str(part.get("data-share"))) for part in svg.iter() if part.get("data-share")]
    assert shares[:2] == pytest.approx([1e12 / 1.28e12, 8e11 / 5.12e12])
    mark = with_data(svg, "data-kernel-id")["k1"]
    assert float(str(mark.get("cx"))) == pytest.approx(66 + 566 * shares[0], abs=0.01)


def test_busy_units_are_shown_where_no_ceiling_is_known(write: Write) -> None:
    report = {"T": "20 us", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "62.5 %"}
    (chart,) = charts(nr.analyze(write(details(*launch(report)))))
    svg = drawn(chart)
    assert [float(str(part.get("data-share"))) for part in svg.iter() if part.get("data-share")] == [0.625]
    assert "DRAM busy" in {text.text for text in svg.iter(f"{SVG}text")}


def test_path_that_may_be_no_work_has_no_ceiling_in_the_picture(corpus: Path) -> None:
    # M204: all FP16 work of this report may be constant loads.
    analysis = nr.analyze(next(corpus.glob("02-*.ncu-rep")))
    assert "M204" in {finding.code for finding in analysis.finding_list}
    assert [roof.name for roof in charts(analysis)[0].paths] == ["fp32"]


SHARED = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "1,900,000 inst",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.peak_sustained": "108 inst/cycle",
    "l1tex__cycles_elapsed.avg.per_second": "1 Ghz",
}


def test_shared_memory_that_binds_is_drawn_everywhere(write: Write) -> None:
    analysis = nr.analyze(write(details(*launch(FILLED | SHARED))))
    (chart,) = charts(analysis)
    assert (chart.marks[0].bound, chart.marks[0].kind) == ("shared", "shared")
    assert with_data(drawn(chart), "data-roof").keys() >= {"shared"}
    assert {trace.marker.symbol for trace in analysis.figure().data if trace.name == "k1"} == {"pentagon"}


def test_group_near_its_roof_by_two_paths_of_one_pipe_is_not_far(write: Write) -> None:
    # On 8.6 fp32 and fp16 share the FMA pipe: 90 M FMA of fp32 and 90 M of fp16 at 6912 a cycle and 1 GHz are 13.02 us
    # of it each, 65.1 % of 40 us together, but 32.6 % each.
    both = FILLED | {
        "T": "40 us", "FFMA": "90,000,000 inst", "HFMA": "90,000,000 inst", "HADD": "5 inst",
        "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained": "6,912 inst/cycle",
    }  # fmt: skip
    (chart,) = charts(nr.analyze(write(details(*launch(both), cc="8.6"))))
    assert max(chart.marks[0].usage.values()) < 0.4
    assert chart.marks[0].fraction > 0.6
    assert chart.marks[0].kind == "compute"


def test_kernel_led_by_integer_tensor_work_stands_at_its_flop(write: Write) -> None:
    # 1e9 OP of int8 at 442368 a cycle are far nearer to their peak than 10 MFLOP; the axes are for FLOP.
    both = FILLED | {
        "sm__ops_path_tensor_src_int8_sparsity_off.sum": "3,000,000,000",
        "sm__ops_path_tensor_src_int8_sparsity_off.sum.peak_sustained": "442,368 1/cycle",
    }
    (chart,) = charts(nr.analyze(write(details(*launch(both)))))
    mark = chart.marks[0]
    assert (mark.leading[0], mark.path, mark.is_on_chart) == ("tensor.int8", "fp32", True)


def test_frame_does_not_depend_on_what_other_kernels_do(write: Write) -> None:
    half = {"sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained": "27,648 inst/cycle"}
    one = launch(FILLED | half)
    two = launch(FILLED | half | {"HFMA": "20,000,000 inst", "HADD": "5,000 inst"}, number=1, kernel="b")
    frames = [charts(nr.analyze(write(details(*rows))))[0].frame for rows in (one, [*one, *two])]
    assert frames[0] == frames[1]


@pytest.mark.parametrize("draw", [lambda chart: to_svg(chart, LIGHT), to_paper])
def test_device_names_are_data(write: Write, draw: Callable[[Chart], str]) -> None:
    named = FILLED | {"device__attribute_display_name": "NVIDIA\x01\u202e<evil>"}
    (chart,) = charts(nr.analyze(write(details(*launch(named)))))
    text = draw(chart)
    ElementTree.fromstring(text)
    assert not re.search("[\x00-\x08\u202a-\u202e]", text)


def test_group_above_its_ceiling_by_a_few_percent_is_marked(write: Write) -> None:
    # 26.88 MB in 20 us are 105 % of 1.28 TB/s: a warning.
    (chart,) = charts(nr.analyze(write(details(*launch(FILLED | {"DB": "26,880,000 byte"})))))
    assert chart.marks[0].label == "1!"


def test_groups_of_one_kernel_are_told_apart_by_their_grid(write: Write) -> None:
    text = details(*launch(FILLED)) + details(*launch(FILLED, number=1), grid="(7, 1, 1)")
    assert {mark.name for mark in charts(nr.analyze(write(text)))[0].marks} == {"k 512", "k 7"}


def test_paper_figure_without_a_place_for_any_group_is_refused(tmp_path: Path, write: Write) -> None:
    report = write(details(*launch({"T": "20 us"})))
    out = tmp_path / "out.svg"
    result = CliRunner().invoke(main, ["analyze", report, "--figure", str(out), "--figure-size", "paper"])
    assert (result.exit_code, out.exists()) == (2, False)


def test_tiers_on_one_slope_share_a_label(corpus: Path) -> None:
    # On this T4 report L1 and shared memory have the same bandwidth, and shared memory binds.
    (chart,) = charts(nr.analyze(next(corpus.glob("25-*.ncu-rep"))))
    texts = [str(text.text) for text in drawn(chart).iter(f"{SVG}text")]
    assert [text for text in texts if "shared memory" in text] == ["L1, shared memory 2.997 TB/s"]


def test_group_above_a_ceiling_is_marked(write: Write) -> None:
    # 10 MB in 20 us are 500 GB/s below the 1.28 TB/s of the report; in 5 us they are 2 TB/s.
    rows = [*launch(FILLED, kernel="good"), *launch(FILLED | {"T": "5 us"}, number=1, kernel="wrong")]
    analysis = nr.analyze(write(details(*rows)))
    (chart,) = charts(analysis)
    assert "P301" in {finding.code for finding in analysis.finding_list}
    assert [(mark.name, mark.label) for mark in chart.marks] == [("good", "1"), ("wrong", "2!")]
    svg = drawn(chart)
    marks = with_data(svg, "data-kernel-id")
    assert [marks[name].get("data-errors") for name in ("k1", "k2")] == [None, "true"]
    assert "2!" in {str(text.text) for text in svg.iter(f"{SVG}text")}


def test_picture_without_ceilings_and_places_is_a_sentence(write: Write) -> None:
    (chart,) = charts(nr.analyze(write(details(*launch({"T": "20 us"})))))
    svg = drawn(chart)
    assert list(svg.iter(f"{SVG}line")) == []
    assert any("No roofline" in str(text.text) for text in svg.iter(f"{SVG}text"))


def test_tier_below_its_own_mark_is_not_drawn(write: Write) -> None:
    # 10 MB at DRAM; 12 MB at L1 are 0.08 decades away, less than the radius of the only group (18 px).
    for size, ticks in (("12 Mbyte", 0), ("90 Mbyte", 1)):
        report = {n: t for n, t in FILLED.items() if not n.startswith("lts__t_sectors")} | {"l1tex__t_bytes.sum": size}
        (chart,) = charts(nr.analyze(write(details(*launch(report)))))
        assert set(chart.marks[0].intensity) == {"dram", "l1"}
        assert len([part for part in drawn(chart).iter(f"{SVG}polygon") if part.get("data-kernel-id") is None]) == ticks


def test_name_does_not_cross_a_slope_where_there_is_room(corpus: Path) -> None:
    (chart,) = charts(nr.analyze(next(corpus.glob("02-*.ncu-rep"))))
    svg = drawn(chart)
    (name,) = [text for text in svg.iter(f"{SVG}text") if text.text == "1 silu_kernel"]
    left, baseline = float(str(name.get("x"))), float(str(name.get("y")))
    for line in with_data(svg, "data-roof").values():
        x1, y1, x2, y2 = (float(str(line.get(end))) for end in ("x1", "y1", "x2", "y2"))
        on_line = [(x1 + (x2 - x1) * step / 1000, y1 + (y2 - y1) * step / 1000) for step in range(1001)]
        assert not any(left < x < left + 75 and baseline - 9 < y < baseline for x, y in on_line)


# Names and labels.


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["void ns::gemm<(int)4>(float *)"], ["gemm"]),
        (["k<1>(int)", "k<2>(int)"], ["k …1", "k …2"]),
        (["a", "a"], ["a", "a"]),
        ([None, ""], ["(no name)", "(no name)"]),
        (["a\u202eb"], ["a\\u202eb"]),
    ],
)
def test_short_names(names: Sequence[str | None], short: Sequence[str]) -> None:
    assert short_names(names) == short


@given(st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=8))
def test_short_names_are_as_many_and_can_be_shown(names: list[str | None]) -> None:
    found = short_names(names)
    assert len(found) == len(names)
    assert all(name and visible(name) == name for name in found)


def test_label_goes_where_it_covers_nothing() -> None:
    limits, mark = Box(0, 0, 400, 200), (100.0, 100.0, 5.0)
    (right,) = place_labels(["name"], [mark], [], limits, 6.0)
    (left,) = place_labels(["name"], [mark], [Box(105, 90, 300, 110)], limits, 6.0)
    (nowhere,) = place_labels(["name"], [mark], [limits], limits, 6.0)
    assert right is not None
    assert list(right) == pytest.approx([109.0, 103.5])
    assert left is not None
    assert left[0] == pytest.approx(100 - 9 - 24)
    assert nowhere is None


# The command.


def test_command_writes_a_light_and_a_dark_figure_beside_the_table(tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", str(out)])
    assert result.exit_code == 0
    assert "gemm_tensor" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out-dark.svg", "out.svg"]
    assert LIGHT["page"] in out.read_text()
    assert DARK["page"] in (tmp_path / "out-dark.svg").read_text()


def test_figure_of_another_kind_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", str(tmp_path / "out.bmp")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_png_is_the_drawing_in_pixels_light_and_dark(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", str(tmp_path / "out.png")])
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out-dark.png", "out.png"]
    content = (tmp_path / "out.png").read_bytes()
    # Signature, then the header with width and height (PNG specification, 11.2.1).
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1600, 1040)


def test_png_has_the_same_bytes_every_time() -> None:
    (chart,) = charts(nr.analyze(SAMPLE))
    assert to_png(to_svg(chart, LIGHT)) == to_png(to_svg(chart, LIGHT))


def test_pdf_is_one_page_of_the_size_of_the_drawing(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", str(tmp_path / "out.pdf")])
    assert result.exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.pdf"]
    content = (tmp_path / "out.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert re.findall(rb"/MediaBox \[([^\]]*)\]", content) == [b"0 0 800 520"]


def test_picture_without_a_converter_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", str(tmp_path / "out.png")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "ncu-roofline[figure]" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_figure_shows_no_name_that_was_to_go(tmp_path: Path) -> None:
    CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", str(tmp_path / "o.svg"), "--scrub-kernels"])
    assert "gemm" not in (tmp_path / "o.svg").read_text()


# For a paper.


def on_paper(tmp_path: Path, kind: str, report: object = SAMPLE) -> Path:
    out = tmp_path / f"out.{kind}"
    arguments = ["analyze", str(report), "--figure", str(out), "--figure-size", "paper"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    return out


def test_paper_figure_is_a_column_wide_with_a_panel_for_each_path(tmp_path: Path) -> None:
    svg = ElementTree.parse(on_paper(tmp_path, "svg")).getroot()
    # 86 mm are 243.78 points of 1/72 inch; three paths lead groups of the sample.
    assert svg.get("width") == "243.78pt"
    titles = [str(text.text) for text in svg.iter(f"{SVG}text") if "peak" in str(text.text)]
    assert titles == [
        "fp64 (FLOP/s), peak 7.569 TFLOP/s", "fp32 (FLOP/s), peak 15.14 TFLOP/s",
        "tensor.fp16.acc32 (FLOP/s), peak 242.2 TFLOP/s",
    ]  # fmt: skip
    assert svg.get("font-size") == "8"
    assert {part.get("stroke-width") for part in svg.iter(f"{SVG}line")} == {"1"}


def test_letters_stand_at_the_places_of_their_groups(tmp_path: Path, sample: Chart) -> None:
    letters = with_data(ElementTree.parse(on_paper(tmp_path, "svg")).getroot(), "data-kernel-id")
    assert {name: part.text for name, part in letters.items()} == {"k1": "A", "k2": "B", "k4": "C", "k3": "D"}
    right, frame = 86 / 25.4 * 72 - 6, sample.frame
    assert float(str(letters["k1"].get("x"))) == pytest.approx(34 + (right - 34) * frame.x(1 / 12), abs=0.02)


def test_caption_has_device_clock_sources_letters_and_what_is_not_shown(tmp_path: Path) -> None:
    on_paper(tmp_path, "svg")
    text = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert text.startswith("Roofline of NVIDIA A100-SXM4-40GB, CC 8.0, SM clock 1.095 GHz.\n")
    assert "DRAM 1.555 TB/s (report at 1.215 GHz)" in text
    assert "A: triad(double *, const double *, const double *, double, long); 1 launch" in text
    assert "Not shown, without counted FLOP or without bytes: hash_u32." in text


def test_hidden_characters_of_names_are_written_out_in_the_caption(tmp_path: Path, write: Write) -> None:
    on_paper(tmp_path, "svg", write(details(*launch(FILLED, kernel="k\x1b[31m\u202e(int)"))))
    text = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x1b\u202e]", text)
    assert "A: k\\u001b[31m\\u202e(int); 1 launch" in text


def test_caption_has_the_day_that_the_build_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    on_paper(tmp_path, "svg")
    assert "1.095 GHz, 2023-11-14." in (tmp_path / "out.txt").read_text(encoding="utf-8")


def test_pdf_for_paper_has_the_size_of_the_column(tmp_path: Path) -> None:
    content = on_paper(tmp_path, "pdf").read_bytes()
    (box,) = re.findall(rb"/MediaBox \[([^\]]*)\]", content)
    assert [float(number) for number in box.split()] == pytest.approx([0, 0, 243.78, 504], abs=0.01)


def test_png_for_paper_has_600_dots_per_inch(tmp_path: Path) -> None:
    content = on_paper(tmp_path, "png").read_bytes()
    # 86 mm of 25.4 mm an inch at 600 dots: 2031.5.
    assert struct.unpack(">I", content[16:20])[0] == pytest.approx(2031.5, abs=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.png", "out.txt"]


# In Python.


def test_plotly_figure_has_the_same_points_and_frame(sample: Chart) -> None:
    figure = nr.analyze(SAMPLE).figure()
    points = {trace.name: (trace.x[0], trace.y[0]) for trace in figure.data if re.fullmatch(r"k\d+", trace.name)}
    assert points == {
        f"k{mark.number}": (mark.intensity[str(mark.tier)], mark.rate) for mark in sample.marks if mark.is_on_chart
    }
    frame = sample.frame
    assert list(figure.layout.xaxis.range) == pytest.approx([math.log10(frame.x_low), math.log10(frame.x_high)])
    assert figure.layout.yaxis.type == "log"
    assert "hash_u32" in figure.layout.annotations[0].text


def test_plotly_figure_has_the_roofs_of_the_analysis(sample: Chart) -> None:
    lines = {trace.name: trace for trace in nr.analyze(SAMPLE).figure().data if trace.mode == "lines"}
    assert set(lines) == {roof.name for roof in sample.roofs}
    dram = lines["dram"]
    assert [y / x for x, y in zip(dram.x, dram.y, strict=True)] == pytest.approx([1.5552e12] * 2)
    assert list(lines["fp32"].y) == pytest.approx([1.513728e13] * 2)


def test_plotly_takes_no_name_for_markup(write: Write) -> None:
    figure = nr.analyze(write(details(*launch(FILLED, kernel="f<b>(int)")))).figure()
    (mark,) = (trace for trace in figure.data if trace.name == "k1")
    assert "<b>" not in mark.hovertext
    assert mark.hovertext.count("<br>") == 3


def test_several_devices_are_subplots(write: Write) -> None:
    text = details(*launch(FILLED)) + details(*launch(FILLED), device="1")
    assert len(nr.analyze(write(text)).figure().layout.annotations) == 2


def test_notebook_shows_chart_and_table_without_scripts_or_links() -> None:
    shown = nr.analyze(SAMPLE)._repr_html_()
    assert shown.count("<svg ") == 1
    assert shown.count('data-testid="row"') == 5
    assert not re.search(r"<script|href=|\sid=", shown)
