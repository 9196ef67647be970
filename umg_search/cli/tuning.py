"""`umg tune`: settings of searches chosen on questions with known answers."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from umg_search.cli.commands import AsJson, Principals, opened
from umg_search.cli.config_file import ConfigFile
from umg_search.cli.evaluation import (
    CACHE,
    CacheFolder,
    Data,
    Documents,
    Limit,
    OtherEngine,
    Scopes,
    Seed,
    index_json,
    run_json,
    stages,
)
from umg_search.cli.output import complain, out, print_json
from umg_search.errors import ConfigurationError
from umg_search.evaluation.bootstrap import RESAMPLES
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.datasets import Dataset, read_dataset
from umg_search.evaluation.rankings import check_installed
from umg_search.evaluation.results import TUNABLE
from umg_search.evaluation.scoping import Scoping
from umg_search.evaluation.service import target_of
from umg_search.evaluation.tuner import TunedOn, TuningPlan, tune_on
from umg_search.evaluation.tuning import FOLDS, Tuned
from umg_search.search import RankingOptions, ranking_options, settings_of
from umg_search.search.configured import NAMES
from umg_search.settings import load_settings, variable

NO_GAIN = 1
"""Exit code where nothing is claimed, and hence nothing written."""

SHOWN = 15
"""Settings of the table, best first; JSON has all."""

TUNED = tuple(name for name in NAMES if name != "budget")
"""Settings that are written; the budget is taken as it is."""


def tune(
    questions: Data,
    *,
    documents: Documents = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of an answer; unless given, as searches.", show_default=False)
    ] = None,
    measure: Annotated[
        str, typer.Option(help="What is to be high, such as recall; unless given, as in umg evaluate.")
    ] = "",
    folds: Annotated[int, typer.Option(min=2, max=20, help="Parts that are held out in turn.")] = FOLDS,
    write: Annotated[
        str | None, typer.Option(help="TOML file, as of UMG_CONFIG, to put the settings into.", show_default=False)
    ] = None,
    engine: OtherEngine = None,
    scope: Scopes = Scoping.AUTO,
    principal: Principals = None,
    limit: Limit = 0,
    seed: Seed = 0,
    cache: CacheFolder = CACHE,
    as_json: AsJson = False,
) -> int:
    """Choose settings of searches on questions with known answers, and claim only what held-out questions confirm."""
    check_installed()
    file = None if write is None else ConfigFile.opened(Path(write))
    given = {"engine": engine, "budget": budget}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    plan = TuningPlan(
        current=ranking_options(settings),
        measure=_measure(measure),
        folds=folds,
        seed=seed,
        scoping=scope,
        principals=tuple(principal) if principal else None,
    )
    data = read_dataset(Path(questions), None if documents is None else Path(documents)).sample(limit, seed)
    with Cache(Path(cache)) as kept, stages() as progress:
        target = target_of(data, settings, kept)
        with opened(target.settings, create=target.own is not None) as opened_engine:
            found = tune_on(opened_engine, target, data, plan, cache=kept, progress=progress)
    if file is not None and found.tuned.claimed:
        file.write(_settings(found.tuned.chosen), TUNED)
    if as_json:
        print_json(_result(found, data, plan, limit=limit, write=write))
    else:
        _print(found, plan)
    _tell(found, write)
    return 0 if found.tuned.claimed else NO_GAIN


def _measure(name: str) -> str:
    if name and name not in TUNABLE:
        raise ConfigurationError(f"There is no measure {name!r} to tune by: there are {', '.join(TUNABLE)}.")
    return name


def _settings(options: RankingOptions) -> dict[str, str | int | float]:
    """Return what differs from the defaults, less what tuning takes as it is."""
    return {name: value for name, value in settings_of(options).items() if name in TUNED}


def _result(found: TunedOn, data: Dataset, plan: TuningPlan, *, limit: int, write: str | None) -> dict[str, Any]:
    tuned = found.tuned
    return {
        "dataset": {
            "name": data.name,
            "questions": found.questions,
            "left_out": found.left_out,
            "limit": limit,
            "seed": plan.seed,
        },
        "index": index_json(found.prepared.index, found.prepared.written),
        "measure": found.measure,
        "budget": plan.current.budget,
        "scope": found.prepared.place.scoping.value,
        "resamples": RESAMPLES,
        "claimed": tuned.claimed,
        "gain": asdict(tuned.gain),
        "current": _settings(tuned.current),
        "chosen": _settings(tuned.chosen),
        "written": write if tuned.claimed else None,
        "folds": [
            {"chosen": _settings(fold.chosen), "questions": fold.questions, "gain": fold.gain} for fold in tuned.folds
        ],
        "tried": [{"settings": _settings(options), "mean": mean} for options, mean in tuned.tried],
        **run_json(),
    }


def _print(found: TunedOn, plan: TuningPlan) -> None:
    """Print the best settings that were tried, what each fold chose, and the choice."""
    tuned = found.tuned
    out.print(
        f"{found.questions} questions, at most {plan.current.budget} tokens; {len(tuned.tried)} settings were tried",
        markup=False,
    )
    table = Table(found.measure, "settings", box=None, pad_edge=False)
    for options, mean in tuned.tried[:SHOWN]:
        table.add_row(f"{mean:.4f}", escape(_line(options) + _mark(options, tuned)))
    out.print_table(table)
    for number, fold in enumerate(tuned.folds, start=1):
        gain = f"{fold.gain:+.4f} on its {fold.questions} questions"
        out.print(f"Without fold {number} the choice is {_line(fold.chosen)}: {gain}.", markup=False)


def _line(options: RankingOptions) -> str:
    return ", ".join(f"{name} = {_toml(value)}" for name, value in _settings(options).items()) or "the defaults"


def _mark(options: RankingOptions, tuned: Tuned) -> str:
    names = [name for name, marked in (("current", tuned.current), ("chosen", tuned.chosen)) if marked == options]
    return f"  <- {' and '.join(names)}" if names else ""


def _toml(value: str | float) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _tell(found: TunedOn, write: str | None) -> None:
    """Say what is claimed on standard error, and what to do with it."""
    tuned, gain = found.tuned, found.tuned.gain
    figures = f"{gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}] of {found.measure} on held-out questions"
    if not tuned.claimed:
        why = "the current settings stay the choice" if tuned.chosen == tuned.current else "that is not surely above 0"
        complain(f"No gain is claimed, and nothing is written: {figures}, and {why}.")
        return
    chosen, before = _settings(tuned.chosen), _settings(tuned.current)
    gone = [name for name in before if name not in chosen]
    complain(f"These settings gain {figures} over the current ones: {_line(tuned.chosen)}.")
    if write is None:
        away = f", and take out {', '.join(gone)}" if gone else ""
        complain(f"Put them into the file that UMG_CONFIG names{away}, or run this again with --write FILE.")
    else:
        complain(f"They are written to {write}: searches read them with UMG_CONFIG={write}.")
    for name in TUNED:
        if os.environ.get(variable(name)) and (name in chosen or name in gone):
            complain(f"{variable(name)} is set in the environment and wins over the file: unset it.")
