"""`umg doctor` from end to end, and what commands say of an index that is not there."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import MODEL, Umg


def checks(umg: Umg, code: int = 0) -> dict[str, dict[str, str]]:
    """Return what `umg doctor --json` finds, by check; the last one of a check counts."""
    ended, out, _ = umg("doctor", "--json")
    assert ended == code, out
    return {found["check"]: found for found in json.loads(out)["checks"]}


@pytest.mark.usefixtures("on_engine")
def test_the_doctor_goes_from_the_settings_to_the_models(
    umg: Umg, corpus: Path, configured: Callable[..., None]
) -> None:
    configured(experts="lexical")
    assert checks(umg)["index set"]["verdict"] == "warning"
    umg.json("ingest", corpus)
    code, out, _ = umg("doctor")
    lines = out.splitlines()
    assert code == 0
    assert [line for line in lines if line.startswith("error")] == []
    assert lines[0] == "ok       settings: all valid"
    assert lines[1].startswith("ok       engine: ")
    assert lines[-1].startswith("ok       set and settings: ")
    assert "ok       documents: 2 searchable" in lines


@pytest.mark.usefixtures("embedded")
def test_settings_that_differ_from_the_set_are_named_and_both_sets_of_models_tried(
    umg: Umg, corpus: Path, configured: Callable[..., None]
) -> None:
    umg.json("ingest", corpus)
    configured(index_preset="lean")
    found = checks(umg)
    assert found["set and settings"]["verdict"] == "warning"
    assert "granularities: the index has 2, 4, 8, 16, 32, the settings say 2, 8" in found["set and settings"]["found"]
    configured(dense_model="package:no_such_package/model")
    code, out, _ = umg("doctor")
    models = [line for line in out.splitlines() if " models: " in line]
    assert code == 2
    assert [line.split()[0] for line in models] == ["error", "ok"]
    assert "no_such_package" in models[0]
    assert f"of the active set: {MODEL} (384 dimensions)" in models[1]


@pytest.mark.usefixtures("embedded")
def test_wrong_settings_are_all_that_is_said(umg: Umg, configured: Callable[..., None]) -> None:
    configured(retries="many", colour="red")
    found = checks(umg, 2)
    assert list(found) == ["settings"]
    assert all(name in found["settings"]["found"] for name in ("UMG_RETRIES", "UMG_COLOUR"))


@pytest.mark.usefixtures("embedded")
def test_a_broken_shard_makes_the_doctor_end_with_3(
    umg: Umg, corpus: Path, configured: Callable[..., None], tmp_path: Path
) -> None:
    configured(experts="lexical")
    umg.json("ingest", corpus)
    shutil.rmtree(tmp_path / "index" / "v1" / "g08")
    found = checks(umg, 3)
    assert found["shards"]["verdict"] == "error"
    assert "g08" in found["shards"]["found"]
    assert found["shards"]["remedy"]


@pytest.mark.parametrize("command", [["status"], ["search", "x"], ["text", "x"], ["delete", "x"], ["doctor"]])
def test_a_mistyped_folder_is_told_and_not_made(
    umg: Umg, configured: Callable[..., None], tmp_path: Path, command: list[str]
) -> None:
    configured(engine=f"embedded:{tmp_path / 'mistyped'}", experts="lexical")
    code, out, err = umg(*command)
    assert code == (0 if command == ["doctor"] else 4)
    assert f"Nothing is indexed at {tmp_path / 'mistyped'} yet" in out + err
    assert "umg ingest" in out + err
    assert not (tmp_path / "mistyped").exists()


def test_the_doctor_checks_what_it_can_where_no_folder_is_yet(
    umg: Umg, configured: Callable[..., None], tmp_path: Path
) -> None:
    folder = tmp_path / "not" / "yet"
    configured(engine=f"embedded:{folder}", experts="lexical")
    found = checks(umg)
    assert {name: each["verdict"] for name, each in found.items()} == {
        "settings": "ok",
        "folder": "ok",
        "disk": "ok",
        "index set": "warning",
        "models": "ok",
    }
    assert found["folder"]["found"] == f"{folder} holds no index yet, and one can be made there"
    assert "GiB free" in found["disk"]["found"]


@pytest.mark.usefixtures("embedded")
def test_an_id_that_is_given_twice_is_deleted_once(umg: Umg, corpus: Path, configured: Callable[..., None]) -> None:
    configured(experts="lexical")
    umg.json("ingest", corpus)
    assert umg("delete", "harbour.md", "harbour.md")[:2] == (0, "1 deleted.\n")
    assert umg("delete", "nothing", "nothing")[2].count("nothing") == 1
