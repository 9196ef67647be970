"""Filters as engines are asked: names become places in chunk entries, and values take the form that is stored there."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from umg_search.errors import QueryError
from umg_search.model import (
    MOST_CHARACTERS,
    ORDERED,
    And,
    Clause,
    Equals,
    Exists,
    FieldType,
    FieldValue,
    Filter,
    In,
    Not,
    Or,
    Prefix,
    Range,
    SetSpec,
    Unquoted,
    Value,
    check_size,
    typed,
    typed_text,
)
from umg_search.ports import Scope
from umg_search.store.attributes import label, label_prefix, text_of

FIELDS = "fields"
"""The object in a chunk entry that holds the declared fields."""

LABELS = "labels"
"""The keyword in a chunk entry that holds all other metadata."""

_Kind = TypeVar("_Kind", bound=FieldValue)


def resolved(scope: Scope, spec: SetSpec) -> Scope:
    """Return a scope in the engine's terms; QueryError where its filter does not fit the set, and says how.

    Whether any document has a field that is not declared makes no difference: nobody learns of fields that way.
    """
    for name in (*scope.collections, *(scope.principals or ())):
        _check_text(name)
    if scope.filter is None:
        return scope
    check_size(scope.filter)
    return replace(scope, filter=_resolved(scope.filter, dict(spec.fields)))


def _resolved(item: Filter, types: Mapping[str, FieldType]) -> Filter:
    match item:
        case And(parts):
            return And(tuple(_resolved(part, types) for part in parts))
        case Or(parts):
            return Or(tuple(_resolved(part, types) for part in parts))
        case Not(part):
            return Not(_resolved(part, types))
        case _:
            _check_text(item.field)
            kind = types.get(item.field)
            return _of_label(item) if kind is None else _of_field(item, kind)


def _of_field(item: Clause, kind: FieldType) -> Clause:
    place = f"{FIELDS}.{item.field}"
    match item:
        case Equals(name, value):
            return Equals(place, _typed(name, value, kind))
        case In(name, values):
            return In(place, _distinct(_typed(name, value, kind) for value in values))
        case Range(name):
            if kind not in ORDERED:
                raise _refusal(f"field {name!r} is {kind} and has no order", "use =, in or exists")
            return Range(place, **{bound: _typed(name, value, kind) for bound, value in item.bounds.items()})
        case Exists():
            return Exists(place)
        case Prefix(name, prefix):
            if kind is not FieldType.KEYWORD:
                raise _refusal(f"field {name!r} is {kind} and has no prefix", "use =, in, exists, or a range")
            return Prefix(place, _prefix(prefix, prefix))


def _of_label(item: Clause) -> Clause:
    match item:
        case Equals(name, value):
            return Equals(LABELS, label(name, _text(value)))
        case In(name, values):
            return In(LABELS, _distinct(label(name, _text(value)) for value in values))
        case Prefix(name, prefix):
            return Prefix(LABELS, _prefix(prefix, label_prefix(name, prefix)))
        case Range(name) | Exists(name):
            raise _refusal(
                f"field {name!r} is not declared, so it knows =, !=, in and ^= only",
                "declare it with UMG_FIELDS for a new index set",
            )


def _typed(name: str, value: Value, kind: FieldType) -> FieldValue:
    _check_text(value)
    try:
        return typed_text(value.text, kind) if isinstance(value, Unquoted) else typed(value, kind)
    except ValueError as error:
        raise QueryError(
            f"The filter cannot be used: field {name!r} is {kind}, and {error}: correct the value."
        ) from error


def _text(value: Value) -> str:
    _check_text(value)
    return value.text if isinstance(value, Unquoted) else text_of(value)


def _distinct(values: Iterable[_Kind]) -> tuple[_Kind, ...]:
    return tuple(dict.fromkeys(values))


def _prefix(prefix: str, placed: str) -> str:
    _check_text(prefix)
    if not prefix:
        raise _refusal("a prefix is empty", "give at least one character")
    if len(placed) > MOST_CHARACTERS:
        raise _refusal(f"a prefix has, with its key, {len(placed)} characters", f"use at most {MOST_CHARACTERS}")
    return placed


def _check_text(value: Value) -> None:
    """Refuse what no stored text holds; a replacement character in its place might be somebody else's name."""
    text = value.text if isinstance(value, Unquoted) else value
    try:
        if isinstance(text, str):
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QueryError(
            "A collection, principal or filter holds a lone surrogate, as none stored does: correct it."
        ) from error


def _refusal(why: str, advice: str) -> QueryError:
    return QueryError(f"The filter cannot be used: {why}: {advice}.")
