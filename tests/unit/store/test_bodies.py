"""Requests exactly as they go out (tests/golden), and what answers mean."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import DocumentVersion, EncodedQuery, SparseVector
from umg_search.ports import Scope
from umg_search.store import bodies
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH, Dialect
from umg_search.store.units import pack
from umg_search.windows import Window

GOLDEN = Path(__file__).parents[2] / "golden"
DIALECTS = pytest.mark.parametrize("dialect", [ELASTICSEARCH, OPENSEARCH], ids=lambda dialect: dialect.name)
DENSE, SPARSE, LEXICAL = Expert
G2, G8 = Granularity.G2, Granularity.G8

PLACES = {Channel(e, g): f"umg-{g.label}-v1" for e in Expert for g in (G2, G8)}
QUERY = EncodedQuery(
    "Which harbour?",
    dense=np.array([0.5, -0.25, 0.125], dtype=np.float32),
    sparse=SparseVector(np.array([7, 3001], dtype=np.int32), np.array([1.5, 0.25], dtype=np.float32)),
)


def lines(request: bodies.Request) -> list[Any]:
    assert request.body.endswith(b"\n")
    return [json.loads(line) for line in request.body.splitlines()]


def asked(request: bodies.Request) -> dict[Channel, Any]:
    return dict(zip(request.channels, lines(request)[1::2], strict=True))


@DIALECTS
@pytest.mark.parametrize("kind", ["open", "filtered"])
def test_a_multi_search_is_exactly_this(dialect: Dialect, kind: str) -> None:
    scope = Scope() if kind == "open" else Scope(("manuals",), ("bob", "ann"))
    request = bodies.multi_search(dialect, PLACES, QUERY, depth=100, scope=scope)
    expected = (GOLDEN / f"msearch-{kind}-{dialect.name}.ndjson").read_text("utf-8")
    assert lines(request) == [json.loads(line) for line in expected.splitlines()]
    assert request.channels == tuple(PLACES)
    assert request.notes == ()


@DIALECTS
def test_no_search_asks_for_ids_or_sources(dialect: Dialect) -> None:
    """Either would unpack a stored block that holds the vectors of a hit."""
    request = bodies.multi_search(dialect, PLACES, QUERY, depth=7, scope=Scope())
    for body in asked(request).values():
        assert (body["stored_fields"], body["_source"], body["docvalue_fields"]) == ("_none_", False, ["unit"])
        assert (body["size"], body["track_total_hits"]) == (7, False)


@DIALECTS
def test_filters_hold_inside_every_list(dialect: Dialect) -> None:
    request = bodies.multi_search(dialect, PLACES, QUERY, depth=7, scope=Scope(("c",), ("ann",)))
    filters = bodies.filters_of(Scope(("c",), ("ann",)))
    for channel, body in asked(request).items():
        if channel.expert is not DENSE:
            inside = body["query"]["bool"]["filter"]
        elif dialect is ELASTICSEARCH:
            inside = body["knn"]["filter"]
        else:
            inside = body["query"]["knn"]["dense"]["filter"]["bool"]["filter"]
        assert inside == filters, channel


def test_everybodys_documents_are_seen_by_each_principal() -> None:
    assert bodies.filters_of(Scope((), ("bob", "ann", "bob"))) == [{"terms": {"acl": ["*", "ann", "bob"]}}]


def test_without_access_control_and_collection_nothing_is_filtered() -> None:
    assert bodies.filters_of(Scope()) == []


def test_an_expert_without_anything_to_ask_for_is_left_out() -> None:
    nothing = SparseVector(np.array([], dtype=np.int32), np.array([], dtype=np.float32))
    for query in (EncodedQuery("x"), EncodedQuery("x", sparse=nothing)):
        request = bodies.multi_search(OPENSEARCH, PLACES, query, depth=5, scope=Scope())
        assert {channel.expert for channel in request.channels} == {LEXICAL}


def test_a_set_without_lexical_asks_no_match() -> None:
    places = {channel: index for channel, index in PLACES.items() if channel.expert is DENSE}
    request = bodies.multi_search(OPENSEARCH, places, QUERY, depth=5, scope=Scope())
    assert request.channels == tuple(places)


# --- long questions ------------------------------------------------------------------------------------------------


def sparse(weights: list[float]) -> SparseVector:
    return SparseVector(np.arange(len(weights), dtype=np.int32), np.array(weights, dtype=np.float32))


def test_a_query_of_fifteen_hundred_terms_asks_for_the_heaviest_and_says_so() -> None:
    query = EncodedQuery("x", sparse=sparse([1.0] * 1_500))
    request = bodies.multi_search(OPENSEARCH, PLACES, query, depth=5, scope=Scope())
    body = asked(request)[Channel(SPARSE, G2)]
    found = clauses(body["query"]) | clauses(body["rescore"]["query"]["rescore_query"])
    assert len(found) == bodies.MOST_TERMS == 256
    assert request.notes == (
        f"The question has too many sparse terms for one search: {1_500 - 256} of them were left out.",
    )


def test_a_question_of_few_words_is_asked_as_it_is() -> None:
    assert bodies.bounded_words("Which  harbour, which harbour?") == ("Which  harbour, which harbour?", 0)


def test_a_question_of_many_words_keeps_the_first_distinct_ones() -> None:
    assert bodies.bounded_words("a b a c d", most=3) == ("a b c", 4 - 3)


def test_a_note_about_words_needs_an_expert_that_reads_words() -> None:
    question = EncodedQuery(" ".join(f"w{i}" for i in range(500)), dense=QUERY.dense)
    with_lexical = bodies.multi_search(OPENSEARCH, PLACES, question, depth=5, scope=Scope())
    assert with_lexical.notes == (
        f"The question has too many words for one search: {500 - 400} of them were left out.",
    )
    places = {channel: index for channel, index in PLACES.items() if channel.expert is DENSE}
    assert bodies.multi_search(OPENSEARCH, places, question, depth=5, scope=Scope()).notes == ()


@pytest.mark.parametrize("text", ["harbour " * 2_000, "".join(chr(0x4E00 + i) for i in range(2_000))])
def test_a_server_gets_at_most_so_many_words_however_they_are_written(text: str) -> None:
    """A match query has a clause for each word, also for repeated ones; Han characters are words of their own."""
    bounded, _ = bodies.bounded_words(text)
    assert standard_tokens(bounded) <= bodies.MOST_WORDS


def standard_tokens(text: str) -> int:
    """Count tokens as the servers' standard analyser does for words of letters and for Han characters."""
    return sum(1 if word.isascii() else len(word) for word in text.split())


# --- answers -------------------------------------------------------------------------------------------------------

VERSION = DocumentVersion(bytes(range(20)))


def hit(first: int, score: float) -> dict[str, Any]:
    unit = pack(VERSION, Window(first, first + 2), G2, (3,) * 20).decode()
    return {"_index": "umg-g02-v1", "_score": score, "fields": {"unit": [unit]}}


def found(*hits: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"took": 1, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": list(hits)}, **more}


def test_a_list_is_read_from_the_packed_values_alone() -> None:
    (ranked,) = bodies.read_lists({Channel(LEXICAL, G2): found(hit(4, 7.5), hit(0, 2.5))})
    assert (ranked.hits.first.tolist(), ranked.scores.tolist()) == ([4, 0], [7.5, 2.5])
    assert ranked.hits.versions == (VERSION, VERSION)


def test_dense_scores_become_cosines() -> None:
    (ranked,) = bodies.read_lists({Channel(DENSE, G2): found(hit(4, (1 + 0.5) / 2), hit(0, (1 - 0.25) / 2))})
    assert ranked.scores.tolist() == pytest.approx([0.5, -0.25])


@pytest.mark.parametrize("expert", Expert)
def test_an_answer_without_hits_is_an_empty_list(expert: Expert) -> None:
    (ranked,) = bodies.read_lists({Channel(expert, G2): found()})
    assert (len(ranked.hits), ranked.scores.tolist()) == (0, [])


def test_a_whole_answer_is_no_failure() -> None:
    assert bodies.failure_of(found(hit(0, 1.0))) is None
    assert bodies.failure_of({"hits": {"hits": []}}) is None


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (
            {"error": {"root_cause": [{"type": "index_closed_exception", "reason": "closed"}], "type": "x"}},
            "index_closed_exception: closed",
        ),
        (found(_shards={"total": 3, "failed": 1, "successful": 2}), "1 of 3 shards failed"),
        (found(timed_out=True), "timed out"),
    ],
)
def test_an_answer_that_is_not_whole_is_a_failure_with_a_reason(part: Mapping[str, Any], reason: str) -> None:
    """Half a list would be read as if the other half held nothing."""
    assert bodies.failure_of(part) == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("plain words", "plain words"),
        (None, "None"),
        ({"type": "a", "reason": "b"}, "a: b"),
        ({"type": "a", "reason": "b", "root_cause": []}, "a: b"),
        ({"type": "a", "reason": "b", "caused_by": {"type": "c", "reason": "d"}}, "c: d"),
        ({"root_cause": [{"type": "e", "reason": "f"}], "type": "a"}, "e: f"),
        ({}, "error: no reason given"),
    ],
)
def test_the_reason_of_an_error_is_the_one_nearest_to_its_cause(error: object, reason: str) -> None:
    assert bodies.reason_of(error) == reason


@DIALECTS
def test_titles_add_to_texts_in_lexical_search_alone(dialect: Dialect) -> None:
    plain = asked(bodies.multi_search(dialect, PLACES, QUERY, depth=7, scope=Scope()))
    titled = asked(bodies.multi_search(dialect, PLACES, replace(QUERY, title_weight=0.5), depth=7, scope=Scope()))
    for channel, body in titled.items():
        if channel.expert is LEXICAL:
            title = {"match": {"title": {"query": "Which harbour?", "boost": 0.5}}}
            clauses = body["query"]["bool"]
            assert clauses["should"] == [*plain[channel]["query"]["bool"]["should"], title]
            assert clauses["minimum_should_match"] == 1
        else:
            assert body == plain[channel]


def test_a_multi_search_is_cut_between_searches_by_bytes() -> None:
    searches = [b'{"index":"a"}\n{"size":1}\n', b'{"index":"b"}\n{"size":22}\n', b'{"index":"c"}\n{"size":3}\n']
    request = bodies.Request(b"".join(searches), (), ())
    assert bodies.parts(request, 10**6) == [b"".join(searches)]
    assert bodies.parts(request, len(searches[0] + searches[1])) == [searches[0] + searches[1], searches[2]]
    assert bodies.parts(request, 1) == searches


def test_entries_that_cannot_be_read_for_now_are_told_and_missing_ones_are_not() -> None:
    gone = {"_id": "x", "error": {"type": "index_not_found_exception", "reason": "no such index"}}
    busy = {"_id": "y", "error": {"type": "no_shard_available_action_exception", "reason": "none active"}}
    assert bodies.unread({"docs": [{"found": False}, gone]}) == ""
    assert bodies.unread({"docs": [gone, busy]}) == "no_shard_available_action_exception: none active"


@pytest.mark.parametrize(
    ("question", "pieces"),
    [("a" * 600, 3), ("\U0001f30d\U0001f30e", 2), ("\U0001f1e9\U0001f1ea", 2), ("1 # *", 1), ("漢字かなカナ", 5)],
)
def test_words_are_counted_no_lower_than_the_standard_analyser_does(question: str, pieces: int) -> None:
    """Servers refuse too many clauses: long words are cut at 255, each ideograph and each emoji is a word."""
    assert len(bodies._WORD.findall(question)) == pieces


def of_terms(count: int) -> EncodedQuery:
    weights = np.linspace(2.0, 0.1, count, dtype=np.float32)[::-1].copy()
    return EncodedQuery("?", sparse=SparseVector(np.arange(count, dtype=np.int32), weights))


def clauses(part: Mapping[str, Any]) -> dict[str, float]:
    return {c["rank_feature"]["field"]: c["rank_feature"]["boost"] for c in part["bool"]["should"]}


@DIALECTS
def test_candidates_of_a_long_sparse_query_are_found_by_its_heaviest_terms_and_scored_by_all(dialect: Dialect) -> None:
    query = of_terms(40)
    assert query.sparse
    request = bodies.multi_search(dialect, PLACES, query, depth=100, scope=Scope())
    body = asked(request)[Channel(SPARSE, G2)]
    heavy, rest = clauses(body["query"]), clauses(body["rescore"]["query"]["rescore_query"])
    assert list(heavy) == [f"sparse.{term}" for term in range(40 - 15, 40)]
    assert heavy | rest == {f"sparse.{t}": float(w) for t, w in enumerate(query.sparse.weights)}
    assert len(heavy) + len(rest) == 40
    assert body["rescore"]["window_size"] == 2 * 100
    assert request.brief == (Channel(SPARSE, G2), Channel(SPARSE, G8))


@pytest.mark.parametrize(
    ("terms", "scope", "brief"), [(15, Scope(), True), (40, Scope(("manuals",)), True), (40, Scope(), False)]
)
def test_short_filtered_and_repeated_sparse_searches_ask_for_all_terms(terms: int, scope: Scope, brief: bool) -> None:  # noqa: FBT001 - a case
    request = bodies.multi_search(ELASTICSEARCH, PLACES, of_terms(terms), depth=100, scope=scope, brief=brief)
    body = asked(request)[Channel(SPARSE, G2)]
    assert len(clauses(body["query"])) == terms
    assert "rescore" not in body
    assert request.brief == ()
