"""`umg sweeper`: a process that looks for what is stuck, again and again, whatever the workers and Redis do."""

import signal
import threading

import structlog

from tasks.app import make_app
from tasks.logs import configure_logs, log_sweep
from tasks.services import Services
from umg_search.errors import BrokerUnreachable, EngineError
from umg_search.settings import Settings

_log = structlog.stdlib.get_logger("umg.tasks")


def run_sweeper(settings: Settings, *, every: float) -> None:
    """Sweep every so many seconds until SIGTERM; an engine that is away is waited for."""
    configure_logs()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    services = Services(settings, make_app(settings))
    _log.info("sweeper ready", every_s=every)
    while not stop.is_set():
        try:
            log_sweep(services.sweep.sweep())
        except EngineError as error:
            _log.warning("cannot sweep", error=str(error))
        stop.wait(every)


def sweep_once(settings: Settings) -> None:
    """Sweep once; engine errors are raised, and so is BrokerUnreachable when all else is done."""
    configure_logs()
    report = Services(settings, make_app(settings)).sweep.sweep()
    log_sweep(report)
    if report.broker:
        raise BrokerUnreachable(report.broker)
