"""Filters as text: what is read, and where it cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.errors import QueryError
from umg_search.model import And, Equals, Exists, Filter, In, Not, Or, Prefix, Range, Unquoted, check_size, parse_filter
from umg_search.model.filter_text import RESERVED
from umg_search.model.filters import MOST_CLAUSES, MOST_DEPTH, MOST_IN, MOST_VALUES


def u(text: str) -> Unquoted:
    return Unquoted(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year >= 2020", Range("year", gte=u("2020"))),
        ("year>2020", Range("year", gt=u("2020"))),
        ("year <= -1.5e3", Range("year", lte=u("-1.5e3"))),
        ("year < 1", Range("year", lt=u("1"))),
        ('name = "a \\"b\\" \\\\ c"', Equals("name", 'a "b" \\ c')),
        ("when = 2024-05-01T10:00:00+02:00", Equals("when", u("2024-05-01T10:00:00+02:00"))),
        ("lang != en", Not(Equals("lang", u("en")))),
        ('name ^= "foo"', Prefix("name", "foo")),
        ("a.b ^= foo", Prefix("a.b", "foo")),
        ('lang in [en, "d e"]', In("lang", (u("en"), "d e"))),
        ("lang NOT IN [en]", Not(In("lang", (u("en"),)))),
        ("exists(draft)", Exists("draft")),
        ("Not exists ( draft )", Not(Exists("draft"))),
        ('"odd key" = 日本', Equals("odd key", u("日本"))),
        ('"in" = "and"', Equals("in", "and")),
        ("a=1 or b=2 and c=3", Or((Equals("a", u("1")), And((Equals("b", u("2")), Equals("c", u("3"))))))),
        ("(a=1 or b=2) and c=3", And((Or((Equals("a", u("1")), Equals("b", u("2")))), Equals("c", u("3"))))),
        ("not a=1 and b=2", And((Not(Equals("a", u("1"))), Equals("b", u("2"))))),
        ("not not a=1", Not(Not(Equals("a", u("1"))))),
        (" \n a\t=1 \n", Equals("a", u("1"))),
    ],
)
def test_a_text_stands_for_a_tree(text: str, expected: Filter) -> None:
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "at its end: the name of a field"),
        ("year", "at its end: one of ="),
        ("year >", "at its end: a value"),
        ("year >> 2020", r"at character 7 \('> 2020'\): a value"),
        ("year = and", r"at character 8 \('and'\)"),
        ("(a = 1", r"at its end: `\)`"),
        ("a = 1 b = 2", r"at character 7 \('b = 2'\): `and`, `or`"),
        ("a in []", r"at character 7 \('\]'\): a value"),
        ("a in [1,]", r"at character 9"),
        ("a in 1", r"at character 6 \('1'\): `\[`"),
        ("a not 1", r"at character 7 \('1'\): `in`"),
        ("exists draft", r"at character 8 \('draft'\): `\(`"),
        ('a = "open', r"at character 5"),
        (r'a = "\n"', r"at character 5"),
        ("a ! b", r"at character 3"),
        ("a = 1)", r"at character 6"),
    ],
)
def test_what_cannot_be_read_is_shown_with_its_place(text: str, place: str) -> None:
    with pytest.raises(QueryError, match=place):
        parse_filter(text)


@given(st.text())
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    try:
        parse_filter(text)
    except QueryError as error:
        assert str(error).startswith("The filter cannot be read at")  # noqa: PT017 - both ends are right


@given(st.text(), st.text())
def test_any_name_and_value_can_be_written_in_quotes(name: str, value: str) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    assert parse_filter(f"{quoted(name)} = {quoted(value)}") == Equals(name, value)


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_words_of_the_language_are_no_values(word: str) -> None:
    with pytest.raises(QueryError, match="double quotes"):
        parse_filter(f"a = {word.upper()}")


def test_size_and_depth_are_bounded() -> None:
    parse_filter(" or ".join(["a = 1"] * MOST_CLAUSES))
    with pytest.raises(QueryError, match=f"{MOST_CLAUSES + 1} clauses, and {MOST_CLAUSES}"):
        parse_filter(" or ".join(["a = 1"] * (MOST_CLAUSES + 1)))
    parse_filter("not " * MOST_DEPTH + "a = 1")
    for opening in ("not ", "("):
        with pytest.raises(QueryError, match=f"more than {MOST_DEPTH} deep"):
            parse_filter(opening * 100_000 + "a = 1")
    listed = f"a in [{', '.join(['1'] * MOST_IN)}]"
    parse_filter(listed)
    with pytest.raises(QueryError, match=f"{MOST_IN + 1} of them in one `in`"):
        parse_filter(f"a in [{', '.join(['1'] * (MOST_IN + 1))}]")
    with pytest.raises(QueryError, match=f"{MOST_VALUES + 1} values"):
        parse_filter(" or ".join([*[listed] * (MOST_VALUES // MOST_IN), "a = 1"]))


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (And(()), "without parts"),
        (Not(Or(())), "without parts"),
        (In("a", ()), "'a' for one of no values"),
        (Range("a"), "'a' has the bounds none"),
        (Range("a", gte=1, gt=1), "gte, gt"),
        (Range("a", lte=1, lt=1), "lte, lt"),
        (In("a", "en"), "'en': give a tuple"),
        (Prefix("a", 5), "a prefix a text"),
        (Equals(5, "x"), "needs a field name"),
    ],
)
def test_a_tree_that_says_nothing_is_refused(item: Filter, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        check_size(item)
