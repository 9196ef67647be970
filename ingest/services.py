"""Settings to services: each with its limits, for the command line and for tasks."""

from ingest.control import ControlService
from ingest.pipeline import IngestService
from ingest.sentences import SentenceOptions
from ingest.submission import SubmitService
from ingest.sweeping import SweepService
from ingest.work import WorkService
from umg_search.ports import Engine, Queue, Sender
from umg_search.settings import Settings
from umg_search.store.writer import Writer
from umg_search.wiring import new_set


def sentence_options(settings: Settings) -> SentenceOptions:
    """Return how texts are split under these settings."""
    return SentenceOptions(
        max_sentence_chars=settings.max_sentence_chars,
        max_sentence_chars_dense=settings.max_sentence_chars_dense,
        default_language=settings.default_language,
    )


def ingest_service(settings: Settings, engine: Engine) -> IngestService:
    """Return the service that stores documents at once; this loads the models."""
    spec, encoders = new_set(settings)
    return IngestService(
        Writer(engine, grace=settings.grace_s),
        encoders,
        spec,
        sentences=sentence_options(settings),
        batch_chars=settings.ingest_batch_chars,
        max_sentences=settings.max_sentences,
    )


def submit_service(settings: Settings, engine: Engine, queue: Queue, sender: Sender) -> SubmitService:
    """Return the service that takes documents for the workers; no model is loaded."""
    return SubmitService(
        engine, queue, sender, batch_chars=settings.ingest_batch_chars, queue_bytes=settings.queue_bytes
    )


def work_service(
    settings: Settings,
    engine: Engine,
    queue: Queue,
    sender: Sender,
    *,
    out_of_time: tuple[type[BaseException], ...] = (),
) -> WorkService:
    """Return the service that does what messages ask for; this loads the models."""
    return WorkService(
        engine,
        queue,
        sender,
        Writer(engine, grace=settings.grace_s),
        ingest_service(settings, engine),
        lease_s=settings.lease_s,
        out_of_time=out_of_time,
    )


def sweep_service(settings: Settings, engine: Engine, queue: Queue, sender: Sender) -> SweepService:
    """Return the service that keeps things going; no model is loaded."""
    return SweepService(
        engine,
        queue,
        sender,
        Writer(engine, grace=settings.grace_s),
        batch_chars=settings.ingest_batch_chars,
        lease_s=settings.lease_s,
        resend_s=settings.resend_s,
    )


def control_service(settings: Settings, engine: Engine, queue: Queue, sender: Sender) -> ControlService:
    """Return the service that retries and cancels."""
    return ControlService(engine, queue, sender, batch_chars=settings.ingest_batch_chars)
