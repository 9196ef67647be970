"""Tuning asks an index of any engine once a question, and finds the expert that the questions speak for."""

from pathlib import Path

from tests.fakes.evaluations import dataset, target
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.tuner import TunedOn, TuningPlan, tune_on
from umg_search.evaluation.tuning import LEAST_QUESTIONS
from umg_search.model import Document
from umg_search.ports import Engine
from umg_search.search import RankingOptions, ranking_options, settings_of
from umg_search.settings import Settings, load_settings
from umg_search.wiring import open_engine

NAMES = [f"thing{number}" for number in range(LEAST_QUESTIONS + 4)]
TEXT = " ".join(f"The {name} is kept in room {number}. Nothing else is." for number, name in enumerate(NAMES))
DOCUMENT = Document("rooms", TEXT)


def question(name: str) -> Question:
    start = TEXT.index(f"The {name} is")
    evidence = Span(DOCUMENT.key, start, TEXT.index(".", start) + 1)
    return Question(name, f"where is the {name} kept?", evidence=(evidence,), documents=(DOCUMENT.key,))


def tuned(engine: Engine, folder: Path, current: RankingOptions) -> TunedOn:
    with Cache(folder) as cache:
        plan = TuningPlan(current=current, folds=3)
        data = dataset([question(name) for name in NAMES])
        return tune_on(engine, target(DOCUMENT), data, plan, cache=cache, progress=lambda *_: None)


def test_a_current_setting_that_is_bad_is_left_and_a_good_one_is_kept(
    engine_settings: Settings, tmp_path: Path
) -> None:
    """A temperature of 1000 makes every list flat, so that nothing tells the right sentences from others."""
    engine = open_engine(engine_settings)
    try:
        found = tuned(engine, tmp_path, RankingOptions(budget=12, temperature=1000.0)).tuned
        again = tuned(engine, tmp_path, found.chosen).tuned
    finally:
        engine.close()
    assert found.claimed
    assert found.gain.low > 0
    assert (again.claimed, again.chosen) == (False, found.chosen)
    assert ranking_options(load_settings(**settings_of(found.chosen))) == found.chosen
