"""Variants: a method with other options, or with some of its channels only, named in the method's own name.

`spans[experts=dense+lexical,granularities=2+8,alpha=0]` is `spans` over four of its lists and with another option.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from umg_search.errors import ConfigurationError
from umg_search.evaluation.baselines import Fusing, Method, Product
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting

_NAME = re.compile(r"(?P<base>[^\[\]]+)\[(?P<changes>[^\[\]]+)\]")
_BETWEEN = re.compile(r",(?![^\[]*\])")

Parse = Callable[[str], Any]


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(text)
    return text == "true"


_OPTIONS: Mapping[str, Parse] = MappingProxyType(
    {
        "normalisation": Normalisation,
        "temperature": float,
        "weighting": Weighting,
        "alpha": float,
        "floor": int,
        "overlap": float,
        "own_mass": _flag,
        "aggregation": Aggregation,
        "depth": int,
        "min_sentences": int,
        "max_per_document": int,
    }
)
"""Options of the ranking that a variant can have, and how their values are read."""

_CHANNELS: Mapping[str, Callable[[str], Callable[[Channel], bool]]] = MappingProxyType(
    {
        "experts": lambda text: _is_one_of({Expert(name) for name in text.split("+")}, "expert"),
        "granularities": lambda text: _is_one_of({Granularity(int(name)) for name in text.split("+")}, "granularity"),
    }
)
"""What a variant can say of its channels."""


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas; commas in brackets belong to the name."""
    return tuple(name.strip() for name in _BETWEEN.split(text) if name.strip())


def is_variant(name: str) -> bool:
    """Return whether a name has options in brackets."""
    return _NAME.fullmatch(name) is not None and "=" in name


def variant(name: str, methods: Sequence[Method]) -> Method:
    """Return the variant of one of the methods that a name describes; ConfigurationError where it describes none."""
    match = _NAME.fullmatch(name)
    base = next((method for method in methods if match and method.name == match["base"]), None)
    if match is None or not isinstance(base, Product | Fusing):
        able = ", ".join(method.name for method in methods if isinstance(method, Product | Fusing))
        raise ConfigurationError(f"There is no variant {name!r}: it begins with the name of a method, one of {able}.")
    found: Product | Fusing = replace(base, name=name, about=f"{base.about}, with {match['changes']}")
    for change in match["changes"].split(","):
        found = _changed(found, name, *(part.strip() for part in change.partition("=")[::2]))
    if not found.channels:
        raise ConfigurationError(
            f"No list is left to the variant {name!r}: name experts and granularities of the index."
        )
    return found


def _changed(method: Product | Fusing, name: str, key: str, value: str) -> Product | Fusing:
    if key not in _OPTIONS and key not in _CHANNELS:
        known = ", ".join((*_CHANNELS, *_OPTIONS))
        raise ConfigurationError(f"The variant {name!r} has no option {key!r}: there are {known}.")
    try:
        if key in _CHANNELS:
            return replace(method, channels=tuple(filter(_CHANNELS[key](value), method.channels)))
        return replace(method, options=replace(method.options, **{key: _OPTIONS[key](value)}))
    except ValueError as error:
        raise ConfigurationError(f"The variant {name!r} has a wrong {key}: {value!r} is none.") from error


def _is_one_of(wanted: set[Any], attribute: str) -> Callable[[Channel], bool]:
    return lambda channel: getattr(channel, attribute) in wanted
