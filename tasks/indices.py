"""The task `umg.sweep`, for applications that have a Celery beat of their own; `umg sweeper` needs none."""

from celery import Celery

from tasks.logs import log_sweep
from tasks.messages import SWEEP
from tasks.services import Services


def add_sweep(app: Celery, services: Services) -> None:
    """Add the task to an application. One that fails is not tried again: the next one comes soon."""

    def sweep() -> None:
        log_sweep(services.sweep.sweep())

    app.task(name=SWEEP, shared=False)(sweep)
