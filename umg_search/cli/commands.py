"""The commands: each reads its options, makes one service, calls it, and prints."""

import logging
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ingest.pipeline import IngestService
from ingest.readers import Skipped, Unreadable, read_paths, total_bytes
from ingest.sentences import SentenceOptions
from umg_search.cli.checks import check_all, line
from umg_search.cli.output import (
    complain,
    err,
    out,
    print_json,
    print_result,
    print_status,
    print_text,
    result_json,
    status_json,
)
from umg_search.errors import ConfigurationError, QueryError
from umg_search.model import DEFAULT_COLLECTION, Document, DocumentKey, IngestReport, Outcome, parse_filter
from umg_search.ports import Engine, Scope
from umg_search.search import Cut, CutOn, GroupBy, Query, RankingOptions, SearchService, Selection
from umg_search.settings import Settings, load_settings
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.wiring import encoders_of, new_set, open_engine

DEFAULTS = RankingOptions()

Paths = Annotated[list[str], typer.Argument(help="Files, folders, .jsonl or .jsonl.gz.", show_default=False)]
Principals = Annotated[
    list[str] | None, typer.Option("--principal", help="Whom to search for, with access control; repeatable.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Collection = Annotated[str, typer.Option("--collection", help="The documents' collection.")]
FilterText = Annotated[
    str | None,
    typer.Option(
        help='Search documents with such metadata only: year >= 2020 and not lang = "en".', show_default=False
    ),
]
Ids = Annotated[list[str], typer.Argument(help="Document ids.", show_default=False)]


def ingest(paths: Paths, *, collection: Collection = DEFAULT_COLLECTION, as_json: AsJson = False) -> int:
    """Read, split, encode and store documents; unchanged ones are left alone."""
    missing = [path for path in paths if not os.path.exists(path)]  # noqa: PTH110 - Path.exists raises for long names
    if missing:
        raise ConfigurationError(f"There is no file or folder {', '.join(map(repr, missing))}: correct the path.")
    started = time.perf_counter()
    settings = load_settings()
    with opened(settings, create=True) as engine:
        spec, encoders = new_set(settings)
        service = IngestService(
            Writer(engine, grace=settings.grace_s),
            encoders,
            spec,
            sentences=sentence_options(settings),
            batch_chars=settings.ingest_batch_chars,
        )
        tally = _ingest(service, [Path(path) for path in paths], collection)
    return tally.conclude(time.perf_counter() - started, as_json=as_json)


def search(
    question: Annotated[str, typer.Argument(help="What to look for.", show_default=False)],
    *,
    budget: Annotated[int, typer.Option(help="Most tokens of all contexts together.")] = DEFAULTS.budget,
    select: Annotated[
        Selection, typer.Option(help="Evidence spans, units of any length, or 8-sentence parents.")
    ] = DEFAULTS.select,
    top_k: Annotated[
        int | None,
        typer.Option(help="Most contexts, 0 for no limit; unless given, 5 for chunks and parents.", show_default=False),
    ] = None,
    cut: Annotated[
        str,
        typer.Option(
            metavar="RULE[:NUMBER]",
            help="Where to end by the scores: none, gapr, adaptive_k, fixed, surprise, tail_aware.",
        ),
    ] = "none",
    cut_on: Annotated[
        CutOn, typer.Option(help="What of evidence spans is cut, sentences or joined runs.")
    ] = CutOn.SENTENCES,
    min_sentences: Annotated[
        int, typer.Option(help="Shortest evidence span; 2 or more gives fewer and longer contexts.")
    ] = DEFAULTS.min_sentences,
    principal: Principals = None,
    collection: Annotated[
        list[str] | None, typer.Option(help="Search this collection only; repeatable.", show_default=False)
    ] = None,
    filter: FilterText = None,
    max_per_document: Annotated[
        int | None, typer.Option(help="Most contexts of one document.", show_default=False)
    ] = None,
    group_by: Annotated[
        GroupBy | None, typer.Option(help="Put the contexts of a document together.", show_default=False)
    ] = None,
    min_relevance: Annotated[
        float | None, typer.Option(help="Least relevance of a context, a cosine from -1 to 1.", show_default=False)
    ] = None,
    title_weight: Annotated[
        float, typer.Option(help="Weight of titles beside texts in lexical search.")
    ] = DEFAULTS.title_weight,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each channel found and weighed.")] = False,
    as_json: AsJson = False,
) -> int:
    """Find the passages that answer a question."""
    settings = load_settings()
    query = Query(
        text=question,
        scope=Scope(tuple(collection or ()), tuple(principal or ()), None if filter is None else parse_filter(filter)),
        options=_ranking_options(
            select=select,
            budget=budget,
            top_k=top_k,
            cut=Cut.parse(cut, cut_on),
            min_sentences=min_sentences,
            max_per_document=max_per_document,
            min_relevance=min_relevance,
            title_weight=title_weight,
        ),
        group_by=group_by,
        explain=explain,
    )
    with opened(settings) as engine:
        service = SearchService(Reader(engine), encoders_of(settings), remembered_questions=settings.query_cache)
        result = service.search(query)
    if as_json:
        print_json(result_json(result, explain=explain))
    else:
        print_result(result)
    return 0


def _ranking_options(**values: Any) -> RankingOptions:
    """Return the options of a ranking; what is wrong is told of by the names that were typed."""
    try:
        return RankingOptions(**values)
    except QueryError as error:
        named = re.sub("|".join(values), lambda found: f"--{found[0].replace('_', '-')}", str(error))
        raise QueryError(named) from error


def text(
    id: Annotated[str, typer.Argument(help="Document id.", show_default=False)],
    *,
    collection: Collection = DEFAULT_COLLECTION,
    principal: Principals = None,
) -> int:
    """Print the stored text of a document, exactly."""
    with opened(load_settings()) as engine:
        print_text(Reader(engine).text(DocumentKey(collection, id), tuple(principal or ())))
    return 0


def status(*, as_json: AsJson = False) -> int:
    """Count documents by state, and measure the indices."""
    with opened(load_settings()) as engine:
        found = Reader(engine).status()
    if as_json:
        print_json(status_json(found))
    else:
        print_status(found)
    return 0


def delete(ids: Ids, *, collection: Collection = DEFAULT_COLLECTION) -> int:
    """Delete documents; unknown ones are named."""
    with opened(load_settings()) as engine:
        index = Reader(engine).active_set()
        names = list(dict.fromkeys(ids))
        kept: dict[DocumentKey, str] = {}
        keys = [DocumentKey(collection, name) for name in names]
        removed = Writer(engine).delete(index, keys, refused=kept.__setitem__)
    for name, done in zip(names, removed, strict=True):
        if not done:
            complain(f"There is no document {name!r} in collection {collection!r}.")
    for key, reason in kept.items():
        complain(f"{key.id!r} is deleted, and entries of it that no search shows are left ({reason}): run `umg purge`.")
    out.print(f"{sum(removed)} deleted.")
    return 0 if all(removed) and not kept else 1


def doctor(*, as_json: AsJson = False) -> int:
    """Check settings, engine, index set and models; each line says what to do."""
    _quiet_clients()
    diagnosis = check_all()
    if as_json:
        print_json(diagnosis.as_json())
    else:
        for finding in diagnosis.findings:
            out.print(line(finding), markup=False)
    return diagnosis.exit_code


class _Tally:
    """Counts reports of an ingest and names what failed, as it comes."""

    def __init__(self) -> None:
        self._outcomes: Counter[Outcome] = Counter()
        self._seen: set[DocumentKey] = set()
        self._chunks = 0
        self._tokens = 0
        self._skipped = 0

    def add(self, report: IngestReport) -> None:
        self._outcomes[report.outcome] += 1
        self._chunks += report.chunks
        self._tokens += report.tokens
        key = DocumentKey(report.collection, report.document_id)
        if key in self._seen:
            complain(f"{report.document_id}: several documents of this run have this id, and the last one counts.")
        self._seen.add(key)
        if report.outcome is Outcome.FAILED:
            complain(f"{report.document_id}: {report.reason}")
        for warning in report.warnings:
            complain(f"{report.document_id}: {warning}")

    def unreadable(self, item: Unreadable) -> None:
        self._outcomes[Outcome.FAILED] += 1
        complain(item.reason)

    def skipped(self, item: Skipped) -> None:
        self._skipped += item.files
        kinds = ", ".join(ending or "without ending" for ending in item.endings) or "without ending"
        complain(f"Files of unknown kind in {item.path} were passed over: {item.files} ({kinds}).")

    def conclude(self, seconds: float, *, as_json: bool) -> int:
        """Print the summary and return the exit code."""
        counts = {outcome.value: self._outcomes[outcome] for outcome in Outcome}
        facts = {"chunks": self._chunks, "tokens": self._tokens, "seconds": round(seconds, 1)}
        if as_json:
            print_json({"documents": counts, "skipped": self._skipped, **facts})
        else:
            documents = ", ".join(f"{count} {name}" for name, count in counts.items())
            out.print(f"{documents}; {self._chunks} chunks, {self._tokens} tokens, {seconds:.1f} s")
        if not self._outcomes.total():
            complain("No document was found there: give text, Markdown, HTML, PDF, Word, PowerPoint or .jsonl files.")
            return 2
        return 1 if self._outcomes[Outcome.FAILED] else 0


def _ingest(service: IngestService, paths: list[Path], collection: str) -> _Tally:
    tally = _Tally()
    with progress_bar() as bar:
        task = bar.add_task("ingest", total=total_bytes(paths))

        def documents() -> Iterator[Document]:
            for item in read_paths(paths, collection=collection, progress=lambda read: bar.advance(task, read)):
                if isinstance(item, Document):
                    yield item
                elif isinstance(item, Unreadable):
                    tally.unreadable(item)
                else:
                    tally.skipped(item)

        with closing(service.ingest(documents())) as reports:  # whatever happens here, the writing thread ends first
            for report in reports:
                tally.add(report)
    return tally


def progress_bar() -> Progress:
    """Return a progress bar for a person; there is none where standard error is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def sentence_options(settings: Settings) -> SentenceOptions:
    """Return how texts are split under these settings."""
    return SentenceOptions(
        max_sentence_chars=settings.max_sentence_chars,
        max_sentence_chars_dense=settings.max_sentence_chars_dense,
        default_language=settings.default_language,
    )


@contextmanager
def opened(settings: Settings, *, create: bool = False) -> Iterator[Engine]:
    """Open the engine before any model is loaded, and close it whatever happens; only an ingest makes a folder."""
    _quiet_clients()
    engine = open_engine(settings, create=create)
    try:
        yield engine
    finally:
        engine.close()


def _quiet_clients() -> None:
    """Keep the clients from logging each refused request: errors are told once, in one sentence."""
    for name in ("opensearch", "elastic_transport", "elasticsearch", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
