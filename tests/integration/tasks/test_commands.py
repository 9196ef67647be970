"""Orders from the command line, without a worker: nothing is encoded; all is refused, kept or said as documented."""

import json
from pathlib import Path

import pytest

from tests.processes import Deployment

QUICK = {"experts": "lexical"}


@pytest.fixture
def limits() -> dict[str, object]:
    return dict(QUICK)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "documents"
    made.mkdir()
    for name in ("north", "south", "west"):
        (made / f"{name}.txt").write_text(f"The {name} pier is closed. It opens at dawn.", encoding="utf-8")
    return made


def test_a_submission_is_cancelled_and_can_be_made_again(umg: Deployment, folder: Path) -> None:
    first = umg.json("submit", folder)
    assert first["documents"] == {"queued": 3, "unchanged": 0, "failed": 0}
    status = umg.json("status")
    assert (status["documents"], status["backlog"]["documents"], status["at_work"]) == ({"queued": 3}, 3, [])
    assert [(b["batch"], b["submitted"]["queued"]) for b in status["batches"]] == [(first["batch"], 3)]
    printed = umg.run("status").out
    assert f"Submission {first['batch']}: 3 queued, 0 unchanged\n" in printed
    assert "In the queue: 3 texts" in printed
    second = umg.json("submit", folder)["batch"]
    taken_over = umg.run("status", "--batch", first["batch"])
    assert "no document" in taken_over.out
    assert "Later submissions" in taken_over.err
    assert "3 cancelled" in umg.run("cancel", second).out
    assert f"Submission {second}: 3 queued, 0 unchanged, cancelled\n" in umg.run("status").out
    status = umg.json("status")
    assert (status["documents"], status["backlog"]["documents"]) == ({"cancelled": 3}, 0)
    assert umg.json("submit", folder)["documents"]["queued"] == 3


def test_what_vanished_is_shown_and_deleted_only_when_somebody_says_so(umg: Deployment, folder: Path) -> None:
    umg.json("submit", "--sync", folder)
    (folder / "west.txt").unlink()
    refused = umg.run("submit", "--sync", folder, expected=1)
    assert "west.txt" in refused.err
    assert "--yes" in refused.err
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    refused = umg.run("submit", "--sync", "--yes", folder, expected=1)
    assert "Nothing is deleted" in refused.err
    (folder / "broken.pdf").unlink()
    assert umg.json("submit", "--sync", "--yes", folder)["documents"]["deleted"] == 1
    assert umg.json("status")["backlog"]["documents"] == 2
    for path in folder.iterdir():
        path.unlink()
    refused = umg.run("submit", "--sync", "--yes", folder, expected=1)
    assert "no document was found there" in refused.err
    assert umg.json("status")["backlog"]["documents"] == 2


def test_a_broker_that_is_away_is_said_and_the_documents_are_queued(umg: Deployment, folder: Path) -> None:
    umg.settings["UMG_BROKER"] = "redis://127.0.0.1:9/0"
    ran = umg.run("submit", folder)
    assert "3 documents are queued" in ran.err
    assert "127.0.0.1:9" in ran.err
    assert "sweeper" in ran.err
    assert umg.json("status")["documents"] == {"queued": 3}
    assert "127.0.0.1:9" in umg.run("sweeper", "--once", expected=3).err


def test_a_backlog_beyond_its_bound_is_refused_whole(umg: Deployment, tmp_path: Path) -> None:
    umg.settings["UMG_QUEUE_BYTES"] = "1000000"
    path = tmp_path / "large.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "It goes on. " * 100_000}) + "\n", encoding="utf-8")
    refused = umg.run("submit", path, expected=3)
    assert "1000000" in refused.err.replace(",", "")
    assert "Nothing is indexed" in umg.run("status", expected=4).err


def test_wrong_use_is_said_in_one_sentence(umg: Deployment, folder: Path) -> None:
    assert "--failed" in umg.run("retry", expected=2).err
    assert "no submission" in umg.run("status", "--batch", "nothing", expected=2).err.lower()
    assert umg.run("cancel", "nothing", expected=2).err
    assert "one PATH" in umg.run("submit", "--sync", folder, folder, expected=2).err
    assert umg.run("retry", "--failed").out == "0 queued again.\n"
    umg.settings["UMG_ENGINE"] = f"embedded:{folder}"
    for command in (["submit", folder], ["worker"], ["retry", "--failed"], ["cancel", "b"], ["sweeper", "--once"]):
        assert "UMG_ENGINE" in umg.run(*command, expected=2).err


def test_the_doctor_looks_at_redis_jobs_and_sweeper(umg: Deployment, folder: Path) -> None:
    def checks(code: int = 0) -> dict[str, tuple[str, str]]:
        found = umg.json("doctor", expected=code)["checks"]
        return {each["check"]: (each["verdict"], each["found"] + each["remedy"]) for each in found}

    broker = umg.settings["UMG_BROKER"]
    umg.settings["UMG_BROKER"] = "redis://127.0.0.1:9/0"
    verdict, said = checks()["broker"]
    assert (verdict, "nothing was submitted here" in said, "127.0.0.1:9" in said) == ("unknown", True, True)
    umg.run("submit", folder)
    assert checks(3)["broker"][0] == "error"
    umg.settings["UMG_BROKER"] = broker
    found = checks()
    names = ("broker", "messages", "jobs", "sweeper")
    assert {name: found[name][0] for name in names} == {**dict.fromkeys(names, "ok"), "sweeper": "warning"}
    assert "umg sweeper" in found["sweeper"][1]
    umg.run("sweeper", "--once")
    found = checks()
    assert {name: found[name][0] for name in names} == dict.fromkeys(names, "ok")
    assert "1 messages wait" in found["broker"][1]
    assert found["jobs"][1] == "3 queued"


def test_what_is_refused_at_submission_is_shown_whole_and_is_not_tried_again(
    umg: Deployment, folder: Path, tmp_path: Path
) -> None:
    umg.settings["UMG_FIELDS"] = "year:integer"
    umg.json("ingest", folder)
    path = tmp_path / "refused.jsonl"
    name = f"{'deep/' * 20}report"
    line = {"id": name, "text": "It is so.", "metadata": {"year": "soon"}, "collection": "port"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert "'year'" in umg.run("submit", path, expected=1).err
    (told, total) = umg.run("status", "--failed", expected=1).out.splitlines()
    assert told.startswith(f"{name} (collection port): failed in submission since 2")
    assert told.endswith(
        "0 attempts; DocumentError: " + umg.json("status", "--failed", expected=1)["failed"][0]["reason"]
    )
    assert total == "1 failed."
    assert "not kept" in umg.run("retry", "--failed", expected=1).err


def test_one_document_that_vanished_is_asked_about_in_the_singular(umg: Deployment, folder: Path) -> None:
    umg.json("submit", "--sync", folder)
    (folder / "west.txt").unlink()
    told = umg.run("submit", "--sync", folder, expected=1).err.splitlines()
    assert any(line.startswith("Delete this document?") for line in told)
    assert told[-1].startswith("umg: Nothing is deleted")
