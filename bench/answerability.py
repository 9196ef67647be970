"""How well signs tell questions without an answer: `python -m bench.answerability SETS --cache FOLDER [--questions N]`.

Of each set, questions with an answer are compared with its own unanswerable ones, where it has any, and with those that
were made up (`bench/unanswerable.py`), all together and kind by kind.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import unanswerable
from bench.evaluation import settings
from umg_search.evaluation.answerability import Answerability, answerability
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.datasets import read_dataset
from umg_search.evaluation.indexing import write
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.questions import Question
from umg_search.evaluation.scoping import Place, Scoping
from umg_search.evaluation.service import target_of
from umg_search.search import RankingOptions
from umg_search.store.reader import Reader
from umg_search.wiring import open_engine


def groups(own: Sequence[Question]) -> Iterator[tuple[str, list[Question]]]:
    """Yield questions without an answer, by what they are called."""
    yield "its own", [question for question in own if question.unanswerable]
    made = unanswerable.questions()
    yield "made up", made
    for kind in unanswerable.KINDS:
        yield kind, [question for question in made if question.metadata["kind"] == kind]


def measured(folder: Path, cache: Path, limit: int) -> Iterator[tuple[str, Answerability]]:
    """Yield how well signs tell each group of questions from a sample of those with an answer."""
    data = read_dataset(folder)
    answered = tuple(question for question in data.questions if question.judged and not question.unanswerable)
    sample = replace(data, questions=answered).sample(limit, 0).questions
    with Cache(cache) as kept:
        target = target_of(data, settings(experts="dense,lexical", sparse_model=""), kept)
        engine = open_engine(target.settings)
        try:
            write(engine, target.own, target.settings, _quiet)
            index = Reader(engine).active_set()
            listing = Listing(engine, index, target.own.encoders, kept, depth=RankingOptions().depth)
            for name, others in groups(data.questions):
                found = answerability([*sample, *others], listing, Place(Scoping.ALL), _quiet)
                if found:
                    yield name, found
        finally:
            engine.close()


def main() -> None:
    """Print a table a set and group, best signs first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    for folder in given.sets:
        for name, found in measured(folder, given.cache, given.questions):
            print(f"\n{folder.name}: {found.answerable} with an answer, {found.unanswerable} without ({name})")
            for sign, value in sorted(found.signs.items(), key=lambda item: -item[1].auroc):
                interval = f"[{value.low:.3f}, {value.high:.3f}]"
                at = f"at {value.threshold:.3f} refuses {value.true_refusals:.2f}, falsely {value.false_refusals:.2f}"
                print(f"{sign:20s} {value.auroc:.3f} {interval} {at}", flush=True)


def _quiet(stage: str, done: int, total: int) -> None:
    del stage, done, total


if __name__ == "__main__":
    main()
