"""Stops a process of umg-search at one point of its work until a test lets it go on, or kills it or another meanwhile.

Only processes that a test starts with this folder on PYTHONPATH and with PAUSE_AT set are touched; nothing of the
product knows of it. PAUSE_AT is `MODULE:CLASS.METHOD:before` or `...:after`, PAUSE_COUNT (1) the call of a process that
stops, and PAUSE_FOLDER where the file `reached` appears, with the number of the process in it, and the file `go` is
awaited. One process stops, once.
"""

import functools
import importlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0


def pause(folder: Path) -> None:
    """Stop here, unless another process, or this one before, did already."""
    try:
        (folder / "taken").touch(exist_ok=False)
    except FileExistsError:
        return
    partial = folder / f"reached.{os.getpid()}"
    partial.write_text(str(os.getpid()), encoding="utf-8")
    partial.rename(folder / "reached")
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "go").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def pausing(method: Callable[..., Any], when: str, count: int, folder: Path) -> Callable[..., Any]:
    """Return the method with a stop before or after its call of that number."""
    calls = 0

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == count and when == "before":
            pause(folder)
        result = method(*args, **kwargs)
        if calls == count and when == "after":
            pause(folder)
        return result

    return wrapped


def install(place: str, count: int, folder: Path) -> None:
    """Put the stop in its place."""
    module, path, when = place.split(":")
    owner, _, name = path.rpartition(".")
    target = functools.reduce(getattr, owner.split("."), importlib.import_module(module))
    setattr(target, name, pausing(getattr(target, name), when, count, folder))


if os.environ.get("PAUSE_AT"):
    install(os.environ["PAUSE_AT"], int(os.environ.get("PAUSE_COUNT", "1")), Path(os.environ["PAUSE_FOLDER"]))
