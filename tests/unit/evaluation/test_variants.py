import re

import pytest

from tests.unit.ranking.lists import G2, G8, Text, dense, lexical, ranked
from umg_search.errors import ConfigurationError, QueryError
from umg_search.evaluation.baselines import Fusing, Product, methods_of
from umg_search.evaluation.service import Plan, chosen
from umg_search.evaluation.variants import is_variant, split_names, variant
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search import Cut, RankingOptions

CHANNELS = tuple(Channel(expert, granularity) for expert in Expert for granularity in Granularity)
METHODS = methods_of(CHANNELS)
A = Text("a", (10,) * 40)


def options_of(name: str) -> RankingOptions:
    found = variant(name, METHODS)
    assert isinstance(found, Product | Fusing)
    return found.options


def test_a_variant_has_other_options_and_the_rest_of_its_method() -> None:
    options = options_of(
        "parents[alpha=0,floor=4,overlap=1,own_mass=false,aggregation=sum,normalisation=max,temperature=0.5,"
        "weighting=filled,depth=50,min_sentences=2,max_per_document=3]"
    )
    assert (options.alpha, options.floor, options.overlap, options.own_mass) == (0, 4, 1, False)
    assert (options.aggregation, options.normalisation) == (Aggregation.SUM, Normalisation.MAX)
    assert (options.temperature, options.weighting, options.depth) == (0.5, Weighting.FILLED, 50)
    assert (options.min_sentences, options.max_per_document) == (2, 3)
    assert options.select.value == "parents"
    assert options_of("rrf-spans[min_sentences=2]").min_sentences == 2


def test_a_variant_reads_some_of_the_lists() -> None:
    found = variant("spans[experts=dense+lexical,granularities=2+8]", METHODS)
    assert found.channels == (dense(G2), dense(G8), lexical(G2), lexical(G8))
    assert found.name == "spans[experts=dense+lexical,granularities=2+8]"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spans[colour=red]", "no option 'colour'"),
        ("spans[alpha=much]", "wrong alpha: 'much'"),
        ("spans[alpha]", "wrong alpha: ''"),
        ("spans[own_mass=yes]", "wrong own_mass"),
        ("spans[experts=psychic]", "wrong experts: 'psychic'"),
        ("spans[granularities=3]", "wrong granularities: '3'"),
        ("spans[depth=0]", "depth is 0"),
        ("dense-g02[experts=lexical]", "No list is left"),
        ("longrag[alpha=0]", "begins with the name of a method"),
        ("walrus[alpha=0]", "begins with the name of a method"),
    ],
)
def test_what_is_no_variant_is_refused(name: str, said: str) -> None:
    with pytest.raises((ConfigurationError, QueryError), match=re.escape(said)):
        variant(name, METHODS)


def test_commas_in_brackets_belong_to_the_name() -> None:
    assert split_names("spans[alpha=0,floor=1], rrf-*,,chunks") == ("spans[alpha=0,floor=1]", "rrf-*", "chunks")


def test_character_classes_of_patterns_are_no_variants() -> None:
    assert not is_variant("dense-g[01]*")
    assert [m.name for m in chosen(METHODS, Plan(methods=("dense-g0[24]",)))] == ["dense-g02", "dense-g04"]


def test_variants_stand_beside_the_methods_and_under_the_cuts() -> None:
    gapr = Cut.parse("gapr")
    assert gapr
    names = [m.name for m in chosen(METHODS, Plan(methods=("chunks", "chunks[alpha=0]"), cuts=(gapr,)))]
    assert names == ["chunks", "chunks[alpha=0]", "chunks+gapr", "chunks[alpha=0]+gapr"]
    with pytest.raises(ConfigurationError, match="no variant 'nothing"):
        chosen(METHODS, Plan(methods=("nothing[alpha=0]",)))


def test_the_depth_of_a_variant_is_how_much_it_reads_of_a_list() -> None:
    found = ranked(dense(G2), (A, 0, 0.9), (A, 4, 0.8), (A, 8, 0.7))
    assert variant("spans[depth=2]", METHODS).depth == 2
    head = found.head(2)
    assert (head.hits.first.tolist(), head.scores.tolist()) == ([0, 4], [0.9, 0.8])
    assert head.hits.counts.tolist() == found.hits.counts.tolist()[: len(head.hits.counts)]
    assert found.head(3) is found
