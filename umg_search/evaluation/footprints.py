"""What an index set takes: bytes of each index, and seconds to encode and write each part of it that a method reads.

A part is a grid: some experts at some granularities. A sample of documents is encoded by each expert alone, and written
into a set of just that grid; the seconds of both are added and scaled by characters to all documents.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.chunks import split_documents
from ingest.services import sentence_options
from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.evaluation.indexing import Own, Progress, write
from umg_search.granularity import PARENT, Channel, Expert, Granularity
from umg_search.model import Document, DocumentKey, Encoding, IndexSet, SetSpec, SplitDocument
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.store.admin import lease
from umg_search.wiring import open_engine

SAMPLE_CHARACTERS = 50_000
"""Characters of the documents that are ingested for each grid."""

TEXT = "text"
"""Index of the texts, which every answer needs."""

SAMPLES, PLAINLY = "_cost", "_plain"
"""What follows the prefix of a set's own index in that of its samples on a server, and of the plain set."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Experts at granularities, each at each."""

    experts: tuple[Expert, ...]
    granularities: tuple[Granularity, ...]


Encode = Callable[[Sequence[SplitDocument]], Sequence[Encoded | EncodingFailure]]

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
    """Encoders of a set that is part of another one, whose encodings `known` returns."""

    def __init__(self, encoders: Encoders, spec: SetSpec, known: Encode) -> None:
        super().__init__(
            counter=encoders.counter,
            granularities=spec.granularities,
            dense=encoders.dense if spec.dense else None,
            sparse=encoders.sparse if spec.sparse else None,
            encoding=spec.encoding,
        )
        self._known = known

    def encode(self, documents: Sequence[SplitDocument]) -> list[Encoded | EncodingFailure]:
        """Return the part of each document's encodings."""
        return [self._part(item) if isinstance(item, Encoded) else item for item in self._known(documents)]

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
    sample = tuple(sampled(own.documents))
    read, characters = (sum(len(document.text) for document in some) for some in (sample, own.documents))
    scale = characters / read
    seconds = Ingests(replace(own, documents=sample), settings).seconds(grids, progress)
    measured = replace(
        measured,
        ingest_s={grid: scale * taken for grid, taken in seconds.items()},
        sample=read,
        characters=characters,
    )
    if not has_plain(own.spec):
        return measured
    plain = replace(own, documents=sample, spec=replace(narrowed(own.spec, PLAIN), encoding=Encoding.DIRECT))
    (plain_s,) = Ingests(plain, settings).seconds([PLAIN], progress).values()
    return replace(measured, plain_bytes=_plain_bytes(own, settings, folder), plain_ingest_s=scale * plain_s)


def sampled(documents: Sequence[Document], characters: int = SAMPLE_CHARACTERS) -> list[Document]:
    """Return documents drawn at random until they have so many characters; the draw is always the same."""
    drawn = random.Random(0).sample(list(documents), len(documents))  # noqa: S311 - nothing secret
    before = accumulate((len(document.text) for document in drawn), initial=0)
    return [document for document, read in zip(drawn, before, strict=False) if read < characters]


class Ingests:
    """Ingests the same documents again and again, with a watch."""

    def __init__(self, own: Own, settings: Settings) -> None:
        self._own = own
        self._settings = settings
        self._split = split_documents(own.documents, own.encoders.counter, sentence_options(settings))
        self._models: dict[Grid, float] = {}

    def seconds(self, grids: Sequence[Grid], progress: Progress) -> dict[Grid, float]:
        """Return the seconds of each grid: of its experts' models, one after the other, and of the writing."""
        encoded = _fresh(self._own.encoders, self._own.spec).encode(self._split)  # warms the models, too
        known = {split.document.key: item for split, item in zip(self._split, encoded, strict=True)}
        found: dict[Grid, float] = {}
        with _scratch(self._settings) as engine:
            self._written(engine, grids[0], known)  # warms the engine
            for number, grid in enumerate(grids, start=1):
                found[grid] = self._read(grid) + self._written(engine, grid, known)
                progress("ingest", number, len(grids))
            _forget(engine)
        return found

    def _read(self, grid: Grid) -> float:
        """Return the seconds of the models; composed encodings read the finest windows, whatever is made of them."""
        spec = self._own.spec
        granularities = spec.granularities if spec.encoding is Encoding.COMPOSED else grid.granularities
        alone = [Grid((expert,), granularities) for expert in grid.experts if expert is not Expert.LEXICAL]
        for each in alone:
            if each not in self._models:
                started = time.perf_counter()
                _fresh(self._own.encoders, narrowed(spec, each)).encode(self._split)
                self._models[each] = time.perf_counter() - started
        return sum(self._models[each] for each in alone)

    def _written(self, engine: Engine, grid: Grid, known: Mapping[DocumentKey, Encoded | EncodingFailure]) -> float:
        """Return the seconds to split and count documents and to make them searchable."""
        spec = narrowed(self._own.spec, grid)
        _emptied(engine, spec)
        encoders = PartEncoders(self._own.encoders, spec, lambda some: [known[each.document.key] for each in some])
        return write(engine, replace(self._own, spec=spec, encoders=encoders), self._settings, _silent).seconds


@contextmanager
def _scratch(settings: Settings) -> Iterator[Engine]:
    """Open an engine for samples alone, of the kind that the settings name, while nobody else uses it."""
    with TemporaryDirectory(prefix="umg-cost-") as folder:
        changes = {"prefix": f"{settings.prefix}{SAMPLES}"}
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
    changes = {"prefix": f"{settings.prefix}{PLAINLY}"}
    if settings.engine.startswith("embedded:"):
        changes["engine"] = f"embedded:{folder / changes['prefix']}"
    plain = settings.model_copy(update=changes)
    with closing(open_engine(plain)) as engine:
        write(engine, Own(own.documents, spec, PartEncoders(own.encoders, spec, own.encoders.encode)), plain, _silent)
        index = engine.active_set()
        return 0 if index is None else sum(bytes_by_kind(engine, index).values())


def _silent(*_: object) -> None:
    """Show no progress."""


def _kind(name: str) -> str:
    """Return the kind in the name of an index: a server's has a prefix before it and a version after it."""
    return name.split("-")[1] if "-" in name else name
