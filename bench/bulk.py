"""Print the rate of bulk ingestion by a worker beside that of the bare model on the same windows, and its memory.

`python -m bench.bulk ../shared/data/hotpotqa SERVER BROKER [--documents 2000] [--experts dense,lexical]`

Documents are submitted, then one worker with one child stores them. The rate counts from the first document that is
searchable, so without loading the model, to the last. The bare model reads windows of the same documents before and
after, in the best of several batch sizes; the mean of both counts, since machines are not equally fast all the time.
Then the same documents in this process, for the share of time that each stage takes (writing goes on beside encoding).
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.evaluation import read_documents, settings
from bench.ingest import BATCHES, KINDS, timed
from ingest import pipeline
from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from ingest.services import ingest_service, submit_service
from tasks.app import make_app
from tasks.sender import CelerySender
from umg_search.encoding.models import load
from umg_search.granularity import FINEST
from umg_search.model import Document, DocumentState
from umg_search.ports import Engine
from umg_search.settings import Settings, plain
from umg_search.windows import windows
from umg_search.wiring import new_set, open_engine, open_queue

SAMPLE = 300
"""Documents whose windows the bare model reads."""

UMG = (sys.executable, "-c", "from umg_search.cli import main; main()")
PATIENCE_S = 1_800


def windows_of(documents: Sequence[Document], chosen: Settings) -> list[str]:
    """Return the texts of the finest windows."""
    _, encoders = new_set(chosen)
    split = split_documents(documents, encoders.counter, SentenceOptions())
    return [s.text_of(*window).strip() for s in split for window in windows(s.sentences, FINEST)]


def bare_rate(texts: Sequence[str], chosen: Settings) -> float:
    """Return the windows a second of the bare models, one after the other."""
    seconds = 0.0
    for expert, kind in KINDS.items():
        if expert in chosen.experts.split(","):
            model = load(chosen.dense_model if expert == "dense" else chosen.sparse_model, "cpu", kind)
            model.encode_document(texts[:64])
            seconds += min(
                timed(lambda size=size, model=model: model.encode_document(texts, batch_size=size))  # type: ignore[misc]
                for size in BATCHES
            )
    return len(texts) / seconds


def submitted(chosen: Settings, engine: Engine, documents: Sequence[Document]) -> str:
    """Submit documents and return the id of the submission."""
    queue = open_queue(chosen)
    service = submit_service(chosen, engine, queue, CelerySender(make_app(chosen), chosen))
    started = time.perf_counter()
    reports = list(service.submit(documents))
    print(f"submitted: {len(reports)} documents in {time.perf_counter() - started:.1f} s")
    return reports[0].batch


@contextmanager
def worker(chosen: Settings) -> Iterator[int]:
    """Run a worker with one child and give its process id."""
    values = {f"UMG_{name.upper()}": str(plain(value)) for name, value in chosen.model_dump(exclude_unset=True).items()}
    process = subprocess.Popen([*UMG, "worker"], env=os.environ | values, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def followed(engine: Engine, batch: str, parent: int) -> tuple[float, list[tuple[int, float]]]:
    """Wait until all documents are done; return documents a second, and memory of the child by documents done."""
    seen: list[tuple[float, int]] = []
    memory: list[tuple[int, float]] = []
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        counts = engine.states(batch=batch)
        done = counts.get(DocumentState.SEARCHABLE, 0)
        if done and (not seen or done > seen[-1][1]):
            seen.append((time.monotonic(), done))
            memory.append((done, _resident(parent)))
        if set(counts) <= {DocumentState.SEARCHABLE, DocumentState.FAILED}:
            break
        time.sleep(0.25)
    (start, first), (end, last) = seen[0], seen[-1]
    return (last - first) / (end - start), memory


def _resident(parent: int) -> float:
    """Return the MiB of memory that the largest child of a process has."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    statuses = [Path(f"/proc/{child}/status").read_text(encoding="utf-8") for child in children]
    sizes = [int(line.split()[1]) for text in statuses for line in text.splitlines() if line.startswith("VmRSS")]
    return max(sizes, default=0) / 1024


def stages(chosen: Settings, documents: Sequence[Document]) -> tuple[float, Counter[str]]:
    """Store documents in this process; return the seconds in all, and by stage."""
    engine = open_engine(chosen)
    service = ingest_service(chosen, engine)
    service._encoders.encode_query("warm")
    spent: Counter[str] = Counter()

    def clocked(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*arguments, **options)
            finally:
                spent[name] += time.perf_counter() - started

        return run

    pipeline.split_documents = clocked("split", pipeline.split_documents)
    service._encoders.encode = clocked("encode", service._encoders.encode)  # type: ignore[method-assign]
    service._writer.replace = clocked("write", service._writer.replace)  # type: ignore[method-assign]
    service._writer.seen = clocked("read the ledger", service._writer.seen)  # type: ignore[method-assign]
    return timed(lambda: list(service.ingest(documents))), spent


def main() -> None:
    """Print the rate and its ratio, memory, and stages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("server")
    parser.add_argument("broker")
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--experts", default="dense,lexical")
    arguments = parser.parse_args()
    chosen = settings(
        experts=arguments.experts,
        engine=arguments.server,
        broker=arguments.broker,
        prefix=f"b{uuid4().hex[:8]}",
        replicas=0,
    )
    documents = read_documents(arguments.dataset)[: arguments.documents]
    sample = windows_of(documents[:SAMPLE], chosen)
    share = len(sample) / SAMPLE
    before = bare_rate(sample, chosen)
    engine = open_engine(chosen)
    batch = submitted(chosen, engine, documents)
    with worker(chosen) as parent:
        rate, memory = followed(engine, batch, parent)
    after = bare_rate(sample, chosen)
    bare = statistics.mean((before, after))
    print(f"worker {rate * share:.0f} windows/s ({rate:.1f} documents/s), bare {before:.0f} and {after:.0f} windows/s")
    print(f"ratio {rate * share / bare:.2f} of the bare model's rate")
    print("memory of the child, MiB by documents done: " + ", ".join(f"{n}: {size:.0f}" for n, size in memory))
    direct = chosen.model_copy(update={"prefix": f"b{uuid4().hex[:8]}"})
    seconds, spent = stages(direct, documents[:SAMPLE])
    print(
        f"stages of {SAMPLE} documents in {seconds:.1f} s: "
        + ", ".join(f"{name} {part / seconds:.0%}" for name, part in spent.items())
    )


if __name__ == "__main__":
    main()
