"""Entry point: commands, exit codes, and one sentence for whatever goes wrong."""

import io
import re
import sys
from enum import IntEnum
from importlib.metadata import version
from typing import Annotated

import typer
from typer.exceptions import TyperException

from umg_search.cli import commands, evaluation, ingesting, progress, queue, sets, tuning, workers
from umg_search.cli.output import complain, out
from umg_search.errors import ConfigurationError, DocumentError, EngineError, QueueError, UmgError

app = typer.Typer(
    name="umg",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(ingesting.ingest)
app.command()(queue.submit)
app.command()(commands.search)
app.command()(commands.text)
app.command()(progress.status)
app.command()(queue.retry)
app.command()(queue.cancel)
app.command()(workers.worker)
app.command()(workers.sweeper)
app.command()(commands.delete)
app.command()(sets.purge)
app.add_typer(sets.index_app)
app.command()(commands.doctor)
app.command()(evaluation.evaluate)
app.command()(tuning.tune)


@app.callback()
def options(
    *,
    show_version: Annotated[bool, typer.Option("--version", is_eager=True, help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback where something goes wrong.")] = False,
) -> None:
    """Search long documents at several granularities, on Elasticsearch, OpenSearch or an embedded engine."""
    del debug  # taken off the line by `main`, wherever it stands; declared here for --help
    if show_version:
        out.print(version("umg-search"))
        raise typer.Exit


class ExitCode(IntEnum):
    """How a command ends."""

    DONE = 0
    DOCUMENTS_FAILED = 1
    WRONG_USE = 2
    ENGINE = 3
    FAULT = 70
    INTERRUPTED = 130


DEBUG = "--debug"


def main() -> None:
    """Run a command and end with its exit code; a traceback is shown only with --debug, anywhere on the line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character shows its number
    debug = DEBUG in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    sys.exit(run(arguments, debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run a command and return its exit code."""
    try:
        code = app(args=arguments or ["--help"], prog_name="umg", standalone_mode=False) or ExitCode.DONE
    except TyperException as error:
        complain(f"{_plainly(error.format_message()).rstrip('.')}: see `umg --help` or `umg COMMAND --help`.")
        return ExitCode.WRONG_USE
    except typer.Exit as error:
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = ExitCode.INTERRUPTED
    except Exception as error:
        if debug:
            raise
        return _explained(error)
    if code == ExitCode.INTERRUPTED:  # Typer turns Ctrl-C into this code and says nothing
        complain("Interrupted: what was reported as stored is stored; run the command again for the rest.")
    return code


def _plainly(message: str) -> str:
    """Return a message of Typer without the terms of the library that checks values for it."""
    message = message.replace("Value error, ", "").replace("Input should be", "it should be")
    return re.sub(r", unable to parse string as an? \w+", "", message)


def _explained(error: Exception) -> int:
    if isinstance(error, UmgError):
        complain(str(error))
        return _code(error)
    complain(f"Unexpected {type(error).__name__} ({error}): run again with {DEBUG} and report what it shows.")
    return ExitCode.FAULT


def _code(error: UmgError) -> ExitCode:
    if isinstance(error, ConfigurationError):
        return ExitCode.WRONG_USE
    if isinstance(error, DocumentError):
        return ExitCode.DOCUMENTS_FAILED
    return ExitCode.ENGINE if isinstance(error, (EngineError, QueueError)) else ExitCode.WRONG_USE
