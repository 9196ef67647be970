from collections.abc import Sequence

from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from umg_search.model import Document


class WordCounter:
    """Counts words, and how often it was asked."""

    name = "words"

    def __init__(self) -> None:
        self.calls = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        self.calls += 1
        return [len(text.split()) for text in texts]


OPTIONS = SentenceOptions()


def test_all_sentences_of_a_batch_are_counted_in_one_call() -> None:
    counter = WordCounter()
    documents = [Document("a", "One two. Three."), Document("b", " \n"), Document("c", "Four five six.")]
    split = split_documents(documents, counter, OPTIONS)
    assert counter.calls == 1
    assert [item.document for item in split] == documents
    assert [item.counts for item in split] == [(2, 1), (), (3,)]
    assert [item.bounds for item in split] == [(0, 9, 15), (), (0, 14)]


def test_nothing_to_count_asks_nothing() -> None:
    counter = WordCounter()
    assert split_documents([], counter, OPTIONS) == []
    assert split_documents([Document("b", "")], counter, OPTIONS)[0].sentences == 0
    assert counter.calls == 0


def test_the_language_in_the_metadata_is_used_if_it_is_one() -> None:
    text = "Am 3. Oktober war es."
    german, odd = split_documents(
        [Document("a", text, metadata={"language": "de-AT"}), Document("b", text, metadata={"language": ["de"]})],
        WordCounter(),
        OPTIONS,
    )
    assert german.sentences == 1
    assert odd.document.id == "b"


def test_a_blank_document_has_no_sentences() -> None:
    (split,) = split_documents([Document("a", " ")], WordCounter(), OPTIONS)
    assert split.sentences == 0
