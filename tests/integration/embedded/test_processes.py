import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import umg_search
from umg_search.errors import EngineBusy, EngineError
from umg_search.model import DocumentKey, generation_of
from umg_search.ports import Attributes, BlockId
from umg_search.store.embedded import EmbeddedEngine
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.windows import window_count

HERE = Path(__file__).parent
ROOT = Path(umg_search.__file__).parents[1]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start_(script: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(  # noqa: S603 - a script of this folder
            [sys.executable, str(HERE / script), str(tmp_path / "index")],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start_
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def read_lines(process: subprocess.Popen[str], lines: int) -> list[str]:
    return [process.stdout.readline().strip() for _ in range(lines)]


@pytest.mark.parametrize("seed", range(3))
def test_what_was_reported_survives_kill_9_and_the_rest_can_be_swept(start: Any, open_shelf: Any, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - moments to kill at
    for _ in range(2):
        process = start("writing.py")
        reported = dict(line.split() for line in read_lines(process, chance.randint(4, 8)))
        time.sleep(chance.random() * 0.3)
        process.kill()
        rest, _ = process.communicate()
        reported |= dict(line.split() for line in rest.splitlines()[:-1])
        shelf = open_shelf()
        for name, number in reported.items():
            check(shelf, name, int(number))
        Writer(shelf.engine, grace=0.0).sweep(shelf.index)
        for name in reported:
            check_swept(shelf, name)
        shelf.engine.close()


def check(shelf: Any, id: str, reported: int) -> None:
    """All windows and the text of the live generation are there; what else is there has a name in the ledger."""
    entry = shelf.engine.fetch(shelf.index, [DocumentKey(id, id).hash], []).entries[DocumentKey(id, id).hash]
    state = entry.sets[shelf.index.label]
    assert state.live.number >= reported
    for ranked in shelf.search(collection=id).lists:
        generations = [generation_of(version) for version in ranked.hits.versions]
        assert generations.count(state.live.number) == window_count(state.live.sentences, ranked.channel.granularity)
        assert set(generations) <= {state.live.number, *(retired.number for retired in state.retired)}
    assert Reader(shelf.engine).text(DocumentKey(id, id), ("anybody",)).count(".") == state.live.sentences


def check_swept(shelf: Any, id: str) -> None:
    key = DocumentKey(id, id)
    entry = shelf.engine.fetch(shelf.index, [key.hash], []).entries[key.hash]
    state = entry.sets[shelf.index.label]
    assert state.retired == ()
    for ranked in shelf.search(collection=id).lists:
        assert {generation_of(version) for version in ranked.hits.versions} == {state.live.number}


def test_a_second_process_is_told_who_has_the_folder(start: Any, tmp_path: Path) -> None:
    process = start("writing.py")
    read_lines(process, 1)
    with pytest.raises(EngineBusy) as caught:
        EmbeddedEngine(tmp_path / "index")
    assert f"process {process.pid} " in str(caught.value)
    assert str(tmp_path / "index") in str(caught.value)
    process.send_signal(signal.SIGKILL)
    process.wait()
    EmbeddedEngine(tmp_path / "index").close()


def test_a_second_engine_in_one_process_is_refused(shelf: Any, tmp_path: Path) -> None:
    with pytest.raises(EngineBusy, match=f"process {os.getpid()} "):
        EmbeddedEngine(tmp_path / "index")
    shelf.engine.close()
    EmbeddedEngine(tmp_path / "index").close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_is_refused_and_leaves_the_parent_everything(start: Any) -> None:
    output, _ = start("forking.py").communicate(timeout=120)
    assert output == f"4 {3 * (9 + 4 + 2 + 1 + 1)} still locked\n"


def test_a_closed_engine_says_so(shelf: Any) -> None:
    shelf.engine.close()
    shelf.engine.close()
    with pytest.raises(EngineError, match="closed"):
        shelf.engine.states()


def test_threads_search_and_read_while_one_writes(shelf: Any) -> None:
    """The document of each moment is whole: what is published stays found while others are written and deleted."""
    steady = shelf.encoded("steady", ["word"] * 40, collection="steady")
    shelf.add(steady)
    expected = shelf.found(collection="steady")
    blocks = [BlockId(shelf.version(steady), number) for number in range(2)]
    done = threading.Event()
    faults: list[object] = []

    def read() -> None:
        while not done.is_set():
            found = shelf.found(collection="steady")
            fetched = shelf.engine.fetch(shelf.index, [], blocks)
            if found != expected or len(fetched.blocks) != len(blocks):
                faults.append(found)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(40):
        passing = shelf.encoded(f"p{number}", ["word"] * 60, collection="passing")
        shelf.add(passing)
        ids = shelf.ids(passing)
        assert shelf.engine.update_attributes(shelf.index, [(ids.chunks, Attributes(("bob",), {}, ()))]) == {}
        assert shelf.engine.delete(shelf.index, ids.chunks, ids.blocks) == {}
    done.set()
    for reader in readers:
        reader.join()
    assert faults == []
    assert shelf.found(collection="passing") == {}
