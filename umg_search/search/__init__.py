"""The read path: a question in, contexts out."""

from umg_search.search.cuts import Cut, CutOn, CutRule
from umg_search.search.options import GroupBy, Query, RankingOptions, Selection
from umg_search.search.questions import QueryEncoder
from umg_search.search.ranking import Ranking, rank, refilled, select
from umg_search.search.service import SearchService

__all__ = [
    "Cut",
    "CutOn",
    "CutRule",
    "GroupBy",
    "Query",
    "QueryEncoder",
    "Ranking",
    "RankingOptions",
    "SearchService",
    "Selection",
    "rank",
    "refilled",
    "select",
]
