"""What is tried again, for how long, and how long the pauses are."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import tenacity

from umg_search.errors import EngineBusy, EngineError, EngineUnreachable
from umg_search.store.retrying import FIRST_PAUSE, LONGEST_PAUSE, retrying, seconds_asked

NOON = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC)


class Clock:
    """Time that passes only in pauses, and with each call by what that takes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.calls = 0

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def failing(self, error: Exception, *, takes: float = 0.0) -> Callable[[], None]:
        def call() -> None:
            self.calls += 1
            self.now += takes
            raise error

        return call


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(tenacity.nap.time, "sleep", made.sleep)
    monkeypatch.setattr(tenacity.time, "monotonic", lambda: made.now)
    return made


@pytest.mark.parametrize("error", [EngineBusy("busy"), EngineUnreachable("gone")])
def test_what_may_pass_is_tried_again_so_often_and_then_raised(clock: Clock, error: EngineError) -> None:
    with pytest.raises(type(error)):
        retrying(6, 1_000)(clock.failing(error))
    assert clock.calls == 1 + 6
    assert all(0 <= p <= min(LONGEST_PAUSE, FIRST_PAUSE * 2**n) for n, p in enumerate(clock.pauses))


def test_what_cannot_pass_is_raised_at_once(clock: Clock) -> None:
    with pytest.raises(EngineError):
        retrying(6, 1_000)(clock.failing(EngineError("refused")))
    assert clock.calls == 1


def test_no_try_begins_after_the_limit(clock: Clock) -> None:
    """Answers that never come in time, 30 s each: the fourth try would begin after 90 s."""
    with pytest.raises(EngineUnreachable):
        retrying(20, 90)(clock.failing(EngineUnreachable("timeout"), takes=30))
    assert clock.calls == 3


def test_a_pause_that_the_server_asks_for_is_kept(clock: Clock) -> None:
    with pytest.raises(EngineBusy):
        retrying(2, 90)(clock.failing(EngineBusy("busy", retry_after=7)))
    assert clock.pauses == [7, 7]


def test_a_pause_beyond_the_limit_ends_the_tries_at_once(clock: Clock) -> None:
    with pytest.raises(EngineBusy):
        retrying(20, 90)(clock.failing(EngineBusy("busy", retry_after=3_600)))
    assert (clock.calls, clock.pauses) == (1, [])


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("120", 120),
        (" 3 ", 3),
        ("-3", 0),
        ("soon", 0),
        ("Mon, 06 May 2024 12:01:30 GMT", 90),
        ("Mon, 06 May 2024 11:00:00 GMT", 0),
        ("Mon, 06 May 2024 12:01:30 -0000", 0),
    ],
)
def test_retry_after_is_read_in_both_its_forms(header: str | None, seconds: float) -> None:
    assert seconds_asked(header, lambda: NOON) == seconds
