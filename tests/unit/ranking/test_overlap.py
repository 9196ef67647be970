from itertools import combinations, islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY
from umg_search.model import Candidates
from umg_search.ranking.overlap import deduplicate


def candidates(*ranges: tuple[int, int, int]) -> Candidates:
    document, first, last = np.array(ranges, dtype=np.int64).reshape(-1, 3).T
    return Candidates(document, first, last, first, np.linspace(1, 0, len(ranges)))


def kept(*ranges: tuple[int, int, int], share: float = 0.75) -> list[int]:
    return list(deduplicate(candidates(*ranges), share=share))


def test_exactly_three_quarters_of_the_shorter_are_kept() -> None:
    assert 3 / 4 == 0.75
    assert kept((0, 0, 4), (0, 1, 5)) == [0, 1]
    assert 6 / 8 == 0.75
    assert kept((0, 0, 8), (0, 2, 10)) == [0, 1]


def test_more_than_three_quarters_of_the_shorter_are_skipped() -> None:
    assert 7 / 8 > 0.75
    assert kept((0, 0, 8), (0, 1, 9)) == [0]


def test_the_share_is_of_the_shorter() -> None:
    """A window inside a longer one shares all of itself, whichever of the two is better."""
    assert kept((0, 0, 32), (0, 4, 6)) == [0]
    assert kept((0, 4, 6), (0, 0, 32)) == [0]


def test_a_share_of_one_keeps_everything() -> None:
    assert kept((0, 0, 8), (0, 0, 4), (0, 1, 3), share=1.0) == [0, 1, 2]


def test_documents_do_not_disturb_each_other() -> None:
    assert kept((0, 0, 8), (1, 0, 8), (0, 0, 8)) == [0, 1]


def test_a_skipped_unit_skips_nobody() -> None:
    """(1, 9) falls to (0, 8); (3, 11) is near to the skipped one only: 6 of 8 against 5 of 8."""
    assert kept((0, 0, 8), (0, 1, 9), (0, 3, 11)) == [0, 2]


def test_what_is_not_asked_for_is_not_computed() -> None:
    assert list(islice(deduplicate(candidates(*[(0, 10 * i, 10 * i + 2) for i in range(100)]), share=0.75), 2)) == [
        0,
        1,
    ]


RANGES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.sampled_from([2, 4, 8, 16])).map(
        lambda item: (item[0], item[1], item[1] + item[2])
    ),
    max_size=25,
)


@PROPERTY
@given(RANGES, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_no_two_kept_ones_share_too_much_and_each_skipped_one_had_a_better(
    ranges: list[tuple[int, int, int]], share: float
) -> None:
    rows = kept(*ranges, share=share)
    assert rows == sorted(rows)

    def close(i: int, j: int) -> bool:
        (d, a, b), (e, x, y) = ranges[i], ranges[j]
        return d == e and min(b, y) - max(a, x) > share * min(b - a, y - x)

    assert not any(close(i, j) for i, j in combinations(rows, 2))
    assert all(any(close(i, j) for j in rows if j < i) for i in set(range(len(ranges))) - set(rows))


def test_taken_ranges_count_as_kept_and_never_come_again() -> None:
    some = candidates((0, 0, 4), (0, 1, 5), (0, 4, 8), (1, 0, 4))
    assert list(deduplicate(some, share=0.5, taken=[(0, 0, 4)])) == [2, 3]
    assert list(deduplicate(some, share=1.0, taken=[(0, 0, 4)])) == [1, 2, 3]
