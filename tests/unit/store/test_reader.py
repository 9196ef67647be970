from dataclasses import replace

import pytest

from tests.fakes.encoders import HashedWords, encoded, spec
from tests.fakes.engine import MemoryEngine
from umg_search.errors import DocumentNotFound, EngineError, NoIndexSet, QueryError
from umg_search.granularity import Expert, Granularity
from umg_search.model import (
    Document,
    DocumentKey,
    DocumentState,
    Generation,
    LedgerEntry,
    Selected,
    SetState,
    version_of,
)
from umg_search.ports import BlockId, Scope
from umg_search.store.reader import Reader, effective, judge, readable
from umg_search.store.writer import Writer

SPEC = spec(experts=(Expert.LEXICAL,), granularities=(Granularity.G2,))
KEY = DocumentKey("default", "d")
GUARDED = spec(experts=(Expert.LEXICAL,), access_control=True)


def entry(live: int | None, *, acl: tuple[str, ...] = ()) -> LedgerEntry:
    generation = None if live is None else Generation(live, 5)
    return LedgerEntry(KEY.hash, KEY, acl=acl, sets={"v1": SetState(generation)})


@pytest.fixture
def engine() -> MemoryEngine:
    made = MemoryEngine()
    made.create_set(SPEC)
    return made


def put(engine: MemoryEngine, *documents: Document) -> None:
    writer = Writer(engine)
    writer.replace(engine.active_set(), [encoded(d, engine.active_set().spec) for d in documents])


# --- what may be shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("live", "generation", "word"),
    [(2, 2, "shown"), (2, 3, "refused"), (2, 1, "stale"), (None, 1, "refused")],
)
def test_the_ledger_decides_what_is_shown(live: int | None, generation: int, word: str) -> None:
    """Above live: not finished. Below: replaced, and the new one is searchable already. Nothing live: deleted."""
    version = version_of(KEY.hash, generation)
    verdict = judge([version], {KEY.hash: entry(live)}, "v1", None)
    assert (version in verdict.refused, version in verdict.stale) == (word == "refused", word == "stale")


def test_what_the_ledger_does_not_know_is_refused() -> None:
    version = version_of(KEY.hash, 1)
    assert judge([version], {}, "v1", None).refused == {version}
    assert judge([version], {KEY.hash: entry(1)}, "v2", None).refused == {version}


@pytest.mark.parametrize(
    ("acl", "principals", "allowed"),
    [
        (("ann",), ("ann",), True),
        (("ann", "bob"), ("eve", "bob"), True),
        (("ann",), ("bob",), False),
        (("*",), ("bob",), True),
        ((), ("bob",), False),
        ((), ("*",), False),
        ((), None, True),
        (("ann",), None, True),
    ],
)
def test_one_principal_of_the_acl_is_enough_and_nobody_reads_an_empty_one(
    acl: tuple[str, ...],
    principals: tuple[str, ...] | None,
    allowed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert readable(entry(1, acl=acl), principals) is allowed
    version = version_of(KEY.hash, 1)
    assert (version in judge([version], {KEY.hash: entry(1, acl=acl)}, "v1", principals).refused) is not allowed


def test_a_replaced_version_that_may_not_be_read_is_refused_and_not_stale() -> None:
    version = version_of(KEY.hash, 1)
    verdict = judge([version], {KEY.hash: entry(2, acl=("ann",))}, "v1", ("bob",))
    assert (verdict.refused, verdict.stale) == ({version}, frozenset())


def test_principals_count_only_where_the_set_has_access_control() -> None:
    assert effective(("ann",), SPEC) is None
    assert effective(("ann",), GUARDED) == ("ann",)
    for nobody in (None, ()):
        with pytest.raises(QueryError, match="--principal"):
            effective(nobody, GUARDED)


# --- reading -------------------------------------------------------------------------------------------------------


def test_before_any_ingest_there_is_no_set_and_the_message_says_what_to_do() -> None:
    reader = Reader(MemoryEngine())
    with pytest.raises(NoIndexSet, match=r"Nothing is indexed at here yet: run `umg ingest PATH` first, or"):
        reader.active_set()


def test_the_status_counts_documents_and_entries(engine: MemoryEngine) -> None:
    put(engine, Document(id="d", text="One. Two. Three."))
    status = Reader(engine).status()
    assert status.documents == {DocumentState.SEARCHABLE: 1}
    assert {name: size.entries for name, size in status.sizes.items()} == {"g02": 3 - 1, "text": 1}
    assert status.engine == engine.info()


def test_lists_that_all_failed_are_an_error_with_a_reason(engine: MemoryEngine) -> None:
    engine.failing = dict.fromkeys(SPEC.channels, "shard lost")
    query = HashedWords(SPEC).encode_query("x")
    with pytest.raises(EngineError, match="All 1 searches failed at here: shard lost"):
        Reader(engine).ranked_lists(engine.active_set(), query, depth=5, scope=Scope())


def test_one_read_asks_for_entries_and_blocks_together_each_once(engine: MemoryEngine) -> None:
    put(engine, Document(id="d", text="".join(f"Sentence {i}. " for i in range(70))))
    version = version_of(KEY.hash, 1)
    chosen = [Selected(version, 30, 34, 1.0, (2,) * 4), Selected(version, 0, 2, 1.0, (2,) * 2)]
    engine.calls.clear()
    fetched = Reader(engine).fetch(engine.active_set(), chosen, [KEY.hash])
    assert engine.calls == ["fetch"]
    assert set(fetched.entries) == {KEY.hash}
    assert set(fetched.blocks) == {BlockId(version, 0), BlockId(version, 1)}


def test_a_text_of_many_blocks_is_exact(engine: MemoryEngine) -> None:
    text = "\n" + "".join(f"Sentence {i}.\n\n" for i in range(100))
    put(engine, Document(id="d", text=text))
    assert Reader(engine).text(KEY) == text


def test_a_text_whose_block_is_gone_is_an_error_and_not_a_part(engine: MemoryEngine) -> None:
    put(engine, Document(id="d", text="".join(f"Sentence {i}. " for i in range(70))))
    del engine.blocks[BlockId(version_of(KEY.hash, 1), 1)]
    with pytest.raises(EngineError, match="'d' changed while it was read"):
        Reader(engine).text(KEY)


def test_a_document_that_is_written_for_the_first_time_has_no_text_yet(engine: MemoryEngine) -> None:
    engine.ledger[KEY.hash] = replace(entry(None), state=DocumentState.WRITING)
    with pytest.raises(DocumentNotFound, match="no document 'd' in collection 'default'"):
        Reader(engine).text(KEY)


def test_a_text_needs_a_principal_that_may_read_it() -> None:
    engine = MemoryEngine()
    engine.create_set(GUARDED)
    put(engine, Document(id="d", text="Secret.", acl=("ann",)))
    reader = Reader(engine)
    assert reader.text(KEY, ("ann",)) == "Secret."
    with pytest.raises(DocumentNotFound):
        reader.text(KEY, ("bob",))
    with pytest.raises(QueryError):
        reader.text(KEY)
