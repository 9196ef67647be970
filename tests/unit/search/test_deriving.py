"""Searches of a set that indexes the finest windows and derives the lists of longer ones."""

import pytest

from tests.fakes.encoders import spec, split
from tests.unit.search.shop import SELECTIONS, SUBJECTS, Shop, documents, prose
from umg_search.granularity import FINEST, Channel, Expert, Granularity
from umg_search.model import Document
from umg_search.ports import Scope
from umg_search.search import Selection
from umg_search.search.deriving import DEEPER, asked_depth
from umg_search.search.options import MOST_DEPTH
from umg_search.windows import Window, windows

LONGER = tuple(Granularity)[1:]
DERIVING = spec(granularities=(FINEST,), derived=LONGER)


@pytest.fixture
def shop() -> Shop:
    return Shop(DERIVING, *documents())


@SELECTIONS
@pytest.mark.parametrize("budget", [5, 40, 200])
def test_contexts_are_exact_within_the_budget(shop: Shop, selection: Selection, budget: int) -> None:
    """Every count is that of the text, also of sentences that no finest list holds."""
    stored = {d.id: split(d) for d in documents()}
    result = shop.search("part of the harbour for season 3", select=selection, budget=budget)
    assert result.contexts
    assert sum(context.tokens for context in result.contexts) <= budget
    for context in result.contexts:
        parts = stored[context.document_id]
        assert context.text == parts.document.text[context.start : context.end]
        if not context.truncated:
            assert context.text == parts.text_of(context.first, context.last).strip()
            assert context.tokens == sum(parts.counts[context.first : context.last])


def test_all_channels_are_ranked_and_those_that_were_derived_are_marked(shop: Shop) -> None:
    result = shop.search("uniqueglacier")
    assert shop.engine.calls == ["ranked_lists", "fetch"]
    assert "uniqueglacier" in result.contexts[0].text
    channels = {report.channel: report.derived for report in result.channels}
    assert channels == {Channel(e, g): g is not FINEST for e in Expert for g in Granularity}
    assert result.contexts[0].granularities == tuple(Granularity)
    assert not any(report.derived for report in Shop(None, *documents()).search("uniqueglacier").channels)


def test_best_hits_of_a_derived_channel_are_windows_of_its_length(shop: Shop) -> None:
    for report in shop.search("part of the orchard for season 3").channels:
        found = {Window(hit.first, hit.last) for hit in report.top}
        assert found <= set(windows(40, report.channel.granularity))
        assert {hit.document_id for hit in report.top} <= set(SUBJECTS)


@SELECTIONS
def test_the_best_context_is_that_of_a_set_with_all_indices(shop: Shop, selection: Selection) -> None:
    full = Shop(None, *documents()).search("uniqueglacier alone", select=selection).contexts[0]
    derived = shop.search("uniqueglacier alone", select=selection).contexts[0]
    assert derived.document_id == full.document_id
    assert "uniqueglacier" in derived.text
    assert derived.relevance == full.relevance


def test_finest_lists_are_asked_deeper_and_ranked_as_deep_as_asked() -> None:
    text = Document(id="long", text=prose("harbour", 90))
    result = Shop(DERIVING, text).search("the harbour", depth=10)
    counts = {report.channel.granularity: report.hits for report in result.channels}
    # 50 of the 89 finest windows are asked for, so that 10 are ranked of each length that has as many around them.
    assert [counts[g] for g in (FINEST, Granularity.G4, Granularity.G8)] == [10, 10, 10]
    assert counts[Granularity.G32] <= len(windows(90, Granularity.G32)) == 1 + 4
    assert asked_depth(DERIVING, 10) == DEEPER * 10
    assert asked_depth(spec(), 10) == 10
    assert asked_depth(DERIVING, MOST_DEPTH) == MOST_DEPTH


def test_longer_lists_that_have_an_index_are_asked_and_not_derived() -> None:
    mixed = spec(granularities=(FINEST, Granularity.G8), derived=(Granularity.G4,))
    result = Shop(mixed, *documents()).search("the harbour", depth=7)
    channels = {report.channel.granularity: (report.derived, report.hits) for report in result.channels}
    assert channels == {FINEST: (False, 7), Granularity.G4: (True, 7), Granularity.G8: (False, 7)}
    assert mixed.ranked == tuple(Channel(e, g) for e in Expert for g in (FINEST, Granularity.G4, Granularity.G8))


def test_a_derived_channel_fails_with_the_list_that_it_comes_from(shop: Shop) -> None:
    shop.engine.failing = {Channel(Expert.LEXICAL, FINEST): "shard lost"}
    result = shop.search("uniqueglacier")
    assert result.degraded == tuple(f"lexical-{g.label}" for g in Granularity)
    assert {report.channel.expert for report in result.channels} == {Expert.DENSE, Expert.SPARSE}


def test_a_filter_holds_in_derived_lists_too(shop: Shop) -> None:
    shop.put(Document(id="mine", text=prose("harbour", 12), collection="mine"))
    result = shop.search("the harbour", scope=Scope(collections=("mine",)))
    assert {c.document_id for c in result.contexts} == {"mine"}
    assert {hit.document_id for report in result.channels for hit in report.top} == {"mine"}


def test_a_revocation_between_the_lists_and_the_texts_holds_for_what_was_derived() -> None:
    mine = Document(id="mine", text=prose("harbour", 12), acl=("ann",))
    theirs = Document(id="theirs", text=prose("harbour", 12, extra="secretword"), acl=("ann",))
    deriving = spec(granularities=(FINEST,), derived=LONGER, access_control=True)
    shop = Shop(deriving, mine, theirs)
    revoked = Document(id="theirs", text=theirs.text, acl=("bob",))
    shop.engine.before("fetch", lambda: shop.writer._attributes.write(shop.index, [revoked]))
    result = shop.search("harbour secretword", scope=Scope(principals=("ann",)))
    assert {c.document_id for c in result.contexts} | {h.document_id for r in result.channels for h in r.top} == {
        "mine"
    }
    alone = Shop(deriving, mine).search("harbour secretword", scope=Scope(principals=("ann",)))
    assert [(r.channel, r.entropy) for r in result.channels] == [(r.channel, r.entropy) for r in alone.channels]


def test_a_document_that_is_revoked_is_judged_even_where_only_the_depths_of_a_list_hold_it() -> None:
    """The lowest score of a deep list counts in derived scores."""
    near = Document(id="near", text=prose("harbour", 40), acl=("ann",))
    far = Document(id="far", text=prose("glacier", 40), acl=("ann",))
    deriving = spec(granularities=(FINEST,), experts=(Expert.DENSE,), derived=LONGER, access_control=True)
    shop = Shop(deriving, near, far)
    revoked = Document(id="far", text=far.text, acl=("bob",))
    shop.engine.before("fetch", lambda: shop.writer._attributes.write(shop.index, [revoked]))
    scope = Scope(principals=("ann",))
    found = shop.search("the harbour", scope=scope, depth=12)
    alone = Shop(deriving, near).search("the harbour", scope=scope, depth=12)
    assert [r.top[-1].score for r in found.channels] == [r.top[-1].score for r in alone.channels]
