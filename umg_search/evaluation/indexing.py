"""The index that questions are asked of: a data set's own, made once, or the one that is there."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ingest.pipeline import IngestService
from ingest.readers import Unreadable, read_paths
from ingest.services import sentence_options
from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.errors import DatasetError
from umg_search.evaluation.cache import Cache, digest
from umg_search.evaluation.codec import document_from_arrays, document_to_arrays, pack, unpack
from umg_search.model import Document, IngestReport, Outcome, SetSpec, SplitDocument
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.store.writer import Writer

DOCUMENT_FIELD = "evaluation_document"
"""Metadata field with a document's own id, for questions that are asked of one document."""

INDEX_PREFIX = "umgeval_"

_NAMED = 5

Progress = Callable[[str, int, int], None]
"""Is told a stage, what is done of it, and what there is to do."""


@dataclass(frozen=True, slots=True)
class Own:
    """What an index of the data set's own is made of."""

    documents: tuple[Document, ...]
    spec: SetSpec
    encoders: Encoders


@dataclass(frozen=True, slots=True)
class Written:
    """What an ingest of a data set came to: documents, those that were stored by this run, and its seconds."""

    documents: int
    stored: int
    seconds: float


class CachedEncoders(Encoders):
    """Encoders that remember the encodings of documents; a document that cannot be encoded is tried anew."""

    def __init__(self, encoders: Encoders, spec: SetSpec, cache: Cache) -> None:
        super().__init__(
            counter=encoders.counter,
            granularities=encoders.granularities,
            dense=encoders.dense,
            sparse=encoders.sparse,
            encoding=encoders.encoding,
            headers=encoders.headers,
        )
        self._encoders = encoders
        self._cache = cache
        self._models = (spec.dense, spec.sparse, spec.tokenizer, spec.encoding, spec.granularities, spec.headers)

    def encode(self, documents: Sequence[SplitDocument]) -> list[Encoded | EncodingFailure]:
        """Return the encodings of each document, in order; those that are remembered are not computed."""
        keys = [digest(self._models, d.document.title, d.document.text, d.bounds, d.counts) for d in documents]
        found = {row: raw for row, key in enumerate(keys) if (raw := self._cache.get(key)) is not None}
        missing = [row for row in range(len(documents)) if row not in found]
        computed = self._encoders.encode([documents[row] for row in missing]) if missing else []
        new = dict(zip(missing, computed, strict=True))
        self._cache.put({keys[row]: _packed(item) for row, item in new.items() if isinstance(item, Encoded)})
        return [new[row] if row in new else _unpacked(split, found[row]) for row, split in enumerate(documents)]


def read_documents(paths: Sequence[Path]) -> list[Document]:
    """Return documents with their own id as a metadata field; DatasetError where one cannot be read."""
    found = list(read_paths(paths))
    documents = [item for item in found if isinstance(item, Document)]
    wrong = [item.reason.rstrip(".") for item in found if isinstance(item, Unreadable)]
    if wrong:
        raise DatasetError(f"Documents cannot be read: {_listed(wrong)}.")
    if not documents:
        raise DatasetError(f"There is no document in {', '.join(map(str, paths))}: give a folder or a .jsonl file.")
    return [replace(each, metadata={**each.metadata, DOCUMENT_FIELD: each.id}) for each in documents]


def own_settings(settings: Settings, documents: Sequence[Document], spec: SetSpec, folder: Path) -> Settings:
    """Return the settings for an index of these documents alone, under a name that stands for its contents.

    On a server that is a prefix of its own; an embedded index is made inside `folder`.
    """
    contents = [(each.key, each.text, each.title, each.metadata) for each in documents]
    name = f"{INDEX_PREFIX}{digest(contents, spec, sentence_options(settings)).hex()[:16]}"
    changes = {"prefix": name}
    if settings.engine.startswith("embedded:"):
        changes["engine"] = f"embedded:{folder / name}"
    return settings.model_copy(update=changes)


def write(engine: Engine, own: Own, settings: Settings, progress: Progress) -> Written:
    """Store documents that are not stored yet; DatasetError where one fails, since figures would lack it."""
    started = time.perf_counter()
    service = IngestService(
        Writer(engine),
        own.encoders,
        own.spec,
        sentences=sentence_options(settings),
        batch_chars=settings.ingest_batch_chars,
        max_sentences=settings.max_sentences,
    )
    reports: list[IngestReport] = []
    with closing(service.ingest(own.documents)) as coming:  # whatever happens here, the writing thread ends first
        for report in coming:
            reports.append(report)
            progress("index", len(reports), len(own.documents))
    failed = [f"{r.document_id}: {r.reason.rstrip('.')}" for r in reports if r.outcome is Outcome.FAILED]
    if failed:
        raise DatasetError(f"Documents cannot be indexed: {_listed(failed)}.")
    stored = sum(report.outcome is not Outcome.UNCHANGED for report in reports)
    return Written(len(reports), stored, time.perf_counter() - started)


def _packed(item: Encoded) -> bytes:
    warnings = np.array(item.warnings, dtype=np.str_)
    return pack({**document_to_arrays(item.document), "warnings": warnings})


def _unpacked(split: SplitDocument, raw: bytes) -> Encoded:
    arrays = unpack(raw)
    return Encoded(document_from_arrays(split, arrays), tuple(arrays["warnings"].tolist()))


def _listed(reasons: Sequence[str]) -> str:
    more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    return "; ".join(reasons[:_NAMED]) + more
