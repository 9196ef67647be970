"""Judges of what the indices of the active set are made for: mappings and vectors. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from umg_search.granularity import Expert
from umg_search.model import Finding, IndexSet, SetSpec, Verdict
from umg_search.store import mappings
from umg_search.store.diagnosis.drift import Difference, differences
from umg_search.store.diagnosis.layout import Layout
from umg_search.store.diagnosis.software import counted
from umg_search.store.dialect import ELASTICSEARCH, Dialect
from umg_search.store.names import TEXT

ANEW = "make the set anew with umg index rebuild"

(_VECTORS,) = mappings.FIELDS_OF[Expert.DENSE]
_NAMED = 4
"""Differences of one index that are named; of the others the number is given."""

_QUANTISED = {
    "int8_hnsw": ", quantised to 8 bits",
    "int4_hnsw": ", quantised to 4 bits",
    "bbq_hnsw": ", quantised to 1 bit",
    "bbq_disk": ", quantised to 1 bit, on disk",
}
"""What Elasticsearch's kinds of index_options do to a vector; bbq_hnsw is its default from 384 dimensions (9.1)."""

_FLOAT = "float"
"""The numbers of a vector where the mapping names no other."""


def drifted(dialect: Dialect, layout: Layout, index: IndexSet) -> dict[str, list[Difference]]:
    """Return for each index of a set, ledger and queue how its mapping differs from what it would be made with now."""
    wanted = {
        layout.names.documents: mappings.ledger_index(dialect, shards=1, replicas=1, refresh_s=1),
        layout.names.queue: mappings.queue_index(dialect, shards=1, replicas=1, refresh_s=1),
    }
    for kind, name in layout.names.of_set(index).items():
        make = mappings.text_index if kind == TEXT else mappings.chunk_index
        wanted[name] = make(dialect, index.spec, shards=1, replicas=1, refresh_s=1)
    return {
        name: differences(body["mappings"], layout.indices[name].get("mappings", {}))
        for name, body in wanted.items()
        if name in layout.indices
    }


def mapping(drift: Mapping[str, list[Difference]]) -> Iterator[Finding]:
    """Judge the mappings, vector fields left out: an error where searches or writes suffer."""
    others = {name: [d for d in found if d.field != _VECTORS] for name, found in drift.items()}
    for name, found in others.items():
        if found:
            worst = any(difference.essential for difference in found)
            remedy = ANEW if worst else f"searches do not suffer; to be rid of it, {ANEW}"
            verdict = Verdict.ERROR if worst else Verdict.WARNING
            yield Finding("mapping", verdict, f"{name}: {_listed(found)}", remedy)
    if not any(others.values()):
        yield Finding("mapping", Verdict.OK, f"{len(others)} indices are as they would be made now")


def vectors(
    dialect: Dialect, layout: Layout, index: IndexSet, drift: Mapping[str, list[Difference]]
) -> Iterator[Finding]:
    """Judge dimensions and quantisation of the vector fields as they are on the server, and say what they are."""
    if index.spec.dense is None:
        return
    names = [layout.names.chunks(index, g) for g in index.spec.granularities]
    wrong = {name: found for name in names if (found := [d for d in drift.get(name, ()) if d.field == _VECTORS])}
    for name, found in wrong.items():
        worst = any(difference.essential for difference in found)
        remedy = ANEW if worst else f"scores are approximate there; {ANEW}"
        text = f"{name} has {_described(dialect, layout, name)}: {_listed(found)}"
        yield Finding(
            "vectors", Verdict.ERROR if worst else Verdict.WARNING, f"{text}{_model(index.spec, found)}", remedy
        )
    without = [n for n in names if n in layout.indices and "knn" in _settings(dialect) and not layout.is_set(n, "knn")]
    if without:
        yield Finding("vectors", Verdict.ERROR, f"{', '.join(without)} has index.knn switched off", ANEW)
    right = [name for name in names if name not in wrong and name in layout.indices]
    if right and not wrong and not without:
        yield Finding(
            "vectors",
            Verdict.OK,
            f"{_described(dialect, layout, right[0])} on {counted(len(right), 'index', 'indices')}",
        )


def _listed(found: list[Difference]) -> str:
    more = f" and {counted(len(found) - _NAMED, 'other difference')}" if len(found) > _NAMED else ""
    return "; ".join(str(difference) for difference in found[:_NAMED]) + more


def _settings(dialect: Dialect) -> frozenset[str]:
    return frozenset() if dialect is ELASTICSEARCH else frozenset({"knn"})


def _model(spec: SetSpec, found: list[Difference]) -> str:
    if spec.dense is None or not any(d.parameter in {"dims", "dimension"} for d in found):
        return ""
    return f"; the model {spec.dense.name!r} gives {spec.dense.dims}"


def _described(dialect: Dialect, layout: Layout, name: str) -> str:
    field = layout.indices[name].get("mappings", {}).get("properties", {}).get(_VECTORS)
    if field is None:
        return "no vectors"
    if dialect is ELASTICSEARCH:
        kind = field.get("index_options", {}).get("type", "no index_options")
        numbers = field.get("element_type", _FLOAT)
        return f"{field.get('dims')} dimensions of {numbers} in {kind}{_QUANTISED.get(kind, '')}"
    method = field.get("method", {})
    place = f"{method.get('engine', 'faiss')} {method.get('name', 'hnsw')}"
    numbers = field.get("data_type", _FLOAT)
    return f"{field.get('dimension')} dimensions of {numbers} in {place}{_compressed(field, method)}"


def _compressed(field: Mapping[str, Any], method: Mapping[str, Any]) -> str:
    encoder = method.get("parameters", {}).get("encoder", {}).get("name")
    kinds = [f", {key} {value}" for key in ("mode", "compression_level") if (value := field.get(key))]
    return "".join([*kinds, *([f", encoder {encoder}"] if encoder else [])])
