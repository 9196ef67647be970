"""Nothing of a document that one may not read: no text, id, title, metadata or count, in no answer, report or error.

Every sentence, id, title and metadata of a document holds a word of its own, so that whatever comes out tells whose it
is. Between the worlds and the questions, documents are revoked, deleted, replaced and half written, some of it only as
far as a crash after the first write to the ledger would leave it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from tests.fakes.encoders import HashedWords, encoded, spec
from tests.fakes.filters import matches
from umg_search.cli.output import result_json
from umg_search.errors import DocumentNotFound, QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    And,
    DeclaredField,
    Document,
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
    SearchResult,
)
from umg_search.ports import Engine, Scope
from umg_search.search import Query, RankingOptions, SearchService, Selection
from umg_search.search.hints import hints
from umg_search.settings import Settings
from umg_search.store import generations, ledger
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.windows import window_count
from umg_search.wiring import open_engine

WORLDS, REQUESTS, DOCUMENTS = 20, 25, 6
FIELDS = (DeclaredField("level", FieldType.INTEGER), DeclaredField("team", FieldType.KEYWORD))
SPEC = spec(granularities=(Granularity.G2, Granularity.G8), access_control=True, fields=FIELDS)
PRINCIPALS = ("ann", "bob", "eve")
DEPTH = 500
"""More than there are windows, so that counts are exact."""

MARK = re.compile(r"zq\d+x\d+[a-z]")


@dataclass
class World:
    """What is true of the documents, whatever the engine holds."""

    rng: Random
    live: dict[str, Document] = field(default_factory=dict)
    """By mark; a mark that is not here may come out nowhere."""
    gone: list[Document] = field(default_factory=list)

    def allowed(self, scope: Scope) -> dict[str, Document]:
        return {
            mark: document
            for mark, document in self.live.items()
            if {*(scope.principals or ()), "*"} & set(document.acl)
            and scope.collections in ((), (document.collection,))
            and (scope.filter is None or matches(scope.filter, document.metadata, FIELDS))
        }


def made(rng: Random, world: int, number: int, version: str = "a") -> Document:
    mark = f"zq{world}x{number}{version}"
    lines = [f"The common part {i} of {mark} is here." for i in range(rng.randint(1, 4))]
    text = " ".join([*lines, *rng.choice([[], ["The same common part is in many documents."]])])
    return Document(
        id=f"{world}x{number}",
        text=text,
        title=f"About {mark}",
        collection=rng.choice(["shared", f"w{world}"]),
        metadata={"level": rng.randint(0, 3), "team": rng.choice(["red", "blue"]), "note": mark, "deep": {"k": mark}},
        acl=tuple(rng.sample([*PRINCIPALS, "*"], rng.randint(0, 2))),
    )


def again(rng: Random, document: Document, version: str) -> Document:
    """Return a document with the same key and attributes that are all new."""
    world, number = document.id.split("x")
    return replace(
        made(rng, int(world), int(number), version), collection=document.collection, acl=(rng.choice(PRINCIPALS),)
    )


def no_collections(most: int) -> list[str]:
    """With access control the hints know the question and the set alone."""
    raise AssertionError(f"{most} collections are asked for")


class Town:
    """All worlds in one index set, with everything that happens to them."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.engine = engine
        self.writer = Writer(engine, grace=0)
        self.index = self.writer.prepare(SPEC)
        self.reader = Reader(engine)
        self.search = SearchService(self.reader, HashedWords)
        self.world = World(Random(seed))  # noqa: S311 - no secret
        self._fill()
        self._change()

    def _fill(self) -> None:
        documents = [made(self.world.rng, w, n) for w in range(WORLDS) for n in range(DOCUMENTS)]
        reports = self.writer.replace(self.index, [encoded(d, SPEC) for d in documents])
        assert {report.outcome for report in reports} == {Outcome.NEW}
        self.world.live = {mark_of(d): d for d in documents}

    def _change(self) -> None:
        documents = list(self.world.live.values())
        revoked, half_revoked, deleted, half_deleted, replaced, half_replaced = (
            documents[n::DOCUMENTS] for n in range(6)
        )
        for document in revoked[::4]:
            self.writer.update_attributes(self.index, [self._revoked(document)])
        for document in half_revoked:
            self.writer._attributes.write(self.index, [self._revoked(document)])
        self.writer.delete(self.index, [d.key for d in deleted[::4]])
        entries = self.engine.fetch(self.index, [d.key.hash for d in half_deleted], []).entries
        self.engine.write_entries([ledger.remove(entry, 1.0) for entry in entries.values()])
        for document in (*deleted[::4], *half_deleted):
            del self.world.live[mark_of(document)]
            self.world.gone.append(document)
        new = [again(self.world.rng, d, "n") for d in replaced]
        self.writer.replace(self.index, [encoded(d, SPEC) for d in new])
        for old, document in zip(replaced, new, strict=True):
            del self.world.live[mark_of(old)]
            self.world.live[mark_of(document)] = document
        unfinished = [encoded(again(self.world.rng, d, "u"), SPEC) for d in half_replaced]
        seen = self.writer.seen(self.index, half_replaced)
        generations.write(self.engine, self.index, self.writer._begin(self.index, unfinished, seen))
        self.engine.publish(self.index)

    def _revoked(self, document: Document) -> Document:
        """Return the document for one of its readers at most; nobody is added, which chunks would show later only."""
        readers = [p for p in PRINCIPALS if {p, "*"} & set(document.acl)]
        changed = replace(document, acl=tuple(self.world.rng.sample(readers, min(1, len(readers)))))
        self.world.live[mark_of(document)] = changed
        return changed

    def ask(self, world: int) -> None:
        rng = self.world.rng
        target = rng.choice([*self.world.live.values(), *self.world.gone])
        principals = tuple(rng.sample([*PRINCIPALS, "nobody"], rng.randint(1, 2)))
        collections = rng.choice([(), (), ("shared",), (f"w{world}",), (target.collection,)])
        scope = Scope(collections, principals, rng.choice([None, some_filter(rng, target)]))
        options = RankingOptions(
            select=rng.choice([*Selection]), budget=rng.choice([20, 500]), depth=DEPTH, top_k=rng.choice([None, 0])
        )
        question = f"the common part of {mark_of(target)}"
        result = self.search.search(Query(text=question, scope=scope, options=options, explain=True))
        self._check_answer(result, self.world.allowed(scope), mark_of(target))
        assert result.warnings == (() if result.contexts else tuple(hints(scope, SPEC, no_collections)))
        self._check_text(target, principals)
        self._check_error(target, scope)

    def _check_answer(self, result: SearchResult, allowed: dict[str, Document], target: str) -> None:
        shown = {**result_json(result, explain=True), "question": ""}
        assert set(MARK.findall(json.dumps(shown))) <= set(allowed)
        named = {(c.collection, c.document_id) for c in result.contexts}
        named |= {(source.collection, source.document_id) for c in result.contexts for source in c.sources}
        named |= {(hit.collection, hit.document_id) for report in result.channels for hit in report.top}
        assert named <= {document.key for document in allowed.values()}
        assert result.degraded == ()
        counts = {report.channel: report.hits for report in result.channels}
        for channel in SPEC.channels:
            windows = sum(window_count(len(d.text.split(". ")), channel.granularity) for d in allowed.values())
            assert counts.get(channel, 0) <= windows
        fine = Channel(Expert.LEXICAL, Granularity.G2)
        assert counts.get(fine, 0) == sum(
            window_count(len(d.text.split(". ")), Granularity.G2) for d in allowed.values()
        )
        if target in allowed:
            (best,) = [report.top[0] for report in result.channels if report.channel == fine]
            assert (best.collection, best.document_id) == allowed[target].key
            assert result.contexts

    def _check_text(self, target: Document, principals: tuple[str, ...]) -> None:
        live = self.world.live.get(mark_of(target))
        if live is not None and {*principals, "*"} & set(live.acl):
            assert self.reader.text(target.key, principals) == live.text
            return
        messages = []
        for key in (target.key, target.key._replace(id="never")):
            with pytest.raises(DocumentNotFound) as caught:
                self.reader.text(key, principals)
            messages.append(str(caught.value).replace(repr(key.id), "ID"))
        assert messages[0] == messages[1]

    def _check_error(self, target: Document, scope: Scope) -> None:
        """Whether a document has an undeclared key makes no difference, nor what a declared one holds."""
        for wrong in (Exists("note"), Equals("level", "x"), Range("deep.k", gt="a")):
            with pytest.raises(QueryError) as caught:
                self.search.search(Query(text=target.text, scope=replace(scope, filter=wrong)))
            assert not MARK.search(str(caught.value))


def some_filter(rng: Random, target: Document) -> Filter:
    """Return a filter, often one that would single out a document which may not be read."""
    mark = mark_of(target)
    choices: list[Filter] = [
        Equals("note", mark),
        Prefix("note", mark[:-1]),
        In("deep.k", (mark, "other")),
        Range("level", gte=rng.randint(0, 3)),
        Not(Equals("team", "red")),
        And((Exists("level"), Equals("team", target.metadata["team"]))),
        Or((Equals("note", mark), Range("level", lt=2))),
    ]
    return rng.choice(choices)


def mark_of(document: Document) -> str:
    mark: str = document.metadata["note"]
    return mark


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


def test_nothing_of_a_forbidden_document_comes_out(engine: Engine) -> None:
    town = Town(engine, seed=0)
    for world in range(WORLDS):
        for _ in range(REQUESTS):
            town.ask(world)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_nothing_of_a_forbidden_document_comes_out_of_many_worlds(engine: Engine, seed: int) -> None:
    town = Town(engine, seed)
    for world in range(WORLDS):
        for _ in range(REQUESTS):
            town.ask(world)
