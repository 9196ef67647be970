"""Tokens: counting them, and cutting texts over a model's limit into pieces at word bounds."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from umg_search.errors import ModelError
from umg_search.model import IntArray

UNLIMITED = 1_000_000
"""Limit of models that have none, in tokens."""

_LEAST_ROOM = 16
"""Tokens of text below which pieces would be fragments of sentences."""


class Tokens:
    """A fast tokenizer of its own: never truncates or pads, so that threads may share it; special tokens left out.

    The copy matters: sentence-transformers sets truncation on the model's own tokenizer at every call.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer: Tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def special(self) -> int:
        """Special tokens that a model adds to one text."""
        return self._tokenizer.num_special_tokens_to_add(is_pair=False)

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """Return the tokens of each text, int64 of shape (len(texts),)."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return np.fromiter(map(len, encodings), dtype=np.int64, count=len(texts))

    def pieces(self, text: str, limit: int) -> list[str]:
        """Cut `text` into as few pieces of at most `limit` tokens as its words allow, about equally long.

        The pieces joined are the text. Cuts are between words where there are any, else between tokens.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if len(encoding) <= limit or len(text) < 2:  # noqa: PLR2004 - one character cannot be cut
            return [text]
        cuts = [0, *_cuts(text, encoding, limit), len(text)]
        parts = [text[a:b] for a, b in pairwise(cuts)]
        # A piece may tokenize differently than within the text, for instance one cut inside a word.
        return [piece for part in parts for piece in self.pieces(part, limit)]


class Pieces(NamedTuple):
    """Texts cut to a model's limit: `texts[owner == i]` are the pieces of text i, in order, `lengths` their tokens."""

    texts: list[str]
    owner: IntArray
    lengths: IntArray


def cut_to_limit(texts: Sequence[str], tokens: Tokens, limit: int) -> Pieces:
    """Return the texts with those over `limit` tokens cut into pieces."""
    lengths = tokens.lengths(texts)
    if not (lengths > limit).any():
        return Pieces(list(texts), np.arange(len(texts), dtype=np.int64), lengths)
    cut = [tokens.pieces(text, limit) if n > limit else [text] for text, n in zip(texts, lengths, strict=True)]
    pieces = [piece for parts in cut for piece in parts]
    owner = np.repeat(np.arange(len(texts), dtype=np.int64), [len(parts) for parts in cut])
    return Pieces(pieces, owner, tokens.lengths(pieces))


def _cuts(text: str, encoding: Encoding, limit: int) -> list[int]:
    """Return ascending offsets strictly inside `text` at which to cut it; at least one."""
    offsets = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    ranks = _ranks(text, offsets, encoding.word_ids)
    cuts: list[int] = []
    done = 0
    while len(ranks) - done > limit:
        left = len(ranks) - done
        wanted = done + -(-left // -(-left // limit))
        done = _best(ranks, wanted, done + (wanted - done) // 2 + 1, min(done + limit, len(ranks) - 1))
        if ranks[done] > 0:
            cuts.append(int(offsets[done, 0]))
    return cuts or [len(text) // 2]


def _best(ranks: NDArray[np.int8], wanted: int, lowest: int, highest: int) -> int:
    """Return the token of the highest rank among `lowest` to `highest` (included), of several the nearest to wanted."""
    candidates = np.arange(min(lowest, highest), highest + 1)
    best = candidates[ranks[candidates] == ranks[candidates].max()]
    return int(best[np.argmin(np.abs(best - wanted))])


def _ranks(text: str, offsets: IntArray, words: Sequence[int | None]) -> NDArray[np.int8]:
    """Rate a cut before each token: 3 after white space, 2 between words, 1 between tokens, 0 inside a character."""
    starts, ends = offsets[:, 0], offsets[:, 1]
    word = np.asarray([-1 if w is None else w for w in words], dtype=np.int64)
    # One more at the end, so that index -1 of the first token has something to look at; its rank is 0 anyway.
    space = np.asarray([c.isspace() for c in text] + [False], dtype=np.bool_)
    ranks = np.zeros(len(starts), dtype=np.int8)
    clean = starts[1:] >= np.maximum.accumulate(ends)[:-1]
    rated = 1 + (word[1:] != word[:-1]) + 0
    rated = np.where(space[starts[1:]] | space[starts[1:] - 1], 3, rated)
    ranks[1:] = np.where(clean & (starts[1:] > 0), rated, 0)
    return ranks


def tokens_of(name: str, tokenizer: object) -> Tokens:
    """Return `Tokens` for a model's tokenizer.

    Raises ModelError where it has no fast tokenizer, or one without a vocabulary: what transformers makes of a folder
    without tokenizer files.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not isinstance(backend, Tokenizer):
        raise ModelError(
            f"model {name!r}: its tokenizer ({type(tokenizer).__name__}) is none of the tokenizers library; "
            "choose a model with a tokenizer.json"
        )
    special = set(getattr(tokenizer, "all_special_tokens", ()))
    if not set(backend.get_vocab()) - special:
        raise ModelError(f"model {name!r}: its tokenizer is missing; add tokenizer.json to its folder")
    return Tokens(backend)


def room_for_text(name: str, tokens: Tokens, max_length: float | None, prompt: str) -> int:
    """Return how many tokens of text a model reads at once beside its special tokens and the prompt.

    Raises ModelError where the prompt leaves no room.
    """
    if max_length is None or max_length > UNLIMITED:  # tokenizers without a limit say 1e30
        return UNLIMITED
    # One more for a prompt: its last token may join the first word differently.
    used = tokens.special + (int(tokens.lengths([prompt])[0]) + 1 if prompt else 0)
    room = int(max_length) - used
    if room < _LEAST_ROOM:
        raise ModelError(
            f"model {name!r} reads {max_length:.0f} tokens at once, of which prompt and special tokens take {used}; "
            "shorten the prompt"
        )
    return room


class ModelTokenCounter:
    """Counts the tokens of a model, which is loaded when the first text is counted."""

    def __init__(self, name: str, tokens: Callable[[], Tokens]) -> None:
        self._name = name
        self._tokens = tokens

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, without special tokens."""
        counts: list[int] = self._tokens().lengths(texts).tolist()
        return counts


_WORD = regex.compile(r"\b\w", flags=regex.WORD)


class WordCounter:
    """Counts words as Unicode's UAX 29 bounds them: for index sets without a dense expert."""

    name = "uax29"

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the words of each text; segments without a letter, digit or underscore are no words."""
        return [len(_WORD.findall(text)) for text in texts]
