"""`umg doctor`: checks from the settings up to the models, each with what to do."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from umg_search.errors import ConfigurationError, NoIndexSet, UmgError
from umg_search.model import DocumentState, EngineInfo
from umg_search.settings import Settings, load_settings
from umg_search.store.reader import Reader
from umg_search.store.writer import check_same
from umg_search.wiring import encoders_of, new_set, open_engine


class Verdict(StrEnum):
    """What a check came to."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor; `exit_code` is what a failure makes the command end with."""

    name: str
    verdict: Verdict
    message: str
    exit_code: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the line as JSON."""
        return {"name": self.name, "verdict": self.verdict.value, "message": self.message}


def check_all() -> list[Check]:
    """Return all checks, in order; those that depend on a failed one are skipped."""
    try:
        settings = load_settings()
    except UmgError as error:
        return [Check("settings", Verdict.FAILED, str(error), 2)]
    checks = [Check("settings", Verdict.OK, "all valid")]
    try:
        engine = open_engine(settings)
    except UmgError as error:
        code = 2 if isinstance(error, ConfigurationError) else 3
        return [*checks, Check("engine", Verdict.FAILED, str(error), code), _models(settings)]
    try:
        reader = Reader(engine)
        return [
            *checks,
            _engine(reader.info()),
            _checked("index set", lambda: _index_set(reader, settings)),
            _models(settings),
        ]
    finally:
        engine.close()


def _engine(info: EngineInfo) -> Check:
    return Check("engine", Verdict.OK, f"{info.name} {info.version} at {info.where}")


def _index_set(reader: Reader, settings: Settings) -> Check:
    try:
        index = reader.active_set()
    except NoIndexSet as error:
        return Check("index set", Verdict.SKIPPED, str(error))
    encoders_of(settings)(index.spec).encode_query("test")
    spec, _ = new_set(settings)
    check_same(index.spec, spec)
    documents = sum(count for state, count in reader.status().documents.items() if state is not DocumentState.DELETED)
    return Check("index set", Verdict.OK, f"{index.label} with {documents} documents; its query models answer")


def _models(settings: Settings) -> Check:
    return _checked("models", lambda: _loaded(settings))


def _loaded(settings: Settings) -> Check:
    spec, encoders = new_set(settings)
    encoders.encode_query("test")
    names = [model.name for model in (spec.dense, spec.sparse) if model]
    return Check("models", Verdict.OK, f"{', '.join(names) or 'none needed'} for new sets")


def _checked(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except UmgError as error:
        return Check(name, Verdict.FAILED, str(error), 2 if isinstance(error, ConfigurationError) else 3)
