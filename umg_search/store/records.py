"""Stored values as JSON: index set specifications, ledger entries and text blocks, to plain dicts and back.

Reading is strict: a record with other fields or values comes from another version or from somebody else's hand, and
guessing at it would lose what it says at the next write.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from umg_search.errors import EngineError, EngineUnsupported
from umg_search.granularity import Expert, Granularity
from umg_search.model import (
    DeclaredField,
    DenseModel,
    DocumentHash,
    DocumentKey,
    DocumentState,
    Encoding,
    FieldType,
    Generation,
    Headers,
    Job,
    LedgerEntry,
    Retired,
    SetSpec,
    SetState,
    SparseModel,
    TextBlock,
    VectorType,
)
from umg_search.ports import BlockId

SCHEMA = 3
"""Version of everything that is stored; a reader refuses any other."""

_SPEC = frozenset(
    {
        "schema",
        "granularities",
        "experts",
        "tokenizer",
        "encoding",
        "analyzer",
        "access_control",
        "dense",
        "sparse",
        "vectors",
        "fields",
        "derived",
        "headers",
    }
)
_ENTRY = frozenset(
    {
        "collection",
        "id",
        "title",
        "metadata",
        "acl",
        "text_fingerprint",
        "attributes_fingerprint",
        "state",
        "error",
        "stage",
        "error_class",
        "changed_at",
        "characters",
        "next_generation",
        "sets",
        "job",
        "batch",
        "source",
    }
)
_STATE = frozenset({"live", "retired", "text_fingerprint"})
_JOB = frozenset({"batch", "number", "fingerprint", "characters", "attempts", "deaths", "run", "sent_at"})
_BLOCK = frozenset({"start", "text", "bounds", "counts"})


def spec_to_json(spec: SetSpec) -> dict[str, Any]:
    """Return a specification as a plain dict."""
    return {
        "schema": spec.schema,
        "granularities": [int(granularity) for granularity in spec.granularities],
        "experts": [expert.value for expert in spec.experts],
        "tokenizer": spec.tokenizer,
        "encoding": spec.encoding.value,
        "analyzer": spec.analyzer,
        "access_control": spec.access_control,
        "dense": None if spec.dense is None else asdict(spec.dense),
        "sparse": None if spec.sparse is None else asdict(spec.sparse),
        "vectors": spec.vectors.value,
        "headers": spec.headers.value,
        "fields": {name: kind.value for name, kind in spec.fields},
        "derived": [int(granularity) for granularity in spec.derived],
    }


def spec_from_json(data: Mapping[str, Any]) -> SetSpec:
    """Read a specification; EngineUnsupported where its schema is not the one of this version."""
    check_schema(data.get("schema"))
    _check_fields(data, _SPEC, "index set")
    try:
        return SetSpec(
            schema=data["schema"],
            granularities=tuple(Granularity(value) for value in data["granularities"]),
            experts=tuple(Expert(value) for value in data["experts"]),
            tokenizer=data["tokenizer"],
            encoding=Encoding(data["encoding"]),
            analyzer=data["analyzer"],
            access_control=data["access_control"],
            dense=None if data["dense"] is None else DenseModel(**data["dense"]),
            sparse=None if data["sparse"] is None else SparseModel(**data["sparse"]),
            vectors=VectorType(data["vectors"]),
            headers=Headers(data["headers"]),
            fields=tuple(DeclaredField(name, FieldType(kind)) for name, kind in sorted(data["fields"].items())),
            derived=tuple(Granularity(value) for value in data["derived"]),
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise _unreadable("index set", str(error)) from error


def check_schema(schema: object) -> None:
    """Refuse stored data of another schema than this version's."""
    if schema != SCHEMA:
        raise EngineUnsupported(
            f"The stored data have schema {schema!r}, and this version of umg-search reads schema {SCHEMA} only: "
            "use the version that wrote them, or ingest anew elsewhere."
        )


def entry_to_json(entry: LedgerEntry) -> dict[str, Any]:
    """Return a ledger entry as a plain dict, without its hash (the id of the record) and its token."""
    return {
        "collection": entry.key.collection if entry.key else None,
        "id": entry.key.id if entry.key else None,
        "title": entry.title,
        "metadata": dict(entry.metadata),
        "acl": list(entry.acl),
        "text_fingerprint": entry.text_fingerprint,
        "attributes_fingerprint": entry.attributes_fingerprint,
        "state": entry.state.value,
        "error": entry.error,
        "stage": entry.stage,
        "error_class": entry.error_class,
        "changed_at": entry.changed_at,
        "characters": entry.characters,
        "next_generation": entry.next_generation,
        "sets": {label: _state_to_json(state) for label, state in entry.sets.items()},
        "job": None if entry.job is None else asdict(entry.job),
        "batch": entry.batch,
        "source": entry.source,
    }


def entry_from_json(document: DocumentHash, data: Mapping[str, Any], token: tuple[int, int] | None) -> LedgerEntry:
    """Read the ledger entry of `document`; `token` is the engine's mark of its last change."""
    _check_fields(data, _ENTRY, "ledger entry")
    try:
        return LedgerEntry(
            document=document,
            key=_key_from_json(data["collection"], data["id"]),
            title=data["title"],
            metadata=dict(data["metadata"]),
            acl=tuple(data["acl"]),
            text_fingerprint=data["text_fingerprint"],
            attributes_fingerprint=data["attributes_fingerprint"],
            state=DocumentState(data["state"]),
            error=data["error"],
            stage=data["stage"],
            error_class=data["error_class"],
            changed_at=float(data["changed_at"]),
            characters=int(data["characters"]),
            next_generation=int(data["next_generation"]),
            sets={label: _state_from_json(state) for label, state in data["sets"].items()},
            job=None if data["job"] is None else _job_from_json(data["job"]),
            batch=data["batch"],
            source=data["source"],
            token=token,
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise _unreadable("ledger entry", str(error)) from error


def block_to_json(block: TextBlock) -> dict[str, Any]:
    """Return a text block as a plain dict, without version and number (the id of the record)."""
    return {
        "start": block.start,
        "text": block.text,
        "bounds": list(block.bounds),
        "counts": list(block.counts),
    }


def block_from_json(block: BlockId, data: Mapping[str, Any]) -> TextBlock:
    """Read the text block with this id."""
    _check_fields(data, _BLOCK, "text block")
    try:
        return TextBlock(
            version=block.version,
            number=block.number,
            start=int(data["start"]),
            text=data["text"],
            bounds=tuple(int(bound) for bound in data["bounds"]),
            counts=tuple(int(count) for count in data["counts"]),
        )
    except (TypeError, ValueError) as error:
        raise _unreadable("text block", str(error)) from error


def _key_from_json(collection: str | None, id: str | None) -> DocumentKey | None:
    if collection is None and id is None:
        return None
    if isinstance(collection, str) and isinstance(id, str):
        return DocumentKey(collection, id)
    raise TypeError("collection and id are not both texts")


def _state_to_json(state: SetState) -> dict[str, Any]:
    return {
        "live": None if state.live is None else list(state.live),
        "retired": [list(retired) for retired in state.retired],
        "text_fingerprint": state.text_fingerprint,
    }


def _state_from_json(data: Mapping[str, Any]) -> SetState:
    _check_fields(data, _STATE, "ledger entry")
    return SetState(
        live=None if data["live"] is None else _generation(*data["live"]),
        retired=tuple(_retired(*values) for values in data["retired"]),
        text_fingerprint=data["text_fingerprint"],
    )


def _job_from_json(data: Mapping[str, Any]) -> Job:
    _check_fields(data, _JOB, "ledger entry")
    return Job(
        batch=data["batch"],
        number=int(data["number"]),
        fingerprint=data["fingerprint"],
        characters=int(data["characters"]),
        attempts=int(data["attempts"]),
        deaths=int(data["deaths"]),
        run=data["run"],
        sent_at=float(data["sent_at"]),
    )


def _generation(number: int, sentences: int) -> Generation:
    return Generation(int(number), int(sentences))


def _retired(number: int, sentences: int, since: float) -> Retired:
    return Retired(int(number), int(sentences), float(since))


def _check_fields(data: Mapping[str, Any], expected: frozenset[str], what: str) -> None:
    if data.keys() != expected:
        missing = sorted(expected - data.keys())
        unknown = sorted(data.keys() - expected)
        raise _unreadable(what, f"missing fields {missing}, unknown fields {unknown}")


def _unreadable(what: str, why: str) -> EngineError:
    return EngineError(f"A stored {what} cannot be read ({why}): it was not written by this version of umg-search.")
