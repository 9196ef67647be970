"""The one error tree.

UmgError
├── ConfigurationError        wrong use or settings; the command line ends with 2
│   ├── SettingsError         settings that do not validate, all fields together
│   ├── ModelError            a model that cannot be loaded, or lacks what is needed
│   ├── MissingExtra          an optional package is not installed
│   ├── DatasetError          questions or documents of an evaluation that cannot be used
│   ├── IndexMismatch         settings differ from the index set they are used with
│   └── QueryError            a question, option or vector that cannot be searched with
├── EngineError               the engine answered with an error
│   ├── EngineUnreachable     no answer; the command line ends with 3
│   ├── EngineUnsupported     an engine, version or offering that is not supported
│   ├── EngineBusy            the engine or its folder is in use, or asks to slow down
│   ├── WriteConflict         another writer changed the same document
│   ├── SetDropped            an index set was dropped while it was used
│   └── NoIndexSet            nothing was ingested under this prefix yet
├── QueueError                asynchronous ingestion cannot go on
│   ├── BrokerUnreachable     the broker gave no answer; the command line ends with 3
│   ├── BacklogFull           more waits, or would wait, than the queue may hold; nothing was taken
│   └── SubmissionCancelled   somebody cancelled it while it was being made
└── DocumentError             one document cannot be read, split, encoded or stored
    ├── DocumentNotFound      no such document in this collection
    └── SetIncomplete         an index set lacks documents that cannot be built in it
"""

from typing import Self


class UmgError(Exception):
    """Anything umg-search reports: one sentence that says what happened and what to do."""


class ConfigurationError(UmgError):
    """Wrong use or configuration."""


class SettingsError(ConfigurationError):
    """Settings that do not validate; the message lists every field."""


class ModelError(ConfigurationError):
    """A model that cannot be loaded, or that lacks what it is needed for."""


class MissingExtra(ConfigurationError):
    """An optional package is not installed; the message names the extra."""


class DatasetError(ConfigurationError):
    """Questions or documents of an evaluation that cannot be used; wrong lines are named."""


class IndexMismatch(ConfigurationError):
    """Settings that differ from the index set they are used with; both values are named."""


class QueryError(ConfigurationError):
    """A question, option or query vector that cannot be searched with."""


class EngineError(UmgError):
    """The engine answered with an error."""


class EngineUnreachable(EngineError):
    """The engine gave no answer."""


class EngineUnsupported(EngineError, ConfigurationError):
    """An engine, version or offering that umg-search does not support."""


class EngineBusy(EngineError):
    """The engine, or the folder of the embedded engine, is in use or overloaded.

    `retry_after` seconds are what it asks to wait before another try, 0 if it does not say.
    """

    def __init__(self, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WriteConflict(EngineError):
    """Another writer changed the same document meanwhile."""


class SetDropped(EngineError):
    """An index set was dropped while it was read from or written to; the active set is another one."""


class NoIndexSet(EngineError, ConfigurationError):
    """Nothing has been ingested under this prefix yet."""

    @classmethod
    def at(cls, where: str) -> Self:
        """Return the error for an engine, or a folder that is to hold one."""
        return cls(
            f"Nothing is indexed at {where} yet: run `umg ingest PATH` first, or correct UMG_ENGINE or UMG_PREFIX."
        )


class QueueError(UmgError):
    """Asynchronous ingestion cannot go on."""


class BrokerUnreachable(QueueError):
    """The broker gave no answer; documents that are queued already are sent by the sweeper later."""


class BacklogFull(QueueError):
    """More documents wait, or would wait, than the queue may hold."""


class SubmissionCancelled(QueueError):
    """Somebody cancelled a submission while it was being made; what it had queued is cancelled as well."""


class DocumentError(UmgError):
    """One document cannot be read, split, encoded or stored."""


class DocumentNotFound(DocumentError):
    """No such document in this collection."""


class SetIncomplete(DocumentError):
    """An index set lacks documents that cannot be built in it; the message says how many."""
