"""A worker as a process: what it loads and where, how it stops, and that it never does work twice."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
import redis

from tests.processes import Deployment, Stops, children, until

NO_MODEL = {"experts": "lexical"}
"""Where it is the order of things that counts, nothing has to be loaded."""

ENCODE = "umg_search.encoding.encoders:Encoders.encode"
LOAD = "umg_search.encoding.dense:SentenceTransformerDense._load"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return written(tmp_path, 6)


def written(folder: Path, documents: int, *, edition: int = 1) -> Path:
    path = folder / "documents.jsonl"
    lines = [
        {"id": f"pier-{n}", "text": f"Pier {n} has {n + 2} cranes. Edition {edition} says so."}
        for n in range(documents)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def mapped(pid: int, library: str) -> bool:
    return library in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


def resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0])


def deliver_again(umg: Deployment) -> None:
    """Put the message that a worker has into the queue once more, as Redis does after the visibility timeout."""
    queue = f"umg-{umg.settings['UMG_PREFIX']}"
    with redis.Redis.from_url(umg.settings["UMG_BROKER"]) as client:
        (taken,) = client.hvals(f"{queue}-unacked")
        client.lpush(queue, json.dumps(json.loads(taken)[0]))


def told(umg: Deployment) -> list[dict]:
    return [line for line in umg.lines("worker-*") if line["event"] == "document"]


@pytest.mark.parametrize("limits", [{"ingest_batch_chars": 1_000}])
def test_two_children_do_what_was_submitted_and_load_models_where_they_are_needed(
    umg: Deployment, corpus: Path
) -> None:
    """Celery, Redis, torch: two children with a model; no torch in the parent."""
    worker = umg.start("worker", "--concurrency", 2)
    umg.start("sweeper", "--every", 1)
    submitted = umg.json("submit", corpus)
    assert submitted["documents"] == {"queued": 6, "unchanged": 0, "failed": 0}
    umg.run("status", "--watch")
    assert umg.json("status")["documents"] == {"searchable": 6}

    known = umg.json("status", "--batch", submitted["batch"])
    assert (known["documents"], known["submitted"]["queued"], known["at_work"]) == ({"searchable": 6}, 6, [])
    lines = told(umg)
    assert sorted(line["document"] for line in lines) == [f"pier-{n}" for n in range(6)]
    assert {(line["batch"], line["outcome"]) for line in lines} == {(submitted["batch"], "new")}
    assert all(line["task"] for line in lines)

    assert not mapped(worker.pid, "libtorch")
    assert any(mapped(child, "libtorch") for child in children(worker.pid))

    assert umg.json("submit", corpus)["documents"] == {"queued": 0, "unchanged": 6, "failed": 0}
    assert len(told(umg)) == 6


@pytest.mark.parametrize("limits", [NO_MODEL])
def test_a_worker_that_is_asked_to_stop_hands_back_at_once(umg: Deployment, corpus: Path, tmp_path: Path) -> None:
    stops = Stops(tmp_path / "stops", [ENCODE])
    stops.arm("Encoders.encode:before")
    worker = umg.start("worker", hooks=stops.hooks)
    batch = umg.json("submit", corpus)["batch"]
    stops.reached()
    at_work = umg.json("status", "--batch", batch)["at_work"]
    assert [(row["state"], row["attempts"]) for row in at_work] == [("encoding", 1)] * 6
    began = time.monotonic()
    worker.terminate()
    assert worker.wait(20) == 0
    assert time.monotonic() - began < 10
    lines = (umg.folder / "worker-0.log").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("{")] == []
    assert json.loads(lines[-1])["event"] == "worker stopped"
    known = umg.json("status", "--batch", batch)
    assert (known["documents"], known["at_work"]) == ({"queued": 6}, [])

    umg.start("worker")
    umg.run("status", "--watch")
    assert umg.json("status")["documents"] == {"searchable": 6}


@pytest.mark.parametrize("limits", [NO_MODEL])
def test_a_message_that_comes_twice_waits_for_the_lease_and_is_not_worked_on_twice(
    umg: Deployment, corpus: Path, tmp_path: Path
) -> None:
    stops = Stops(tmp_path / "stops", [ENCODE])
    stops.arm("Encoders.encode:before")
    worker = umg.start("worker", "--concurrency", 2, hooks=stops.hooks)
    umg.json("submit", corpus)
    first = stops.reached()
    deliver_again(umg)
    until(lambda: any(line.get("held") == 6 for line in umg.lines("worker-*")), what="the second child held nothing")
    time.sleep(4)  # longer than the lease of 3 s, which its holder renews
    stops.go()
    umg.run("status", "--watch")
    assert len(told(umg)) == 6
    assert first in children(worker.pid)


@pytest.mark.long
def test_a_model_that_loads_for_longer_than_a_lease_costs_no_attempt(
    umg: Deployment, corpus: Path, tmp_path: Path
) -> None:
    """Celery, Redis, torch: ten-second model load."""
    stops = Stops(tmp_path / "stops", [LOAD])
    stops.arm("SentenceTransformerDense._load:before")
    umg.start("worker", hooks=stops.hooks)
    umg.start("sweeper", "--every", 1)
    batch = umg.json("submit", corpus)["batch"]
    stops.reached()
    time.sleep(10)
    assert umg.json("status", "--batch", batch)["documents"] == {"queued": 6}
    stops.go()
    umg.run("status", "--watch")
    assert umg.json("status")["documents"] == {"searchable": 6}
    assert [line for line in umg.lines() if line["event"] == "sweep" and ("revived" in line or "failed" in line)] == []


@pytest.mark.long
@pytest.mark.parametrize("limits", [{"ingest_batch_chars": 8_000}])
def test_two_hundred_documents_in_one_child_leave_its_memory_flat(umg: Deployment, tmp_path: Path) -> None:
    """Celery, Redis, torch: 200 documents in one child."""
    worker = umg.start("worker")
    umg.run("submit", written(tmp_path, 200))
    umg.run("status", "--watch")
    (child,) = children(worker.pid)
    before = resident(child)
    for edition in (2, 3):
        umg.run("submit", written(tmp_path, 200, edition=edition))
        umg.run("status", "--watch")
    assert children(worker.pid) == [child]
    assert resident(child) < before * 1.1
    assert len(told(umg)) == 3 * 200


def test_a_worker_without_redis_waits_for_it_and_one_for_the_embedded_engine_is_refused(
    umg: Deployment, tmp_path: Path
) -> None:
    refused = Deployment(tmp_path, engine=f"embedded:{tmp_path / 'index'}").run("worker", expected=2)
    assert "UMG_ENGINE" in refused.err
    lonely = umg.start("worker", hooks={"UMG_BROKER": "redis://127.0.0.1:9/0"})
    until(lambda: any("Trying again" in str(line["event"]) for line in umg.lines("worker-*")))
    os.kill(lonely.pid, signal.SIGTERM)
    lonely.wait(20)
