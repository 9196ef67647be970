"""Search requests as bytes, pure: every channel of a question in one multi-search, and what its answers say.

The shape decides the time: no `_id`, no `_source` (both unpack a stored block that holds the vectors of a hit), only
the packed doc value.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
import regex

from umg_search.granularity import Channel, Expert
from umg_search.model import (
    EVERYBODY,
    And,
    EncodedQuery,
    Equals,
    Exists,
    Filter,
    FloatArray,
    In,
    Not,
    Or,
    Prefix,
    Range,
    RankedList,
    SparseVector,
)
from umg_search.ports import Scope, Selection
from umg_search.sparse_vectors import heaviest
from umg_search.store.batches import batches
from umg_search.store.dialect import Dialect, cosines
from umg_search.store.retrying import BUSY_ERRORS
from umg_search.store.units import unpack

MOST_TERMS = 256
"""Terms of a sparse query that are asked for, the heaviest; servers refuse more than about 1,000 clauses."""

BRIEF_TERMS = 15
"""Heaviest terms of a sparse query that find its candidates where nothing is filtered; the others score these again."""

RESCORED = 2
"""Candidates that are scored again by all terms, times the hits that are asked for."""

MOST_WORDS = 400
"""Distinct words of a question that BM25 is asked for, for the same reason."""

MOST_REASON = 200
"""Characters of an error that is no JSON."""

_SHAPE: Mapping[str, Any] = {
    "stored_fields": "_none_",
    "_source": False,
    "docvalue_fields": ["unit"],
    "track_total_hits": False,
}
# As the standard analyser cuts: ideographs and emoji are words by themselves, and no word is longer than 255.
_ALONE = r"[\p{Han}\p{Hiragana}\p{Extended_Pictographic}\p{Regional_Indicator}--[0-9#*]]"
_WORD = regex.compile(rf"{_ALONE}|[\p{{Word}}--{_ALONE}]{{1,255}}", regex.VERSION1)


class Request(NamedTuple):
    """The body of a multi-search, and the channel of each of its searches; `brief`: those not found by all terms."""

    body: bytes
    channels: tuple[Channel, ...]
    notes: tuple[str, ...]
    brief: tuple[Channel, ...] = ()


def multi_search(
    dialect: Dialect,
    indices: Mapping[Channel, str],
    query: EncodedQuery,
    *,
    depth: int,
    scope: Scope,
    brief: bool = True,
) -> Request:
    """Return one search for each channel; one whose expert has nothing to ask for is left out.

    Where nothing is filtered and `brief` allows it, a sparse search finds its candidates by the heaviest terms. The
    scores of what is found are those of all terms, but it may find fewer than there are.
    """
    filters = filters_of(scope)
    # With titles each word is asked for twice.
    words, words_dropped = bounded_words(query.text, MOST_WORDS // 2 if query.title_weight else MOST_WORDS)
    parts: dict[Expert, Mapping[str, Any]] = {Expert.LEXICAL: _matching(_matches(words, query.title_weight), filters)}
    if query.dense is not None:
        vector = orjson.Fragment(orjson.dumps(query.dense, option=orjson.OPT_SERIALIZE_NUMPY))
        parts[Expert.DENSE] = dialect.knn(vector, depth, filters)
    terms_dropped = 0
    two_phases = False
    if query.sparse is not None and len(query.sparse.terms):
        terms, terms_dropped = heaviest(query.sparse, MOST_TERMS)
        two_phases = brief and not filters and len(terms.terms) > BRIEF_TERMS
        parts[Expert.SPARSE] = _in_two_phases(terms, depth) if two_phases else _matching(_rank_features(terms), filters)
    channels = tuple(channel for channel in indices if channel.expert in parts)
    searches = {expert: orjson.dumps({**part, **_SHAPE, "size": depth}) for expert, part in parts.items()}
    lines = [line for c in channels for line in (orjson.dumps({"index": indices[c]}), searches[c.expert])]
    dropped = {Expert.LEXICAL: (words_dropped, "words"), Expert.SPARSE: (terms_dropped, "sparse terms")}
    notes = [
        f"The question has too many {what} for one search: {number} of them were left out."
        for expert, (number, what) in dropped.items()
        if number and expert in {channel.expert for channel in channels}
    ]
    by_few = tuple(channel for channel in channels if two_phases and channel.expert is Expert.SPARSE)
    return Request(b"\n".join(lines) + b"\n", channels, tuple(notes), by_few)


def parts(request: Request, most_bytes: int) -> list[bytes]:
    """Return a multi-search as bodies of at most `most_bytes`; a single larger search goes alone."""
    lines = request.body.splitlines(keepends=True)
    searches = [head + body for head, body in zip(lines[::2], lines[1::2], strict=True)]
    return [b"".join(some) for some in batches(searches, len, most_bytes)]


def filters_of(scope: Scope) -> list[dict[str, Any]]:
    """Return the filter clauses that hold inside every list, of a scope whose filter is resolved."""
    filters: list[dict[str, Any]] = []
    if scope.collections:
        filters.append({"terms": {"collection": sorted(set(scope.collections))}})
    if scope.principals is not None:
        filters.append({"terms": {"acl": sorted({*scope.principals, EVERYBODY})}})
    if scope.filter is not None:
        filters.append(_clause(scope.filter))
    return filters


def selected(selection: Selection) -> dict[str, Any]:
    """Return the query for ledger entries that meet the conditions."""
    ranges = {"retired_before": "retired_since", "sent_before": "sent_at"}
    wanted: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for name, value in selection.items():
        if name in ranges:
            wanted.append({"range": {ranges[name]: {"lt": value}}})
        elif name == "held":
            (wanted if value else refused).append({"exists": {"field": "run"}})
        else:
            wanted.append({"term": {name: value}})
    return {"bool": {"filter": wanted, "must_not": refused} if refused else {"filter": wanted}}


def _clause(item: Filter) -> dict[str, Any]:  # noqa: PLR0911 - one a case
    """Return a resolved filter in the servers' language, which is the same on both."""
    match item:
        case And(parts):
            return {"bool": {"filter": [_clause(part) for part in parts]}}
        case Or(parts):
            return {"bool": {"should": [_clause(part) for part in parts], "minimum_should_match": 1}}
        case Not(part):
            return {"bool": {"must_not": [_clause(part)]}}
        case Equals(field, value):
            return {"term": {field: {"value": value}}}
        case In(field, values):
            return {"terms": {field: list(values)}}
        case Range(field):
            return {"range": {field: item.bounds}}
        case Exists(field):
            return {"exists": {"field": field}}
        case Prefix(field, prefix):
            return {"prefix": {field: {"value": prefix}}}


def bounded_words(text: str, most: int = MOST_WORDS) -> tuple[str, int]:
    """Return a question whose distinct words are few enough for a server, and how many were left out."""
    every = _WORD.findall(text)
    if len(every) <= most:
        return text, 0
    words = list(dict.fromkeys(every))
    return " ".join(words[:most]), max(0, len(words) - most)


def read_lists(answers: Mapping[Channel, Mapping[str, Any]]) -> list[RankedList]:
    """Return the ranked lists in the answers of a multi-search; dense scores become cosines."""
    hits = [answer["hits"]["hits"] for answer in answers.values()]
    units = unpack([[hit["fields"]["unit"][0] for hit in part] for part in hits])
    return [
        RankedList(channel, found, _scores(channel, part))
        for channel, found, part in zip(answers, units, hits, strict=True)
    ]


def _scores(channel: Channel, hits: Sequence[Mapping[str, Any]]) -> FloatArray:
    scores = np.fromiter((hit["_score"] for hit in hits), dtype=np.float64, count=len(hits))
    return cosines(scores) if channel.expert is Expert.DENSE else scores


def failure_of(answer: Mapping[str, Any]) -> str | None:
    """Return why one answer of a multi-search is unusable, None if it is whole."""
    if "error" in answer:
        return reason_of(answer["error"])
    return incomplete(answer) or ("timed out" if answer.get("timed_out") else None)


def incomplete(answer: Mapping[str, Any]) -> str:
    """Return why an answer speaks for a part of its indices only, empty if it is whole."""
    shards = answer.get("_shards", {})
    if not shards.get("failed"):
        return ""
    reasons = [reason_of(item["reason"]) for item in shards.get("failures", ()) if "reason" in item]
    return ", ".join([f"{shards['failed']} of {shards['total']} shards failed", *reasons[:1]])


def unread(answer: Mapping[str, Any]) -> str:
    """Return why an entry of a multi-get could not be read for now, empty where there is no such entry."""
    errors = [item["error"] for item in answer["docs"] if "error" in item]
    return next((reason_of(error) for error in errors if error.get("type") in BUSY_ERRORS), "")


def error_of(body: Any) -> Any:
    """Return the error in the body of an answer; the body itself where it is a gateway's page."""
    return body.get("error", body) if isinstance(body, Mapping) else body


def reason_of(error: Any) -> str:
    """Return the innermost reason that a server gives for an error; of a gateway's page, its beginning."""
    if not isinstance(error, Mapping):
        return " ".join(str(error).split())[:MOST_REASON]
    causes = error.get("root_cause") or [error]
    cause = error.get("caused_by") or causes[0]
    return f"{cause.get('type', 'error')}: {cause.get('reason', 'no reason given')}"


def _matching(clauses: Sequence[Mapping[str, Any]], filters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    query = {"should": list(clauses), "minimum_should_match": 1, **({"filter": list(filters)} if filters else {})}
    return {"query": {"bool": query}}


def _matches(words: str, title_weight: float) -> list[dict[str, Any]]:
    """Return the clauses of BM25; the scores of those that match add up."""
    text: dict[str, Any] = {"match": {"text": {"query": words}}}
    title: dict[str, Any] = {"match": {"title": {"query": words, "boost": title_weight}}}
    return [text, title] if title_weight else [text]


def _in_two_phases(terms: SparseVector, depth: int) -> dict[str, Any]:
    """Return a search by the heaviest terms whose best hits the other terms score as well."""
    first, _ = heaviest(terms, BRIEF_TERMS)
    others = ~np.isin(terms.terms, first.terms)
    rest = SparseVector(terms.terms[others], terms.weights[others])
    again = {"rescore_query": _matching(_rank_features(rest), ())["query"]}
    return {
        **_matching(_rank_features(first), ()),
        "rescore": {"window_size": RESCORED * depth, "query": again},
    }


def _rank_features(query: SparseVector) -> list[dict[str, Any]]:
    pairs = zip(query.terms.tolist(), query.weights.tolist(), strict=True)
    return [{"rank_feature": {"field": f"sparse.{term}", "boost": weight, "linear": {}}} for term, weight in pairs]
