from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.encoders import WordCount
from tests.unit.ranking.lists import PROPERTY
from umg_search.model import Document, DocumentKey, Selected, SplitDocument, version_of
from umg_search.ports import BlockId
from umg_search.store.contexts import Passage, blocks_for, passage, shortened, trimmed
from umg_search.store.entries import blocks_of

VERSION = version_of(DocumentKey("default", "a").hash, 1)
OTHER = version_of(DocumentKey("default", "b").hash, 1)


def selected(first: int, last: int, version: bytes = VERSION) -> Selected:
    return Selected(version, first, last, 1.0, (1,) * (last - first))


def split_of(sentences: list[str]) -> SplitDocument:
    bounds = tuple(accumulate(map(len, sentences), initial=0))
    return SplitDocument(Document(id="a", text="".join(sentences)), bounds, (1,) * len(sentences))


# --- blocks --------------------------------------------------------------------------------------------------------


def test_the_blocks_of_selections_are_asked_for_once_and_in_order() -> None:
    wanted = blocks_for([selected(31, 33), selected(0, 1), selected(32, 64), selected(0, 2, OTHER)])
    first, second = sorted([VERSION, OTHER])
    expected = {VERSION: [0, 1], OTHER: [0]}
    assert wanted == [BlockId(version, number) for version in (first, second) for number in expected[version]]


@pytest.mark.parametrize(("first", "last", "numbers"), [(0, 32, [0]), (31, 32, [0]), (32, 33, [1]), (31, 33, [0, 1])])
def test_a_selection_needs_no_block_beyond_its_last_sentence(first: int, last: int, numbers: list[int]) -> None:
    assert [block.number for block in blocks_for([selected(first, last)])] == numbers


# --- passages ------------------------------------------------------------------------------------------------------


@PROPERTY
@given(
    st.lists(st.text(st.sampled_from("ab \n\u3000é😀."), min_size=1, max_size=6), min_size=1, max_size=110), st.data()
)
def test_a_passage_is_a_slice_of_the_stored_text_over_any_block_borders(
    sentences: list[str], data: st.DataObject
) -> None:
    split = split_of(sentences)
    blocks = {BlockId(block.version, block.number): block for block in blocks_of(split, VERSION)}
    first = data.draw(st.integers(0, len(sentences) - 1))
    last = data.draw(st.integers(first + 1, len(sentences)))
    found = passage(selected(first, last), blocks)
    text = split.document.text
    assert found.text == "".join(sentences[first:last]).strip()
    assert text[found.start : found.start + len(found.text)] == found.text
    assert split.bounds[first] <= found.start
    assert found.start + len(found.text) <= split.bounds[last]


def test_a_passage_with_a_missing_block_is_no_passage() -> None:
    split = split_of(["x "] * 70)
    blocks = {BlockId(block.version, block.number): block for block in blocks_of(split, VERSION)}
    del blocks[BlockId(VERSION, 1)]
    assert passage(selected(0, 32), blocks) is not None
    assert passage(selected(20, 40), blocks) is None
    assert passage(selected(0, 70), blocks) is None
    assert passage(selected(0, 2, OTHER), blocks) is None


@PROPERTY
@given(st.integers(0, 100), st.text())
def test_trimming_moves_the_start_with_the_white_space(start: int, text: str) -> None:
    found = trimmed(start, text)
    assert found.text == text.strip()
    assert text[found.start - start :].startswith(found.text)


# --- one sentence over the whole budget ------------------------------------------------------------------------------


def test_a_passage_is_shortened_at_a_word_bound() -> None:
    found = shortened(Passage(10, "alpha beta, gamma delta"), 3, WordCount())
    assert found == Passage(10, "alpha beta, gamma")


def test_punctuation_that_costs_nothing_stays() -> None:
    assert shortened(Passage(0, "alpha beta! gamma"), 2, WordCount()).text == "alpha beta!"


def test_a_word_over_the_budget_is_cut_between_graphemes_and_one_is_kept() -> None:
    """To UAX 29 `a.b.c` is one word; this counter finds three in it."""
    assert shortened(Passage(0, "a.b.c d"), 2, WordCount()).text == "a.b."
    assert shortened(Passage(0, "e\u0301t\u00e9"), 0, WordCount()).text == "e\u0301"


def test_a_passage_that_fits_stays_whole() -> None:
    whole = Passage(3, "alpha beta")
    assert shortened(whole, 2, WordCount()) == whole


def test_an_empty_passage_stays_empty() -> None:
    assert shortened(Passage(3, ""), 2, WordCount()) == Passage(3, "")


def test_a_text_without_spaces_is_cut_where_words_may_end() -> None:
    """Han characters are words of their own by UAX 29."""

    class Characters:
        name = "characters"

        def count(self, texts: list[str]) -> list[int]:
            return [len(text) for text in texts]

    assert shortened(Passage(0, "春眠不覚暁処処聞啼鳥"), 4, Characters()).text == "春眠不覚"


@PROPERTY
@given(st.text(st.sampled_from("ab ,.\n😀'’漢"), min_size=1, max_size=60), st.integers(1, 8))
def test_what_is_left_is_a_beginning_that_fits_and_no_longer_one_does(text: str, budget: int) -> None:
    whole = trimmed(0, text)
    found = shortened(whole, budget, WordCount())
    assert whole.text.startswith(found.text)
    assert found.start == whole.start
    assert bool(found.text) == bool(whole.text)
    assert WordCount().count([found.text])[0] <= max(budget, 1)
    if WordCount().count([whole.text])[0] <= budget:
        assert found == whole
