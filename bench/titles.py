"""What titles are worth: evidence recall at 512 tokens by their weight in lexical search.

python -m bench.titles DATASET [--questions 200] [--weights 0 0.2 0.5 1]
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.agreement import EXPERTS, lists_of, recalls, written
from bench.evaluation import Corpus, encoded_corpus
from umg_search.model import IndexSet
from umg_search.ports import Engine
from umg_search.search import RankingOptions, Selection
from umg_search.settings import Settings
from umg_search.wiring import open_engine

BUDGET = 512


def measured(engine: Engine, index: IndexSet, corpus: Corpus, weight: float) -> dict[str, float]:
    """Return the recall of each selection under one weight, for dense + lexical lists."""
    lists = lists_of(engine, index, [replace(query, title_weight=weight) for _, query in corpus.questions], 100)
    return {
        selection.value: recalls(
            lists, corpus, EXPERTS["dense + lexical"], RankingOptions(select=selection, budget=BUDGET, top_k=0)
        )
        for selection in Selection
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print recall by weight and selection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--weights", type=float, nargs="+", default=[0, 0.1, 0.2, 0.5, 1])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "umg-bench")
    given = parser.parse_args(arguments)
    corpus = encoded_corpus(given.dataset, given.questions, given.cache)
    engine = open_engine(Settings(engine=f"embedded:{tempfile.mkdtemp()}/index"))
    index = written(engine, corpus)
    for weight in given.weights:
        figures = measured(engine, index, corpus, weight)
        print(f"title weight {weight:.2f}: " + ", ".join(f"{name} {value:.3f}" for name, value in figures.items()))
    engine.close()


if __name__ == "__main__":
    main()
