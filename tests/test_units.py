"""Facts of the unit table, each from NVIDIA's manual or a real report."""

from __future__ import annotations

import pytest

from ncu_roofline.units import UNITS, find_unit


@pytest.mark.parametrize(
    ("text", "dimension", "factor"),
    [
        ("nsecond", "s", 1e-9),
        ("ns", "s", 1e-9),
        ("usecond", "s", 1e-6),
        ("us", "s", 1e-6),
        ("msecond", "s", 1e-3),
        ("ms", "s", 1e-3),
        ("second", "s", 1.0),
        ("byte", "byte", 1.0),
        ("Kbyte", "byte", 1e3),
        ("Mbyte", "byte", 1e6),
        ("Gbyte", "byte", 1e9),
        ("MiB", "byte", 1048576.0),
        ("byte/second", "byte/s", 1.0),
        ("Gbyte/s", "byte/s", 1e9),
        ("Tbyte/s", "byte/s", 1e12),
        ("Gbyte/second", "byte/s", 1e9),
        ("byte/nsecond", "byte/s", 1e9),
        ("hz", "count/s", 1.0),
        ("Ghz", "count/s", 1e9),
        ("cycle/second", "count/s", 1.0),
        ("cycle/nsecond", "count/s", 1e9),
        ("1/ns", "count/s", 1e9),
        ("1/cycle", "count/cycle", 1.0),
        ("inst/cycle", "count/cycle", 1.0),
        ("Kbyte/cycle", "byte/cycle", 1e3),
        ("%", "1", 0.01),
        ("sector", "count", 1.0),
        ("", "count", 1.0),
    ],
)
def test_spelling_has_dimension_and_decimal_factor(text: str, dimension: str, factor: float) -> None:
    unit = find_unit(text)
    assert unit is not None
    assert unit.dimension == dimension
    assert unit.factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize("text", ["fortnight", "kbyte", "GB", "bytes", "Byte", "mhz", "MByte"])
def test_spelling_that_ncu_does_not_print_is_unknown(text: str) -> None:
    assert find_unit(text) is None


def test_old_and_new_spellings_of_a_rate_agree() -> None:
    assert UNITS["byte/second"] == UNITS["byte/s"]
    assert UNITS["cycle/second"] == UNITS["hz"]
