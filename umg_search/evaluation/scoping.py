"""Where each question is asked: everywhere, in documents of its language, or in one document."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from umg_search.errors import DatasetError
from umg_search.evaluation.indexing import DOCUMENT_FIELD
from umg_search.evaluation.questions import Question
from umg_search.model import And, Document, Equals, Filter
from umg_search.ports import Scope


class Scoping(StrEnum):
    """What questions may search: all, documents of their language, or the document that each was asked of.

    `auto`: the language where documents are in several, else the document where a question names one, else all.
    """

    AUTO = "auto"
    ALL = "all"
    LANGUAGE = "language"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Place:
    """What limits every question of a set: the rule, and the principals to search for (None: no access control)."""

    scoping: Scoping
    principals: tuple[str, ...] | None = None

    def scope_of(self, question: Question) -> Scope:
        """Return what a question may search."""
        clauses = tuple(clause for clause in (question.filter, self._clause(question)) if clause is not None)
        collections = (question.collection,) if question.collection else ()
        return Scope(collections, self.principals, And(clauses) if len(clauses) > 1 else next(iter(clauses), None))

    def _clause(self, question: Question) -> Filter | None:
        if self.scoping is Scoping.LANGUAGE and question.language:
            return Equals("language", question.language)
        if self.scoping is Scoping.DOCUMENT and question.scope_document:
            return Equals(DOCUMENT_FIELD, question.scope_document)
        return None


def decided(scoping: Scoping, documents: Sequence[Document], questions: Sequence[Question]) -> Scoping:
    """Return the rule that `auto` stands for; DatasetError where documents cannot be told apart.

    `documents` are those of the set, none where they are in the index already.
    """
    named = any(question.scope_document for question in questions)
    if not documents:
        if scoping is Scoping.DOCUMENT or (scoping is Scoping.AUTO and named):
            raise DatasetError("Questions with `scope_doc_id` need --documents, or --scope all: give one of them.")
        return Scoping.ALL if scoping is Scoping.AUTO else scoping
    if scoping is not Scoping.AUTO:
        return scoping
    if len({str(document.metadata.get("language")) for document in documents}) > 1:
        return Scoping.LANGUAGE
    return Scoping.DOCUMENT if named else Scoping.ALL
