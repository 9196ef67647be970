"""What filters mean, over plain metadata and without the product's translation: the reference for every engine."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from umg_search.model import (
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

Values = Callable[[str], Sequence[Any]]
"""The values of a field, comparable with each other and with what a filter says of it."""

Wanted = Callable[[str, Any], Any]
"""What a filter says of a field, in the form of the field's values."""


def matches(item: Filter, metadata: Mapping[str, Any], declared: Sequence[DeclaredField]) -> bool:
    """Tell whether a filter holds for a document with such metadata."""
    types = dict(declared)

    def values(name: str) -> Sequence[Any]:
        kind = types.get(name)
        found = [value for path, value in leaves(metadata) if path == name]
        return [plain(value, kind) for value in found]

    return holds(item, values, lambda name, value: plain(value, types.get(name)))


def holds(item: Filter, values: Values, wanted: Wanted) -> bool:  # noqa: PLR0911 - one a case
    match item:
        case And(parts):
            return all(holds(part, values, wanted) for part in parts)
        case Or(parts):
            return any(holds(part, values, wanted) for part in parts)
        case Not(part):
            return not holds(part, values, wanted)
        case Equals(name, value):
            return wanted(name, value) in values(name)
        case In(name, some):
            return any(wanted(name, value) in values(name) for value in some)
        case Exists(name):
            return bool(values(name))
        case Prefix(name, prefix):
            return any(value.startswith(prefix) for value in values(name))
        case Range(name):
            bounds = {bound: wanted(name, value) for bound, value in item.bounds.items()}
            return any(within(value, **bounds) for value in values(name))


def within(value: Any, *, gte: Any = None, gt: Any = None, lte: Any = None, lt: Any = None) -> bool:
    return (
        (gte is None or value >= gte)
        and (gt is None or value > gt)
        and (lte is None or value <= lte)
        and (lt is None or value < lt)
    )


def leaves(metadata: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    def walk(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{path}.{key}", inner)
        elif isinstance(value, list):
            for inner in value:
                walk(path, inner)
        elif value is not None:
            found.append((path, value))

    for key, value in metadata.items():
        walk(key, value)
    return found


def plain(value: Any, kind: FieldType | None) -> Any:
    """Return a value as its type compares it: undeclared ones as text, dates as moments."""
    text = value.text if isinstance(value, Unquoted) else value
    if kind is None:
        return text if isinstance(text, str) else json.dumps(text)
    if kind is FieldType.DATE:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    if not isinstance(value, Unquoted) or kind is FieldType.KEYWORD:
        return text
    return json.loads(text)
