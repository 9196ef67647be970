"""What chunk entries hold of a document for filters."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.encoders import spec
from umg_search.errors import DocumentError
from umg_search.granularity import Expert
from umg_search.model import DeclaredField, Document, FieldType
from umg_search.ports import Attributes
from umg_search.store.attributes import (
    MOST_METADATA_VALUES,
    MOST_NAME_CHARACTERS,
    attributes_of,
    label_prefix,
    misfit,
    unstorable,
)

YEAR = DeclaredField("year", FieldType.INTEGER)
LANG = DeclaredField("lang", FieldType.KEYWORD)
SPEC = spec(experts=(Expert.DENSE,), fields=(LANG, YEAR))


def document(**kind: Any) -> Document:
    return Document(id="a", text="", **kind)


def test_declared_fields_are_typed_and_all_others_become_labels() -> None:
    metadata = {"year": [2021, 2020, 2021], "source": "wiki", "a": {"b": [1, {"c": True}], "year": 7}, "gone": None}
    assert attributes_of(document(metadata=metadata, acl=("z", "a", "z")), SPEC) == Attributes(
        acl=("a", "z"),
        fields={"lang": (), "year": (2020, 2021)},
        labels=("3:a.b1", "5:a.b.ctrue", "6:a.year7", "6:sourcewiki"),
    )


@pytest.mark.parametrize("nothing", [{}, {"year": None}, {"year": []}, {"year": [None]}])
def test_null_and_empty_lists_are_no_values(nothing: dict[str, Any]) -> None:
    assert attributes_of(document(metadata=nothing), SPEC).fields == {"lang": (), "year": ()}


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_no_two_keys_and_values_give_the_same_label(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (label_prefix(*one) == label_prefix(*other)) is (one == other)


@pytest.mark.parametrize("wrong", ["2020", 2020.5, True, {"x": 1}, [[2020]], [2020, "x"], 2**63])
def test_a_value_that_does_not_fit_is_named_with_field_and_type(wrong: Any) -> None:
    why = misfit(document(metadata={"year": wrong}), SPEC)
    assert "'year' is declared as integer" in why
    assert str(wrong[-1] if isinstance(wrong, list) else wrong)[:8] in why


def test_a_value_of_any_length_makes_a_short_message() -> None:
    assert len(misfit(document(metadata={"year": "x" * 100_000}), SPEC)) < 300


def test_values_names_and_principals_are_bounded() -> None:
    most = {"list": [str(i) for i in range(MOST_METADATA_VALUES)]}
    assert not misfit(document(metadata=most), SPEC)
    assert f"{MOST_METADATA_VALUES + 1} values" in misfit(document(metadata=most | {"year": 1}), SPEC)
    for kind in ({"collection": "x" * 1_001}, {"acl": ("ann", "x" * 1_001)}):
        assert f"1001 characters, and {MOST_NAME_CHARACTERS}" in misfit(document(**kind), SPEC)


def test_metadata_that_does_not_fit_is_an_error_of_its_document() -> None:
    with pytest.raises(DocumentError, match="'lang'"):
        attributes_of(document(metadata={"lang": 1}), SPEC)


def test_titles_are_there_where_they_are_searched() -> None:
    assert attributes_of(document(title="T"), SPEC).title is None
    assert attributes_of(document(title="T"), spec(experts=(Expert.LEXICAL,))).title == "T"


def test_metadata_that_json_knows_is_storable_and_a_date_is_not() -> None:
    assert not unstorable(document(metadata={"list": [1, None, {"x": 2.5}], "no": False}))
    assert "field 'when' cannot be stored as JSON" in unstorable(document(metadata={"no": 1, "when": date(2026, 5, 1)}))


@pytest.mark.parametrize(
    "bad",
    [
        {"metadata": {"when": datetime(2026, 5, 1, tzinfo=UTC)}},
        {"metadata": {"raw": b"bytes"}},
        {"metadata": {"huge": 2**70}},
        {"metadata": {"year": 2020, "half": "\ud800"}},
        {"metadata": {"share": float("nan")}},
        {"metadata": {7: "a key that is no text"}},
        {"title": "\ud800"},
        {"collection": "\ud800"},
        {"acl": (7,)},
        {"title": None},
    ],
)
def test_what_is_no_json_fits_no_set(bad: dict[str, Any]) -> None:
    assert misfit(document(**bad), SPEC)
