"""The table: what is known is shown, nothing is shown as zero, and it stays readable when it is narrow."""

from __future__ import annotations

import itertools

import pytest

import ncu_roofline as nr
from ncu_roofline.formats import percent, quantity, seconds, shape, short_kernel
from ncu_roofline.render.terminal import render_table
from tests.conftest import Write
from tests.support import ROOT, details, launch
from tests.test_findings import CLEAN

A100 = str(ROOT / "sample_reports" / "a100_raw.csv")
DEFAULT_SET = str(ROOT / "sample_reports" / "a100_default_set.csv")


def table(path: str, width: int = 200, **options: object) -> str:
    return render_table(nr.analyze(path), width=width, color=False, **options)  # type: ignore[arg-type]


def body(text: str) -> list[str]:
    """The rows of the table."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("kernel")) + 1
    ends = ("Left out", "1 launch,", "2 launches", "3 launches", "5 launches")
    stop = next(number for number, line in enumerate(lines) if number >= start and line.startswith(ends))
    return lines[start:stop]


def test_rows_are_in_the_order_of_their_time() -> None:
    names = ["triad", "stencil7", "void gemm", "void reduce", "hash_u32"]
    rows = body(table(A100))
    assert len(rows) == len(names)
    assert all(row.startswith(name) for row, name in zip(rows, names, strict=True))


def test_row_shows_time_bound_fraction_work_and_traffic_with_their_ceilings() -> None:
    row = body(table(A100))[0]
    # 1610612736 B / 1.1 ms = 1.464 TB/s = 94.1 %; 134217728 / 1.1 ms = 122.0 GFLOP/s of 7568.64 = 1.6 %
    for part in ("1.100 ms", "dram", "94.1%", "fp64 122.0 GFLOP/s (1.6%)", "1.464 TB/s (94.1%)"):
        assert part in row


def test_kernel_without_floating_point_work_is_shown_with_its_integer_work() -> None:
    row = next(row for row in body(table(A100)) if row.startswith("hash"))
    assert "int 1.342 TOP/s" in row


@pytest.mark.parametrize("width", [60, 80, 100, 132, 200])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    text = table(A100, width=width)
    assert all(len(row) <= width for row in body(text) if not row.startswith("Left out"))


@pytest.mark.parametrize("width", [60, 80])
def test_narrow_table_keeps_kernel_time_and_bound_and_says_what_it_leaves_out(width: int) -> None:
    text = table(A100, width=width)
    assert "94.1%" in body(text)[0]
    assert "Left out at this width:" in text


def test_default_set_shows_what_is_known_and_how_to_get_the_rest() -> None:
    text = table(DEFAULT_SET)
    for part in ("1.100 ms", "94.2%", "262144", "not collected: dram, l2, l1", "ncu --metrics gpu__time_duration.sum,"):
        assert part in text
    assert "0 B/s" not in text


def test_command_that_collects_is_printed_on_one_line() -> None:
    lines = [line for line in table(DEFAULT_SET, width=80).splitlines() if line.startswith("ncu --metrics")]
    assert len(lines) == 1
    assert lines[0].endswith("./application")


def test_only_the_command_is_wider_than_the_terminal() -> None:
    lines = table(DEFAULT_SET, width=80).splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith("ncu --metrics")] == []


@pytest.mark.parametrize("path", [A100, DEFAULT_SET])
def test_wider_terminal_never_shows_fewer_columns(path: str) -> None:
    def titles(width: int) -> set[str]:
        line = next(line for line in table(path, width=width).splitlines() if line.startswith("kernel"))
        return set(line.split())

    widths = range(60, 220, 10)
    for narrow, wide in itertools.pairwise(widths):
        assert titles(narrow) <= titles(wide)


def test_several_inputs_are_told_apart_and_summed_apart() -> None:
    text = render_table(nr.analyze(A100, DEFAULT_SET), width=160, color=False)
    assert f"[1] {DEFAULT_SET}: csv-details" in text
    assert "[0] 5 launches, total time 3.960 ms" in text
    assert "[1] 2 launches, total time 1.900 ms" in text


def test_ceilings_of_the_run_are_shown() -> None:
    assert "ceilings: dram 1.555 TB/s, l2 5.445 TB/s, l1 15.14 TB/s, fp64 7.569 TFLOP/s" in table(A100)


def test_lower_bound_is_marked(write: Write) -> None:
    metrics = {name: value for name, value in CLEAN.items() if name != "TEN"}
    assert ">=" in body(table(write(details(*launch(metrics)))))[0]


def test_bytes_are_shown_where_no_time_is_known(write: Write) -> None:
    assert "1.180 MB" in table(write(details("0|k|DB|Mbyte|1.18")))


def test_launches_of_one_kernel_and_shape_are_one_row(write: Write) -> None:
    rows = [row for n in range(3) for row in launch(CLEAN, number=n)]
    path = write(details(*rows))
    assert len(body(table(path))) == 1
    assert "0-2" in body(table(path))[0]
    assert len(body(table(path, per_launch=True))) == 3


def test_percentages_of_several_launches_are_a_range_and_not_a_mean(write: Write) -> None:
    name = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    text = table(write(details(f"0|k|{name}|%|10.00", f"1|k|{name}|%|30.00")))
    assert "10.0-30.0%" in text
    assert "20.0%" not in text


def test_top_limits_the_rows_and_says_so() -> None:
    text = table(A100, top=2)
    assert "3 more not shown" in text
    assert "hash_u32" not in text


def test_sort_by_fraction_puts_the_worst_first() -> None:
    assert body(table(A100, sort="fraction"))[0].startswith("void gemm_t")


def test_sort_by_launch_follows_the_report() -> None:
    assert body(table(A100, sort="launch"))[1].startswith("void gemm_t")


def test_launch_without_a_time_comes_last(write: Write) -> None:
    rows = body(table(write(details("0|a|DB|byte|5", "1|b|T|ns|20,000", "1|b|DB|byte|5"))))
    assert [row[0] for row in rows] == ["b", "a"]


def test_quiet_leaves_out_the_findings() -> None:
    assert "counter-not-collected" not in table(DEFAULT_SET, quiet=True)


def test_colours_only_on_request() -> None:
    analysis = nr.analyze(DEFAULT_SET)
    assert "\x1b[" not in render_table(analysis, width=100, color=False)
    assert "\x1b[" in render_table(analysis, width=100, color=True)


def test_kernel_name_with_markup_is_printed_as_it_is(write: Write) -> None:
    assert "k[bold]x[/bold]" in table(write(details("0|k[bold]x[/bold]|T|ns|20,000")))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.93536e12, "1.935 TB/s"),
        (999.96, "1000.0 B/s"),
        (0.0, "0 B/s"),
        (float("nan"), "-"),
        (None, "-"),
        (12.5e18, "12.50 EB/s"),
    ],
)
def test_quantity_has_four_digits_and_a_decimal_prefix(value: float | None, text: str) -> None:
    assert quantity(value, "B/s") == text


@pytest.mark.parametrize(("value", "text"), [(22.592e-6, "22.59 us"), (1.5, "1.500 s"), (5e-10, "0.5000 ns")])
def test_duration_is_in_the_unit_in_which_it_is_at_least_one(value: float, text: str) -> None:
    assert seconds(value) == text


def test_percentages_and_shapes() -> None:
    assert percent(0.94148) == "94.1%"
    assert percent(0.5, at_least=True) == ">=50.0%"
    assert shape((128, 1, 1)) == "128"
    assert shape((32, 4, 1)) == "32x4"


def test_long_kernel_name_keeps_both_ends() -> None:
    short = short_kernel("void kernel<" + "x" * 600 + ", 42>(T1 *)", 30)
    assert len(short) == 30
    assert short.startswith("void kernel")
    assert short.endswith(">(T1 *)")
