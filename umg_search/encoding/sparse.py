"""Learned sparse encoders: sentence-transformers models behind the SparseEncoder port."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from umg_search.encoding.batching import batches, halved_on_shortage
from umg_search.encoding.models import AUTO, Lazy, load, locate
from umg_search.encoding.tokens import Pieces, Tokens, cut_to_limit, room_for_text, tokens_of
from umg_search.errors import ModelError
from umg_search.model import SparseModel, SparseVector
from umg_search.sparse_vectors import maxima, split_rows

BATCH_TEXTS = 32
BATCH_TOKENS = 2048
"""Padded tokens of a batch: SPLADE holds one number per token and vocabulary entry, 250 MB for 2,048 tokens of BERT."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """How one kind of text is read: inference-free models read questions otherwise than passages."""

    encode: Any
    tokens: Tokens
    prompt: str
    limit: int


@dataclass(frozen=True, slots=True)
class _Loaded:
    passages: _Reader
    queries: _Reader


class SentenceTransformerSparse:
    """A sentence-transformers SparseEncoder, loaded on first use, once, whichever thread asks; threads may share it.

    A masked language model without sentence-transformers modules is read as SPLADE (maximum of log(1 + ReLU)).
    """

    def __init__(self, name: str, *, device: str = AUTO, batch_size: int = BATCH_TEXTS) -> None:
        self._name = name
        self._device = device
        self._batch_size = batch_size
        self._loaded = Lazy(name, self._load)
        self._running = threading.Lock()

    @property
    def model(self) -> SparseModel:
        """Name of the model; does not load it."""
        return SparseModel(self._name)

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return one vector a text; a text over the limit is the element-wise maximum of its pieces.

        A blank text has no terms. NaN or infinity that the model gives is returned as such.
        """
        return self._encode(texts, self._loaded.get().passages)

    def encode_query(self, text: str) -> SparseVector:
        """Return the question's term weights, by the model's own way for questions; long ones in pieces."""
        return self._encode([text], self._loaded.get().queries)[0]

    def _encode(self, texts: Sequence[str], reader: _Reader) -> list[SparseVector]:
        written = [i for i, text in enumerate(texts) if text.strip()]
        pieces = cut_to_limit([texts[i] for i in written], reader.tokens, reader.limit)
        vectors: list[SparseVector] = [_EMPTY] * len(pieces.texts)
        for rows in batches(pieces.lengths, texts=self._batch_size, tokens=BATCH_TOKENS):
            batch = [pieces.texts[row] for row in rows]
            parts = halved_on_shortage(lambda part: self._forward(reader, part), batch)
            for row, vector in zip(rows.tolist(), (v for part in parts for v in part), strict=True):
                vectors[row] = vector
        pooled = dict(zip(written, _pooled(vectors, pieces, len(written)), strict=True))
        return [pooled.get(i, _EMPTY) for i in range(len(texts))]

    def _forward(self, reader: _Reader, texts: list[str]) -> list[SparseVector]:
        # One batch at a time: the model's tokenizer is not safe under threads, and a question need not wait for more.
        # Dense rows: the library's sparse result is sliced and stacked row by row, which takes longer than the model.
        with self._running:
            rows = reader.encode(
                texts,
                prompt=reader.prompt,
                batch_size=len(texts),
                show_progress_bar=False,
                convert_to_sparse_tensor=False,
            )
        return _to_vectors(rows)

    def _load(self) -> _Loaded:
        model = load(self._name, self._device, "SparseEncoder")
        _refuse_untrained(self._name, model)
        for module in model.modules():
            if type(module).__name__ == "SpladePooling" and module.pooling_strategy == "max":
                module.forward = _maximum_first(module, module.forward)
        passage = next((p for p in map(model.prompts.get, ("document", "passage", "corpus")) if p), "")
        return _Loaded(
            self._reader(model, "document", model.encode_document, passage),
            self._reader(model, "query", model.encode_query, model.prompts.get("query") or ""),
        )

    def _reader(self, model: Any, task: str, encode: Any, prompt: str) -> _Reader:
        first = model[0]
        if hasattr(first, "sub_modules"):  # a Router: one way for questions, one for passages
            first = first.sub_modules[task][0]
        tokens = tokens_of(self._name, first.tokenizer)
        return _Reader(encode, tokens, prompt, room_for_text(self._name, tokens, first.max_seq_length, prompt))


def _refuse_untrained(name: str, model: Any) -> None:
    """Refuse what sentence-transformers makes of a model that is not sparse: an auto-encoder with random weights."""
    if not any(type(module).__name__ == "SparseAutoEncoder" for module in model.children()):
        return
    from sentence_transformers.util import load_file_path  # noqa: PLC0415 - loaded already, with the model

    listed = load_file_path(locate(name).target, "modules.json", local_files_only=True)
    if listed is None or "SparseAutoEncoder" not in Path(listed).read_text(encoding="utf-8"):
        raise ModelError(
            f"model {name!r} is not a sparse encoder: it has neither a masked-language-model head nor a trained "
            "sparse module; name a SPLADE-like model"
        )


def _maximum_first(pooling: Any, original: Any) -> Any:
    """Return SPLADE's pooling with the maximum taken before log(1 + ReLU), which both rise: the same numbers.

    The original works on texts x tokens x vocabulary numbers at every step; with a small model that took two thirds
    of the time. Padding is skipped instead of multiplied by zero.
    """
    import torch  # noqa: PLC0415

    def forward(features: Any) -> Any:
        if "cu_seq_lens_q" in features:  # unpadded input (flash attention) has a layout of its own
            return original(features)
        logits, mask = features["token_embeddings"], features["attention_mask"]
        spans = zip(logits, mask.argmax(1).tolist(), mask.sum(1).tolist(), strict=True)
        highest = torch.stack([row[first : first + max(1, count)].amax(0) for row, first, count in spans])
        weights = highest.relu().log1p()
        features["sentence_embedding"] = weights.log1p() if pooling.activation_function == "log1p_relu" else weights
        return features

    return forward


_EMPTY = SparseVector(np.empty(0, np.int32), np.empty(0, np.float32))


def _to_vectors(rows: Any) -> list[SparseVector]:
    """Return the non-zero entries of a torch tensor of shape (texts, vocabulary), NaN among them."""
    row, term = (~(rows <= 0)).nonzero(as_tuple=True)
    weights = rows[row, term].float().cpu().numpy()
    bounds = np.searchsorted(row.cpu().numpy(), np.arange(len(rows) + 1))
    return split_rows(term.cpu().numpy(), weights, bounds)


def _pooled(vectors: list[SparseVector], pieces: Pieces, texts: int) -> list[SparseVector]:
    if len(vectors) == texts:
        return vectors
    lengths = np.bincount(pieces.owner, minlength=texts)
    return maxima(vectors, np.arange(len(vectors)), lengths)
