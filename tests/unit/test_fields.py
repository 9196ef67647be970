"""Declared fields: which values fit a type, and the form in which they are held."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.model import MOST_CHARACTERS, FieldType, cut, typed, typed_text

DAY = 24 * 60 * 60 * 1000


@pytest.mark.parametrize(
    ("kind", "value", "held"),
    [
        (FieldType.INTEGER, -(2**63), -(2**63)),
        (FieldType.INTEGER, 2**63 - 1, 2**63 - 1),
        (FieldType.FLOAT, 2, 2.0),
        (FieldType.FLOAT, 0.1, 0.1),
        (FieldType.BOOLEAN, False, False),
        (FieldType.KEYWORD, "", ""),
        (FieldType.DATE, "1970-01-02", DAY),
        (FieldType.DATE, "1970-01-02T00:00", DAY),
        (FieldType.DATE, "1970-01-02 00:00:00Z", DAY),
        (FieldType.DATE, "1970-01-02T01:00:00+01:00", DAY),
        (FieldType.DATE, "1970-01-01T22:30:00-0130", DAY),
        (FieldType.DATE, "1970-01-01T00:00:00.0019999", 1),
        (FieldType.DATE, "1969-12-31T23:59:59.9999", -1),
        (FieldType.DATE, "0001-01-01T00:00:00+14:00", -719_162 * DAY - 14 * DAY // 24),
    ],
)
def test_a_value_that_fits_is_held_like_this(kind: FieldType, value: Any, held: Any) -> None:
    found = typed(value, kind)
    assert (found, type(found)) == (held, type(held))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (FieldType.INTEGER, 2**63),
        (FieldType.INTEGER, 2020.0),
        (FieldType.INTEGER, True),
        (FieldType.INTEGER, "2020"),
        (FieldType.FLOAT, math.nan),
        (FieldType.FLOAT, math.inf),
        (FieldType.FLOAT, 10**400),
        (FieldType.FLOAT, False),
        (FieldType.FLOAT, "1.5"),
        (FieldType.BOOLEAN, 1),
        (FieldType.BOOLEAN, "true"),
        (FieldType.KEYWORD, 1),
        (FieldType.KEYWORD, None),
        (FieldType.DATE, 0),
        (FieldType.DATE, "2024"),
        (FieldType.DATE, "2024-02-30"),
        (FieldType.DATE, "20240501"),
        (FieldType.DATE, "2024-05-01T25:00"),
        (FieldType.DATE, "2024-05-01x10:00"),
        (FieldType.DATE, "yesterday"),
        (FieldType.DATE, "２０２４-05-01"),
        (FieldType.KEYWORD, ["a"]),
        (FieldType.INTEGER, {"a": 1}),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_the_type(kind: FieldType, value: Any) -> None:
    with pytest.raises(ValueError, match=f"is no {kind}$"):
        typed(value, kind)


@pytest.mark.parametrize(
    ("kind", "text", "held"),
    [
        (FieldType.INTEGER, "-007", -7),
        (FieldType.FLOAT, "1e3", 1000.0),
        (FieldType.BOOLEAN, "true", True),
        (FieldType.DATE, "1970-01-02", DAY),
        (FieldType.KEYWORD, "007", "007"),
    ],
)
def test_a_text_without_quotes_is_read_as_the_type_tells(kind: FieldType, text: str, held: Any) -> None:
    assert typed_text(text, kind) == held


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (FieldType.INTEGER, "1_000"),
        (FieldType.INTEGER, "1.0"),
        (FieldType.INTEGER, "9" * 19),
        (FieldType.INTEGER, "9" * 5_000),
        (FieldType.FLOAT, "nan"),
        (FieldType.FLOAT, "1e999"),
        (FieldType.FLOAT, "x"),
        (FieldType.BOOLEAN, "True"),
        (FieldType.DATE, "05/01/2024"),
    ],
)
def test_a_text_that_is_none_of_the_type_is_refused(kind: FieldType, text: str) -> None:
    with pytest.raises(ValueError, match=f"is no {kind}$"):
        typed_text(text, kind)


@given(st.text(), st.text())
def test_texts_are_equal_when_they_are_equal_in_engines(one: str, other: str) -> None:
    for long in ("", "x" * (MOST_CHARACTERS - 1), "x" * MOST_CHARACTERS):
        assert (cut(long + one) == cut(long + other)) is (one == other)


@given(st.text(), st.integers(1, MOST_CHARACTERS))
def test_a_text_in_engines_has_the_same_prefixes(text: str, length: int) -> None:
    """None is too long for a server either: 32,766 bytes."""
    long = text * 9
    assert cut(long)[:MOST_CHARACTERS] == long[:MOST_CHARACTERS]
    assert cut(long).startswith(long[:length])
    assert len(cut(long)) <= MOST_CHARACTERS + 2 * 16


@pytest.mark.parametrize("text", ["1_0", "١٢", "nan", "inf", "1e", ".", "0x10", " 1"])
def test_a_number_is_written_in_plain_digits(text: str) -> None:
    """Python reads some of these as numbers."""
    with pytest.raises(ValueError, match="is no float"):
        typed_text(text, FieldType.FLOAT)


def test_fractions_and_exponents_are_read() -> None:
    assert [typed_text(text, FieldType.FLOAT) for text in ("1", "-2.5", ".5", "1e3")] == [1.0, -2.5, 0.5, 1000.0]
