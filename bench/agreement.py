"""Print how well engines agree on real questions, and the recall of each selection.

`python -m bench.agreement ../shared/data/chunking_eval_docs ENGINE...` with engines as in UMG_ENGINE; without any, the
embedded engine alone.
"""

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from bench.evaluation import Corpus, by_id, encoded_corpus
from umg_search.evaluation.metrics import coverage
from umg_search.evaluation.questions import Question, Span
from umg_search.granularity import Expert
from umg_search.model import EncodedDocument, EncodedQuery, IndexSet, RankedList, Selected, document_of
from umg_search.ports import Engine, Scope
from umg_search.search import RankingOptions, Selection, rank
from umg_search.settings import Settings
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

EXPERTS = {
    "dense + sparse": (Expert.DENSE, Expert.SPARSE),
    "dense + lexical": (Expert.DENSE, Expert.LEXICAL),
    "lexical": (Expert.LEXICAL,),
}
Lists = Sequence[Sequence[RankedList]]


def written(engine: Engine, corpus: Corpus) -> IndexSet:
    """Store the corpus in an engine."""
    writer = Writer(engine)
    index = writer.prepare(corpus.spec)
    started = time.perf_counter()
    for first in range(0, len(corpus.documents), 8):
        failed = [r for r in writer.replace(index, corpus.documents[first : first + 8]) if r.reason]
        if failed:
            raise SystemExit(f"{failed[0].document_id}: {failed[0].reason}")
    print(f"{engine.info().name} {engine.info().version}: written in {time.perf_counter() - started:.1f} s")
    return index


def lists_of(engine: Engine, index: IndexSet, queries: Iterable[EncodedQuery], depth: int) -> Lists:
    """Return the ranked lists of questions, one after the other."""
    answers = [engine.ranked_lists(index, query, depth=depth, scope=Scope()) for query in queries]
    failures = {str(c): why for answer in answers for c, why in answer.failed.items()}
    if failures:
        raise SystemExit(f"failed: {failures}")
    return [answer.lists for answer in answers]


def kept(lists: Sequence[RankedList], experts: Sequence[Expert], options: RankingOptions) -> tuple[Selected, ...]:
    """Return what is selected from the lists of some experts."""
    return rank([ranked for ranked in lists if ranked.channel.expert in experts], options).kept


def sentences(selected: Sequence[Selected]) -> set[tuple[bytes, int]]:
    """Return the sentences that are returned."""
    return {(document_of(item.version), i) for item in selected for i in range(item.first, item.last)}


def agreement(a: Lists, b: Lists, experts: Sequence[Expert]) -> list[float]:
    """Return the Jaccard index of the sentences that two engines return, question by question."""
    options = RankingOptions()
    pairs = [
        (sentences(kept(x, experts, options)), sentences(kept(y, experts, options))) for x, y in zip(a, b, strict=True)
    ]
    return [len(x & y) / len(x | y) if x | y else 1.0 for x, y in pairs]


def recalls(lists: Lists, corpus: Corpus, experts: Sequence[Expert], options: RankingOptions) -> float:
    """Return the mean evidence recall of a selection."""
    texts = by_id(corpus.documents)

    def one(question: Question, found: Sequence[RankedList]) -> float:
        returned = [_span(item, texts) for item in kept(found, experts, options)]
        return coverage(question.evidence, returned, question.mode).recall

    return statistics.mean(one(question, found) for (question, _), found in zip(corpus.questions, lists, strict=True))


def _span(item: Selected, texts: Mapping[bytes, EncodedDocument]) -> Span:
    split = texts[document_of(item.version)].split
    return Span(split.document.key, split.bounds[item.first], split.bounds[item.last])


def main() -> None:
    """Print agreement with the first engine, then recall by experts, selection and budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("engines", nargs="*")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "umg-bench")
    parser.add_argument("--encoding", default="composed")
    arguments = parser.parse_args()
    corpus = encoded_corpus(arguments.dataset, arguments.questions, arguments.cache, encoding=arguments.encoding)
    found: dict[str, Lists] = {}
    for address in arguments.engines or [f"embedded:{tempfile.mkdtemp()}/index"]:
        engine = open_engine(Settings(engine=address, prefix=f"b{uuid4().hex[:8]}", replicas=0))
        queries = [query for _, query in corpus.questions]
        found[f"{engine.info().name} {engine.info().version}"] = lists_of(engine, written(engine, corpus), queries, 100)
        engine.close()
    for (one, a), (two, b) in itertools.combinations(found.items(), 2):
        for name, experts in EXPERTS.items():
            shares = agreement(a, b, experts)
            high = sum(share >= 0.95 for share in shares)
            print(f"{one} ~ {two}, {name:15s} mean {statistics.mean(shares):.4f}, >= 0.95 for {high} of {len(shares)}")
    for engine_name, lists in found.items():
        for name, experts in EXPERTS.items():
            for selection in Selection:
                figures = []
                for budget in (256, 512, 1024):
                    options = RankingOptions(select=selection, budget=budget, top_k=0)
                    figures.append(f"{budget}: {recalls(lists, corpus, experts, options):.3f}")
                print(f"{engine_name}, {name:15s} {selection.value:8s} recall at {', '.join(figures)}")


if __name__ == "__main__":
    main()
