"""What every store must do, asked of the embedded engine and of each real server."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tests.fakes.encoders import HashedWords, dense, encoded, spec, split
from umg_search.errors import DocumentNotFound, EngineError, IndexMismatch, NoIndexSet, QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    Document,
    DocumentKey,
    EncodedDocument,
    IndexSet,
    Outcome,
    SearchResult,
    SparseVector,
    Vectors,
    VectorType,
    version_of,
)
from umg_search.ports import Attributes, ChunkId, Engine, Scope
from umg_search.search import Query, RankingOptions, SearchService, Selection
from umg_search.settings import Settings
from umg_search.store import generations, ledger
from umg_search.store.entries import ids_of
from umg_search.store.plans import Change
from umg_search.store.precision import stored_vector
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.windows import window_count
from umg_search.wiring import open_engine

SUBJECTS = ("harbour", "orchard", "glacier", "library", "volcano")


def prose(subject: str, sentences: int, *, extra: str = "") -> str:
    """Return sentences that name their subject and their number, with one marked by `extra` in the middle."""
    lines = [
        f"The {subject} has a part called {subject}{i} that people visit in season {i % 7}." for i in range(sentences)
    ]
    if extra:
        lines[sentences // 2] = f"In the {subject} there is {extra} and nothing else like it."
    return " ".join(lines)


class Store:
    """An engine with the reader, the writer and the search over it."""

    def __init__(self, engine: Engine, **kind: object) -> None:
        self.engine = engine
        self.writer = Writer(engine, grace=0)
        self.reader = Reader(engine)
        self.spec = spec(**kind)  # type: ignore[arg-type] - forwarded keywords
        self.search_service = SearchService(self.reader, HashedWords)
        self.index: IndexSet = self.writer.prepare(self.spec)

    def encoded(self, document: Document) -> EncodedDocument:
        return encoded(document, self.spec)

    def put(self, *documents: Document) -> list[Outcome]:
        reports = self.writer.replace(self.index, [self.encoded(d) for d in documents])
        return [report.outcome for report in reports]

    def search(
        self, text: str, *, collection: str = "", principals: tuple[str, ...] | None = None, **options: object
    ) -> SearchResult:
        return self.search_service.search(
            Query(
                text=text,
                scope=Scope((collection,) if collection else (), principals),
                options=RankingOptions(**options),  # type: ignore[arg-type] - forwarded keywords
                explain=True,
            )
        )

    def found(self, text: str, **kind: object) -> list[str]:
        return [context.document_id for context in self.search(text, **kind).contexts]  # type: ignore[arg-type]


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


@pytest.fixture
def store(engine: Engine) -> Store:
    return Store(engine)


def begin(store: Store, encoded_documents: list) -> list:
    """Name new generations in the ledger, as the first step of a write does."""
    keys = [item.split.document.key for item in encoded_documents]
    return store.writer._begin(store.index, encoded_documents, store.writer._entries(store.index, keys))


def documents() -> list[Document]:
    return [
        Document(id=f"{s}/a b.md", text=prose(s, 40 + i, extra=f"a unique{s}"), title=s) for i, s in enumerate(SUBJECTS)
    ]


def test_an_empty_engine_has_no_set_and_says_so(engine: Engine) -> None:
    assert engine.active_set() is None
    with pytest.raises(NoIndexSet, match="umg ingest"):
        Reader(engine).active_set()


def test_preparing_twice_gives_the_same_set(store: Store) -> None:
    assert Writer(store.engine).prepare(store.spec) == store.index


def test_four_workers_that_start_at_once_make_one_set(engine: Engine, engine_settings: Settings) -> None:
    """Each with a connection of its own to a server; the embedded engine has one process, so its threads share it."""
    shared = engine_settings.engine.startswith("embedded:")
    engines = [engine if shared else open_engine(engine_settings) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        sets = list(pool.map(lambda each: Writer(each).prepare(spec()), engines))
    assert set(sets) == {IndexSet(1, spec())}
    assert len(engine.sizes(sets[0])) >= len(Granularity) + 1


def test_another_specification_is_refused_with_both_values(store: Store) -> None:
    other = replace(store.spec, dense=replace(store.spec.dense, dims=768))
    with pytest.raises(IndexMismatch, match=r"48.*768"):
        Writer(store.engine).prepare(other)


def test_what_was_put_is_found_by_every_channel(store: Store) -> None:
    assert store.put(*documents()) == [Outcome.NEW] * 5
    result = store.search("a unique glacier uniqueglacier")
    assert not result.degraded
    assert {report.channel for report in result.channels} == set(store.spec.channels)
    for report in result.channels:
        assert report.top[0].document_id == "glacier/a b.md", report.channel
    assert result.contexts[0].document_id == "glacier/a b.md"
    assert "uniqueglacier" in result.contexts[0].text


def test_texts_and_offsets_are_exact_for_each_selection(store: Store) -> None:
    stored = {d.id: d for d in documents()}
    store.put(*stored.values())
    for selection in Selection:
        result = store.search("people visit the orchard in season 3", select=selection, budget=200)
        assert result.contexts
        assert sum(context.tokens for context in result.contexts) <= 200
        for context in result.contexts:
            text = stored[context.document_id].text
            assert context.text == text[context.start : context.end]
            assert context.title == stored[context.document_id].title
            bounds = split(stored[context.document_id]).bounds
            assert context.text == text[bounds[context.first] : bounds[context.last]].strip()


def cosine(one: Vectors, other: Vectors, kind: VectorType) -> float:
    a, b = (stored_vector(vector, kind).astype(np.float64) for vector in (one, other))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("kind", VectorType)
def test_dense_scores_are_cosines_of_what_is_stored(engine: Engine, kind: VectorType) -> None:
    store = Store(engine, vectors=kind)
    store.put(*documents())
    query = HashedWords(store.spec).encode_query("volcano part called volcano7")
    lists = store.reader.ranked_lists(store.index, query, depth=20, scope=Scope()).lists
    by_channel = {ranked.channel: ranked for ranked in lists}
    texts = {d.key.hash: split(d) for d in documents()}
    for granularity in Granularity:
        ranked = by_channel[Channel(Expert.DENSE, granularity)]
        hits = ranked.hits
        expected = [
            cosine(dense(texts[v[:16]].text_of(int(a), int(b))), query.dense, kind)
            for v, a, b in zip(hits.versions, hits.first, hits.last, strict=True)
        ]
        assert ranked.scores == pytest.approx(np.array(expected), abs=2e-5)
        assert list(ranked.scores) == sorted(ranked.scores, reverse=True)


@pytest.mark.parametrize(
    ("words", "depth"), [(("harbour3", "orchard5", "season"), 20), (tuple(prose("harbour", 9).split()), 5)]
)
def test_sparse_scores_are_dot_products(store: Store, words: Sequence[str], depth: int) -> None:
    """Of more than 15 terms, servers find candidates by the heaviest and score them by all."""
    store.put(*documents())
    query = HashedWords(store.spec).encode_query(" ".join(words))
    assert query.sparse
    assert (len(query.sparse.terms) > 15) == (depth == 5)
    lists = store.reader.ranked_lists(store.index, query, depth=depth, scope=Scope()).lists
    (ranked,) = [r for r in lists if r.channel == Channel(Expert.SPARSE, Granularity.G2)]
    weights = dict(zip(query.sparse.terms.tolist(), query.sparse.weights.tolist(), strict=True))
    texts = {d.key.hash: encoded(d, store.spec) for d in documents()}
    assert list(ranked.scores) == sorted(ranked.scores, reverse=True)
    for version, first, score in zip(ranked.hits.versions, ranked.hits.first, ranked.scores, strict=True):
        stored = texts[version[:16]].sparse[Granularity.G2][int(first)]
        dot = sum(weights.get(t, 0) * w for t, w in zip(stored.terms.tolist(), stored.weights.tolist(), strict=True))
        assert score == pytest.approx(dot, rel=0.004)  # rank_features keeps 9 significant bits


def test_what_only_light_terms_find_is_found(store: Store) -> None:
    """Heavy terms that no document has must not hide the others."""
    store.put(*documents())
    light = HashedWords(store.spec).encode_query("harbour season")
    assert light.sparse
    unknown = np.arange(900_000, 900_020, dtype=np.int32)
    terms = np.concatenate((light.sparse.terms, unknown))
    weights = np.concatenate((light.sparse.weights, np.full(20, 9.0, dtype=np.float32)))
    query = replace(light, sparse=SparseVector(terms, weights))
    sparse = Channel(Expert.SPARSE, Granularity.G2)
    found, alone = (
        next(r for r in store.reader.ranked_lists(store.index, q, depth=50, scope=Scope()).lists if r.channel == sparse)
        for q in (query, light)
    )
    assert len(alone.hits)
    assert found.scores.tolist() == alone.scores.tolist()


def test_hits_carry_token_counts_of_their_sentences(store: Store) -> None:
    document = documents()[0]
    store.put(document)
    counts = split(document).counts
    query = HashedWords(store.spec).encode_query("harbour")
    for ranked in store.reader.ranked_lists(store.index, query, depth=10, scope=Scope()).lists:
        begin = 0
        for first, last, low, length in zip(
            ranked.hits.first, ranked.hits.last, ranked.hits.count_first, ranked.hits.count_length, strict=True
        ):
            assert low <= first
            assert last <= low + length
            assert tuple(ranked.hits.counts[begin : begin + length]) == counts[low : low + length]
            begin += length


def test_a_replaced_document_leaves_no_old_chunk_in_any_index(store: Store) -> None:
    """40 sentences replaced by 4."""
    store.put(Document(id="d", text=prose("harbour", 40, extra="an oldthing")))
    assert store.put(Document(id="d", text=prose("harbour", 4, extra="a newthing"))) == [Outcome.UPDATED]
    assert not any("oldthing" in context.text for context in store.search("an oldthing").contexts)
    store.writer.sweep(store.index)
    sizes = store.engine.sizes(store.index)
    expected = {g.label: window_count(4, g) for g in Granularity} | {"text": 1}
    for kind, count in expected.items():
        (size,) = [size for name, size in sizes.items() if kind in name.split("-")]
        assert size.entries == count, kind


def test_an_unchanged_document_needs_nothing(store: Store) -> None:
    document = documents()[0]
    assert store.writer.plan(store.index, [document]) == [Change.TEXT]
    store.put(document)
    assert store.writer.plan(store.index, [document]) == [Change.NONE]
    assert store.writer.plan(store.index, [replace(document, title="other")]) == [Change.ATTRIBUTES]
    assert store.writer.plan(store.index, [replace(document, text=document.text + " More.")]) == [Change.TEXT]


def test_title_and_metadata_change_without_encoding(store: Store) -> None:
    document = documents()[0]
    store.put(document)
    changed = replace(document, title="New title", metadata={"deep": {"list": [1, None, "x"]}})
    assert store.writer.update_attributes(store.index, [changed])[0].outcome is Outcome.UPDATED
    assert store.writer.plan(store.index, [changed]) == [Change.NONE]
    result = store.search("a unique harbour uniqueharbour")
    assert result.contexts[0].title == "New title"
    entry = store.engine.fetch(store.index, [document.key.hash], []).entries[document.key.hash]
    assert entry.metadata == {"deep": {"list": [1, None, "x"]}}


def test_a_deleted_document_leaves_a_tombstone_only(store: Store) -> None:
    store.put(*documents())
    key = DocumentKey("default", "glacier/a b.md")
    assert store.writer.delete(store.index, [key, DocumentKey("default", "never")]) == [True, False]
    assert "glacier/a b.md" not in store.found("a unique glacier uniqueglacier")
    entry = store.engine.fetch(store.index, [key.hash], []).entries[key.hash]
    assert (entry.key, entry.title, entry.metadata, entry.acl, entry.text_fingerprint) == (None, "", {}, (), "")
    assert entry.in_set(store.index.label).retired == ()
    with pytest.raises(DocumentNotFound):
        store.reader.text(key)
    assert store.writer.delete(store.index, [key]) == [False]


def test_a_deleted_document_can_come_back_under_a_new_generation(store: Store) -> None:
    document = documents()[0]
    store.put(document)
    store.writer.delete(store.index, [document.key])
    assert store.put(document) == [Outcome.NEW]
    assert store.found("a unique harbour uniqueharbour")[0] == document.id
    entry = store.engine.fetch(store.index, [document.key.hash], []).entries[document.key.hash]
    assert entry.in_set(store.index.label).live.number == 2


def test_the_stored_text_is_the_text(store: Store) -> None:
    text = "\n  First – “quoted”.\r\n\tSecond 😀 line.  Third.\n\n" + prose("library", 70) + "\n"
    store.put(Document(id="odd/ id?&#%.md", text=text))
    assert store.reader.text(DocumentKey("default", "odd/ id?&#%.md")) == text


@pytest.mark.parametrize("id", ["a/b c.md", "😀" * 20, "x" * 600, "_id", "..", "a\nb", "日本語.txt", '"quoted"'])
def test_any_id_is_stored_found_and_deleted(store: Store, id: str) -> None:
    store.put(Document(id=id, text=prose("harbour", 5)))
    assert store.found("harbour")[0] == id
    assert store.writer.delete(store.index, [DocumentKey("default", id)]) == [True]


def test_the_same_id_in_two_collections_is_two_documents(store: Store) -> None:
    store.put(
        Document(id="readme.md", collection="a", text=prose("harbour", 9)),
        Document(id="readme.md", collection="b", text=prose("orchard", 9)),
    )
    assert [c.collection for c in store.search("harbour orchard", collection="a").contexts] == ["a"]
    assert {c.collection for c in store.search("harbour orchard").contexts} == {"a", "b"}
    store.writer.delete(store.index, [DocumentKey("a", "readme.md")])
    assert {c.collection for c in store.search("harbour orchard").contexts} == {"b"}


def test_the_same_paragraph_everywhere_is_kept_everywhere(store: Store) -> None:
    same = prose("library", 6)
    store.put(*(Document(id=f"d{i}", text=same) for i in range(4)))
    contexts = store.search("library", budget=2_000, overlap=1.0).contexts
    assert {source.document_id for c in contexts for source in c.sources} == {"d0", "d1", "d2", "d3"}


def test_a_window_without_a_usable_vector_is_stored_without_one(store: Store) -> None:
    item = encoded(documents()[0], store.spec)
    item.dense[Granularity.G2][20:22] = 0
    assert store.writer.replace(store.index, [item])[0].outcome is Outcome.NEW
    assert "uniqueharbour" in store.search("a unique harbour uniqueharbour").contexts[0].text


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_query_vector_of_zeros_nan_or_infinity_is_refused(store: Store, bad: float) -> None:
    store.put(documents()[0])
    query = HashedWords(store.spec).encode_query("harbour")
    with pytest.raises(QueryError):
        store.reader.ranked_lists(
            store.index, replace(query, dense=np.full(48, bad, dtype=np.float32)), depth=5, scope=Scope()
        )


def test_a_query_vector_of_another_size_is_refused_with_both_numbers(store: Store) -> None:
    store.put(documents()[0])
    query = replace(HashedWords(store.spec).encode_query("harbour"), dense=np.ones(768, dtype=np.float32))
    with pytest.raises(IndexMismatch, match=r"768.*48"):
        store.reader.ranked_lists(store.index, query, depth=5, scope=Scope())


def test_a_question_of_fifty_thousand_characters_is_answered(store: Store) -> None:
    store.put(*documents())
    question = "uniquevolcano " * 50 + " ".join(f"filler{i}" for i in range(5_000))
    result = store.search(question)
    assert not result.degraded
    assert len(result.warnings) == (0 if store.engine.info().name == "embedded" else 2)  # words, and sparse terms
    assert result.contexts[0].document_id == "volcano/a b.md"


def test_an_unfinished_generation_is_not_shown(store: Store) -> None:
    """Kill -9 between publish and the ledger's write: the old text stays searchable, a retry finishes."""
    old = Document(id="d", text=prose("harbour", 20, extra="an oldthing"))
    new = Document(id="d", text=prose("harbour", 20, extra="a newthing"))
    store.put(old)
    begun = begin(store, [encoded(new, store.spec)])
    assert not generations.write(store.engine, store.index, begun)
    assert any("oldthing" in c.text for c in store.search("an oldthing").contexts)
    assert not any("newthing" in c.text for c in store.search("a newthing").contexts)
    assert store.put(new) == [Outcome.UPDATED]
    assert any("newthing" in c.text for c in store.search("a newthing").contexts)
    assert not any("oldthing" in c.text for c in store.search("an oldthing").contexts)
    store.writer.sweep(store.index)
    entry = store.engine.fetch(store.index, [old.key.hash], []).entries[old.key.hash]
    assert entry.in_set(store.index.label).retired == ()


def test_replaced_chunks_that_a_crash_left_are_not_shown(store: Store) -> None:
    """Kill -9 between the ledger's write and the deletion of what it replaced."""
    store.put(Document(id="d", text=prose("harbour", 20, extra="an oldthing")))
    new = encoded(Document(id="d", text=prose("orchard", 20, extra="a newthing")), store.spec)
    begun = begin(store, [new])
    generations.write(store.engine, store.index, begun)
    assert store.writer._finish(store.index, begun)
    result = store.search("an oldthing harbour")
    assert not any("oldthing" in c.text for c in result.contexts)
    assert any("orchard" in c.text for c in result.contexts)
    assert store.writer.sweep(store.index) == 1
    assert {c.document_id for c in store.search("a newthing").contexts} == {"d"}


def test_of_two_writers_on_one_document_the_later_wins_and_nothing_is_left_over(store: Store) -> None:
    store.put(Document(id="d", text=prose("harbour", 6)))
    slow = begin(store, [encoded(Document(id="d", text=prose("glacier", 6)), store.spec)])
    generations.write(store.engine, store.index, slow)
    assert store.put(Document(id="d", text=prose("volcano", 6))) == [Outcome.UPDATED]
    assert not store.writer._finish(store.index, slow)
    generations.tidy(store.engine, store.index, slow, {})
    store.writer.sweep(store.index)
    assert "volcano" in store.search("volcano").contexts[0].text
    assert not any("glacier" in c.text for c in store.search("glacier").contexts)
    assert all(
        size.entries == window_count(6, g)
        for g in Granularity
        for name, size in store.engine.sizes(store.index).items()
        if g.label in name.split("-")
    )


def test_ledger_entries_are_written_on_condition(store: Store) -> None:
    entry = ledger.blank(DocumentKey("default", "x"))
    (first,) = store.engine.write_entries([entry])
    assert first is not None
    assert store.engine.write_entries([entry]) == [None]
    (second,) = store.engine.write_entries([replace(first, title="t")])
    assert second is not None
    assert store.engine.write_entries([first]) == [None]
    assert store.engine.fetch(store.index, [entry.document], []).entries[entry.document].title == "t"


def test_access_control_holds_in_lists_texts_and_explanations(engine: Engine) -> None:
    store = Store(engine, access_control=True)
    mine = Document(id="mine", text=prose("harbour", 12), acl=("ann",))
    theirs = Document(id="theirs", text=prose("harbour", 12, extra="a secretword"), acl=("bob",))
    everybody = Document(id="public", text=prose("orchard", 12), acl=("*",))
    nobody = Document(id="nobody", text=prose("harbour", 12), acl=())
    store.put(mine, theirs, everybody, nobody)
    result = store.search("harbour secretword orchard", principals=("ann",), budget=5_000, overlap=1.0)
    seen = {c.document_id for c in result.contexts} | {h.document_id for r in result.channels for h in r.top}
    assert seen == {"mine", "public"}
    with pytest.raises(QueryError, match="--principal"):
        store.search("harbour")
    with pytest.raises(DocumentNotFound):
        store.reader.text(theirs.key, ("ann",))


def test_every_expert_finds_a_document_after_an_acl_update(engine: Engine) -> None:
    store = Store(engine, access_control=True)
    document = Document(id="d", text=prose("harbour", 40, extra="a secretword"), acl=("bob",))
    store.put(document, Document(id="other", text=prose("orchard", 40), acl=("*",)))
    assert "d" not in store.found("a secretword harbour", principals=("ann",))
    changed = replace(document, acl=("ann",))
    store.writer.update_attributes(store.index, [changed])
    result = store.search("a secretword harbour", principals=("ann",))
    assert {r.channel for r in result.channels if r.top[0].document_id == "d"} == set(store.spec.channels)
    assert "d" not in store.found("a secretword harbour", principals=("bob",))
    assert store.writer.plan(store.index, [changed]) == [Change.NONE]


def test_a_revocation_holds_from_the_ledger_write_on(engine: Engine) -> None:
    store = Store(engine, access_control=True)
    document = Document(id="d", text=prose("harbour", 20), acl=("ann",))
    store.put(document)
    store.writer._attributes.write(store.index, [replace(document, acl=("bob",))])  # chunks still say ann
    assert store.found("harbour", principals=("ann",)) == []


def test_an_explanation_counts_no_hit_of_a_revoked_document(engine: Engine) -> None:
    store = Store(engine, access_control=True)
    revoked = Document(id="revoked", text=prose("harbour", 20), acl=("ann",))
    store.put(revoked, Document(id="mine", text=prose("orchard", 20), acl=("ann",)))
    store.writer._attributes.write(store.index, [replace(revoked, acl=("bob",))])  # chunks still say ann
    for report in store.search("orchard season", principals=("ann",)).channels:
        assert report.hits <= window_count(20, report.channel.granularity), report.channel


def test_what_is_dropped_for_low_relevance_is_counted_without_documents_that_were_revoked(engine: Engine) -> None:
    """The warning is the same as where the document was never stored."""
    store = Store(engine, access_control=True)
    mine, revoked = (Document(id=s, text=prose(s, 20), acl=("ann",)) for s in ("orchard", "harbour"))

    def warnings() -> tuple[str, ...]:
        options = RankingOptions(min_relevance=0.9)
        query = Query(text="orchard harbour season", scope=Scope(principals=("ann",)), options=options)
        return store.search_service.search(query).warnings

    store.put(mine)
    before = warnings()
    store.put(revoked)
    assert warnings() != before
    store.writer._attributes.write(store.index, [replace(revoked, acl=("bob",))])  # chunks still say ann
    assert warnings() == before


def test_a_failing_channel_is_named_and_the_others_answer(store: Store, engine_settings: Settings) -> None:
    store.put(*documents())
    break_one_granularity(store, engine_settings)
    result = store.search("a unique glacier uniqueglacier")
    assert set(result.degraded) == {f"{expert}-g16" for expert in Expert}
    assert result.contexts[0].document_id == "glacier/a b.md"


def break_one_granularity(store: Store, engine_settings: Settings) -> None:
    if engine_settings.engine.startswith("embedded:"):
        pytest.skip("its shards live and die with the process; the reader's part is tested on the servers")
    name = f"{engine_settings.prefix}-g16-v1"
    store.engine._server.call("POST", f"/{name}/_close")


def test_when_every_channel_fails_it_is_an_error(store: Store, engine_settings: Settings) -> None:
    if engine_settings.engine.startswith("embedded:"):
        pytest.skip("its shards live and die with the process; the reader's part is tested on the servers")
    store.put(documents()[0])
    for granularity in Granularity:
        store.engine._server.call("POST", f"/{engine_settings.prefix}-{granularity.label}-v1/_close")
    with pytest.raises(EngineError, match="All 15 searches failed"):
        store.search("harbour")


def test_a_lean_set_and_single_experts_work(engine: Engine) -> None:
    store = Store(engine, experts=(Expert.LEXICAL,), granularities=(Granularity.G2, Granularity.G8))
    store.put(*documents())
    result = store.search("uniquelibrary")
    assert [str(r.channel) for r in result.channels] == ["lexical-g02", "lexical-g08"]
    assert result.contexts[0].document_id == "library/a b.md"
    assert result.contexts[0].relevance is None


def test_deleting_what_is_gone_already_is_no_failure(store: Store) -> None:
    document = documents()[0]
    store.put(document)
    ids = ids_of(version_of(document.key.hash, 1), 40, store.spec.granularities)
    assert not store.engine.delete(store.index, ids.chunks, ids.blocks)
    assert not store.engine.delete(store.index, ids.chunks, ids.blocks)


def test_updating_attributes_of_a_missing_chunk_is_reported(store: Store) -> None:
    missing = ChunkId(Granularity.G2, version_of(DocumentKey("default", "x").hash, 1), 0)
    assert set(store.engine.update_attributes(store.index, [([missing], Attributes(("a",), {}, ()))])) == {missing}


def test_states_and_sizes_tell_what_is_there(store: Store) -> None:
    store.put(*documents())
    status = store.reader.status()
    assert {state.value: count for state, count in status.documents.items()} == {"searchable": 5}
    assert all(size.bytes > 0 for size in status.sizes.values())
