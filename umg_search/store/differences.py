"""In what two specifications of index sets differ, in few words."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from umg_search.model import DeclaredField, SetSpec

_MOST = 80
"""Characters of a value that are shown."""


def differences(stored: SetSpec, wanted: SetSpec) -> str:
    """Return both values of every field in which two specifications differ, and of their parts only those that do."""
    return "; ".join(
        f"{name}: the index has {_shown(one)}, the settings say {_shown(other)}"
        for name, one, other in _differing(stored, wanted)
    )


def _differing(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    for field in fields(one):
        pair = getattr(one, field.name), getattr(other, field.name)
        if pair[0] != pair[1]:
            yield field.name, *_parts(*pair)


def _parts(one: Any, other: Any) -> tuple[Any, Any]:
    """Return what differs inside of two values: attributes of a model, declared fields."""
    if is_dataclass(one) and type(one) is type(other):
        found = list(_differing(one, other))
        return {name: part for name, part, _ in found}, {name: part for name, _, part in found}
    if any(isinstance(item, DeclaredField) for item in (*_items(one), *_items(other))):
        return tuple(f for f in one if f not in other), tuple(f for f in other if f not in one)
    return one, other


def _items(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and not isinstance(value, DeclaredField):
        text = ", ".join(map(_shown, value))
    elif isinstance(value, dict):
        text = ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    elif is_dataclass(value):
        return _shown({field.name: getattr(value, field.name) for field in fields(value)})
    else:
        text = "" if value is None else str(value.value if isinstance(value, Enum) else value)
    return (text if len(text) <= _MOST else f"{text[:_MOST]}...") or "none"
