"""Tuning: settings are chosen on some questions and judged on others.

Source: cross-validation of the whole choice (Stone 1974; Varma & Simon 2006): a question never takes part in the choice
of the settings that it judges.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from umg_search.errors import DatasetError
from umg_search.evaluation.bootstrap import Difference, difference
from umg_search.evaluation.space import Space, distance
from umg_search.model import FloatArray, IntArray
from umg_search.search import RankingOptions

FOLDS = 5

LEAST_QUESTIONS = 20
"""Fewer do not tell settings apart: of 20, one question that changes from 0 to 1 moves the mean by 0.05."""

MOST_SETTINGS = 100
"""Settings that one search tries. It is a bound of each search alone: a common one would let what was tried for other
folds, on questions that are held out here, decide what is tried here."""

SWEEPS = 3
"""How often a search goes through all knobs; it ends earlier where a sweep changes nothing."""

Figures = Callable[[RankingOptions], FloatArray]
"""Gives the measure of settings, question by question, of shape (questions,)."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What was chosen without some questions, how many these are, and its gain on them over the current settings."""

    chosen: RankingOptions
    questions: int
    gain: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """What is chosen on all questions, and what such a choice gains on questions that had no part in it.

    `tried` are all settings that the choice was made from, with their means over all questions, best first.
    """

    current: RankingOptions
    chosen: RankingOptions
    gain: Difference
    folds: tuple[Fold, ...]
    tried: tuple[tuple[RankingOptions, float], ...]

    @property
    def claimed(self) -> bool:
        """Whether there is a gain to speak of: other settings, and an interval that lies above 0."""
        return self.chosen != self.current and self.gain.low > 0


def tune(
    figures: Figures, texts: Sequence[str], current: RankingOptions, space: Space, *, folds: int = FOLDS, seed: int = 0
) -> Tuned:
    """Choose settings on all questions, whose `texts` are given, and judge such choices fold by fold."""
    parts = folded(texts, folds, seed)
    held = np.zeros(len(texts))
    found: list[Fold] = []
    before = figures(current)
    for part in range(folds):
        out = parts == part
        fold_choice = choose(figures, np.flatnonzero(~out), current, space, seed=seed)
        held[out] = figures(fold_choice.chosen)[out]
        found.append(Fold(fold_choice.chosen, int(out.sum()), float((held - before)[out].mean())))
    final = choose(figures, np.arange(len(texts)), current, space, seed=seed)
    tried = sorted(((options, float(figures(options).mean())) for options in final.tried), key=lambda item: -item[1])
    return Tuned(current, final.chosen, _compared(held, before, seed), tuple(found), tuple(tried))


def folded(texts: Sequence[str], folds: int, seed: int) -> IntArray:
    """Return the fold of each question, of shape (questions,); equal questions are in one fold, sizes are alike."""
    distinct, number = np.unique(np.array([plain(text) for text in texts]), return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    fold: IntArray = order[number] % folds
    return fold


def plain(text: str) -> str:
    """Return a question as it is compared with others: white space does not make it another one."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Choice:
    """The settings that are chosen, of those that were tried."""

    chosen: RankingOptions
    tried: tuple[RankingOptions, ...]


def choose(figures: Figures, rows: IntArray, current: RankingOptions, space: Space, *, seed: int) -> Choice:
    """Return the settings that some questions speak for, and no others are looked at.

    Of all that were tried those stay that these questions do not tell from the best one: the 95 % interval of the
    paired difference holds 0. Of these the one with fewest knobs off our defaults is chosen, then the best of them.
    """
    means = _searched(figures, rows, current, space)
    best = _best(means)
    top = figures(best)[rows]
    by_distance = sorted(means, key=lambda options: (distance(options), -means[options]))
    near = (options for options in by_distance if not _compared(top, figures(options)[rows], seed).certain)
    return Choice(next(near), tuple(means))


def _searched(figures: Figures, rows: IntArray, current: RankingOptions, space: Space) -> dict[RankingOptions, float]:
    """Return settings with their means: the current ones, our defaults, and knob by knob others around the best.

    The values of one knob are tried around the best so far, and the search goes on from the best of them.
    """
    means: dict[RankingOptions, float] = {}
    for options in (current, space.defaults):
        means.setdefault(options, float(figures(options)[rows].mean()))
    best = _best(means)
    for _ in range(SWEEPS):
        start = best
        for knob in space.knobs:
            for options in space.around(best, knob):
                if options not in means and len(means) < MOST_SETTINGS:
                    means[options] = float(figures(options)[rows].mean())
            best = _best(means)
        if best == start:
            break
    return means


def _best(means: Mapping[RankingOptions, float]) -> RankingOptions:
    """Return the settings of the highest mean, of equal ones those nearest to our defaults."""
    return max(means, key=lambda options: (means[options], -distance(options)))


def _compared(one: FloatArray, other: FloatArray, seed: int) -> Difference:
    found = difference(one.tolist(), other.tolist(), seed=seed)
    if found is None:
        raise DatasetError("There is no question to tune on: name some whose answer is known.")
    return found
