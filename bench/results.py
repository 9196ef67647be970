"""Write docs/results.md from the figures that are kept in docs/results.

`python -m bench.results` makes the page anew. `python -m bench.results RESULT.json... [--as NAME]` first keeps
results: what `umg evaluate --json` printed, or the `report.json` of a report, without anything of the data set's texts
or of this machine. NAME is that of a single file; unless given, it is made of the set and its experts.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from umg_search.evaluation.compact import compacted
from umg_search.evaluation.report.pages import as_text
from umg_search.evaluation.report.tables import Row, Table, cost_table, order
from umg_search.evaluation.results import NO_BUDGET
from umg_search.model import Headers

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "results"
PAGE = ROOT / "docs" / "results.md"

OWN = "spans"
BUDGET = "512"
NO_HEADERS = Headers.NONE.value

HEAD = """# Results

Made by `python -m bench.results` from the figures in [results](results), which come from `umg evaluate`. Nothing here
is typed by hand. [evaluation.md](evaluation.md) tells what the methods do, what is measured, and how to measure it on
your own questions.

Figures are means over questions with their 95 % intervals (bootstrap, 10,000 resamples). All methods of a section read
the same lists of the same index, and get the same budget of tokens. Ours are in bold. A difference is paired, question
by question; where its interval holds 0, the questions do not tell which method is better. The best baseline is chosen
by the result at that budget, which favours the baselines. Models that read English only are out of their place in other
languages; the rows are here all the same.
"""
LISTS = (
    "Costs are those of one machine at one time: compare lines of a table with each other, not tables. Index MiB are "
    "the indices of the window lengths that a method reads, with all experts of the set, and the texts. In brackets, "
    "how many times that of a plain dense index of 8-sentence chunks."
)


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page about results by the names of their files; the same results give the same page."""
    named = dict(sorted(results.items()))
    parts = [HEAD, "## Evidence spans against the best baseline\n", _markdown(summary(named))]
    plain = [result for result in named.values() if result["index"]["headers"] == NO_HEADERS]
    if plain:
        parts += ["## One method for all sets\n", _markdown(overall(plain))]
    if len(plain) < len(named):
        parts += ["## Headers\n", _markdown(with_headers(named))]
    for name, result in named.items():
        parts += [f"## {as_text(name)}\n", _setting(result), _markdown(methods_table(result))]
        parts += [_markdown(table) for table in _groups(result)]
        if "costs" in result:
            ours = [each for each, method in result["methods"].items() if method["ours"]]
            parts += [f"{LISTS}\n", _markdown(cost_table(result["costs"], ours))]
    return "\n".join(parts)


def summary(results: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return a line for each result that has evidence spans at 512 tokens."""
    rows: list[Row] = []
    for name, result in results.items():
        spans = result["methods"].get(OWN, {}).get(BUDGET)
        found = (spans or {}).get("differences", {}).get(result["primary"])
        if spans and found:
            rows.append(
                Row(
                    (
                        name,
                        result["primary"],
                        str(result["dataset"]["questions"]),
                        _estimate(spans, result["primary"]),
                        f"{spans['against']}",
                        f"{found['mean']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]",
                        _verdict(found),
                    )
                )
            )
    columns = ("set", "measure", "questions", "spans", "compared with", "difference", "better")
    return Table(f"At {BUDGET} tokens.", columns, tuple(rows))


def overall(sets: Sequence[Mapping[str, Any]]) -> Table:
    """Return the means over sets, each of the same weight, of the methods that all of them have at 512 tokens."""
    budgets = [budget for budget in sets[0]["settings"]["budgets"] if budget != NO_BUDGET]

    def mean(name: str, budget: str) -> float | None:
        values = [value for each in sets if (value := _found(each, name, budget).get(each["primary"])) is not None]
        return sum(values) / len(sets) if len(values) == len(sets) else None

    at_once = {name: value for name in sets[0]["methods"] if (value := mean(name, BUDGET)) is not None}
    rows = [
        Row((name, *(_number(mean(name, budget)) for budget in budgets)), sets[0]["methods"][name]["ours"])
        for name in sorted(at_once, key=lambda name: (-at_once[name], name))
    ]
    caption = f"Means over {len(sets)} sets: what a method brings that is chosen without looking at the questions."
    return Table(caption, ("method", *(f"{budget} tokens" for budget in budgets)), tuple(rows))


def with_headers(results: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return what headers change, for each set that was measured with and without them."""
    rows: list[Row] = []
    for name, result in results.items():
        before = results.get(kept_name(result | {"index": result["index"] | {"headers": NO_HEADERS}}))
        if result["index"]["headers"] != NO_HEADERS and before is not None:
            rows.append(Row((name, *_own_and_best(before), *_own_and_best(result))))
    columns = ("set", "spans without", "best baseline without", "spans with", "best baseline with")
    return Table(f"At {BUDGET} tokens, with and without a header before each window.", columns, tuple(rows))


def methods_table(result: Mapping[str, Any]) -> Table:
    """Return every method at every budget, in the order of the budget of the summary where it is there."""
    budgets = result["settings"]["budgets"]
    known = list(order(result, BUDGET if BUDGET in budgets else budgets[0]))
    names = known + [name for name in result["methods"] if name not in known]
    rows = [
        Row(
            (name, *(_estimate(result["methods"][name].get(budget), result["primary"]) for budget in budgets)),
            result["methods"][name]["ours"],
        )
        for name in names
    ]
    columns = ("method", *("first contexts" if budget == NO_BUDGET else f"{budget} tokens" for budget in budgets))
    return Table(f"Mean {result['primary']}.", columns, tuple(rows))


def kept_name(result: Mapping[str, Any]) -> str:
    """Return the name that a result is kept under unless another is given."""
    index = result["index"]
    headers = "" if index["headers"] == NO_HEADERS else f".{index['headers']}"
    return f"{result['dataset']['name']}.{'+'.join(index['experts'])}{headers}"


def keep(paths: Sequence[Path], name: str = "", folder: Path = KEPT) -> None:
    """Store the compact form of results, in place of earlier ones of the same name."""
    folder.mkdir(exist_ok=True)
    for path in paths:
        result = compacted(json.loads(path.read_text(encoding="utf-8")))
        text = json.dumps(result, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / f"{name or kept_name(result)}.json").write_text(f"{text}\n", encoding="utf-8")


def kept(folder: Path = KEPT) -> dict[str, Any]:
    """Return what is kept, by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def main() -> None:
    """Keep the results that are named, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path)
    parser.add_argument("--as", dest="name", default="", help="name of a single result")
    arguments = parser.parse_args()
    if arguments.name and len(arguments.results) != 1:
        parser.error("--as names one result: give one file")
    keep(arguments.results, arguments.name)
    PAGE.write_text(page(kept()), encoding="utf-8")


def _setting(result: Mapping[str, Any]) -> str:
    dataset, index, settings = result["dataset"], result["index"], result["settings"]
    drawn = f" drawn with seed {dataset['seed']}" if dataset["limit"] else ""
    facts = (
        f"{dataset['questions']} questions{drawn}; {', '.join(index['models']) or 'no model'}; "
        f"experts {', '.join(index['experts'])}; windows of {', '.join(map(str, index['granularities']))} sentences, "
        f"{index['encoding']}; {result['engine']['name']} {result['engine']['version']}; scope {settings['scope']}; "
        f"evidence in any list at all {_number(result['ceiling'])}"
    )
    return f"{as_text(facts)}.\n"


def _groups(result: Mapping[str, Any]) -> list[Table]:
    """Return a table for each property of questions, of evidence spans and the best methods beside them."""
    budgets = result["settings"]["budgets"]
    names = order(result, BUDGET if BUDGET in budgets else budgets[0])
    ours = [name for name in names if result["methods"][name]["ours"]]
    shown = list(dict.fromkeys([OWN, *ours[:2], *[name for name in names if name not in ours][:3]]))
    found = result.get("groups", [])
    return [
        Table(
            f"Mean {result['primary']} by {dimension}.",
            (dimension, "questions", *shown),
            tuple(
                Row((g["value"], str(g["questions"]), *(_number(g["methods"].get(name)) for name in shown)))
                for g in found
                if g["dimension"] == dimension
            ),
        )
        for dimension in dict.fromkeys(group["dimension"] for group in found)
    ]


def _markdown(table: Table) -> str:
    head = [" | ".join(map(as_text, table.columns)), "|".join(["---", *["---:"] * (len(table.columns) - 1)])]
    lines = [_line(row) for row in table.rows]
    return "\n".join([as_text(table.caption), "", *(f"| {line} |" for line in head[:1]), f"|{head[1]}|", *lines, ""])


def _line(row: Row) -> str:
    first, *others = map(as_text, row.cells)
    return f"| {' | '.join([f'**{first}**' if row.strong else first, *others])} |"


def _found(result: Mapping[str, Any], name: str, budget: str) -> Mapping[str, Any]:
    """Return the figures of a method at a budget, empty where there are none."""
    found: Mapping[str, Any] = result["methods"].get(name, {}).get(budget, {})
    return found


def _own_and_best(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return the figures of evidence spans and of the best baseline at 512 tokens, the latter with its name."""
    measure = result["primary"]
    others = [name for name, method in result["methods"].items() if not method["ours"]]
    value, name = max((_found(result, name, BUDGET).get(measure, 0.0), name) for name in others)
    return _number(_found(result, OWN, BUDGET).get(measure)), f"{name} {_number(value)}"


def _estimate(figures: Mapping[str, Any] | None, measure: str) -> str:
    if not figures or figures.get(measure) is None:
        return ""
    low, high = figures["intervals"][measure]
    return f"{figures[measure]:.3f} [{low:.3f}, {high:.3f}]"


def _verdict(found: Mapping[str, float]) -> str:
    return "spans" if found["low"] > 0 else "the other" if found["high"] < 0 else "not known"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
