from dataclasses import replace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.unit.ranking.lists import PROPERTY
from umg_search.model import (
    Document,
    DocumentKey,
    DocumentState,
    Failure,
    Generation,
    LedgerEntry,
    Retired,
    SetState,
    Stage,
)
from umg_search.store import ledger

KEY = DocumentKey("default", "a.md")
DOCUMENT = Document(id="a.md", text="One. Two.", title="A", metadata={"x": 1}, acl=("bob", "ann", "bob"))


PRINT = ledger.text_fingerprint(DOCUMENT.text)


def live_entry() -> LedgerEntry:
    entry, number = ledger.begin(ledger.blank(KEY), DOCUMENT, "v1", 2, 10.0)
    return ledger.finish(entry, DOCUMENT, "v1", number, 11.0)


# --- fingerprints --------------------------------------------------------------------------------------------------


def test_the_fingerprint_of_a_text_changes_with_the_text_alone() -> None:
    assert ledger.text_fingerprint("a") == ledger.text_fingerprint("a") != ledger.text_fingerprint("a ")


def test_the_fingerprint_of_attributes_ignores_the_order_of_keys_and_principals() -> None:
    one = replace(DOCUMENT, metadata={"a": 1, "b": [1, 2]}, acl=("x", "y"))
    other = replace(DOCUMENT, metadata={"b": [1, 2], "a": 1}, acl=("y", "x", "y"))
    assert ledger.attributes_fingerprint(one) == ledger.attributes_fingerprint(other)


@pytest.mark.parametrize("change", [{"title": "B"}, {"metadata": {"x": 2}}, {"acl": ("ann",)}, {"acl": ()}])
def test_the_fingerprint_of_attributes_changes_with_each_of_them(change: dict[str, object]) -> None:
    assert ledger.attributes_fingerprint(replace(DOCUMENT, **change)) != ledger.attributes_fingerprint(DOCUMENT)


def test_the_fingerprint_of_attributes_does_not_change_with_the_text() -> None:
    assert ledger.attributes_fingerprint(replace(DOCUMENT, text="")) == ledger.attributes_fingerprint(DOCUMENT)


def test_metadata_with_a_lone_surrogate_has_a_fingerprint() -> None:
    assert ledger.attributes_fingerprint(replace(DOCUMENT, metadata={"name": "a\udcff"}))


# --- transitions ---------------------------------------------------------------------------------------------------


def test_a_new_generation_is_named_as_retired_before_anything_of_it_is_written() -> None:
    """So that what a crash leaves can be found."""
    entry, number = ledger.begin(ledger.blank(KEY), DOCUMENT, "v1", 2, 10.0)
    assert number == 1
    assert entry.state is DocumentState.WRITING
    assert (entry.key, entry.next_generation, entry.changed_at) == (KEY, 2, 10.0)
    assert entry.in_set("v1") == SetState(None, (Retired(1, 2, 10.0),))


def test_finishing_makes_it_live() -> None:
    entry = live_entry()
    assert entry.in_set("v1") == SetState(Generation(1, 2), (), PRINT)
    assert (entry.state, entry.title, entry.metadata, entry.acl) == (
        DocumentState.SEARCHABLE,
        "A",
        {"x": 1},
        ("ann", "bob"),
    )
    assert entry.characters == len(DOCUMENT.text)
    assert entry.text_fingerprint == ledger.text_fingerprint(DOCUMENT.text)
    assert entry.attributes_fingerprint == ledger.attributes_fingerprint(DOCUMENT)


def test_the_live_generation_stays_live_until_the_next_is_finished_and_is_retired_then() -> None:
    begun, number = ledger.begin(live_entry(), DOCUMENT, "v1", 5, 20.0)
    assert number == 2
    assert begun.in_set("v1") == SetState(Generation(1, 2), (Retired(2, 5, 20.0),), PRINT)
    assert ledger.finish(begun, DOCUMENT, "v1", 2, 21.0).in_set("v1") == SetState(
        Generation(2, 5), (Retired(1, 2, 21.0),), PRINT
    )


def test_what_others_left_unfinished_stays_named() -> None:
    first, _ = ledger.begin(live_entry(), DOCUMENT, "v1", 3, 20.0)
    second, number = ledger.begin(first, DOCUMENT, "v1", 4, 30.0)
    assert ledger.finish(second, DOCUMENT, "v1", number, 31.0).in_set("v1") == SetState(
        Generation(3, 4), (Retired(2, 3, 20.0), Retired(1, 2, 31.0)), PRINT
    )


def test_one_set_does_not_touch_another() -> None:
    begun, number = ledger.begin(live_entry(), DOCUMENT, "v2", 2, 20.0)
    done = ledger.finish(begun, DOCUMENT, "v2", number, 21.0)
    assert done.in_set("v1") == live_entry().in_set("v1")
    assert done.in_set("v2") == SetState(Generation(2, 2), (), PRINT)


def built_too() -> LedgerEntry:
    """Return the entry of a document that v1 has and v2 got a copy of."""
    named, number = ledger.name(live_entry(), "v2", 3, 20.0)
    return ledger.built(named, "v2", number, 21.0)


def test_a_copy_in_another_set_changes_nothing_but_that_set() -> None:
    entry = built_too()
    assert entry.in_set("v2") == SetState(Generation(2, 3), (), PRINT)
    assert entry.is_current_in("v1")
    assert entry.is_current_in("v2")
    assert replace(entry, sets={"v1": entry.sets["v1"]}, next_generation=2) == live_entry()


@pytest.mark.parametrize("change", [{"text": "One. Two. Three."}, {"acl": ("eve",)}, {"title": "B"}])
def test_a_change_in_one_set_leaves_the_others_behind_even_if_the_text_comes_back(change: dict[str, object]) -> None:
    """Their chunk entries keep the access of before."""
    entry = built_too()
    for document in (replace(DOCUMENT, **change), replace(DOCUMENT, acl=("eve",))):
        begun, number = ledger.begin(entry, document, "v1", 2, 30.0)
        entry = ledger.finish(begun, document, "v1", number, 31.0)
        assert entry.is_current_in("v1")
        assert not entry.is_current_in("v2")
        assert entry.in_set("v2").live == Generation(2, 3)


def test_new_attributes_alone_leave_all_sets_current() -> None:
    """They are written into each."""
    changed = ledger.with_attributes(built_too(), replace(DOCUMENT, title="B", acl=("eve",)), 30.0)
    assert changed.is_current_in("v1")
    assert changed.is_current_in("v2")


def test_nothing_is_current_of_a_document_that_was_never_stored_or_is_deleted() -> None:
    assert not ledger.blank(KEY).is_current_in("v1")
    assert not ledger.remove(built_too(), 30.0).is_current_in("v1")


def test_a_set_that_is_dropped_leaves_no_trace() -> None:
    assert replace(ledger.leave(built_too(), "v2"), next_generation=2) == live_entry()


def test_unfinished_is_what_is_newer_than_what_is_live() -> None:
    begun, _ = ledger.begin(live_entry(), DOCUMENT, "v1", 5, 20.0)
    assert ledger.unfinished(begun.in_set("v1")) == [Retired(2, 5, 20.0)]
    done = ledger.finish(begun, DOCUMENT, "v1", 2, 21.0)
    assert ledger.unfinished(done.in_set("v1")) == []  # the first is retired, and was live
    assert ledger.unfinished(SetState(None, (Retired(1, 2, 20.0),))) == [Retired(1, 2, 20.0)]


def test_a_failure_keeps_what_is_live_and_says_why() -> None:
    failed = ledger.fail(live_entry(), Failure("too large", Stage.WRITING), 20.0)
    assert (failed.state, failed.error) == (DocumentState.FAILED, "too large")
    assert failed.in_set("v1").live == Generation(1, 2)
    begun, _ = ledger.begin(failed, DOCUMENT, "v1", 2, 30.0)
    assert begun.error == ""


def test_new_attributes_leave_the_text_alone_and_their_fingerprint_open() -> None:
    changed = ledger.with_attributes(live_entry(), replace(DOCUMENT, title="B", acl=("eve",)), 20.0)
    assert (changed.title, changed.acl, changed.attributes_fingerprint) == ("B", ("eve",), "")
    assert changed.text_fingerprint == live_entry().text_fingerprint
    assert changed.in_set("v1") == live_entry().in_set("v1")


def test_a_tombstone_holds_nothing_of_the_document_but_what_is_to_be_deleted() -> None:
    begun, _ = ledger.begin(live_entry(), DOCUMENT, "v2", 7, 20.0)
    gone = ledger.remove(replace(begun, token=(5, 1)), 30.0)
    assert gone == LedgerEntry(
        document=KEY.hash,
        key=None,
        state=DocumentState.DELETING,
        changed_at=30.0,
        next_generation=3,
        sets={"v1": SetState(None, (Retired(1, 2, 30.0),)), "v2": SetState(None, (Retired(2, 7, 20.0),))},
        token=(5, 1),
    )


def test_a_tombstone_is_deleted_once_nothing_is_left_but_what_somebody_may_still_write() -> None:
    begun, _ = ledger.begin(live_entry(), DOCUMENT, "v2", 7, 20.0)
    gone = ledger.remove(begun, 30.0)
    assert ledger.forget(gone, {1}).state is DocumentState.DELETING
    done = ledger.forget(gone, {1, 2}, busy={2})
    assert (done.state, done.in_set("v2").retired) == (DocumentState.DELETED, (Retired(2, 7, 20.0),))
    assert ledger.leave(ledger.leave(gone, "v1"), "v2").state is DocumentState.DELETED
    assert ledger.remove(ledger.blank(KEY), 30.0).state is DocumentState.DELETED


def test_a_deleted_document_comes_back_under_a_new_number() -> None:
    entry, number = ledger.begin(ledger.remove(live_entry(), 20.0), DOCUMENT, "v1", 2, 30.0)
    assert (number, entry.key) == (2, KEY)


def test_forgetting_removes_the_named_generations_only() -> None:
    entry, _ = ledger.begin(live_entry(), DOCUMENT, "v1", 3, 20.0)
    entry, _ = ledger.begin(entry, DOCUMENT, "v1", 4, 30.0)
    assert ledger.forget(entry, {2}).in_set("v1") == SetState(Generation(1, 2), (Retired(3, 4, 30.0),), PRINT)
    assert ledger.forget(entry, {1}) == entry


def test_a_fence_changes_the_time_alone() -> None:
    assert replace(ledger.fence(live_entry(), 99.0), changed_at=11.0) == live_entry()


def test_the_oldest_retirement_is_over_all_sets() -> None:
    entry, _ = ledger.begin(live_entry(), DOCUMENT, "v1", 3, 20.0)
    entry, _ = ledger.begin(entry, DOCUMENT, "v2", 3, 15.0)
    assert ledger.oldest_retired(entry) == 15.0
    assert ledger.oldest_retired(live_entry()) is None


# --- any order of transitions --------------------------------------------------------------------------------------


class Ledger(RuleBasedStateMachine):
    """What holds whatever writers do to one entry."""

    def __init__(self) -> None:
        super().__init__()
        self.entry = ledger.blank(KEY)
        self.now = 0.0
        self.begun: dict[int, tuple[str, int]] = {}
        self.stored: set[tuple[str, int]] = set()
        self.used: list[int] = []

    def tick(self) -> float:
        self.now += 1
        return self.now

    @rule(label=st.sampled_from(["v1", "v2"]), sentences=st.integers(1, 90))
    def begin(self, label: str, sentences: int) -> None:
        self.entry, number = ledger.begin(self.entry, DOCUMENT, label, sentences, self.tick())
        self.used.append(number)
        self.begun[number] = (label, sentences)
        self.stored.add((label, number))

    @precondition(lambda self: self.begun)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.begun)))
        label, sentences = self.begun.pop(number)
        self.entry = ledger.finish(self.entry, DOCUMENT, label, number, self.tick())
        assert self.entry.in_set(label).live == Generation(number, sentences)

    @rule()
    def fail(self) -> None:
        self.entry = ledger.fail(self.entry, Failure("why", Stage.WRITING), self.tick())

    @rule()
    def remove(self) -> None:
        self.entry = ledger.remove(self.entry, self.tick())
        self.begun = {}
        assert all(state.live is None for state in self.entry.sets.values())

    @precondition(lambda self: self.entry.sets)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        label = data.draw(st.sampled_from(sorted(self.entry.sets)))
        numbers = {item.number for item in self.entry.in_set(label).retired}
        self.entry = ledger.forget(self.entry, numbers)
        self.stored -= {(label, number) for number in numbers}
        self.begun = {number: item for number, item in self.begun.items() if (item[0], number) in self.stored}

    @invariant()
    def a_number_is_never_used_twice(self) -> None:
        assert self.used == sorted(set(self.used))
        assert all(number < self.entry.next_generation for number in self.used)

    @invariant()
    def everything_stored_is_named_exactly_once(self) -> None:
        named = [
            (label, number)
            for label, state in self.entry.sets.items()
            for number in [*([state.live.number] if state.live else []), *(item.number for item in state.retired)]
        ]
        assert sorted(named) == sorted(self.stored)


Ledger.TestCase.settings = PROPERTY
TestLedger = Ledger.TestCase
