import pytest

from ingest.syncing import Sync
from tests.fakes.asynchronous import Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.queue import MemoryQueue
from umg_search.errors import ConfigurationError
from umg_search.model import Document, DocumentKey

A, B, C = (document(name) for name in "abc")


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


def sync(site: Site, *documents: Document, source: str = "/docs") -> Sync:
    found = Sync(site.engine, collection="default", source=source, queue=site.queue)
    site.ingest(*found.delivered(documents))
    found.claim()
    return found


def submit(site: Site, *documents: Document, source: str = "/docs") -> Sync:
    found = Sync(site.engine, collection="default", source=source, queue=site.queue)
    site.submit(*found.delivered(documents), source=source)
    return found


@pytest.mark.parametrize("deliver", [sync, submit])
def test_what_a_source_does_not_deliver_any_more_has_vanished(site: Site, deliver: type[Sync]) -> None:
    deliver(site, A, B, C)
    site.ingest(document("elsewhere"))
    found = deliver(site, A)
    assert found.vanished() == [DocumentKey("default", "b"), DocumentKey("default", "c")]
    assert found.delete(found.vanished()) == 2
    site.work_all()
    assert [site.text(name) for name in ("a", "b", "c", "elsewhere")] == [
        A.text,
        None,
        None,
        document("elsewhere").text,
    ]
    assert site.queue.waiting == {}
    assert deliver(site, A).vanished() == []


def test_another_source_and_another_collection_are_left_alone(site: Site) -> None:
    sync(site, A, source="/docs")
    sync(site, B, source="/notes")
    other = Document(id="x", text=C.text, collection="other")
    sync(site, other)
    assert sync(site, C).vanished() == [DocumentKey("default", "a")]


def test_a_source_without_any_document_deletes_nothing(site: Site) -> None:
    sync(site, A)
    with pytest.raises(ConfigurationError, match="/docs has no document at all, so that nothing is deleted"):
        sync(site).vanished()


def test_a_document_that_moves_to_another_source_belongs_to_that(site: Site) -> None:
    sync(site, A, B, source="/old")
    sync(site, A, source="/new")
    assert sync(site, B, source="/old").vanished() == []


def test_an_entry_that_others_change_meanwhile_is_claimed_too(site: Site) -> None:
    found = Sync(site.engine, collection="default", source="/docs")
    site.ingest(*found.delivered([A]))
    site.engine.before("write_entries", lambda: site.ingest(document("a", 2)))
    found.claim()
    assert (site.entry("a").source, site.text("a")) == ("/docs", document("a", 2).text)
