"""Texts and titles in one BM25 list: score = BM25(text) + weight * BM25(title), as a server's two clauses add up.

Qdrant Edge scores one text index at a time and adds scores of candidates that were found before. So the sum is exact
for a window that is a candidate in all it matches, and the candidates are chosen so that what they leave out has no
place in the list, unless one document of a fitting title has more windows than there are candidates.
"""

import qdrant_edge as qdrant

from umg_search.model import EncodedQuery
from umg_search.store.embedded.filters import TITLE
from umg_search.store.embedded.points import TEXT, UNIT
from umg_search.store.embedded.words import words

_CANDIDATES = 10
"""Candidates of each kind, as a multiple of the hits that are asked for."""

_ANY, _TITLE, _TITLED = (f"$score[{number}]" for number in range(3))


def with_titles(query: EncodedQuery, depth: int, seen: qdrant.Filter | None) -> qdrant.QueryRequest:
    """Return the request for the best windows by text and title.

    Candidates are the best by text, the best by title, and of windows with a fitting title the best by text.
    """
    asked = words(query.text)
    fitting = qdrant.FieldCondition(TITLE, match=qdrant.MatchTextAny(asked))
    titled = qdrant.Filter(must=[fitting, seen] if seen else [fitting])
    kinds = [(TEXT, seen), (TITLE, seen), (TEXT, titled)]
    of = qdrant.Expression
    text = of.Max([of.Variable(_ANY), of.Variable(_TITLED)])
    total = of.Sum([text, of.Mult([of.Constant(query.title_weight), of.Variable(_TITLE)])])
    return qdrant.QueryRequest(
        limit=depth,
        prefetches=[
            qdrant.Prefetch(limit=_CANDIDATES * depth, query=qdrant.TextQuery(field, asked), filter=only)
            for field, only in kinds
        ],
        query=qdrant.Formula(total, dict.fromkeys((_ANY, _TITLE, _TITLED), 0.0)),
        with_payload=[UNIT],
    )
