"""Dense encoders: sentence-transformers models behind the DenseEncoder port."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from umg_search.encoding.batching import batches, halved_on_shortage
from umg_search.encoding.models import AUTO, Lazy, load
from umg_search.encoding.tokens import ModelTokenCounter, Pieces, Tokens, cut_to_limit, room_for_text, tokens_of
from umg_search.encoding.vectors import bad_rows, normalised, weighted_means
from umg_search.errors import QueryError
from umg_search.model import DenseModel, Vectors

BATCH_TEXTS = 32
BATCH_TOKENS = 4096

_PASSAGE_PROMPTS = ("document", "passage", "corpus")
"""Names under which models keep the prompt for passages, in the order in which sentence-transformers looks."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A loaded model with what follows from it."""

    model: Any
    tokens: Tokens
    described: DenseModel
    passage_limit: int
    query_limit: int


class SentenceTransformerDense:
    """A sentence-transformers model, loaded on first use, once, whichever thread asks; safe to share by threads.

    A prompt that is given stands before every text; without one, the model's own prompts are used, if it has any.
    `model` names the prompts in use. `batch_size` bounds the texts of a batch, long texts make batches smaller.
    """

    def __init__(
        self,
        name: str,
        *,
        query_prompt: str = "",
        passage_prompt: str = "",
        device: str = AUTO,
        batch_size: int = BATCH_TEXTS,
    ) -> None:
        self._name = name
        self._prompts = (query_prompt, passage_prompt)
        self._device = device
        self._batch_size = batch_size
        self._loaded = Lazy(name, self._load)
        self._running = threading.Lock()

    @property
    def model(self) -> DenseModel:
        """Name, dimensions and the prompts in use; loads the model."""
        return self._loaded.get().described

    @property
    def max_tokens(self) -> int:
        """Longest passage that the model reads whole, in tokens, special tokens and prompt excluded."""
        return self._loaded.get().passage_limit

    @property
    def counter(self) -> ModelTokenCounter:
        """Counts tokens as this model reads them."""
        return ModelTokenCounter(self._name, lambda: self._loaded.get().tokens)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dims) with rows of norm 1.

        A text over the limit is the token-weighted mean of its pieces, normalised. The row of a blank text is zero;
        what the model itself gives as zero, NaN or infinity is returned as such (see `bad_rows`).
        """
        return self._encode(texts, query=False)

    def encode_query(self, text: str) -> Vectors:
        """Return float32 of shape (dims,) and norm 1; a long question is read in pieces, as passages are.

        Raises QueryError where the model gives no usable vector.
        """
        vectors = self._encode([text], query=True)
        if len(bad_rows(vectors)):
            raise QueryError(
                f"the model {self._name!r} gives no usable vector for this question (all zeros, NaN or infinite); "
                "ask in other words"
            )
        vector: Vectors = vectors[0]
        return vector

    def _encode(self, texts: Sequence[str], *, query: bool) -> Vectors:
        loaded = self._loaded.get()
        pieces = cut_to_limit(texts, loaded.tokens, loaded.query_limit if query else loaded.passage_limit)
        vectors = np.zeros((len(pieces.texts), loaded.described.dims), dtype=np.float32)
        for rows in batches(pieces.lengths, texts=self._batch_size, tokens=BATCH_TOKENS):
            batch = [pieces.texts[row] for row in rows]
            parts = halved_on_shortage(lambda part: self._forward(loaded, part, query=query), batch)
            vectors[rows] = np.concatenate(parts)
        pooled = _pooled(normalised(vectors), pieces, len(texts))
        pooled[[i for i, text in enumerate(texts) if not text.strip()]] = 0.0
        return pooled

    def _forward(self, loaded: _Loaded, texts: list[str], *, query: bool) -> Vectors:
        encode = loaded.model.encode_query if query else loaded.model.encode_document
        prompt = loaded.described.query_prompt if query else loaded.described.passage_prompt
        # One batch at a time: the model's tokenizer is not safe under threads, and a question need not wait for more.
        with self._running:
            vectors = encode(texts, prompt=prompt, batch_size=len(texts), show_progress_bar=False)
        result: Vectors = np.asarray(vectors, dtype=np.float32)
        return result

    def _load(self) -> _Loaded:
        model = load(self._name, self._device, "SentenceTransformer")
        tokens = tokens_of(self._name, model.tokenizer)
        query, passage = self._prompts
        query = query or model.prompts.get("query") or ""
        passage = passage or next((p for p in map(model.prompts.get, _PASSAGE_PROMPTS) if p), "")
        # Since sentence-transformers 5.4 the method has a shorter name; the older one warns there.
        dims = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return _Loaded(
            model,
            tokens,
            DenseModel(self._name, int(dims()), query, passage),
            room_for_text(self._name, tokens, model.max_seq_length, passage),
            room_for_text(self._name, tokens, model.max_seq_length, query),
        )


def _pooled(vectors: Vectors, pieces: Pieces, texts: int) -> Vectors:
    """Return one vector a text: the token-weighted mean of its pieces, normalised."""
    if len(vectors) == texts:
        return vectors
    starts = np.searchsorted(pieces.owner, np.arange(texts))
    return weighted_means(vectors, np.maximum(pieces.lengths, 1), starts)
