"""The services of one process, made when the first task needs them."""

import os
import socket
from functools import cached_property

from billiard.exceptions import SoftTimeLimitExceeded
from celery import Celery

from ingest.services import sweep_service, work_service
from ingest.sweeping import SweepService
from ingest.work import WorkService
from tasks.sender import CelerySender
from umg_search.ports import Engine, Queue
from umg_search.settings import Settings
from umg_search.wiring import open_engine, open_queue


class Services:
    """Engine, queue, sender and services of a worker's child: each made once, at its first use, never in the parent.

    A connection or a model that a parent had made would be shared by its children, and break in all of them.
    """

    def __init__(self, settings: Settings, app: Celery) -> None:
        self.settings = settings
        self._app = app

    @cached_property
    def sender(self) -> CelerySender:
        """Messages to workers."""
        return CelerySender(self._app, self.settings)

    @cached_property
    def work(self) -> WorkService:
        """The worker's part of ingestion; this loads the models."""
        queue, limit = self._queue, (SoftTimeLimitExceeded,)
        return work_service(self.settings, self._engine, queue, self.sender, out_of_time=limit)

    @cached_property
    def sweep(self) -> SweepService:
        """The sweeper."""
        queue = self._queue
        return sweep_service(self.settings, self._engine, queue, self.sender)

    @cached_property
    def _engine(self) -> Engine:
        return open_engine(self.settings)

    @cached_property
    def _queue(self) -> Queue:
        """The queue, to be opened before the engine: it refuses engines that workers cannot share."""
        return open_queue(self.settings)


def owner() -> str:
    """Return what people are told of who works on a document: machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"
