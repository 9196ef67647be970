"""`umg status --watch`, over an engine and a queue in memory."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.fakes.asynchronous import Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.queue import MemoryQueue
from umg_search.cli import progress
from umg_search.model import Batch


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[float]]:
    """Return a function that lets something happen in each pause between two looks; the clock moves by a second."""

    def set_up(*acts: Callable[[], object]) -> list[float]:
        left, clock = list(acts), [0.0]

        def sleep(seconds: float) -> None:
            clock[0] += seconds
            if left:
                left.pop(0)()

        monkeypatch.setattr(time, "sleep", sleep)
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])
        return clock

    return set_up


def test_a_submission_that_has_queued_nothing_yet_is_waited_for(
    site: Site, pauses: Callable[..., list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    site.queue.write_batch(Batch("b1", site.now))
    clock = pauses(lambda: None, lambda: site.submit(document("a")), site.work_all)
    progress._watch(site.engine, site.queue, "b1")
    assert clock[0] == 3 * progress.WATCH_S
    assert capsys.readouterr().err.splitlines() == ["no document", "1 queued", "1 searchable"]


@pytest.mark.parametrize("end", [{"complete": True}, {"cancelled": True}])
def test_a_submission_that_is_complete_or_cancelled_and_has_nothing_pending_is_over(
    site: Site, pauses: Callable[..., list[float]], end: dict[str, bool]
) -> None:
    site.queue.write_batch(replace(Batch("b1", site.now), **end))  # type: ignore[arg-type] - two flags
    clock = pauses()
    progress._watch(site.engine, site.queue, "b1")
    assert clock[0] == 0.0


def test_a_submission_whose_maker_died_is_not_waited_for_for_ever(
    site: Site, pauses: Callable[..., list[float]]
) -> None:
    site.queue.write_batch(Batch("b1", site.now))
    clock = pauses()
    progress._watch(site.engine, site.queue, "b1")
    assert clock[0] == progress.SUBMITTING_S
