"""Which questions are tuned on, by which measure, and what that costs the index."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.engine import MemoryEngine
from tests.fakes.evaluations import dataset, target
from umg_search.errors import DatasetError
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.questions import Question
from umg_search.evaluation.tuner import TunedOn, TuningPlan, tune_on
from umg_search.evaluation.tuning import LEAST_QUESTIONS
from umg_search.model import Document
from umg_search.search import RankingOptions, Selection

TEXT = " ".join(f"Thing{number} is in room {number}. It is empty." for number in range(LEAST_QUESTIONS))
DOCUMENT = Document("rooms", TEXT)


def asked(number: int, **expected: object) -> Question:
    return Question(f"q{number}", f"where is thing{number}?", **expected)


def answers() -> list[Question]:
    return [asked(number, answers=(f"room {number}",)) for number in range(LEAST_QUESTIONS)]


def tuned(folder: Path, questions: Sequence[Question], engine: MemoryEngine | None = None, **plan: object) -> TunedOn:
    with Cache(folder) as cache:
        return tune_on(
            engine or MemoryEngine(),
            target(DOCUMENT),
            dataset(questions),
            TuningPlan(current=RankingOptions(budget=12), folds=2, **plan),
            cache=cache,
            progress=lambda *_: None,
        )


def test_a_question_is_put_to_the_index_once_whatever_is_tried(tmp_path: Path) -> None:
    engine = MemoryEngine()
    found = tuned(tmp_path, answers(), engine)
    assert len(found.tuned.tried) > 10
    assert engine.calls.count("ranked_lists") == LEAST_QUESTIONS


def test_the_measure_is_the_first_that_questions_allow_and_others_are_left_out(tmp_path: Path) -> None:
    documents = [asked(number, documents=(DOCUMENT.key,)) for number in range(100, 103)]
    found = tuned(tmp_path, [*answers(), *documents, asked(200)])
    assert (found.measure, found.questions, found.left_out) == ("answer_recall", LEAST_QUESTIONS, 4)
    with pytest.raises(DatasetError, match="3 different ones can be measured by document_recall, and it takes 20"):
        tuned(tmp_path, [*answers(), *documents], measure="document_recall")


def test_the_same_question_again_is_no_other_one(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="19 different ones can be measured by answer_recall"):
        tuned(tmp_path, [*answers()[1:], answers()[1]])


def test_budget_and_number_of_contexts_are_the_same_for_all(tmp_path: Path) -> None:
    tried = [options for options, _ in tuned(tmp_path, answers(), measure="ar_1").tuned.tried]
    assert {options.select for options in tried} == set(Selection)
    assert {(options.budget, options.limit) for options in tried} == {(12, None)}
