"""Questions as the experts read them, the last ones remembered: a model takes longer than all the rest of a search."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol

from umg_search.model import EncodedQuery, SetSpec
from umg_search.ports import TokenCounter

MOST_CHARACTERS = 4_000
"""Longest question that is remembered, so that a thousand of them stay small."""


class QueryEncoder(Protocol):
    """What a search needs of the encoders of an index set."""

    @property
    def counter(self) -> TokenCounter:
        """The set's way to count tokens."""
        ...

    def encode_query(self, text: str) -> EncodedQuery:
        """Return the question as each expert of the set reads it."""
        ...


class Remembered(NamedTuple):
    """How often a question was remembered and how often a model was asked, and how many questions are held."""

    hits: int
    misses: int
    size: int


class Questions:
    """Encodes questions for index sets and remembers the last `size` of them; safe for threads.

    A question belongs to the specification of its set, so that another model never sees it. Of threads that ask the
    same new question at once, each may ask the model.
    """

    def __init__(self, encoders_of: Callable[[SetSpec], QueryEncoder], size: int) -> None:
        self._encoders_of = encoders_of
        self._remembered = lru_cache(maxsize=size)(self._encode)

    def encode(self, spec: SetSpec, text: str) -> EncodedQuery:
        """Return a question's encodings, whose arrays cannot be changed; what the encoder raises passes through."""
        return self._encode(spec, text) if len(text) > MOST_CHARACTERS else self._remembered(spec, text)

    @property
    def remembered(self) -> Remembered:
        """Counts since the start."""
        info = self._remembered.cache_info()
        return Remembered(info.hits, info.misses, info.currsize)

    def _encode(self, spec: SetSpec, text: str) -> EncodedQuery:
        encoded = self._encoders_of(spec).encode_query(text)
        for array in (encoded.dense, *(encoded.sparse or ())):
            if array is not None:
                array.flags.writeable = False
        return encoded
