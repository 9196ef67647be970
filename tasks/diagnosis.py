"""Judges of asynchronous ingestion for `umg doctor`: Redis, messages, jobs and sweeper. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from umg_search.model import DocumentState, Finding, Looks, Verdict

OLDEST = (6, 2)
"""Oldest version of Redis that has the commands."""

LATE_S = 600.0
"""A sweeper that has not looked for so long, or for three leases, is taken for stopped."""

NO_EVICTION = "noeviction"


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """What Redis tells: version and policy are empty where this user may not ask, `max_bytes` 0 is no limit.

    `waiting` are messages that no worker has, `taken` those that one has, or had when it died; `marker` is its mark.
    """

    where: str
    waiting: int
    taken: int
    marker: str | None
    version: str = ""
    policy: str = ""
    max_bytes: int = 0


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What engine and queue tell: documents by state, jobs in hands whose lease is over, the mark, and the looks."""

    states: Mapping[DocumentState, int]
    abandoned: int
    marker: str | None
    looks: Looks
    submissions: int

    @property
    def used(self) -> bool:
        """Whether anything was ever submitted, or a sweeper has run."""
        return bool(self.pending or self.submissions or self.looks.last)

    @property
    def pending(self) -> int:
        """Documents that a worker has still to finish."""
        return self.states.get(DocumentState.QUEUED, 0) + self.states.get(DocumentState.ENCODING, 0)


def broker(facts: BrokerFacts) -> Finding:
    """Judge Redis by its version."""
    taken = f"{facts.taken} in the hands of workers"
    text = f"Redis {facts.version or '(version not told)'} at {facts.where}: {facts.waiting} messages wait, {taken}"
    if facts.version and tuple(int(part) for part in facts.version.split(".")[:2]) < OLDEST:
        return Finding("broker", Verdict.WARNING, text, "use Redis 6.2 or later")
    return Finding("broker", Verdict.OK, text)


def silent(error: str, *, used: bool) -> Finding:
    """Judge a Redis that does not answer, which is a fault where documents were submitted."""
    if used:
        return Finding("broker", Verdict.ERROR, error)
    return Finding("broker", Verdict.UNKNOWN, f"nothing was submitted here, and {error}", "`umg ingest` needs none")


def eviction(facts: BrokerFacts) -> Finding:
    """Judge what Redis does when its memory is full."""
    if not facts.policy:
        return Finding(
            "eviction", Verdict.UNKNOWN, "this user may not ask Redis for its maxmemory-policy (INFO memory)"
        )
    if facts.policy == NO_EVICTION or not facts.max_bytes:
        limit = f"maxmemory {facts.max_bytes} bytes" if facts.max_bytes else "no maxmemory"
        return Finding("eviction", Verdict.OK, f"{limit}, maxmemory-policy {facts.policy}: no message is thrown out")
    text = f"maxmemory-policy {facts.policy}: Redis throws messages out when {facts.max_bytes} bytes are full"
    return Finding("eviction", Verdict.WARNING, text, "set it to noeviction")


def messages(facts: BrokerFacts, jobs: JobFacts) -> Finding:
    """Judge by its mark whether Redis is the one that all messages were sent to, and nobody else's as well."""
    if facts.marker == jobs.marker:
        return Finding("messages", Verdict.OK, "Redis has what was sent" if jobs.marker else "none was sent yet")
    remedy = (
        "`umg sweeper` sends what waits again; if this stays, another deployment has the same UMG_PREFIX in the same "
        "Redis: give one of them another, or another database in UMG_BROKER"
    )
    return Finding("messages", Verdict.WARNING, "Redis does not have the mark of this index: it was wiped", remedy)


def jobs(facts: JobFacts) -> Finding:
    """Judge the documents that wait or are worked on."""
    names = (DocumentState.QUEUED, DocumentState.ENCODING, DocumentState.FAILED)
    counts = ", ".join(f"{facts.states[name]} {name.value}" for name in names if facts.states.get(name))
    if facts.abandoned:
        text = f"{counts}; {facts.abandoned} in the hands of workers whose lease is over"
        return Finding("jobs", Verdict.WARNING, text, "the sweeper sends them again; see the log of the workers")
    remedy = "`umg status --failed` says why" if facts.states.get(DocumentState.FAILED) else ""
    return Finding("jobs", Verdict.OK, counts or "none waits", remedy)


def sweeper(facts: JobFacts, now: float, lease_s: float) -> Finding:
    """Judge whether a sweeper runs; without one, what is stuck stays so."""
    last = facts.looks.last
    told = (
        f"looked last at {datetime.fromtimestamp(last, UTC).isoformat(timespec='seconds')}" if last else "never looked"
    )
    if now - last <= max(LATE_S, 3 * lease_s):
        return Finding("sweeper", Verdict.OK, told)
    if facts.pending:
        return Finding("sweeper", Verdict.WARNING, f"{told}, and documents wait", "start `umg sweeper`")
    return Finding("sweeper", Verdict.UNKNOWN, f"{told}, and nothing waits", "run `umg sweeper` beside the workers")
