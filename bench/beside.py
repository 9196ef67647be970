"""A corpus on a server, in an index set of ours and, beside it, in plain indices as people usually make them."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import uuid4

import orjson

from bench.enlarged import enlarged
from bench.evaluation import Corpus
from umg_search.granularity import FINEST, PARENT, Granularity
from umg_search.model import EncodedDocument, IndexSet
from umg_search.settings import Settings
from umg_search.store.actions import Action
from umg_search.store.bulk import Bulk
from umg_search.store.dialect import ELASTICSEARCH, Dialect
from umg_search.store.server import ServerEngine
from umg_search.store.writer import Writer
from umg_search.windows import windows

BATCH = 8
SETTLING_SECONDS = 180
STATS_SECONDS = 11
"""Servers tell the size of a shard as it was up to ten seconds ago."""


class Recorder:
    """A connection that notes what the server says a request took."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.took: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def call(self, *arguments: Any, **options: Any) -> Any:
        """Pass a request on."""
        answer = self._connection.call(*arguments, **options)
        if "took" in answer.body:
            self.took.append(answer.body["took"])
        return answer


@dataclass(frozen=True)
class Store:
    """A server with the corpus in our index set and in plain indices by granularity: 2 to search, 8 to weigh."""

    engine: ServerEngine
    connection: Recorder
    index: IndexSet
    plain: Mapping[Granularity, str]


def plain_body(dialect: Dialect, dims: int) -> dict[str, Any]:
    """Return the body of an index as people usually make it: text and vector."""
    one = {"number_of_shards": 1, "number_of_replicas": 0}
    if dialect is ELASTICSEARCH:
        vector = {"type": "dense_vector", "dims": dims, "similarity": "cosine", "index_options": {"type": "hnsw"}}
        return {"settings": one, "mappings": {"properties": {"text": {"type": "text"}, "vector": vector}}}
    method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
    vector = {"type": "knn_vector", "dimension": dims, "method": method}
    return {
        "settings": {"index": {"knn": True, **one}},
        "mappings": {"properties": {"text": {"type": "text"}, "vector": vector}},
    }


def stored(address: str, corpus: Corpus, chunks: int) -> Store:
    """Write the enlarged corpus to a server, twice."""
    settings = Settings(engine=address, prefix=f"b{uuid4().hex[:8]}", replicas=0)
    engine = ServerEngine(settings)
    writer = Writer(engine)
    index = writer.prepare(corpus.spec)
    dims = corpus.spec.dense.dims if corpus.spec.dense else 0
    plain = {granularity: f"{settings.prefix}-plain{granularity}" for granularity in (FINEST, PARENT)}
    connection = engine._server
    for name in plain.values():
        connection.call("PUT", f"/{name}", plain_body(connection.dialect, dims))
    bulk = Bulk(connection, settings.bulk_bytes)
    started = time.perf_counter()
    for batch in batches(enlarged(corpus.documents, chunks), BATCH):
        failed = [report for report in writer.replace(index, batch) if report.reason]
        failed += [o for o in bulk.send(plain_actions(plain, batch)) if not o.done]
        if failed:
            raise SystemExit(failed[0])
    settle(connection, (*engine._names.of_set(index).values(), *plain.values()))
    print(f"{engine.info().name} {engine.info().version}: written and merged in {time.perf_counter() - started:.0f} s")
    recorder = Recorder(connection)
    engine._server = recorder
    return Store(engine, recorder, index, plain)


def settle(connection: Any, indices: Sequence[str]) -> None:
    """Merge indices into one segment each, as they are some time after a write.

    Servers keep what is left out of `_source` beside it until no replica can need it any more, and drop it in the
    merges after that; they look at it every half minute.
    """
    for name in indices:
        connection.call("POST", f"/{name}/_flush?force=true")
    give_up = time.monotonic() + SETTLING_SECONDS
    while any(retained(connection, name) for name in indices) and time.monotonic() < give_up:
        time.sleep(1)
    for name in indices:
        connection.call("POST", f"/{name}/_flush?force=true")  # the one before may not have been safe yet
        connection.call("POST", f"/{name}/_forcemerge?max_num_segments=1")
        connection.call("POST", f"/{name}/_refresh")
        connection.call("POST", f"/{name}/_flush?force=true")  # only then the merged files go
    time.sleep(STATS_SECONDS)


def retained(connection: Any, index: str) -> bool:
    """Return whether a server still keeps operations of an index for replicas."""
    (shard,) = connection.call("GET", f"/{index}/_stats?level=shards").body["indices"][index]["shards"]["0"]
    needed = min(lease["retaining_seq_no"] for lease in shard["retention_leases"]["leases"])
    return bool(needed <= shard["seq_no"]["max_seq_no"])


def plain_actions(indices: Mapping[Granularity, str], documents: Sequence[EncodedDocument]) -> Iterator[Action]:
    """Yield the entries of the plain indices: the windows of their granularity."""
    for encoded in documents:
        split = encoded.split
        for granularity, index in indices.items():
            head = orjson.dumps({"index": {"_index": index}}) + b"\n"
            for row, window in enumerate(windows(split.sentences, granularity)):
                source = {"text": split.text_of(*window), "vector": encoded.dense[granularity][row]}
                yield Action(window, head + orjson.dumps(source, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n")


def batches(documents: Iterable[EncodedDocument], size: int) -> Iterator[list[EncodedDocument]]:
    """Yield documents in lists."""
    every = iter(documents)
    while batch := list(islice(every, size)):
        yield batch


def removed(store: Store) -> None:
    """Delete everything that `stored` made."""
    names = store.engine._names
    for name in (*names.of_set(store.index).values(), names.documents, *store.plain.values()):
        store.connection.call("DELETE", f"/{name}")
