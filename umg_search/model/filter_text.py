"""Filters as text, such as `year >= 2020 and (lang in [en, de] or not exists(draft)) and name ^= "foo"`."""

import re
from typing import NamedTuple

from umg_search.errors import QueryError
from umg_search.model.filters import (
    MOST_DEPTH,
    And,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Or,
    Prefix,
    Range,
    Unquoted,
    Value,
    check_size,
)

RESERVED = frozenset({"and", "or", "not", "in", "exists"})
"""Words of the language, in any case; as names and values they stand in quotes."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<quoted>"(?:[^"\\]|\\["\\])*")
    |(?P<sign><=|>=|!=|\^=|[=<>()\[\],])
    |(?P<word>[^\s"=<>!^()\[\],]+)
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)
_BOUNDS = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def parse_filter(text: str) -> Filter:
    """Return the filter that a text stands for; QueryError with the place where it cannot be read."""
    found = _Parser(text).whole()
    check_size(found)
    return found


class _Parser:
    """Recursive descent, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._token = self._scan()

    def whole(self) -> Filter:
        found = self._any(0)
        if self._token.kind != "end":
            raise self._error("`and`, `or` or the end was expected")
        return found

    def _any(self, depth: int) -> Filter:
        parts = [self._all(depth)]
        while self._took("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self, depth: int) -> Filter:
        parts = [self._one(depth)]
        while self._took("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self, depth: int) -> Filter:
        if depth > MOST_DEPTH:
            raise self._error(f"it is nested more than {MOST_DEPTH} deep")
        if self._took("not"):
            return Not(self._one(depth + 1))
        if self._took("("):
            inner = self._any(depth + 1)
            self._expect(")")
            return inner
        if self._took("exists"):
            self._expect("(")
            name = self._name()
            self._expect(")")
            return Exists(name)
        return self._comparison()

    def _comparison(self) -> Filter:
        name = self._name()
        if self._took("="):
            return Equals(name, self._value())
        if self._took("!="):
            return Not(Equals(name, self._value()))
        if self._took("^="):
            value = self._value()
            return Prefix(name, value.text if isinstance(value, Unquoted) else str(value))
        for sign, bound in _BOUNDS.items():
            if self._took(sign):
                return Range(name, **{bound: self._value()})
        if self._took("not"):
            self._expect("in")
            return Not(In(name, self._list()))
        if self._took("in"):
            return In(name, self._list())
        raise self._error("one of =, !=, <, <=, >, >=, ^=, `in` and `not in` was expected")

    def _list(self) -> tuple[Value, ...]:
        self._expect("[")
        values = [self._value()]
        while self._took(","):
            values.append(self._value())
        self._expect("]")
        return tuple(values)

    def _name(self) -> str:
        value = self._value("the name of a field")
        return value.text if isinstance(value, Unquoted) else str(value)

    def _value(self, what: str = "a value") -> Value:
        token = self._token
        if token.kind == "quoted":
            self._token = self._scan()
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if token.kind == "word" and token.text.lower() not in RESERVED:
            self._token = self._scan()
            return Unquoted(token.text)
        raise self._error(f"{what} was expected; words of the language and signs stand in double quotes")

    def _took(self, text: str) -> bool:
        """Pass over a sign or a word of the language, if it stands here."""
        if self._token.kind not in {"sign", "word"} or self._token.text.lower() != text:
            return False
        self._token = self._scan()
        return True

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise self._error(f"`{text}` was expected")

    def _scan(self) -> _Token:
        match = _TOKEN.match(self._text, self._at)
        if match is None or match.lastgroup is None:
            start = len(self._text) - len(self._text[self._at :].lstrip())
            self._token = _Token("none", "", start)
            raise self._error('no sign or word stands there; a quoted text ends with " and has \\ before " and \\')
        self._at = match.end()
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))

    def _error(self, why: str) -> QueryError:
        start = self._token.start
        rest = self._text[start : start + 20]
        where = f"at character {start + 1} ({rest!r})" if rest else "at its end"
        return QueryError(f"The filter cannot be read {where}: {why}.")
