"""The queue of asynchronous ingestion, in an index of the server beside the ledger."""

from collections.abc import Iterator, Mapping, Sequence

from umg_search.model import Backlog, Batch, Document, QueuedText, Ticket
from umg_search.settings import Settings


class ServerQueue:
    """The queue under one prefix of a cluster. Safe for threads; one instance a process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def create(self) -> None:
        """Make the queue and the ledger where there are none."""
        raise NotImplementedError

    def put_texts(self, texts: Sequence[QueuedText]) -> Mapping[Ticket, str]:
        """Store raw documents; return a reason for each that failed."""
        raise NotImplementedError

    def texts(self, tickets: Sequence[Ticket]) -> Mapping[Ticket, Document]:
        """Read raw documents by real-time multi-gets."""
        raise NotImplementedError

    def delete_texts(self, tickets: Sequence[Ticket]) -> None:
        """Delete raw documents by id."""
        raise NotImplementedError

    def text_tickets(self, *, before: float) -> Iterator[Ticket]:
        """Go through the texts that were queued before a time, page by page."""
        raise NotImplementedError

    def backlog(self) -> Backlog:
        """Measure what waits, and what the disks still take."""
        raise NotImplementedError

    def extend_run(self, run: str, until: float, owner: str) -> None:
        """Note that a run is at work until a time."""
        raise NotImplementedError

    def runs(self, runs: Sequence[str]) -> Mapping[str, float]:
        """Return until when runs are at work."""
        raise NotImplementedError

    def end_run(self, run: str) -> None:
        """Forget a run."""
        raise NotImplementedError

    def end_runs(self, *, before: float) -> int:
        """Forget the runs whose time was over before a time."""
        raise NotImplementedError

    def write_batch(self, batch: Batch) -> None:
        """Store what is known of a submission."""
        raise NotImplementedError

    def batch(self, id: str) -> Batch | None:
        """Return a submission as it is known now."""
        raise NotImplementedError

    def batches(self, *, most: int = 50) -> Sequence[Batch]:
        """Return the latest submissions, newest first."""
        raise NotImplementedError

    def marker(self) -> str | None:
        """Return the mark that the broker had."""
        raise NotImplementedError

    def set_marker(self, marker: str) -> None:
        """Remember the broker's mark."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to release: connections end with the process."""
