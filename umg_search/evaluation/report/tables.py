"""The tables of a report, from its figures; the same for every format."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from umg_search.evaluation.costs import STAGES
from umg_search.evaluation.results import NO_BUDGET

COLUMNS = ("precision", "iou", "ie", "all_evidence", "answer_recall", "document_recall", "set_f1", "tokens", "contexts")
"""Measures beside the main one, where any question allows them."""

_WHOLE = frozenset({"tokens", "contexts"})


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a line, the first of which names it; `strong` lines are ours."""

    cells: tuple[str, ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption and the names of its columns."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def methods_tables(result: Mapping[str, Any]) -> list[Table]:
    """Return a table for each budget: methods with intervals, best first, and their differences to the baseline."""
    return [table for budget in result["settings"]["budgets"] if (table := _methods_table(result, budget)).rows]


def recall_table(result: Mapping[str, Any]) -> Table:
    """Return the table beside the plot: the main measure by budget, of methods that have a line, and the oracles."""
    measure, shown = result["focus"]["measure"], result["focus"]["shown"]
    budgets = result["settings"]["budgets"]
    rows = [
        Row((name, *(_estimate(result["methods"][name].get(b, {}), measure) for b in budgets)), _is_ours(result, name))
        for name in shown
    ]
    families = list(dict.fromkeys(each["family"] for found in result["oracles"].values() for each in found))
    rows += [Row((oracle_name(name), *_oracle_cells(result, name))) for name in families]
    return Table(f"Mean {measure} by budget, with 95 % intervals", ("method", *map(budget_name, budgets)), tuple(rows))


def oracle_table(result: Mapping[str, Any]) -> Table:
    """Return how often each length is the best one, at the budget that is looked at."""
    found = result["oracles"][result["focus"]["budget"]]
    labels = list(dict.fromkeys(label for each in found for label in each["best"]))
    rows = [
        Row((each["family"], _number(each["mean"]), *(_share(each["best"].get(label)) for label in labels)))
        for each in found
    ]
    columns = ("family", "mean of the best", *labels)
    return Table("Share of the questions that each window length is best for", columns, tuple(rows))


def group_tables(result: Mapping[str, Any]) -> list[Table]:
    """Return a table for each property of questions: the main measure of the methods that are shown."""
    focus = result["focus"]
    dimensions = dict.fromkeys(group["dimension"] for group in result["groups"])
    return [
        Table(
            f"Mean {focus['measure']} by {dimension}",
            (dimension, "questions", *focus["shown"]),
            tuple(
                Row((g["value"], str(g["questions"]), *(_number(g["methods"].get(name)) for name in focus["shown"])))
                for g in result["groups"]
                if g["dimension"] == dimension
            ),
        )
        for dimension in dimensions
    ]


def channel_table(result: Mapping[str, Any]) -> Table:
    """Return mean weight and confidence of each channel, a column for all questions and for each group of them."""
    parts = result["channels"]
    names = list(dict.fromkeys(name for part in parts for name in part["channels"]))
    columns = [f"{part['value']} ({part['questions']})" for part in parts]
    rows = [Row((name, *(_channel(part["channels"].get(name)) for part in parts))) for name in names]
    by = f" by {parts[-1]['dimension']}" if parts[-1]["dimension"] else ""
    return Table(f"Mean weight and confidence of channels{by}", ("channel", *columns), tuple(rows))


def cost_table(costs: Mapping[str, Any], ours: Iterable[str]) -> Table:
    """Return the costs of each method, in brackets as a ratio to the plain index."""
    own = frozenset(ours)
    rows = [Row(_cost_cells(name, cost), name in own) for name, cost in costs["methods"].items()]
    if costs["reference"]:
        rows.append(Row(_cost_cells("plain index", {**costs["reference"], "ratios": {}})))
    columns = ("method", *(f"{stage} ms" for stage in STAGES), "total ms", "tokens", "index MiB", "ingest s")
    return Table("Costs of a question and of the index", columns, tuple(rows))


def oracle_name(family: str) -> str:
    """Return what the oracle of a family is called."""
    return f"best length of {family} per question"


def budget_name(budget: str) -> str:
    """Return a budget as people read it."""
    return "first contexts" if budget == NO_BUDGET else f"{budget} tokens"


def order(result: Mapping[str, Any], budget: str) -> list[str]:
    """Return the names of methods at a budget, best first."""
    measure = result["primary"]
    names = [name for name, method in result["methods"].items() if budget in method]
    return sorted(names, key=lambda name: -(result["methods"][name][budget].get(measure) or 0.0))


def _methods_table(result: Mapping[str, Any], budget: str) -> Table:
    measure = result["primary"]
    names = order(result, budget)
    figures = {name: result["methods"][name][budget] for name in names}
    others = [m for m in COLUMNS if m != measure and any(m in each for each in figures.values())]
    against = next((each["against"] for each in figures.values() if "against" in each), "")
    rows = tuple(
        Row(
            (
                name,
                _estimate(each, measure),
                _difference(each, measure),
                *(_number(each.get(m), whole=m in _WHOLE) for m in others),
            ),
            _is_ours(result, name),
        )
        for name, each in figures.items()
    )
    compared = f"difference to {against}" if against else "difference"
    return Table(f"Methods, {budget_name(budget)}", ("method", measure, compared, *others), rows)


def _oracle_cells(result: Mapping[str, Any], family: str) -> Iterable[str]:
    for budget in result["settings"]["budgets"]:
        found = [each for each in result["oracles"].get(budget, ()) if each["family"] == family]
        yield _bounded(found[0]["mean"], [found[0]["low"], found[0]["high"]]) if found else ""


def _cost_cells(name: str, cost: Mapping[str, Any]) -> tuple[str, ...]:
    ratios = cost["ratios"]
    stages = (_ratio(f"{cost['ms'][stage]:.2f}", ratios.get(f"{stage}_ms")) for stage in STAGES)
    ingest = "" if cost["ingest_s"] is None else f"{cost['ingest_s']:.1f}"
    return (
        name,
        *stages,
        _ratio(f"{cost['total_ms']:.2f}", ratios.get("total_ms")),
        _ratio(f"{cost['tokens']:.0f}", ratios.get("tokens")),
        _ratio(f"{cost['bytes'] / 2**20:.2f}", ratios.get("bytes")),
        _ratio(ingest, ratios.get("ingest_s")),
    )


def _is_ours(result: Mapping[str, Any], name: str) -> bool:
    return bool(result["methods"][name]["ours"])


def _estimate(figures: Mapping[str, Any], measure: str) -> str:
    return _bounded(figures.get(measure), figures.get("intervals", {}).get(measure))


def _bounded(value: float | None, bounds: Sequence[float] | None) -> str:
    return _number(value) + (f" [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds and value is not None else "")


def _difference(figures: Mapping[str, Any], measure: str) -> str:
    found = figures.get("differences", {}).get(measure)
    return f"{found['mean']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]" if found else ""


def _channel(means: Mapping[str, Any] | None) -> str:
    return f"{means['weight']:.3f}, {_number(means['confidence'])}" if means else ""


def _number(value: float | None, *, whole: bool = False) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if whole else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _ratio(text: str, ratio: float | None) -> str:
    return text if ratio is None else f"{text} ({ratio:.2f})"
