import shutil
import sqlite3
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import qdrant_edge

from umg_search.errors import ConfigurationError, EngineError, EngineUnsupported
from umg_search.granularity import Granularity
from umg_search.model import (
    DocumentHash,
    DocumentKey,
    DocumentState,
    Generation,
    IndexSet,
    LedgerEntry,
    Retired,
    SetState,
)
from umg_search.ports import BlockId
from umg_search.store.embedded import EmbeddedEngine
from umg_search.store.embedded.database import DATABASE_FILE
from umg_search.store.records import SCHEMA


def entry(id: str, **fields: Any) -> LedgerEntry:
    key = DocumentKey("default", id)
    return LedgerEntry(key.hash, key, **fields)


def test_an_empty_folder_has_no_set(tmp_path: Path) -> None:
    engine = EmbeddedEngine(tmp_path / "new" / "index")
    assert engine.active_set() is None
    assert engine.states() == {}
    assert list(engine.entries()) == []
    assert engine.info().where == str(tmp_path / "new" / "index")
    assert (engine.info().name, engine.info().version[:2]) == ("embedded", "0.")
    engine.close()


def test_a_set_is_created_once_also_by_threads(tmp_path: Path, shelf: Any) -> None:
    spec = shelf.index.spec
    engine = EmbeddedEngine(tmp_path / "other")
    made: list[IndexSet] = []
    threads = [Thread(target=lambda: made.append(engine.create_set(spec))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [IndexSet(1, spec)] * 4
    assert engine.create_set(replace(spec, tokenizer="another")) == IndexSet(1, spec)
    engine.close()


def test_a_creation_that_was_broken_off_begins_anew(tmp_path: Path, open_shelf: Any) -> None:
    (tmp_path / "index").mkdir()
    EmbeddedEngine(tmp_path / "index").close()
    (tmp_path / "index" / "v1" / "g02").mkdir(parents=True)
    shelf = open_shelf()
    shelf.add(shelf.encoded("a", ["word"]))
    assert len(shelf.found()) == 15


def test_everything_is_there_after_opening_again(open_shelf: Callable[[], Any]) -> None:
    shelf = open_shelf()
    encoded = shelf.encoded("a", [f"word {i}" for i in range(40)])
    shelf.add(encoded)
    shelf.engine.write_entries([entry("a", title="A")])
    before = (shelf.index, shelf.found(), shelf.engine.states(), list(shelf.engine.entries()))
    shelf = open_shelf()
    assert (shelf.index, shelf.found(), shelf.engine.states(), list(shelf.engine.entries())) == before


def test_fetch_returns_what_exists(shelf: Any) -> None:
    encoded = shelf.encoded("a", [f"word {i}" for i in range(40)])
    shelf.add(encoded)
    (written,) = shelf.engine.write_entries([entry("a")])
    version = shelf.version(encoded)
    wanted = [BlockId(version, number) for number in (0, 1, 2)]
    fetched = shelf.engine.fetch(shelf.index, [written.document, DocumentHash(bytes(16))], wanted)
    assert dict(fetched.entries) == {written.document: written}
    assert set(fetched.blocks) == {BlockId(version, 0), BlockId(version, 1)}
    assert "".join(fetched.blocks[block].text for block in wanted[:2]) == encoded.split.document.text


def test_any_text_and_metadata_come_back_as_they_were(shelf: Any) -> None:
    odd = {"big": 2**80, "float": 1e-300, "none": None, "deep": [{"ключ": "\ud800 \u0000 😀"}]}
    (written,) = shelf.engine.write_entries([entry("\ud800", metadata=odd, title="\ud800")])
    fetched = shelf.engine.fetch(shelf.index, [written.document], [])
    assert fetched.entries[written.document] == written
    assert fetched.entries[written.document].metadata == odd


def test_an_entry_is_written_only_over_the_state_it_was_read_in(shelf: Any) -> None:
    (first,) = shelf.engine.write_entries([entry("a", title="1")])
    assert shelf.engine.write_entries([entry("a", title="rival")]) == [None]
    (second,) = shelf.engine.write_entries([replace(first, title="2")])
    assert shelf.engine.write_entries([replace(first, title="late"), entry("b")])[0] is None
    assert [e.title for e in shelf.engine.entries() if e.key.id == "a"] == ["2"]
    assert second.token != first.token
    assert shelf.engine.write_entries([replace(second, title="3"), replace(second, title="twice")])[1] is None


def test_an_entry_that_is_not_there_cannot_be_changed(shelf: Any) -> None:
    assert shelf.engine.write_entries([entry("a", token=(1, 0))]) == [None]


def test_of_many_threads_one_writes_the_entry(shelf: Any) -> None:
    (current,) = shelf.engine.write_entries([entry("a")])
    written: list[LedgerEntry | None] = []
    threads = [
        Thread(target=lambda n=n: written.extend(shelf.engine.write_entries([replace(current, title=str(n))])))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([e for e in written if e is not None]) == 1


def test_a_tombstone_keeps_nothing_of_the_document(shelf: Any) -> None:
    (first,) = shelf.engine.write_entries([entry("secret-id", title="secret-title")])
    (stone,) = shelf.engine.write_entries([replace(first, key=None, title="", state=DocumentState.DELETED)])
    assert list(shelf.engine.entries()) == [stone]
    assert stone.key is None


def test_the_ledger_is_gone_through_by_pages(shelf: Any) -> None:
    shelf.engine.write_entries([entry(f"d{number}") for number in range(1201)])
    ids = [e.key.id for e in shelf.engine.entries()]
    assert len(ids) == len(set(ids)) == 1201


def test_a_scan_does_not_hold_up_writes(shelf: Any) -> None:
    shelf.engine.write_entries([entry(f"d{number}") for number in range(600)])
    for found in shelf.engine.entries():
        assert shelf.engine.write_entries([replace(found, title="seen")]) != [None]


def test_entries_are_chosen_by_the_earliest_time_something_was_retired(shelf: Any) -> None:
    def retired(*since: float) -> dict[str, SetState]:
        return {"v1": SetState(Generation(9, 1), tuple(Retired(n, 1, at) for n, at in enumerate(since)))}

    shelf.engine.write_entries(
        [
            entry("none"),
            entry("old", sets=retired(500.0, 100.0)),
            entry("unfinished", sets=retired(0.0)),
            entry("new", sets=retired(300.0)),
        ]
    )
    assert {e.key.id for e in shelf.engine.entries(retired_before=200.0)} == {"old", "unfinished"}
    (old,) = (e for e in shelf.engine.entries(retired_before=200.0) if e.key.id == "old")
    shelf.engine.write_entries([replace(old, sets={})])
    assert {e.key.id for e in shelf.engine.entries(retired_before=1000.0)} == {"unfinished", "new"}


def test_states_are_counted(shelf: Any) -> None:
    searchable = [entry(str(n), state=DocumentState.SEARCHABLE) for n in range(3)]
    shelf.engine.write_entries([*searchable, entry("x", state=DocumentState.FAILED)])
    assert shelf.engine.states() == {DocumentState.SEARCHABLE: 3, DocumentState.FAILED: 1}


def test_sizes_count_entries_and_bytes(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", [f"word {i}" for i in range(40)]))
    sizes = shelf.engine.sizes(shelf.index)
    assert {name: size.entries for name, size in sizes.items()} == {
        **dict(zip(["g02", "g04", "g08", "g16", "g32"], [39, 19, 9, 4, 2], strict=True)),
        "text": 2,
    }
    assert all(size.bytes > 0 for size in sizes.values())


def test_what_is_deleted_is_gone_and_may_be_deleted_again(open_shelf: Any) -> None:
    shelf = open_shelf()
    gone, kept = (shelf.encoded(name, ["word"] * 40, collection=name) for name in ("gone", "kept"))
    for encoded in (gone, kept):
        shelf.add(encoded)
    ids = shelf.ids(gone)
    for _ in range(2):
        assert shelf.engine.delete(shelf.index, ids.chunks, ids.blocks) == {}
    shelf.engine.publish(shelf.index)
    shelf = open_shelf()
    assert shelf.found(collection="gone") == {}
    assert len(shelf.found(collection="kept")) == 15
    assert shelf.engine.fetch(shelf.index, [], ids.blocks).blocks == {}


def test_a_shard_is_rewritten_when_half_of_it_is_deleted(open_shelf: Any) -> None:
    shelf = open_shelf()

    def segments() -> set[str]:
        return {path.name for path in (shelf.engine._path / "v1" / "g02" / "segments").iterdir()}

    gone, kept = (shelf.encoded(name, ["word"] * n, collection=name) for name, n in (("gone", 1500), ("kept", 500)))
    for encoded in (gone, kept):
        shelf.add(encoded)
    before = segments()
    assert shelf.engine.delete(shelf.index, shelf.ids(gone).chunks, []) == {}
    shelf.engine.publish(shelf.index)
    assert segments() != before
    expected = shelf.found()
    assert sum(expected.values()) == 3 * len(shelf.ids(kept).chunks)
    assert open_shelf().found() == expected


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"notes\.txt"):
        EmbeddedEngine(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="is a file"):
        EmbeddedEngine(tmp_path / "file")
    with pytest.raises(EngineError, match="Opening the index failed"):
        EmbeddedEngine(tmp_path / "file" / "below")


def change(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / DATABASE_FILE)
    connection.execute(statement)
    connection.close()


def test_a_folder_of_a_newer_version_is_refused_and_the_lock_given_up(tmp_path: Path, shelf: Any) -> None:
    shelf.engine.close()
    change(tmp_path / "index", f"PRAGMA user_version = {SCHEMA + 1}")
    for _ in range(2):
        with pytest.raises(EngineUnsupported, match=f"schema {SCHEMA + 1}"):
            EmbeddedEngine(tmp_path / "index")


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    change(tmp_path, "CREATE TABLE theirs (x)")
    with pytest.raises(ConfigurationError, match="not a file of umg-search"):
        EmbeddedEngine(tmp_path)


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    (tmp_path / DATABASE_FILE).write_bytes(b"no database at all, and long enough to be read as one" * 100)
    with pytest.raises(EngineError, match="damaged"):
        EmbeddedEngine(tmp_path)


def test_nothing_is_written_to_a_disk_that_is_nearly_full(shelf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = shelf.add(shelf.encoded("a", ["word"]))
    usage = namedtuple("usage", "total used free")(2**40, 2**40, 2**20)  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(EngineError, match="1 MiB free"):
        shelf.engine.write_chunks(shelf.index, chunks)
    with pytest.raises(EngineError, match="1 MiB free"):
        shelf.engine.write_entries([entry("a")])
    assert shelf.found()
    assert shelf.engine.delete(shelf.index, shelf.ids(shelf.encoded("a", ["word"])).chunks, []) == {}


def test_shards_hold_no_more_than_the_experts_need(tmp_path: Path, shelf: Any) -> None:
    """A set without sparse and lexical experts has neither vectors nor a text index for them."""
    spec = replace(shelf.index.spec, experts=shelf.index.spec.experts[:1], granularities=(Granularity.G2,))
    engine = EmbeddedEngine(tmp_path / "lean")
    engine.create_set(spec)
    engine.close()
    shard = qdrant_edge.EdgeShard.load(str(tmp_path / "lean" / "v1" / "g02"))
    assert set(shard.info().payload_schema) == {"collection", "acl", "labels"}
    shard.close()
