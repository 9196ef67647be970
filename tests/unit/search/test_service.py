"""The read path over an engine in memory: what a searcher sees while others write."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.fakes.encoders import HashedWords, WordCount, encoded, spec, split, words
from tests.fakes.engine import MemoryEngine, cosine
from tests.unit.search.shop import SELECTIONS, SUBJECTS, Shop, documents, prose
from umg_search.errors import EngineError, NoIndexSet, QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import Document, DocumentKey, EncodedQuery, SetSpec, version_of
from umg_search.ports import BlockId, Scope
from umg_search.search import Query, RankingOptions, SearchService, Selection
from umg_search.store import generations
from umg_search.store.entries import blocks_of, chunks_of
from umg_search.store.reader import Reader


@pytest.fixture
def shop() -> Shop:
    return Shop(None, *documents())


# --- an answer -----------------------------------------------------------------------------------------------------


@SELECTIONS
@pytest.mark.parametrize("budget", [5, 40, 200])
def test_contexts_are_exact_within_the_budget_and_ordered(shop: Shop, selection: Selection, budget: int) -> None:
    stored = {d.id: split(d) for d in documents()}
    result = shop.search("part of the harbour for season 3", select=selection, budget=budget)
    assert result.contexts
    assert sum(context.tokens for context in result.contexts) <= budget
    assert [c.score for c in result.contexts] == sorted((c.score for c in result.contexts), reverse=True)
    for context in result.contexts:
        text = stored[context.document_id].document.text
        assert context.text == text[context.start : context.end]
        assert context.title == context.document_id.title()
        assert context.collection == "default"
        if not context.truncated:
            assert context.text == stored[context.document_id].text_of(context.first, context.last).strip()
            assert context.tokens == len(words(context.text))


def test_one_search_and_one_read_are_enough(shop: Shop) -> None:
    for explain in (False, True):
        result = shop.search("uniqueglacier", explain=explain)
        assert shop.engine.calls == ["ranked_lists", "fetch"]
        assert "uniqueglacier" in result.contexts[0].text


def test_an_answer_names_the_engine_the_question_and_the_time_of_each_stage(shop: Shop) -> None:
    result = shop.search("uniqueglacier")
    assert (result.question, result.engine, result.degraded, result.warnings) == (
        "uniqueglacier",
        shop.engine.info(),
        (),
        (),
    )
    assert list(result.timings_ms) == ["encode", "retrieve", "rank", "fetch", "contexts"]
    assert all(milliseconds >= 0 for milliseconds in result.timings_ms.values())


def test_searching_twice_gives_the_same_answer(shop: Shop) -> None:
    one, other = shop.search("season 3 of the orchard"), shop.search("season 3 of the orchard")
    assert (one.contexts, one.channels) == (other.contexts, other.channels)


def test_without_any_ingest_the_message_says_what_to_do() -> None:
    service = SearchService(Reader(MemoryEngine()), HashedWords)
    with pytest.raises(NoIndexSet, match="umg ingest"):
        service.search(Query(text="x"))


@SELECTIONS
def test_an_empty_set_answers_nothing_without_an_error(selection: Selection) -> None:
    result = Shop().search("anything", select=selection)
    assert (result.contexts, result.channels, result.warnings, result.degraded) == ((), (), (), ())


@SELECTIONS
def test_a_question_without_hits_is_answered_by_nothing(selection: Selection) -> None:
    lexical = Shop(spec(experts=(Expert.LEXICAL,)), *documents())
    assert lexical.search("qwertyuiop", select=selection).contexts == ()


def test_a_document_with_one_sentence_is_found_at_every_granularity() -> None:
    shop = Shop(None, Document(id="d", text="Only harbour."), *documents())
    result = shop.search("only harbour", top_k=1)
    assert result.contexts[0].document_id == "d"
    assert result.contexts[0].granularities == tuple(Granularity)


def test_a_collection_bounds_the_answer() -> None:
    same = prose("harbour", 9)
    shop = Shop(None, Document(id="d", text=same, collection="a"), Document(id="d", text=same, collection="b"))
    (both,) = shop.search("harbour").contexts
    assert {source.collection for source in both.sources} == {"a", "b"}
    only = shop.search("harbour", scope=Scope(("a",)))
    assert {c.collection for c in only.contexts} == {"a"}
    assert {hit.collection for report in only.channels for hit in report.top} == {"a"}


# --- relevance and explanation -------------------------------------------------------------------------------------


def test_relevance_is_the_best_cosine_of_a_finest_window_that_overlaps_the_context(shop: Shop) -> None:
    result = shop.search("uniqueglacier season", budget=60)
    query = HashedWords(shop.index.spec).encode_query("uniqueglacier season").dense
    listed = {
        (chunk.version, chunk.first): cosine(chunk.dense, query)
        for chunk in shop.engine.published.values()
        if chunk.granularity is Granularity.G2
    }
    best = sorted(listed.items(), key=lambda item: -item[1])[:100]
    for context in result.contexts:
        version = version_of(DocumentKey("default", context.document_id).hash, 1)
        near = [s for (v, first), s in best if v == version and context.first - 1 <= first < context.last]
        assert context.relevance == (pytest.approx(max(near)) if near else None)
    assert result.contexts[0].relevance is not None


def test_without_a_dense_expert_there_is_no_relevance() -> None:
    shop = Shop(spec(experts=(Expert.SPARSE, Expert.LEXICAL)), *documents())
    assert [c.relevance for c in shop.search("uniqueglacier").contexts] == [None] * len(
        shop.search("uniqueglacier").contexts
    )
    assert shop.search("uniqueglacier").contexts


def test_where_the_dense_list_failed_there_is_no_relevance(shop: Shop) -> None:
    shop.engine.failing = {Channel(Expert.DENSE, Granularity.G2): "lost"}
    assert shop.search("uniqueglacier").contexts[0].relevance is None


def test_masses_in_an_explanation_add_up_to_the_score_of_a_span(shop: Shop) -> None:
    for context in shop.search("season 3 of the orchard and the glacier").contexts:
        assert sum(context.channels.values()) == pytest.approx(context.score)
        assert set(context.granularities) == {channel.granularity for channel in context.channels}


def test_an_explanation_shows_each_channel_with_its_best_hits(shop: Shop) -> None:
    result = shop.search("uniqueglacier season 3", depth=7)
    assert [report.channel for report in result.channels] == list(shop.index.spec.channels)
    assert sum(report.weight for report in result.channels) == pytest.approx(1)
    for report in result.channels:
        assert report.hits == 7 or report.channel.granularity >= Granularity.G8
        assert report.confidence == pytest.approx(1 - report.entropy)
        assert len(report.top) == 5
        scores = [hit.score for hit in report.top]
        assert scores == sorted(scores, reverse=True)


def test_without_an_explanation_there_is_none_and_the_contexts_are_the_same(shop: Shop) -> None:
    question = "season 3 of the orchard"
    plain, explained = shop.search(question, explain=False), shop.search(question)
    assert plain.channels == ()
    assert [c.channels for c in plain.contexts] == [{}] * len(plain.contexts)
    assert [(c.text, c.score, c.relevance) for c in plain.contexts] == [
        (c.text, c.score, c.relevance) for c in explained.contexts
    ]


# --- lists that fail -----------------------------------------------------------------------------------------------


def test_a_list_that_fails_is_named_and_the_others_answer(shop: Shop) -> None:
    lost = [Channel(Expert.LEXICAL, Granularity.G16), Channel(Expert.DENSE, Granularity.G4)]
    shop.engine.failing = dict.fromkeys(lost, "shard lost")
    result = shop.search("uniqueglacier")
    assert result.degraded == ("dense-g04", "lexical-g16")
    assert "uniqueglacier" in result.contexts[0].text
    assert len(result.channels) == 15 - 2


def test_when_all_lists_fail_it_is_an_error_and_no_empty_answer(shop: Shop) -> None:
    shop.engine.failing = dict.fromkeys(shop.index.spec.channels, "shard lost")
    with pytest.raises(EngineError, match="All 15 searches failed at here: shard lost"):
        shop.search("uniqueglacier")


# --- while others write --------------------------------------------------------------------------------------------


def replaced(shop: Shop, document: Document) -> Callable[[], None]:
    return lambda: shop.put(document)


@SELECTIONS
def test_what_was_replaced_between_the_lists_and_the_texts_is_searched_again(shop: Shop, selection: Selection) -> None:
    new = Document(id="glacier", text=prose("glacier", 30, extra="uniqueglacier newword"))
    shop.engine.before("fetch", replaced(shop, new))
    result = shop.search("uniqueglacier glacier", select=selection)
    assert shop.searches == 2
    assert result.contexts[0].document_id == "glacier"
    assert "newword" in result.contexts[0].text
    assert result.warnings == ()
    assert all(c.text == new.text[c.start : c.end] for c in result.contexts if c.document_id == "glacier")


@SELECTIONS
def test_a_generation_that_only_some_indices_show_when_it_becomes_live_is_searched_for_again(
    shop: Shop, selection: Selection
) -> None:
    """Refreshes of several indices take place one after the other, and a search may fall in between."""
    new = Document(id="glacier", text=prose("glacier", 40, extra="uniqueglacier newword"))
    expected = Shop(None, documents()[0], documents()[1], new).search("uniqueglacier glacier", select=selection)
    before = dict(shop.engine.published)
    begun = shop.begin(new)
    shown = {chunk: c for chunk, c in shop.engine.published.items() if chunk.granularity is Granularity.G2}
    shop.engine.published = before | shown

    def finish() -> None:
        generations.tidy(shop.engine, shop.index, begun, shop.writer._finish(shop.index, begun))

    shop.engine.before("fetch", finish)
    result = shop.search("uniqueglacier glacier", select=selection)
    assert shop.searches == 2
    assert [c.text for c in result.contexts] == [c.text for c in expected.contexts]
    assert [c.score for c in result.contexts] == pytest.approx([c.score for c in expected.contexts])


def test_a_document_that_is_replaced_again_and_again_does_not_hold_a_search_forever(shop: Shop) -> None:
    for number in range(5):
        new = Document(id="glacier", text=prose("glacier", 20 + number, extra=f"uniqueglacier {number}"))
        shop.engine.before("ranked_lists", lambda: None)
        shop.engine.before("fetch", replaced(shop, new))
        shop.engine.before("fetch", lambda: None)  # the writer's own
    result = shop.search("uniqueglacier glacier")
    assert shop.searches == 2
    assert result.contexts


def test_what_was_deleted_between_the_lists_and_the_texts_is_not_shown(shop: Shop) -> None:
    shop.engine.before("fetch", lambda: shop.writer.delete(shop.index, [DocumentKey("default", "glacier")]))
    result = shop.search("uniqueglacier glacier")
    shown = {c.document_id for c in result.contexts} | {h.document_id for r in result.channels for h in r.top}
    assert shown == {"harbour", "orchard"}


def without_blocks(shop: Shop, document: str) -> None:
    for block in [block for block in shop.engine.blocks if block.version[:16] == DocumentKey("default", document).hash]:
        del shop.engine.blocks[block]


def test_a_missing_block_is_searched_for_once_more_and_then_left_out_with_a_warning(shop: Shop) -> None:
    without_blocks(shop, "glacier")
    result = shop.search("uniqueglacier glacier harbour", budget=400)
    assert shop.searches == 2
    assert len(result.warnings) == 1
    assert "deleted meanwhile" in result.warnings[0]
    assert result.contexts
    assert all(c.document_id != "glacier" for c in result.contexts)


def test_a_block_that_comes_back_is_no_warning(shop: Shop) -> None:
    kept = dict(shop.engine.blocks)
    without_blocks(shop, "glacier")
    shop.engine.before("ranked_lists", lambda: None)
    shop.engine.before("ranked_lists", lambda: shop.engine.blocks.update(kept))
    result = shop.search("uniqueglacier glacier")
    assert shop.searches == 2
    assert result.warnings == ()
    assert "uniqueglacier" in result.contexts[0].text


@SELECTIONS
@pytest.mark.parametrize("explain", [False, True])
def test_a_generation_that_was_never_finished_is_ranked_out_and_the_old_one_answers(
    shop: Shop,
    selection: Selection,
    explain: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    shop.begin(Document(id="glacier", text=prose("glacier", 40, extra="uniqueglacier halfwritten")))
    result = shop.search("uniqueglacier glacier", select=selection, explain=explain)
    assert shop.searches == 1
    assert not any("halfwritten" in context.text for context in result.contexts)
    assert result.contexts[0].document_id == "glacier"
    assert "uniqueglacier" in result.contexts[0].text


def test_an_unfinished_generation_whose_hits_do_not_win_does_not_hide_the_old_one() -> None:
    """The old text alone has the answer; of the new one only poor hits are in the lists."""
    shop = Shop(spec(experts=(Expert.LEXICAL,)), *documents())
    shop.begin(Document(id="glacier", text="The pond is small. " * 6))
    result = shop.search("the uniqueglacier glacier alone", explain=False, budget=30)
    assert "uniqueglacier" in result.contexts[0].text


def test_a_document_whose_first_write_was_never_finished_is_not_shown(shop: Shop) -> None:
    shop.begin(Document(id="new", text=prose("glacier", 40, extra="uniqueglacier halfwritten")))
    result = shop.search("uniqueglacier glacier")
    assert not any("halfwritten" in context.text for context in result.contexts)
    assert "uniqueglacier" in result.contexts[0].text
    assert {h.document_id for r in result.channels for h in r.top} <= set(SUBJECTS)


def test_of_two_generations_in_the_lists_only_the_higher_is_shown(shop: Shop) -> None:
    """Chunks of the old one, left by a crash between the ledger's word and their deletion."""
    old = encoded(documents()[2], shop.index.spec)
    new = Document(id="glacier", text=prose("glacier", 12, extra="uniqueglacier newword"))
    shop.put(new)
    version = version_of(new.key.hash, 1)
    shop.engine.write_chunks(shop.index, list(chunks_of(old, version, shop.index.spec)))
    shop.engine.write_blocks(shop.index, list(blocks_of(old.split, version)))
    shop.engine.publish(shop.index)
    result = shop.search("uniqueglacier glacier", budget=2_000)
    assert shop.searches == 1
    contexts = [context for context in result.contexts if context.document_id == "glacier"]
    assert contexts
    assert all(context.text == new.text[context.start : context.end] for context in contexts)


def test_what_a_crash_left_is_not_shown_where_the_new_text_does_not_match() -> None:
    """The old chunks are in the lists in the second search too."""
    shop = Shop(spec(experts=(Expert.LEXICAL,)), *documents())
    leftover = dict(shop.engine.chunks)
    shop.put(Document(id="glacier", text="Nothing here matches."))
    shop.engine.chunks |= leftover
    shop.engine.publish(shop.index)
    result = shop.search("uniqueglacier season")
    assert shop.searches == 2
    assert result.contexts
    assert {context.document_id for context in result.contexts} == {"harbour", "orchard"}


def test_a_revocation_between_the_lists_and_the_texts_holds() -> None:
    mine = Document(id="mine", text=prose("harbour", 12), acl=("ann",))
    theirs = Document(id="theirs", text=prose("harbour", 12, extra="secretword"), acl=("ann",))
    shop = Shop(spec(access_control=True), mine, theirs)
    revoked = Document(id="theirs", text=theirs.text, acl=("bob",))
    shop.engine.before("fetch", lambda: shop.writer._attributes.write(shop.index, [revoked]))
    result = shop.search("harbour secretword", scope=Scope(principals=("ann",)))
    shown = {c.document_id for c in result.contexts} | {h.document_id for r in result.channels for h in r.top}
    assert shown == {"mine"}


def test_a_set_with_access_control_needs_a_principal_before_anything_is_asked() -> None:
    shop = Shop(spec(access_control=True), *documents())
    with pytest.raises(QueryError, match="--principal"):
        shop.search("harbour")
    assert shop.engine.calls == []


def test_an_entry_that_lost_its_id_is_an_error_that_says_so(shop: Shop) -> None:
    document = DocumentKey("default", "glacier").hash
    shop.engine.ledger[document] = replace(shop.engine.ledger[document], key=None)
    with pytest.raises(EngineError, match="damaged from outside"):
        shop.search("uniqueglacier")


# --- a single sentence over the whole budget -----------------------------------------------------------------------

GIANT = "Giant " + " ".join(f"word{i}" for i in range(700)) + "."


@SELECTIONS
@pytest.mark.parametrize("budget", [1, 10, 512])
def test_a_sentence_over_the_whole_budget_is_cut_at_a_word_bound_and_marked(selection: Selection, budget: int) -> None:
    text = "  " + GIANT
    shop = Shop(None, Document(id="d", text=text))
    (context,) = shop.search("giant word3", select=selection, budget=budget).contexts
    assert context.truncated
    assert context.text == " ".join(GIANT.split()[:budget])
    assert context.text == text[context.start : context.end]
    assert context.tokens == budget
    assert (context.first, context.last) == (0, 1)


@SELECTIONS
def test_a_sentence_that_fits_exactly_is_not_cut(selection: Selection) -> None:
    shop = Shop(None, Document(id="d", text=GIANT))
    (context,) = shop.search("giant word3", select=selection, budget=1 + 700).contexts
    assert (context.text, context.tokens, context.truncated) == (GIANT, 1 + 700, False)


@pytest.mark.parametrize("selection", [Selection.CHUNKS, Selection.PARENTS])
def test_a_unit_that_does_not_fit_keeps_whole_sentences_and_is_marked(selection: Selection) -> None:
    document = Document(id="d", text=prose("harbour", 32))
    shop = Shop(spec(granularities=(Granularity.G2, Granularity.G32)), document)
    parts = split(document)
    result = shop.search("harbour", select=selection, budget=3 * 8 + 4, top_k=1, alpha=0.0)
    (context,) = result.contexts
    assert set(parts.counts) == {8}
    assert context.truncated
    assert (context.last - context.first, context.tokens) == (3, 3 * 8)
    assert context.text == parts.text_of(context.first, context.last).strip()


# --- what the encoder says -----------------------------------------------------------------------------------------


def test_the_question_is_read_once_by_the_encoders_of_the_set(shop: Shop) -> None:
    asked: list[tuple[SetSpec, str]] = []

    class Encoder(HashedWords):
        def __init__(self, index_spec: SetSpec) -> None:
            super().__init__(index_spec)
            self.index_spec = index_spec

        def encode_query(self, text: str) -> EncodedQuery:
            asked.append((self.index_spec, text))
            return super().encode_query(text)

    service = SearchService(Reader(shop.engine), Encoder)
    without_blocks(shop, "glacier")  # even where the search is repeated
    service.search(Query(text="uniqueglacier"))
    assert asked == [(shop.index.spec, "uniqueglacier")]


def test_counts_of_the_fakes_agree(shop: Shop) -> None:
    """The engine's lists carry the counts that the splitter made with the same counter."""
    block = shop.engine.blocks[BlockId(version_of(DocumentKey("default", "glacier").hash, 1), 0)]
    texts = [block.text[a:b] for a, b in zip(block.bounds, block.bounds[1:], strict=False)]
    assert tuple(WordCount().count(texts)) == block.counts
    assert np.sum(block.counts) > 0


# --- experts, and the options of a service --------------------------------------------------------------------------


def test_only_the_experts_that_are_asked_are_searched_and_rank(shop: Shop) -> None:
    result = shop.search("season 3 of the orchard", experts=(Expert.LEXICAL,))
    assert {report.channel.expert for report in result.channels} == {Expert.LEXICAL}
    assert {channel.expert for context in result.contexts for channel in context.channels} == {Expert.LEXICAL}
    assert [context.relevance for context in result.contexts if context.relevance is not None] == []


def test_a_failing_list_that_is_not_asked_fails_nothing(shop: Shop) -> None:
    shop.engine.failing = {Channel(Expert.DENSE, Granularity.G2): "broken"}
    assert shop.search("orchard", experts=(Expert.LEXICAL,)).degraded == ()
    assert shop.search("orchard").degraded == ("dense-g02",)


def test_an_expert_that_the_set_does_not_have_is_refused_before_anything_is_asked() -> None:
    shop = Shop(spec(experts=(Expert.DENSE, Expert.LEXICAL)), *documents())
    with pytest.raises(QueryError, match="has the experts dense, lexical, and sparse is to be asked: correct UMG_SEA"):
        shop.search("orchard", experts=(Expert.DENSE, Expert.SPARSE))
    assert shop.searches == 0


def test_titles_are_not_searched_without_the_lexical_expert(shop: Shop) -> None:
    warnings = shop.search("orchard", experts=(Expert.DENSE,), title_weight=1.0).warnings
    assert warnings == ("The lexical expert was not asked: titles were not searched.",)


def test_queries_without_options_are_answered_as_the_service_is_set(shop: Shop) -> None:
    options = RankingOptions(select=Selection.PARENTS, budget=60, experts=(Expert.LEXICAL,))
    service = SearchService(Reader(shop.engine), HashedWords, options=options)
    text = "season 3 of the orchard"
    assert service.search(Query(text=text)).contexts == service.search(Query(text=text, options=options)).contexts
    other = Query(text=text, options=RankingOptions())
    assert service.search(other).contexts == shop.service.search(Query(text=text)).contexts
    assert service.search(Query(text=text)).contexts != service.search(other).contexts
