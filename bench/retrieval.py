"""Print what retrieval costs beside one kNN search as people usually write it, on servers, in one interleaved run.

`python -m bench.retrieval ../shared/data/chunking_eval_docs http://SERVER... [--chunks 50000]`

The corpus is a real one, enlarged (bench/enlarged.py). Contenders, question by question in turn:
usual-10, usual-100  one kNN search, k = 100, over an index of the finest chunks that holds vector and text: `_id` and
                     text returned, the vector left out of the answer, at size 10 and 100
own-shape            one kNN search at the finest granularity in the shape of our own requests
ten lists, lean      the retrieval of all channels, of all granularities and of the `lean` ones
search               SearchService.search less the encoding of the question
All indices are merged into one segment. Milliseconds are medians at the client; `took` is the server's own figure.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson

from bench.enlarged import enlarged
from bench.evaluation import Corpus, encoded_corpus
from umg_search.granularity import FINEST, PARENT, Expert, Granularity
from umg_search.model import EncodedDocument, EncodedQuery, IndexSet
from umg_search.ports import Scope
from umg_search.search import Query, SearchService
from umg_search.settings import PRESETS, Settings
from umg_search.store.actions import Action
from umg_search.store.bulk import Bulk
from umg_search.store.dialect import ELASTICSEARCH, Dialect
from umg_search.store.reader import Reader
from umg_search.store.server import ServerEngine
from umg_search.store.writer import Writer
from umg_search.windows import windows

DEPTH = 100
CLIENTS = (1, 4, 16)
BATCH = 8
PAIRS = {"dense+sparse": (Expert.DENSE, Expert.SPARSE), "dense+lexical": (Expert.DENSE, Expert.LEXICAL)}
Contender = Callable[[EncodedQuery], object]


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


def usual(store: Store, size: int) -> Contender:
    """Return one kNN search as people usually write it."""
    elastic = store.connection.dialect is ELASTICSEARCH

    def search(query: EncodedQuery) -> object:
        vector = query.dense.tolist() if query.dense is not None else []
        if elastic:
            asked: dict[str, Any] = {"knn": {"field": "vector", "query_vector": vector, "k": DEPTH}}
        else:
            asked = {"query": {"knn": {"vector": {"vector": vector, "k": DEPTH}}}}
        body = {**asked, "size": size, "_source": ["text"]}
        hits = store.connection.call("POST", f"/{store.plain[FINEST]}/_search", body).body["hits"]["hits"]
        return [(hit["_id"], hit["_score"], hit["_source"]["text"]) for hit in hits]

    return search


def lists(store: Store, experts: Sequence[Expert], granularities: Iterable[int]) -> Contender:
    """Return the retrieval of some channels in one request of ours."""
    spec = replace(store.index.spec, experts=tuple(experts), granularities=tuple(granularities))
    index = replace(store.index, spec=spec)
    return lambda query: store.engine.ranked_lists(index, query, depth=DEPTH, scope=Scope())


class _Encoded:
    """Encoders that have every question already."""

    def __init__(self, questions: Mapping[str, EncodedQuery]) -> None:
        self._questions = questions

    counter = None

    def encode_query(self, text: str) -> EncodedQuery:
        return self._questions[text]


def whole_search(store: Store, corpus: Corpus, experts: Sequence[Expert]) -> Contender:
    """Return a whole search, from encoded question to contexts."""
    questions = {query.text: query for _, query in corpus.questions}
    engine = store.engine

    class Narrowed(Reader):
        def active_set(self) -> IndexSet:
            index = super().active_set()
            return replace(index, spec=replace(index.spec, experts=tuple(experts)))

    service = SearchService(Narrowed(engine), lambda _: _Encoded(questions))  # type: ignore[arg-type,return-value]
    return lambda query: service.search(Query(text=query.text))


def contenders(store: Store, corpus: Corpus) -> dict[str, Contender]:
    """Return all of them by name, the one that others are compared with first."""
    every = store.index.spec.granularities
    found: dict[str, Contender] = {
        "usual-100": usual(store, 100),
        "usual-10": usual(store, 10),
        "own-shape": lists(store, (Expert.DENSE,), (FINEST,)),
    }
    for name, experts in PAIRS.items():
        found[f"ten lists {name}"] = lists(store, experts, every)
        found[f"lean {name}"] = lists(store, experts, PRESETS["lean"])
        found[f"search {name}"] = whole_search(store, corpus, experts)
    return found


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
    for name in (*engine._names.of_set(index).values(), *plain.values()):
        connection.call("POST", f"/{name}/_forcemerge?max_num_segments=1")
        connection.call("POST", f"/{name}/_refresh")
    print(f"{engine.info().name} {engine.info().version}: written and merged in {time.perf_counter() - started:.0f} s")
    recorder = Recorder(connection)
    engine._server = recorder
    return Store(engine, recorder, index, plain)


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


def print_one_client(store: Store, corpus: Corpus, rounds: int) -> None:
    """Print medians of all contenders, asked in turn, and their ratios to the first."""
    every = contenders(store, corpus)
    samples: dict[str, list[float]] = {name: [] for name in every}
    took: dict[str, list[int]] = {name: [] for name in every}
    for number, query in enumerate(islice(cycle(query for _, query in corpus.questions), rounds)):
        for name, ask in every.items():
            store.connection.took.clear()
            started = time.perf_counter()
            ask(query)
            if number >= rounds // 10:  # the first tenth warms both sides
                samples[name].append(1000 * (time.perf_counter() - started))
                took[name].append(sum(store.connection.took))
    medians = {name: statistics.median(values) for name, values in samples.items()}
    for name, value in medians.items():
        ratios = "  ".join(f"/ {base} {value / medians[base]:5.2f}" for base in ("usual-100", "usual-10", "own-shape"))
        print(f"  {name:24s} {value:7.2f} ms  took {statistics.median(took[name]):5.1f}  {ratios}")


def print_many_clients(store: Store, corpus: Corpus, requests: int) -> None:
    """Print milliseconds a question, clients working at once, each contender in turn, thrice."""
    every = contenders(store, corpus)
    chosen = ["usual-100", "ten lists dense+sparse", "ten lists dense+lexical", "search dense+lexical"]
    questions = list(islice(cycle(query for _, query in corpus.questions), requests))
    for clients in CLIENTS:
        rates: dict[str, list[float]] = {name: [] for name in chosen}
        with ThreadPoolExecutor(clients) as pool:
            for _ in range(3):
                for name in chosen:
                    started = time.perf_counter()
                    list(pool.map(every[name], questions))
                    rates[name].append(1000 * (time.perf_counter() - started) / requests)
        base = statistics.median(rates[chosen[0]])
        shown = ", ".join(
            f"{name} {statistics.median(values):.2f} ms ({statistics.median(values) / base:.2f})"
            for name, values in rates.items()
        )
        print(f"  {clients:2d} clients: {shown}")


def print_bytes(store: Store) -> None:
    """Print the bytes of the set beside those of the plain index."""
    sizes = store.engine.sizes(store.index)
    name = store.plain[PARENT]
    answer = store.connection.call("GET", f"/{name}/_stats/store").body
    plain = answer["indices"][name]["primaries"]["store"]["size_in_bytes"]
    whole = sum(size.bytes for size in sizes.values())
    print(
        f"  bytes: set {whole / 2**20:.0f} MiB, plain of 8 sentences {plain / 2**20:.0f} MiB, ratio {whole / plain:.2f}"
    )
    for name, size in sizes.items():
        print(f"    {name}: {size.entries} entries, {size.bytes / 2**20:.1f} MiB")


def main() -> None:
    """Print tables, a server after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("servers", nargs="+")
    parser.add_argument("--chunks", type=int, default=50_000, help="windows of the finest granularity")
    parser.add_argument("--rounds", type=int, default=200, help="questions that one client asks each contender")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "umg-bench")
    arguments = parser.parse_args()
    corpus = encoded_corpus(arguments.dataset, 100, arguments.cache)
    for address in arguments.servers:
        store = stored(address, corpus, arguments.chunks)
        print_bytes(store)
        print_one_client(store, corpus, arguments.rounds)
        print_many_clients(store, corpus, arguments.rounds)
        names = store.engine._names
        for name in (*names.of_set(store.index).values(), names.documents, *store.plain.values()):
            store.connection.call("DELETE", f"/{name}")


if __name__ == "__main__":
    main()
