import json
from pathlib import Path

import pytest

from tests.fakes.engine import MemoryEngine
from tests.unit.evaluation.test_service import run, walrus
from umg_search.evaluation.questions import Question
from umg_search.evaluation.results import as_json, mean, primary, summaries
from umg_search.evaluation.running import Evaluation


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    helmet = Question("helmet", "which cabinet has the helmet of the diver?", answers=("cabinet 2",))
    methods = ("spans", "chunks", "dense-g02", "lexical-g02")
    return run(MemoryEngine(), tmp_path, walrus(), helmet, methods=methods).evaluation


def test_a_mean_is_over_the_questions_that_allow_the_measure() -> None:
    assert mean([0.5, None, 1.0]) == (0.5 + 1.0) / 2
    assert mean([None]) is None


def test_methods_come_budget_by_budget_and_best_first(evaluation: Evaluation) -> None:
    found = summaries(evaluation)
    assert [item.budget for item in found] == [10] * 4 + [None] * 3
    for budget in evaluation.budgets:
        values = [item.means["recall"] for item in found if item.budget == budget]
        assert values == sorted(values, reverse=True)


def test_each_is_compared_with_the_best_baseline(evaluation: Evaluation) -> None:
    own = [item for item in summaries(evaluation) if item.budget == 10]
    best = next(item for item in own if item.method in {"dense-g02", "lexical-g02"})
    assert {item.against for item in own} == {best.method}
    assert not best.differences
    for item in own:
        if item is not best:
            assert item.differences["recall"].mean == pytest.approx(item.means["recall"] - best.means["recall"])
            assert item.differences["recall"].questions == 1
            assert item.differences["answer_recall"].questions == 2


def test_or_with_the_one_that_is_named(evaluation: Evaluation) -> None:
    found = {(item.method, item.budget): item for item in summaries(evaluation, against="spans")}
    assert found["chunks", 10].against == "spans"
    assert not found["spans", 10].differences
    assert not found["chunks", None].differences  # spans have no end without a budget


def test_json_has_figures_by_method_budget_and_measure(evaluation: Evaluation) -> None:
    found = json.loads(json.dumps(as_json(evaluation)))
    assert found["primary"] == primary(evaluation) == "recall"
    assert found["methods"]["lexical-g02"]["none"]["recall"] == 1
    assert found["methods"]["spans"]["10"]["tokens"] <= 10
    assert found["methods"]["lexical-g02"]["mrr_10"] == 1
    assert "none" not in found["methods"]["spans"]
    assert "questions" not in found
    low, high = found["methods"]["chunks"]["10"]["intervals"]["recall"]
    assert low <= found["methods"]["chunks"]["10"]["recall"] <= high
    assert found["timings_ms"].keys() == {"encode", "retrieve"}


def test_details_have_every_question_and_the_places_of_its_answers(evaluation: Evaluation) -> None:
    found = as_json(evaluation, details=True)
    whole = evaluation.figures[0]
    detail = found["questions"][0]
    answer = detail["methods"]["lexical-g02"]["10"]
    assert detail["id"] == "walrus"
    assert answer["recall"] == whole.answers["lexical-g02", 10].figures["recall"]
    assert answer["returned"][0][:3] == ["default", "other", 0]
    assert sum(channel["weight"] for channel in detail["channels"].values()) == pytest.approx(1, abs=0.01)
    assert "recall" not in found["questions"][1]["methods"]["spans"]["10"]


def test_methods_are_ordered_by_answers_where_no_evidence_is_known(tmp_path: Path) -> None:
    found = run(MemoryEngine(), tmp_path, walrus(evidence=()), methods=("chunks",)).evaluation
    assert primary(found) == "answer_recall"
    found = run(MemoryEngine(), tmp_path, walrus(evidence=(), answers=()), methods=("chunks",)).evaluation
    assert primary(found) == "document_recall"
