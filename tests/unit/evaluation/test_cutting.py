from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.engine import MemoryEngine
from tests.unit.evaluation.test_service import run, walrus
from umg_search.evaluation.cutting import of_cut
from umg_search.search import Cut, CutRule

SCORES = [9.0, 8.0, 3.0, 2.0, 1.0]
"""The largest gap is behind the second."""


def test_a_cut_before_the_last_expected_candidate_is_too_early() -> None:
    found = of_cut(SCORES, [True, False, False, True, False], 2)
    assert found == {"k": 2, "too_early": 1, "too_late": 0, "early_by": 4 - 2, "late_by": None, "behind_gap": 1}


def test_a_cut_behind_it_is_too_late() -> None:
    found = of_cut(SCORES, [True, False, False, False, False], 4)
    assert found == {"k": 4, "too_early": 0, "too_late": 1, "early_by": None, "late_by": 4 - 1, "behind_gap": 0}


def test_nothing_is_said_where_no_candidate_is_expected() -> None:
    assert of_cut(SCORES, [False] * 5, 3) == {"k": 3}
    assert of_cut([], [], 0) == {"k": 0}


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 30))
def test_a_cut_is_early_late_or_right(expected: list[bool], kept: int) -> None:
    found = of_cut([float(-i) for i in range(len(expected))], expected, kept)
    if any(expected):
        assert (found["too_early"], found["too_late"]) in {(0, 0), (1, 0), (0, 1)}
        assert (found["early_by"] is None) == (found["too_early"] == 0)
        assert (found["late_by"] is None) == (found["too_late"] == 0)


def test_methods_are_evaluated_with_and_without_each_cut(tmp_path: Path) -> None:
    cuts = (Cut(CutRule.FIXED, 2), Cut(CutRule.GAPR))
    methods = ("dense-g02", "spans", "longrag")
    found = run(MemoryEngine(), tmp_path, walrus(), methods=methods, cuts=cuts).evaluation
    assert [method.name for method in found.methods] == [
        "spans",
        "dense-g02",
        "longrag",
        "spans+fixed:2",
        "spans+gapr",
        "dense-g02+fixed:2",
        "dense-g02+gapr",
    ]
    assert found.column("dense-g02+fixed:2", None, "contexts") == [2]
    assert found.budgets_of(found.methods[3]) == (10, None)
    (figures,) = found.figures
    assert figures.cuts["dense-g02+fixed:2"]["k"] == 2
    assert figures.cuts.keys() == {"dense-g02+fixed:2", "dense-g02+gapr"}


@pytest.mark.parametrize(("pattern", "names"), [("*+gapr", 1), ("dense-g02+gapr", 1), ("dense-g02", 2)])
def test_a_pattern_may_name_the_cut(tmp_path: Path, pattern: str, names: int) -> None:
    methods = (pattern,)
    found = run(MemoryEngine(), tmp_path, walrus(), methods=methods, cuts=(Cut(CutRule.GAPR),)).evaluation
    named = [method.name for method in found.methods if method.name.startswith("dense-g02")]
    assert len(named) == names
