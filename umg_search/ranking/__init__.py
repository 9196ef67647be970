"""Stages of ranking: pure functions over arrays, independent of each other.

The cut rules can be used alone, in any pipeline: `from umg_search.ranking import gapr`.
"""

from umg_search.ranking.gaps import adaptive_k, fixed, gapr
from umg_search.ranking.tails import surprise, tail_aware

__all__ = ["adaptive_k", "fixed", "gapr", "surprise", "tail_aware"]
