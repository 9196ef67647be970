"""The read path's half of the store: the active set, the ranked lists, and what may be shown of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from umg_search.errors import DocumentNotFound, EngineError, NoIndexSet, QueryError, SetDropped
from umg_search.model import (
    BLOCK_SENTENCES,
    EVERYBODY,
    DocumentHash,
    DocumentKey,
    DocumentState,
    DocumentVersion,
    EncodedQuery,
    EngineInfo,
    IndexSet,
    LedgerEntry,
    Retrieval,
    Selected,
    SetSpec,
    document_of,
    generation_of,
    version_of,
)
from umg_search.ports import BlockId, Engine, Fetched, IndexSize, Scope
from umg_search.store.contexts import blocks_for

MOST_PRINCIPALS = 1_024
"""Principals of one request."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the ledger says of document versions in the lists.

    `refused` may not be shown: never finished, deleted, or not for these principals. `stale` were replaced: the live
    generation became visible before, so a new search finds it.
    """

    refused: frozenset[DocumentVersion]
    stale: frozenset[DocumentVersion]


@dataclass(frozen=True, slots=True)
class Status:
    """Counts of documents by state, and the size of each index of the active set, None where none is there yet."""

    engine: EngineInfo
    index: IndexSet | None
    documents: Mapping[DocumentState, int]
    sizes: Mapping[str, IndexSize]


class Reader:
    """Reads the active index set."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def info(self) -> EngineInfo:
        """Return name, version and place of the engine."""
        return self._engine.info()

    def active_set(self) -> IndexSet:
        """Return the set that searches use; NoIndexSet where nothing was ingested yet."""
        index = self._engine.active_set()
        if index is None:
            raise NoIndexSet.at(self._engine.info().where)
        return index

    def ranked_lists(self, index: IndexSet, query: EncodedQuery, *, depth: int, scope: Scope) -> Retrieval:
        """Return the lists of all channels; EngineError where every one of them failed."""
        retrieval = self._engine.ranked_lists(index, query, depth=depth, scope=scope)
        if retrieval.failed and not retrieval.lists:
            reason = next(iter(retrieval.failed.values()))
            raise EngineError(f"All {len(retrieval.failed)} searches failed at {self.info().where}: {reason}.")
        return retrieval

    def fetch(self, index: IndexSet, selected: Sequence[Selected], others: Iterable[DocumentHash] = ()) -> Fetched:
        """Read the ledger entries and text blocks of selections, and further entries, as they are now."""
        documents = sorted({document_of(item.version) for item in selected} | set(others))
        return self._engine.fetch(index, documents, blocks_for(selected))

    def text(self, key: DocumentKey, principals: tuple[str, ...] | None = None) -> str:
        """Return the stored text of a document; DocumentNotFound where there is none for these principals."""
        return from_active_set(lambda: self._text(key, principals))

    def _text(self, key: DocumentKey, principals: tuple[str, ...] | None) -> str:
        index = self.active_set()
        principals = effective(principals, index.spec)
        entry = self._engine.fetch(index, [key.hash], []).entries.get(key.hash)
        live = entry.in_set(index.label).live if entry else None
        if entry is None or live is None or not readable(entry, principals):
            raise DocumentNotFound(f"There is no document {key.id!r} in collection {key.collection!r}.")
        version = version_of(key.hash, live.number)
        wanted = [BlockId(version, number) for number in range(-(-live.sentences // BLOCK_SENTENCES))]
        blocks = self._engine.fetch(index, [], wanted).blocks
        if len(blocks) < len(wanted):
            raise EngineError(f"Document {key.id!r} changed while it was read: ask again.")
        return "".join(blocks[block].text for block in wanted)

    def collections(self, most: int) -> Sequence[str]:
        """Return the names of collections that have documents, `most` at most; for those who may see all of them."""
        return self._engine.collections(most)

    def status(self) -> Status:
        """Count documents and measure indices; NoIndexSet where nothing was ingested or submitted yet."""
        documents = self._engine.states()
        index = self._engine.active_set() if documents else self.active_set()
        return Status(self._engine.info(), index, documents, self._engine.sizes(index) if index else {})


def from_active_set(read: Callable[[], _Answer]) -> _Answer:
    """Read once more where the set was dropped meanwhile: another one is active then."""
    try:
        return read()
    except SetDropped:
        return read()


def effective(principals: tuple[str, ...] | None, spec: SetSpec) -> tuple[str, ...] | None:
    """Return the principals that count: none to check without access control, at least one with it."""
    if len(principals or ()) > MOST_PRINCIPALS:
        raise QueryError(
            f"The request names {len(principals or ())} principals, and {MOST_PRINCIPALS} are allowed: "
            "name groups instead of their members."
        )
    if not spec.access_control:
        return None
    if not principals or not all(principals):
        raise QueryError(
            "This index set has access control: name at least one principal with --principal, none of them empty."
        )
    return principals


def judge(
    versions: Iterable[DocumentVersion],
    entries: Mapping[DocumentHash, LedgerEntry],
    label: str,
    principals: tuple[str, ...] | None,
) -> Verdict:
    """Return which document versions may not be shown, by the ledger's real-time word."""
    refused, stale = set(), set()
    for version in versions:
        entry = entries.get(document_of(version))
        live = entry.in_set(label).live if entry else None
        if entry is None or live is None or live.number < generation_of(version) or not readable(entry, principals):
            refused.add(version)
        elif live.number > generation_of(version):
            stale.add(version)
    return Verdict(frozenset(refused), frozenset(stale))


def readable(entry: LedgerEntry, principals: tuple[str, ...] | None) -> bool:
    """Return whether one of the principals may read a document; always without access control (None)."""
    return principals is None or not {*principals, EVERYBODY}.isdisjoint(entry.acl)
