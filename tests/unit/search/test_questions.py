"""Questions are encoded once, whatever thread asks, and nobody can change what is remembered."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.fakes.encoders import HashedWords, spec
from tests.unit.search.shop import Shop, documents
from umg_search.errors import QueryError
from umg_search.granularity import Granularity
from umg_search.model import EncodedQuery, SetSpec
from umg_search.search import Query, SearchService
from umg_search.search.questions import MOST_CHARACTERS, Questions
from umg_search.store.reader import Reader


class Counting:
    """Encoders that count what reaches a model."""

    def __init__(self) -> None:
        self.asked: list[tuple[SetSpec, str]] = []

    def of(self, index_spec: SetSpec) -> HashedWords:
        asked = self.asked

        class Encoder(HashedWords):
            def encode_query(self, text: str) -> EncodedQuery:
                asked.append((index_spec, text))
                if not text.strip():
                    raise QueryError("the question is empty; ask with at least one word")
                return super().encode_query(text)

        return Encoder(index_spec)


def test_a_repeated_question_costs_no_model_call_and_gives_the_same_answer() -> None:
    shop, counting = Shop(None, *documents()), Counting()
    service = SearchService(Reader(shop.engine), counting.of, remembered_questions=10)
    answers = [service.search(Query(text="uniqueglacier")) for _ in range(3)]
    assert counting.asked == [(shop.index.spec, "uniqueglacier")]
    assert answers[0].contexts == answers[1].contexts == answers[2].contexts
    assert service.remembered == (2, 1, 1)


def test_the_last_questions_are_remembered_and_no_more() -> None:
    counting = Counting()
    questions = Questions(counting.of, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        questions.encode(spec(), text)
    assert [text for _, text in counting.asked] == ["a", "b", "c", "b"]
    assert questions.remembered == (2, 4, 2)


def test_a_size_of_zero_remembers_nothing() -> None:
    counting = Counting()
    questions = Questions(counting.of, 0)
    for _ in range(3):
        questions.encode(spec(), "a")
    assert len(counting.asked) == 3
    assert questions.remembered.size == 0


def test_another_set_never_sees_the_encodings_of_one() -> None:
    counting = Counting()
    questions = Questions(counting.of, 10)
    specs = [spec(), spec(granularities=(Granularity.G2,))]
    for index_spec in specs * 2:
        questions.encode(index_spec, "a")
    assert counting.asked == [(index_spec, "a") for index_spec in specs]


def test_very_long_questions_are_not_kept() -> None:
    counting = Counting()
    questions = Questions(counting.of, 10)
    for _ in range(2):
        questions.encode(spec(), "x" * (MOST_CHARACTERS + 1))
    assert len(counting.asked) == 2
    assert questions.remembered.size == 0


@pytest.mark.parametrize("size", [0, 10])
def test_remembered_arrays_cannot_be_changed(size: int) -> None:
    encoded = Questions(HashedWords, size).encode(spec(), "harbour")
    for array in (encoded.dense, encoded.sparse.terms, encoded.sparse.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0
    assert np.linalg.norm(encoded.dense) == pytest.approx(1)


def test_a_question_that_cannot_be_encoded_fails_each_time() -> None:
    counting = Counting()
    questions = Questions(counting.of, 10)
    for _ in range(2):
        with pytest.raises(QueryError):
            questions.encode(spec(), " ")
    assert len(counting.asked) == 2


def test_threads_share_what_is_remembered() -> None:
    counting = Counting()
    questions = Questions(counting.of, 10)
    questions.encode(spec(), "a")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: questions.encode(spec(), "a"), range(200)))
    assert len(counting.asked) == 1
    assert all(one is found[0] for one in found)
