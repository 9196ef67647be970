from dataclasses import replace

import pytest

from tests.fakes.encoders import spec
from umg_search.granularity import Expert
from umg_search.model import DeclaredField, FieldType, SetSpec
from umg_search.store.differences import differences

LANG, YEAR = DeclaredField("lang", FieldType.KEYWORD), DeclaredField("year", FieldType.INTEGER)
SPEC = spec(fields=(LANG, YEAR))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (SPEC, ""),
        (replace(SPEC, analyzer="german"), "analyzer: the index has standard, the settings say german"),
        (
            replace(SPEC, dense=replace(SPEC.dense, dims=768)),
            "dense: the index has dims 48, the settings say dims 768",
        ),
        (
            replace(SPEC, fields=(LANG, DeclaredField("year", FieldType.FLOAT))),
            "fields: the index has year:integer, the settings say year:float",
        ),
        (replace(SPEC, fields=(LANG,)), "fields: the index has year:integer, the settings say none"),
        (
            replace(SPEC, experts=(Expert.DENSE,), sparse=None),
            (
                "experts: the index has dense, sparse, lexical, the settings say dense; "
                "sparse: the index has name hashed-words, the settings say none"
            ),
        ),
    ],
)
def test_only_what_differs_is_told(other: SetSpec, told: str) -> None:
    assert differences(SPEC, other) == told


def test_a_long_value_is_cut() -> None:
    assert len(differences(SPEC, replace(SPEC, analyzer="x" * 10_000))) < 200
