import pytest

from umg_search.model import DocumentHash, Selected, Shared, version_of
from umg_search.ranking.duplicates import identical, normal


def place(name: str, score: float = 1.0) -> Selected:
    return Selected(version_of(DocumentHash(name.encode().ljust(16, b"\0")), 1), 0, 1, score, (3,))


A, B, C, D = (place(name, score) for name, score in zip("abcd", (4.0, 3.0, 2.0, 1.0), strict=True))


def test_the_best_of_equal_texts_stands_for_all() -> None:
    texts = {A: "one", B: "same  text", C: "other", D: "same\ntext"}
    assert identical([A, B, C, D], texts, ()) == (Shared(B, (D,)),)


def test_different_texts_are_left_alone_and_missing_ones_equal_none() -> None:
    assert identical([A, B], {A: "one", B: "two"}, ()) == ()
    assert identical([A, B, C], {B: "one"}, ()) == ()


def test_known_passages_keep_their_copies_and_win_new_ones() -> None:
    known = (Shared(B, (D,)),)
    assert identical([A, B, C], {A: "x", B: "same", C: "same"}, known) == (Shared(B, (D, C)),)
    assert identical([A, B, C], {A: "same", B: "same", C: "y"}, known) == (Shared(A, (B, D)),)
    assert identical([A, B], {A: "x", B: "same"}, known) == known


@pytest.mark.parametrize(
    ("one", "other"), [("a  b\n", " a b"), ("cafe\u0301", "caf\u00e9"), ("a\u00a0b", "a b"), ("a\u3000b", "a\tb")]
)
def test_white_space_and_composition_do_not_count(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(("one", "other"), [("10²", "102"), ("½", "1/2"), ("us", "US"), ("a b", "ab"), ("3.5", "35")])
def test_what_changes_the_meaning_counts(one: str, other: str) -> None:
    assert normal(one) != normal(other)
