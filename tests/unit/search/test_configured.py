"""Settings give ranking options, what is empty leaves the defaults alone, and all that is wrong is told at once."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umg_search.errors import SettingsError
from umg_search.granularity import Expert
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search import Cut, CutOn, CutRule, RankingOptions, Selection, ranking_options, settings_of
from umg_search.settings import load_settings

OPTIONS = st.builds(
    RankingOptions,
    select=st.sampled_from(Selection),
    budget=st.integers(1, 4_000),
    top_k=st.none() | st.integers(0, 50),
    cut=st.sampled_from([None, Cut(CutRule.GAPR), Cut(CutRule.ADAPTIVE_K, 5, CutOn.RUNS), Cut(CutRule.SURPRISE, 0.01)]),
    experts=st.sampled_from([None, (Expert.DENSE,), (Expert.DENSE, Expert.LEXICAL)]),
    normalisation=st.sampled_from(Normalisation),
    weighting=st.sampled_from(Weighting),
    temperature=st.sampled_from([0.1, 1.0, 2.0]),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    floor=st.integers(0, 64),
    aggregation=st.sampled_from(Aggregation),
)


def test_without_settings_the_defaults_hold_and_defaults_need_no_settings() -> None:
    assert ranking_options(load_settings()) == RankingOptions()
    assert settings_of(RankingOptions()) == {}


@settings(max_examples=30, deadline=None)
@given(OPTIONS)
def test_settings_of_options_give_these_options(options: RankingOptions) -> None:
    assert ranking_options(load_settings(**settings_of(options))) == options


def test_only_what_differs_is_a_setting() -> None:
    options = replace(RankingOptions(), experts=(Expert.DENSE, Expert.LEXICAL), alpha=0.0, top_k=0, overlap=0.5)
    assert settings_of(options) == {"search_experts": "dense,lexical", "alpha": 0.0, "top_k": 0}


def test_variables_become_options(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"SELECT": "chunks", "CUT": "gapr:2", "CUT_ON": "runs", "ALPHA": "0", "SEARCH_EXPERTS": "lexical,dense"}
    for name, value in variables.items():
        monkeypatch.setenv(f"UMG_{name}", value)
    found = ranking_options(load_settings())
    assert (found.select, found.cut, found.alpha) == (Selection.CHUNKS, Cut(CutRule.GAPR, 2, CutOn.RUNS), 0)
    assert found.experts == (Expert.DENSE, Expert.LEXICAL)


def test_no_cut_can_be_said() -> None:
    assert ranking_options(load_settings(cut="none")).cut is None


def test_everything_wrong_is_in_one_message_by_its_variable() -> None:
    wrong = {"select": "best", "normalisation": "none", "cut": "gapr:x", "cut_on": "words", "weighting": "all"}
    settings = load_settings(**wrong, search_experts="oracle", aggregation="mean", alpha=11, budget=0, temperature=0)
    with pytest.raises(SettingsError) as caught:
        ranking_options(settings)
    for part in (
        "UMG_SELECT: it is one of spans, chunks, parents (it is 'best')",
        "UMG_NORMALISATION: it is one of zscore, minmax, max (it is 'none')",
        "UMG_CUT: 'gapr:x' is no cut",
        "UMG_CUT_ON: it is one of sentences, runs (it is 'words')",
        "UMG_WEIGHTING: it is one of entropy",
        "UMG_AGGREGATION: it is one of bounded",
        "UMG_SEARCH_EXPERTS: experts are dense, sparse, lexical",
        "UMG_ALPHA is 11.0, it lies between 0 and 10",
        "UMG_BUDGET is 0, it lies between 1 and",
        "UMG_TEMPERATURE is 0.0",
    ):
        assert part in str(caught.value), part
    assert "\n" not in str(caught.value)
