"""Columns: numbers of distinct elements, rows and codes, and choices among columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncu_roofline import arrays
from ncu_roofline.arrays import first_known, highest, joined, mapped, numbered, numbered_rows, renumbered, repeated


def test_elements_are_numbered_in_order_of_first_appearance() -> None:
    numbers, distinct = numbered(["b", "a", "b", None])
    assert (numbers.tolist(), distinct) == ([0, 1, 0, 2], ["b", "a", None])


def test_element_that_is_the_only_one_has_the_number_zero() -> None:
    numbers, distinct = numbered([None, None])
    assert (numbers.tolist(), distinct) == ([0, 0], [None])


def test_rows_are_numbered_in_order_of_first_appearance() -> None:
    columns = [np.array(["a", "a", "b", "a"], object), np.array([2, 1, 2, 2]), repeated((1, 2), 4)]
    numbers, distinct = numbered_rows(columns)
    assert numbers.tolist() == [0, 1, 2, 0]
    assert distinct == [("a", 2, (1, 2)), ("a", 1, (1, 2)), ("b", 2, (1, 2))]


def test_no_rows_have_no_numbers() -> None:
    numbers, distinct = numbered_rows([np.zeros(0, object), np.zeros(0)])
    assert (numbers.tolist(), distinct) == ([], [])


def test_many_columns_of_many_values_do_not_overflow() -> None:
    each = np.arange(100_000)
    numbers, _ = numbered_rows([each] * 5)
    assert (numbers == each).all()


@pytest.mark.parametrize("part", [1, 2, 1 << 15])
@given(codes=st.lists(st.integers(0, 20) | st.integers(0, 1 << 40), max_size=30))
def test_codes_are_renumbered_by_first_appearance(part: int, codes: list[int]) -> None:
    distinct = list(dict.fromkeys(codes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_PART", part)
        numbers, firsts = renumbered(np.array(codes, np.int64))
    assert numbers.tolist() == [distinct.index(code) for code in codes]
    assert firsts.tolist() == [codes.index(code) for code in distinct]


def test_function_is_asked_once_for_equal_elements() -> None:
    answers = iter([2, 1])
    assert mapped(lambda _: next(answers), ["aa", "b", "aa"]).tolist() == [2, 1, 2]


def test_repeated_object_is_one_and_the_same() -> None:
    text = "".join(["a", "b"])
    assert all(item is text for item in repeated(text, 3))


def test_repeated_tuple_is_an_element_and_not_a_row() -> None:
    assert repeated((1, 2), 2).tolist() == [(1, 2), (1, 2)]


def test_columns_are_joined_one_after_the_other() -> None:
    assert joined([np.array([1, 2]), np.array([3])]).tolist() == [1, 2, 3]


def test_highest_is_the_first_of_equal_ones() -> None:
    assert highest([np.array([1, 3, 0]), np.array([2, 3, 0]), np.array([2, 1, 5])]).tolist() == [1, 0, 2]


def test_first_known_leaves_its_candidates_as_they_are() -> None:
    first = np.array([np.nan, 1.0])
    value, position = first_known([first, np.array([2.0, 3.0])])
    assert (value.tolist(), position.tolist()) == ([2.0, 1.0], [1, 0])
    assert np.isnan(first[0])


def test_position_of_what_nobody_knows_is_below_zero() -> None:
    _, position = first_known([np.array([np.nan]), np.array([np.nan])])
    assert position.tolist() == [-1]
