"""Stops a process of umg-search at one point of its work until a test lets it go on, or kills it or another meanwhile.

Only processes that a test starts with this folder on PYTHONPATH and with STOPS_FOLDER set are touched; nothing of the
product knows of it. STOPS_AT names the methods, `MODULE:CLASS.METHOD` with commas. A test writes `CLASS.METHOD:before`
or `...:after` into the file `armed`; the first process that comes there takes it, writes its number into the file
`reached`, and waits for the file `go`.
"""

import functools
import importlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0


def stop(folder: Path, place: str) -> None:
    """Stop here, if a test wants it and no other process was first."""
    armed = folder / "armed"
    taken = folder / f"taken.{os.getpid()}"
    try:
        if armed.read_text(encoding="utf-8") != place:
            return
        armed.rename(taken)
    except FileNotFoundError:
        return
    taken.write_text(str(os.getpid()), encoding="utf-8")
    taken.rename(folder / "reached")
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "go").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def stopping(method: Callable[..., Any], name: str, folder: Path) -> Callable[..., Any]:
    """Return the method with a place to stop before and after it."""

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        stop(folder, f"{name}:before")
        result = method(*args, **kwargs)
        stop(folder, f"{name}:after")
        return result

    return wrapped


def install(place: str, folder: Path) -> None:
    """Wrap one method."""
    module, _, path = place.partition(":")
    owner, _, name = path.rpartition(".")
    target = getattr(importlib.import_module(module), owner)
    setattr(target, name, stopping(getattr(target, name), path, folder))


if os.environ.get("STOPS_FOLDER"):
    for each in os.environ["STOPS_AT"].split(","):
        install(each, Path(os.environ["STOPS_FOLDER"]))
if os.environ.get("POISON"):
    import poison

    poison.install()
