"""Ranking options from settings, and settings from ranking options; defaults are those of `RankingOptions` alone."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from umg_search.errors import QueryError, SettingsError
from umg_search.granularity import named_experts
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search.cuts import Cut, CutOn
from umg_search.search.options import RankingOptions, Selection
from umg_search.search_settings import SearchSettings
from umg_search.settings import variable

NAMES = tuple(SearchSettings.model_fields)
"""Names of the settings that ranking options come from."""


def ranking_options(settings: SearchSettings) -> RankingOptions:
    """Return the options that settings give; SettingsError names everything that is wrong with them."""
    wrong: list[str] = []
    values = dict(_values(settings, wrong))
    try:
        options = RankingOptions(**values)
    except QueryError as error:
        wrong.append(re.sub(rf"\b({'|'.join(NAMES)})(?= is )", lambda found: variable(found[0]), _said(error)))
    if wrong:
        raise SettingsError(f"Wrong settings: {'; '.join(wrong)}.")
    return options


def settings_of(options: RankingOptions) -> dict[str, str | int | float]:
    """Return the settings that give these options: those that differ from the defaults, by name.

    What no setting gives, such as `overlap`, is left out.
    """
    default = RankingOptions()
    values = {f.name: v for f in fields(options) if (v := getattr(options, f.name)) != getattr(default, f.name)}
    if options.experts is not None:
        values["search_experts"] = ",".join(options.experts)
    if options.cut is not None:
        values |= {"cut": str(options.cut), "cut_on": options.cut.on}
    return {name: _plain(values[name]) for name in NAMES if name in values}


def _values(settings: SearchSettings, wrong: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield options with their values, and add to `wrong` what cannot be read."""
    on = CutOn.SENTENCES
    for name in ("cut_on", *(name for name in NAMES if name != "cut_on")):
        text = getattr(settings, name)
        if text in {"", None}:
            continue
        try:
            value: Any = Cut.parse(text, on) if name == "cut" else _READERS[name](text) if name in _READERS else text
        except (ValueError, QueryError) as error:
            wrong.append(f"{variable(name)}: {_said(error)} (it is {text!r})")
            continue
        if name == "cut_on":
            on = value
        else:
            yield _OPTIONS.get(name, name), value


def _one_of(kind: type[StrEnum]) -> Callable[[str], StrEnum]:
    def read(text: str) -> StrEnum:
        if text not in set(kind):
            raise ValueError(f"it is one of {', '.join(kind)}")
        return kind(text)

    return read


def _plain(value: Any) -> str | int | float:
    return value.value if isinstance(value, StrEnum) else value


def _said(error: Exception) -> str:
    """Return what an error says, without the words that lead to it and the full stop."""
    return re.sub(r"^Wrong (ranking options|cut): ", "", str(error)).rstrip(".")


_OPTIONS: Mapping[str, str] = MappingProxyType({"search_experts": "experts"})
"""Settings whose options have another name."""

_READERS: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "select": _one_of(Selection),
        "cut_on": _one_of(CutOn),
        "search_experts": named_experts,
        "normalisation": _one_of(Normalisation),
        "weighting": _one_of(Weighting),
        "aggregation": _one_of(Aggregation),
    }
)
"""How the text of a setting becomes an option; numbers are numbers already."""
