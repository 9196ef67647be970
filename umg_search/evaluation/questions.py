"""Questions whose answer is known: what is asked, where, and what is expected."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from umg_search.model import DocumentKey, Filter

_YES = frozenset({"true", "yes", "1"})
"""What a cell of a table says for true."""


class EvidenceMode(StrEnum):
    """Whether every span of the evidence is needed, or each is enough by itself."""

    ALL = "all"
    ANY = "any"


class Span(NamedTuple):
    """Code points `start` to `end` (excluded) of the stored text of a document."""

    document: DocumentKey
    start: int
    end: int

    @property
    def length(self) -> int:
        """Number of code points."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is expected of an answer; what is empty is not known and not measured.

    `evidence` are spans, `texts` what stands in each of them, empty where the set does not tell. `passages` are texts
    whose places are still to be found, in `documents` where those are named. `documents` are the expected ones.
    `scope_document` is the document the question was asked of, `collection` the only one to search, empty: all.
    `line` is the number of its line in the file.
    """

    id: str
    text: str
    line: int = 0
    evidence: tuple[Span, ...] = ()
    texts: tuple[str, ...] = ()
    mode: EvidenceMode = EvidenceMode.ALL
    level: str = ""
    answers: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    documents: tuple[DocumentKey, ...] = ()
    scope_document: str = ""
    collection: str = ""
    filter: Filter | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def judged(self) -> bool:
        """Whether anything is expected of an answer; it is not of questions that the documents do not answer."""
        return bool(self.evidence or self.passages or self.documents or (self.answers and not self.unanswerable))

    @property
    def unanswerable(self) -> bool:
        """Whether the set says that no document answers it."""
        said = self.metadata.get("unanswerable")
        return said is True or str(said).casefold() in _YES

    @property
    def language(self) -> str:
        """Language of the question, empty where the set does not tell."""
        language = self.metadata.get("language")
        return language if isinstance(language, str) else ""
