"""What `umg doctor` checks of asynchronous ingestion."""

import time
from collections.abc import Iterator
from contextlib import closing

from tasks import diagnosis
from tasks.diagnosis import JobFacts
from umg_search.errors import BrokerUnreachable, EngineError
from umg_search.model import Finding, Verdict
from umg_search.ports import Engine, Queue
from umg_search.settings import Settings
from umg_search.wiring import open_queue


def check_queue(engine: Engine, settings: Settings) -> Iterator[Finding]:
    """Check Redis, messages, jobs and sweeper of a server; nothing is changed."""
    from tasks.app import make_sender  # noqa: PLC0415 - other commands need no Celery

    try:
        with closing(open_queue(settings)) as queue:
            jobs = _jobs(engine, queue)
    except EngineError as error:
        yield Finding("jobs", Verdict.UNKNOWN, str(error).rstrip("."))
        return
    try:
        facts = make_sender(settings).facts()
    except BrokerUnreachable as error:
        yield diagnosis.silent(str(error).rstrip("."), used=jobs.used)
    else:
        yield diagnosis.broker(facts)
        yield diagnosis.eviction(facts)
        yield diagnosis.messages(facts, jobs)
    if jobs.used:
        yield diagnosis.jobs(jobs)
        yield diagnosis.sweeper(jobs, time.time(), settings.lease_s)


def _jobs(engine: Engine, queue: Queue) -> JobFacts:
    states = engine.states()
    held = [entry.pending.run for entry in engine.entries(held=True) if entry.pending]
    until = queue.runs(sorted(set(held)))
    now = time.time()
    return JobFacts(
        states=states,
        abandoned=sum(until.get(run, 0.0) <= now for run in held),
        marker=queue.marker(),
        looks=queue.looks(),
        submissions=len(queue.batches(most=1)),
    )
