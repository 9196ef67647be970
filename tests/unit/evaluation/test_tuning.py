"""A choice sees only its own questions, claims what they and others confirm, and stays near the defaults."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umg_search.evaluation.space import KNOBS, Space, distance
from umg_search.evaluation.tuning import MOST_SETTINGS, choose, folded, tune
from umg_search.granularity import Expert
from umg_search.model import FloatArray
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search import Cut, CutOn, CutRule, RankingOptions, Selection

EXPERTS = (Expert.DENSE, Expert.LEXICAL)
DEFAULTS = RankingOptions()
SPACE = Space(DEFAULTS, EXPERTS, "recall")
QUESTIONS = 100
TEXTS = [f"question {number}" for number in range(QUESTIONS)]
MINMAX = replace(DEFAULTS, normalisation=Normalisation.MINMAX, temperature=0.2)


@cache
def noise(options: RankingOptions, spread: float = 0.3) -> FloatArray:
    """Return figures that settings change at random, the same each time."""
    seed = np.frombuffer(repr(options).encode().ljust(400)[:400], np.uint8).tolist()
    return np.clip(0.5 + spread * np.random.default_rng(seed).standard_normal(QUESTIONS), 0, 1)


def favouring(wanted: Callable[[RankingOptions], bool], by: float = 0.3) -> Callable[[RankingOptions], FloatArray]:
    """Return figures that are higher by so much for some settings, beside a little noise."""
    base = 0.4 + 0.2 * np.random.default_rng(7).random(QUESTIONS)
    return lambda options: base + by * wanted(options) + noise(options, 0.02) - 0.5


# --- folds ---------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.sampled_from("abcdefghijklmnopqrst"), min_size=20, max_size=60), st.integers(2, 6), st.integers(0, 9)
)
def test_equal_questions_are_in_one_fold_and_folds_are_alike(texts: list[str], folds: int, seed: int) -> None:
    parts = folded(texts, folds, seed)
    by_text = {text: {int(part) for other, part in zip(texts, parts, strict=True) if other == text} for text in texts}
    assert {len(found) for found in by_text.values()} == {1}
    sizes = np.bincount([next(iter(found)) for found in by_text.values()], minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_folds_follow_the_seed() -> None:
    assert (folded(TEXTS, 5, 1) == folded(TEXTS, 5, 1)).all()
    assert (folded(TEXTS, 5, 1) != folded(TEXTS, 5, 2)).any()


# --- the choice ----------------------------------------------------------------------------------------------------


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_what_is_held_out_has_no_part_in_the_choice(part: int, seed: int) -> None:
    """Whatever the figures of the held-out questions are, the others choose the same, after trying the same."""
    figures = favouring(is_minmax, by=0.05)
    out = folded(TEXTS, 5, 0) == part
    random = np.random.default_rng(seed)

    def other(options: RankingOptions) -> FloatArray:
        return np.where(out, random.random(QUESTIONS), figures(options))

    rows = np.flatnonzero(~out)
    assert choose(other, rows, DEFAULTS, SPACE, seed=0) == choose(figures, rows, DEFAULTS, SPACE, seed=0)


def is_minmax(options: RankingOptions) -> bool:
    return options.normalisation is Normalisation.MINMAX


def test_the_folds_of_a_tuning_choose_without_their_questions() -> None:
    """In a fold that likes z-scores, and that by far, min-max is chosen since all others like it."""
    out = folded(TEXTS, 5, 0) == 2
    liked = favouring(is_minmax)
    found = tune(lambda o: np.where(out, 5.0 * (not is_minmax(o)), liked(o)), TEXTS, DEFAULTS, SPACE)
    assert [is_minmax(fold.chosen) for fold in found.folds] == [False, False, True, False, False]
    assert found.folds[2].gain == pytest.approx(0 - 5)


def test_settings_that_no_question_tells_from_the_best_lose_to_the_defaults() -> None:
    """The best by a hair, on noise, is not chosen; the current settings are not either where they are no better."""
    found = choose(noise, np.arange(QUESTIONS), MINMAX, SPACE, seed=0)
    best = max(found.tried, key=lambda options: noise(options).mean())
    assert best != DEFAULTS
    assert found.chosen == DEFAULTS


def test_equal_settings_are_settled_for_the_defaults() -> None:
    flat = np.full(QUESTIONS, 0.5)
    found = tune(lambda _: flat, TEXTS, replace(DEFAULTS, temperature=2.0), SPACE)
    assert found.chosen == DEFAULTS
    assert (found.gain.mean, found.claimed) == (0, False)


def test_of_settings_that_are_alike_the_one_with_fewest_changes_is_chosen() -> None:
    current = replace(DEFAULTS, weighting=Weighting.UNIFORM)
    chosen = choose(
        lambda options: np.full(QUESTIONS, float(is_minmax(options))), np.arange(QUESTIONS), current, SPACE, seed=0
    ).chosen
    assert chosen == replace(DEFAULTS, normalisation=Normalisation.MINMAX)
    assert distance(chosen) == 1


def test_a_search_tries_a_bounded_number_of_settings() -> None:
    space = replace(SPACE, experts=tuple(Expert), measure="ie")
    tried = choose(noise, np.arange(QUESTIONS), DEFAULTS, space, seed=0).tried
    assert len(set(tried)) == len(tried) <= MOST_SETTINGS


def test_the_same_questions_and_seed_give_the_same() -> None:
    assert tune(noise, TEXTS, DEFAULTS, SPACE, seed=3) == tune(noise, TEXTS, DEFAULTS, SPACE, seed=3)


# --- what is claimed -----------------------------------------------------------------------------------------------


def test_a_better_setting_is_found_and_claimed() -> None:
    found = tune(favouring(lambda options: options.select is Selection.CHUNKS), TEXTS, DEFAULTS, SPACE)
    assert found.claimed
    assert found.chosen.select is Selection.CHUNKS
    assert 0.25 < found.gain.low <= found.gain.mean <= found.gain.high < 0.35
    assert found.tried[0][1] >= found.tried[-1][1]


def test_a_setting_that_takes_two_knobs_is_found() -> None:
    def wanted(options: RankingOptions) -> bool:
        return options.select is Selection.PARENTS and options.aggregation is Aggregation.MAX

    def figures(options: RankingOptions) -> FloatArray:
        return favouring(wanted)(options) + 0.1 * (options.select is Selection.PARENTS)

    found = tune(figures, TEXTS, DEFAULTS, SPACE)
    assert (found.claimed, wanted(found.chosen)) == (True, True)


@pytest.mark.parametrize("seed", range(5))
def test_gains_of_noise_are_not_claimed(seed: int) -> None:
    """On all questions the best of many is far above the current settings, by chance alone."""
    found = tune(lambda options: np.roll(noise(options), seed), TEXTS, DEFAULTS, SPACE, seed=seed)
    assert found.tried[0][1] - noise(DEFAULTS).mean() > 0.03
    assert not found.claimed


def test_a_gain_in_the_folds_without_other_settings_at_the_end_is_none() -> None:
    """Current settings that are the choice are kept, whatever the folds say."""
    found = tune(favouring(lambda options: options == DEFAULTS), TEXTS, DEFAULTS, SPACE)
    assert (found.chosen, found.claimed) == (DEFAULTS, False)


# --- the space -----------------------------------------------------------------------------------------------------

CURRENT = st.builds(
    RankingOptions,
    select=st.sampled_from(Selection),
    weighting=st.sampled_from(Weighting),
    alpha=st.sampled_from([0.0, 0.5]),
    floor=st.sampled_from([0, 16]),
    aggregation=st.sampled_from(Aggregation),
    cut=st.sampled_from([None, Cut(CutRule.GAPR), Cut(CutRule.GAPR, on=CutOn.RUNS)]),
    experts=st.sampled_from([None, EXPERTS, (Expert.DENSE,)]),
    top_k=st.sampled_from([None, 0, 3]),
    budget=st.sampled_from([256, 512]),
)


@settings(deadline=None)
@given(CURRENT)
def test_all_settings_that_are_tried_share_budget_and_number(current: RankingOptions) -> None:
    space = Space(current, EXPERTS, "ie")
    tried = [other for knob in space.knobs for other in space.around(space.plain(current), knob)]
    assert {other.budget for other in tried} == {current.budget}
    assert {other.limit for other in tried} == {current.top_k or None}


@settings(deadline=None)
@given(CURRENT)
def test_what_has_no_effect_makes_no_difference(current: RankingOptions) -> None:
    space = Space(current, EXPERTS, "ie")
    plain = space.plain(current)
    assert space.plain(plain) == plain
    assert plain == space.plain(replace(current, experts=None if current.experts == EXPERTS else current.experts))
    if current.select is Selection.SPANS:
        assert plain == space.plain(replace(current, alpha=0.9, floor=7, aggregation=Aggregation.SUM))


def test_the_defaults_are_at_no_distance_and_each_knob_counts_once() -> None:
    assert distance(SPACE.defaults) == 0
    assert distance(MINMAX) == 2
    assert set(KNOBS) == set(SPACE.knobs) | {"temperature", "cut"}


def test_cuts_are_tried_only_where_less_can_be_better_or_there_is_one() -> None:
    assert "cut" not in SPACE.knobs
    assert "cut" in replace(SPACE, measure="precision").knobs
    cut = replace(DEFAULTS, cut=Cut(CutRule.GAPR))
    assert "cut" in Space(cut, EXPERTS, "recall").knobs
    assert DEFAULTS in Space(cut, EXPERTS, "recall").around(cut, "cut")


def test_every_part_of_the_experts_is_tried() -> None:
    found = [other.experts for other in replace(SPACE, experts=tuple(Expert)).around(DEFAULTS, "experts")]
    assert found[0] is None
    assert len(set(found)) == len(found) == 2**3 - 1
