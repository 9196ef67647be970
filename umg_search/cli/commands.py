"""The commands: each reads its options, makes one service, calls it, and prints."""

import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from typer.models import OptionInfo

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
from umg_search.search import (
    Cut,
    CutOn,
    CutRule,
    GroupBy,
    Query,
    RankingOptions,
    SearchService,
    Selection,
    ranking_options,
)
from umg_search.settings import Settings, load_settings
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.wiring import encoders_of, open_engine, open_queue

CUT = "RULE[:NUMBER]"


def _option(about: str, metavar: str | None = None) -> OptionInfo:
    """Return an option whose default is decided later."""
    return typer.Option(help=about, show_default=False, metavar=metavar)


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
    budget: Annotated[int | None, _option("Most tokens of all contexts together.")] = None,
    select: Annotated[Selection | None, _option("Evidence spans, units of any length, or 8-sentence parents.")] = None,
    top_k: Annotated[
        int | None, _option("Most contexts, 0 for no limit; unless given, 5 for chunks and parents.")
    ] = None,
    cut: Annotated[str | None, _option(f"Where to end by the scores: none, {', '.join(CutRule)}.", CUT)] = None,
    cut_on: Annotated[CutOn | None, _option("What of evidence spans is cut, sentences or joined runs.")] = None,
    min_sentences: Annotated[
        int | None, _option("Shortest evidence span; 2 or more gives fewer and longer contexts.")
    ] = None,
    principal: Principals = None,
    collection: Annotated[list[str] | None, _option("Search this collection only; repeatable.")] = None,
    filter: FilterText = None,
    max_per_document: Annotated[int | None, _option("Most contexts of one document.")] = None,
    group_by: Annotated[GroupBy | None, _option("Put the contexts of a document together.")] = None,
    min_relevance: Annotated[float | None, _option("Least relevance of a context, a cosine from -1 to 1.")] = None,
    answered_at: Annotated[
        float | None, _option("Relevance of the best hit from which a question counts as answered.")
    ] = None,
    title_weight: Annotated[float | None, _option("Weight of titles beside texts in lexical search.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each channel found and weighed.")] = False,
    as_json: AsJson = False,
) -> int:
    """Find the passages that answer a question."""
    settings = load_settings()
    options = _ranking_options(
        _under(ranking_options(settings), cut, cut_on),
        select=select,
        budget=budget,
        top_k=top_k,
        min_sentences=min_sentences,
        max_per_document=max_per_document,
        min_relevance=min_relevance,
        answered_at=answered_at,
        title_weight=title_weight,
    )
    seen = None if filter is None else parse_filter(filter)
    scope = Scope(tuple(collection or ()), tuple(principal or ()), seen)
    with opened(settings) as engine:
        service = SearchService(Reader(engine), encoders_of(settings), remembered_questions=settings.query_cache)
        result = service.search(Query(text=question, scope=scope, options=options, group_by=group_by, explain=explain))
    if as_json:
        print_json(result_json(result, explain=explain))
    else:
        print_result(result)
    return 0


def _under(options: RankingOptions, cut: str | None, on: CutOn | None) -> RankingOptions:
    """Return options with the cut that was typed in place of their own; either part may be left out."""
    known = options.cut
    if cut is not None:
        known = Cut.parse(cut, known.on if known else CutOn.SENTENCES)
    if on is not None and known is None:
        raise QueryError("--cut-on says what a cut rule cuts, and there is none: give --cut as well.")
    return replace(options, cut=replace(known, on=on) if known and on else known)


def _ranking_options(options: RankingOptions, **typed: Any) -> RankingOptions:
    """Return options with what was typed in their place; what is wrong is told of by the names that were typed."""
    try:
        return replace(options, **{name: value for name, value in typed.items() if value is not None})
    except QueryError as error:
        named = re.sub("|".join(typed), lambda found: f"--{found[0].replace('_', '-')}", str(error))
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
