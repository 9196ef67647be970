"""What others report while documents are encoded holds, whatever the documents say that were read before."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ingest.pipeline import IngestService
from ingest.sentences import SentenceOptions
from tests.fakes.encoders import HashedEncoders, spec
from tests.fakes.engine import MemoryEngine
from umg_search.granularity import Expert
from umg_search.model import DeclaredField, Document, DocumentState, FieldType, IngestReport, Outcome, SplitDocument
from umg_search.store.reader import Reader
from umg_search.store.reports import CONFLICT
from umg_search.store.writer import Writer

SPEC = spec(experts=(Expert.DENSE, Expert.LEXICAL), fields=(DeclaredField("year", FieldType.INTEGER),))
OLD = Document(id="a", text="The kiln is lit at noon. It burns for nine hours.", acl=("*",), metadata={"year": 2020})
NEW = replace(OLD, text="The kiln is cold. Nobody opens it before dawn.")


class Meanwhile(HashedEncoders):
    """Encoders during whose work something else happens, once; `encoded` counts documents."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__(SPEC)
        self._act = act
        self.encoded = 0

    def encode(self, documents: Sequence[SplitDocument]) -> list[Any]:
        self.encoded += len(documents)
        if documents:
            act, self._act = self._act, lambda: None
            act()
        return super().encode(documents)


class Desk:
    def __init__(self) -> None:
        self.engine = MemoryEngine()
        self.other = Writer(self.engine)
        self.index = self.other.prepare(SPEC)

    def ingest(self, *documents: Document, meanwhile: Callable[[], object] = lambda: None) -> list[IngestReport]:
        self.encoders = Meanwhile(meanwhile)
        service = IngestService(
            Writer(self.engine),
            self.encoders,  # type: ignore[arg-type] - a fake of the encoders
            SPEC,
            sentences=SentenceOptions(),
            batch_chars=10_000,
        )
        return list(service.ingest(documents))

    def change(self, document: Document) -> Callable[[], object]:
        return lambda: self.other.update_attributes(self.index, [document])

    def delete(self) -> object:
        return self.other.delete(self.index, [OLD.key])


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize("other", [{"acl": ("bob",)}, {"title": "T"}, {"metadata": {"year": 2021}}])
def test_a_change_that_was_reported_while_encoding_holds(desk: Desk, other: dict[str, Any]) -> None:
    desk.ingest(OLD)
    (report,) = desk.ingest(NEW, meanwhile=desk.change(replace(OLD, **other)))
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    entry = desk.engine.ledger[OLD.key.hash]
    assert (entry.acl, entry.title, entry.metadata) == (
        other.get("acl", OLD.acl),
        other.get("title", ""),
        other.get("metadata", OLD.metadata),
    )
    assert Reader(desk.engine).text(OLD.key) == OLD.text
    (report,) = desk.ingest(replace(NEW, **other))
    assert report.outcome is Outcome.UPDATED


def test_a_deletion_that_was_reported_while_encoding_holds(desk: Desk) -> None:
    desk.ingest(OLD)
    (report,) = desk.ingest(NEW, meanwhile=desk.delete)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.engine.ledger[OLD.key.hash].state is DocumentState.DELETED


def test_a_document_that_came_and_went_while_encoding_stays_gone(desk: Desk) -> None:
    def come_and_go() -> None:
        Desk.ingest(desk, OLD)
        desk.delete()

    (report,) = desk.ingest(NEW, meanwhile=come_and_go)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.engine.ledger[OLD.key.hash].key is None
    (report,) = desk.ingest(NEW, meanwhile=come_and_go)
    assert report.outcome is Outcome.FAILED


def test_a_document_that_came_and_was_revoked_while_encoding_stays_revoked(desk: Desk) -> None:
    def come_and_revoke() -> None:
        Desk.ingest(desk, OLD)
        desk.change(replace(OLD, acl=("bob",)))()

    (report,) = desk.ingest(NEW, meanwhile=come_and_revoke)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.engine.ledger[OLD.key.hash].acl == ("bob",)


def test_another_text_with_the_same_attributes_is_no_reason_to_fail(desk: Desk) -> None:
    desk.ingest(OLD)
    between = replace(OLD, text="Another text. Of two sentences.")
    (report,) = desk.ingest(NEW, meanwhile=lambda: Desk.ingest(desk, between))
    assert report.outcome is Outcome.UPDATED
    assert Reader(desk.engine).text(OLD.key) == NEW.text


def test_a_change_to_the_same_attributes_is_no_reason_to_fail(desk: Desk) -> None:
    desk.ingest(OLD)
    new = replace(NEW, acl=("bob",))
    (report,) = desk.ingest(new, meanwhile=desk.change(replace(OLD, acl=("bob",))))
    assert report.outcome is Outcome.UPDATED


def test_a_sweep_of_a_tombstone_is_no_reason_to_fail(desk: Desk) -> None:
    desk.ingest(OLD)
    desk.engine.before("delete", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        desk.delete()
    (report,) = desk.ingest(NEW, meanwhile=lambda: Writer(desk.engine, grace=-1).sweep(desk.index))
    assert report.outcome is Outcome.NEW


def test_of_two_first_ingests_at_once_both_end_with_a_document(desk: Desk) -> None:
    (report,) = desk.ingest(NEW, meanwhile=lambda: Desk.ingest(desk, NEW))
    assert report.outcome is not Outcome.FAILED


def test_a_revocation_between_plan_and_an_update_of_attributes_holds(desk: Desk) -> None:
    """The text is unchanged, so nothing is encoded; the older title still must not bring the older ACL back."""
    desk.ingest(OLD)
    desk.engine.before("fetch", lambda: None)
    desk.engine.before("fetch", desk.change(replace(OLD, acl=("bob",))))
    (report,) = desk.ingest(replace(OLD, title="T"))
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.engine.ledger[OLD.key.hash].acl == ("bob",)


def test_another_text_between_plan_and_an_update_of_attributes_does_not_get_them(desk: Desk) -> None:
    """NEW may be read by bob alone, and OLD, whose text was live when it was looked at, by everybody."""
    desk.ingest(replace(OLD, acl=("bob",)))
    other = Desk()
    other.engine, other.other = desk.engine, desk.other
    desk.engine.before("fetch", lambda: None)
    desk.engine.before("fetch", lambda: other.ingest(replace(NEW, acl=("bob",))))
    (report,) = desk.ingest(OLD)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.engine.ledger[OLD.key.hash].acl == ("bob",)
    assert {chunk.attributes.acl for chunk in desk.engine.published.values()} == {("bob",)}


def test_a_change_of_attributes_alone_encodes_nothing(desk: Desk) -> None:
    desk.ingest(OLD)
    (report,) = desk.ingest(replace(OLD, metadata={"year": 2021, "k": "v"}, acl=("bob",), title="T"))
    assert (report.outcome, desk.encoders.encoded) == (Outcome.UPDATED, 0)
    held = [chunk.attributes for chunk in desk.engine.published.values()]
    assert {(each.acl, each.fields["year"], each.labels) for each in held} == {(("bob",), (2021,), ("1:kv",))}


def test_metadata_that_does_not_fit_fails_alone_and_before_it_is_encoded(desk: Desk) -> None:
    wrong = Document(id="wrong", text="Some text.", metadata={"year": "x"})
    reports = {r.document_id: r for r in desk.ingest(OLD, wrong, replace(OLD, id="b"))}
    assert [reports[name].outcome for name in ("a", "wrong", "b")] == [Outcome.NEW, Outcome.FAILED, Outcome.NEW]
    assert "'year' is declared as integer, and its value 'x' is none" in reports["wrong"].reason
    assert desk.encoders.encoded == 2
    assert desk.engine.ledger[wrong.key.hash].error == reports["wrong"].reason


def test_metadata_that_does_not_fit_leaves_what_was_searchable(desk: Desk) -> None:
    desk.ingest(OLD)
    for wrong in (replace(OLD, metadata={"year": "x"}), replace(NEW, metadata={"year": "x"})):
        assert desk.ingest(wrong)[0].outcome is Outcome.FAILED
        assert desk.other.update_attributes(desk.index, [wrong])[0].outcome is Outcome.FAILED
        assert desk.engine.ledger[OLD.key.hash].metadata == {"year": 2020}
        assert Reader(desk.engine).text(OLD.key) == OLD.text
