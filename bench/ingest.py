"""Print seconds of an ingest beside seconds of the bare model on the same windows, each encoder apart.

`python -m bench.ingest ../shared/data/chunking_eval_docs [ENGINE...]`, engines as in UMG_ENGINE; the embedded one where
none is named. Ingest = split, encode, compose, write, publish; models are loaded before. The bare model reads the
2-sentence windows in the best of several batch sizes, sorted by length by the library.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import uuid4

from bench.evaluation import read_documents, settings
from ingest.chunks import split_documents
from ingest.pipeline import IngestService
from ingest.sentences import SentenceOptions
from umg_search.encoding.models import load
from umg_search.granularity import FINEST
from umg_search.model import Document, Outcome
from umg_search.store.writer import Writer
from umg_search.windows import windows
from umg_search.wiring import new_set, open_engine

BATCHES = (16, 32, 64, 128)
KINDS = {"dense": "SentenceTransformer", "sparse": "SparseEncoder"}


def timed(action: Callable[[], object]) -> float:
    """Return the wall-clock seconds of an action."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def ingest_seconds(documents: Sequence[Document], expert: str, engine_address: str) -> float:
    """Return the seconds of a whole ingest with one expert; the model is loaded and warm."""
    chosen = settings(experts=expert, engine=engine_address, prefix=f"b{uuid4().hex[:8]}", replicas=0)
    engine = open_engine(chosen)
    spec, encoders = new_set(chosen)
    encoders.encode_query("warm")
    service = IngestService(
        Writer(engine), encoders, spec, sentences=SentenceOptions(), batch_chars=chosen.ingest_batch_chars
    )

    def ingest() -> None:
        failed = [report for report in service.ingest(documents) if report.outcome is Outcome.FAILED]
        if failed:
            raise SystemExit(failed[0].reason)

    seconds = timed(ingest)
    engine.close()
    return seconds


def bare_seconds(documents: Sequence[Document], expert: str) -> float:
    """Return the least seconds of the bare model on the finest windows."""
    chosen = settings(experts=expert)
    _, encoders = new_set(chosen)
    split = split_documents(documents, encoders.counter, SentenceOptions())
    texts = [s.text_of(*window).strip() for s in split for window in windows(s.sentences, FINEST)]
    model = load(chosen.dense_model if expert == "dense" else chosen.sparse_model, "cpu", KINDS[expert])
    model.encode_document(texts[:64])
    seconds = {size: timed(lambda size=size: model.encode_document(texts, batch_size=size)) for size in BATCHES}  # type: ignore[misc]
    print(f"{expert}: {len(texts)} windows; bare " + ", ".join(f"{b}: {s:.1f} s" for b, s in seconds.items()))
    return min(seconds.values())


def main() -> None:
    """Print one ratio an expert and engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--characters", type=int, default=250_000, help="about how much text")
    arguments = parser.parse_args()
    documents = read_documents(arguments.dataset)
    total = itertools.accumulate(len(document.text) for document in documents)
    documents = [document for document, size in zip(documents, total, strict=True) if size <= arguments.characters]
    for expert in KINDS:
        bare = bare_seconds(documents, expert)
        for address in arguments.engines or [f"embedded:{tempfile.mkdtemp()}/index"]:
            seconds = ingest_seconds(documents, expert, address)
            ratio = f"ingest {seconds:.1f} s / bare {bare:.1f} s = {seconds / bare:.2f}"
            print(f"{expert}, {address.partition(':')[0]}: {ratio}")


if __name__ == "__main__":
    main()
