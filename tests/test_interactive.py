"""The page with plotly: the same numbers as the analysis, in every view, and nothing lost where plotly is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import plotly
import pytest
from click.testing import CliRunner, Result

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.render.html import from_network, given, inline, to_html
from ncu_roofline.render.html.library import script_hash
from ncu_roofline.render.picture import charts
from tests.browser import Opened, violations
from tests.conftest import Write
from tests.support import ROOT, details, launch
from tests.test_figure import FILLED

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"
BUNDLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
TRACES = """() => Array.from(document.querySelector(".plot").data).map(one => ({
  name: one.name, x: Array.from(one.x), y: Array.from(one.y), ids: one.customdata || null,
  opacity: one.marker ? one.marker.opacity : one.opacity, symbol: one.marker ? one.marker.symbol : null,
  hover: one.hovertext || one.text || null }))"""
TWO_PATHS = FILLED | {"DFMA": "1,000,000 inst"}
"""10 MFLOP on fp32 and 2 MFLOP on fp64, 10 MB at DRAM, in 20 us."""


def drawn(browser: Any, path: object, folder: Path, anchor: str = "", **options: Any) -> Opened:
    """A page with plotly in it, once it is drawn."""
    opened = Opened(browser, to_html(nr.analyze(str(path)), None, inline()), folder, anchor, **options)
    opened.page.wait_for_selector('html[data-ready="true"]', state="attached")
    return opened


def traces(opened: Opened) -> dict[str, Any]:
    return {trace["name"]: trace for trace in opened.page.evaluate(TRACES)}


@pytest.fixture(scope="module")
def shared(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return drawn(browser, SAMPLE, tmp_path_factory.mktemp("page"))


@pytest.fixture
def sample(shared: Opened) -> Opened:
    """The page of the sample as it is after opening; drawing it anew for every test would take minutes."""
    shared.page.evaluate(
        """() => { window.scrollTo(0, 0); location.hash = "none"; document.activeElement.blur();
          for (const [name, value] of [[".path", "fp32"], ["#filter", ""]]) {
            const control = document.querySelector(name);
            control.value = value;
            control.dispatchEvent(new Event(name === ".path" ? "change" : "input"));
          } }"""
    )
    shared.page.wait_for_function("() => location.hash === '#none'")
    return shared


def points(opened: Opened, name: str = "groups") -> dict[str, tuple[float, float]]:
    trace = traces(opened)[name]
    return dict(zip(trace["ids"], zip(trace["x"], trace["y"], strict=True), strict=True))


# What is drawn.


def test_page_with_plotly_is_silent_and_asks_for_nothing(sample: Opened) -> None:
    assert (sample.said, len(sample.asked)) == ([], 1)
    assert sample.page.locator(".plot .main-svg").first.is_visible()
    assert not sample.page.locator('[data-testid="roofline-static"]').is_visible()


def test_points_stand_at_the_values_of_the_analysis(sample: Opened) -> None:
    analysis = nr.analyze(SAMPLE)
    sample.page.select_option(".path", "")
    expected = {}
    for row in analysis.points.to_dict("records"):
        for mark in charts(analysis)[0].marks:
            if (row["kernel"], row["path"], row["tier"]) == (mark.full_name, mark.path, mark.tier):
                expected[f"k{mark.number}"] = (row["intensity"], row["rate"])
    assert len(expected) == 4
    assert points(sample) == {name: pytest.approx(place) for name, place in expected.items()}


def test_every_point_is_drawn(sample: Opened) -> None:
    # 4 groups with FLOP and bytes, the one without in the strip; the connectors and ticks come from their own traces.
    shapes = sample.page.evaluate(
        """() => Object.fromEntries(document.querySelector(".plot").calcdata.map(one =>
          [one[0].trace.name, one[0].node3 ? one[0].node3.selectAll("path.point").size() : 0]))"""
    )
    assert (shapes["groups"], shapes["strip"]) == (4, 1)


def test_ceilings_have_the_values_of_the_analysis(sample: Opened) -> None:
    lines = {name.removeprefix("roof "): trace for name, trace in traces(sample).items() if name.startswith("roof ")}
    # By hand, see sample_reports/meta.yaml: bandwidth is FLOP/s over FLOP/byte everywhere on a slope.
    for name, value in (("dram", 1.5552e12), ("l2", 5.44512e12), ("l1", 1.513728e13)):
        assert [y / x for x, y in zip(lines[name]["x"], lines[name]["y"], strict=True)] == pytest.approx([value] * 2)
    for name, value in (("fp64", 7.56864e12), ("fp32", 1.513728e13), ("tensor.fp16.acc32", 2.4219648e14)):
        assert lines[name]["y"] == pytest.approx([value] * 2)


def test_group_without_flop_is_in_the_strip(sample: Opened) -> None:
    ((share, _),) = points(sample, "strip").values()
    (mark,) = (mark for mark in charts(nr.analyze(SAMPLE))[0].marks if not mark.is_on_chart)
    assert share == pytest.approx(mark.usage["dram"])


def test_axes_are_those_of_the_static_drawing(sample: Opened) -> None:
    frame = charts(nr.analyze(SAMPLE))[0].frame
    ranges = sample.page.evaluate(
        "() => { const l = document.querySelector('.plot').layout; return l.xaxis.range.concat(l.yaxis.range); }"
    )
    assert [10**value for value in ranges] == pytest.approx([frame.x_low, frame.x_high, frame.y_low, frame.y_high])


# Views.


def test_selector_has_the_paths_with_work_and_opens_on_the_one_with_most_time(sample: Opened) -> None:
    options = sample.page.eval_on_selector_all(".path option", "all => all.map(one => one.value)")
    # fp32 leads 22.7 % + 19.2 % of the time, fp64 27.8 %, the tensor path 20.2 %.
    assert options == ["fp32", "fp64", "tensor.fp16.acc32", ""]
    assert sample.page.input_value(".path") == "fp32"


def test_path_moves_points_to_its_own_work(browser: Any, write: Write, tmp_path: Path) -> None:
    opened = drawn(browser, write(details(*launch(TWO_PATHS))), tmp_path)
    places = {}
    for path in ("fp32", "fp64"):
        opened.page.select_option(".path", path)
        places[path] = points(opened)["k1"]
    # 10 MFLOP / 10 MB and 10 MFLOP / 20 us; 2 MFLOP / 10 MB and 2 MFLOP / 20 us.
    assert places == {"fp32": pytest.approx((1.0, 5e11)), "fp64": pytest.approx((0.2, 1e11))}


def test_groups_without_work_on_a_chosen_path_stay_but_lighter(browser: Any, tmp_path: Path) -> None:
    sample = drawn(browser, SAMPLE, tmp_path)
    light = {}
    for path in (None, "fp64", "fp32"):
        if path is not None:
            sample.page.select_option(".path", path)
        trace = traces(sample)["groups"]
        light[path] = {name for name, opacity in zip(trace["ids"], trace["opacity"], strict=True) if opacity < 1}
    # On opening nothing is lighter: the path was not chosen.
    assert light == {None: set(), "fp64": {"k2", "k3", "k4"}, "fp32": {"k1", "k3"}}
    assert "2 without work on fp32" in sample.page.inner_text(".said")


def test_tier_that_is_off_has_no_slope_and_marks_move_to_the_next(browser: Any, write: Write, tmp_path: Path) -> None:
    opened = drawn(browser, write(details(*launch(FILLED))), tmp_path)
    opened.page.uncheck('.tier[value="dram"]')
    assert "roof dram" not in traces(opened)
    # 10 MFLOP / 16 MB at L2.
    assert points(opened)["k1"] == pytest.approx((0.625, 5e11))
    assert traces(opened)["groups"]["symbol"] == ["diamond"]


def test_launches_are_points_of_their_own(browser: Any, write: Write, tmp_path: Path) -> None:
    rows = [row for n, time in enumerate(("20 us", "25 us", "40 us")) for row in launch(FILLED | {"T": time}, number=n)]
    opened = drawn(browser, write(details(*rows)), tmp_path)
    assert len(points(opened)) == 1
    opened.page.select_option("select.points", "launches")
    trace = traces(opened)["launches"]
    assert trace["ids"] == ["k1"] * 3
    assert sorted(trace["y"]) == pytest.approx([2.5e11, 4e11, 5e11])
    assert trace["x"] == pytest.approx([1.0] * 3)


def test_view_of_launches_is_not_offered_where_each_is_its_group(sample: Opened) -> None:
    assert not sample.page.locator("select.points").is_visible()


def test_other_ceilings_are_drawn_when_asked_for(browser: Any, corpus: Path, tmp_path: Path) -> None:
    opened = drawn(browser, next(corpus.glob("34-*.ncu-rep")), tmp_path)
    before = len([name for name in traces(opened) if name.startswith("roof")])
    opened.page.check(".others")
    roofs = opened.page.evaluate(
        """() => document.querySelector(".plot").data.filter(one => one.meta)
          .map(one => [one.meta.name, one.meta.source])"""
    )
    assert ["fp32", "device"] in roofs
    assert len(roofs) > before


def test_group_beyond_the_axes_is_an_arrow_at_the_edge(browser: Any, write: Write, tmp_path: Path) -> None:
    rows = [*launch(FILLED, kernel="a"), *launch(FILLED | {"FFMA": "2 inst"}, number=1, kernel="b")]
    opened = drawn(browser, write(details(*rows)), tmp_path)
    trace = traces(opened)["groups"]
    symbols = dict(zip(trace["ids"], trace["symbol"], strict=True))
    assert sorted(symbols.values()) in (["circle", "triangle-down"], ["circle", "triangle-left"])
    low = opened.page.evaluate("() => document.querySelector('.plot').layout.yaxis.range[0]")
    assert min(trace["y"]) > 10**low


def test_launches_whose_work_may_be_none_are_not_points_of_that_path(
    browser: Any, write: Write, tmp_path: Path
) -> None:
    # HADD and HMUL of 0 beside FP32 work: all HFMA may be constant loads (contract, "Amounts").
    exact, phantom = {"HFMA": "20,000,000 inst", "HADD": "5,000 inst"}, {"HFMA": "20,000,000 inst"}
    rows = [
        row
        for n, (name, half) in enumerate([("real", exact)] * 2 + [("phantom", phantom)] * 2)
        for row in launch(FILLED | half, number=n, kernel=name)
    ]
    opened = drawn(browser, write(details(*rows)), tmp_path)
    opened.page.select_option(".path", "fp16")
    opened.page.select_option("select.points", "launches")
    # 80.005 MFLOP of fp16 in 20 us where it is work; 10 MFLOP of fp32 where it may be none.
    assert sorted(traces(opened)["launches"]["y"]) == pytest.approx([5e11, 5e11, 4.0005e12, 4.0005e12], rel=1e-3)


def test_launches_without_a_place_are_counted(browser: Any, write: Write, tmp_path: Path) -> None:
    rows = [row for n in range(2) for row in launch(FILLED, number=n)]
    rows += launch(FILLED | {"FFMA": "0 inst"}, number=2)
    opened = drawn(browser, write(details(*rows)), tmp_path)
    opened.page.select_option("select.points", "launches")
    assert "1 launches without FLOP or bytes." in opened.page.inner_text(".said")


def test_last_tier_cannot_be_switched_off(browser: Any, write: Write, tmp_path: Path) -> None:
    opened = drawn(browser, write(details(*launch(FILLED))), tmp_path)
    for tier in ("dram", "l2"):
        opened.page.uncheck(f'.tier[value="{tier}"]')
    assert opened.page.locator('.tier[value="l1"]').is_disabled()


def test_narrow_page_keeps_the_static_drawing(browser: Any, tmp_path: Path) -> None:
    text = to_html(nr.analyze(SAMPLE), None, inline())
    opened = Opened(browser, text, tmp_path)
    opened.page.set_viewport_size({"width": 390, "height": 800})
    opened.page.reload()
    opened.page.wait_for_selector('html[data-ready="true"]', state="attached")
    assert opened.page.locator('[data-testid="roofline-static"]').is_visible()


# Links between chart, table and drawer.


def test_click_on_a_point_opens_its_drawer(sample: Opened) -> None:
    place = sample.page.evaluate(
        """() => { const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect();
          const trace = plot.data.find(one => one.name === "groups"), at = trace.customdata.indexOf("k3");
          const axes = plot._fullLayout;
          return [box.left + axes.xaxis._offset + axes.xaxis.d2p(trace.x[at]),
                  box.top + axes.yaxis._offset + axes.yaxis.d2p(trace.y[at])]; }"""
    )
    sample.page.mouse.move(*place)
    sample.page.mouse.click(*place)
    sample.page.wait_for_selector("#k3:visible")
    assert sample.page.locator("tr.current").get_attribute("data-kernel-id") == "k3"


def test_selected_group_stands_out(browser: Any, tmp_path: Path) -> None:
    trace = traces(drawn(browser, SAMPLE, tmp_path, "#k2"))["groups"]
    assert {name for name, opacity in zip(trace["ids"], trace["opacity"], strict=True) if opacity == 1} == {"k2"}


def test_filter_of_the_table_reaches_the_chart(sample: Opened) -> None:
    sample.page.fill("#filter", "stencil")
    trace = traces(sample)["groups"]
    assert {name for name, opacity in zip(trace["ids"], trace["opacity"], strict=True) if opacity == 1} == {"k2"}


def test_wheel_scrolls_the_page_and_does_not_zoom(sample: Opened) -> None:
    before = sample.page.evaluate("() => document.querySelector('.plot').layout.xaxis.range.slice()")
    box = sample.page.locator(".plot").bounding_box()
    sample.page.mouse.move(box["x"] + 300, box["y"] + 200)
    sample.page.mouse.wheel(0, 200)
    sample.page.wait_for_function("() => window.scrollY > 0")
    assert sample.page.evaluate("() => document.querySelector('.plot').layout.xaxis.range") == before


@pytest.mark.parametrize("key", ["?", "Escape"])
def test_keys_of_help_and_close(sample: Opened, key: str) -> None:
    sample.page.keyboard.press("j")
    assert sample.page.locator("#k1").is_visible()
    sample.page.keyboard.press(key)
    assert not sample.page.locator("#k1").is_visible()
    assert sample.page.locator("#keys").is_visible()


# Safe, accessible, small.


def test_names_are_text_in_the_chart(browser: Any, write: Write, tmp_path: Path) -> None:
    names = ["f<b>x</b>(int)", "k<br>", "<a href='http://x'>y</a>", "%{x}", "</script>", "a&b<s>"]
    rows = [row for n, name in enumerate(names) for row in launch(FILLED, number=n, kernel=name)]
    opened = drawn(browser, write(details(*rows)), tmp_path)
    assert (opened.said, len(opened.asked)) == ([], 1)
    assert opened.page.locator(".plot a[href]").count() == 0
    hovers = traces(opened)["groups"]["hover"]
    assert len(hovers) == len(names)
    assert not any(re.search("<(?!br>)", hover) for hover in hovers)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_check_finds_nothing(browser: Any, tmp_path: Path, scheme: str) -> None:
    opened = drawn(browser, SAMPLE, tmp_path, "#k1", bypass_csp=True, color_scheme=scheme)
    assert violations(opened) == []


def test_dark_scheme_reaches_the_chart(browser: Any, tmp_path: Path) -> None:
    opened = drawn(browser, SAMPLE, tmp_path, color_scheme="dark")
    assert opened.page.evaluate("() => document.querySelector('.plot').layout.paper_bgcolor") == "#14171c"
    opened.page.emulate_media(color_scheme="light")
    opened.page.wait_for_function("() => document.querySelector('.plot').layout.paper_bgcolor === '#ffffff'")


def test_print_shows_the_static_drawing_on_one_page(browser: Any, write: Write, tmp_path: Path) -> None:
    rows = [
        row for n in range(12) for row in launch(FILLED | {"T": f"{20 + n} us"}, number=n, kernel=f"kernel{n}(int)")
    ]
    opened = drawn(browser, write(details(*rows)), tmp_path)
    pdf = opened.page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    opened.page.emulate_media(media="print")
    assert opened.page.locator('[data-testid="roofline-static"]').is_visible()
    assert not opened.page.locator(".plot").is_visible()


def test_page_of_hundred_thousand_launches_is_small_and_has_cells(browser: Any, write: Write, tmp_path: Path) -> None:
    header, *_ = details().splitlines()
    path = write(header + "\n" + "\n".join(_many(100_000)) + "\n")
    text = to_html(nr.analyze(path), None, inline())
    assert len(text.encode()) < 10_000_000
    opened = Opened(browser, text, tmp_path)
    opened.page.wait_for_selector('html[data-ready="true"]', state="attached")
    opened.page.select_option("select.points", "launches")
    trace = traces(opened)["launches"]
    assert 10 < len(trace["x"]) <= 2000
    counted = re.findall(r"one of (\d+) launches", " ".join(trace["hover"]))
    alone = len(trace["x"]) - len(counted)
    assert sum(map(int, counted)) + alone == 100_000


def _many(launches: int) -> list[str]:
    """Lines of launches of 40 kernels, each with its own time."""
    needed = {name: FILLED[name] for name in ("DB", "FFMA")} | {"T": "77.77 us"}
    template = details(*launch(needed, number=7_777_777, kernel="kernel_x")).splitlines()[1:]
    lines = []
    for number in range(launches):
        time = f'"{20 + number % 997 / 50:.2f}"'
        for line in template:
            one = line.replace("7777777", str(number)).replace("kernel_x", f"kernel_{number % 40}")
            lines.append(one.replace('"77.77"', time))
    return lines


def test_library_comes_after_everything_that_is_read() -> None:
    text = to_html(nr.analyze(SAMPLE), None, inline())
    assert text.index("</footer>") < text.index(inline().text)


def test_page_with_plotly_has_the_same_bytes_every_time() -> None:
    one, two = (to_html(nr.analyze(SAMPLE), None, inline()) for _ in range(2))
    assert one == two


# --plotlyjs.


def run(tmp_path: Path, choice: str) -> Result:
    return CliRunner().invoke(main, ["analyze", str(SAMPLE), "--html", str(tmp_path / "o.html"), "--plotlyjs", choice])


def test_plotly_is_in_the_page_unless_said_otherwise(tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert CliRunner().invoke(main, ["analyze", str(SAMPLE), "--html", str(out)]).exit_code == 0
    assert inline().text in out.read_text(encoding="utf-8")


def test_page_without_plotly_has_no_other_script_than_its_own(tmp_path: Path) -> None:
    assert run(tmp_path, "none").exit_code == 0
    text = (tmp_path / "o.html").read_text(encoding="utf-8")
    assert len(re.findall("<script(?! type=.application/json)", text)) == 1
    assert 'class="view"' not in text


def test_bundle_of_the_user_is_put_in(tmp_path: Path) -> None:
    assert run(tmp_path, str(BUNDLE)).exit_code == 0
    assert f"<script>{BUNDLE.read_text(encoding='utf-8')}</script>" in (tmp_path / "o.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"alert(1)", "no bundle of plotly.js"),
        (b"Plotly; '</script>'", "cannot stand in a page"),
        (b"\xff\xfePlotly", "no text in UTF-8"),
        (None, "is not inline, none or cdn, and no file"),
    ],
)
def test_what_is_no_bundle_is_refused_and_nothing_is_written(tmp_path: Path, content: bytes | None, said: str) -> None:
    bundle = tmp_path / "bundle.js"
    if content is not None:
        bundle.write_bytes(content)
    result = run(tmp_path, str(bundle))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert not (tmp_path / "o.html").exists()


def test_library_from_the_network_is_named_in_the_policy_with_its_hash() -> None:
    text = to_html(nr.analyze(SAMPLE), None, from_network())
    (source, integrity) = re.findall(r'<script src="([^"]+)" integrity="([^"]+)" crossorigin="anonymous">', text)[0]
    assert re.fullmatch(r"https://cdn\.plot\.ly/plotly-[0-9.]+\.min\.js", source)
    assert integrity == script_hash(BUNDLE.read_text(encoding="utf-8"))
    assert "https://cdn.plot.ly/" in re.findall(r'Content-Security-Policy" content="([^"]+)"', text)[0]
    assert len(text) < 200_000


def test_page_whose_library_cannot_be_loaded_stays_static(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, to_html(nr.analyze(SAMPLE), None, from_network()), tmp_path, offline=True)
    opened.page.wait_for_selector('html[data-ready="static"]', state="attached")
    assert opened.page.locator('[data-testid="roofline-static"]').is_visible()
    assert not opened.page.locator(".view").is_visible()


def test_page_without_scripts_is_complete(browser: Any, tmp_path: Path) -> None:
    text = to_html(nr.analyze(SAMPLE), None, inline())
    opened = Opened(browser, text, tmp_path, java_script_enabled=False)
    assert opened.page.locator('[data-testid="roofline-static"]').is_visible()
    assert not opened.page.locator(".view").is_visible()
    assert opened.page.locator('[data-testid="row"]').count() == 5


def test_script_of_another_is_refused_beside_plotly(browser: Any, tmp_path: Path) -> None:
    text = to_html(nr.analyze(SAMPLE), None, given(BUNDLE.read_text(encoding="utf-8")))
    opened = Opened(browser, text.replace("<footer>", "<footer><script>document.title='taken'</script>"), tmp_path)
    assert opened.page.title() != "taken"


def test_every_kind_of_report_is_drawn_without_a_word(browser: Any, corpus: Path, tmp_path: Path) -> None:
    for name in ("14-*", "18-rep-sm75-naive.ncu-rep",
                 "25-rep-sm75-profile_report_4_.ncu-rep", "29-summary-sm110-print_summary_per_kernel_thor_cc110.csv",
                 "44-*"):  # fmt: skip
        opened = drawn(browser, next(corpus.glob(name)), tmp_path)
        assert (opened.said, len(opened.asked)) == ([], 1), name
        opened.page.close()
