"""Measures of a ranking of documents, computed by ir-measures (which asks trec_eval)."""

from collections.abc import Mapping, Sequence

from umg_search.errors import MissingExtra
from umg_search.model import DocumentKey

DEPTH = 10
"""Documents of a ranking that count."""

MEASURES = (f"ndcg_{DEPTH}", f"mrr_{DEPTH}")

_EXTRA = "Evaluation needs ir-measures: install it with `pip install 'umg-search[evaluation]'`."


def check_installed() -> None:
    """Raise MissingExtra where ir-measures is not installed."""
    try:
        import ir_measures  # noqa: F401, PLC0415 - an optional package
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error


def ranking_measures(
    expected: Mapping[str, Sequence[DocumentKey]], rankings: Mapping[str, Sequence[DocumentKey]]
) -> dict[str, dict[str, float]]:
    """Return nDCG@10 and the reciprocal rank among the first 10, by question; all `expected` are equally relevant.

    Rankings name each document once, best first.
    """
    check_installed()
    import ir_measures  # noqa: PLC0415 - an optional package

    measures = {ir_measures.nDCG @ DEPTH: MEASURES[0], ir_measures.RR @ DEPTH: MEASURES[1]}
    relevant = [
        ir_measures.Qrel(question, _name(key), 1) for question, keys in expected.items() for key in dict.fromkeys(keys)
    ]
    run = [
        ir_measures.ScoredDoc(question, _name(key), float(-rank))
        for question in expected
        for rank, key in enumerate(rankings.get(question, ()))
    ]
    found: dict[str, dict[str, float]] = {question: dict.fromkeys(MEASURES, 0.0) for question in expected}
    for metric in ir_measures.iter_calc(list(measures), relevant, run) if run else ():
        found[metric.query_id][measures[metric.measure]] = metric.value
    return found


def _name(key: DocumentKey) -> str:
    return f"{key.collection}\n{key.id}"
