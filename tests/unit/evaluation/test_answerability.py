"""Signs that something answers a question, and how an evaluation reports them."""

from pathlib import Path

import pytest

from tests.fakes.engine import MemoryEngine
from tests.unit.evaluation.test_service import run, walrus
from tests.unit.ranking.lists import G2, G8, Text, dense, lexical, ranked
from umg_search.evaluation.answerability import SIGNS, agreement, rounded, signs_of
from umg_search.evaluation.questions import Question

A, B = Text("a", (9,) * 20), Text("b", (9,) * 20)


def nothing(number: int = 1, **metadata: object) -> Question:
    return Question(f"none-{number}", f"xqzt{number} wvvk pfft", metadata={"unanswerable": True, **metadata})


def test_relevance_is_the_best_cosine_of_a_finest_window() -> None:
    lists = [ranked(dense(G2), (A, 0, 0.7), (A, 4, 0.2)), ranked(dense(G8), (B, 0, 0.9))]
    assert signs_of("who?", lists)["relevance"] == pytest.approx(0.7)
    assert signs_of("who?", lists)["mean_relevance"] == pytest.approx((0.7 + 0.9) / 2)
    assert signs_of("who?", lists[1:])["relevance"] is None


def test_the_lexical_score_is_that_of_a_distinct_word() -> None:
    lists = [ranked(lexical(G2), (A, 0, 6.0), (A, 4, 3.0))]
    assert signs_of("Who, who is it?", lists)["lexical_score"] == pytest.approx(6 / 3)


def test_a_list_without_a_hit_tells_zero_and_one_that_is_not_there_nothing() -> None:
    lists = [ranked(lexical(G2)), ranked(dense(G2), (A, 0, 0.7))]
    found = signs_of("who?", lists)
    assert (found["lexical_score"], found["lexical_lead"], found["lexical_confidence"]) == (0, 0, 0)
    assert found["agreement"] == 0
    alone = signs_of("who?", lists[1:])
    assert [name for name, value in alone.items() if value is None] == [
        "lexical_score",
        "lexical_lead",
        "lexical_confidence",
        "agreement",
    ]


def test_experts_agree_as_far_as_their_evidence_lies_on_the_same_sentences() -> None:
    one = ranked(dense(G2), (A, 0, 0.7))
    assert agreement([one, ranked(lexical(G2), (A, 0, 5.0))]) == pytest.approx(1)
    assert agreement([one, ranked(lexical(G2), (A, 1, 5.0))]) == pytest.approx(1 / 2), "one sentence of two"
    assert agreement([one, ranked(lexical(G2), (B, 0, 5.0))]) == pytest.approx(0)


def test_the_best_score_leads_by_standard_deviations() -> None:
    found = signs_of("who?", [ranked(dense(G2), (A, 0, 4.0), (A, 2, 2.0), (A, 4, 2.0), (A, 6, 0.0))])
    assert found["dense_lead"] == pytest.approx((4 - 2) / (8 / 4) ** 0.5)


def test_an_evaluation_reports_how_well_each_sign_tells_questions_apart(tmp_path: Path) -> None:
    found = run(MemoryEngine(), tmp_path, walrus(), nothing(1), nothing(2), methods=("spans",))
    told = found.answerability
    assert told is not None
    assert (told.answerable, told.unanswerable, found.unjudged) == (1, 2, 2)
    assert set(told.signs) == set(SIGNS)
    assert told.signs["lexical_score"].auroc == 1
    assert rounded(told)["signs"]["lexical_score"]["true_refusals"] == 1


def test_there_is_nothing_to_report_where_every_question_has_an_answer(tmp_path: Path) -> None:
    assert run(MemoryEngine(), tmp_path, walrus(), methods=("spans",)).answerability is None


@pytest.mark.parametrize(
    ("said", "unanswerable"),
    [(True, True), ("true", True), ("Yes", True), (False, False), ("false", False), ("", False)],
)
def test_a_cell_of_a_table_may_say_that_there_is_no_answer(said: object, unanswerable: bool) -> None:  # noqa: FBT001 - a parameter
    assert Question("q", "who?", metadata={"unanswerable": said}).unanswerable == unanswerable
