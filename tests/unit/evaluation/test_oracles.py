import pytest

from tests.unit.evaluation.made import evaluation, figures, questions
from umg_search.evaluation.oracles import oracles


def test_an_oracle_takes_the_best_length_of_each_question() -> None:
    rows = [(1.0, 0.0), (0.25, 0.75), (0.5, 0.5), (None, None)]
    asked = questions(*({} for _ in rows))
    made = evaluation(
        *(
            figures(q, {"dense-g02": a, "dense-g08": b, "rrf-g08": 1.0, "spans": 1.0, "dense-g32+gapr": 1.0})
            for q, (a, b) in zip(asked, rows, strict=True)
        )
    )
    (found,) = oracles(made, 512, "recall")
    assert found.family == "dense"
    assert found.interval.mean == pytest.approx((1.0 + 0.75 + 0.5) / 3)
    assert found.interval.questions == 3
    assert found.best == pytest.approx({"g02": (1 + 1 / 2) / 3, "g08": (1 + 1 / 2) / 3})
    assert found.interval.low <= found.interval.mean <= found.interval.high


def test_there_is_none_for_a_measure_that_no_question_allows() -> None:
    made = evaluation(figures(questions({})[0], {"dense-g02": None, "dense-g08": None}))
    assert oracles(made, 512, "recall") == []
