"""Declared metadata fields: their types, and the one form in which every engine holds a value."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple

FieldValue = str | int | float | bool
"""A value as engines hold it: dates are milliseconds since 1970-01-01 UTC, long keywords are cut."""

MOST_CHARACTERS = 256
"""Characters of a keyword that engines hold; longer ones continue with a digest of the whole (servers refuse terms of
more than 32,766 bytes). Equal texts stay equal, different ones different, and prefixes up to this length exact."""


class FieldType(StrEnum):
    """What a declared field may hold."""

    INTEGER = "integer"
    FLOAT = "float"
    DATE = "date"
    BOOLEAN = "boolean"
    KEYWORD = "keyword"


class DeclaredField(NamedTuple):
    """A metadata field with a type, fixed when an index set is made."""

    name: str
    type: FieldType

    def __str__(self) -> str:
        return f"{self.name}:{self.type}"


MOST_FIELDS = 64
"""Declared fields of a set: each is a field of every chunk index."""

ORDERED = frozenset({FieldType.INTEGER, FieldType.FLOAT, FieldType.DATE})
"""Types that ranges are asked of."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WIDTH = 63
"""Bits of an integer beside its sign."""


def declared_fields(value: Any) -> tuple[DeclaredField, ...]:
    """Return fields in one order, of `name:type,...`, a table of types by name, or pairs; ValueError for all else."""
    pairs = _pairs(value)
    names = {pair[0] for pair in pairs if _is_field(pair)}
    if len(names) < len(pairs) or len(pairs) > MOST_FIELDS:
        raise ValueError(
            "a field is NAME:TYPE, its name a letter and then letters, digits, _ or -, "
            f"its type one of {', '.join(FieldType)}; each name once, {MOST_FIELDS} at most"
        )
    return tuple(sorted(DeclaredField(name, FieldType(kind)) for name, kind in pairs))


def typed(value: Any, kind: FieldType) -> FieldValue:
    """Return a value as engines hold it; ValueError where it is none of this type."""
    found = _STORED[kind](value)
    if found is None:
        raise ValueError(f"{value!r} is no {kind}")
    return found


def typed_text(text: str, kind: FieldType) -> FieldValue:
    """Return what a text without quotes stands for, as engines hold it; ValueError where it is none of this type."""
    try:
        return typed(_READ.get(kind, str)(text), kind)
    except (KeyError, ValueError) as error:
        raise ValueError(f"{text} is no {kind}") from error


def cut(text: str) -> str:
    """Return a text as engines hold it in a keyword."""
    if len(text) <= MOST_CHARACTERS:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return text[:MOST_CHARACTERS] + digest


def _pairs(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [tuple(part.strip().split(":", 1)) for part in value.split(",") if part.strip()]
    if isinstance(value, Mapping):
        return list(value.items())
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_field(pair: object) -> bool:
    match pair:
        case (str(name), str(kind)):
            return bool(_NAME.fullmatch(name)) and kind in set(FieldType)
    return False


def _integer(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(1 << _WIDTH) <= value < 1 << _WIDTH else None


def _float(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None  # -0.0 becomes 0.0: Lucene tells them apart


def _date(value: Any) -> int | None:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MILLISECOND


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _keyword(value: Any) -> str | None:
    return cut(value) if isinstance(value, str) else None


_STORED: Mapping[FieldType, Callable[[Any], FieldValue | None]] = {
    FieldType.INTEGER: _integer,
    FieldType.FLOAT: _float,
    FieldType.DATE: _date,
    FieldType.BOOLEAN: _boolean,
    FieldType.KEYWORD: _keyword,
}


def _whole(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _fraction(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


_READ: Mapping[FieldType, Callable[[str], Any]] = {
    FieldType.INTEGER: _whole,
    FieldType.FLOAT: _fraction,
    FieldType.BOOLEAN: {"true": True, "false": False}.__getitem__,
}
