import pytest
from hypothesis import given

from tests.unit.ranking.lists import G2, G4, G8, G16, PROPERTY, Text, fused, ranked_lists
from tests.unit.ranking.test_fusion import fuse_all
from umg_search.model import Candidates, RankedList
from umg_search.ranking.fusion import by_length, units
from umg_search.ranking.promotion import Aggregation, promote

A = Text("a", (10,) * 20)


def scores(found: Candidates) -> dict[tuple[int, int], float]:
    ranges = zip(found.first.tolist(), found.last.tolist(), strict=True)
    return dict(zip(ranges, found.score.tolist(), strict=True))


def test_masses_of_a_parents_hits_aggregate_to_one_minus_the_product_of_the_misses() -> None:
    found = fused((A, G2, 0, 0.2), (A, G2, 1, 0.1), (A, G4, 2, 0.3))
    assert scores(promote(found)) == {(0, 8): pytest.approx(1 - (1 - 0.2) * (1 - 0.1) * (1 - 0.3))}


def test_the_parents_own_mass_takes_part_by_default() -> None:
    found = fused((A, G2, 0, 0.2), (A, G8, 0, 0.4))
    assert scores(promote(found)) == {(0, 8): pytest.approx(1 - (1 - 0.2) * (1 - 0.4))}


def test_the_paper_aggregates_over_small_hits_only() -> None:
    found = fused((A, G2, 0, 0.2), (A, G8, 0, 0.4))
    assert scores(promote(found, own_mass=False)) == {(0, 8): pytest.approx(1 - (1 - 0.2))}


def test_a_parent_without_small_hits_keeps_its_own_mass_in_both_readings() -> None:
    found = fused((A, G2, 0, 0.2), (A, G8, 8, 0.4))
    for own_mass in (True, False):
        assert scores(promote(found, own_mass=own_mass)) == {(0, 8): pytest.approx(0.2), (8, 16): pytest.approx(0.4)}


def test_longer_units_stay_as_they_are() -> None:
    found = fused((A, G2, 0, 0.2), (A, G16, 0, 0.3))
    assert scores(promote(found)) == {(0, 8): pytest.approx(0.2), (0, 16): pytest.approx(0.3)}


def test_the_parent_is_the_one_with_the_nearest_centre_and_the_earlier_on_a_tie() -> None:
    """(4, 6) lies in (0, 8) and (4, 12): |5 - 4| < |5 - 8|. (5, 7) is as near to both."""
    assert set(scores(promote(fused((A, G2, 4, 1.0))))) == {(0, 8)}
    assert set(scores(promote(fused((A, G2, 5, 1.0))))) == {(0, 8)}
    assert set(scores(promote(fused((A, G2, 6, 1.0))))) == {(4, 12)}


def test_in_a_short_document_everything_is_one_unit_and_its_own_parent() -> None:
    short = Text("s", (10, 10, 10))
    found = fused((short, G4, 0, 0.2), (short, G8, 0, 0.3), (short, G16, 0, 0.1))
    for own_mass in (True, False):
        assert scores(promote(found, own_mass=own_mass)) == {(0, 3): pytest.approx(0.2 + 0.3 + 0.1)}


def test_hits_inside_a_document_shorter_than_a_parent_are_promoted_to_all_of_it() -> None:
    short = Text("s", (10,) * 5)
    found = fused((short, G2, 0, 0.2), (short, G2, 3, 0.3), (short, G8, 0, 0.1))
    assert scores(promote(found)) == {(0, 5): pytest.approx(1 - 0.8 * 0.7 * 0.9)}
    assert scores(promote(found, own_mass=False)) == {(0, 5): pytest.approx(1 - 0.8 * 0.7)}


def test_certainty_stays_certainty() -> None:
    assert scores(promote(fused((A, G2, 0, 1.0)))) == {(0, 8): 1.0}


def test_certainty_of_a_parent_that_is_not_counted_leaves_its_small_hits_alone() -> None:
    """One hit in the list of parents, hits that are all equal in the others: P = 1 and 0."""
    found = fused((A, G8, 0, 1.0), (A, G2, 0, 0.0), (A, G2, 1, 0.0))
    assert scores(promote(found, own_mass=False)) == {(0, 8): 0.0}
    assert scores(promote(found)) == {(0, 8): 1.0}


def test_parents_of_different_documents_stay_apart() -> None:
    found = fused((A, G2, 0, 0.2), (Text("b", (10,) * 20), G2, 0, 0.3))
    promoted = promote(found)
    assert promoted.document.tolist() == [0, 1]
    assert promoted.score == pytest.approx([0.2, 0.3])


def test_the_length_of_a_parent_is_its_own() -> None:
    text = Text("a", (1, 2, 3, 4, 5, 6, 7, 8, 9))
    found = fused((text, G2, 0, 0.5))
    ordered = by_length(found, promote(found), alpha=0.5, floor=16)
    assert ordered.score == pytest.approx([0.5 / (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) ** 0.5])


@PROPERTY
@given(ranked_lists())
def test_an_aggregate_lies_between_the_best_of_its_hits_and_their_sum(lists: list[RankedList]) -> None:
    found = fuse_all(lists)
    promoted = promote(found).score
    assert ((promoted >= 0) & (promoted <= 1)).all()
    assert promoted.sum() <= units(found).score.sum() + 1e-9
    assert promoted.max() >= units(found).score.max() - 1e-9


@PROPERTY
@given(ranked_lists())
def test_no_two_parents_are_the_same_and_each_holds_its_hits(lists: list[RankedList]) -> None:
    found = fuse_all(lists)
    promoted = promote(found)
    places = list(zip(promoted.document.tolist(), promoted.first.tolist(), promoted.last.tolist(), strict=True))
    assert len(set(places)) == len(places)
    assert (found.parent_first <= found.first).all()
    assert (found.parent_last >= found.last).all()


def test_masses_can_be_summed_or_the_best_taken() -> None:
    found = fused((A, G2, 0, 0.2), (A, G4, 2, 0.1), (A, G8, 0, 0.4))
    assert scores(promote(found, aggregation=Aggregation.SUM)) == {(0, 8): pytest.approx(0.2 + 0.1 + 0.4)}
    assert scores(promote(found, aggregation=Aggregation.MAX)) == {(0, 8): pytest.approx(0.4)}
    best = promote(found, own_mass=False, aggregation=Aggregation.MAX)
    assert scores(best) == {(0, 8): pytest.approx(0.2)}
