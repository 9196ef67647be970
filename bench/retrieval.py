"""Print what retrieval costs beside one kNN search as people usually write it, on servers, in one interleaved run.

`python -m bench.retrieval ../shared/data/chunking_eval_docs http://SERVER... [--chunks 50000]`

The corpus is a real one, enlarged (bench/enlarged.py). Contenders, question by question in turn:
usual-10, usual-100  one kNN search, k = 100, over an index of the finest chunks that holds vector and text: `_id` and
                     text returned, the vector left out of the answer, at size 10 and 100
own-shape            one kNN search at the finest granularity in the shape of our own requests
ten lists, lean      the retrieval of all channels, of all granularities and of the `lean` ones
derived              the retrieval of a set that indexes the finest windows alone, five times as deep
search               SearchService.search less the encoding of the question
All indices are merged into one segment. Milliseconds are medians at the client; `took` is the server's own figure.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bench.beside import Store, removed, stored
from bench.bytes import narrowed
from bench.evaluation import Corpus, encoded_corpus
from umg_search.granularity import FINEST, Expert
from umg_search.model import EncodedQuery, IndexSet
from umg_search.ports import Scope
from umg_search.search import Query, SearchService
from umg_search.search.deriving import DEEPER
from umg_search.settings import PRESETS
from umg_search.store.dialect import ELASTICSEARCH
from umg_search.store.reader import Reader

DEPTH = 100
CLIENTS = (1, 4, 16)
PAIRS = {"dense+sparse": (Expert.DENSE, Expert.SPARSE), "dense+lexical": (Expert.DENSE, Expert.LEXICAL)}
Contender = Callable[[EncodedQuery], object]


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


def lists(store: Store, experts: Sequence[Expert], granularities: Iterable[int], depth: int = DEPTH) -> Contender:
    """Return the retrieval of some channels in one request of ours."""
    spec = replace(store.index.spec, experts=tuple(experts), granularities=tuple(granularities))
    index = replace(store.index, spec=spec)
    return lambda query: store.engine.ranked_lists(index, query, depth=depth, scope=Scope())


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


def contenders(store: Store, deriving: Store, corpus: Corpus) -> dict[str, Contender]:
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
        found[f"derived {name}"] = lists(deriving, experts, PRESETS["derived"], DEEPER * DEPTH)
        found[f"search {name}"] = whole_search(store, corpus, experts)
    return found


def print_one_client(store: Store, deriving: Store, corpus: Corpus, rounds: int) -> None:
    """Print medians of all contenders, asked in turn, and their ratios to the first."""
    every = contenders(store, deriving, corpus)
    samples: dict[str, list[float]] = {name: [] for name in every}
    took: dict[str, list[int]] = {name: [] for name in every}
    for number, query in enumerate(islice(cycle(query for _, query in corpus.questions), rounds)):
        for name, ask in every.items():
            store.connection.took.clear()
            deriving.connection.took.clear()
            started = time.perf_counter()
            ask(query)
            if number >= rounds // 10:  # the first tenth warms both sides
                samples[name].append(1000 * (time.perf_counter() - started))
                took[name].append(sum(store.connection.took) + sum(deriving.connection.took))
    medians = {name: statistics.median(values) for name, values in samples.items()}
    for name, value in medians.items():
        ratios = "  ".join(f"/ {base} {value / medians[base]:5.2f}" for base in ("usual-100", "usual-10", "own-shape"))
        print(f"  {name:24s} {value:7.2f} ms  took {statistics.median(took[name]):5.1f}  {ratios}")


def print_many_clients(store: Store, deriving: Store, corpus: Corpus, requests: int) -> None:
    """Print milliseconds a question, clients working at once, each contender in turn, thrice."""
    every = contenders(store, deriving, corpus)
    chosen = [
        *("usual-100", "ten lists dense+sparse", "derived dense+sparse"),
        *("ten lists dense+lexical", "derived dense+lexical", "search dense+lexical"),
    ]
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
        deriving = stored(address, narrowed(corpus, "derived", tuple(Expert)), arguments.chunks)
        print_one_client(store, deriving, corpus, arguments.rounds)
        print_many_clients(store, deriving, corpus, arguments.rounds)
        removed(store)
        removed(deriving)


if __name__ == "__main__":
    main()
