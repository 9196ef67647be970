"""What a search says where it found nothing."""

import pytest

from tests.fakes.encoders import spec
from umg_search.model import DeclaredField, FieldType, parse_filter
from umg_search.ports import Scope
from umg_search.search.hints import MOST_COLLECTIONS, hints

FIELDS = (DeclaredField("lang", FieldType.KEYWORD), DeclaredField("year", FieldType.INTEGER))
THERE = ["manuals", "minutes", "letters", "decisions", "incidents", "policies"]


def told(scope: Scope, there: list[str] = THERE, *, access_control: bool = False) -> list[str]:
    return list(hints(scope, spec(access_control=access_control, fields=FIELDS), lambda _: there))


def test_a_mistyped_collection_is_told_of_with_the_nearest() -> None:
    (hint,) = told(Scope(("manuls", "letters")))
    assert hint == "There is no document in collection 'manuls': there are 'manuals', 'minutes' and 4 more."


def test_the_largest_collections_are_named_where_none_is_near() -> None:
    (hint,) = told(Scope(("xyz",)))
    assert hint.endswith("there are 'manuals', 'minutes', 'letters', 'decisions', 'incidents' and 1 more.")
    assert told(Scope(("xyz",)), []) == ["There is no document in collection 'xyz': there are none."]


def test_of_more_collections_than_are_looked_through_none_is_missing() -> None:
    assert told(Scope(("xyz",)), [str(i) for i in range(MOST_COLLECTIONS)]) == []


def test_with_access_control_the_answer_is_the_same_whether_a_collection_exists_or_not() -> None:
    one, other = (told(Scope((name,), ("ann",)), access_control=True)[0] for name in ("manuals", "manuls"))
    assert one.replace("manuals", "") == other.replace("manuls", "")
    assert not any(name in other for name in THERE)


@pytest.mark.parametrize("text", ["yaer = 2020", "not yaer = 2020", "lang = de and (yaer = 2020 or year = 2020)"])
def test_a_field_that_is_not_declared_is_told_of_with_those_that_are(text: str) -> None:
    (hint,) = told(Scope(filter=parse_filter(text)))
    assert "field 'yaer' is not declared" in hint
    assert hint.endswith("declared are 'year' and 1 more.")


def test_nothing_is_said_of_what_is_there() -> None:
    assert told(Scope(("letters",), filter=parse_filter("year = 2020"))) == []
