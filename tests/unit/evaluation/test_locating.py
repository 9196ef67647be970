import pytest

from tests.fakes.engine import MemoryEngine
from tests.fakes.evaluations import dataset, stored
from umg_search.errors import DatasetError
from umg_search.evaluation.locating import located
from umg_search.evaluation.questions import EvidenceMode, Question, Span
from umg_search.evaluation.texts import Texts
from umg_search.model import Document, DocumentKey

A, B = DocumentKey("default", "a"), DocumentKey("default", "b")
KILN = "The kiln is lit\nat noon. It burns nine hours. "
TEXTS = {A: KILN + "Nobody opens it.", B: "A yard. " + KILN + "It burns nine hours."}


@pytest.fixture
def engine() -> MemoryEngine:
    return stored(*(Document(key.id, text) for key, text in TEXTS.items()))


def found(engine: MemoryEngine, question: Question) -> Question:
    index = engine.active_set()
    assert index is not None
    (only,) = located(dataset([question]), Texts(engine, index)).questions
    return only


def shown(question: Question) -> list[tuple[str, str]]:
    return [(span.document.id, TEXTS[span.document][span.start : span.end]) for span in question.evidence]


def test_a_passage_is_found_where_white_space_differs(engine: MemoryEngine) -> None:
    question = found(engine, Question("q", "When?", passages=("kiln  is lit at noon.",), documents=(A,)))
    assert shown(question) == [("a", "kiln is lit\nat noon.")]
    assert (question.mode, question.documents) == (EvidenceMode.ANY, (A,))


def test_the_only_passage_counts_wherever_it_stands(engine: MemoryEngine) -> None:
    question = found(engine, Question("q", "How long?", passages=("It burns nine hours.",)))
    assert [name for name, _ in shown(question)] == ["a", "b", "b"]
    assert (question.mode, question.documents) == (EvidenceMode.ANY, (A, B))


def test_of_several_passages_each_is_needed_at_its_first_place(engine: MemoryEngine) -> None:
    question = found(engine, Question("q", "How?", passages=("It burns nine hours.", "A yard.")))
    assert shown(question) == [("a", "It burns nine hours."), ("b", "A yard.")]
    assert question.mode is EvidenceMode.ALL


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (Question("q", "?", 7, documents=(DocumentKey("default", "c"),)), "line 7: there is no document 'c'"),
        (Question("q", "?", 7, documents=(DocumentKey("hr", "a"),)), "line 7: there is no document 'a'"),
        (Question("q", "?", 7, passages=("A yard.",), documents=(A,)), "line 7: the passage 'A yard.' .* in 'a'"),
        (Question("q", "?", 7, passages=("x" * 50,)), f"line 7: the passage '{'x' * 40}...' .* in the documents"),
        (Question("q", "?", 7, evidence=(Span(DocumentKey("", "z"), 0, 1),)), "line 7: there is no document 'z'"),
        (Question("q", "?", 7, evidence=(Span(A, 0, 999),)), "line 7: in 'a' characters 0 to 999 are not"),
        (Question("q", "?", 7, evidence=(Span(A, 0, 3),), texts=("the",)), "line 7: in 'a' characters 0 to 3 are not"),
    ],
)
def test_what_is_not_there_is_named_with_its_line(engine: MemoryEngine, question: Question, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        found(engine, question)


def test_evidence_is_taken_as_it_is_where_it_is_right(engine: MemoryEngine) -> None:
    question = Question("q", "?", evidence=(Span(A, 0, 3), Span(B, 0, 1)), texts=("The", ""))
    assert found(engine, question) == question
