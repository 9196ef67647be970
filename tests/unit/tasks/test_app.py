"""The options of the Celery application, and how they hang together."""

import pytest
from pydantic import ValidationError

from tasks.app import make_app, options, soft_limit, visibility_timeout
from tasks.messages import INGEST, SWEEP
from tasks.retries import LONGEST_DELAY_S
from umg_search.settings import Settings

SETTINGS = Settings(prefix="handbook", task_time_limit_s=600, worker_memory_mb=4_096)


def test_a_message_outlives_its_worker() -> None:
    conf = make_app(SETTINGS).conf
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert not conf.task_acks_on_timeout
    assert conf.worker_prefetch_multiplier == 0
    assert conf.worker_disable_prefetch


@pytest.mark.parametrize("limit", [10, 59, 60, 600, 86_400])
def test_a_message_that_is_worked_on_or_waits_is_not_given_to_another(limit: int) -> None:
    """Celery, Redis, torch: a task longer than the visibility timeout."""
    assert visibility_timeout(limit) > limit + LONGEST_DELAY_S
    assert limit / 2 < soft_limit(limit) < limit


def test_messages_are_json_and_results_are_not_kept() -> None:
    conf = make_app(SETTINGS).conf
    assert (conf.task_serializer, tuple(conf.accept_content)) == ("json", ("json",))
    assert conf.result_backend is None
    assert conf.task_ignore_result


def test_all_keys_in_redis_begin_with_the_prefix() -> None:
    values = options(SETTINGS)
    assert {INGEST, SWEEP} <= set(make_app(SETTINGS).tasks)
    keys = [value for name, value in values["broker_transport_options"].items() if name.endswith("_key")]
    assert [key for key in [values["task_default_queue"], *keys] if not key.startswith("umg-handbook")] == []
    for key in keys:  # no other prefix makes a queue of this name
        with pytest.raises(ValidationError):
            Settings(prefix=key.removeprefix("umg-"))
    assert len(set(keys)) == len(keys) == 3


def test_a_child_is_replaced_before_it_meets_its_bound() -> None:
    assert options(SETTINGS)["worker_max_memory_per_child"] == 4_096 * 1024 * 3 / 4
    unbounded = SETTINGS.model_copy(update={"worker_memory_mb": 0})
    assert options(unbounded)["worker_max_memory_per_child"] is None


def test_every_option_is_one_that_celery_knows_and_differs_from_its_default() -> None:
    from celery.app.defaults import DEFAULTS  # noqa: PLC0415 - Celery's own table is what this is about

    ours = options(SETTINGS)
    assert set(ours) <= set(DEFAULTS)
    assert [name for name, value in ours.items() if DEFAULTS[name] == value] == []
