"""Judges of asynchronous ingestion."""

from dataclasses import replace

import pytest

from tasks import diagnosis
from tasks.diagnosis import LATE_S, BrokerFacts, JobFacts
from umg_search.model import DocumentState, Looks, Verdict

NOW = 1_000_000.0
LEASE_S = 60.0
REDIS = BrokerFacts("redis://h:6379/0", 3, 2, "m1", version="7.0.15", policy="noeviction", max_bytes=2**20)
JOBS = JobFacts({DocumentState.SEARCHABLE: 5}, abandoned=0, marker="m1", looks=Looks(last=NOW - 30), submissions=1)
WAITING = replace(JOBS, states={DocumentState.QUEUED: 4, DocumentState.ENCODING: 1, DocumentState.FAILED: 2})


def test_all_is_well() -> None:
    found = [
        diagnosis.broker(REDIS),
        diagnosis.eviction(REDIS),
        diagnosis.messages(REDIS, JOBS),
        diagnosis.jobs(JOBS),
        diagnosis.sweeper(JOBS, NOW, LEASE_S),
    ]
    assert [(f.check, f.verdict, f.remedy) for f in found] == [
        (name, Verdict.OK, "") for name in ("broker", "eviction", "messages", "jobs", "sweeper")
    ]
    assert found[0].found == "Redis 7.0.15 at redis://h:6379/0: 3 messages wait, 2 in the hands of workers"
    assert diagnosis.jobs(WAITING).found == "4 queued, 1 encoding, 2 failed"


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ("6.1.9", Verdict.WARNING),
        ("5.0", Verdict.WARNING),
        ("6.2.0", Verdict.OK),
        ("10.0", Verdict.OK),
        ("", Verdict.OK),
    ],
)
def test_an_old_redis_is_pointed_out(version: str, verdict: Verdict) -> None:
    assert diagnosis.broker(replace(REDIS, version=version)).verdict is verdict


@pytest.mark.parametrize(
    ("policy", "max_bytes", "verdict"),
    [
        ("allkeys-lru", 2**20, Verdict.WARNING),
        ("volatile-ttl", 2**20, Verdict.WARNING),
        ("allkeys-lru", 0, Verdict.OK),
        ("", 0, Verdict.UNKNOWN),
    ],
)
def test_a_redis_that_throws_messages_out_is_pointed_out(policy: str, max_bytes: int, verdict: Verdict) -> None:
    assert diagnosis.eviction(replace(REDIS, policy=policy, max_bytes=max_bytes)).verdict is verdict


@pytest.mark.parametrize(("here", "there"), [(None, "m1"), ("m2", "m1"), ("m2", None)])
def test_a_redis_with_another_mark_was_wiped_or_is_shared(here: str | None, there: str | None) -> None:
    found = diagnosis.messages(replace(REDIS, marker=here), replace(JOBS, marker=there))
    assert (found.verdict, "UMG_PREFIX" in found.remedy) == (Verdict.WARNING, True)


def test_a_redis_that_is_away_is_a_fault_only_where_it_is_used() -> None:
    assert diagnosis.silent("it is away", used=True).verdict is Verdict.ERROR
    assert diagnosis.silent("it is away", used=False).verdict is Verdict.UNKNOWN
    unused = JobFacts({DocumentState.SEARCHABLE: 5}, 0, None, Looks(), 0)
    assert not unused.used
    assert replace(unused, submissions=1).used
    assert replace(unused, looks=Looks(1.0)).used
    assert replace(unused, states={DocumentState.QUEUED: 1}).used


def test_documents_of_dead_workers_are_pointed_out() -> None:
    found = diagnosis.jobs(replace(WAITING, abandoned=1))
    assert (found.verdict, found.found) == (
        Verdict.WARNING,
        "4 queued, 1 encoding, 2 failed; 1 in the hands of workers whose lease is over",
    )


@pytest.mark.parametrize(
    ("last", "waits", "verdict"),
    [
        (NOW - LATE_S, True, Verdict.OK),
        (NOW - LATE_S - 1, True, Verdict.WARNING),
        (NOW - LATE_S - 1, False, Verdict.UNKNOWN),
        (0.0, True, Verdict.WARNING),
        (0.0, False, Verdict.UNKNOWN),
    ],
)
def test_a_sweeper_that_does_not_look_is_pointed_out_where_documents_wait(
    last: float, waits: object, verdict: Verdict
) -> None:
    facts = replace(WAITING if waits else JOBS, looks=Looks(last=last))
    assert diagnosis.sweeper(facts, NOW, LEASE_S).verdict is verdict
    assert diagnosis.sweeper(facts, NOW, 10 * LATE_S).verdict is (verdict if not last else Verdict.OK)
