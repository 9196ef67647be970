"""`umg index` and `umg purge` from end to end, with a real model."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import MODEL, Umg
from umg_search.encoding.models import locate

QUESTION = "when is the east basin closed?"


def best(umg: Umg) -> str:
    return umg.json("search", QUESTION)["contexts"][0]["document_id"]


def roles(umg: Umg) -> dict[str, str]:
    return {each["set"]: each["role"] for each in umg.json("index", "list")["sets"]}


@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize("preset", ["lean", "derived"])
def test_other_settings_are_refused_then_built_beside_activated_rolled_back_and_dropped(
    umg: Umg, corpus: Path, configured: Callable[..., None], preset: str
) -> None:
    umg.json("ingest", corpus)
    configured(index_preset=preset)
    code, _, said = umg("ingest", corpus)
    assert code == 2
    assert "umg index rebuild" in " ".join(said.split())

    built = umg.json("index", "rebuild")
    assert (built["set"], built["documents"]) == ("v2", {"built": 2, "failed": 0})
    assert roles(umg) == {"v1": "active", "v2": "building"}
    listed = umg.json("index", "list")["sets"][1]
    assert listed["granularities"] == ([2, 8] if preset == "lean" else [2])
    assert listed["derived"] == ([] if preset == "lean" else [4, 8, 16, 32])
    assert ("derived: 4, 8, 16, 32" in umg("index", "list")[1]) is (preset == "derived")
    assert umg.json("index", "rebuild")["documents"] == {"built": 0, "failed": 0}
    assert best(umg) == "harbour.md"

    assert umg("index", "activate", 2)[0] == 0
    assert umg.json("status")["set"] == "v2"
    assert best(umg) == "harbour.md"
    explained = umg.json("search", QUESTION, "--explain")["channels"]
    assert {channel["granularity"] for channel in explained} == ({2, 8} if preset == "lean" else {2, 4, 8, 16, 32})
    assert {channel["granularity"] for channel in explained if not channel["derived"]} <= {2, 8}
    assert umg.json("ingest", corpus)["documents"] == {"new": 0, "updated": 0, "unchanged": 2, "failed": 0}

    assert umg("index", "rollback")[0] == 0
    assert roles(umg) == {"v1": "active", "v2": "previous"}
    code, _, said = umg("index", "drop", 1)
    assert (code, "v1 is the active one" in said) == (2, True)
    assert umg("index", "drop", 2)[:2] == (0, "Set v2 is dropped.\n")
    assert best(umg) == "harbour.md"
    code, printed, _ = umg("index", "list")
    assert (code, "v2 previous" in printed) == (0, False)


@pytest.mark.usefixtures("embedded")
def test_the_list_of_sets_tells_models_prompts_fields_and_access_control_whole(
    umg: Umg, tmp_path: Path, corpus: Path, configured: Callable[..., None]
) -> None:
    """Also on a terminal of 80 columns, which is what a pipe counts as."""
    long = tmp_path / ("a-folder-of-models-" * 5)
    long.symlink_to(locate(MODEL).target)
    configured(dense_model=long, dense_query_prompt="query: ", fields="year:integer,lang:keyword", access_control=True)
    umg.json("ingest", corpus)
    (listed,) = umg.json("index", "list")["sets"]
    assert listed["prompts"] == {"query": "query: ", "passage": ""}
    assert listed["fields"] == {"lang": "keyword", "year": "integer"}
    assert listed["access_control"] is True
    code, printed, _ = umg("index", "list")
    assert (code, printed.splitlines()[0]) == (0, "v1 active: 2 current, 0 outdated, 0 missing documents")
    for line in (f"models: {long}", "prompts: query 'query: '", "fields: lang:keyword, year:integer", "control: on"):
        assert line in printed


@pytest.mark.usefixtures("embedded")
def test_a_rebuild_under_the_settings_of_the_active_set_says_so(
    umg: Umg, corpus: Path, configured: Callable[..., None]
) -> None:
    configured(experts="lexical")
    umg.json("ingest", corpus)
    notice = "The settings are those of the active set v1"
    code, _, said = umg("index", "rebuild")
    assert (code, notice in " ".join(said.split())) == (0, True)
    umg("index", "drop", 2)
    configured(index_preset="lean")
    assert notice not in " ".join(umg("index", "rebuild")[2].split())


@pytest.mark.usefixtures("embedded")
def test_a_purge_takes_tombstones_of_its_age(umg: Umg, corpus: Path) -> None:
    umg.json("ingest", corpus)
    assert umg("delete", "harbour.md")[0] == 0
    assert umg("purge")[:2] == (0, "0 documents swept, 0 tombstones purged.\n")
    assert umg("purge", "--older-than", 0)[:2] == (0, "0 documents swept, 1 tombstones purged.\n")
    assert umg.json("status")["documents"] == {"searchable": 1}


@pytest.mark.usefixtures("embedded")
def test_a_purge_that_the_grace_bounds_says_so(umg: Umg, corpus: Path, configured: Callable[..., None]) -> None:
    configured(grace_s=60)
    umg.json("ingest", corpus)
    umg("delete", "harbour.md")
    _, printed, _ = umg("purge", "--older-than", 0)
    assert printed.splitlines() == [
        "0 documents swept, 0 tombstones purged.",
        "Tombstones younger than the grace of 60 s (UMG_GRACE_S) are kept.",
    ]
    assert "grace" not in umg("purge")[1]


@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize("command", [["index", "list"], ["index", "rebuild"], ["index", "rollback"], ["purge"]])
def test_nothing_indexed_yet_is_said_before_any_model_is_loaded(umg: Umg, command: list[str]) -> None:
    code, _, said = umg(*command)
    assert code == 2
    assert "umg ingest" in said
