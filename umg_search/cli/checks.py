"""`umg doctor`: checks from the settings up to the models, each with what to do."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from umg_search.addresses import is_server
from umg_search.cli.queue_checks import check_queue
from umg_search.encoding.encoders import Encoders
from umg_search.encoding.models import choose_device
from umg_search.errors import ConfigurationError, IndexMismatch, NoIndexSet, UmgError
from umg_search.model import Finding, IndexSet, SetSpec, Verdict
from umg_search.ports import Engine
from umg_search.search import ranking_options
from umg_search.settings import Settings, load_settings
from umg_search.store.diagnosis.ledger import documents
from umg_search.store.writer import check_same
from umg_search.wiring import diagnose_absent, encoders_of, new_set, open_engine

_ORDER = tuple(Verdict)
_WRONG_USE = 2
_ENGINE = 3

LOADING_SHARE = 3
"""Models that load for more than this part of a message's time are warned of: other machines are busier."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings in the order of their checks, and the exit code: 0 unless one of them is an error."""

    findings: tuple[Finding, ...]
    exit_code: int

    @property
    def worst(self) -> Verdict:
        """The worst verdict."""
        return max((finding.verdict for finding in self.findings), key=_ORDER.index)

    def as_json(self) -> dict[str, Any]:
        """Return the diagnosis as JSON."""
        return {"verdict": self.worst.value, "checks": [asdict(finding) for finding in self.findings]}


def line(finding: Finding) -> str:
    """Return one finding as one line."""
    text = f"{finding.found}: {finding.remedy}" if finding.remedy else finding.found
    return f"{finding.verdict.value:8} {finding.check}: {' '.join(text.split())}"


def check_all() -> Diagnosis:
    """Check everything that can be checked; what depends on a failed check is left out."""
    findings = _Findings()
    try:
        settings = load_settings()
        ranking_options(settings)
    except UmgError as error:
        findings.failed("settings", error)
        return findings.diagnosis()
    findings.add([Finding("settings", Verdict.OK, "all valid")])
    engine = _opened(settings, findings)
    try:
        _check(engine, settings, findings)
    finally:
        if engine is not None:
            engine.close()
    return findings.diagnosis()


class _Findings:
    """Findings, and what the errors among them make the command end with."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._code = 0

    def add(self, findings: Iterable[Finding], *, code: int = _ENGINE) -> None:
        for finding in findings:
            self._findings.append(finding)
            if finding.verdict is Verdict.ERROR:
                self._code = max(self._code, code)

    def failed(self, check: str, error: UmgError) -> None:
        code = _WRONG_USE if isinstance(error, ConfigurationError) else _ENGINE
        self.add([Finding(check, Verdict.ERROR, str(error).rstrip("."))], code=code)

    def diagnosis(self) -> Diagnosis:
        return Diagnosis(tuple(self._findings), self._code)


def _opened(settings: Settings, findings: _Findings) -> Engine | None:
    """Open the engine before any model is loaded."""
    try:
        engine = open_engine(settings, create=False)
    except NoIndexSet as error:
        findings.add([*diagnose_absent(settings), Finding("index set", Verdict.WARNING, str(error).rstrip("."))])
        return None
    except UmgError as error:
        findings.failed("engine", error)
        return None
    info = engine.info()
    findings.add([Finding("engine", Verdict.OK, f"{info.name} {info.version} at {info.where}")])
    return engine


def _check(engine: Engine | None, settings: Settings, findings: _Findings) -> None:
    index = _active(engine)
    models = _Findings()
    wanted = _new_models(settings, models)
    if engine is not None:
        findings.add(engine.diagnose(wanted))
        if is_server(settings.engine):
            findings.add(check_queue(engine, settings))
    if engine is not None and index is not None:
        findings.add([documents(engine)])
        _compare(index.spec, wanted, settings, models)
    made = models.diagnosis()
    findings.add(made.findings, code=_WRONG_USE)


def _active(engine: Engine | None) -> IndexSet | None:
    """Return the active set, None where there is none that can be read: the engine's own findings tell why."""
    try:
        return engine.active_set() if engine is not None else None
    except UmgError:
        return None


def _new_models(settings: Settings, findings: _Findings) -> SetSpec | None:
    """Load the models of the settings, which a new set would have."""
    started = perf_counter()
    try:
        spec, encoders = new_set(settings)
        findings.add([_loaded("of the settings", spec, encoders, settings, started)])
    except UmgError as error:
        findings.failed("models", error)
        return None
    return spec


def _compare(active: SetSpec, wanted: SetSpec | None, settings: Settings, findings: _Findings) -> None:
    """Compare the active set with the settings, and load its own models where they are others."""
    if wanted is None or (wanted.dense, wanted.sparse) != (active.dense, active.sparse):
        started = perf_counter()
        try:
            encoders = encoders_of(settings)(active)
            findings.add([_loaded("of the active set", active, encoders, settings, started)])
            _check_dims(active, encoders)
        except UmgError as error:
            findings.failed("models", error)
    if wanted is None:
        return
    try:
        check_same(active, wanted)
    except IndexMismatch as error:
        text = f"searches follow the set, and umg ingest is refused: {str(error).rstrip('.')}"
        findings.add([Finding("set and settings", Verdict.WARNING, text)])
    else:
        findings.add([Finding("set and settings", Verdict.OK, "the settings agree with the active set")])


def _loaded(whose: str, spec: SetSpec, encoders: Encoders, settings: Settings, started: float) -> Finding:
    """Ask the encoders one question, which loads every model, and say how long all of it took."""
    encoders.encode_query("test")
    dense = [f"{spec.dense.name} ({spec.dense.dims} dimensions)"] if spec.dense else []
    names = [*dense, *([spec.sparse.name] if spec.sparse else [])]
    if not names:
        return Finding("models", Verdict.OK, f"those {whose}: none needed")
    seconds = perf_counter() - started
    text = f"those {whose}: {', '.join(names)}; loaded on {choose_device(settings.device)} in {seconds:.1f} s"
    return models_loaded(text, seconds, settings)


def models_loaded(text: str, seconds: float, settings: Settings) -> Finding:
    """Return what is to say of models that were loaded in so many seconds: whether workers have the time for it."""
    limit = settings.task_time_limit_s
    if not is_server(settings.engine) or seconds <= limit / LOADING_SHARE:
        return Finding("models", Verdict.OK, text)
    remedy = "a worker that is stopped while it loads them never comes to its documents: raise UMG_TASK_TIME_LIMIT_S"
    return Finding("models", Verdict.WARNING, f"{text}, of the {limit} s of a message", remedy)


def _check_dims(active: SetSpec, encoders: Encoders) -> None:
    found = encoders.dense.model.dims if encoders.dense else None
    if active.dense and found != active.dense.dims:
        raise IndexMismatch(
            f"The model {active.dense.name!r} gives {found} dimensions and the index set has {active.dense.dims}: "
            "bring back the model that the set was made with, or make the set anew with `umg index rebuild`."
        )
