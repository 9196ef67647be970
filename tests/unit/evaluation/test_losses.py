from tests.fakes.evaluations import stored
from tests.unit.evaluation.made import evaluation, figures, questions
from tests.unit.evaluation.test_service import ONE, OTHER, WALRUS, walrus
from umg_search.evaluation.losses import MOST, Quote, losses, worst
from umg_search.evaluation.questions import Span
from umg_search.evaluation.texts import Texts
from umg_search.store.reader import Reader


def test_the_worst_losses_come_first_and_gains_do_not_come() -> None:
    pairs = [(0.5, 1.0), (0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (None, 1.0), (0.25, 0.5)]
    asked = questions(*({} for _ in pairs))
    made = evaluation(*(figures(q, {"spans": a, "rrf": b}) for q, (a, b) in zip(asked, pairs, strict=True)))
    assert [one.question.id for one in worst(made, "spans", "rrf", 512, "recall")] == ["q1", "q0", "q5"]


def test_not_all_losses_are_told() -> None:
    asked = questions(*({} for _ in range(MOST + 5)))
    made = evaluation(*(figures(q, {"spans": 0.0, "rrf": 1.0}) for q in asked))
    assert [one.question.id for one in worst(made, "spans", "rrf", 512, "recall")] == [f"q{i}" for i in range(MOST)]


def test_a_loss_has_the_texts_that_were_expected_and_returned() -> None:
    engine = stored(ONE, OTHER)
    texts = Texts(engine, Reader(engine).active_set())
    made = evaluation(figures(walrus(), {"spans": 0.25, "rrf": 1.0}, returned=[Span(OTHER.key, 0, len("Nothing"))]))
    (loss,) = losses(made, "spans", "rrf", 512, "recall", texts=texts)
    assert (loss.own, loss.other) == (0.25, 1.0)
    assert loss.expected == (Quote("other", WALRUS),)
    assert loss.returned == (Quote("other", "Nothing"),)


def test_without_evidence_answers_and_documents_are_what_was_expected() -> None:
    engine = stored(ONE, OTHER)
    texts = Texts(engine, Reader(engine).active_set())
    question = walrus(evidence=(), answers=("the ice",))
    made = evaluation(figures(question, {"spans": 0.0, "rrf": 1.0}))
    (loss,) = losses(made, "spans", "rrf", 512, "recall", texts=texts)
    assert loss.expected == (Quote("", "the ice"), Quote("other", ""))
    assert loss.returned == ()
