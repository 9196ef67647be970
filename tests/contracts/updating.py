"""Documents that change all the time, and a process of its own that changes them: run by test_updates.

`loop` replaces documents until it is killed and prints each that is reported as stored. `kill` reads numbers, and for
each makes a child that replaces a document and kills itself before its call number so and so of the engine.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.fakes.encoders import encoded, spec
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, IngestReport
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

SPEC = spec(experts=(Expert.DENSE, Expert.LEXICAL), granularities=(Granularity.G2, Granularity.G8))
NAMES = ("harbour", "orchard", "glacier")
LENGTHS = (40, 4, 17)
"""Sentences of a document, revision by revision."""


def document(name: str, revision: int) -> Document:
    """Return a revision of a document, whose every sentence names both."""
    sentences = range(LENGTHS[revision % len(LENGTHS)])
    return Document(id=name, text=" ".join(f"The {name} of day r{revision} has part {i} to see." for i in sentences))


def put(engine: Engine, *documents: Document) -> list[IngestReport]:
    writer = Writer(engine)
    return writer.replace(writer.prepare(SPEC), [encoded(each, SPEC) for each in documents])


def replacements(engine: Engine) -> Iterator[tuple[str, int]]:
    """Replace documents one after the other and yield what is stored."""
    for revision in count(1):
        for name in NAMES:
            put(engine, document(name, revision))
            yield name, revision


class Doomed:
    """An engine whose process ends by SIGKILL just before one of its calls."""

    def __init__(self, engine: Engine, calls: int) -> None:
        self._engine = engine
        self._left = calls

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return getattr(self._engine, name)(*args, **kwargs)

        return call


def doomed(settings: Settings, calls: int, revision: int) -> bool:
    """Replace a document in a child that dies before its call number `calls`; return whether it lived to the end."""
    child = os.fork()
    if child == 0:
        engine = open_engine(settings)
        put(Doomed(engine, calls), document(NAMES[0], revision))  # type: ignore[arg-type] - hands every call on
        engine.close()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main(mode: str, settings: Settings) -> None:
    if mode == "loop":
        for name, revision in replacements(open_engine(settings)):
            print(name, revision, flush=True)  # noqa: T201 - the answer to the test
    for line in sys.stdin:
        calls, revision = map(int, line.split())
        print(int(doomed(settings, calls, revision)), flush=True)  # noqa: T201 - the answer to the test


if __name__ == "__main__":
    main(sys.argv[1], Settings(**json.loads(sys.argv[2])))
