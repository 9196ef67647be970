"""Asynchronous ingestion from end to end: 500 real documents, two workers, real Redis, OpenSearch and Elasticsearch."""

import gzip
import itertools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis

from dev import redis_server
from dev.errors import MissingToolError
from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from tests.conftest import SERVERS
from tests.processes import MODEL, ROOT, Deployment, deployment
from umg_search.encoding.tokens import WordCounter
from umg_search.granularity import Granularity
from umg_search.model import Document
from umg_search.search import Query, RankingOptions, SearchService
from umg_search.settings import Settings
from umg_search.store.reader import Reader
from umg_search.windows import window_count
from umg_search.wiring import encoders_of, open_engine

DOCUMENTS = 500
DATA = ROOT.parent / "shared" / "data" / "hotpotqa" / "documents.jsonl.gz"
ASKED = 60
"""Documents that are searched for by their own first words."""

# The newest of each kind; the second in the long run.
BOTH = [
    "opensearch-3.5.0" if "opensearch-3.5.0" in SERVERS else SERVERS[0],
    pytest.param("elasticsearch-9.5.3" if "elasticsearch-9.5.3" in SERVERS else SERVERS[-1], marks=pytest.mark.long),
]


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    """Return real documents, also as the file `documents.jsonl`."""
    if not DATA.exists():
        pytest.skip(f"the public documents of {DATA} are not here")
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        taken = [json.loads(line) for line in itertools.islice(lines, DOCUMENTS)]
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in taken), encoding="utf-8")
    return [Document(id=each["id"], text=each["text"], title=each["title"]) for each in taken]


@pytest.fixture(params=BOTH)
def umg(
    request: pytest.FixtureRequest, tmp_path: Path, server_prefix: Callable[[str], tuple[str, str]]
) -> Iterator[Deployment]:
    url, prefix = server_prefix(request.param)
    try:
        broker = redis_server.start().url
    except MissingToolError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    logs = tmp_path / "logs"
    logs.mkdir()
    values = {"engine": url, "prefix": prefix, "broker": broker, "replicas": 0, "grace_s": 0, "dense_model": MODEL}
    with deployment(logs, **values, ingest_batch_chars=20_000, index_preset="lean") as made:
        yield made


def test_five_hundred_documents_go_through_two_workers(
    umg: Deployment, documents: list[Document], tmp_path: Path
) -> None:
    for _ in range(2):
        umg.start("worker")
    umg.start("sweeper", "--every", 2)
    path = tmp_path / "documents.jsonl"
    submitted = umg.json("submit", path)
    assert submitted["documents"] == {"queued": DOCUMENTS, "unchanged": 0, "failed": 0}

    counts = _watched(umg, submitted["batch"])
    assert len(counts) >= 3  # progress was shown, and ends with all of them
    assert counts[-1] == f"{DOCUMENTS} searchable"
    status = umg.json("status")
    assert (status["documents"], status["backlog"]["documents"]) == ({"searchable": DOCUMENTS}, 0)
    _exact(status["indices"], documents)
    assert {line["outcome"] for line in _told(umg, "*")} == {"new"}
    assert [len(_told(umg, str(worker))) > 0 for worker in range(2)] == [True, True]
    assert len(_told(umg, "*")) == DOCUMENTS
    _found(umg, documents)

    assert umg.json("submit", path)["documents"] == {"queued": 0, "unchanged": DOCUMENTS, "failed": 0}
    with redis.Redis.from_url(umg.settings["UMG_BROKER"]) as client:
        assert client.llen(f"umg-{umg.settings['UMG_PREFIX']}") == 0
    assert len(_told(umg, "*")) == DOCUMENTS  # no worker had anything to do


def _watched(umg: Deployment, batch: str) -> list[str]:
    """Wait for a submission, and return the counts as they were shown."""
    return umg.run("status", "--batch", batch, "--watch").err.splitlines()


def _told(umg: Deployment, worker: str) -> list[dict]:
    return [line for line in umg.lines(f"worker-{worker}") if line["event"] == "document"]


def _exact(indices: dict[str, dict], documents: list[Document]) -> None:
    """The indices have each window of each document, once."""
    split = split_documents(documents, WordCounter(), SentenceOptions())
    for granularity in (Granularity.G2, Granularity.G8):
        (size,) = [size for name, size in indices.items() if f"g{granularity:02d}" in name]
        assert size["entries"] == sum(window_count(each.sentences, granularity) for each in split)


def _found(umg: Deployment, documents: list[Document]) -> None:
    values = {name.removeprefix("UMG_").lower(): value for name, value in umg.settings.items()}
    settings = Settings(**values)  # type: ignore[arg-type] - text, as in the environment
    with closing(open_engine(settings)) as engine:
        service = SearchService(Reader(engine), encoders_of(settings), remembered_questions=0)
        options = RankingOptions(budget=600)
        for document in documents[:: DOCUMENTS // ASKED]:
            result = service.search(Query(text=document.text[:200], options=options))
            assert document.id in [context.document_id for context in result.contexts]
