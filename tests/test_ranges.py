"""Results over ranges, graphs and command lists: entries of their own, never added to the launches inside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ncu_roofline as nr
from ncu_roofline.analysis import Analysis
from ncu_roofline.arrays import rows
from ncu_roofline.cli import main
from ncu_roofline.comparison.stored import to_json as to_baseline
from ncu_roofline.render.html import to_html
from tests.binary_report import BASIC, Strings, block, report, result, result_over
from tests.conftest import Write
from tests.report_as_csv import actions_of
from tests.support import H15, finding, quoted, row_of

TIME, DRAM = "gpu__time_duration.sum", "dram__bytes.sum"
OF_RANGE: dict[str, float | int | str] = dict(BASIC) | {TIME: 50000.0, DRAM: 7000.0}


def mixed(**kinds: int) -> bytes:
    """Two launches of 20 us each, and results over them of 50 us each."""
    strings = Strings()
    launches = [result(BASIC, strings) for _ in range(2)]
    over: dict[str, Any] = {
        kind: tuple(
            result_over(
                OF_RANGE, strings, name="list 7" if kind == "command_lists" else None, inside=("step", f"part{n}")
            )
            for n in range(count)
        )
        for kind, count in kinds.items()
    }
    return report(block(*launches, strings=strings, **over))


def only(kind: str, *, inside: tuple[str, ...] = ("step", "solve")) -> bytes:
    strings = Strings()
    entry = result_over(OF_RANGE, strings, inside=inside)
    of_kind: dict[str, Any] = {kind: (entry,)}
    return report(block(strings=strings, **of_kind))


def of(write: Write, content: bytes) -> Analysis:
    return nr.analyze(write(content, "report.ncu-rep"))


@pytest.mark.parametrize(("kind", "called"), [("ranges", "range"), ("graphs", "graph")])
def test_result_over_several_launches_is_an_entry_with_counters_time_and_its_nvtx_name(
    write: Write, kind: str, called: str
) -> None:
    row = row_of(of(write, only(kind)))
    assert (row["kind"], row["kernel"], row["time"], row["traffic.dram.bytes"]) == (
        called,
        f"solve ({called})",
        50e-6,
        7000.0,
    )
    assert row["nvtx"] == (("<default domain>", "step"), ("<default domain>", "solve"))
    assert (row["grid"], row["block"]) == (None, None)


def test_range_without_a_name_is_called_as_ncu_does(write: Write) -> None:
    assert of(write, only("ranges", inside=())).columns["kernel"].tolist() == ["range"]


def test_command_list_has_its_own_name(write: Write) -> None:
    columns = of(write, mixed(command_lists=1)).columns
    assert (columns["kind"][2], columns["kernel"][2]) == ("command-list", "list 7")


def test_results_of_several_kinds_in_one_block_are_all_read(write: Write) -> None:
    columns = of(write, mixed(graphs=1, ranges=2, command_lists=1)).columns
    assert columns["kind"].tolist() == ["kernel", "kernel", "range", "range", "command-list", "graph"]


def test_time_of_a_range_is_not_added_to_the_launches_inside_it(write: Write) -> None:
    analysis = of(write, mixed(ranges=1))
    assert analysis.columns["device_time"].tolist() == pytest.approx([40e-6] * 3)
    groups = analysis.groups()
    by_kind = dict(zip(groups["kind"].tolist(), groups["share"].tolist(), strict=True))
    assert by_kind["kernel"] == 1.0
    assert by_kind["range"] != by_kind["range"]


def test_total_below_the_table_leaves_ranges_out_and_says_so(write: Write) -> None:
    path = write(mixed(ranges=2), "report.ncu-rep")
    output = CliRunner().invoke(main, ["analyze", path]).stdout
    assert "2 launches, total time 40.00 us" in output
    assert "Plus 2 ranges, not added because they contain launches." in output


def test_time_bar_of_the_page_has_no_part_for_a_range_beside_its_launches(write: Write) -> None:
    # The bar is 40 us wide; ranges of 50 us each would reach beyond its end.
    strings = Strings()
    launches = [result(BASIC, strings, kernel=kernel) for kernel in ("a", "b")]
    over = tuple(result_over(OF_RANGE, strings, inside=(name,)) for name in ("x", "y"))
    page = to_html(of(write, report(block(*launches, strings=strings, ranges=over))))
    (bar,) = re.findall(r'data-testid="timebar">.*?</div>', page, re.DOTALL)
    assert re.findall(r"<title>\d+ (.+?): (.+?)</title>", bar) == [("a", "50.0%"), ("b", "50.0%")]


def test_comparison_does_not_add_a_range_to_its_launches(write: Write, tmp_path: Path) -> None:
    path, baseline = write(mixed(ranges=1), "report.ncu-rep"), tmp_path / "baseline.json"
    assert nr.compare([path], [path]).whole.before.median == pytest.approx(40e-6)
    baseline.write_text(to_baseline(nr.compare([path], [path]).before))
    assert nr.compare([str(baseline)], [path]).whole.before.median == pytest.approx(40e-6)


def test_times_of_an_nvtx_range_are_those_of_its_launches_without_the_result_over_it(write: Write) -> None:
    strings = Strings()
    launch, over = result(BASIC, strings), result_over(OF_RANGE, strings, inside=("step",))
    (alone,) = rows(of(write, report(block(strings=strings, ranges=(over,)))).ranges())
    assert (alone["time"], alone["share"]) == (50e-6, 1.0)
    assert rows(of(write, report(block(launch, strings=strings, ranges=(over,)))).ranges()) == []


def test_range_that_is_selected_keeps_that_it_counts_in_no_total(write: Write) -> None:
    analysis = of(write, mixed(ranges=1))
    alone = analysis.select(analysis.columns["kind"] == "range")
    assert np.isnan(alone.groups()["share"]).all()


def test_ranges_of_other_names_and_kinds_are_not_compared_with_each_other(write: Write, tmp_path: Path) -> None:
    sides = []
    for name, kind in (("forward", "ranges"), ("loss", "graphs")):
        path = tmp_path / f"{name}.ncu-rep"
        path.write_bytes(only(kind, inside=(name,)))
        sides.append(path)
    comparison = nr.compare([sides[0]], [sides[1]])
    assert comparison.pairs == ()


def test_time_of_a_kernel_is_not_joined_to_a_range_of_its_name(write: Write, tmp_path: Path) -> None:
    times = tmp_path / "times.csv"
    times.write_text("kernel,time_us\nsolve(int),10\n")
    analysis = nr.analyze(write(only("ranges"), "report.ncu-rep"), timing=times)
    assert np.isnan(analysis.columns["external.time"]).all()


@pytest.mark.parametrize(("kind", "called"), [("ranges", "solve (range)"), ("graphs", "solve (graph)")])
def test_page_and_figure_name_a_range_as_the_table_does(write: Write, kind: str, called: str) -> None:
    analysis = of(write, only(kind))
    assert called in to_html(analysis)
    assert "(no name)" not in to_html(analysis)


def test_ranges_alone_are_added_up(write: Write) -> None:
    strings = Strings()
    entries = tuple(result_over(OF_RANGE, strings, inside=(name,)) for name in ("a", "b"))
    analysis = of(write, report(block(strings=strings, ranges=entries)))
    assert analysis.groups()["share"].tolist() == [0.5, 0.5]


def test_time_of_a_graph_is_added_to_kernels_outside_of_it(write: Write) -> None:
    # ncu profiles a graph instead of its kernels, so that none of them is counted twice: 2 x 20 + 50 us.
    assert of(write, mixed(graphs=1)).columns["device_time"].tolist() == pytest.approx([90e-6] * 3)


def test_ranges_of_different_names_are_groups_of_their_own(write: Write) -> None:
    names = of(write, mixed(ranges=2)).groups()["kernel"].tolist()
    assert sorted(names) == ["k", "part0 (range)", "part1 (range)"]


def test_json_says_of_each_entry_and_group_what_it_is(write: Write) -> None:
    document = json.loads(of(write, mixed(ranges=1)).to_json())
    assert [entry["kind"] for entry in document["launches"]] == ["kernel", "kernel", "range"]
    assert {group["kind"] for group in document["groups"]} == {"kernel", "range"}


def test_graph_has_the_finding_that_it_is_no_kernel(write: Write) -> None:
    found = finding(of(write, mixed(graphs=1)), "graph-as-kernel")
    assert found is not None
    assert found.launches == (2,)


def test_range_that_is_cut_is_damage(write: Write) -> None:
    content = only("ranges")
    with pytest.raises(nr.NcuRooflineError, match="damaged or cut"):
        of(write, content[:-3])


@pytest.mark.parametrize(("name", "kind"), [("range", "range"), ("graph", "graph"), ("solve/range", "range")])
def test_table_has_the_kind_by_the_name_that_ncu_prints_where_there_is_no_grid(
    write: Write, name: str, kind: str
) -> None:
    push = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
    header = [*H15[:4], push, *H15[4:]]
    inside = '1  "<default domain>:solve:none:none:RGB:0x0:ASCII:solve" '
    row = ["0", "1", "app", "host", inside, name, "1", "n/a", "n/a", "n/a", "0", "8.0", "x", TIME, "us", "5"]
    columns = nr.analyze(write("\n".join([quoted(header), quoted(row)]))).columns
    assert (columns["kind"][0], columns["kernel"][0]) == (kind, f"solve ({kind})")


def test_kernel_that_is_called_range_is_a_kernel(write: Write) -> None:
    row = ["0", "1", "app", "host", "range", "1", "7", "(32, 1, 1)", "(8, 1, 1)", "0", "8.0", "x", TIME, "us", "5"]
    assert nr.analyze(write("\n".join([quoted(H15), quoted(row)]))).columns["kind"].tolist() == ["kernel"]


LOG = """[77] app@127.0.0.1
  range, Context 1, Device 0, CC 8.0
    Section: Command line profiler metrics
    ---------------------- ----------- ------------
    Metric Name            Metric Unit Metric Value
    ---------------------- ----------- ------------
    gpu__time_duration.sum          us           50
    ---------------------- ----------- ------------
"""


def test_text_output_of_a_range_which_names_no_stream_is_read(write: Write) -> None:
    row = row_of(nr.analyze(write(LOG, "log.txt")))
    assert (row["kind"], row["time"], row["stream"]) == ("range", 50e-6, None)


def test_nvidias_own_reader_takes_the_results_of_these_tests_for_the_same(write: Write) -> None:
    ncu_report: Any = pytest.importorskip("ncu_report")
    strings = Strings()
    over: dict[str, Any] = {
        kind: (result_over(OF_RANGE | {DRAM: moved}, strings, name=name, inside=("step",)),)
        for kind, name, moved in (("ranges", None, 1.0), ("command_lists", "list 7", 2.0), ("graphs", None, 3.0))
    }
    # NVIDIA's reader reads the results of one kind of each block.
    first = block(strings=strings, ranges=over.pop("ranges"))
    others = [block(command_lists=over["command_lists"]), block(graphs=over["graphs"])]
    path = write(report(first, *others), "report.ncu-rep")
    actions = actions_of(Path(path))
    kinds = {
        ncu_report.IAction.WorkloadType_RANGE: "range",
        ncu_report.IAction.WorkloadType_CMDLIST: "command-list",
        ncu_report.IAction.WorkloadType_GRAPH: "graph",
    }
    theirs = [(kinds[action.workload_type()], action.metric_by_name(DRAM).as_double()) for action in actions]
    columns = nr.analyze(path).columns
    ours = zip(columns["kind"].tolist(), columns["traffic.dram.bytes"].tolist(), strict=True)
    assert sorted(ours) == sorted(theirs) == [("command-list", 2.0), ("graph", 3.0), ("range", 1.0)]
