"""A signal interrupts work, once, and nothing else."""

import os
import signal
from collections.abc import Iterator

import pytest

from tasks.stopping import SIGNAL, Interruption, StopRequested, uninterrupted


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    before = signal.getsignal(SIGNAL)
    made = Interruption()
    made.install()
    yield made
    signal.signal(SIGNAL, before)


def test_work_is_interrupted_once(interruption: Interruption) -> None:
    handed_back = 0

    def work() -> None:
        nonlocal handed_back
        with interruption.working():
            try:
                os.kill(os.getpid(), SIGNAL)
            finally:
                os.kill(os.getpid(), SIGNAL)  # does not interrupt what is done about the first
                handed_back += 1

    with pytest.raises(StopRequested):
        work()
    assert handed_back == 1


def test_between_two_messages_nothing_is_interrupted_and_no_other_is_begun(interruption: Interruption) -> None:
    with interruption.working():
        pass
    os.kill(os.getpid(), SIGNAL)
    with pytest.raises(StopRequested), interruption.working():
        pytest.fail("work was begun after the order to stop")


def test_what_must_not_be_broken_off_is_not(interruption: Interruption) -> None:
    loaded = []

    def work() -> None:
        with interruption.working():
            with uninterrupted():
                os.kill(os.getpid(), SIGNAL)
                loaded.append("model")
            pytest.fail("the order to stop was forgotten")

    with pytest.raises(StopRequested):
        work()
    assert loaded == ["model"]
