"""Names of indices and ids of entries. No part of them is text of the user."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from umg_search.granularity import Granularity
from umg_search.model import DocumentHash, IndexSet, document_of, generation_of
from umg_search.ports import BlockId, ChunkId

TEXT = "text"
PREVIOUS = "text-previous"
"""Alias of the text index of the set that was active before."""

BUILDING = "text-building"
"""Alias of the text index of a set that was never active."""


class Names:
    """Index names under one prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    @property
    def documents(self) -> str:
        """The ledger: outside the sets, never flipped."""
        return f"{self._prefix}-documents"

    @property
    def leases(self) -> str:
        """The lease on changes of sets, and the highest version so far: outside the sets too."""
        return f"{self._prefix}-sets"

    @property
    def queue(self) -> str:
        """What waits for workers: outside the sets too."""
        return f"{self._prefix}-queue"

    @property
    def text_indices(self) -> str:
        """Pattern of the text indices of all sets."""
        return self.index(TEXT, "*")

    @property
    def chunk_indices(self) -> str:
        """Pattern of the chunk indices of all sets."""
        return self.index("g*", "*")

    def alias(self, kind: str) -> str:
        """Return the alias of one kind of index (`g02` ... `g32`, `text`)."""
        return f"{self._prefix}-{kind}"

    def index(self, kind: str, version: int | str) -> str:
        """Return the index behind an alias in one version of the data, or a pattern of several."""
        return f"{self._prefix}-{kind}-v{version}"

    def chunks(self, index: IndexSet, granularity: Granularity) -> str:
        """Return a chunk index of a set."""
        return self.index(granularity.label, index.version)

    def text(self, index: IndexSet) -> str:
        """Return the text index of a set."""
        return self.index(TEXT, index.version)

    def version(self, index_name: str) -> int:
        """Return the version in the name of an index; ValueError where it has none."""
        return int(index_name.rpartition("-v")[2])

    def is_text_index(self, index_name: str) -> bool:
        """Tell whether a name is one of this prefix's text indices."""
        head, _, number = index_name.rpartition("-v")
        return head == self.alias(TEXT) and number.isdigit()

    def parsed(self, index_name: str) -> tuple[str, int] | None:
        """Return kind and version in the name of an index of a set, None for any other name."""
        head, _, number = index_name.rpartition("-v")
        kind = head.removeprefix(f"{self._prefix}-")
        known = head == self.alias(kind) and (kind == TEXT or kind in {g.label for g in Granularity})
        return (kind, int(number)) if known and number.isdigit() else None

    @property
    def everything(self) -> str:
        """Pattern of all indices under the prefix; no other prefix's index matches it."""
        return f"{self._prefix}-*"

    def of_set(self, index: IndexSet) -> dict[str, str]:
        """Return the indices of a set by kind."""
        kinds = [*(granularity.label for granularity in index.spec.granularities), TEXT]
        return {kind: self.index(kind, index.version) for kind in kinds}


def document_id(document: DocumentHash) -> str:
    """Return the id of a ledger entry: 22 characters."""
    return urlsafe_b64encode(document).decode("ascii").rstrip("=")


def document_hash(id: str) -> DocumentHash:
    """Return the hash in the id of a ledger entry."""
    return DocumentHash(urlsafe_b64decode(id + "=="))


def chunk_id(chunk: ChunkId) -> str:
    """Return the id of a chunk entry; its index tells the granularity."""
    return f"{document_id(document_of(chunk.version))}.{generation_of(chunk.version)}.{chunk.first}"


def block_id(block: BlockId) -> str:
    """Return the id of a text block."""
    return f"{document_id(document_of(block.version))}.{generation_of(block.version)}.{block.number}"
