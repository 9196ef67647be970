"""Filters in the engine's terms, and what a set refuses."""

from typing import Any

import pytest

from tests.fakes.encoders import spec
from umg_search.errors import QueryError
from umg_search.model import (
    MOST_CHARACTERS,
    And,
    DeclaredField,
    Equals,
    Exists,
    FieldType,
    Filter,
    In,
    Not,
    Or,
    Prefix,
    Range,
    Unquoted,
)
from umg_search.ports import Scope
from umg_search.store.bodies import filters_of
from umg_search.store.filters import resolved

SPEC = spec(fields=tuple(sorted(DeclaredField(kind.value, kind) for kind in FieldType)))
DAY = 24 * 60 * 60 * 1000


def of(item: Filter) -> Filter | None:
    return resolved(Scope(filter=item), SPEC).filter


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Equals("integer", Unquoted("7")), Equals("fields.integer", 7)),
        (In("float", (1, 1.0, Unquoted("2"))), In("fields.float", (1.0, 2.0))),
        (Range("date", gte="1970-01-02", lt=Unquoted("1970-01-03")), Range("fields.date", gte=DAY, lt=2 * DAY)),
        (Equals("boolean", Unquoted("true")), Equals("fields.boolean", True)),
        (Exists("boolean"), Exists("fields.boolean")),
        (Prefix("keyword", "7"), Prefix("fields.keyword", "7")),
        (Equals("source", Unquoted("1.50")), Equals("labels", "6:source1.50")),
        (Equals("source", 1.5), Equals("labels", "6:source1.5")),
        (In("source", ("true", True)), In("labels", ("6:sourcetrue",))),
        (Prefix("a.b", "x"), Prefix("labels", "3:a.bx")),
        (
            Not(And((Or((Exists("date"),)), Equals("k", "v")))),
            Not(And((Or((Exists("fields.date"),)), Equals("labels", "1:kv")))),
        ),
    ],
)
def test_names_become_places_and_values_take_their_stored_form(item: Filter, expected: Filter) -> None:
    assert of(item) == expected


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (Equals("integer", "7"), "'integer' is integer, and '7' is no integer"),
        (Equals("integer", Unquoted("x")), "'integer' is integer, and x is no integer"),
        (In("boolean", (True, 1)), "'boolean' is boolean, and 1 is no boolean"),
        (Range("date", gt=2020), "'date' is date, and 2020 is no date"),
        (Equals("keyword", 7), "'keyword' is keyword, and 7 is no keyword"),
        (Range("keyword", gt="a"), "'keyword' is keyword and has no order"),
        (Range("boolean", gt=True), "'boolean' is boolean and has no order"),
        (Prefix("integer", "2"), "'integer' is integer and has no prefix"),
        (Prefix("keyword", ""), "a prefix is empty"),
        (Prefix("keyword", "x" * (MOST_CHARACTERS + 1)), f"{MOST_CHARACTERS + 1} characters"),
        (Prefix("k", "x" * (MOST_CHARACTERS - 2)), f"with its key, {MOST_CHARACTERS + 1} characters"),
        (Range("pages", gt=1), "'pages' is not declared.*UMG_FIELDS"),
        (Exists("pages"), "'pages' is not declared"),
        (Equals("k", "a\ud800"), "lone surrogate"),
        (Equals("\ud800", "a"), "lone surrogate"),
        (Equals("keyword", Unquoted("\ud800")), "lone surrogate"),
        (Prefix("keyword", "\ud800"), "lone surrogate"),
        (And(()), "without parts"),
    ],
)
def test_what_does_not_fit_the_set_is_refused_with_name_and_type(item: Filter, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        of(item)


@pytest.mark.parametrize("scope", [Scope(("a\ud800",)), Scope((), ("ann", "\ud800"))])
def test_a_scope_that_cannot_be_stored_is_refused(scope: Scope) -> None:
    """It must not be searched with a replacement character either, which could be another tenant's name."""
    with pytest.raises(QueryError, match="lone surrogate"):
        resolved(scope, SPEC)


@pytest.mark.parametrize(
    ("item", "clause"),
    [
        (Equals("a", 1), {"term": {"a": {"value": 1}}}),
        (In("a", (1, 2)), {"terms": {"a": [1, 2]}}),
        (Range("a", gt=1, lte=2), {"range": {"a": {"gt": 1, "lte": 2}}}),
        (Exists("a"), {"exists": {"field": "a"}}),
        (Prefix("a", "x"), {"prefix": {"a": {"value": "x"}}}),
        (Not(Exists("a")), {"bool": {"must_not": [{"exists": {"field": "a"}}]}}),
        (And((Exists("a"),)), {"bool": {"filter": [{"exists": {"field": "a"}}]}}),
        (Or((Exists("a"),)), {"bool": {"should": [{"exists": {"field": "a"}}], "minimum_should_match": 1}}),
    ],
)
def test_servers_are_asked_with_these_clauses(item: Filter, clause: dict[str, Any]) -> None:
    assert filters_of(Scope(("c",), ("ann",), item)) == [
        {"terms": {"collection": ["c"]}},
        {"terms": {"acl": ["*", "ann"]}},
        clause,
    ]
