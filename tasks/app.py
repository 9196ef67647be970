"""The Celery application: every option that is not Celery's default, with its reason."""

from typing import Any

from celery import Celery

from tasks.documents import add_ingest
from tasks.indices import add_sweep
from tasks.messages import queue_name
from tasks.retries import LONGEST_DELAY_S
from tasks.sender import CelerySender
from tasks.services import Services
from umg_search.settings import Settings, plain

SOFT_SHARE = 5
"""The soft limit comes before the hard one by this part of it, at most a minute: time to write a failure down."""


def make_app(settings: Settings) -> Celery:
    """Return a Celery application with the tasks of this project, as `umg worker` runs it."""
    app = Celery("umg", broker=plain(settings.broker))
    app.conf.update(options(settings))
    add_tasks(app, settings)
    return app


def add_tasks(app: Celery, settings: Settings) -> None:
    """Add `umg.ingest` and `umg.sweep` to an application of one's own; `options` are what they rely on.

    Messages go to a queue of their own: a worker serves it with `-Q umg-PREFIX`. `tasks.worker.prepare` is for it.

    Nothing is connected and no model is loaded before the first task runs, in the process that runs it.
    """
    services = Services(settings, app)
    add_ingest(app, services)
    add_sweep(app, services)


def make_sender(settings: Settings) -> CelerySender:
    """Return what sends messages to workers; Redis is asked at its first use."""
    return CelerySender(make_app(settings), settings)


def options(settings: Settings) -> dict[str, Any]:
    """Return the options in which this project differs from Celery's defaults."""
    queue, limit = queue_name(settings), settings.task_time_limit_s
    return {
        # Several deployments may share a Redis.
        "task_default_queue": queue,
        # States are in the ledger, where they survive Redis; results would only fill it.
        "task_ignore_result": True,
        # Acknowledged when done, so that a message outlives the worker that has it. Doing it twice is harmless: the
        # ledger's lease says who works on a document, and a message that is done finds no job of its number.
        "task_acks_late": True,
        # Without it the message of a killed child counts as done.
        "task_reject_on_worker_lost": True,
        # A message whose hard limit ended the child goes back, too: its next worker waits for the lease, then counts
        # a death. An error is final: what can be tried again was sent again before.
        "task_acks_on_timeout": False,
        "task_acks_on_failure": True,
        "task_time_limit": limit,
        "task_soft_time_limit": soft_limit(limit),
        # A worker takes a message when a child is free for it, so none waits in the memory of a worker that may die.
        # The multiplier must then be 0: its bound counts acknowledgements, and one that fails since Redis is away is
        # counted as missing for ever. With 1 and one child, the worker would never take another message.
        "worker_disable_prefetch": True,
        "worker_prefetch_multiplier": 0,
        # A child that has grown so far is replaced after its message, before a document meets the hard bound of
        # tasks.worker. Celery counts in KiB. By number of tasks none is replaced: each one loads its models anew.
        "worker_max_memory_per_child": settings.worker_memory_mb * 1024 * 3 // 4 or None,
        # A child starts fast, as it loads nothing, but on a busy machine the default of 4 s has killed good ones.
        "worker_proc_alive_timeout": 60.0,
        # How long a result of a dead child is waited for, in case it sent one. Until then the child's place is not
        # filled, and its message not given back. There is nothing in a result.
        "worker_lost_wait": 2.0,
        # Redis may be away for longer than 100 tries.
        "broker_connection_max_retries": None,
        "broker_connection_retry_on_startup": True,
        # Workers need not know of each other or be asked over Redis: the ledger knows what each one does.
        "worker_enable_remote_control": False,
        # Logs are this project's own (tasks.logs), one JSON object a line.
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "broker_transport_options": transport_options(queue, limit),
    }


def soft_limit(limit: int) -> int:
    """Return the seconds after which a task is asked to end, before it is killed after `limit`."""
    return limit - min(60, limit // SOFT_SHARE)


def transport_options(queue: str, limit: int) -> dict[str, Any]:
    """Return the options of Redis as a broker."""
    return {
        # A message that was not acknowledged for so long is given to another worker. That must not happen while it
        # waits for its time or is worked on: the longest delay, the hard limit, and a minute for the rest.
        "visibility_timeout": visibility_timeout(limit),
        # Looked at every 10 s, not every 100 s.
        "unacked_restore_throttle": 1,
        # These keys have one name for all applications in a Redis by default, and whoever has the shortest
        # visibility timeout would then give away the messages of others.
        "unacked_key": f"{queue}-unacked",
        "unacked_index_key": f"{queue}-unacked-index",
        "unacked_mutex_key": f"{queue}-unacked-mutex",
        # By default a command waits forever for a Redis that went away without a word.
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
    }


def visibility_timeout(limit: int) -> int:
    """Return the seconds after which an unacknowledged message counts as lost."""
    return limit + int(LONGEST_DELAY_S) + 60
