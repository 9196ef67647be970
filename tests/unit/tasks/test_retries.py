"""Which errors are tried again, and when."""

from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from celery.exceptions import Reject, Retry
from kombu.exceptions import OperationalError

from tasks.retries import FIRST_DELAY_S, LONGEST_DELAY_S, MENDABLE, TRANSIENT, delay, orderly
from tasks.stopping import INTERRUPTION, StopRequested
from umg_search.errors import BrokerUnreachable, DocumentError, EngineBusy, EngineUnreachable, IndexMismatch


class Request:
    def __init__(self, retries: int) -> None:
        self.retries = retries
        self.kwargs = {"batch": "b1", "tickets": []}


class Task:
    """As much of a task as a retry needs; `broken` is a broker that cannot take the message."""

    def __init__(self, retries: int = 0, *, broken: bool = False) -> None:
        self.request = Request(retries)
        self.sent: list[dict[str, Any]] = []
        self._broken = broken

    def retry(self, **options: Any) -> Retry:
        if self._broken:
            raise OperationalError("no connection")
        self.sent.append(options)
        return Retry()


@pytest.mark.parametrize("tries", range(12))
def test_the_delay_is_random_below_a_bound_that_doubles_and_ends(tries: int) -> None:
    bound = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2**tries)
    drawn = [delay(tries, EngineUnreachable("away")) for _ in range(200)]
    assert 0 <= min(drawn) < bound / 4
    assert bound * 3 / 4 < max(drawn) <= bound


def test_what_the_engine_asked_for_is_waited_for() -> None:
    assert min(delay(0, EngineBusy("busy", retry_after=17)) for _ in range(50)) >= 17
    assert delay(0, EngineBusy("busy", retry_after=900)) == LONGEST_DELAY_S
    assert delay(0, IndexMismatch("other model")) == LONGEST_DELAY_S


@pytest.mark.parametrize("kind", [*TRANSIENT, *MENDABLE])
def test_an_error_that_passes_sends_the_message_again_with_the_run_that_met_it(kind: type[Exception]) -> None:
    task = Task()
    with pytest.raises(Retry), orderly(task, "run-1"):  # type: ignore[arg-type] - as much of one as is needed
        raise kind("now")
    assert [sent["kwargs"] for sent in task.sent] == [{"batch": "b1", "tickets": [], "previous_run": "run-1"}]


@pytest.mark.parametrize("kind", [DocumentError, KeyError, RuntimeError])
def test_other_errors_are_not_tried_again(kind: type[Exception]) -> None:
    task = Task()
    with pytest.raises(kind), orderly(task, "run-1"):  # type: ignore[arg-type]
        raise kind("for good")
    assert task.sent == []


def test_where_the_broker_is_away_too_the_message_goes_back_as_it_was() -> None:
    with pytest.raises(Reject) as caught, orderly(Task(broken=True), "run-1"):  # type: ignore[arg-type]
        raise BrokerUnreachable("away")
    assert caught.value.requeue


def test_a_message_whose_time_went_into_loading_goes_back() -> None:
    with pytest.raises(Reject) as caught, orderly(Task(), "run-1"):  # type: ignore[arg-type]
        raise SoftTimeLimitExceeded
    assert caught.value.requeue


def test_a_stop_gives_the_message_back() -> None:
    with pytest.raises(Reject) as caught, orderly(Task(), "run-1"):  # type: ignore[arg-type]
        raise StopRequested
    assert caught.value.requeue
    with INTERRUPTION.working():
        pass  # an order to stop that was raised by hand leaves nothing behind
