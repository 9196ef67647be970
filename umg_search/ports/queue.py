"""What asynchronous ingestion needs beside a search engine."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from umg_search.model import Backlog, Batch, Document, Looks, OldText, QueuedText, TextKey, Ticket


class Queue(Protocol):
    """What waits for workers: raw texts, who is at work, and what is known of submissions.

    The ledger says what is to be done; the queue only holds what it needs for that. Errors are those of the engine.
    """

    def create(self) -> None:
        """Make the queue and the ledger where there are none; no index set is needed."""
        ...

    def put_texts(self, texts: Sequence[QueuedText]) -> Mapping[TextKey, str]:
        """Store raw documents; return a reason for each that failed."""
        ...

    def texts(self, keys: Sequence[TextKey]) -> Mapping[TextKey, Document]:
        """Read raw documents as they are now; those that are gone are missing."""
        ...

    def delete_texts(self, keys: Sequence[TextKey]) -> None:
        """Delete raw documents; one that is gone already is no failure."""
        ...

    def old_texts(self, *, before: float) -> Iterator[OldText]:
        """Go through the texts that were queued before a time (seconds since the epoch)."""
        ...

    def delete_old_texts(self, texts: Sequence[OldText]) -> int:
        """Delete raw documents but those that were queued again since; return how many were deleted."""
        ...

    def backlog(self) -> Backlog:
        """Measure what waits, and what the disks still take before the engine moves or blocks shards."""
        ...

    def extend_run(self, run: str, until: float, owner: str) -> None:
        """Note that a run is at work until a time (seconds since the epoch), and who does it."""
        ...

    def runs(self, runs: Sequence[str]) -> Mapping[str, float]:
        """Return until when runs are at work; those that ended are missing."""
        ...

    def end_run(self, run: str) -> None:
        """Forget a run; one that is gone already is no failure."""
        ...

    def end_runs(self, *, before: float) -> int:
        """Forget the runs whose time was over before a time; return how many there were."""
        ...

    def write_batch(self, batch: Batch) -> None:
        """Store what is known of a submission."""
        ...

    def batch(self, id: str) -> Batch | None:
        """Return a submission as it is known now, None if it is not."""
        ...

    def batches(self, *, most: int = 50) -> Sequence[Batch]:
        """Return the latest submissions, newest first."""
        ...

    def old_batches(self, *, before: float) -> Sequence[Batch]:
        """Return the submissions that were made before a time (seconds since the epoch)."""
        ...

    def delete_batches(self, ids: Sequence[str]) -> None:
        """Forget submissions; one that is gone already is no failure."""
        ...

    def marker(self) -> str | None:
        """Return the mark that the broker had when all waiting documents were last sent, None if they never were."""
        ...

    def set_marker(self, marker: str) -> None:
        """Remember the broker's mark."""
        ...

    def looks(self) -> Looks:
        """Return when a sweeper looked."""
        ...

    def set_looks(self, looks: Looks) -> None:
        """Note when a sweeper looked."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...


class Sender(Protocol):
    """Sends messages to workers. BrokerUnreachable where the broker does not answer."""

    def send(self, batch: str, tickets: Sequence[Ticket], *, delay: float = 0.0) -> None:
        """Send one message with some documents of a submission, to be worked on after `delay` seconds."""
        ...

    def waiting(self) -> int:
        """Return the messages that no worker has acknowledged yet, those in work included."""
        ...

    def marker(self) -> str | None:
        """Return the broker's mark, None where it has none: it is new, or was wiped."""
        ...

    def set_marker(self, marker: str) -> None:
        """Mark the broker."""
        ...
