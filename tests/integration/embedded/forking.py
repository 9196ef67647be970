"""Uses an engine before and after a fork, in both processes: run by test_processes."""

import os
import sys
import warnings
from pathlib import Path

from conftest import Shelf

from umg_search.errors import EngineBusy
from umg_search.store.embedded import EmbeddedEngine

warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads is what is tried here
shelf = Shelf(EmbeddedEngine(Path(sys.argv[1])))
encoded = shelf.encoded("a", ["word"] * 10)
shelf.add(encoded)
shelf.found()
child = os.fork()
if child == 0:
    refused = 0
    for use in (shelf.found, shelf.engine.active_set, lambda: shelf.add(encoded), lambda: next(shelf.engine.entries())):
        try:
            use()
        except EngineBusy as error:
            refused += "fork" in str(error)
    shelf.engine.close()
    sys.exit(refused)
_, status = os.waitpid(child, 0)
report = f"{os.waitstatus_to_exitcode(status)} {sum(shelf.found().values())}"
try:
    EmbeddedEngine(Path(sys.argv[1]))
except EngineBusy:
    report += " still locked"
print(report, flush=True)  # noqa: T201 - the answer to the test
shelf.engine.close()
