"""Print the time of the five cut rules at 30 candidates: `python -m bench.cuts`.

The lists are drawn as those of dense, lexical and fused rankers look: some scores that stand out of a tail. Every rule
is timed on a list before the next list comes, so that all of them see the same machine.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from umg_search.ranking import adaptive_k, fixed, gapr, surprise, tail_aware

CANDIDATES, LISTS, ROUNDS = 30, 300, 9
RULES: Sequence[Callable[[Sequence[float]], int]] = (adaptive_k, gapr, fixed, surprise, tail_aware)


def ranked_scores(rng: np.random.Generator) -> list[float]:
    """Return the scores of a question: a tail, and 0 to 8 candidates above it by up to a few of its widths."""
    tail = rng.gamma(rng.uniform(1, 3), 0.1, CANDIDATES)
    relevant = int(rng.integers(0, 9))
    tail[:relevant] += tail.max() * rng.uniform(0.2, 2.0, relevant)
    return np.sort(tail)[::-1].tolist()


def microseconds(rule: Callable[[Sequence[float]], int], scores: Sequence[float]) -> float:
    """Return the median time of a rule on one list."""
    samples = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        rule(scores)
        samples.append(time.perf_counter() - start)
    return 1e6 * statistics.median(samples)


def main() -> None:
    """Print one line a rule: median and quietest time, the median of the ratios to adaptive-k, and the mean cut."""
    rng = np.random.default_rng(7)
    lists = [ranked_scores(rng) for _ in range(LISTS)]
    times = [[microseconds(rule, scores) for rule in RULES] for scores in lists]
    print(f"{LISTS} lists of {CANDIDATES} scores; goal: gapr at most 2 times adaptive_k in the median")
    print(f"{'microseconds':14s} {'median':>8s} {'quietest':>9s} {'to adaptive_k':>14s} {'mean cut':>9s}")
    for i, rule in enumerate(RULES):
        own = [row[i] for row in times]
        ratio = statistics.median(row[i] / row[0] for row in times)
        cut = statistics.mean(rule(scores) for scores in lists)
        print(f"{rule.__name__:14s} {statistics.median(own):8.1f} {min(own):9.1f} {ratio:14.2f} {cut:9.1f}")


if __name__ == "__main__":
    main()
