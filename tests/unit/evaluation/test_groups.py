from dataclasses import replace

import pytest

from tests.unit.evaluation.made import evaluation, figures, questions
from umg_search.evaluation.groups import (
    LEAST_QUESTIONS,
    LEVEL,
    MISSING,
    MOST_VALUES,
    channel_means,
    groups,
    main_dimension,
    mean_of,
)
from umg_search.evaluation.running import ChannelFigures
from umg_search.granularity import Channel, Expert, Granularity

DENSE, LEXICAL = (Channel(expert, Granularity.G8) for expert in (Expert.DENSE, Expert.LEXICAL))


def test_questions_are_grouped_by_all_that_brings_them_together() -> None:
    metadata = [
        {"language": "en", "domain": "law", "type": "hop" if i % 3 else "fact", "id": f"{i}"} for i in range(12)
    ]
    found = groups(questions(*metadata))
    assert [(group.dimension, group.value, len(group.rows)) for group in found] == [
        ("type", "hop", 8),
        ("type", "fact", 4),
    ]
    assert found[1].rows == (0, 3, 6, 9)
    assert main_dimension(found) == "type"


def test_language_and_level_come_first() -> None:
    metadata = [{"zone": i % 2, "language": ("en", "de")[i % 2]} for i in range(2 * LEAST_QUESTIONS)]
    own = [replace(q, level=("span", "sentence")[i % 2]) for i, q in enumerate(questions(*metadata))]
    assert list(dict.fromkeys(group.dimension for group in groups(own))) == ["language", LEVEL, "zone"]


@pytest.mark.parametrize(
    "values",
    [
        ["same"] * 40,
        [str(i % (MOST_VALUES + 1)) for i in range(200)],
        [str(i % 9) for i in range(9 * LEAST_QUESTIONS - 1)],
        ["a long sentence, which nobody would call a name", "b"] * 20,
        [["a"], ["b"]] * 20,
        [0.5, 1.5] * 20,
    ],
)
def test_what_tells_questions_apart_is_no_group(values: list[object]) -> None:
    assert groups(questions(*({"x": value} for value in values))) == ()


def test_the_place_of_a_question_is_no_property() -> None:
    assert groups(questions(*({"scope_doc_id": "ab"[i % 2]} for i in range(20)))) == ()


def test_questions_that_do_not_tell_are_a_group_too() -> None:
    found = groups(questions(*[{"complete": True}] * 6, *[{}] * 5))
    assert [(group.value, len(group.rows)) for group in found] == [("yes", 6), (MISSING, 5)]


def test_means_are_over_the_questions_of_a_group_that_allow_the_measure() -> None:
    asked = questions(*({"type": "ab"[i % 2]} for i in range(10)))
    values = [0.0, 1.0, 0.5, None, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    made = evaluation(*(figures(q, {"spans": value}) for q, value in zip(asked, values, strict=True)))
    a, b = groups(asked)
    assert mean_of(made, a, "spans", 512, "recall") == (0.0 + 0.5 + 1.0 + 0.0 + 1.0) / 5
    assert mean_of(made, b, "spans", 512, "recall") == (1.0 + 1.0 + 0.0 + 0.0) / 4


def test_a_channel_that_found_nothing_weighs_nothing() -> None:
    one, other = questions({}, {})
    both = {DENSE: ChannelFigures(0.2, 0.25), LEXICAL: ChannelFigures(0.6, 0.75)}
    found = channel_means(
        [figures(one, {"spans": 1.0}, both), figures(other, {"spans": 1.0}, {DENSE: ChannelFigures(0.4, 1.0)})]
    )
    assert found[DENSE].weight == (0.25 + 1.0) / 2
    assert found[DENSE].confidence == pytest.approx((0.2 + 0.4) / 2)
    assert (found[LEXICAL].weight, found[LEXICAL].confidence) == (0.75 / 2, 0.6)
