"""What an index set takes: bytes of each index, and seconds to encode and write each part of it that a method reads.

A part is a grid: some experts at some granularities. Seconds are measured by really ingesting a sample of documents
into a set of just that grid, with nothing remembered, and scaled by characters to all documents.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.evaluation.indexing import INDEX_PREFIX, Own, Progress, own_settings, write
from umg_search.granularity import PARENT, Channel, Expert, Granularity
from umg_search.model import Document, Encoding, IndexSet, SetSpec, SplitDocument
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.store.admin import lease
from umg_search.wiring import open_engine

SAMPLE_CHARACTERS = 50_000
"""Characters of the documents that are ingested for each grid."""

TEXT = "text"
"""Index of the texts, which every answer needs."""

SCRATCH = f"{INDEX_PREFIX}cost"
"""Prefix on a server under which samples are ingested."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Experts at granularities, each at each."""

    experts: tuple[Expert, ...]
    granularities: tuple[Granularity, ...]


PLAIN = Grid((Expert.DENSE,), (PARENT,))
"""What others are put beside: dense vectors of 8-sentence chunks."""


@dataclass(frozen=True, slots=True)
class Footprints:
    """Bytes of the set's indices by kind (`g02` ..., `text`), and seconds of an ingest of all documents by grid.

    `plain_bytes` and `plain_ingest_s` are those of a set with dense vectors of 8-sentence chunks and the texts, and
    nothing else, each chunk read by the model as it is. Seconds are scaled from `sample` of all `characters`; none are
    known where the documents are not at hand.
    """

    bytes: Mapping[str, int]
    ingest_s: Mapping[Grid, float] = field(default_factory=dict)
    plain_bytes: int = 0
    plain_ingest_s: float | None = None
    sample: int = 0
    characters: int = 0

    def bytes_of(self, grid: Grid) -> int:
        """Return the bytes of the indices of a grid's granularities, which hold all experts, and of the texts."""
        return sum(self.bytes[kind] for kind in (*(g.label for g in grid.granularities), TEXT))


class PartEncoders(Encoders):
    """Encoders of a set that is part of another one: its encodings are there already."""

    def __init__(self, encoders: Encoders, spec: SetSpec) -> None:
        super().__init__(
            counter=encoders.counter,
            granularities=spec.granularities,
            dense=encoders.dense if Expert.DENSE in spec.experts else None,
            sparse=encoders.sparse if Expert.SPARSE in spec.experts else None,
            encoding=spec.encoding,
        )
        self._whole = encoders

    def encode(self, documents: Sequence[SplitDocument]) -> list[Encoded | EncodingFailure]:
        """Return the part of each document's encodings."""
        return [
            item if isinstance(item, EncodingFailure) else self._part(item) for item in self._whole.encode(documents)
        ]

    def _part(self, item: Encoded) -> Encoded:
        dense = {g: rows for g, rows in item.document.dense.items() if self.dense and g in self.granularities}
        sparse = {g: rows for g, rows in item.document.sparse.items() if self.sparse and g in self.granularities}
        return Encoded(replace(item.document, dense=dense, sparse=sparse), item.warnings)


def grid_of(spec: SetSpec, channels: Iterable[Channel]) -> Grid:
    """Return the smallest grid of a set that holds channels."""
    wanted = set(channels)
    experts, granularities = {c.expert for c in wanted}, {c.granularity for c in wanted}
    return Grid(
        tuple(expert for expert in spec.experts if expert in experts),
        tuple(granularity for granularity in spec.granularities if granularity in granularities),
    )


def narrowed(spec: SetSpec, grid: Grid) -> SetSpec:
    """Return the specification of a set that has a grid only."""
    return replace(
        spec,
        experts=grid.experts,
        granularities=grid.granularities,
        dense=spec.dense if Expert.DENSE in grid.experts else None,
        sparse=spec.sparse if Expert.SPARSE in grid.experts else None,
    )


def has_plain(spec: SetSpec) -> bool:
    """Return whether a set has what it is put beside."""
    return Expert.DENSE in spec.experts and PARENT in spec.granularities


def bytes_by_kind(engine: Engine, index: IndexSet) -> dict[str, int]:
    """Return the bytes of each index of a set as the engine tells them at this moment, without the ledger."""
    sizes = {_kind(name): size.bytes for name, size in engine.sizes(index).items()}
    return {kind: sizes[kind] for kind in (*(g.label for g in index.spec.granularities), TEXT)}


def footprints(
    engine: Engine,
    index: IndexSet,
    settings: Settings,
    own: Own | None,
    grids: Sequence[Grid],
    *,
    folder: Path,
    progress: Progress,
) -> Footprints:
    """Return what a set takes; where its documents are not at hand, the bytes only.

    The plain set is made beside the set's own index, in `folder` or on the server, and stays there.
    """
    measured = Footprints(bytes_by_kind(engine, index))
    if own is None:
        return measured
    sample = sampled(own.documents)
    read, characters = (sum(len(document.text) for document in some) for some in (sample, own.documents))
    specs = [narrowed(own.spec, grid) for grid in grids]
    plain = replace(narrowed(own.spec, PLAIN), encoding=Encoding.DIRECT) if has_plain(own.spec) else None
    sampling = replace(own, documents=tuple(sample))
    *seconds, plain_s = (
        taken * characters / read for taken in _ingests(sampling, settings, [*specs, plain or specs[0]], progress)
    )
    return replace(
        measured,
        ingest_s=dict(zip(grids, seconds, strict=True)),
        plain_bytes=_plain_bytes(own, settings, folder) if plain else 0,
        plain_ingest_s=plain_s if plain else None,
        sample=read,
        characters=characters,
    )


def sampled(documents: Sequence[Document], characters: int = SAMPLE_CHARACTERS) -> list[Document]:
    """Return documents drawn at random until they have so many characters; the draw is always the same."""
    drawn = random.Random(0).sample(list(documents), len(documents))  # noqa: S311 - nothing secret
    before = accumulate((len(document.text) for document in drawn), initial=0)
    return [document for document, read in zip(drawn, before, strict=False) if read < characters]


def _ingests(own: Own, settings: Settings, specs: Sequence[SetSpec], progress: Progress) -> Iterator[float]:
    """Yield the seconds to ingest documents into a set of each specification; a first one, which warms, is not told."""
    with _scratch(settings) as engine:
        for number, spec in enumerate((specs[0], *specs)):
            _emptied(engine, spec)
            encoders = _fresh(own.encoders, spec)
            written = write(engine, Own(own.documents, spec, encoders), settings, lambda *_: None)
            progress("ingest", number, len(specs))
            if number:
                yield written.seconds
        _forget(engine)


@contextmanager
def _scratch(settings: Settings) -> Iterator[Engine]:
    """Open an engine for samples alone, of the kind that the settings name, while nobody else uses it."""
    with TemporaryDirectory(prefix="umg-cost-") as folder:
        changes = {"prefix": SCRATCH}
        if settings.engine.startswith("embedded:"):
            changes["engine"] = f"embedded:{folder}"
        with closing(open_engine(settings.model_copy(update=changes))) as engine, lease(engine):
            yield engine


def _emptied(engine: Engine, spec: SetSpec) -> None:
    """Make a new and empty set the active one, and forget all others."""
    _forget(engine)
    if engine.active_set() is None:
        engine.create_set(spec)
        return
    index = engine.build_set(spec)
    engine.activate(index)
    for stored in engine.sets():
        if stored.index != index:
            engine.drop_set(stored.index)


def _forget(engine: Engine) -> None:
    engine.delete_entries(list(engine.entries()))


def _fresh(encoders: Encoders, spec: SetSpec) -> Encoders:
    """Return encoders for a set that remember nothing."""
    return Encoders(
        counter=encoders.counter,
        granularities=spec.granularities,
        dense=encoders.dense if spec.dense else None,
        sparse=encoders.sparse if spec.sparse else None,
        encoding=spec.encoding,
    )


def _plain_bytes(own: Own, settings: Settings, folder: Path) -> int:
    """Return the bytes of the plain set, made of the encodings that are there: their number of bytes is the same."""
    spec = narrowed(own.spec, PLAIN)
    plain = own_settings(settings, own.documents, spec, folder)
    with closing(open_engine(plain)) as engine:
        write(engine, Own(own.documents, spec, PartEncoders(own.encoders, spec)), plain, lambda *_: None)
        index = engine.active_set()
        return 0 if index is None else sum(bytes_by_kind(engine, index).values())


def _kind(name: str) -> str:
    """Return the kind in the name of an index: a server's has a prefix before it and a version after it."""
    return name.split("-")[1] if "-" in name else name
