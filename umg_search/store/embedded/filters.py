"""Filters as Qdrant Edge is asked them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import qdrant_edge as qdrant

from umg_search.model import (
    EVERYBODY,
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
)
from umg_search.ports import Attributes, Scope
from umg_search.store.embedded.words import words
from umg_search.store.filters import FIELDS, LABELS

COLLECTION = "collection"
ACL = "acl"
TITLE = "title"

_MOST = 2**63 - 1
_LEAST = -(2**63)


def filter_indices(declared: Iterable[DeclaredField]) -> dict[str, Any]:
    """Return the payload index of each field that is filtered by."""
    keyword = qdrant.PayloadSchemaType.Keyword
    kinds = {
        FieldType.INTEGER: qdrant.PayloadSchemaType.Integer,
        FieldType.FLOAT: qdrant.PayloadSchemaType.Float,
        FieldType.DATE: qdrant.PayloadSchemaType.Integer,
        FieldType.BOOLEAN: qdrant.PayloadSchemaType.Integer,  # Qdrant Edge takes Python's True in a match for 1
        FieldType.KEYWORD: qdrant.KeywordIndexParams(prefix=True),
    }
    fields = {f"{FIELDS}.{name}": kinds[kind] for name, kind in declared}
    return {COLLECTION: keyword, ACL: keyword, LABELS: qdrant.KeywordIndexParams(prefix=True), **fields}


def attributes_payload(attributes: Attributes) -> dict[str, Any]:
    """Return the part of a point's payload that holds the attributes of its document."""
    fields = {name: [_number(value) for value in values] for name, values in attributes.fields.items()}
    payload = {ACL: list(attributes.acl), FIELDS: fields, LABELS: list(attributes.labels)}
    return payload if attributes.title is None else {**payload, TITLE: words(attributes.title)}


def scope_filter(scope: Scope) -> qdrant.Filter | None:
    """Return the filter that each list is searched with, of a resolved scope; None where everything may be seen."""
    must: list[Any] = []
    if scope.collections:
        must.append(qdrant.FieldCondition(COLLECTION, match=qdrant.MatchAny(sorted(set(scope.collections)))))
    if scope.principals is not None:
        readers = sorted({*scope.principals, EVERYBODY})
        must.append(qdrant.FieldCondition(ACL, match=qdrant.MatchAny(readers)))
    if scope.filter is not None:
        must.append(_condition(scope.filter))
    return qdrant.Filter(must=must) if must else None


def _condition(item: Filter) -> Any:  # noqa: PLR0911 - one a case
    match item:
        case And(parts):
            return qdrant.Filter(must=[_condition(part) for part in parts])
        case Or(parts):
            return qdrant.Filter(should=[_condition(part) for part in parts])
        case Not(part):
            return qdrant.Filter(must_not=[_condition(part)])
        case Equals(field, value):
            return _one_of(field, [value])
        case In(field, values):
            return _one_of(field, values)
        case Range(field):
            return _within(field, item.bounds)
        case Exists(field):
            return qdrant.Filter(must_not=[qdrant.IsEmptyCondition(field)])
        case Prefix(field, prefix):
            return qdrant.FieldCondition(field, match=qdrant.MatchPrefix(prefix))


def _one_of(field: str, values: Iterable[Any]) -> Any:
    numbers = [_number(value) for value in values]
    if any(isinstance(number, float) for number in numbers):  # a match takes texts and integers only
        return qdrant.Filter(should=[_between(field, gte=number, lte=number) for number in numbers])
    return qdrant.FieldCondition(field, match=qdrant.MatchAny(numbers))


def _within(field: str, bounds: Mapping[str, Any]) -> Any:
    """Return a range; beyond 2^53 not every integer is a float, as Qdrant's bounds are, so the ends are listed."""
    if any(isinstance(value, float) for value in bounds.values()):
        return _between(field, **bounds)
    low = max(bounds.get("gte", _LEAST), bounds.get("gt", _LEAST - 1) + 1)
    high = min(bounds.get("lte", _MOST), bounds.get("lt", _MOST + 1) - 1)
    first, last = _float_from(low), _float_to(high)
    ends = [*range(low, min(first, high + 1)), *range(max(last + 1, low), high + 1)]
    parts: list[Any] = [qdrant.FieldCondition(field, match=qdrant.MatchAny(sorted(set(ends))))]
    if first <= last:
        parts.append(_between(field, gte=float(first), lte=float(last)))
    return qdrant.Filter(should=parts)


def _float_from(number: int) -> int:
    """Return the least integer from `number` on that a float holds; 1,023 lie between at most."""
    near = float(number)
    return int(near) if int(near) >= number else int(math.nextafter(near, math.inf))


def _float_to(number: int) -> int:
    """Return the greatest integer up to `number` that a float holds."""
    return -_float_from(-number)


def _between(field: str, **bounds: float) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(field, range=qdrant.RangeFloat(**bounds))


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
