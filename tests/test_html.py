"""The HTML report, as text and in a browser: complete without scripts and styles, safe, and with the right numbers."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline.cli import main
from ncu_roofline.render.html import to_html
from ncu_roofline.render.html.markup import share_bar
from ncu_roofline.render.picture import charts
from tests.browser import Opened, violations
from tests.conftest import Write
from tests.support import ROOT, details, launch
from tests.test_figure import FILLED
from tests.test_findings import CLEAN, SUMMARY

SAMPLE = ROOT / "sample_reports" / "a100_raw.csv"
HOSTILE = [
    "</script><script>bad()</script>",
    "<!--<script>",
    '"><img src=x onerror=bad()>',
    "k\x01\u202e<b>",
    "x<y>(z)&amp;",
]


class Page(HTMLParser):
    """Elements with their attributes, and the texts of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        self._open = attributes.get("data-testid") or (attributes.get("id") if tag == "script" else None)

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.texts[self._open] = self.texts.get(self._open, "") + data

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.elements if attributes.get("data-testid") == name]


@pytest.fixture(scope="module")
def sample() -> str:
    return to_html(nr.analyze(SAMPLE, conditions="cache=all,clock=base"))


def test_page_has_every_part_of_the_brief(sample: str) -> None:
    names = {attributes.get("data-testid") for _, attributes in Page(sample).elements}
    parts = {"verdict", "findings", "timebar", "roofline", "roofline-static", "kernels", "row", "drawer", "ceilings"}
    assert parts <= names


def test_rows_have_the_numbers_of_the_analysis(sample: str) -> None:
    (chart,) = charts(nr.analyze(SAMPLE))
    cells = re.findall(r'<tr data-testid="row" data-kernel-id="(k\d+)".*?</tr>', sample, re.DOTALL)
    assert cells == [f"k{mark.number}" for mark in chart.marks]
    first = re.findall(r'data-kernel-id="k1" data-bound="dram".*?</tr>', sample, re.DOTALL)[0]
    numbers = [float(value) for value in re.findall(r'data-value="([^"]+)"', first)]
    # Number, share, time, launches, fraction, headroom in points, rate, intensity at DRAM, L2 and L1 (meta.yaml).
    rate = 134217728 / 1.1e-3
    assert numbers == pytest.approx(
        [1, 1.1 / 3.96, 1.1e-3, 1, 0.941482, 100 * 1.1 / 3.96 * (1 - 0.941482), rate, 1 / 12, 1 / 12, 1 / 8], rel=1e-4
    )


def test_model_in_the_page_is_the_analysis(sample: str) -> None:
    (device,) = json.loads(Page(sample).texts["model"])
    assert {roof["name"]: roof["value"] for roof in device["roofs"]}["dram"] == 1.5552e12
    assert [group["bound"] for group in device["groups"]] == ["dram", "dram", "tensor.fp16.acc32", "dram", "dram"]


def test_verdict_by_hand(sample: str) -> None:
    # Every group of the sample is at 70.9 % of its roof or better; gemm leaves 20.2 % x 29.07 % = 5.9 points.
    (verdict,) = re.findall(r'data-testid="verdict">(.*?)</p>', sample)
    said = re.sub("<.*?>", "", verdict)
    # 29.07 % of 800 us are 232.5 us, 5.9 % of 3.96 ms.
    assert said.replace("\u202f", " ").startswith(
        "100% of the GPU time is at 70% of its roof or better. Most headroom: 3 gemm_tensor (up to 232.5 us, 5.9%), "
    )
    assert '<a href="#k3">3 gemm_tensor</a>' in verdict


def test_error_takes_the_place_of_the_verdict(write: Write) -> None:
    text = to_html(nr.analyze(write(details(*launch(CLEAN | {"DB": "99,000,000 byte"})))))
    assert "not to be used as they are: P301" in Page(text).texts["verdict"]
    assert '<details class="findings" data-testid="findings" open>' in text
    assert 'data-errors="1"' in text


def test_page_without_findings_says_so(write: Write) -> None:
    assert "No findings." in to_html(nr.analyze(write(details(*launch(FILLED))), conditions="cache=all,clock=base"))


def test_time_at_the_roofs_is_the_sum_of_time_times_share(write: Write) -> None:
    # 10 MB at 1.28 TB/s take 7.8125 us, whatever was measured; two groups of them.
    rows = [*launch(FILLED, kernel="a"), *launch(FILLED | {"T": "40 us"}, number=1, kernel="b")]
    page = Page(to_html(nr.analyze(write(details(*rows)))))
    (least,) = page.of("least")
    assert float(str(least["data-value"])) == pytest.approx(2 * 7.8125e-6, rel=1e-6)
    assert "Of 60.00 us in groups whose roof is known, 15.6" in page.texts["least"]


def test_head_says_how_the_counters_were_measured(sample: str) -> None:
    assert (
        Page(sample).texts["conditions"].strip() == "Measured with cache control all (user), clock control base (user)."
    )


def test_head_says_that_conditions_are_not_known(write: Write) -> None:
    page = Page(to_html(nr.analyze(write(details(*launch(FILLED))))))
    assert page.texts["conditions"].strip() == "Cache and clock control are not known."


def test_head_has_the_bound_of_the_application_both_ways(write: Write) -> None:
    # See test_budget: 7.8125 us of DRAM and 28.935 us of fp32; overlapped 29.658 us of the FMA pipe; of 80 us.
    busy = FILLED | {"T": "60 us", "FFMA": "200,000,000 inst"}
    text = to_html(nr.analyze(write(details(*launch(FILLED, kernel="a"), *launch(busy, number=1, kernel="b")))))
    (row,) = re.findall(r'data-testid="summary".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    cells = [re.sub("<.*?>", "", cell).replace("\u202f", " ") for cell in re.findall("<td.*?</td>", row, re.DOTALL)]
    # b takes three quarters of the time and is at 48.2 % of its roof: 38.8 points.
    assert [cell.removeprefix("\u2265 ") for cell in cells] == [
        "80.00 us", "36.75 us (45.9%)", "29.66 us (37.1%, fma pipe)", "1 b, 31.06 us (38.8 pp)",
    ]  # fmt: skip


def test_findings_lead_to_the_groups_that_they_name(write: Write) -> None:
    rows = [*launch(FILLED, kernel="good"), *launch(FILLED | {"T": "5 us"}, number=1, kernel="wrong")]
    text = to_html(nr.analyze(write(details(*rows))))
    (item,) = re.findall(r"<li id=.f\d+.>(?:(?!</li>).)*P301.*?</li>", text, re.DOTALL)
    assert '<a href="#k2">2</a>' in item
    (place,) = re.findall(r'<li id="(f\d+)"><span class="severity">error', text)
    drawer = re.findall(r'<section class="drawer" id="k2".*?</section>', text, re.DOTALL)[0]
    assert f'<a href="#{place}">P301' in drawer


def test_drawer_has_work_bytes_rate_ceiling_share_and_intensity(write: Write) -> None:
    text = to_html(nr.analyze(write(details(*launch(FILLED)))))
    (ledger,) = re.findall(r'data-testid="ledger".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    rows = {
        cells[0]: cells[1:]
        for row in re.findall("<tr>.*?</tr>", ledger)
        if (cells := [re.sub("<.*?>", " ", cell).strip() for cell in re.findall("<td>(.*?)</td>", row)])
    }
    # 10 MB in 20 us are 500 GB/s of 1.28 TB/s; 500 000 sectors of 32 bytes are 16 MB; 10 MFLOP over each.
    assert rows["DRAM"][:2] == ["10.00 MB", "500.0 GB/s of 1.280 TB/s"]
    assert rows["DRAM"][2].startswith("39.1%")
    assert rows["DRAM"][3] == "1"
    assert rows["L2 (sm)"][3] == "0.625"
    assert rows["fp32"][0] == "10.00 MFLOP"


def test_bar_of_a_share_has_eighths_of_ten_blocks() -> None:
    # 39.06 % of 80 eighths are 31.25: three blocks and seven eighths.
    assert share_bar(0.390625, "dram") == '<i class="dram">\u2588\u2588\u2588\u2589</i>'
    assert share_bar(2.0, "dram").count("\u2588") == 10
    assert share_bar(0.0, "l2") == '<i class="l2"></i>'


def test_drawer_has_formulas_and_counters_of_what_binds(write: Write) -> None:
    text = to_html(nr.analyze(write(details(*launch(FILLED)))))
    assert "traffic.dram.bytes = 10.00 MB\n    = dram__bytes.sum" in text
    assert '"10" Mbyte' in text


def test_spread_of_times_has_a_bar_for_each_bin_with_launches(write: Write) -> None:
    times = ("10 us", "10.1 us", "20 us", "20 us", "30 us")
    rows = [row for n, time in enumerate(times) for row in launch(FILLED | {"T": time}, number=n)]
    (path,) = re.findall(r'data-testid="spread"><path d="([^"]+)"', to_html(nr.analyze(write(details(*rows)))))
    # Bins of 1 us from 10 to 30 us: two launches in the first and the eleventh (20 px high), one in the last.
    assert path == "M3 20v-20M73 20v-20M136 20v-10"


def test_what_no_launch_has_is_said_once_and_what_one_lacks_in_its_drawer(write: Write) -> None:
    without = {name: text for name, text in FILLED.items() if not name.startswith("lts__t_sectors")}
    rows = [*launch(FILLED, kernel="a"), *launch(without, number=1, kernel="b")]
    text = to_html(nr.analyze(write(details(*rows))))
    (everywhere,) = re.findall("Not collected of any launch: (.*?)\\.</li>", text)
    assert "tensor.bf16" in everywhere
    assert "L2" not in everywhere
    assert re.findall("Not collected here: (.*?)\\.</p>", text) == ["L2"]


def test_columns_without_any_number_are_left_out_and_busy_units_shown(write: Write) -> None:
    metrics = {"T": "20 us", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "62.5 %"}
    text = to_html(nr.analyze(write(details(*launch(metrics)))))
    titles = re.findall('<th scope="col" class="(?:text|number)"><button type="button">(.*?)</button>', text)
    assert titles == ["#", "Kernel group", "Time %", "Time", "Launches", "Bound by", "DRAM busy"]
    assert '<td data-value="0.625">62.5%</td>' in text


def test_report_without_a_roofline_says_what_to_collect(write: Write) -> None:
    page = Page(to_html(nr.analyze(write(details(*launch({"T": "20 us", "DB": "5 byte"}))))))
    assert page.of("banner")
    assert not Page(to_html(nr.analyze(SAMPLE))).of("banner")


def test_long_names_are_whole_but_folded(write: Write) -> None:
    name = "f<" + "int, " * 120 + "int>(int)"
    text = to_html(nr.analyze(write(details(*launch(FILLED, kernel=name)))))
    assert "<summary>Full name, 611 characters</summary>" in text
    assert name.replace("<", "&lt;").replace(">", "&gt;") in text


def test_foot_names_inputs_and_maps_with_their_hashes(sample: str) -> None:
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (SAMPLE, ROOT / "metric_maps" / "sm_80.yaml", ROOT / "metric_maps" / "base.yaml")
    }
    foot = sample[sample.index("<footer>") :]
    assert all(f"{name}, SHA-256 <code>{digest}</code>" in foot for name, digest in digests.items())


def test_other_ceilings_stand_beside_the_roofs(corpus: Path) -> None:
    text = to_html(nr.analyze(next(corpus.glob("34-*.ncu-rep"))))
    rows = re.findall(r'data-source="(\w+)">.*?<td class="text">(the roof|beside it)</td>', text)
    assert ("report", "the roof") in rows
    assert ("device", "beside it") in rows


def test_ranks_taken_together_are_one_chart(tmp_path: Path) -> None:
    paths = []
    for rank, time in enumerate(("20 us", "30 us")):
        paths.append(tmp_path / f"r{rank}.csv")
        paths[-1].write_text(details(*launch(FILLED | {"T": time})))
    text = to_html(nr.analyze(*paths, aggregate=True))
    page = Page(text)
    assert len(page.of("roofline")) == 1
    assert len(page.of("row")) == 1
    assert "1 kernel group, 2 launches, 50.00 us of GPU time" in text


def test_rows_of_a_summary_count_their_invocations(write: Write) -> None:
    page = to_html(nr.analyze(write(SUMMARY)))
    assert "1 kernel group, 14 launches" in page
    assert '<td data-value="14">14</td>' in page


def test_table_has_the_intensity_of_all_paths(write: Write) -> None:
    # 10 MFLOP of fp32 and 2 MFLOP of fp64 over 10 MB at DRAM and 16 MB at L2.
    analysis = nr.analyze(write(details(*launch(FILLED | {"DFMA": "1,000,000 inst"}))))
    (group,) = json.loads(Page(to_html(analysis)).texts["model"])[0]["groups"]
    assert group["intensity"]["dram"] == pytest.approx(1.2)
    assert group["intensity"]["l2"] == pytest.approx(0.75)
    assert group["intensity"]["dram"] == pytest.approx(analysis.columns["traffic.dram.intensity"][0])


def test_selection_is_said_and_the_verdict_is_about_it(write: Write) -> None:
    rows = [*launch(FILLED | {"T": "10 us"}, kernel="small"), *launch(FILLED | {"T": "990 us"}, number=1, kernel="big")]
    analysis = nr.analyze(write(details(*rows)))
    page = Page(to_html(analysis.select(analysis.columns["kernel"] == "small")))
    assert page.texts["selection"].strip() == "A selection: 1.0% of the time of all launches."
    # 10 MB in 10 us are 78 % of 1.28 TB/s.
    assert page.texts["verdict"].startswith("100% of the GPU time is at 70%")


def test_lower_bounds_are_said_to_be_so(write: Write) -> None:
    without = {name: text for name, text in FILLED.items() if name not in ("TEN", "l1tex__t_bytes.sum")}
    verdict = re.findall('data-testid="verdict">(.*?)</p>', to_html(nr.analyze(write(details(*launch(without))))))[0]
    assert verdict.startswith("At least 0% of the GPU time")
    assert "at\u202fmost" in verdict


def test_time_without_a_roof_is_said(write: Write) -> None:
    rows = [*launch(FILLED), *launch({"T": "20 us"}, number=1, kernel="b")]
    assert "Of 50% no roof is known." in to_html(nr.analyze(write(details(*rows))))


def test_report_with_rates_only_has_no_headroom_and_no_shares(corpus: Path) -> None:
    text = to_html(nr.analyze(next(corpus.glob("14-*"))))
    assert "The report has no times. Nearest to its roof is" in text
    assert not re.search(r"[^0-9.]0\.0% of the time", text)
    titles = re.findall('<th scope="col" class="(?:text|number)"><button type="button">(.*?)</button>', text)
    assert not {"Time", "Time %"} & set(titles)


def test_equal_devices_are_told_apart(tmp_path: Path) -> None:
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, time in zip(paths, ("20 us", "30 us"), strict=True):
        path.write_text(details(*launch(FILLED | {"T": time})))
    model = json.loads(Page(to_html(nr.analyze(*paths))).texts["model"])
    assert [chart["device"].partition(", ")[2] for chart in model] == ["one.csv", "two.csv"]


def test_unit_that_is_much_busier_than_the_roof_is_a_reason_to_doubt(write: Write) -> None:
    busy = {"sm__throughput.avg.pct_of_peak_sustained_elapsed": "85 %"}
    assert "SM is much busier than its roof says" in to_html(nr.analyze(write(details(*launch(FILLED | busy)))))
    idle = {"sm__throughput.avg.pct_of_peak_sustained_elapsed": "41 %"}
    assert "much busier" not in to_html(nr.analyze(write(details(*launch(FILLED | idle)))))


def test_links_lead_to_something(write: Write) -> None:
    lines = [row for n in range(230) for row in launch({"T": f"{900 - n} us"}, number=n, kernel=f"k{n}")]
    page = Page(to_html(nr.analyze(write(details(*lines)))))
    ids = {str(attributes["id"]) for _, attributes in page.elements if attributes.get("id")}
    targets = {
        str(attributes["href"])[1:] for tag, attributes in page.elements if tag == "a" and attributes.get("href")
    }
    assert targets <= ids
    assert len(page.of("row")) == 200


def test_foot_has_the_command_without_folders(tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    arguments = ["analyze", str(SAMPLE), "--kernel", "triad|gemm", "--html", str(out), "--plotlyjs", "none"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    said = "ncu-roofline analyze a100_raw.csv --kernel &#x27;triad|gemm&#x27; --html out.html --plotlyjs none"
    assert said in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("more", [("--html", "none/x.html"), ("--html", "one.svg"), ("-o", "none/x.txt")])
def test_nothing_is_written_where_one_output_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--figure", "one.svg", *more])
    assert (result.exit_code, result.stdout) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_report_in_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    report = tmp_path / "r.csv"
    report.write_bytes(SAMPLE.read_bytes())
    result = CliRunner().invoke(main, ["analyze", str(tmp_path), "--html", str(report)])
    assert (result.exit_code, report.read_bytes()) == (2, SAMPLE.read_bytes())
    assert "--html" in result.stderr


def test_drawer_has_the_spread_of_the_times_of_its_launches(write: Write) -> None:
    rows = [row for n, time in enumerate(("30 us", "10 us", "11 us")) for row in launch(FILLED | {"T": time}, number=n)]
    text = to_html(nr.analyze(write(details(*rows))))
    assert "51.00 us; one takes 10.00 us to 30.00 us, the median is 11.00 us" in text


def test_same_analysis_gives_the_same_bytes(sample: str) -> None:
    assert to_html(nr.analyze(SAMPLE, conditions="cache=all,clock=base")) == sample


def test_page_of_twelve_groups_is_small(write: Write) -> None:
    rows = [
        row for n in range(12) for row in launch(FILLED | {"T": f"{20 + n} us"}, number=n, kernel=f"kernel{n}(int)")
    ]
    assert len(to_html(nr.analyze(write(details(*rows)))).encode()) < 60_000


def test_page_shows_names_of_files_without_their_folders(write: Write, tmp_path: Path) -> None:
    text = to_html(nr.analyze(write(details(*launch(FILLED)))))
    assert "report.csv" in text
    assert str(tmp_path) not in text
    assert str(ROOT) not in text


def test_scrubbed_page_has_no_kernel_name(tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    result = CliRunner().invoke(main, ["analyze", str(SAMPLE), "--html", str(out), "--scrub-kernels"])
    assert result.exit_code == 0
    assert "gemm" not in out.read_text()


def test_hundred_thousand_launches_are_groups(write: Write) -> None:
    lines = [row for n in range(300) for row in launch({"T": "20 us", "DB": "5 byte"}, number=n, kernel=f"k{n}")]
    text = to_html(nr.analyze(write(details(*lines))))
    assert len(Page(text).of("row")) == 200
    assert "Others: 100 groups" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_data(write: Write, name: str) -> None:
    text = to_html(nr.analyze(write(details(*launch(FILLED, kernel=name)))))
    page = Page(text)
    assert [attributes for tag, attributes in page.elements if tag == "img"] == []
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 2
    assert not re.search("[\x00-\x08\u202a-\u202e]", text)
    assert json.loads(page.texts["model"])[0]["groups"][0]["kernel"] == name.strip()


# In a browser.


def test_page_is_silent_and_asks_for_nothing(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path)
    assert opened.page.locator("html").get_attribute("data-ready") == "true"
    assert opened.said == []
    assert len(opened.asked) == 1


def test_page_is_complete_without_scripts(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path, java_script_enabled=False)
    assert len(opened.texts('[data-testid="row"]')) == 5
    assert opened.page.locator('[data-testid="roofline-static"] [data-kernel-id]').count() == 5
    opened.page.goto(opened.page.url + "#k3")
    assert opened.page.locator("#k3").is_visible()
    assert not opened.page.locator("#k1").is_visible()


def test_page_is_complete_without_styles(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, re.sub(r"<style>.*?</style>", "", sample, flags=re.DOTALL), tmp_path)
    assert all(opened.page.locator(f"#k{number}").is_visible() for number in range(1, 6))
    assert opened.page.locator('[data-testid="roofline-static"]').is_visible()


def test_columns_are_sorted_by_their_buttons(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path)
    opened.page.get_by_role("button", name="% of roof").click()
    assert opened.page.locator('th[aria-sort="descending"]').inner_text() == "% of roof"
    down = opened.texts("tbody tr[data-testid=row] td:first-child")
    opened.page.get_by_role("button", name="% of roof").click()
    up = opened.texts("tbody tr[data-testid=row] td:first-child")
    # 94.1, 90.8, 86.3, 76.7, 70.9 %
    assert (down, up) == (["1", "4", "5", "2", "3"], ["3", "2", "5", "4", "1"])


def test_filter_leaves_the_rows_whose_name_has_the_text(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path)
    opened.page.locator("#filter").fill("GEMM")
    assert opened.page.locator('[data-testid="row"]:visible').count() == 1
    assert opened.texts("#matching") == ["1 of 5"]


def test_mark_and_keys_open_the_drawer_of_a_group(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path, "#k2")
    assert opened.page.locator("#k2").is_visible()
    opened.page.keyboard.press("j")
    assert opened.page.url.endswith("#k3")
    opened.page.keyboard.press("k")
    opened.page.keyboard.press("k")
    assert opened.page.locator("#k1").is_visible()
    opened.page.keyboard.press("Escape")
    assert not opened.page.locator("#k1").is_visible()
    opened.page.locator('[data-testid="roofline-static"] [data-kernel-id="k3"]').click()
    assert opened.page.locator("#k3").is_visible()
    assert opened.page.locator("tr.current").get_attribute("data-kernel-id") == "k3"


def test_name_is_copied(browser: Any, write: Write, tmp_path: Path) -> None:
    name = "void f<int>(float *, int)"
    opened = Opened(browser, to_html(nr.analyze(write(details(*launch(FILLED, kernel=name))))), tmp_path, "#k1")
    opened.page.click("#k1 .copy")
    assert opened.page.inner_text("#k1 .copy") == "Copied"
    opened.page.fill("#filter", "")
    opened.page.focus("#filter")
    opened.page.keyboard.press("Control+V")
    assert opened.page.input_value("#filter").strip() == name


@pytest.mark.parametrize("width", [1024, 1280, 1440])
def test_drawers_cover_nothing_of_the_table(browser: Any, sample: str, tmp_path: Path, width: int) -> None:
    opened = Opened(browser, sample, tmp_path, "#k3")
    opened.page.set_viewport_size({"width": width, "height": 800})
    opened.page.locator("footer").scroll_into_view_if_needed()
    bottom, top = opened.page.evaluate(
        """() => [document.querySelector(".drawers").getBoundingClientRect().bottom,
                  document.querySelector(".kernels").getBoundingClientRect().top]"""
    )
    assert bottom <= top
    opened.page.get_by_role("button", name="AI L1").click(timeout=2000)


def test_drawer_of_the_only_group_is_open(browser: Any, write: Write, tmp_path: Path) -> None:
    opened = Opened(browser, to_html(nr.analyze(write(details(*launch(FILLED))))), tmp_path)
    assert opened.page.locator("#k1").is_visible()


def test_page_is_as_wide_as_a_phone(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path, "#k1")
    opened.page.set_viewport_size({"width": 390, "height": 800})
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_dark_page_shows_the_dark_chart(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample, tmp_path, color_scheme="dark")
    painted = {
        name: opened.page.eval_on_selector(
            f'[data-testid="roofline-static"] {shape}', f"one => getComputedStyle(one).{of}"
        )
        for name, shape, of in (("page", "rect", "fill"), ("dram", '[data-roof="dram"]', "stroke"))
    }
    # #14171c and #4C8DF5 of the palette.
    assert painted == {"page": "rgb(20, 23, 28)", "dram": "rgb(76, 141, 245)"}
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"


def test_twelve_groups_are_printed_on_one_page(browser: Any, write: Write, tmp_path: Path) -> None:
    rows = [
        row for n in range(12) for row in launch(FILLED | {"T": f"{20 + n} us"}, number=n, kernel=f"kernel{n}(int)")
    ]
    opened = Opened(browser, to_html(nr.analyze(write(details(*rows)))), tmp_path)
    pdf = opened.page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1


def test_findings_are_open_in_print(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, to_html(nr.analyze(SAMPLE)), tmp_path)
    is_shown = "() => document.querySelector('.findings li').checkVisibility()"
    assert not opened.page.evaluate(is_shown)
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(is_shown)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_run_nothing_in_the_browser(browser: Any, write: Write, tmp_path: Path, name: str) -> None:
    text = to_html(nr.analyze(write(details(*launch(FILLED, kernel=name)))))
    opened = Opened(browser, text, tmp_path, "#k1")
    assert (opened.said, len(opened.asked)) == ([], 1)
    assert opened.page.locator("#k1 .name").is_visible()


def test_script_that_was_put_in_does_not_run(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample.replace("<footer>", "<footer><script>document.title='taken'</script>"), tmp_path)
    assert opened.page.title() != "taken"
    assert any("Content Security Policy" in said for said in opened.said)


def test_every_kind_of_report_opens_without_a_word(browser: Any, corpus: Path, tmp_path: Path) -> None:
    for name in ("02-rep-sm80-a100_2025-04-21-77_06-MT.ncu-rep", "17-details-sm80-share_tile.csv",
                 "29-summary-sm110-print_summary_per_kernel_thor_cc110.csv", "34-rep-sm90-profile.ncu-rep",
                 "36-text-sm86-ncu_fma_memory.txt", "24-details-sm120-saxpy.csv"):  # fmt: skip
        opened = Opened(browser, to_html(nr.analyze(corpus / name)), tmp_path)
        assert (opened.said, len(opened.asked)) == ([], 1), name
        assert opened.page.locator('[data-testid="row"]').count() > 0
        opened.page.close()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_numbers_of_the_page_are_saved_unrounded(browser: Any, write: Write, tmp_path: Path, kind: str) -> None:
    analysis = nr.analyze(write(details(*launch(FILLED, kernel='k<int, "a">'))))
    opened = Opened(browser, to_html(analysis), tmp_path, accept_downloads=True)
    with opened.page.expect_download() as saved:
        opened.page.click(f"#{kind}")
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    (group,) = list(csv.DictReader(text.splitlines())) if kind == "csv" else json.loads(text)[0]["groups"]
    (mark,) = charts(analysis)[0].marks
    assert group["kernel"] == 'k<int, "a">'
    assert (float(group["time"]), float(group["rate"])) == (mark.time, mark.rate)
    assert opened.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_check_finds_nothing(browser: Any, sample: str, tmp_path: Path, scheme: str) -> None:
    opened = Opened(browser, sample, tmp_path, "#k1", bypass_csp=True, color_scheme=scheme)
    assert violations(opened) == []


def test_accessibility_check_can_find_something(browser: Any, sample: str, tmp_path: Path) -> None:
    opened = Opened(browser, sample.replace('<html lang="en"', "<html"), tmp_path, bypass_csp=True)
    assert violations(opened) == ["html-has-lang"]
