"""Filters mean the same on every engine, whatever the documents and the filters are."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.fakes.encoders import DIMS, HashedWords, encoded, spec
from tests.fakes.filters import matches
from umg_search.errors import IndexMismatch, QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    And,
    DeclaredField,
    Document,
    DocumentHash,
    DocumentKey,
    EncodedQuery,
    Equals,
    Exists,
    FieldType,
    Filter,
    In,
    Not,
    Or,
    Outcome,
    Prefix,
    Range,
    document_of,
    parse_filter,
    version_of,
)
from umg_search.ports import Chunk, Engine, Scope
from umg_search.settings import Settings
from umg_search.store.attributes import attributes_of
from umg_search.store.precision import stored_vector
from umg_search.store.reader import Reader
from umg_search.store.units import pack
from umg_search.store.writer import Writer
from umg_search.windows import Window
from umg_search.wiring import open_engine

FIELDS = tuple(sorted(DeclaredField(kind.value, kind) for kind in FieldType))
DECLARED = {kind.value for kind in FieldType}
SPEC = spec(granularities=(Granularity.G2,), fields=FIELDS)

INTEGERS = [0, 1, -1, 7, 2020, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63 - 1, 2**63 - 2, -(2**63)]
FLOATS = [0.0, -0.0, 0.1, -2.5, 3, 1e300, -1e-300, 1.7976931348623157e308, 5e-324]
DATES = ["2020-01-01", "2020-01-01T00:00:00Z", "2020-01-01T01:00+01:00", "2019-12-31T23:59:59.999", "0001-01-01",
         "9999-12-31T23:59:59.999999Z", "1969-07-20T20:17:40.123-05:00"]  # fmt: skip
LONG = "ab" * 400
TEXTS = [
    "",
    "a",
    "ab",
    "AB",
    "b c",
    "日本語",
    "*",
    "a*",
    "?",
    '"',
    "\\",
    "true",
    "7",
    "7.0",
    "é",
    "ab\tc",
    LONG,
    LONG + "x",
]
VALUES: dict[FieldType, list[Any]] = {
    FieldType.INTEGER: INTEGERS,
    FieldType.FLOAT: FLOATS,
    FieldType.DATE: DATES,
    FieldType.BOOLEAN: [True, False],
    FieldType.KEYWORD: TEXTS,
}
FREE = [*TEXTS, 7, 7.0, True, None, -1.5]
KEYS = ["k", "k.x", "1:k", "with blank", "K"]
"""Undeclared keys; `k.x` stands as such and nested in `k`, `1:k` looks like the beginning of an entry."""


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


def some(rng: Random, values: list[Any]) -> Any:
    """Return nothing, one value, or a list of them."""
    return rng.choice([None, rng.choice(values), rng.sample(values, rng.randint(0, min(3, len(values))))])


def metadata(rng: Random) -> dict[str, Any]:
    found = {kind.value: some(rng, values) for kind, values in VALUES.items()}
    found |= {key: some(rng, FREE) for key in rng.sample(KEYS, 3)}
    if rng.random() < 0.3:
        found["k"] = {"x": some(rng, FREE), "y": [{"z": rng.choice(TEXTS)}]}
    return {key: value for key, value in found.items() if value is not None or rng.random() < 0.5}


def clause(rng: Random) -> Filter:
    kind = rng.choice([*FieldType, None])
    name = kind.value if kind else rng.choice([*KEYS, "k.y.z", "never"])
    values = VALUES[kind] if kind else [value for value in FREE if value is not None]
    shapes = ["equals", "in"]
    shapes += ["exists"] if kind else []
    shapes += ["prefix"] if kind in {None, FieldType.KEYWORD} else []
    shapes += ["range"] * 3 if kind in {FieldType.INTEGER, FieldType.FLOAT, FieldType.DATE} else []
    match rng.choice(shapes):
        case "equals":
            return Equals(name, rng.choice(values))
        case "in":
            return In(name, tuple(rng.sample(values, min(len(values), rng.randint(1, 4)))))
        case "exists":
            return Exists(name)
        case "prefix":
            return Prefix(name, rng.choice(["a", "ab", "b ", "日", "*", "A", "tr", "abab"]))
    bounds = {rng.choice(["gte", "gt"]): rng.choice(values), rng.choice(["lte", "lt"]): rng.choice(values)}
    return Range(name, **dict(rng.sample(sorted(bounds.items()), rng.randint(1, 2))))


def tree(rng: Random, depth: int = 3) -> Filter:
    if depth == 0 or rng.random() < 0.4:
        return clause(rng)
    if rng.random() < 0.3:
        return Not(tree(rng, depth - 1))
    return rng.choice([And, Or])(tuple(tree(rng, depth - 1) for _ in range(rng.randint(1, 3))))


class Library:
    """Documents of one sentence, each in every list, so that a list shows what its filter lets through."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.writer = Writer(engine, grace=0)
        self.index = self.writer.prepare(SPEC)
        self.documents: dict[DocumentHash, Document] = {}

    def put(self, *documents: Document) -> list[Outcome]:
        reports = self.writer.replace(self.index, [encoded(d, SPEC) for d in documents])
        self.documents |= {d.key.hash: d for d in documents}
        return [report.outcome for report in reports]

    def found(self, item: Filter | None) -> dict[Channel, set[str]]:
        query = HashedWords(SPEC).encode_query("common")
        lists = Reader(self.engine).ranked_lists(self.index, query, depth=200, scope=Scope(filter=item))
        assert not lists.failed
        return {
            ranked.channel: {self.documents[document_of(version)].id for version in ranked.hits.versions}
            for ranked in lists.lists
        }

    def check(self, item: Filter) -> None:
        expected = {d.id for d in self.documents.values() if matches(item, d.metadata, FIELDS)}
        assert self.found(item) == dict.fromkeys(SPEC.channels, expected), item


def document(number: int, held: dict[str, Any]) -> Document:
    return Document(id=f"d{number}", text=f"A common thing number{number}.", metadata=held)


def test_every_filter_means_what_it_means_in_plain_words(engine: Engine) -> None:
    rng = Random(1)  # noqa: S311 - no secret
    library = Library(engine)
    assert set(library.put(*(document(i, metadata(rng)) for i in range(50)))) == {Outcome.NEW}
    for _ in range(60):
        library.check(tree(rng))
    changed = [replace(d, metadata=metadata(rng)) for d in list(library.documents.values())[:6]]
    for each in changed:
        assert library.writer.update_attributes(library.index, [each])[0].outcome is Outcome.UPDATED
    library.documents |= {d.key.hash: d for d in changed}
    for _ in range(12):
        library.check(tree(rng))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_every_filter_means_the_same_in_many_worlds(engine: Engine, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    library = Library(engine)
    library.put(*(document(i, metadata(rng)) for i in range(150)))
    for _ in range(300):
        library.check(tree(rng))


def test_filters_as_large_as_they_may_be_are_answered(engine: Engine) -> None:
    library = Library(engine)
    library.put(document(1, {"integer": 1, "keyword": "x1", "k": "v1"}), document(2, {"float": 0.5}))
    many = [In("keyword", tuple(f"x{i}" for i in range(1_024))), In("integer", tuple(range(1_024)))]
    many += [In("k", tuple(f"v{i}" for i in range(1_024))), In("float", tuple(i / 7 for i in range(768)))]
    rest = [Equals("never", f"n{i}") for i in range(124)] + [Range("integer", gt=10 + i) for i in range(128)]
    library.check(Or((*many, *rest)))
    library.check(And((Or((many[0], *rest)), *many[1:3])))
    question = " ".join(f"word{i}" for i in range(900)) + " common"
    query = HashedWords(SPEC).encode_query(question)
    answer = Reader(engine).ranked_lists(library.index, query, depth=10, scope=Scope(filter=Or((*many, *rest))))
    assert not answer.failed


def test_a_filter_that_does_not_fit_is_refused_before_anything_is_asked(engine: Engine) -> None:
    library = Library(engine)
    for text, why in (("integer = x", "'integer' is integer"), ("pages > 3", "'pages' is not declared")):
        with pytest.raises(QueryError, match=why):
            library.found(parse_filter(text))


def test_other_declared_fields_are_refused_with_both_values(engine: Engine) -> None:
    library = Library(engine)
    with pytest.raises(IndexMismatch, match=r"the index has boolean:boolean, date:date.*the settings say none"):
        library.writer.prepare(replace(SPEC, fields=()))


def test_metadata_that_does_not_fit_fails_its_document_alone(engine: Engine) -> None:
    library = Library(engine)
    bad = document(1, {"date": "soon"})
    assert library.put(document(0, {}), bad, document(2, {})) == [Outcome.NEW, Outcome.FAILED, Outcome.NEW]
    assert library.found(None) == {channel: {"d0", "d2"} for channel in SPEC.channels}


def test_new_keys_never_grow_the_mapping(engine: Engine, engine_settings: Settings) -> None:
    if engine_settings.engine.startswith("embedded:"):
        pytest.skip("it has no mapping: payloads are free")
    library = Library(engine)
    before = mapping_of(engine, engine_settings)
    library.put(*(document(i, {f"key{i}-{j}": {"deep": j} for j in range(10)}) for i in range(30)))
    library.check(Equals("key7-3.deep", 3))
    assert mapping_of(engine, engine_settings) == before


def mapping_of(engine: Engine, settings: Settings) -> Any:
    return engine._server.call("GET", f"/{settings.prefix}-g02-v1/_mapping").body


def test_a_filter_on_one_per_cent_leaves_full_lists_and_recall(engine: Engine) -> None:
    """3,000 vectors, of which a filter keeps 30: 20 hits are asked for, and exact search says which."""
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((3_000, DIMS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    library = Library(engine)
    versions = [version_of(DocumentKey("default", str(i)).hash, 1) for i in range(len(vectors))]
    chunks = [
        Chunk(
            granularity=Granularity.G2,
            version=version,
            first=0,
            unit=pack(version, Window(0, 1), Granularity.G2, [3]),
            collection="default",
            attributes=attributes_of(document(i, {"integer": i % 100, "k": str(i % 100)}), SPEC),
            dense=stored_vector(vectors[i], SPEC.vectors),
            text="a common word",
        )
        for i, version in enumerate(versions)
    ]
    assert not engine.write_chunks(library.index, chunks)
    engine.publish(library.index)
    found = wanted = 0
    for value in range(10):
        question = EncodedQuery("common", dense=vectors[rng.integers(3_000)])
        kept = np.arange(value, 3_000, 100)
        best = kept[np.argsort(-(vectors[kept] @ question.dense))[:20]]
        for item in (Equals("integer", value), Equals("k", str(value))):
            answer = Reader(engine).ranked_lists(library.index, question, depth=20, scope=Scope(filter=item))
            lists = {ranked.channel.expert: ranked.hits.versions for ranked in answer.lists}
            assert [len(lists[expert]) for expert in (Expert.DENSE, Expert.LEXICAL)] == [20, 20]
            found += len({versions[i] for i in best} & set(lists[Expert.DENSE]))
            wanted += 20
    assert found / wanted >= 0.95
