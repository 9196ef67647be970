"""`umg worker`: a Celery worker with a prefork pool, whose children load the models and whose parent loads none."""

import os
from typing import Any

import structlog
from celery import Celery, signals
from celery.apps.worker import install_worker_term_handler  # type: ignore[attr-defined]  # its stubs lack it
from celery.worker import WorkController

from tasks.app import make_app
from tasks.logs import configure_logs
from tasks.memory import limit_memory
from tasks.stopping import INTERRUPTION, interrupt_children
from umg_search.settings import Settings
from umg_search.wiring import open_queue

_log = structlog.stdlib.get_logger("umg.tasks")


def run_worker(settings: Settings, *, concurrency: int) -> int:
    """Work on messages in `concurrency` children until SIGTERM or Ctrl-C, and return the exit code.

    Raises what is wrong with the engine at the start, ConfigurationError for the embedded one; later, and for Redis at
    any time, the worker waits.
    """
    open_queue(settings).close()
    _share_cores(concurrency)
    configure_logs()  # before Celery's, for what it warns of until then
    signals.setup_logging.connect(lambda **_: configure_logs(), weak=False)
    app = make_app(settings)
    # Gossip, mingling and heartbeats are how workers learn of each other over Redis; ours learn from the ledger.
    alone: dict[str, Any] = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
    worker = _worker_class(app)(concurrency=concurrency, pool="prefork", loglevel="INFO", quiet=True, **alone)
    prepare(worker, settings)
    worker.start()
    _log.info("worker stopped")
    return int(worker.exitcode or 0)


def prepare(worker: WorkController, settings: Settings) -> None:
    """Connect what a worker needs beyond options: a bound on memory, and stopping in order.

    To be called before it starts, also for a worker of one's own.
    """

    def child(**_: object) -> None:
        # Cheap on purpose: a child that takes long here is killed before it has worked.
        INTERRUPTION.install()
        limit_memory(settings.worker_memory_mb)

    signals.worker_process_init.connect(child, weak=False)
    signals.worker_shutting_down.connect(lambda **_: interrupt_children(worker), weak=False)


def _worker_class(app: Celery) -> type[WorkController]:
    """Return Celery's worker, less the line in plain text that it prints when it is asked to stop."""

    class Worker(app.Worker):  # type: ignore[misc, name-defined]  # the application makes it
        def install_platform_tweaks(self, worker: WorkController) -> None:
            super().install_platform_tweaks(worker)
            install_worker_term_handler(worker, verbose=False)

    return Worker


def _share_cores(concurrency: int) -> None:
    """Give each child its part of the cores: PyTorch takes all of them by default, in every process."""
    if concurrency > 1:
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // concurrency)))
