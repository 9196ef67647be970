import numpy as np

from umg_search.model import Candidates
from umg_search.ranking.diversity import spread


def candidates(*documents: int) -> Candidates:
    numbers = np.array(documents, dtype=np.int64)
    rows = np.arange(len(documents), dtype=np.int64)
    return Candidates(numbers, rows, rows + 1, rows, np.ones(len(documents)))


def test_each_document_yields_its_best_rows_and_no_more() -> None:
    some = candidates(0, 0, 1, 0, 2, 1, 1)
    assert list(spread(range(7), some, most=1, used={})) == [0, 2, 4]
    assert list(spread(range(7), some, most=2, used={})) == [0, 1, 2, 4, 5]
    assert list(spread(range(7), some, most=9, used={})) == list(range(7))


def test_what_was_used_before_counts() -> None:
    assert list(spread(range(4), candidates(0, 0, 1, 1), most=2, used={0: 2, 1: 1})) == [2]


def test_the_order_of_rows_stays() -> None:
    assert list(spread([3, 1, 0, 2], candidates(0, 0, 1, 1), most=1, used={})) == [3, 1]
