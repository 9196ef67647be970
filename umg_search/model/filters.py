"""Filters on metadata as a tree of frozen values, with one meaning on every engine.

A clause on a field with several values holds where it holds for any of them. `Not` holds for every document for which
its part does not, those without the field included.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from umg_search.errors import QueryError

MOST_DEPTH = 16
"""Nested And, Or and Not in a filter."""

MOST_CLAUSES = 256
"""Clauses on fields in a filter: with the 400 words of a question they stay below 1,024, where servers refuse."""

MOST_IN = 1_024
"""Values of one In."""

MOST_VALUES = 4_096
"""Values of all clauses together: a filter goes along with the search of every channel."""


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A value written without quotes: it is read as its field's type tells, as text for undeclared fields."""

    text: str


Value = str | int | float | bool | Unquoted


@dataclass(frozen=True, slots=True)
class Equals:
    """The field has this value."""

    field: str
    value: Value


@dataclass(frozen=True, slots=True)
class In:
    """The field has one of these values."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The field, a declared integer, float or date, has a value within the bounds that are given."""

    field: str
    gte: Value | None = None
    gt: Value | None = None
    lte: Value | None = None
    lt: Value | None = None

    @property
    def bounds(self) -> dict[str, Value]:
        """The bounds that are given, by name."""
        named = {"gte": self.gte, "gt": self.gt, "lte": self.lte, "lt": self.lt}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Exists:
    """The declared field has any value."""

    field: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """The field, a declared keyword or undeclared, has a value that begins with this text, in this very case."""

    field: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: "Filter"


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds."""

    parts: tuple["Filter", ...]


Clause = Equals | In | Range | Exists | Prefix
Filter = And | Or | Not | Clause


def fields_of(item: Filter) -> tuple[str, ...]:
    """Return the fields that a filter asks, each once, in the order of their first clauses."""
    return tuple(dict.fromkeys(clause.field for clause in _clauses(item, 0)))


def check_size(item: Filter) -> None:
    """Raise QueryError for a filter that is too deep or too large, or has a part without content."""
    clauses = list(_clauses(item, 0))
    if len(clauses) > MOST_CLAUSES:
        raise QueryError(f"The filter has {len(clauses)} clauses, and {MOST_CLAUSES} are allowed: use `in` for lists.")
    sizes = [_size(clause) for clause in clauses]
    if max(sizes) > MOST_IN or sum(sizes) > MOST_VALUES:
        raise QueryError(
            f"The filter has {sum(sizes)} values, {max(sizes)} of them in one `in`, and {MOST_VALUES} and {MOST_IN} "
            "are allowed: ask in several searches, or give the documents a field for what they have in common."
        )


def _clauses(item: Filter, depth: int) -> Iterator[Clause]:
    if depth > MOST_DEPTH:
        raise QueryError(f"The filter is nested more than {MOST_DEPTH} deep: write it flatter.")
    if isinstance(item, And | Or | Not):
        parts = (item.part,) if isinstance(item, Not) else item.parts
        if not parts:
            raise QueryError("The filter has an And or Or without parts: leave it out.")
        for part in parts:
            yield from _clauses(part, depth + 1)
    else:
        yield item


def _size(clause: Clause) -> int:
    """Return the number of values of a clause; QueryError where it says nothing, or the same thing twice."""
    if not isinstance(clause.field, str) or (isinstance(clause, Prefix) and not isinstance(clause.prefix, str)):
        raise QueryError(f"The filter's clause {clause!r} needs a field name, and a prefix a text.")
    if isinstance(clause, In):
        given: object = clause.values
        if isinstance(given, str):  # it would be taken letter by letter
            raise QueryError(f"The filter asks {clause.field!r} for one of {given!r}: give a tuple of values.")
        if not clause.values:
            raise QueryError(f"The filter asks {clause.field!r} for one of no values: name at least one.")
        return len(clause.values)
    if isinstance(clause, Range):
        names = clause.bounds.keys()
        if not names or {"gte", "gt"} <= names or {"lte", "lt"} <= names:
            raise QueryError(
                f"The filter's range of {clause.field!r} has the bounds {', '.join(names) or 'none'}: "
                "give gte or gt, lte or lt, or one of each."
            )
    return 1
