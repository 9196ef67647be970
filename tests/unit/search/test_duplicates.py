"""Passages with one text: shown once, with every place that the asker may read, and no token spent twice."""

import pytest

from tests.fakes.encoders import spec, words
from tests.unit.search.shop import SELECTIONS, Shop, prose
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, DocumentKey, SearchResult
from umg_search.ports import Scope
from umg_search.search import Selection
from umg_search.search.service import REFILLS

NOTICE = "This notice is legally privileged. Whoever received it wrongly must destroy it at once."
TOKENS = len(words(NOTICE))
QUESTION = "legally privileged notice"


def letters(count: int, text: str = NOTICE) -> list[Document]:
    return [Document(id=f"letter{i}", text=text, acl=("*",)) for i in range(count)]


def harbour(sentences: int = 20) -> Document:
    return Document(id="harbour", text=prose("harbour", sentences), acl=("*",))


def passages(result: SearchResult) -> list[set[str]]:
    """Return the documents of each passage that is shown, but for the harbour's."""
    found = [{source.document_id for source in context.sources} for context in result.contexts]
    return [names for names in found if names != {"harbour"}]


@SELECTIONS
def test_equal_texts_of_several_documents_are_one_context(selection: Selection) -> None:
    shop = Shop(None, *letters(3), harbour())
    result = shop.search(QUESTION, select=selection, budget=400)
    assert passages(result) == [{"letter0", "letter1", "letter2"}]
    (context,) = [c for c in result.contexts if c.text == NOTICE]
    own = context.sources[0]
    assert (own.document_id, own.collection, own.title) == (context.document_id, context.collection, context.title)
    assert (own.first, own.last, own.start, own.end) == (context.first, context.last, context.start, context.end)


@SELECTIONS
def test_one_text_in_two_collections_names_both(selection: Selection) -> None:
    """The same paragraph in two tenants: both are sources, and a search in one of them names that one only."""
    tenants = [Document(id="d", text=NOTICE, collection=name) for name in ("one", "two")]
    shop = Shop(None, *tenants)
    (both,) = shop.search(QUESTION, select=selection).contexts
    assert {(s.collection, s.document_id) for s in both.sources} == {("one", "d"), ("two", "d")}
    (mine,) = shop.search(QUESTION, select=selection, scope=Scope(("two",))).contexts
    assert [source.collection for source in mine.sources] == ["two"]


def test_a_paragraph_twice_in_one_document_is_one_context_with_two_places() -> None:
    text = " ".join([NOTICE, prose("harbour", 30), NOTICE])
    shop = Shop(spec(experts=(Expert.LEXICAL,), granularities=(Granularity.G2,)), Document(id="d", text=text))
    found = shop.search("legally privileged whoever wrongly destroy", budget=2 * TOKENS)
    (context,) = [c for c in found.contexts if c.text == NOTICE]
    assert {(s.first, s.last) for s in context.sources} == {(0, 2), (32, 34)}
    assert all(text[s.start : s.end] == NOTICE for s in context.sources)


@SELECTIONS
def test_what_copies_leave_of_the_budget_is_filled_by_one_more_read_and_no_search(selection: Selection) -> None:
    shop = Shop(None, *letters(3), harbour())
    result = shop.search(f"{QUESTION} harbour", select=selection, budget=3 * TOKENS, top_k=3)
    assert shop.searches == 1
    assert shop.engine.calls.count("fetch") <= 1 + REFILLS
    assert passages(result) == [{"letter0", "letter1", "letter2"}]
    assert any(context.document_id == "harbour" for context in result.contexts)
    assert sum(context.tokens for context in result.contexts) <= 3 * TOKENS
    assert len(result.contexts) <= 3


@SELECTIONS
def test_even_more_copies_than_the_refills_bring_are_one_context(selection: Selection) -> None:
    shop = Shop(None, *letters(12))
    result = shop.search(QUESTION, select=selection, budget=2 * TOKENS)
    assert len(passages(result)) == 1
    assert 2 <= len(result.contexts[0].sources) <= 12
    assert shop.engine.calls.count("fetch") <= 1 + REFILLS


def test_without_copies_one_read_is_enough() -> None:
    shop = Shop(None, *letters(1), harbour())
    shop.search(QUESTION)
    assert shop.engine.calls == ["ranked_lists", "fetch"]


@SELECTIONS
def test_the_score_is_that_of_the_best_place_and_no_sum(selection: Selection) -> None:
    shop = Shop(None, *letters(3), harbour())
    (context,) = [c for c in shop.search(QUESTION, select=selection).contexts if c.text == NOTICE]
    if selection is Selection.SPANS:
        assert context.score == pytest.approx(sum(context.channels.values()))
    assert context.score < 1 / 2


def test_white_space_does_not_make_a_difference_and_capitals_do() -> None:
    spaced, loud = NOTICE.replace("legally ", "legally\n  "), NOTICE.replace("This", "THIS")
    documents = [Document(id=name, text=text) for name, text in (("a", NOTICE), ("b", spaced), ("c", loud))]
    assert sorted(passages(Shop(None, *documents).search(QUESTION)), key=len) == [{"c"}, {"a", "b"}]


@SELECTIONS
@pytest.mark.parametrize("when", [1, 2], ids=["before the first read", "before the refill"])
def test_a_copy_that_is_revoked_meanwhile_is_no_source(selection: Selection, when: int) -> None:
    shop = Shop(spec(access_control=True), *letters(3), harbour())
    revoked = Document(id="letter1", text=NOTICE, acl=("bob",))

    def revoke() -> None:
        shop.writer._attributes.write(shop.index, [revoked])

    for act in (*[lambda: None] * (when - 1), revoke):
        shop.engine.before("fetch", act)
    result = shop.search(
        f"{QUESTION} harbour", select=selection, budget=3 * TOKENS, explain=False, scope=Scope(principals=("ann",))
    )
    assert passages(result) == [{"letter0", "letter2"}]


@SELECTIONS
def test_a_copy_that_is_deleted_meanwhile_is_no_source(selection: Selection) -> None:
    shop = Shop(None, *letters(3), harbour())
    shop.engine.before("fetch", lambda: shop.writer.delete(shop.index, [DocumentKey("default", "letter2")]))
    assert passages(shop.search(QUESTION, select=selection, explain=False)) == [{"letter0", "letter1"}]
