"""Settings to engine and encoders: the only place where adapters are chosen."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from umg_search.encoding.dense import SentenceTransformerDense
from umg_search.encoding.encoders import Encoders
from umg_search.encoding.sparse import SentenceTransformerSparse
from umg_search.encoding.tokens import WordCounter
from umg_search.errors import ConfigurationError
from umg_search.granularity import Expert
from umg_search.model import DenseModel, Finding, SetSpec, SparseModel
from umg_search.ports import Engine, Queue
from umg_search.settings import Settings
from umg_search.store.records import SCHEMA

SETS_IN_MEMORY = 2
"""Index sets whose encoders a process holds at once: the active one, and the one it flips to."""


def open_engine(settings: Settings, *, create: bool = True) -> Engine:
    """Return the engine that the settings name, connected or opened.

    The embedded engine's folder is made where there is none, unless `create` is false: then NoIndexSet is raised.
    """
    kind, _, folder = settings.engine.partition(":")
    if kind == "embedded":
        from umg_search.store.embedded import EmbeddedEngine  # noqa: PLC0415 - a server's user needs no Qdrant loaded

        return EmbeddedEngine(Path(folder), create=create)
    from umg_search.store.server import ServerEngine  # noqa: PLC0415 - nor does the embedded one need two clients

    return ServerEngine(settings)


def diagnose_absent(settings: Settings) -> Sequence[Finding]:
    """Check where the folder of an embedded engine that holds no index yet is to be."""
    from umg_search.store.embedded.diagnosis import diagnose_absent  # noqa: PLC0415 - as above

    return tuple(diagnose_absent(Path(settings.engine.partition(":")[2])))


def open_queue(settings: Settings) -> Queue:
    """Return the queue of the server that the settings name, connected; ConfigurationError for the embedded engine."""
    if settings.engine.startswith("embedded:"):
        raise ConfigurationError(
            f"Workers are other processes, and {settings.engine} is open to one process at a time: "
            "use `umg ingest`, or set UMG_ENGINE to a server."
        )
    from umg_search.store.queue import ServerQueue  # noqa: PLC0415 - as above

    return ServerQueue(settings)


def new_set(settings: Settings) -> tuple[SetSpec, Encoders]:
    """Return the specification of a set made under these settings, and its encoders; this loads the models."""
    dense = _dense(settings, settings.dense_model, settings.dense_query_prompt, settings.dense_passage_prompt)
    sparse = _sparse(settings, settings.sparse_model)
    experts = settings.expert_list
    encoders = Encoders(
        counter=dense.counter if Expert.DENSE in experts else WordCounter(),
        granularities=settings.granularities,
        dense=dense if Expert.DENSE in experts else None,
        sparse=sparse if Expert.SPARSE in experts else None,
        encoding=settings.encoding,
        headers=settings.headers,
    )
    return _spec(settings, encoders), encoders


def encoders_of(settings: Settings) -> Callable[[SetSpec], Encoders]:
    """Return a function from a stored specification to its encoders, which keeps those it made last."""

    @lru_cache(maxsize=SETS_IN_MEMORY)
    def encoders(spec: SetSpec) -> Encoders:
        dense = None
        if spec.dense is not None:
            dense = _dense(settings, spec.dense.name, spec.dense.query_prompt, spec.dense.passage_prompt)
        return Encoders(
            counter=dense.counter if dense else WordCounter(),
            granularities=spec.granularities,
            dense=dense,
            sparse=_sparse(settings, spec.sparse.name) if spec.sparse else None,
            encoding=spec.encoding,
            headers=spec.headers,
        )

    return encoders


def _spec(settings: Settings, encoders: Encoders) -> SetSpec:
    dense: DenseModel | None = encoders.dense.model if encoders.dense else None
    sparse: SparseModel | None = encoders.sparse.model if encoders.sparse else None
    return SetSpec(
        schema=SCHEMA,
        granularities=encoders.granularities,
        experts=settings.expert_list,
        tokenizer=encoders.counter.name,
        encoding=encoders.encoding,
        headers=encoders.headers,
        analyzer=settings.analyzer,
        access_control=settings.access_control,
        dense=dense,
        sparse=sparse,
        vectors=settings.vectors,
        fields=settings.fields,
        derived=settings.derived,
    )


def _dense(settings: Settings, name: str, query_prompt: str, passage_prompt: str) -> SentenceTransformerDense:
    return SentenceTransformerDense(
        name,
        query_prompt=query_prompt,
        passage_prompt=passage_prompt,
        device=settings.device,
        batch_size=settings.encode_batch,
    )


def _sparse(settings: Settings, name: str) -> SentenceTransformerSparse:
    return SentenceTransformerSparse(name, device=settings.device, batch_size=settings.encode_batch)
