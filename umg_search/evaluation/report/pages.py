"""A report as one page of HTML, which needs nothing else, and as Markdown.

Texts of questions and documents are hostile: HTML is escaped by Jinja2, Markdown by `as_text`.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from umg_search.evaluation.report import plots, tables
from umg_search.evaluation.report.tables import Table
from umg_search.evaluation.results import NO_BUDGET

MOST_CHARACTERS = 3_000
"""Of a quoted text; the rest is left out."""

COSTS = (
    "Medians of milliseconds over {questions} questions at {budget}, on a warm engine, one question at a time. Each "
    "method is asked for the lists that it reads and for no others; encode is the models' time for the question, "
    "contexts the request for texts and ledger. Index bytes are as the engine tells them: the indices of the window "
    "lengths that a method reads, each of which holds all experts of the set, and the texts; the ledger is not counted."
)
REFERENCE = (
    "In brackets: how many times the plain index, which has dense vectors of 8-sentence chunks and the texts and "
    "nothing else; its bytes and its ingest are measured on a set of its own, its milliseconds on the list dense-g08."
)
INGEST = (
    "Ingest is the time of the models and, after it, of the writing of a set of just the experts and window lengths "
    "that a method reads, measured on {sample} characters and scaled to all {characters}."
)
ORACLE = (
    "Ours, and the best baselines. The best window length of each question is an oracle: no method knows which it is."
)

_SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: what it tells in words, a plot where there is one, and tables."""

    title: str
    words: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plot: str = ""
    plot_name: str = ""


def html(result: Mapping[str, Any]) -> str:
    """Return the page."""
    return _rendered("report.html.j2", result, escape=True)


def markdown(result: Mapping[str, Any]) -> str:
    """Return the same in Markdown, where tables stand for the plot."""
    return _rendered("report.md.j2", result, escape=False)


def as_text(value: object) -> str:
    """Return a text for one line of Markdown, in which nothing of it is markup, HTML or the end of a cell."""
    line = " ".join(str(value).split())
    return _SPECIAL.sub(r"\\\1", re.sub(r"[&<>]", lambda found: _ENTITIES[found[0]], line))


def sections(result: Mapping[str, Any]) -> list[Section]:
    """Return the parts of a page before the losses."""
    focus = result["focus"]
    budget = tables.budget_name(focus["budget"])
    found = [
        Section("Methods", (_compared(result),), tuple(tables.methods_tables(result))),
        Section(
            f"{focus['measure'].capitalize().replace('_', ' ')} against budget",
            (ORACLE,),
            (tables.recall_table(result),),
            plots.lines(_series(result), x_label="tokens", y_label=focus["measure"].replace("_", " ")),
            f"{focus['measure']} of each method by budget in tokens; the table after it has the figures",
        ),
    ]
    if result["oracles"].get(focus["budget"]):
        found.append(Section("The best window length", (f"At {budget}.",), (tables.oracle_table(result),)))
    if result["groups"]:
        found.append(Section("Questions by what they are", (f"At {budget}.",), tuple(tables.group_tables(result))))
    words = ("Weights are those of our defaults, in the mean over questions; what found nothing weighs nothing.",)
    found.append(Section("Channels", words, (tables.channel_table(result),)))
    if "costs" in result:
        found.append(_costs(result))
    return found


def _costs(result: Mapping[str, Any]) -> Section:
    costs = result["costs"]
    words = [COSTS.format(questions=costs["questions"], budget=tables.budget_name(costs["budget"]))]
    words += [REFERENCE] if costs["reference"] else []
    words += [INGEST.format(**_thousands(costs))] if costs["characters"] else []
    ours = [name for name, method in result["methods"].items() if method["ours"]]
    return Section("Costs", tuple(words), (tables.cost_table(costs, ours),))


def _thousands(costs: Mapping[str, Any]) -> dict[str, str]:
    return {"sample": f"{costs['sample_characters']:,}", "characters": f"{costs['characters']:,}"}


def _compared(result: Mapping[str, Any]) -> str:
    settings = result["settings"]
    return (
        f"Means over {result['dataset']['questions']} questions; in brackets 95 % intervals of a bootstrap of "
        f"{settings['resamples']:,} resamples. Differences are paired, to {settings['against']}: where such an "
        "interval holds 0, the questions do not tell which of the two is better. Ours are in bold."
    )


def _series(result: Mapping[str, Any]) -> dict[str, list[plots.Point]]:
    measure = result["focus"]["measure"]
    budgets = [budget for budget in result["settings"]["budgets"] if budget != NO_BUDGET]
    series: dict[str, list[plots.Point]] = {}
    for name in result["focus"]["shown"]:
        known = {b: result["methods"][name][b] for b in budgets if measure in result["methods"][name].get(b, {})}
        series[name] = [plots.Point(int(b), each[measure], *each["intervals"][measure]) for b, each in known.items()]
    return {name: points for name, points in (series | _best_oracle(result)).items() if points}


def _best_oracle(result: Mapping[str, Any]) -> dict[str, list[plots.Point]]:
    """Return the line of the oracle that reaches most at the budget that is looked at."""
    found = max(result["oracles"][result["focus"]["budget"]], key=lambda each: each["mean"], default=None)
    if found is None:
        return {}
    points = [
        plots.Point(int(budget), each["mean"], each["low"], each["high"])
        for budget, every in result["oracles"].items()
        for each in every
        if budget != NO_BUDGET and each["family"] == found["family"]
    ]
    return {tables.oracle_name(found["family"]): points}


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was measured with what, as names and values."""
    index, dataset = result["index"], result["dataset"]
    facts = {
        "questions": f"{dataset['questions']} of {dataset['name']} (limit {dataset['limit']}, seed {dataset['seed']}), "
        f"{dataset['unjudged']} more expect nothing",
        "command": shlex.join(result["command"]),
        "engine": f"{result['engine']['name']} {result['engine']['version']}",
        "models": ", ".join(index["models"]) or "none",
        "experts": ", ".join(index["experts"]),
        "sentences of windows": ", ".join(map(str, index["granularities"])),
        **{name: str(index[name]) for name in ("tokenizer", "encoding", "vectors", "analyzer")},
        **{name: _listed(value) for name, value in result["settings"].items()},
        "versions": ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
    }
    return [(name.replace("_", " "), value) for name, value in facts.items()]


def _listed(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_listed, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_listed(each)}" for name, each in value.items())
    return str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … ({len(text)} characters)"


def _rendered(template: str, result: Mapping[str, Any], *, escape: bool) -> str:
    plots.check_installed()
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an optional package

    environment = Environment(
        loader=PackageLoader("umg_search.evaluation.report", "templates"),
        autoescape=escape,  # noqa: S701 - Markdown has an escape of its own
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"as_text": as_text, "shortened": _shortened}
    return environment.get_template(template).render(
        result=result, sections=sections(result), facts=_facts(result), focus=result["focus"]
    )
