"""Logs are JSON, one line a document, with the ids of submission and task."""

import json
import logging
import warnings
from collections.abc import Iterator

import pytest
import structlog
from billiard.util import get_logger

from ingest.sweeping import SweepReport
from ingest.work import WorkReport
from tasks.logs import configure_logs, log_document, log_message, log_sweep, logged
from umg_search.model import IngestReport, Outcome


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()
    get_logger().handlers.clear()


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_message_is_one_line_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    stored = IngestReport("a.md", "port", Outcome.NEW, chunks=3, tokens=40)
    failed = IngestReport("b.md", "port", Outcome.FAILED, reason="There is no text in it.")
    with logged(batch="b1", task="t1"):
        log_document(stored)
        log_document(failed)
    lines = printed(capsys)
    assert [(line["batch"], line["task"], line["document"]) for line in lines] == [
        ("b1", "t1", "a.md"),
        ("b1", "t1", "b.md"),
    ]
    assert [line["level"] for line in lines] == ["info", "warning"]
    assert (lines[0]["chunks"], lines[0]["tokens"]) == (3, 40)
    assert lines[1]["reason"] == "There is no text in it."
    assert all(line["timestamp"].endswith("Z") for line in lines)


def test_ids_end_with_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    with logged(batch="b1", task="t1"):
        pass
    log_message(WorkReport(held=2, wait_s=1.26))
    (line,) = printed(capsys)
    assert "batch" not in line
    assert (line["held"], line["wait_s"]) == (2, 1.3)


def test_what_the_pool_says_of_a_dead_child_is_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    get_logger().error("Process %r exited", "ForkPoolWorker-1")
    (line,) = printed(capsys)
    assert (line["event"], line["level"]) == ("Process 'ForkPoolWorker-1' exited", "error")


def test_a_sweep_that_found_nothing_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    log_sweep(SweepReport())
    log_sweep(SweepReport(revived=2))
    log_sweep(SweepReport(broker="The broker does not answer."))
    assert [(line["level"], line.get("revived")) for line in printed(capsys)] == [("info", 2), ("warning", None)]


def test_celery_and_the_clients_log_as_json_too_and_less(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    logging.getLogger("celery.worker.strategy").info("Task umg.ingest[1] received")
    logging.getLogger("opensearch").warning("GET /", exc_info=OSError("refused"))
    logging.getLogger("celery.worker.consumer").error("cannot connect to %s", "redis")
    (line,) = printed(capsys)
    assert (line["event"], line["level"]) == ("cannot connect to redis", "error")


def test_warnings_are_logged_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn("You are root.", UserWarning, stacklevel=1)
        logging.captureWarnings(capture=False)
    (line,) = printed(capsys)
    assert "You are root." in line["event"]
    assert line["logger"] == "py.warnings"


def test_a_traceback_shows_no_variables_to_who_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(password: str) -> None:
        raise RuntimeError(f"refused after {len(password)} characters")

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    configure_logs()
    given = {"password": "geheim"}
    try:
        connect(**given)
    except RuntimeError:
        logging.getLogger("celery.app.trace").exception("failed")
    shown = capsys.readouterr().err
    assert "refused after 6 characters" in shown
    assert "geheim" not in shown
