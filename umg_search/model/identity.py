"""Who a document is: its key, the hash that stands for it in engines, and its versions."""

import struct
from hashlib import blake2b
from typing import NamedTuple, NewType

DEFAULT_COLLECTION = "default"
EVERYBODY = "*"
"""The reserved principal: an ACL that holds it is readable by everybody."""

DocumentHash = NewType("DocumentHash", bytes)
"""16 bytes that stand for (collection, id) wherever an engine needs an id."""

DocumentVersion = NewType("DocumentVersion", bytes)
"""20 bytes: a document's hash and a generation of its windows (big-endian), so that versions sort and compare fast."""


class DocumentKey(NamedTuple):
    """What the user calls a document: the same id may exist in several collections."""

    collection: str
    id: str

    @property
    def hash(self) -> DocumentHash:
        """Hash of both parts, each with its length, so that ("a", "bc") and ("ab", "c") differ."""
        parts = [part.encode("utf-8", "surrogatepass") for part in self]
        framed = b"".join(struct.pack(">I", len(part)) + part for part in parts)
        return DocumentHash(blake2b(framed, digest_size=16).digest())


def version_of(document: DocumentHash, generation: int) -> DocumentVersion:
    """Join a document's hash and a generation number."""
    return DocumentVersion(document + generation.to_bytes(4, "big"))


def document_of(version: DocumentVersion) -> DocumentHash:
    """Return the document's hash in a version."""
    return DocumentHash(version[:16])


def generation_of(version: DocumentVersion) -> int:
    """Return the generation number in a version."""
    return int.from_bytes(version[16:], "big")
