"""Entry point: commands, exit codes, and one sentence for whatever goes wrong."""

import sys
from enum import IntEnum

import typer
from click.exceptions import Abort, ClickException, Exit

from umg_search.cli import commands
from umg_search.cli.output import complain
from umg_search.errors import ConfigurationError, DocumentError, EngineError, UmgError

app = typer.Typer(
    name="umg",
    help="Search long documents at several granularities, on Elasticsearch, OpenSearch or an embedded engine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(commands.ingest)
app.command()(commands.search)
app.command()(commands.text)
app.command()(commands.status)
app.command()(commands.delete)
app.command()(commands.doctor)


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
    debug = DEBUG in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    sys.exit(run(arguments, debug=debug))


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run a command and return its exit code."""
    try:
        return app(args=arguments, prog_name="umg", standalone_mode=False) or ExitCode.DONE
    except ClickException as error:
        error.show()
        return ExitCode.WRONG_USE
    except Exit as error:
        return error.exit_code
    except (Abort, KeyboardInterrupt):
        complain("Interrupted: what was reported as stored is stored; run the command again for the rest.")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.DONE  # the reader of our output, such as `head`, has seen enough
    except Exception as error:
        if debug:
            raise
        return _explained(error)


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
    return ExitCode.ENGINE if isinstance(error, EngineError) else ExitCode.WRONG_USE
