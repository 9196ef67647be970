"""What holds for every string."""

import re
from itertools import pairwise

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.sentences import SentenceOptions, sentence_bounds, stored_text

_WORDS = [
    *(
        "a",
        "Dr",
        "Inc",
        "The",
        "1",
        "2.5",
        "§ 4",
        "(a)",
        "汉字",
        "かな",
        "한글",
        "ไทย",
        "क्षि",
        "ع",
        "۔",
        "👩\u200d👧",
        "🇩🇪",
    ),
    *(".", "!", "?", "。", "…", '"', "“", "”", "(", ")", "|", "#", "-", "```", "=", "\u0301", "\u200d", "\0", "\ud800"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\u2028", "\u2029", "\f", "\ufeff"),
]
texts = st.one_of(
    st.text(st.characters(), max_size=300),  # all code points, lone surrogates too
    st.lists(st.sampled_from(_WORDS), max_size=200).map("".join),
    st.lists(st.sampled_from(_WORDS), max_size=200).map(" ".join),
)
languages = st.sampled_from([None, "en", "de", "fr", "zh", "ja", "th", "km", "xx", ""])
SMALL = SentenceOptions(max_sentence_chars=40, max_sentence_chars_dense=15)


@given(texts, languages, st.sampled_from([SentenceOptions(), SMALL]))
@settings(max_examples=200, deadline=None)
def test_bounds_tile_the_text(text: str, language: str | None, options: SentenceOptions) -> None:
    bounds = sentence_bounds(text, language=language, options=options)
    if not text.strip():
        assert bounds == ()
        return
    assert bounds[0] == 0
    assert bounds[-1] == len(text)
    assert all(start < end for start, end in pairwise(bounds))


@given(texts, languages)
@example("000000000       㐀", None)  # white space reaches over the longest length
@settings(max_examples=100, deadline=None)
def test_sentences_start_with_no_white_space_except_the_first(text: str, language: str | None) -> None:
    bounds = sentence_bounds(text, language=language, options=SMALL)
    assert not any(text[start].isspace() for start in bounds[1:-1])


@given(texts, languages)
@settings(max_examples=100, deadline=None)
def test_no_bound_is_inside_a_grapheme(text: str, language: str | None) -> None:
    bounds = sentence_bounds(text, language=language, options=SentenceOptions())
    assert {0, len(text), *(found.end() for found in regex.finditer(r"\X", text))}.issuperset(bounds)


@given(texts, languages)
@settings(max_examples=100, deadline=None)
def test_no_sentence_is_longer_than_the_limit(text: str, language: str | None) -> None:
    bounds = sentence_bounds(text, language=language, options=SMALL)
    lengths = [len(text[start:end].strip()) for start, end in pairwise(bounds)]
    assert all(length <= SMALL.max_sentence_chars for length in lengths)


@given(texts, languages)
@settings(max_examples=100, deadline=None)
def test_each_sentence_has_a_letter_or_digit_unless_the_text_has_none(text: str, language: str | None) -> None:
    """With a limit that is not reached: a run of marks longer than the limit has to be cut."""
    options = SentenceOptions(max_sentence_chars=10_000, max_sentence_chars_dense=10_000)
    bounds = sentence_bounds(text, language=language, options=options)
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    assert len(pieces) <= 1 or all(re.search(r"[^\W_]", piece) for piece in pieces)


@given(texts, languages)
@settings(max_examples=100, deadline=None)
def test_the_same_text_gives_the_same_bounds(text: str, language: str | None) -> None:
    assert sentence_bounds(text, language=language, options=SMALL) == sentence_bounds(
        text, language=language, options=SMALL
    )


@given(texts)
def test_stored_text_is_idempotent_and_can_be_encoded(text: str) -> None:
    stored = stored_text(text)
    assert stored_text(stored) == stored
    assert len(stored) == len(text)
    assert b"\0" not in stored.encode("utf-8")
