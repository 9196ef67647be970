"""What filters see of a document: its ACL, its declared fields, and labels for all other metadata."""

import json
from collections.abc import Iterator, Mapping
from reprlib import Repr
from typing import Any

import orjson

from umg_search.errors import DocumentError
from umg_search.granularity import Expert
from umg_search.model import Document, FieldType, FieldValue, LedgerEntry, SetSpec, cut, typed
from umg_search.ports import Attributes
from umg_search.store.ledger import normal_acl

MOST_METADATA_VALUES = 1_000
"""Metadata values of a document, lists counted by their items: each is on every one of its chunk entries."""

MOST_NAME_CHARACTERS = 1_000
"""Characters of a collection or a principal: servers refuse a term of more than 32,766 bytes."""

MOST_BYTES = 1_000_000
"""Largest title, metadata and ACL together, as JSON: they are one entry of the ledger."""

_short = Repr()
_short.maxstring = _short.maxother = 80


def attributes_of(document: Document | LedgerEntry, spec: SetSpec) -> Attributes:
    """Return what the chunk entries hold of a document; DocumentError where a metadata value does not fit its field."""
    types = dict(spec.fields)
    fields = {name: _typed(name, document.metadata.get(name), kind) for name, kind in types.items()}
    labels = {
        label(path, text_of(value))
        for key, item in document.metadata.items()
        if key not in types
        for path, value in _leaves(key, item)
    }
    count = len(labels) + sum(len(values) for values in fields.values())
    if count > MOST_METADATA_VALUES:
        raise DocumentError(
            f"Its metadata holds {count} values to filter by, and {MOST_METADATA_VALUES} are allowed: "
            "keep long lists elsewhere."
        )
    title = document.title if Expert.LEXICAL in spec.experts else None
    return Attributes(normal_acl(document.acl), fields, tuple(sorted(labels)), title)


def misfit(document: Document, spec: SetSpec) -> str:
    """Return why a document cannot be stored, or not be filtered by in this set; empty where it can."""
    if why := unstorable(document):
        return why
    long = next((n for n in (document.collection, *document.acl) if len(n) > MOST_NAME_CHARACTERS), None)
    if long is not None:
        return (
            f"Its collection or a principal of its ACL has {len(long)} characters, "
            f"and {MOST_NAME_CHARACTERS} are allowed: {_short.repr(long)}."
        )
    try:
        attributes_of(document, spec)
    except DocumentError as error:
        return str(error)
    return ""


def unstorable(document: Document) -> str:
    """Return why no engine could hold a document, empty where one can.

    Readers deliver none such; documents that a program makes may be.
    """
    if not document.id:
        return "Its id is empty."
    if not all(isinstance(text, str) for text in (*document.key, document.title, document.text, *document.acl)):
        return "Its id, collection, title, text or a principal of its ACL is not a string."
    attributes = [*document.key, document.title, document.metadata, document.acl]
    why = _not_json(attributes) or _not_utf8(document.text)
    if why:
        faulty = [f"metadata field {_short.repr(k)}" for k, v in document.metadata.items() if _not_json({k: v})]
        return f"Its {(*faulty, 'text or an attribute')[0]} cannot be stored as JSON in UTF-8 ({why})."
    size = len(orjson.dumps(attributes))
    if size > MOST_BYTES:
        return f"Its title, metadata and ACL take {size} bytes, and {MOST_BYTES} are allowed."
    return ""


def label(path: str, text: str) -> str:
    """Return the entry that stands for a value of an undeclared key, such as `6:sourcewiki` for source = wiki.

    The length of the key comes first, so that no other key and value give the same entry.
    """
    return cut(label_prefix(path, text))


def label_prefix(path: str, text: str) -> str:
    """Return the beginning of the entries of all values of an undeclared key that begin with a text."""
    return f"{len(path)}:{path}{text}"


def text_of(value: Any) -> str:
    """Return the text that a value of an undeclared key is filtered as: a string as it is, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _not_json(value: Any) -> str:
    """Return why a value is no JSON: json is stricter on types, orjson, which servers are asked with, on numbers."""
    try:
        json.dumps(value, allow_nan=False)
        orjson.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""


def _not_utf8(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return str(error)
    return ""


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield single values with their paths, a.b for nested objects; null is no value."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}", item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(path, item)
    elif value is not None:
        yield path, value


def _typed(name: str, value: Any, kind: FieldType) -> tuple[FieldValue, ...]:
    """Return the distinct values of a declared field; a list has several, null none."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(sorted({_one(name, item, kind) for item in items if item is not None}))


def _one(name: str, value: Any, kind: FieldType) -> FieldValue:
    try:
        return typed(value, kind)
    except ValueError as error:
        raise DocumentError(
            f"Its metadata field {name!r} is declared as {kind}, and its value {_short.repr(value)} is none: "
            "correct the value."
        ) from error
