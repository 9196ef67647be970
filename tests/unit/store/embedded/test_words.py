import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.store.embedded.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The QUICK fox", "the quick fox"),
        ("don't e-mail U.S. 3.14 1,000 foo_bar", "don't e mail u.s 3.14 1,000 foo_bar"),
        ("東京 カタカナ 한국어", "東 京 カタカナ 한국어"),
        ("हिन्दी میں", "हिन्दी میں"),
        ("naïve cafe\u0301", "naïve cafe\u0301"),
        ("... !? —", ""),
        ("", ""),
        ("a\n\tb\u00a0c", "a b c"),
        ("\ud800", ""),
    ],
)
def test_words_are_those_of_the_standard_analyzer(text: str, expected: str) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_of_words_are_the_same(text: str) -> None:
    """Hence a query of one indexed word finds it."""
    once = words(text)
    assert words(once) == once
