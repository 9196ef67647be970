"""The task `umg.ingest`: the documents of one message."""

from collections.abc import Sequence
from uuid import uuid4

from celery import Celery, Task

from tasks.logs import log_document, log_message, logged
from tasks.memory import Memory
from tasks.messages import INGEST, tickets_of
from tasks.retries import LONGEST_DELAY_S, orderly
from tasks.services import Services, owner
from tasks.stopping import uninterrupted


def add_ingest(app: Celery, services: Services) -> None:
    """Add the task to an application."""
    memory = Memory()

    def ingest(
        task: "Task[..., None]", batch: str, tickets: list[tuple[str, int]], previous_runs: Sequence[str] = ()
    ) -> None:
        run = uuid4().hex
        with logged(batch=batch, task=task.request.id or ""), orderly(task, run):
            asked = tickets_of(tickets)
            with uninterrupted():
                work = services.work
            try:
                report = work.work(batch, asked, run=run, owner=owner(), previous_runs=previous_runs, told=log_document)
            finally:
                memory.give_back()
            log_message(report)
            if report.held:
                services.sender.send(batch, asked, delay=min(report.wait_s, LONGEST_DELAY_S))

    # Not shared: another application in the process would otherwise get it, with these services.
    app.task(name=INGEST, bind=True, shared=False)(ingest)
