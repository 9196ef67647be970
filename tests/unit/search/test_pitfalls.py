"""What goes wrong in systems of this kind, each named as people reported it, asked of a whole search."""

import pytest

from tests.fakes.encoders import spec
from tests.unit.ranking.lists import G2, G8, Text, dense, lexical, ranked
from tests.unit.search.shop import SELECTIONS, Shop, documents, prose
from umg_search.errors import QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import Document, DocumentKey, version_of
from umg_search.ports import BlockId, Scope
from umg_search.search import RankingOptions, Selection, rank

GIBBERISH = "xqzt wvvk pfft"


@pytest.fixture
def shop() -> Shop:
    return Shop(None, *documents())


def test_a_tiny_chunk_does_not_beat_the_answer_by_being_short() -> None:
    """A tiny chunk beats the answer because it is short: the floor of 16 tokens takes that away."""
    answer, heading = Text("answer", (9, 9, 9)), Text("heading", (1, 1))
    lists = [ranked(dense(G2), (answer, 0, 0.9), (heading, 0, 0.8), (answer, 1, 0.1))]
    chunks = Selection.CHUNKS
    assert rank(lists, RankingOptions(select=chunks, floor=0)).kept[0].version == heading.version
    assert rank(lists, RankingOptions(select=chunks)).kept[0].version == answer.version


@SELECTIONS
def test_one_hit_in_a_list_is_certain(selection: Selection) -> None:
    """One hit in a list: mostly a rare identifier, so it has confidence 1 and wins over an undecided list."""
    document, other = Text("a", (9,) * 9), Text("b", (9,) * 9)
    lists = [ranked(lexical(G2), (other, 3, 7.0)), ranked(dense(G2), *((document, i, 0.5) for i in range(8)))]
    found = rank(lists, RankingOptions(select=selection))
    assert [item.confidence for item in found.evidence] == pytest.approx([1, 0])
    assert found.kept[0].version == other.version


@SELECTIONS
def test_equal_scores_are_an_undecided_list(selection: Selection) -> None:
    """All scores equal: no division by a spread of zero; the list weighs nothing beside one that can tell."""
    document = Text("a", (9,) * 40)
    equal = ranked(lexical(G2), *((document, i, 3.0) for i in range(30)))
    telling = ranked(dense(G2), (document, 38, 0.9), (document, 0, 0.1))
    assert rank([equal], RankingOptions(select=selection)).weights == (1.0,)
    found = rank([equal, telling], RankingOptions(select=selection, budget=18))
    assert found.weights == pytest.approx((0, 1))
    assert found.kept[0].first >= 32 if selection is Selection.PARENTS else found.kept[0].first == 38


@SELECTIONS
def test_an_empty_list_takes_no_part(selection: Selection) -> None:
    """An empty list: BM25 knows none of the words, and the others answer."""
    shop = Shop(spec(experts=(Expert.DENSE, Expert.LEXICAL)), *documents())
    result = shop.search("unknownword", select=selection)
    assert {report.channel.expert for report in result.channels} == {Expert.DENSE}
    assert result.contexts
    assert result.degraded == ()


@SELECTIONS
def test_a_list_that_failed_is_named_and_the_answer_does_without_it(shop: Shop, selection: Selection) -> None:
    """A list that failed is neither an empty one nor an error."""
    shop.engine.failing = {Channel(Expert.DENSE, Granularity.G4): "shard lost"}
    result = shop.search("uniqueglacier", select=selection)
    assert result.degraded == ("dense-g04",)
    assert "uniqueglacier" in result.contexts[0].text


@SELECTIONS
def test_scores_fall_with_rank(shop: Shop, selection: Selection) -> None:
    """Scores must fall with rank, also where duplicates were taken together and the budget filled again."""
    shop.put(*(Document(id=f"copy{i}", text=prose("glacier", 8)) for i in range(3)))
    scores = [context.score for context in shop.search("glacier season 3", select=selection, top_k=0).contexts]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


def test_relevance_is_another_value_than_the_score_and_comparable(shop: Shop) -> None:
    """A separate relevance value (cosine) says how good the best hit is: scores look alike for any question."""
    sure, lost = (shop.search(question).contexts[0] for question in ("uniqueglacier alone", GIBBERISH))
    assert sure.relevance > 1.5 * lost.relevance
    assert lost.score > sure.score / 2


@SELECTIONS
def test_a_gibberish_question_is_answered_by_nothing_relevant(shop: Shop, selection: Selection) -> None:
    """A gibberish query may answer "nothing relevant": with a least relevance, which keeps the answers of others."""
    sure = shop.search("uniqueglacier alone", select=selection)
    least = sure.contexts[0].relevance * 0.9
    result = shop.search(GIBBERISH, select=selection, min_relevance=least)
    assert result.contexts == ()
    left_out = len(shop.search(GIBBERISH, select=selection).contexts)
    assert result.warnings == (f"Contexts of less than the least relevance are left out: {left_out}.",)
    strict = shop.search("uniqueglacier alone", select=selection, min_relevance=least)
    assert strict.contexts
    assert strict.contexts == tuple(c for c in sure.contexts if c.relevance is not None and c.relevance >= least)


def test_a_least_relevance_without_a_dense_list_leaves_all_and_says_so() -> None:
    shop = Shop(spec(experts=(Expert.LEXICAL,)), *documents())
    plain, result = shop.search("uniqueglacier"), shop.search("uniqueglacier", min_relevance=0.5)
    assert result.contexts == plain.contexts
    assert len(result.warnings) == 1
    assert "no relevance to judge by" in result.warnings[0]


@pytest.mark.parametrize("granularities", [(G2,), (G2, G8)])
def test_a_parent_whose_text_is_gone_in_part_is_answered_by_the_hit(granularities: tuple[Granularity, ...]) -> None:
    """The parent of a hit is missing (deleted meanwhile): the hit itself is returned with a warning.

    The parent of sentences 30 and 31 is 28 to 36, and from 32 on another block holds the text. Where the window from
    24 to 32 is in the answer too, it shows the hit already.
    """
    lines = [f"Line {i} of nothing." for i in range(40)]
    lines[31] = "The uniqueword is here."
    document = Document(id="d", text=" ".join(lines))
    shop = Shop(spec(granularities=granularities, experts=(Expert.LEXICAL,)), document)
    whole = [(c.first, c.last) for c in shop.search("uniqueword", select=Selection.PARENTS).contexts]
    assert (28, 36) in whole
    del shop.engine.blocks[BlockId(version_of(document.key.hash, 1), 1)]
    result = shop.search("uniqueword", select=Selection.PARENTS)
    assert any("uniqueword" in context.text for context in result.contexts)
    if G8 in granularities:
        assert [(c.first, c.last) for c in result.contexts] == [(24, 32)]
        assert result.warnings == ("Texts that were deleted meanwhile are left out: 1.",)
    else:
        assert [(c.first, c.last) for c in result.contexts] == [(30, 32)]
        assert result.warnings == ("Of texts that were deleted in part meanwhile only the hits are shown: 1.",)


def test_a_text_that_is_gone_as_a_whole_is_left_out_with_a_warning(shop: Shop) -> None:
    gone = DocumentKey("default", "glacier").hash
    for block in [block for block in shop.engine.blocks if block.version[:16] == gone]:
        del shop.engine.blocks[block]
    result = shop.search("uniqueglacier glacier", select=Selection.PARENTS)
    assert all(context.document_id != "glacier" for context in result.contexts)
    assert "deleted meanwhile are left out" in result.warnings[0]


@SELECTIONS
def test_a_search_says_whether_it_seems_to_answer_only_where_it_is_asked(shop: Shop, selection: Selection) -> None:
    """A gibberish question looks like any other by its scores: a threshold of the best cosine tells it apart."""
    sure = shop.search("uniqueglacier alone", select=selection)
    assert sure.answered is None
    at = sure.contexts[0].relevance * 0.9
    assert shop.search("uniqueglacier alone", select=selection, answered_at=at).answered is True
    lost = shop.search(GIBBERISH, select=selection, answered_at=at)
    assert lost.answered is False
    assert lost.contexts, "it is told, and nothing is left out for it"


def test_where_nothing_is_found_nothing_answers(shop: Shop) -> None:
    empty = Scope(collections=("nowhere",))
    assert shop.search("uniqueglacier", scope=empty, answered_at=-1.0).answered is False
    assert shop.search("uniqueglacier", scope=empty).answered is None


def test_without_a_dense_list_it_cannot_be_told_whether_something_answers() -> None:
    shop = Shop(spec(experts=(Expert.LEXICAL,)), *documents())
    result = shop.search("uniqueglacier", answered_at=0.5)
    assert result.answered is None
    assert len(result.warnings) == 1
    assert "cannot be told" in result.warnings[0]


def test_a_threshold_that_is_no_cosine_is_refused() -> None:
    with pytest.raises(QueryError, match=r"answered_at is 1\.5"):
        RankingOptions(answered_at=1.5)
