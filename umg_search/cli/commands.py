"""The commands: each reads its options, makes one service, calls it, and prints."""

import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from umg_search.cli.checks import check_all, line
from umg_search.cli.output import (
    complain,
    err,
    out,
    print_json,
    print_result,
    print_text,
    result_json,
)
from umg_search.errors import QueryError
from umg_search.model import DEFAULT_COLLECTION, DocumentKey, parse_filter
from umg_search.ports import Engine, Queue, Scope
from umg_search.search import Cut, CutOn, GroupBy, Query, RankingOptions, SearchService, Selection
from umg_search.settings import Settings, load_settings
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.wiring import encoders_of, open_engine, open_queue

DEFAULTS = RankingOptions()

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
    answered_at: Annotated[
        float | None,
        typer.Option(help="Relevance of the best hit from which a question counts as answered.", show_default=False),
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
            answered_at=answered_at,
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


def delete(ids: Ids, *, collection: Collection = DEFAULT_COLLECTION) -> int:
    """Delete documents; unknown ones are named."""
    settings = load_settings()
    with opened(settings) as engine, opened_queue(settings) as queue:
        names = list(dict.fromkeys(ids))
        kept: dict[DocumentKey, str] = {}
        keys = [DocumentKey(collection, name) for name in names]
        writer = Writer(engine, grace=settings.grace_s, queue=queue)
        removed = writer.delete(engine.active_set(), keys, refused=kept.__setitem__)
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


def progress_bar() -> Progress:
    """Return a progress bar for a person; there is none where standard error is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


@contextmanager
def opened(settings: Settings, *, create: bool = False) -> Iterator[Engine]:
    """Open the engine before any model is loaded, and close it whatever happens; only an ingest makes a folder."""
    _quiet_clients()
    engine = open_engine(settings, create=create)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def opened_queue(settings: Settings) -> Iterator[Queue | None]:
    """Open the queue of a server and close it whatever happens; the embedded engine has none."""
    if settings.engine.startswith("embedded:"):
        yield None
        return
    with closing(open_queue(settings)) as queue:
        yield queue


def _quiet_clients() -> None:
    """Keep the clients from logging each refused request: errors are told once, in one sentence."""
    for name in ("opensearch", "elastic_transport", "elasticsearch", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
