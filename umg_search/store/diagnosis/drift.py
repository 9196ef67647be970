"""Mappings compared: what an index has against what it would be made with now. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

DEFAULTS: Mapping[str, Any] = {
    "type": "object",
    "index": True,
    "doc_values": True,
    "enabled": True,
    "norms": True,
    "store": False,
    "element_type": "float",
    "data_type": "float",
}
"""Parameters that servers leave out of their answer where they have the default value."""

ESSENTIAL = frozenset(
    {
        *("type", "index", "doc_values", "enabled", "_meta"),
        *("dims", "dimension", "similarity", "space_type", "element_type", "data_type"),
    }
)
"""Parameters without which searches fail or score otherwise; of the others a difference is only worth knowing."""

_OPTIONS = "index_options."
"""How a field is indexed: other options make other scores, and searches still work."""

MAPPING = "the mapping"
"""Stands for the field where a difference concerns the mapping as a whole."""


class Difference(NamedTuple):
    """One parameter of one field: the value that it should have and the one that it has (None: none).

    An empty parameter means the field itself, whose type is the value.
    """

    field: str
    parameter: str
    wanted: Any
    found: Any

    @property
    def essential(self) -> bool:
        """Whether searches or writes suffer."""
        if not self.parameter:
            return self.found is None
        if self.parameter.startswith(_OPTIONS):
            return False
        return not ESSENTIAL.isdisjoint(self.parameter.split("."))

    def __str__(self) -> str:
        if not self.parameter and self.found is None:
            return f"{self.field} is missing ({self.wanted})"
        if not self.parameter:
            return f"{self.field} is additional ({self.found})"
        found, wanted = (_said(self.parameter, value) for value in (self.found, self.wanted))
        return f"{self.field}: {self.parameter} is {found} instead of {wanted}"


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    """Return how the mapping of an index differs from the wanted one, sorted by field and parameter."""
    ours, theirs = _fields(wanted), _fields(found)
    return sorted(
        (d for name in ours.keys() | theirs.keys() for d in _of_field(name, ours, theirs)), key=lambda d: d[:2]
    )


def _of_field(
    name: str, wanted: Mapping[str, Mapping[str, Any]], found: Mapping[str, Mapping[str, Any]]
) -> Iterator[Difference]:
    if name not in found or name not in wanted:
        types = [fields[name].get("type", "object") if name in fields else None for fields in (wanted, found)]
        yield Difference(name, "", *types)
        return
    ours, theirs = wanted[name], found[name]
    for parameter in ours.keys() | theirs.keys():
        if _plain(ours.get(parameter)) != _plain(theirs.get(parameter)):
            yield Difference(name, parameter, ours.get(parameter), theirs.get(parameter))


def _fields(mapping: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each field by their dotted names, fields within fields by theirs."""
    whole = {name: value for name, value in mapping.items() if name != "properties"}
    return {MAPPING: _parameters(whole), **_properties("", mapping.get("properties", {}))}


def _properties(prefix: str, properties: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    fields: dict[str, dict[str, Any]] = {}
    for name, field in properties.items():
        fields[f"{prefix}{name}"] = _parameters({k: v for k, v in field.items() if k not in {"properties", "fields"}})
        for inner in ("properties", "fields"):
            fields |= _properties(f"{prefix}{name}.", field.get(inner, {}))
    return fields


def _parameters(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _parameters(value, f"{prefix}{name}.")
        elif name not in DEFAULTS or _plain(value) != _plain(DEFAULTS[name]):
            flat[f"{prefix}{name}"] = value
    return flat


def _plain(value: Any) -> str | None:
    """Return a value as servers may also write it: booleans and numbers as texts."""
    return None if value is None else str(value).lower()


def _said(parameter: str, value: Any) -> str:
    known = DEFAULTS.get(parameter.rpartition(".")[2]) if value is None else value
    return "not set" if known is None else str(known).lower() if isinstance(known, bool) else str(known)
