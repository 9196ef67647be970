"""Logs of workers and sweeper: one JSON object a line, with the ids of submission and task, one line a document."""

import logging
import logging.config
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import structlog

from ingest.sweeping import SweepReport
from ingest.work import WorkReport
from umg_search.model import IngestReport, Outcome

_log = structlog.stdlib.get_logger("umg.tasks")

# What Celery says of each message at info is said here of each document.
_QUIET = ("celery.worker.strategy", "urllib3")

# Their warnings are the requests that are sent again, each with a traceback; what comes of them is said here.
_SILENT = ("opensearch", "elastic_transport", "elasticsearch")


def configure_logs() -> None:
    """Send all logs of this process to standard error: JSON, or columns where a person watches."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    logging.captureWarnings(capture=True)  # Celery's, such as that of a worker of root's
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"lines": {"()": _formatter, "shared": shared}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
            "root": {"handlers": ["stderr"], "level": "INFO"},
            "loggers": {
                **{name: {"level": "WARNING"} for name in _QUIET},
                **{name: {"level": "ERROR"} for name in _SILENT},
                # Its warnings are the messages that are sent again, of which there is a line already, with a traceback.
                "celery.app.trace": {"level": "ERROR"},
                # Celery's pool of processes keeps its lines from the root, and they would be plain text.
                "multiprocessing": {"handlers": ["stderr"], "propagate": False},
            },
        }
    )


@contextmanager
def logged(**ids: str) -> Iterator[None]:
    """Put ids into every line that is logged inside."""
    with structlog.contextvars.bound_contextvars(**ids):
        yield


def log_document(report: IngestReport) -> None:
    """Log what became of a document."""
    tell = _log.warning if report.outcome is Outcome.FAILED else _log.info
    facts: dict[str, Any] = {"chunks": report.chunks, "tokens": report.tokens} if report.chunks else {}
    reason = {"reason": report.reason} if report.reason else {}
    ids = {"document": report.document_id, "collection": report.collection}
    tell("document", **ids, outcome=report.outcome.value, **facts, **reason)


def log_message(report: WorkReport) -> None:
    """Log what a message left over, if it did."""
    left = {"dropped": report.dropped, "separated": report.separated, "held": report.held}
    if any(left.values()):
        _log.info("message", **left, wait_s=round(report.wait_s, 1))


def log_sweep(report: SweepReport) -> None:
    """Log what a sweep did, if it did anything."""
    done = {name: value for name, value in asdict(report).items() if value}
    if done:
        (_log.warning if report.broker or report.failed else _log.info)("sweep", **done)


def _formatter(shared: list[structlog.typing.Processor]) -> logging.Formatter:
    if sys.stderr.isatty():
        # By default it shows the variables of every frame, passwords and documents among them.
        plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        last: list[structlog.typing.Processor] = [plain]
    else:
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    )
