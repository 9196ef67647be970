"""The queue and the sender in memory, with faults on request."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from umg_search.errors import BrokerUnreachable
from umg_search.model import Backlog, Batch, Document, Looks, OldText, QueuedText, TextKey, Ticket


class MemoryQueue:
    """Texts, runs and submissions in dicts. `calls` names every operation in order; `before` is told each."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.before: Callable[[str], object] = lambda _: None
        self.waiting: dict[TextKey, QueuedText] = {}
        self.marks: dict[TextKey, tuple[int, int]] = {}
        self.at_work: dict[str, float] = {}
        self.submissions: dict[str, Batch] = {}
        self.mark: str | None = None
        self.looked = Looks()
        self.free_bytes: int | None = None
        self.refused: Callable[[Document], str] = lambda _: ""

    def create(self) -> None:
        self._enter("create")

    def put_texts(self, texts: Sequence[QueuedText]) -> Mapping[TextKey, str]:
        self._enter("put_texts")
        reasons = {text.key: self.refused(text.document) for text in texts}
        self.waiting |= {text.key: text for text in texts if not reasons[text.key]}
        self.marks |= {text.key: (len(self.calls), 1) for text in texts}
        return {key: reason for key, reason in reasons.items() if reason}

    def texts(self, keys: Sequence[TextKey]) -> Mapping[TextKey, Document]:
        self._enter("texts")
        return {key: self.waiting[key].document for key in keys if key in self.waiting}

    def delete_texts(self, keys: Sequence[TextKey]) -> None:
        self._enter("delete_texts")
        for key in keys:
            self.waiting.pop(key, None)

    def old_texts(self, *, before: float) -> Iterator[OldText]:
        self._enter("old_texts")
        yield from [OldText(key, self.marks[key]) for key, text in self.waiting.items() if text.since < before]

    def delete_old_texts(self, texts: Sequence[OldText]) -> int:
        self._enter("delete_old_texts")
        same = [text.key for text in texts if self.marks.get(text.key) == text.mark]
        return sum(self.waiting.pop(key, None) is not None for key in same)

    def backlog(self) -> Backlog:
        self._enter("backlog")
        size = sum(len(text.document.text.encode()) for text in self.waiting.values())
        return Backlog(len(self.waiting), size, self.free_bytes)

    def extend_run(self, run: str, until: float, owner: str) -> None:
        del owner
        self._enter("extend_run")
        self.at_work[run] = until

    def runs(self, runs: Sequence[str]) -> Mapping[str, float]:
        self._enter("runs")
        return {run: self.at_work[run] for run in runs if run in self.at_work}

    def end_run(self, run: str) -> None:
        self._enter("end_run")
        self.at_work.pop(run, None)

    def end_runs(self, *, before: float) -> int:
        self._enter("end_runs")
        over = [run for run, until in self.at_work.items() if until < before]
        for run in over:
            del self.at_work[run]
        return len(over)

    def write_batch(self, batch: Batch) -> None:
        self._enter("write_batch")
        self.submissions[batch.id] = batch

    def batch(self, id: str) -> Batch | None:
        return self.submissions.get(id)

    def batches(self, *, most: int = 50) -> Sequence[Batch]:
        return sorted(self.submissions.values(), key=lambda batch: -batch.created_at)[:most]

    def old_batches(self, *, before: float) -> Sequence[Batch]:
        self._enter("old_batches")
        return [batch for batch in self.submissions.values() if batch.created_at < before]

    def delete_batches(self, ids: Sequence[str]) -> None:
        self._enter("delete_batches")
        for each in ids:
            self.submissions.pop(each, None)

    def marker(self) -> str | None:
        return self.mark

    def set_marker(self, marker: str) -> None:
        self._enter("set_marker")
        self.mark = marker

    def looks(self) -> Looks:
        return self.looked

    def set_looks(self, looks: Looks) -> None:
        self._enter("set_looks")
        self.looked = looks

    def close(self) -> None:
        self._enter("close")

    def _enter(self, operation: str) -> None:
        self.calls.append(operation)
        self.before(operation)


class MemorySender:
    """Messages in a list; `down` until the broker answers again, `wipe` forgets everything."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, list[Ticket]]] = []
        self.down = False
        self.mark: str | None = None

    def send(self, batch: str, tickets: Sequence[Ticket], *, delay: float = 0.0) -> None:
        del delay
        self._check()
        self.messages.append((batch, list(tickets)))

    def waiting(self) -> int:
        self._check()
        return len(self.messages)

    def marker(self) -> str | None:
        self._check()
        return self.mark

    def set_marker(self, marker: str) -> None:
        self._check()
        self.mark = marker

    def wipe(self) -> None:
        self.messages.clear()
        self.mark = None

    def take(self) -> list[tuple[str, list[Ticket]]]:
        taken, self.messages = self.messages, []
        return taken

    def _check(self) -> None:
        if self.down:
            raise BrokerUnreachable("The broker does not answer: start it.")
