"""Changes of ACL and metadata without the text: every expert finds what may be found, at once and everywhere."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.fakes.encoders import HashedWords, encoded, spec
from umg_search.errors import DocumentNotFound, QueryError
from umg_search.granularity import Granularity
from umg_search.model import DeclaredField, Document, FieldType, Outcome, SearchResult, parse_filter
from umg_search.ports import Engine, Scope
from umg_search.search import Query, SearchService
from umg_search.settings import Settings
from umg_search.store.plans import Change
from umg_search.store.reader import MOST_PRINCIPALS, Reader
from umg_search.store.writer import CONFLICT, Writer
from umg_search.wiring import open_engine

FIELDS = (DeclaredField("lang", FieldType.KEYWORD), DeclaredField("year", FieldType.INTEGER))
SPEC = spec(granularities=(Granularity.G2, Granularity.G8), access_control=True, fields=FIELDS)
TEXT = " ".join(f"The harbour has a part called harbour{i}." for i in range(20))
DOCUMENT = Document(id="d", text=TEXT, acl=("ann",), metadata={"year": 2020, "lang": ["de", "en"], "source": "wiki"})


class Store:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.writer = Writer(engine, grace=0)
        self.index = self.writer.prepare(SPEC)
        self.reader = Reader(engine)
        self.put(DOCUMENT, Document(id="other", text=TEXT.replace("harbour", "orchard"), acl=("*",)))

    def put(self, *documents: Document) -> list[Outcome]:
        return [r.outcome for r in self.writer.replace(self.index, [encoded(d, SPEC) for d in documents])]

    def ask(self, principals: tuple[str, ...], text: str = "") -> SearchResult:
        scope = Scope((), principals, parse_filter(text) if text else None)
        return SearchService(self.reader, HashedWords).search(Query(text="the harbour", scope=scope, explain=True))

    def found(self, principals: tuple[str, ...], text: str = "") -> bool:
        """Tell whether the document is found, by every channel; none may find it alone."""
        result = self.ask(principals, text)
        channels = {report.channel for report in result.channels if any(hit.document_id == "d" for hit in report.top)}
        assert channels in (set(), set(SPEC.channels))
        assert ("d" in {context.document_id for context in result.contexts}) is bool(channels)
        return bool(channels)


@pytest.fixture
def store(engine_settings: Settings) -> Iterator[Store]:
    opened = open_engine(engine_settings)
    yield Store(opened)
    opened.close()


def test_new_values_match_and_old_ones_no_longer(store: Store) -> None:
    assert store.found(("ann",), "year = 2020 and lang = de and source = wiki and exists(lang)")
    changed = replace(DOCUMENT, acl=("bob",), metadata={"year": 2021, "kind": {"of": "thing"}})
    assert store.writer.update_attributes(store.index, changed).outcome is Outcome.UPDATED
    assert not store.found(("ann",))
    assert store.found(("bob",), 'year = 2021 and "kind.of" = thing and not exists(lang)')
    for old in ("year = 2020", "lang = de", "source = wiki", "exists(lang)"):
        assert not store.found(("bob",), old)
    (context,) = [c for c in store.ask(("bob",)).contexts if c.document_id == "d"][:1]
    assert context.metadata == {"year": 2021, "kind": {"of": "thing"}}
    assert store.writer.plan(store.index, [changed]) == [Change.NONE]


def test_a_revocation_since_the_plan_is_not_undone_by_the_write(store: Store) -> None:
    new = replace(DOCUMENT, text=TEXT + " And a new part.")
    seen = store.writer.seen(store.index, [new])
    item = encoded(new, SPEC)
    store.writer.update_attributes(store.index, replace(DOCUMENT, acl=("bob",)))
    (report,) = store.writer.replace(store.index, [item], seen)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert not store.found(("ann",))
    assert store.found(("bob",))
    with pytest.raises(DocumentNotFound):
        store.reader.text(DOCUMENT.key, ("ann",))


def test_a_deletion_since_the_plan_is_not_undone_by_the_write(store: Store) -> None:
    new = replace(DOCUMENT, text=TEXT + " And a new part.")
    seen = store.writer.seen(store.index, [new])
    store.writer.delete(store.index, [DOCUMENT.key])
    (report,) = store.writer.replace(store.index, [encoded(new, SPEC)], seen)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert not store.found(("ann",))


def test_a_thousand_principals_are_answered_and_more_refused(store: Store) -> None:
    many = tuple(f"p{i}" for i in range(MOST_PRINCIPALS - 1))
    assert store.found((*many, "ann"))
    assert not store.found((*many, "bob"))
    for call in (lambda: store.found((*many, "ann", "x")), lambda: store.reader.text(DOCUMENT.key, (*many, "a", "x"))):
        with pytest.raises(QueryError, match=f"{MOST_PRINCIPALS + 1} principals, and {MOST_PRINCIPALS} are allowed"):
            call()
