"""What `umg doctor` says of models, as far as no model is needed for it."""

import pytest

from umg_search.cli.checks import LOADING_SHARE, models_loaded
from umg_search.model import Verdict
from umg_search.settings import Settings

SERVER = "http://localhost:9200"


@pytest.mark.parametrize(
    ("engine", "seconds", "verdict"),
    [
        (SERVER, 60 / LOADING_SHARE, Verdict.OK),
        (SERVER, 60 / LOADING_SHARE + 0.1, Verdict.WARNING),
        ("embedded:index", 60.0, Verdict.OK),  # has no workers
    ],
)
def test_models_that_leave_workers_no_time_are_warned_of(engine: str, seconds: float, verdict: Verdict) -> None:
    settings = Settings(engine=engine, task_time_limit_s=60)
    found = models_loaded("loaded", seconds, settings)
    assert found.verdict is verdict
    assert ("UMG_TASK_TIME_LIMIT_S" in found.remedy) is (verdict is Verdict.WARNING)
