"""Searching as people in companies do, on every engine: titles, duplicates, documents, collections."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.fakes.encoders import HashedWords, encoded, spec, split
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import Document, Headers, Outcome, SearchResult
from umg_search.ports import Engine, Scope
from umg_search.search import GroupBy, Query, RankingOptions, SearchService, Selection
from umg_search.settings import Settings
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

SELECTIONS = pytest.mark.parametrize("selection", Selection)

BOILERPLATE = "This notice is legally privileged. Whoever received it wrongly must destroy it at once."


def prose(subject: str, sentences: int) -> str:
    return " ".join(f"The {subject} has part {subject}{i} for season {i % 7}." for i in range(sentences))


class Library:
    """An engine with documents, and searches over it."""

    def __init__(self, engine: Engine, *documents: Document, **kind: object) -> None:
        self.writer = Writer(engine, grace=0)
        self.spec = spec(**{"granularities": (Granularity.G2, Granularity.G8), **kind})
        self.index = self.writer.prepare(self.spec)
        self.service = SearchService(Reader(engine), HashedWords)
        reports = self.writer.replace(self.index, [encoded(d, self.spec) for d in documents])
        assert {report.outcome for report in reports} <= {Outcome.NEW}

    def search(
        self, text: str, *, scope: Scope | None = None, group_by: GroupBy | None = None, **options: object
    ) -> SearchResult:
        return self.service.search(
            Query(text=text, scope=scope or Scope(), options=RankingOptions(**options), group_by=group_by, explain=True)
        )


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


# --- titles --------------------------------------------------------------------------------------------------------


def titled() -> list[Document]:
    return [
        Document(id="a", text=prose("harbour", 12), title="Quarterly Kestrel report"),
        Document(id="b", text=prose("orchard", 12), title="Travel rules"),
        Document(id="c", text=prose("glacier", 12)),
    ]


def test_a_document_is_found_by_its_title_alone(engine: Engine) -> None:
    """The words are in no sentence of it; without a weight of titles nothing is found."""
    library = Library(engine, *titled(), experts=(Expert.LEXICAL,))
    assert library.search("kestrel report").contexts == ()
    assert {c.document_id for c in library.search("kestrel report", title_weight=0.5).contexts} == {"a"}
    assert library.search("kestrel report", title_weight=0.5, scope=Scope(("other",))).contexts == ()


@pytest.mark.parametrize("expert", Expert)
def test_windows_are_found_by_their_headers_and_shown_without(engine: Engine, expert: Expert) -> None:
    """A change of the ACL leaves what the lists know of the header."""
    headed = Document(id="d", text="# Kestrels\n\n" + prose("volcano", 24), title="Report")
    documents = [*titled()[1:], headed]
    library = Library(engine, *documents, experts=(expert,), headers=Headers.HEADINGS, granularities=(Granularity.G2,))
    library.writer.update_attributes(library.index, [replace(headed, acl=("ann",))])
    best = {"select": Selection.CHUNKS, "top_k": 1}
    assert library.search("kestrels report", **best).contexts[0].document_id == "d"
    (late,) = library.search("kestrels volcano22", **best).contexts
    assert late.text == headed.text[late.start : late.end]
    assert late.first > 0
    assert "Kestrels" not in late.text


@pytest.mark.parametrize("question", ["!?.,;", "kestrel " + " ".join(f"filler{i}" for i in range(3_000))])
def test_questions_without_words_or_with_thousands_are_asked_of_titles_too(engine: Engine, question: str) -> None:
    library = Library(engine, *titled())
    result = library.search(question, title_weight=0.5)
    assert result.degraded == ()
    found = [report for report in result.channels if report.channel.expert is Expert.LEXICAL]
    assert {hit.document_id for report in found for hit in report.top} == ({"a"} if "kestrel" in question else set())


def test_scores_of_text_and_title_add_up(engine: Engine) -> None:
    library = Library(engine, *titled(), experts=(Expert.LEXICAL,))

    def scores(question: str, weight: float) -> dict[tuple[bytes, int], float]:
        query = replace(HashedWords(library.spec).encode_query(question), title_weight=weight)
        lists = library.service._reader.ranked_lists(library.index, query, depth=50, scope=Scope()).lists
        (found,) = [item for item in lists if item.channel == Channel(Expert.LEXICAL, Granularity.G2)]
        assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
        return dict(zip(zip(found.hits.versions, found.hits.first.tolist(), strict=True), found.scores, strict=True))

    text, title = scores("season orchard3", 0), scores("travel", 1)
    both = scores("season orchard3 travel", 0.5)
    assert len(text) == 3 * 11
    assert len(title) == 11
    assert both == pytest.approx({place: text[place] + 0.5 * title.get(place, 0) for place in text})


def test_a_title_without_a_lexical_expert_is_not_searched_and_that_is_said(engine: Engine) -> None:
    library = Library(engine, *titled(), experts=(Expert.DENSE,))
    assert library.search("harbour", title_weight=0.5).warnings == (
        "This index set has no lexical expert: titles were not searched.",
    )
    assert library.search("harbour").warnings == ()


@pytest.mark.parametrize("experts", [(Expert.LEXICAL,), tuple(Expert)])
def test_a_changed_title_is_found_without_encoding_and_every_expert_still_finds_the_document(
    engine: Engine, experts: tuple[Expert, ...]
) -> None:
    library = Library(engine, *titled(), experts=experts)
    changed = replace(titled()[0], title="Osprey memorandum")
    library.writer.update_attributes(library.index, [changed])
    lexical = [
        {hit.document_id for report in result.channels if report.channel.expert is Expert.LEXICAL for hit in report.top}
        for result in (library.search(word, title_weight=1) for word in ("osprey", "kestrel"))
    ]
    assert lexical == [{"a"}, set()]
    result = library.search("harbour3 harbour part", title_weight=0)
    assert {r.channel for r in result.channels if r.top[0].document_id == "a"} == set(library.spec.channels)
    assert result.contexts[0].title == "Osprey memorandum"
    library.writer.update_attributes(library.index, [replace(changed, title="")])
    gone = library.search("osprey", title_weight=1)
    assert Expert.LEXICAL not in {report.channel.expert for report in gone.channels}


def test_a_title_can_change_where_titles_are_not_searched(engine: Engine) -> None:
    library = Library(engine, *titled(), experts=(Expert.DENSE,))
    changed = replace(titled()[0], title="Osprey memorandum")
    assert library.writer.update_attributes(library.index, [changed])[0].outcome is Outcome.UPDATED
    assert library.search("harbour3 harbour part").contexts[0].title == "Osprey memorandum"


# --- duplicates ----------------------------------------------------------------------------------------------------


def shared(count: int) -> list[Document]:
    """Return documents that end with the same words, and one with none of them."""
    return [
        *(Document(id=f"d{i}", text=BOILERPLATE, title=f"Letter {i}") for i in range(count)),
        Document(id="other", text=prose("harbour", 20)),
    ]


@SELECTIONS
def test_a_passage_of_many_documents_is_returned_once_with_all_its_sources(
    engine: Engine, selection: Selection
) -> None:
    library = Library(engine, *shared(4))
    result = library.search("legally privileged notice must destroy", select=selection, budget=200)
    (first,) = [context for context in result.contexts if context.document_id != "other"]
    assert first.text == BOILERPLATE
    assert {source.document_id for source in first.sources} == {"d0", "d1", "d2", "d3"}
    assert (first.sources[0].document_id, first.sources[0].start) == (first.document_id, first.start)
    assert {(s.first, s.last, s.start, s.end) for s in first.sources} == {(0, 2, 0, len(BOILERPLATE))}
    assert {source.title for source in first.sources} == {f"Letter {i}" for i in range(4)}


@SELECTIONS
def test_tokens_that_duplicates_leave_go_to_what_comes_next(engine: Engine, selection: Selection) -> None:
    library = Library(engine, *shared(4))
    result = library.search("legally privileged notice harbour", select=selection, budget=4 * 14)
    assert [len(c.sources) for c in result.contexts if c.document_id != "other"] == [4]
    assert any(context.document_id == "other" for context in result.contexts)
    assert sum(context.tokens for context in result.contexts) <= 4 * 14


def test_sources_name_no_document_that_may_not_be_read(engine: Engine) -> None:
    mine, theirs, ours = (
        Document(id=name, text=BOILERPLATE, acl=(reader,))
        for name, reader in [("mine", "ann"), ("theirs", "bob"), ("ours", "*")]
    )
    library = Library(engine, mine, theirs, ours, access_control=True)
    (context,) = library.search("privileged notice", scope=Scope(principals=("ann",))).contexts
    assert {source.document_id for source in context.sources} == {"mine", "ours"}
    library.writer._attributes.write(library.index, [replace(ours, acl=("bob",))])  # chunks still say everybody
    (context,) = library.search("privileged notice", scope=Scope(principals=("ann",))).contexts
    assert [source.document_id for source in context.sources] == ["mine"]


# --- documents and collections -------------------------------------------------------------------------------------


@SELECTIONS
def test_contexts_of_a_document_come_together(engine: Engine, selection: Selection) -> None:
    library = Library(engine, *titled())
    options = {"select": selection, "budget": 150, "top_k": 0, "overlap": 0.0}
    plain = library.search("season 3 of the harbour and the orchard", **options)
    result = library.search("season 3 of the harbour and the orchard", group_by=GroupBy.DOCUMENT, **options)
    order = list(dict.fromkeys(context.document_id for context in plain.contexts))
    assert [group.document_id for group in result.groups] == order
    assert [c.document_id for c in result.contexts] == [g.document_id for g in result.groups for _ in range(g.contexts)]
    assert sorted(c.score for c in result.contexts) == sorted(c.score for c in plain.contexts)
    assert plain.groups == ()


@SELECTIONS
@pytest.mark.parametrize("most", [1, 2])
def test_no_document_has_more_contexts_than_asked_for(engine: Engine, selection: Selection, most: int) -> None:
    library = Library(engine, *titled())
    result = library.search(
        "season 3 of the harbour", select=selection, budget=120, top_k=0, overlap=0.0, max_per_document=most
    )
    counts = [c.document_id for c in result.contexts]
    assert max(counts.count(name) for name in counts) <= most
    assert len(set(counts)) > 1
    assert sum(context.tokens for context in result.contexts) <= 120


def test_several_collections_can_be_searched_together(engine: Engine) -> None:
    documents = [Document(id="d", text=prose("harbour", 4 + n), collection=name) for n, name in enumerate("abc")]
    library = Library(engine, *documents)
    for names in (("a",), ("a", "c"), ("c", "a", "a")):
        found = library.search("harbour", scope=Scope(names)).contexts
        sources = {source.collection for context in found for source in context.sources}
        assert sources == set(names)


def test_a_search_in_a_mistyped_collection_names_what_is_there(engine: Engine) -> None:
    library = Library(engine, *(replace(d, collection="tales") for d in titled()))
    result = library.search("harbour", scope=Scope(("tails",)))
    assert result.contexts == ()
    assert result.warnings[-1] == "There is no document in collection 'tails': there are 'tales'."


# --- whether there is an answer --------------------------------------------------------------------------------------


def test_a_threshold_tells_a_question_with_an_answer_from_gibberish(engine: Engine) -> None:
    library = Library(engine, *(Document(id=s, text=prose(s, 12)) for s in ("harbour", "orchard")))
    question = "The orchard has part orchard3 for season 3."
    assert library.search(question).answered is None
    assert library.search(question, answered_at=0.5).answered is True
    assert library.search("xqzt wvvk pfft", answered_at=0.5).answered is False
    nowhere = Scope(collections=("nowhere",))
    assert library.search(question, scope=nowhere, answered_at=0.5).answered is False


def test_a_document_that_was_revoked_answers_nothing(engine: Engine) -> None:
    secret, public = (Document(id=s, text=prose(s, 12), acl=("ann",)) for s in ("orchard", "harbour"))
    library = Library(engine, secret, public, access_control=True)
    ann = Scope(principals=("ann",))
    question = "The orchard has part orchard3 for season 3."
    assert library.search(question, scope=ann, answered_at=0.8).answered is True
    library.writer._attributes.write(library.index, [replace(secret, acl=("bob",))])  # chunks still say ann
    assert library.search(question, scope=ann, answered_at=0.8).answered is False


# --- experts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("experts", [(Expert.DENSE,), (Expert.LEXICAL,), (Expert.SPARSE, Expert.LEXICAL)])
def test_lists_of_the_experts_that_are_asked_are_the_same_and_there_are_no_others(
    engine: Engine, experts: tuple[Expert, ...]
) -> None:
    library = Library(engine, *titled())
    query = HashedWords(library.spec).encode_query("part harbour3 of the harbour")
    every = engine.ranked_lists(library.index, query, depth=20, scope=Scope()).lists
    some = engine.ranked_lists(library.index, replace(query, experts=experts), depth=20, scope=Scope()).lists
    expected = {ranked.channel: ranked.hits.first.tolist() for ranked in every if ranked.channel.expert in experts}
    assert {ranked.channel: ranked.hits.first.tolist() for ranked in some} == expected
    assert len(some) == len(experts) * len(library.spec.granularities)


# --- derived lists -------------------------------------------------------------------------------------------------


def test_lists_of_longer_windows_are_derived_from_those_of_the_finest(engine: Engine) -> None:
    """Of the same windows, with the counts of their text: answers are as exact as those of a set with all indices."""
    library = Library(engine, *titled(), granularities=(Granularity.G2,), derived=tuple(Granularity)[1:])
    result = library.search("part of the glacier for season 3", budget=60)
    assert result.degraded == ()
    assert {report.channel: report.derived for report in result.channels} == {
        Channel(e, g): g is not Granularity.G2 for e in Expert for g in Granularity
    }
    assert {report.top[0].document_id for report in result.channels} == {"c"}
    whole = next(report for report in result.channels if report.channel == Channel(Expert.DENSE, Granularity.G16))
    assert {(hit.first, hit.last) for hit in whole.top} == {(0, 12)}
    for context in result.contexts:
        lines = split({d.id: d for d in titled()}[context.document_id])
        assert context.tokens == sum(lines.counts[context.first : context.last])
        assert context.text == lines.text_of(context.first, context.last).strip()
    assert sum(context.tokens for context in result.contexts) <= 60
