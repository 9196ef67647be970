"""Index bodies: the reviewed JSON of es_mappings/, with what a deployment decides filled in."""

from importlib.resources import files
from typing import Any

import orjson

from umg_search.granularity import Expert
from umg_search.model import SetSpec
from umg_search.store.dialect import Dialect
from umg_search.store.filters import FIELDS
from umg_search.store.records import SCHEMA, spec_to_json

FIELDS_OF = {Expert.DENSE: ("dense",), Expert.SPARSE: ("sparse",), Expert.LEXICAL: ("text", "title")}
"""The fields of a chunk entry that each expert asks."""


def chunk_index(dialect: Dialect, spec: SetSpec, *, shards: int, replicas: int, refresh_s: float) -> dict[str, Any]:
    """Return the body of a chunk index; fields of experts that the set lacks are left out."""
    body = _sized(_reviewed(dialect, "chunks"), shards, replicas, refresh_s)
    fields = body["mappings"]["properties"]
    for name in (name for expert in set(Expert) - set(spec.experts) for name in FIELDS_OF[expert]):
        del fields[name]
    if spec.dense:
        fields["dense"] = dialect.vector_field(fields["dense"], spec.dense.dims, spec.vectors)
    if Expert.LEXICAL in spec.experts:
        for name in FIELDS_OF[Expert.LEXICAL]:
            fields[name]["analyzer"] = spec.analyzer
    types = orjson.loads((files("es_mappings") / "fields.json").read_bytes())
    fields[FIELDS]["properties"] = {name: types[kind] for name, kind in spec.fields}
    body["mappings"]["_meta"] = spec_to_json(spec)
    return body


def text_index(dialect: Dialect, spec: SetSpec, *, shards: int, replicas: int, refresh_s: float) -> dict[str, Any]:
    """Return the body of the text index."""
    body = _sized(_reviewed(dialect, "text"), shards, replicas, refresh_s)
    body["mappings"]["_meta"] = spec_to_json(spec)
    return body


def ledger_index(dialect: Dialect, *, shards: int, replicas: int, refresh_s: float) -> dict[str, Any]:
    """Return the body of the ledger."""
    body = _sized(_reviewed(dialect, "documents"), shards, replicas, refresh_s)
    body["mappings"]["_meta"] = {"schema": SCHEMA}
    return body


def lease_index(dialect: Dialect, *, shards: int, replicas: int, refresh_s: float) -> dict[str, Any]:
    """Return the body of the index that holds the lease on changes of sets."""
    body = _sized(_reviewed(dialect, "sets"), shards, replicas, refresh_s)
    body["mappings"]["_meta"] = {"schema": SCHEMA}
    return body


def queue_index(dialect: Dialect, *, shards: int, replicas: int, refresh_s: float) -> dict[str, Any]:
    """Return the body of the index that holds what waits for workers."""
    body = _sized(_reviewed(dialect, "queue"), shards, replicas, refresh_s)
    body["mappings"]["_meta"] = {"schema": SCHEMA}
    return body


def _reviewed(dialect: Dialect, kind: str) -> dict[str, Any]:
    path = files("es_mappings") / dialect.folder / f"{kind}.json"
    body: dict[str, Any] = orjson.loads(path.read_bytes())
    return body


def _sized(body: dict[str, Any], shards: int, replicas: int, refresh_s: float) -> dict[str, Any]:
    body["settings"]["index"] |= {
        "number_of_shards": shards,
        "number_of_replicas": replicas,
        "refresh_interval": f"{round(refresh_s * 1000)}ms",
    }
    return body
