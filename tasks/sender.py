"""Messages to workers, through Celery and Redis."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import redis
from celery import Celery
from kombu.exceptions import OperationalError
from kombu.utils.url import sanitize_url

from tasks.diagnosis import BrokerFacts
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
        return sum(self._counts())

    def marker(self) -> str | None:
        """Return the mark, None in a Redis that is new or was wiped."""
        with self._answering():
            found = self._redis.get(f"{self._queue}-marker")
        return found.decode() if isinstance(found, bytes) else None

    def set_marker(self, marker: str) -> None:
        """Mark Redis."""
        with self._answering():
            self._redis.set(f"{self._queue}-marker", marker)

    def facts(self) -> BrokerFacts:
        """Return what Redis tells of itself and of the messages."""
        waiting, taken = self._counts()
        return BrokerFacts(sanitize_url(self._broker), waiting, taken, self.marker(), **self._told())

    def _counts(self) -> tuple[int, int]:
        """Return the messages in the queue, and those that workers have and did not acknowledge."""
        with self._answering(), self._redis.pipeline(transaction=True) as pipe:
            pipe.llen(self._queue)
            pipe.hlen(self._app.conf.broker_transport_options.get("unacked_key", "unacked"))
            waiting, taken = pipe.execute()
        return waiting, taken

    def _told(self) -> dict[str, Any]:
        """Return what Redis tells of its version and memory; nothing where this user may not ask."""
        with self._answering():
            try:
                server, memory = self._redis.info("server"), self._redis.info("memory")
            except redis.ResponseError:
                return {}
        return {
            "version": server.get("redis_version", ""),
            "policy": memory.get("maxmemory_policy", ""),
            "max_bytes": memory.get("maxmemory", 0),
        }

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
