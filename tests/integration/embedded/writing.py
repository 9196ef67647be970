"""Stores documents over and over, and says so after each: run by test_processes, which kills it."""

import sys
from itertools import count
from pathlib import Path

from conftest import Shelf

from umg_search.model import Outcome
from umg_search.store.embedded import EmbeddedEngine
from umg_search.store.writer import Writer

shelf = Shelf(EmbeddedEngine(Path(sys.argv[1])))
writer = Writer(shelf.engine, grace=0.0)
for number in count():
    name = f"d{number % 3}"
    texts = [f"word round{number}"] * (3 + number % 40)
    encoded = shelf.encoded(name, texts, collection=name)
    (report,) = writer.replace(shelf.index, [encoded])
    if report.outcome is Outcome.FAILED:
        sys.exit(report.reason)
    key = encoded.split.document.key
    live = shelf.engine.fetch(shelf.index, [key.hash], []).entries[key.hash].sets[shelf.index.label].live
    print(name, live.number, flush=True)  # noqa: T201 - the report that a kill must not make untrue
    if number % 4 == 3:
        writer.sweep(shelf.index)
