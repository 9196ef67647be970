"""Changes of a ledger entry, as pure functions: each returns the entry to be written, conditionally, in its place.

A generation is named in the ledger before the first of its entries is written and until the last of them is deleted, so
that whatever a crash leaves behind can be found by arithmetic.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from hashlib import blake2b

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

UNFINISHED = "Whoever wrote it did not finish: ingest it again."


def blank(key: DocumentKey) -> LedgerEntry:
    """Return the entry of a document that the ledger does not know."""
    return LedgerEntry(key.hash, key)


def text_fingerprint(text: str) -> str:
    """Return a digest of a stored text."""
    return blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


def attributes_fingerprint(item: Document | LedgerEntry) -> str:
    """Return a digest of title, metadata and ACL; the order of keys and principals does not matter."""
    attributes = [item.title, item.metadata, normal_acl(item.acl)]
    return text_fingerprint(json.dumps(attributes, sort_keys=True, ensure_ascii=True))


def same_attributes(one: Document | LedgerEntry, other: Document | LedgerEntry) -> bool:
    """Return whether title, metadata and ACL are the same."""
    return attributes_fingerprint(one) == attributes_fingerprint(other)


def still_wanted(document: Document, before: LedgerEntry | None, now: LedgerEntry | None) -> bool:
    """Return whether a document may be written that was read when the ledger said `before`, and says `now` since.

    Not where another writer deleted it or changed its title, metadata or ACL, unless to those of the document: what was
    reported there must hold, above all who may read it.
    """
    if deleted_since(before, now):
        return False
    if now is None or not now.text_fingerprint:  # begun and never finished, so nothing was reported
        return True
    existed = before is not None and before.key is not None
    return same_attributes(now, document) or (before is not None and existed and same_attributes(now, before))


def deleted_since(before: LedgerEntry | None, now: LedgerEntry | None) -> bool:
    """Return whether a document was deleted after the ledger said `before`, and is not there `now`."""
    if now is not None and now.key is not None:
        return False
    # A sweep touches tombstones too; a return and another deletion count up.
    existed = before is not None and before.key is not None
    return existed or (now.next_generation if now else 1) > (before.next_generation if before else 1)


def normal_acl(acl: Iterable[str]) -> tuple[str, ...]:
    """Return principals without repetition, in order."""
    return tuple(sorted(set(acl)))


def name(entry: LedgerEntry, label: str, sentences: int, now: float) -> tuple[LedgerEntry, int]:
    """Return the entry with a generation that is to be written into a set, and its number, which is never used twice.

    Numbers count for all sets together, so that one number never means two texts.
    """
    number = entry.next_generation
    state = entry.in_set(label)
    unfinished = replace(state, retired=(*state.retired, Retired(number, sentences, now)))
    return replace(entry, next_generation=number + 1, sets={**entry.sets, label: unfinished}), number


def begin(entry: LedgerEntry, document: Document, label: str, sentences: int, now: float) -> tuple[LedgerEntry, int]:
    """Return the entry with a new text on its way into the active set, and the number of its generation."""
    named, number = name(entry, label, sentences, now)
    begun = replace(
        _without_failure(named), key=document.key, state=DocumentState.WRITING, job=entry.pending, changed_at=now
    )
    return begun, number


def finish(entry: LedgerEntry, document: Document, label: str, number: int, now: float, *, job: int = 0) -> LedgerEntry:
    """Return the entry with generation `number` live, the one before it retired, and jobs up to `job` settled.

    Other sets are current no longer, unless neither text nor attributes changed: not even where a later change
    restores the text, for their chunk entries would keep attributes of before.
    """
    fingerprints = text_fingerprint(document.text), attributes_fingerprint(document)
    changed = fingerprints != (entry.text_fingerprint, entry.attributes_fingerprint)
    sets = {other: replace(state, text_fingerprint="") if changed else state for other, state in entry.sets.items()}
    return replace(
        with_attributes(entry, document, now, job=job),
        text_fingerprint=fingerprints[0],
        characters=len(document.text),
        attributes_fingerprint=fingerprints[1],
        sets={**sets, label: _live(entry.in_set(label), number, fingerprints[0], now)},
    )


def built(entry: LedgerEntry, label: str, number: int, now: float) -> LedgerEntry:
    """Return the entry with its newest text, as generation `number`, live in a set beside the others."""
    state = _live(entry.in_set(label), number, entry.text_fingerprint, now)
    return replace(entry, sets={**entry.sets, label: state})


def with_attributes(entry: LedgerEntry, document: Document, now: float, *, job: int = 0) -> LedgerEntry:
    """Return the entry with the document's title, metadata and ACL, their fingerprint still open; see `settle`.

    The fingerprint follows once the chunk entries have the ACL too: a crash before that is mended by the next ingest.
    """
    return replace(
        settle(entry, now, job=job),
        title=document.title,
        metadata=dict(document.metadata),
        acl=normal_acl(document.acl),
        attributes_fingerprint="",
    )


def settle(entry: LedgerEntry, now: float, *, job: int = 0) -> LedgerEntry:
    """Return the entry as searchable with what is live, and jobs up to number `job` done or superseded.

    A later job was queued by somebody who did not know of this write, and waits or goes on.
    """
    left = entry.pending if entry.pending is not None and entry.pending.number > job else None
    waiting = DocumentState.ENCODING if left and left.run else DocumentState.QUEUED
    state = waiting if left else DocumentState.SEARCHABLE
    return replace(_without_failure(entry), job=left, state=state, changed_at=now)


def fail(entry: LedgerEntry, failure: Failure, now: float) -> LedgerEntry:
    """Return the entry marked as failed; what is live stays live, and a job stays for another try."""
    return replace(
        entry,
        state=DocumentState.FAILED,
        error=failure.reason,
        stage=failure.stage.value,
        error_class=failure.error_class,
        job=None if entry.job is None else replace(entry.job, run=""),
        changed_at=now,
    )


def remove(entry: LedgerEntry, now: float) -> LedgerEntry:
    """Return a tombstone: no id, title, metadata, ACL or fingerprint, everything that was stored retired."""
    sets = {label: _all_retired(state, now) for label, state in entry.sets.items()}
    left = any(state.retired for state in sets.values())
    return LedgerEntry(
        document=entry.document,
        key=None,
        state=DocumentState.DELETING if left else DocumentState.DELETED,
        changed_at=now,
        next_generation=entry.next_generation,
        sets=sets,
        token=entry.token,
    )


def fence(entry: LedgerEntry, now: float) -> LedgerEntry:
    """Return the entry with a newer time: writing it makes every unfinished write of others fail.

    One that a writer without a job left unfinished, which nobody takes up again, is what is live of it, or has failed.
    """
    if entry.state is not DocumentState.WRITING or entry.job is not None:
        return replace(entry, changed_at=now)
    if any(state.live for state in entry.sets.values()):
        return settle(entry, now)
    return fail(entry, Failure(UNFINISHED, Stage.WRITING, "WriteConflict"), now)


def forget(entry: LedgerEntry, numbers: Collection[int], *, busy: Collection[int] = ()) -> LedgerEntry:
    """Return the entry without some retired generations, whose entries are all deleted.

    Those that are `busy` stay, since somebody may still write them, and keep no tombstone from counting as deleted.
    """
    gone = set(numbers) - set(busy)
    left = replace(entry, sets={label: _without(state, gone) for label, state in entry.sets.items()})
    return _deleted(left) if set(_retired_numbers(left)) <= set(numbers) else left


def retire(entry: LedgerEntry, label: str, now: float) -> LedgerEntry:
    """Return the entry with nothing live in a set, and all that was there retired."""
    return replace(entry, sets={**entry.sets, label: _all_retired(entry.in_set(label), now)})


def leave(entry: LedgerEntry, label: str) -> LedgerEntry:
    """Return the entry without a set that is to be dropped."""
    left = replace(entry, sets={other: state for other, state in entry.sets.items() if other != label})
    return left if _retired_numbers(left) else _deleted(left)


def unfinished(state: SetState) -> list[Retired]:
    """Return the generations of a set that were begun and never live; some may still be written."""
    live = 0 if state.live is None else state.live.number
    return [item for item in state.retired if item.number > live]


def oldest_retired(entry: LedgerEntry) -> float | None:
    """Return the earliest time at which a generation of the document was retired, None if none waits."""
    return min((item.since for state in entry.sets.values() for item in state.retired), default=None)


def _retired_numbers(entry: LedgerEntry) -> list[int]:
    return [item.number for state in entry.sets.values() for item in state.retired]


def _deleted(entry: LedgerEntry) -> LedgerEntry:
    """Return the entry as deleted, where it is a tombstone."""
    return replace(entry, state=DocumentState.DELETED) if entry.state is DocumentState.DELETING else entry


def _without_failure(entry: LedgerEntry) -> LedgerEntry:
    return replace(entry, error="", stage="", error_class="")


def _live(state: SetState, number: int, fingerprint: str, now: float) -> SetState:
    new = next(item for item in state.retired if item.number == number)
    replaced = () if state.live is None else (Retired(*state.live, now),)
    others = _without(state, {number}).retired
    return SetState(Generation(number, new.sentences), (*others, *replaced), fingerprint)


def _without(state: SetState, numbers: Collection[int]) -> SetState:
    return replace(state, retired=tuple(item for item in state.retired if item.number not in numbers))


def _all_retired(state: SetState, now: float) -> SetState:
    replaced = () if state.live is None else (Retired(*state.live, now),)
    return SetState(None, (*state.retired, *replaced))
