"""Print the bytes of index sets beside those of one plain index of 8-sentence chunks with text and vector.

`python -m bench.bytes ../shared/data/chunking_eval_docs http://SERVER... [--chunks 3000]`

Primary shards, merged, after the servers dropped what they keep for replicas for a while.
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.beside import Store, removed, stored
from bench.evaluation import Corpus, encoded_corpus
from umg_search.granularity import PARENT, Expert
from umg_search.settings import DERIVED, PRESETS

EXPERTS = ((Expert.DENSE, Expert.LEXICAL), (Expert.DENSE, Expert.SPARSE), tuple(Expert))


def narrowed(corpus: Corpus, preset: str, experts: tuple[Expert, ...]) -> Corpus:
    """Return the corpus for a set of fewer granularities and experts."""
    spec = replace(
        corpus.spec,
        granularities=PRESETS[preset],
        derived=DERIVED.get(preset, ()),
        experts=experts,
        sparse=corpus.spec.sparse if Expert.SPARSE in experts else None,
    )
    documents = corpus.documents if spec.sparse else [replace(document, sparse={}) for document in corpus.documents]
    return replace(corpus, spec=spec, documents=documents)


def print_bytes(store: Store, what: str) -> None:
    """Print the bytes of the set beside those of the plain index."""
    sizes = store.engine.sizes(store.index)
    name = store.plain[PARENT]
    answer = store.connection.call("GET", f"/{name}/_stats/store").body
    plain = answer["indices"][name]["primaries"]["store"]["size_in_bytes"]
    whole = sum(size.bytes for size in sizes.values())
    parts = ", ".join(f"{name.split('-')[1]} {size.bytes / 2**20:.2f}" for name, size in sizes.items())
    print(f"  {what:28s} {whole / plain:5.2f} times the {plain / 2**20:.2f} MiB of the plain index (MiB: {parts})")


def main() -> None:
    """Print a line a set, a server after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("servers", nargs="+")
    parser.add_argument("--chunks", type=int, default=3_000, help="windows of the finest granularity")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "umg-bench")
    arguments = parser.parse_args()
    corpus = encoded_corpus(arguments.dataset, 1, arguments.cache)
    for address in arguments.servers:
        for experts in EXPERTS:
            for preset in PRESETS:
                store = stored(address, narrowed(corpus, preset, experts), arguments.chunks)
                print_bytes(store, f"{preset} {'+'.join(experts)}")
                removed(store)


if __name__ == "__main__":
    main()
