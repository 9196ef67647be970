"""`umg evaluate`: methods and budgets on questions with known answers."""

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import TaskID
from rich.table import Table

from umg_search.addresses import hidden
from umg_search.cli.commands import AsJson, Principals, opened, progress_bar
from umg_search.cli.output import complain, err, out, print_json
from umg_search.errors import ConfigurationError, QueryError
from umg_search.evaluation import costs
from umg_search.evaluation.answerability import Answerability, rounded
from umg_search.evaluation.bootstrap import RESAMPLES
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.datasets import Dataset, read_dataset
from umg_search.evaluation.indexing import Progress, Written
from umg_search.evaluation.rankings import check_installed
from umg_search.evaluation.report import plots
from umg_search.evaluation.report.content import content
from umg_search.evaluation.report.tables import cost_table
from umg_search.evaluation.report.writing import make_folder, write_report
from umg_search.evaluation.results import NO_BUDGET, Summary, as_json, label, primary, summaries
from umg_search.evaluation.running import Budget
from umg_search.evaluation.scoping import Scoping
from umg_search.evaluation.service import Evaluated, Plan, target_of
from umg_search.evaluation.service import evaluate as evaluate_plan
from umg_search.evaluation.texts import Texts
from umg_search.evaluation.variants import split_names
from umg_search.model import IndexSet
from umg_search.search import Cut, CutOn
from umg_search.search.options import MOST_TOKENS
from umg_search.settings import load_settings

PACKAGES = ("umg-search", "numpy", "ir-measures", "sentence-transformers", "torch", "qdrant-edge-py")
"""Packages whose versions results name: figures or their times depend on them."""

SHOWN = ("recall", "precision", "iou", "ie", "all_evidence", "answer_recall", "set_f1", "tokens", "contexts")
"""Measures of the table, where any question allows them."""

Data = Annotated[
    str, typer.Argument(help="Folder of a data set, or one's own questions (.jsonl or .csv).", show_default=False)
]
Documents = Annotated[
    str | None,
    typer.Option(help="The questions' documents; unless given, the set's own or the index.", show_default=False),
]
OtherEngine = Annotated[str | None, typer.Option(help="Engine in place of UMG_ENGINE.", show_default=False)]
Scopes = Annotated[Scoping, typer.Option(help="What each question may search.")]
Limit = Annotated[int, typer.Option(min=0, help="Questions to draw at random, 0 for all.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is random.")]
CacheFolder = Annotated[str, typer.Option(help="Folder for indices, encodings and ranked lists.")]

CACHE = "umg-evaluation"


def evaluate(
    dataset: Data,
    *,
    documents: Documents = None,
    methods: Annotated[
        str, typer.Option(help="Methods, patterns such as rrf-*, variants such as spans[alpha=0], with commas.")
    ] = "*",
    budgets: Annotated[
        str, typer.Option(help="Most tokens of an answer, with commas; none: the first 5 contexts.")
    ] = "256,512,1024,2048",
    cuts: Annotated[
        str, typer.Option(help="Cut rules to try as well, with commas, such as gapr,adaptive_k:5.", show_default=False)
    ] = "",
    cut_on: Annotated[
        CutOn | None, typer.Option(help="What of evidence spans is cut, sentences or joined runs.", show_default=False)
    ] = None,
    against: Annotated[
        str, typer.Option(help="Method to compare with; unless given, the best baseline.", show_default=False)
    ] = "",
    engine: OtherEngine = None,
    scope: Scopes = Scoping.AUTO,
    principal: Principals = None,
    limit: Limit = 0,
    seed: Seed = 0,
    cache: CacheFolder = CACHE,
    report: Annotated[
        str | None, typer.Option(help="Folder to write a report to, as HTML, Markdown and JSON.", show_default=False)
    ] = None,
    cost: Annotated[int, typer.Option(min=0, help="Questions to measure the costs of each method with, 0: none.")] = 0,
    details: Annotated[bool, typer.Option("--details", help="In JSON, the figures of every question, too.")] = False,
    as_json: AsJson = False,
) -> int:
    """Measure search methods on questions with known answers, at equal budgets of tokens."""
    check_installed()
    if report is not None:
        plots.check_installed()
        make_folder(Path(report))
    plan = Plan(
        methods=split_names(methods),
        budgets=_budgets(budgets),
        cuts=_cuts(cuts, cut_on),
        against=against,
        scoping=scope,
        principals=tuple(principal) if principal else None,
    )
    settings = load_settings(**({} if engine is None else {"engine": engine}))
    data = read_dataset(Path(dataset), None if documents is None else Path(documents)).sample(limit, seed)
    with Cache(Path(cache)) as kept, stages() as progress:
        target = target_of(data, settings, kept)
        with opened(target.settings, create=target.own is not None) as opened_engine:
            found = evaluate_plan(opened_engine, target, data, plan, cache=kept, progress=progress)
            if not found.evaluation.figures:
                complain("Nothing is expected of any of these questions, so there is nothing to measure.")
                return 2
            every = summaries(found.evaluation, against=plan.against, seed=seed)
            result: dict[str, Any] = {}
            if as_json or report is not None:
                result = _result(found, data, plan, seed=seed, limit=limit, details=details)
            if cost:
                measured = costs.measure(
                    opened_engine, target, found, plan, questions=cost, cache=kept, progress=progress
                )
                result["costs"] = costs.as_json(measured)
            if report is not None:
                result |= content(found.evaluation, every, Texts(opened_engine, found.index), seed=seed)
    _show(result, found, every, report=report, as_json=as_json)
    return 0


def _show(
    result: Mapping[str, Any], found: Evaluated, every: Sequence[Summary], *, report: str | None, as_json: bool
) -> None:
    if report is not None:
        written = write_report(Path(report), result)
        err.print(f"Report: {', '.join(map(str, written))}", markup=False)
    if as_json:
        print_json(result)
        return
    _print(found, every)
    if "costs" in result:
        _print_costs(result["costs"])


def _cuts(text: str, on: CutOn | None) -> tuple[Cut, ...]:
    cuts = tuple(cut for name in split_names(text) if (cut := Cut.parse(name, on or CutOn.SENTENCES)))
    if on is not None and not cuts:
        raise QueryError("--cut-on says what cut rules cut, and there is none: give --cuts as well.")
    return cuts


def _budgets(text: str) -> tuple[Budget, ...]:
    names = split_names(text)
    wrong = [n for n in names if n != NO_BUDGET and not (n.isascii() and n.isdecimal() and 0 < int(n) <= MOST_TOKENS)]
    if wrong or not names:
        raise ConfigurationError(
            f"Budgets are whole numbers of tokens up to {MOST_TOKENS}, or {NO_BUDGET}: "
            f"{wrong[0] if wrong else text!r} is none."
        )
    return tuple(None if name == NO_BUDGET else int(name) for name in dict.fromkeys(names))


@contextmanager
def stages() -> Iterator[Progress]:
    """Show a bar for each stage as it comes."""
    with progress_bar() as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)

        yield show


def _result(found: Evaluated, data: Dataset, plan: Plan, *, seed: int, limit: int, details: bool) -> dict[str, Any]:
    return {
        "dataset": {
            "name": data.name,
            "questions": len(found.evaluation.figures),
            "unjudged": found.unjudged,
            "limit": limit,
            "seed": seed,
        },
        "engine": asdict(found.engine),
        "index": index_json(found.index, found.written),
        "settings": {
            "budgets": [label(budget) for budget in plan.budgets],
            "cuts": [{"cut": str(cut), "on": cut.on.value} for cut in plan.cuts],
            "depth": max(method.depth for method in found.evaluation.methods),
            "scope": found.scoping.value,
            "against": plan.against or "the best baseline at each budget",
            "resamples": RESAMPLES,
        },
        **run_json(),
        "answerability": None if found.answerability is None else rounded(found.answerability),
        **as_json(found.evaluation, against=plan.against, seed=seed, details=details),
    }


def index_json(index: IndexSet, written: Written | None) -> dict[str, Any]:
    """Return what figures were measured on as JSON."""
    spec = index.spec
    return {
        "set": index.label,
        "experts": [expert.value for expert in spec.experts],
        "granularities": [int(granularity) for granularity in spec.granularities],
        "derived": [int(granularity) for granularity in spec.derived],
        "models": [model.name for model in (spec.dense, spec.sparse) if model],
        "tokenizer": spec.tokenizer,
        "encoding": spec.encoding.value,
        "vectors": spec.vectors.value,
        "headers": spec.headers.value,
        "analyzer": spec.analyzer,
        "written": None if written is None else asdict(written),
    }


def run_json() -> dict[str, Any]:
    """Return what was run as JSON: versions and command line."""
    return {
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "command": ["umg", *(hidden(part) if "//" in part and "@" in part else part for part in sys.argv[1:])],
    }


def _print_costs(found: Mapping[str, Any]) -> None:
    shown = cost_table(found, ())
    table = Table(*shown.columns, box=None, pad_edge=False)
    for row in shown.rows:
        table.add_row(*map(escape, row.cells))
    out.print(f"{shown.caption}, with {found['questions']} questions; in brackets beside a plain index", markup=False)
    out.print_table(table)


def _print(found: Evaluated, every: Sequence[Summary]) -> None:
    """Print a table a budget, best methods first, ours in bold."""
    evaluation = found.evaluation
    order = primary(evaluation)
    ours = {method.name for method in evaluation.methods if method.ours}
    for budget in evaluation.budgets:
        rows = [item for item in every if item.budget == budget]
        if rows:
            _print_budget(rows, order, ours, len(evaluation.figures))
    if found.answerability:
        _print_answerability(found.answerability)


def _print_answerability(found: Answerability) -> None:
    """Print how well signs tell questions with an answer from those without, best first."""
    out.print(
        f"{found.answerable} questions with an answer, {found.unanswerable} without; AUROC with its 95 % interval, "
        "and a threshold: the shares of questions without and with an answer below it",
        markup=False,
    )
    table = Table("sign", "AUROC", "interval", "threshold", "refused", "falsely", box=None, pad_edge=False)
    for name, sign in sorted(found.signs.items(), key=lambda item: -item[1].auroc):
        interval = escape(f"[{sign.low:.3f}, {sign.high:.3f}]")
        shares = f"{sign.true_refusals:.2f}", f"{sign.false_refusals:.2f}"
        table.add_row(name, f"{sign.auroc:.3f}", interval, f"{sign.threshold:.3f}", *shares)
    out.print_table(table)


def _print_budget(rows: Sequence[Summary], order: str, ours: set[str], questions: int) -> None:
    budget = rows[0].budget
    named = "without a budget, the first 5 contexts" if budget is None else f"at most {budget} tokens"
    against = f"; difference in {order} to {rows[0].against}, with its 95 % interval" if rows[0].against else ""
    out.print(f"{questions} questions, {named}{against}", markup=False)
    shown = [measure for measure in SHOWN if any(measure in item.means for item in rows)]
    table = Table("method", *shown, "difference", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for item in rows:
        name = f"[bold]{escape(item.method)}[/bold]" if item.method in ours else escape(item.method)
        table.add_row(name, *(_shown(measure, item.means.get(measure)) for measure in shown), _difference(item, order))
    out.print_table(table)
    out.print()


def _shown(measure: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if measure in {"tokens", "contexts"} else f"{value:.3f}"


def _difference(item: Summary, order: str) -> str:
    found = item.differences.get(order)
    return escape(f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]") if found else ""
