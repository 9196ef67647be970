"""Evaluations made by hand: figures as they are given, without an index."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from umg_search.evaluation.judging import MEASURES, Judged
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.running import ChannelFigures, Evaluation, QuestionFigures
from umg_search.granularity import Channel


def method(name: str, *, ours: bool = False) -> Any:
    return SimpleNamespace(name=name, about=f"about {name}", channels=(), ours=ours, fixed_k=5)


def figures(
    question: Question,
    recalls: Mapping[str, float | None],
    channels: Mapping[Channel, ChannelFigures] | None = None,
    returned: Sequence[Span] = (),
) -> QuestionFigures:
    """Return figures of a question at 512 tokens, which have the recall of each method and its square as precision."""
    answers = {
        (name, 512): Judged(
            tuple(returned),
            {
                **dict.fromkeys(MEASURES),
                "recall": recall,
                "precision": None if recall is None else recall**2,
                "tokens": 500.0,
                "contexts": 4.0,
            },
        )
        for name, recall in recalls.items()
    }
    return QuestionFigures(
        question=question,
        encode_ms=1.0,
        retrieve_ms=2.0,
        channels=channels or {},
        ceiling=1.0,
        ceilings=dict.fromkeys(recalls, 1.0),
        rankings=dict.fromkeys(recalls, ()),
        cuts={},
        answers=answers,
        rank_ms=dict.fromkeys(answers, 0.5),
    )


def evaluation(*every: QuestionFigures, ours: Sequence[str] = ("spans",)) -> Evaluation:
    names = [name for name, _ in every[0].answers]
    methods = tuple(method(name, ours=name in ours) for name in names)
    return Evaluation(methods, (512,), every, {name: {} for name in names})


def questions(*metadata: Mapping[str, Any]) -> list[Question]:
    blank = Question("", "what?", answers=("this",))
    return [replace(blank, id=f"q{row}", metadata=each) for row, each in enumerate(metadata)]
