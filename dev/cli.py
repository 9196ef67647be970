"""The command line of the development servers."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dev import redis_server, servers
from dev.assembly import assemble
from dev.catalogue import catalogue, spec_of
from dev.errors import DevServerError
from dev.fetch import digests, download, write_checksums
from dev.health import health
from dev.redis_server import RunningRedis
from dev.running import SHARED, RunningServer, load, load_all

# Two nodes starting at once keep two cores busy; more only make each one slower.
AT_ONCE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command for the named servers (default: all) and return the exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "urls":
        return _urls(options.names or list(catalogue()))
    commands = _COMMANDS[options.command]
    code = _each(options.names or list(commands), commands)
    if options.command in {"status", "stop"}:
        _leftovers(end=options.command == "stop" and options.all)
    return code


def _start(name: str) -> str:
    began, found = time.monotonic(), servers.running(name)
    server = servers.start(name)
    how = "kept" if found and found.pids == server.pids else f"started in {time.monotonic() - began:.1f} s"
    return f"{server.url}  {how}"


def _stop(name: str) -> str:
    server = load(name)
    if server is None:
        return "not running"
    server.stop()
    return "stopped"


def _status(name: str) -> str:
    server = servers.running(name)
    return _describe(server) if server else "not running"


def _describe(server: RunningServer) -> str:
    answer = health(server.url)
    state = answer["status"] if answer else "does not answer"
    return f"{server.url}  {state}  pid {', '.join(map(str, server.pids))}  {server.folder}"


def _start_redis() -> str:
    began, found = time.monotonic(), redis_server.running()
    server = redis_server.start()
    return f"{server.url}  {'kept' if found == server else f'started in {time.monotonic() - began:.1f} s'}"


def _stop_redis() -> str:
    server = redis_server.load()
    if server is None:
        return "not running"
    server.stop()
    return "stopped"


def _status_redis() -> str:
    server = redis_server.running()
    return _describe_redis(server) if server else "not running"


def _describe_redis(server: RunningRedis) -> str:
    state = "answers" if server.answers() else "does not answer"
    return f"{server.url}  {state}  pid {server.pid}  {server.folder}"


def _leftovers(*, end: bool) -> None:
    """Name the servers that tests started for themselves, and end them if asked to."""
    for server in redis_server.load_all():
        if server.label != SHARED:
            print(f"{redis_server.NAME} ({server.label})  {'stopped' if end else _describe_redis(server)}")
            if end:
                server.stop()
    for server in load_all():
        if server.label != SHARED:
            print(f"{server.name} ({server.label})  {'stopped' if end else _describe(server)}")
            if end:
                server.stop()


def _fetch(name: str) -> str:
    began = time.monotonic()
    assemble(spec_of(name))
    return f"ready after {time.monotonic() - began:.1f} s"


def _checksums(name: str) -> str:
    with TemporaryDirectory() as folder:
        download(spec_of(name), Path(folder) / "lib")
        found = digests(Path(folder) / "lib")
    write_checksums(spec_of(name), found)
    return f"{len(found)} checksums written"


def _urls(names: list[str]) -> int:
    """Print addresses, by default of search servers only: `UMG_TEST_ENGINES` takes them so."""
    found = [redis_server.running() if name == redis_server.NAME else servers.running(name) for name in names]
    print(",".join(server.url for server in found if server))
    return 0


def _commands(engine: Callable[[str], str], redis: Callable[[], str] | None) -> dict[str, Callable[[], str]]:
    """Return what a command does for each name."""
    commands: dict[str, Callable[[], str]] = {name: partial(engine, name) for name in catalogue()}
    return commands | ({redis_server.NAME: redis} if redis else {})


_COMMANDS = {
    "start": _commands(_start, _start_redis),
    "stop": _commands(_stop, _stop_redis),
    "status": _commands(_status, _status_redis),
    "fetch": _commands(_fetch, redis_server.program),
    "checksums": _commands(_checksums, None),
}
_NAMES = (*catalogue(), redis_server.NAME)


def _each(names: list[str], commands: Mapping[str, Callable[[], str]]) -> int:
    width = max(map(len, names))
    errors: dict[str, int] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, result in zip(names, [pool.submit(commands[name]) for name in names], strict=True):
            try:
                print(f"{name:{width}}  {result.result()}", flush=True)
            except DevServerError as error:
                errors[str(error)] = error.exit_code
    # Several servers may want the same missing tool: it is named once.
    print(*errors, sep="\n", end="\n" if errors else "", file=sys.stderr)
    return max(errors.values(), default=0)


def _known(names: Sequence[str], name: str) -> str:
    if name in names:
        return name
    raise argparse.ArgumentTypeError(f"no server named {name!r}: known are {', '.join(names)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.servers", description="Real search servers, without Docker.")
    commands = parser.add_subparsers(dest="command", required=True)
    for command, purpose in _PURPOSES.items():
        sub = commands.add_parser(command, help=purpose, description=purpose)
        names = tuple(_COMMANDS.get(command, _NAMES))
        sub.add_argument(
            "names", nargs="*", type=partial(_known, names), metavar="NAME", help=f"any of {', '.join(names)}"
        )
        if command == "stop":
            sub.add_argument("--all", action="store_true", help="also servers that a killed test run left behind")
    return parser


_PURPOSES = {
    "start": "start servers and wait until they answer",
    "stop": "stop servers and remove their data",
    "status": "say which servers run, and where",
    "urls": "print the URLs of the running search servers, comma-separated, or of those named",
    "fetch": "fetch and assemble servers without starting them",
    "checksums": "fetch servers afresh and record the checksums of their files",
}
