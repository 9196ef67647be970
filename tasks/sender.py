"""Messages to workers, through Celery and Redis."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

import redis
from celery import Celery
from kombu.exceptions import OperationalError
from kombu.utils.url import sanitize_url

from tasks.messages import INGEST, message, queue_name
from umg_search.errors import BrokerUnreachable
from umg_search.model import Ticket
from umg_search.settings import Settings, plain

TIMEOUT_S = 5.0
"""Longest wait for one answer of Redis to a question of the sender's own."""


class CelerySender:
    """The port `Sender` over an application that has the task `umg.ingest`."""

    def __init__(self, app: Celery, settings: Settings) -> None:
        self._app = app
        self._broker = plain(settings.broker)
        self._queue = queue_name(settings)

    def send(self, batch: str, tickets: Sequence[Ticket], *, delay: float = 0.0) -> None:
        """Send one message, to be worked on after `delay` seconds."""
        with self._answering():
            # Named, so that an application of somebody's own needs no route for it.
            self._app.tasks[INGEST].apply_async(kwargs=message(batch, tickets), countdown=delay, queue=self._queue)

    def waiting(self) -> int:
        """Return the messages in the queue, and those that workers have and did not acknowledge."""
        with self._answering(), self._redis.pipeline(transaction=True) as pipe:
            pipe.llen(self._queue)
            pipe.hlen(self._app.conf.broker_transport_options.get("unacked_key", "unacked"))
            return sum(pipe.execute())

    def marker(self) -> str | None:
        """Return the mark, None in a Redis that is new or was wiped."""
        with self._answering():
            found = self._redis.get(f"{self._queue}-marker")
        return found.decode() if isinstance(found, bytes) else None

    def set_marker(self, marker: str) -> None:
        """Mark Redis."""
        with self._answering():
            self._redis.set(f"{self._queue}-marker", marker)

    @cached_property
    def _redis(self) -> redis.Redis:
        return redis.Redis.from_url(self._broker, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Translate the errors of both libraries."""
        try:
            yield
        except (OperationalError, redis.RedisError, OSError) as error:
            where = sanitize_url(self._broker)
            raise BrokerUnreachable(
                f"The broker {where} does not answer ({type(error).__name__}: {error}): "
                "start Redis, or correct UMG_BROKER."
            ) from error
