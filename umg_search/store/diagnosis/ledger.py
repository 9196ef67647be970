"""Judge of the ledger: documents by state, and generations that wait for their deletion. For every engine."""

from collections.abc import Mapping

from umg_search.errors import EngineError
from umg_search.model import DocumentState, Finding, LedgerEntry, Verdict
from umg_search.ports import Engine

_WAITING = (DocumentState.QUEUED, DocumentState.ENCODING)
_FOREVER = float("inf")


def documents(engine: Engine) -> Finding:
    """Judge the documents of an engine that has an index set."""
    try:
        states = engine.states()
        waiting = sum(_retired(entry) for entry in engine.entries(retired_before=_FOREVER))
    except EngineError as error:
        return Finding("documents", Verdict.UNKNOWN, str(error).rstrip("."))
    return judged(states, waiting)


def judged(states: Mapping[DocumentState, int], waiting: int) -> Finding:
    """Judge counts of documents, and of generations that were replaced or left unfinished."""
    counts = ", ".join(f"{states[state]} {state.value}" for state in DocumentState if states.get(state))
    text = counts or "none"
    if waiting:
        text += f"; replaced or unfinished generations that the next ingest after UMG_GRACE_S deletes: {waiting}"
    if states.get(DocumentState.FAILED):
        remedy = "`umg status --failed` says why; correct and ingest them again, or `umg retry --failed`"
        return Finding("documents", Verdict.WARNING, text, remedy)
    if any(states.get(state) for state in _WAITING):
        return Finding("documents", Verdict.OK, text, "queued ones wait for `umg worker`: `umg status` shows them")
    if states.get(DocumentState.WRITING):
        return Finding("documents", Verdict.OK, text, "unless an ingest is running, ingest those in writing again")
    return Finding("documents", Verdict.OK, text)


def _retired(entry: LedgerEntry) -> int:
    return sum(len(state.retired) for state in entry.sets.values())
