"""The rank_features module of the Elasticsearch test nodes, against OpenSearch's own.

With UMG_TEST_ENGINES (URLs, comma-separated) the Elasticsearch servers named there take the place of the test nodes.
"""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from dev.servers import NAMES

Ask = Callable[..., tuple[int, Any]]
Features = dict[str, float]

NAMED = os.environ.get("UMG_TEST_ENGINES")
SUBJECTS = NAMED.split(",") if NAMED else [name for name in NAMES if name.startswith("elasticsearch")]
REFERENCE = "opensearch-2.19.1"
MAPPINGS = {"dynamic": "strict", "properties": {"sparse": {"type": "rank_features"}, "key": {"type": "keyword"}}}
FEATURES = [str(number) for number in range(40)]


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest, shared: Callable[[str], str], ask: Ask) -> str:
    url = request.param if NAMED else shared(request.param)
    _, root = ask("GET", url)
    if root["version"].get("distribution") == "opensearch":
        pytest.skip("an OpenSearch has its own rank_features")
    return url


@contextmanager
def filled(ask: Ask, url: str, index: str, documents: list[Features]) -> Iterator[str]:
    address = f"{url}/{index}"
    # One shard, so that equal scores come in the same order everywhere.
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    ask("PUT", address, {"settings": settings, "mappings": MAPPINGS})
    try:
        lines: list[Any] = []
        for number, features in enumerate(documents):
            lines += [{"index": {"_id": str(number)}}, {"sparse": features}]
        status, answer = ask("POST", f"{address}/_bulk?refresh=true", lines)
        assert (status, answer["errors"]) == (200, False)
        yield address
    finally:
        ask("DELETE", address)


def scores(ask: Ask, address: str, weights: Features) -> dict[str, float]:
    clauses = [
        {"rank_feature": {"field": f"sparse.{feature}", "boost": weight, "linear": {}}}
        for feature, weight in weights.items()
    ]
    status, answer = ask("POST", f"{address}/_search", {"query": {"bool": {"should": clauses}}, "size": 1000})
    assert status == 200, answer
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


def random_features(source: random.Random, count: int) -> Features:
    # Over six orders of magnitude, so that boosts lie on both sides of Lucene's own limit of 64.
    return {feature: 10 ** source.uniform(-3, 3) for feature in source.sample(FEATURES, count)}


@pytest.mark.parametrize("seed", range(4))
def test_the_scores_are_those_of_opensearch(
    subject: str, shared: Callable[[str], str], ask: Ask, index: str, seed: int
) -> None:
    source = random.Random(seed)  # noqa: S311  # test data, no secret
    documents = [random_features(source, source.randint(1, 20)) for _ in range(300)]
    with ExitStack() as both:
        ours, theirs = (both.enter_context(filled(ask, u, index, documents)) for u in (subject, shared(REFERENCE)))
        for terms in (1, 5, 15, 30):
            weights = random_features(source, terms)
            expected = scores(ask, theirs, weights)
            assert expected
            assert scores(ask, ours, weights) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("boost", [0.25, 1.0, 64.0, 65.0, 1000.0])
def test_the_score_is_value_times_boost(subject: str, ask: Ask, index: str, boost: float) -> None:
    # 2.5 and 0.75 have few bits, so the index keeps them exactly.
    with filled(ask, subject, index, [{"7": 2.5}, {"7": 0.75}, {"8": 1.0}]) as address:
        assert scores(ask, address, {"7": boost}) == pytest.approx({"0": 2.5 * boost, "1": 0.75 * boost})


def test_several_features_add_up(subject: str, ask: Ask, index: str) -> None:
    with filled(ask, subject, index, [{"1": 2.0, "2": 3.0}]) as address:
        assert scores(ask, address, {"1": 5.0, "2": 7.0, "3": 11.0}) == pytest.approx({"0": 2.0 * 5.0 + 3.0 * 7.0})


@pytest.mark.parametrize(
    "features",
    [
        {"1": 0},
        {"1": -1.5},
        {"1": 1e-45},
        {"1": 1e39},
        {"1": "many"},
        {"1": {"2": 3}},
        {"1": [1, 2]},
        [{"1": 1}, {"1": 2}],
        4,
        "text",
    ],
)
def test_what_is_no_positive_number_is_refused_as_by_opensearch(
    subject: str, shared: Callable[[str], str], ask: Ask, index: str, features: object
) -> None:
    for url in (subject, shared(REFERENCE)):
        with filled(ask, url, index, [{"1": 1.0}]) as address:
            assert ask("POST", f"{address}/_doc", {"sparse": features})[0] == 400


def test_a_dot_in_a_feature_is_refused_by_name(subject: str, ask: Ask, index: str) -> None:
    with filled(ask, subject, index, [{"1": 1.0}]) as address:
        status, answer = ask("POST", f"{address}/_doc", {"sparse": {"3.14": 1.0}})
    assert status == 400
    assert "3.14" in str(answer)


def test_a_strict_mapping_stays_strict_beside_the_field(subject: str, ask: Ask, index: str) -> None:
    with filled(ask, subject, index, [{"1": 1.0}]) as address:
        assert ask("POST", f"{address}/_doc", {"sparse": {"1": 1.0}, "other": 1})[0] == 400
        assert ask("POST", f"{address}/_doc", {"sparse": {"never-seen": 1.0}, "key": "k"})[0] == 201


def test_a_partial_update_keeps_the_features(subject: str, ask: Ask, index: str) -> None:
    with filled(ask, subject, index, [{"1": 2.0}]) as address:
        assert ask("POST", f"{address}/_update/0?refresh=true", {"doc": {"key": "changed"}})[0] == 200
        assert scores(ask, address, {"1": 3.0}) == pytest.approx({"0": 2.0 * 3.0})


def test_a_field_of_another_type_is_refused_and_an_unknown_one_finds_nothing(
    subject: str, ask: Ask, index: str
) -> None:
    with filled(ask, subject, index, [{"1": 2.0}]) as address:
        query = {"query": {"rank_feature": {"field": "key", "linear": {}}}}
        assert ask("POST", f"{address}/_search", query)[0] == 400
        query = {"query": {"rank_feature": {"field": "nowhere.1", "linear": {}}}}
        status, answer = ask("POST", f"{address}/_search", query)
    assert (status, answer["hits"]["hits"]) == (200, [])
