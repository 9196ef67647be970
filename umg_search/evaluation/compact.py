"""The figures of an evaluation without anything of its data set or of the machine: what can be kept and shown to all.

Only what is named here stays: numbers, and names of methods, models, packages and groups. Questions, texts, ids of
documents, paths, addresses and the command go.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

MEASURES = (
    "recall",
    "precision",
    "iou",
    "ie",
    "all_evidence",
    "answer_recall",
    "ar_5",
    "document_recall",
    "set_f1",
    "tokens",
    "contexts",
)
"""Means that are kept at each budget."""

KEPT_GROUPS = ("language", "evidence level", "type", "domain")
"""Properties of questions whose values are names that say nothing of a text."""

_WHOLE = ("ours", "ceiling", "ndcg_10", "mrr_10")
_DATASET = ("name", "questions", "unjudged", "limit", "seed")
_INDEX = ("experts", "granularities", "models", "tokenizer", "encoding", "vectors", "headers", "analyzer")
_SETTINGS = ("budgets", "depth", "scope", "against", "resamples")
_COSTS = ("budget", "questions", "index_bytes", "sample_characters", "characters", "reference")
_NAME = re.compile(r"[\w.,: @+=/\[\]()-]{1,200}")


def compacted(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of what `umg evaluate --json` printed that can be kept."""
    kept = {
        "dataset": _some(result["dataset"], _DATASET),
        "engine": _some(result["engine"], ("name", "version")),
        "index": _some(result["index"], _INDEX),
        "settings": _some(result["settings"], _SETTINGS),
        "versions": _clean(result["versions"]),
        "primary": result["primary"],
        "ceiling": result["ceiling"],
        "methods": {
            _clean(name): _method(method, result["settings"]["budgets"], result["primary"])
            for name, method in result["methods"].items()
        },
    }
    if "costs" in result:
        kept["costs"] = _costs(result["costs"])
    if "oracles" in result:
        kept["oracles"] = _clean(result["oracles"])
    if "groups" in result:
        kept["groups"] = [_clean(group) for group in result["groups"] if group["dimension"] in KEPT_GROUPS]
    return kept


def _method(method: Mapping[str, Any], budgets: Iterable[str], primary: str) -> dict[str, Any]:
    at = {budget: _at(method[budget], primary) for budget in budgets if budget in method}
    return {**_some(method, (*_WHOLE, "cut")), **at}


def _at(figures: Mapping[str, Any], primary: str) -> dict[str, Any]:
    """Return figures at a budget, intervals and difference of the main measure only."""
    found = _some(figures, MEASURES)
    for name in ("intervals", "differences"):
        if primary in figures.get(name, {}):
            found[name] = {primary: _clean(figures[name][primary])}
    return found | _some(figures, ("against",))


def _costs(costs: Mapping[str, Any]) -> dict[str, Any]:
    return {**_some(costs, _COSTS), "methods": {_clean(name): _clean(cost) for name, cost in costs["methods"].items()}}


def _some(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: _clean(values[name]) for name in names if name in values}


def _clean(value: Any) -> Any:
    """Return a value without paths, and without any text that is no name."""
    if isinstance(value, Mapping):
        return {_clean(name): _clean(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    if not isinstance(value, str):
        return value
    return _without_folders(value) if _NAME.fullmatch(value) or _is_path(value) else "…"


def _is_path(text: str) -> bool:
    return text.startswith(("~", ".")) or PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute()


def _without_folders(text: str) -> str:
    """Return the last part of a path, anything else as it is."""
    return PureWindowsPath(text).name if _is_path(text) else text
