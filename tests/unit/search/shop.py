"""A searchable index in memory, for tests of the read path."""

import pytest

from tests.fakes.encoders import HashedWords, encoded, spec
from tests.fakes.engine import MemoryEngine
from umg_search.model import Document, SearchResult, SetSpec
from umg_search.ports import Scope
from umg_search.search import GroupBy, Query, RankingOptions, SearchService, Selection
from umg_search.store import generations
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer

SUBJECTS = ("harbour", "orchard", "glacier")
SELECTIONS = pytest.mark.parametrize("selection", Selection)


def prose(subject: str, sentences: int, *, extra: str = "") -> str:
    lines = [f"The {subject} has part {subject}{i} for season {i % 7}." for i in range(sentences)]
    if extra:
        lines[sentences // 2] = f"In the {subject} there is {extra} alone."
    return " ".join(lines)


class Shop:
    """An index in memory with a search over it."""

    def __init__(self, index_spec: SetSpec | None = None, *documents: Document) -> None:
        self.engine = MemoryEngine()
        self.writer = Writer(self.engine, grace=0.0)
        self.index = self.writer.prepare(index_spec or spec())
        self.service = SearchService(Reader(self.engine), HashedWords)
        if documents:
            self.put(*documents)

    def put(self, *documents: Document) -> None:
        self.writer.replace(self.index, [encoded(d, self.index.spec) for d in documents])

    def begin(self, document: Document) -> list[generations.Write]:
        """Write a new generation and publish it, but die before the ledger says that it is live."""
        entries = self.writer._entries(self.index, [document.key])
        begun = self.writer._begin(self.index, [encoded(document, self.index.spec)], entries)
        generations.write(self.engine, self.index, begun)
        return begun

    def search(
        self,
        text: str,
        *,
        explain: bool = True,
        scope: Scope | None = None,
        group_by: GroupBy | None = None,
        **options: object,
    ) -> SearchResult:
        self.engine.calls.clear()
        asked = RankingOptions(**options)
        query = Query(text=text, scope=scope or Scope(), options=asked, group_by=group_by, explain=explain)
        return self.service.search(query)

    @property
    def searches(self) -> int:
        return self.engine.calls.count("ranked_lists")


def documents() -> list[Document]:
    return [Document(id=s, text=prose(s, 40, extra=f"unique{s}"), title=s.title()) for s in SUBJECTS]
