"""What is large, odd or grows: documents, questions, requests, terms, vectors, metadata; on every engine."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import urllib3

from tests.contracts.test_store import Store, prose
from tests.fakes.encoders import HashedWords, sparse, split
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import Document, DocumentKey, Outcome, SparseVector, version_of
from umg_search.ports import BlockId, ChunkId, Engine, Scope
from umg_search.settings import Settings
from umg_search.store.bodies import MOST_TERMS
from umg_search.store.entries import chunks_of
from umg_search.windows import window_count
from umg_search.wiring import open_engine

LEAN = (Granularity.G2, Granularity.G8)


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


@pytest.fixture
def store(engine: Engine) -> Store:
    return Store(engine, granularities=LEAN)


def is_embedded(store: Store) -> bool:
    return store.engine.info().name == "embedded"


def entries_by_kind(store: Store) -> dict[str, int]:
    names = [*(g.label for g in store.spec.granularities), "text"]
    sizes = store.engine.sizes(store.index).items()
    return {kind: size.entries for kind in names for name, size in sizes if kind in name.split("-")}


def test_a_document_of_five_thousand_sentences_is_stored_read_and_deleted(store: Store) -> None:
    """A document of 5,000 chunks. Its blocks are read, and its chunks deleted, in several requests."""
    document = Document(id="long", text=prose("glacier", 5_000, extra="a needleword"))
    assert store.put(document) == [Outcome.NEW]
    assert entries_by_kind(store) == {g.label: window_count(5_000, g) for g in LEAN} | {"text": -(-5_000 // 32)}
    assert "needleword" in store.search("a needleword").contexts[0].text
    assert store.reader.text(document.key) == document.text
    assert store.writer.delete(store.index, [document.key]) == [True]
    assert set(entries_by_kind(store).values()) == {0}


def test_thousands_of_entries_are_read_at_once(store: Store) -> None:
    document = Document(id="d", text=prose("harbour", 70))
    store.put(document)
    version = version_of(document.key.hash, 1)
    unknown = [DocumentKey("default", f"u{n}").hash for n in range(1_200)]
    found = store.engine.fetch(
        store.index, [*unknown, document.key.hash], [BlockId(version, number) for number in range(1_300)]
    )
    assert set(found.entries) == {document.key.hash}
    assert "".join(found.blocks[BlockId(version, number)].text for number in range(3)) == document.text
    assert len(found.blocks) == 3


def test_a_sentence_of_a_million_characters_is_stored(store: Store) -> None:
    text = " ".join(f"word{n % 1_000}" for n in range(140_000))
    document = Document(id="endless", text=text[:1_000_000])
    assert split(document).sentences == 1
    assert store.put(document) == [Outcome.NEW]
    assert store.reader.text(document.key) == document.text
    (context,) = store.search("word777", budget=50).contexts
    assert (context.document_id, context.truncated) == ("endless", True)
    assert document.text.startswith(context.text)


def test_a_question_of_1500_sparse_terms_is_asked_with_the_heaviest(store: Store) -> None:
    """A query with 1,500 terms."""
    store.put(Document(id="light", text=prose("harbour", 9)), Document(id="heavy", text=prose("volcano", 9)))
    heavy, light = sparse("volcano").terms[0], sparse("harbour").terms[0]
    others = np.setdiff1d(np.arange(1_600), [heavy, light])[:1_498]
    terms = np.concatenate([[heavy, light], others]).astype(np.int32)
    weights = np.concatenate([[9.0, 0.1], np.ones(1_498)]).astype(np.float32)
    order = np.argsort(terms)
    asked = SparseVector(terms[order], weights[order])
    query = replace(HashedWords(store.spec).encode_query("volcano"), sparse=asked)
    found = store.reader.ranked_lists(store.index, query, depth=50, scope=Scope())
    assert not found.failed
    (ranked,) = [each for each in found.lists if each.channel == Channel(Expert.SPARSE, Granularity.G2)]
    assert ranked.hits.versions[0] == version_of(DocumentKey("default", "heavy").hash, 1)
    cut = f"too many sparse terms for one search: {1_500 - MOST_TERMS} of them were left out"
    assert [cut in note for note in found.notes] == ([] if is_embedded(store) else [True])


LETTERS = "".join(map(chr, range(ord("a"), ord("z") + 1)))
QUESTIONS = {
    "words": " ".join(f"filler{n}" for n in range(5_000)),
    "one word": (LETTERS * 2_000)[:50_000],
    "long words": " ".join((LETTERS * 50)[n : n + 1_000] for n in range(60)),
    "ideographs": "".join(chr(0x4E00 + n % 20_000) for n in range(50_000)),
    "emoji": "".join(chr(0x1F300 + n % 700) for n in range(50_000)),
    "emoji, spaced": " ".join(chr(0x1F300 + n % 700) for n in range(25_000)),
    "signs": "?!" * 25_000,
}


@pytest.fixture
def one_of_each(store: Store) -> Store:
    store.put(Document(id="d", text=prose("volcano", 40)))
    return store


def test_a_question_of_fifty_thousand_characters_is_answered_whatever_they_are(one_of_each: Store) -> None:
    for name, filler in QUESTIONS.items():
        result = one_of_each.search(f"volcano3 {filler}")
        assert not result.degraded, name
        assert result.contexts[0].document_id == "d", name


def test_terms_with_dots_are_stored_and_found(store: Store) -> None:
    """Sparse terms with dots ("u.s.", "3.14"): features are numbers of the vocabulary, so none has one."""
    store.put(
        Document(id="dots", text="The u.s. index rose by 3.14 points. Version 2.0.1 of node.js came out. No more."),
        Document(id="other", text=prose("orchard", 6)),
    )
    for question in ("u.s.", "3.14", "node.js 2.0.1"):
        result = store.search(question)
        assert not result.degraded
        tops = {str(r.channel): r.top[0].document_id for r in result.channels if r.channel.expert is not Expert.DENSE}
        assert set(tops.values()) == {"dots"}, question


def mappings(settings: Settings) -> object:
    with urllib3.PoolManager(retries=False) as http:
        return http.request("GET", f"{settings.engine}/{settings.prefix}-*/_mapping").json()


def test_metadata_with_ten_new_keys_a_document_leaves_the_mapping_alone(
    store: Store, engine_settings: Settings
) -> None:
    """Metadata with ten new keys per document (mapping must not grow)."""
    on_server = not is_embedded(store)
    before = mappings(engine_settings) if on_server else None
    values = ("text", 1, 2.5, True, None, ["a", 1], {"deep": {"er": "x"}}, "", "2024-05-06", {"with.dot": []})
    documents = [
        Document(
            id=f"d{n}",
            text=f"Document {n} is short.",
            # `same` has another type in each document: an engine that guessed types would refuse the second.
            metadata={f"key{n}.{k}": value for k, value in enumerate(values)} | {"same": values[n % len(values)]},
        )
        for n in range(100)
    ]
    assert store.put(*documents) == [Outcome.NEW] * 100
    found = store.engine.fetch(store.index, [d.key.hash for d in documents], []).entries
    assert {d.id: found[d.key.hash].metadata for d in documents} == {d.id: d.metadata for d in documents}
    if on_server:
        assert mappings(engine_settings) == before


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_chunk_with_an_unusable_vector_is_named_and_the_others_are_stored(store: Store, bad: float) -> None:
    """Encoders deliver none such; what a program puts in their place may."""
    document = store.encoded(Document(id="d", text=prose("harbour", 9)))
    chunks = list(chunks_of(document, version_of(document.split.document.key.hash, 1), store.spec))
    broken = replace(chunks[3], dense=np.full(48, bad, dtype=np.float32))
    failed = store.engine.write_chunks(store.index, [*chunks[:3], broken, *chunks[4:]])
    assert set(failed) == {ChunkId(broken.granularity, broken.version, broken.first)}
    store.engine.publish(store.index)
    assert sum(entries_by_kind(store).values()) == len(chunks) - 1
