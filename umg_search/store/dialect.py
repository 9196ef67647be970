"""What differs between Elasticsearch and OpenSearch, as data and small request parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from umg_search.errors import EngineUnsupported
from umg_search.model import FloatArray, VectorType

CANDIDATES = 2
"""Candidates looked at in each HNSW graph, as a multiple of k."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server: its name, the folder of its mappings, the versions that are supported, and its client.

    `client_bounds` are the oldest version of the client, and the first that is too new.
    """

    name: str
    folder: str
    oldest: tuple[int, int]
    newest_major: int
    client: str
    client_bounds: tuple[tuple[int, int], tuple[int, int]]

    def knn(self, vector: Any, k: int, filters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the body of a kNN search; `vector` may be a fragment of JSON; filters hold inside the search."""
        if self is ELASTICSEARCH:
            clause = {"field": "dense", "query_vector": vector, "k": k, "num_candidates": CANDIDATES * k}
            return {"knn": clause | ({"filter": list(filters)} if filters else {})}
        clause = {"vector": vector, "k": k, "method_parameters": {"ef_search": CANDIDATES * k}}
        return {
            "query": {"knn": {"dense": clause | ({"filter": {"bool": {"filter": list(filters)}}} if filters else {})}}
        }

    def vector_field(self, field: Mapping[str, Any], dims: int, kind: VectorType) -> dict[str, Any]:
        """Return the mapping of the vector field for a number of dimensions and a type of numbers."""
        number = "byte" if kind is VectorType.INT8 else "float"
        if self is ELASTICSEARCH:
            return {**field, "dims": dims, "element_type": number}
        return {**field, "dimension": dims, "data_type": number}


# The 8.19 client speaks to servers 8 and 9; the 9 client does not speak to 8.
ELASTICSEARCH = Dialect("elasticsearch", "elasticsearch", (8, 19), 9, "elasticsearch", ((8, 19), (9, 0)))
OPENSEARCH = Dialect("opensearch", "opensearch", (2, 19), 3, "opensearch-py", ((3, 0), (4, 0)))


def cosines(scores: FloatArray) -> FloatArray:
    """Return the cosines behind kNN scores; both servers answer (1 + cos) / 2."""
    return 2.0 * scores - 1.0


def recognise(answer: Any, where: str) -> tuple[Dialect, str]:
    """Return the kind and the version of the server that gave this answer to `GET /`.

    EngineUnsupported for anything else, for unsupported versions, and for serverless offerings, which allow no ids of
    one's own choosing.
    """
    version = answer.get("version") if isinstance(answer, Mapping) else None
    if not isinstance(version, Mapping) or not isinstance(version.get("number"), str):
        raise EngineUnsupported(f"{where} is neither Elasticsearch nor OpenSearch: correct UMG_ENGINE.")
    if "serverless" in str(version.get("build_flavor", "")):
        raise EngineUnsupported(
            f"{where} is Elasticsearch Serverless, which umg-search does not support: use a hosted or own deployment."
        )
    dialect = OPENSEARCH if version.get("distribution") == "opensearch" else ELASTICSEARCH
    number = version["number"]
    if not _supported(dialect, number):
        least = ".".join(map(str, dialect.oldest))
        raise EngineUnsupported(
            f"{where} is {dialect.name} {number}; umg-search needs {least} or later, up to {dialect.newest_major}.x."
        )
    return dialect, number


def _supported(dialect: Dialect, number: str) -> bool:
    parts = number.split(".")
    try:
        major, minor = int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return False
    return dialect.oldest <= (major, minor) and major <= dialect.newest_major
