"""Ranked passages for the study of cut rules: three rankers over one index of a set's own paragraphs.

A passage is a document of the set: one window of up to 32 sentences, with the composed encoding that an index has by
default. Of the few documents that are longer the best window counts.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.evaluation import settings
from umg_search.encoding.encoders import Encoders
from umg_search.evaluation.baselines import linear
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.datasets import read_dataset
from umg_search.evaluation.indexing import CachedEncoders, Own, own_settings, read_documents, write
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.questions import Question
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, DocumentHash, Fused, RankedList, document_of
from umg_search.ports import Scope
from umg_search.ranking.fusion import by_length, units
from umg_search.search.cuts import CANDIDATES
from umg_search.store.reader import Reader
from umg_search.wiring import new_set, open_engine

WHOLE = Granularity.G32
DEPTH = 100


@dataclass(frozen=True)
class Ranked:
    """The best passages of a ranker, best first: their scores, and whether each is expected."""

    scores: Sequence[float]
    expected: Sequence[bool]


@dataclass(frozen=True)
class Case:
    """A question: how many passages it expects, and what each ranker found."""

    wanted: int
    ranked: Mapping[str, Ranked]


def cases(folder: Path, questions: int, cache: Path, *, passages: int = 0, dense: bool = True) -> list[Case]:
    """Return what the rankers find for a sample of a set's questions; encodings and lists are kept in `cache`.

    They search all passages, or those that the set gave with these questions and others drawn at random, so many in
    all. Without a `dense` expert only BM25 is asked, and no model is needed.
    """
    data = read_dataset(folder).sample(questions, 0)
    documents = _drawn(read_documents(data.documents), data.questions, passages)
    chosen = settings(experts="dense,lexical" if dense else "lexical", sparse_model="", vectors="float32")
    spec, encoders = new_set(chosen)
    spec = replace(spec, granularities=(WHOLE,))
    whole = Encoders(counter=encoders.counter, granularities=(WHOLE,), dense=encoders.dense)
    with Cache(cache) as kept:
        own = Own(tuple(documents), spec, CachedEncoders(whole, spec, kept))
        engine = open_engine(own_settings(chosen, documents, spec, cache))
        try:
            write(engine, own, chosen, _tell)
            listing = Listing(engine, Reader(engine).active_set(), own.encoders, kept, depth=DEPTH)
            return [
                _case({key.hash for key in question.documents}, listing.of(question.text, Scope()).lists)
                for question in data.questions
                if question.documents
            ]
        finally:
            engine.close()


def _drawn(documents: Sequence[Document], questions: Sequence[Question], count: int) -> list[Document]:
    """Return the documents that stand with the questions in their set, and others up to a number; 0: all."""
    own = {name for question in questions for name in question.metadata.get("context_doc_ids", ())}
    own |= {key.id for question in questions for key in question.documents}
    others = [document.id for document in documents if document.id not in own]
    more = min(len(others), max(0, count - len(own))) if count else len(others)
    named = own | set(random.Random(0).sample(others, more))  # noqa: S311 - a sample, no secret
    return [document for document in documents if document.id in named]


def _tell(stage: str, done: int, total: int) -> None:
    if done % 500 == 0:
        print(f"{stage}: {done} of {total}", flush=True)


def _case(expected: set[DocumentHash], lists: Sequence[RankedList]) -> Case:
    dense, lexical = (
        [ranked for ranked in lists if ranked.channel.expert is expert] for expert in (Expert.DENSE, Expert.LEXICAL)
    )
    found = {"dense": dense, "BM25": lexical, "hybrid": [*dense, *lexical]} if dense else {"BM25": lexical}
    return Case(len(expected), {name: _ranked(name, some, expected) for name, some in found.items()})


def _ranked(name: str, lists: Sequence[RankedList], expected: set[DocumentHash]) -> Ranked:
    some = [ranked for ranked in lists if len(ranked.hits)]
    best: dict[DocumentHash, float] = {}
    for document, score in _passages(linear(some)) if name == "hybrid" else _own(some):
        best.setdefault(document, score)
    top = list(best.items())[:CANDIDATES]
    return Ranked([score for _, score in top], [document in expected for document, _ in top])


def _own(lists: Sequence[RankedList]) -> Sequence[tuple[DocumentHash, float]]:
    """Return the passages of a single list with its own scores."""
    return [
        (document_of(version), score)
        for ranked in lists
        for version, score in zip(ranked.hits.versions, ranked.scores.tolist(), strict=True)
    ]


def _passages(fused: Fused) -> Sequence[tuple[DocumentHash, float]]:
    ordered = by_length(fused, units(fused), alpha=0.0, floor=1)
    versions = [fused.versions[number] for number in ordered.document.tolist()]
    return [(document_of(version), score) for version, score in zip(versions, ordered.score.tolist(), strict=True)]
