"""Documents that are poison to their worker: each is set aside with a reason, and all others are done.

The encoder that they poison is in tests/hooks; the document of 200,000 sentences needs none.
"""

import json
from pathlib import Path

import pytest

from tests.processes import Deployment

GOOD = 96
POISON = {
    "errors": ("poison of errors", "ValueError", 1),
    "memory": ("poison of memory", "MemoryError", 1),
    "time": ("poison of time", "SoftTimeLimitExceeded", 2),
    "death": ("poison of death", "WorkerLost", 3),
}


LIMITS = {"task_time_limit_s": 30, "worker_memory_mb": 2048, "ingest_batch_chars": 1_000}


@pytest.mark.long
@pytest.mark.parametrize("limits", [LIMITS])
def test_poison_is_set_aside_with_a_reason_and_the_others_are_done(umg: Deployment, tmp_path: Path) -> None:
    lines = [{"id": f"good-{n}", "text": f"Harbour {n} has {n} piers. " * 12} for n in range(GOOD)]
    for place, (name, (words, _, _)) in enumerate(POISON.items()):  # amidst the good ones, each in another message
        lines.insert(24 * place + 7, {"id": name, "text": f"Nobody may read this {words}. It is the last one."})
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    umg.start("sweeper", "--every", 1)
    umg.start("worker", "--concurrency", 2, hooks={"POISON": "yes"})
    umg.json("submit", path)
    umg.run("status", "--watch")

    assert umg.json("status")["documents"] == {"searchable": GOOD, "failed": len(POISON)}
    failed = {row["document"]: row for row in umg.json("status", "--failed", expected=1)["failed"]}
    assert set(failed) == set(POISON)
    assert [row["document"] for row in failed.values() if not row["reason"] or not row["stage"]] == []
    for name, (_, error, least) in POISON.items():
        assert failed[name]["error"] == error
        assert failed[name]["attempts"] >= least


@pytest.mark.parametrize("limits", [{"experts": "lexical"}])
def test_a_document_of_200000_sentences_is_set_aside_and_the_others_are_done(umg: Deployment, tmp_path: Path) -> None:
    lines = [{"id": f"good-{n}", "text": f"Harbour {n} has {n} piers."} for n in range(9)]
    lines.insert(4, {"id": "long", "text": "It goes on. " * 200_000})
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    umg.start("worker")
    umg.json("submit", path)
    umg.run("status", "--watch")
    assert umg.json("status")["documents"] == {"searchable": 9, "failed": 1}
    (row,) = umg.json("status", "--failed", expected=1)["failed"]
    assert (row["document"], row["attempts"]) == ("long", 1)
    assert "200000" in row["reason"]
    assert row["stage"] == "splitting"
