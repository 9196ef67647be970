"""Ranked lists of questions, asked of an index once and remembered."""

import time
from dataclasses import dataclass

import numpy as np

from umg_search.encoding.encoders import Encoders
from umg_search.errors import EngineError
from umg_search.evaluation.cache import Cache, digest
from umg_search.evaluation.codec import (
    lists_from_arrays,
    lists_to_arrays,
    pack,
    query_from_arrays,
    query_to_arrays,
    unpack,
)
from umg_search.model import EncodedQuery, IndexSet, RankedList
from umg_search.ports import Engine, Scope
from umg_search.search.deriving import asked_depth, completed
from umg_search.store.reader import Reader, effective


@dataclass(frozen=True, slots=True)
class Found:
    """The ranked lists of a question, and the milliseconds that its encoding and the search for all lists took."""

    lists: tuple[RankedList, ...]
    encode_ms: float
    retrieve_ms: float


class Listing:
    """Asks one index set. A remembered answer holds while engine, index set and live documents stay as they are."""

    def __init__(self, engine: Engine, index: IndexSet, encoders: Encoders, cache: Cache, *, depth: int) -> None:
        self._reader = Reader(engine)
        self._index = index
        self._encoders = encoders
        self._cache = cache
        self._depth = depth
        self._state = _state(engine, index)

    def of(self, text: str, scope: Scope) -> Found:
        """Return the lists of a question; EngineError where a channel fails, since figures would lack it."""
        spec = self._index.spec
        seen = Scope(scope.collections, effective(scope.principals, spec), scope.filter)
        depth = asked_depth(spec, self._depth)
        key = digest("lists", self._state, text, seen, depth)
        raw = self._cache.get(key)
        if raw is None:
            encoded, encode_ms = self._encoded(text)
            started = time.perf_counter()
            retrieval = self._reader.ranked_lists(self._index, encoded, depth=depth, scope=seen)
            retrieve_ms = _since(started)
            for channel, reason in retrieval.failed.items():
                raise EngineError(f"Channel {channel} failed for {text!r} ({reason}): run again, the rest is kept.")
            raw = pack({**lists_to_arrays(retrieval.lists), "ms": np.array([encode_ms, retrieve_ms])})
            self._cache.put({key: raw})
        arrays = unpack(raw)
        lists = completed(lists_from_arrays(arrays), spec, self._depth)
        return Found(tuple(lists), *arrays["ms"].tolist())

    def _encoded(self, text: str) -> tuple[EncodedQuery, float]:
        spec = self._index.spec
        key = digest("query", spec.dense, spec.sparse, text)
        raw = self._cache.get(key)
        if raw is None:
            started = time.perf_counter()
            encoded = self._encoders.encode_query(text)
            took = np.array(_since(started))
            raw = pack({**query_to_arrays(encoded), "ms": took})
            self._cache.put({key: raw})
        arrays = unpack(raw)
        return query_from_arrays(text, arrays), float(arrays["ms"])


def _state(engine: Engine, index: IndexSet) -> bytes:
    """Return a digest of all that decides what an engine answers: itself, the set, and its live documents."""
    live = sorted(
        (entry.document, entry.in_set(index.label).live, entry.attributes_fingerprint) for entry in engine.entries()
    )
    return digest(engine.info(), index, live)


def _since(started: float) -> float:
    return 1000 * (time.perf_counter() - started)
