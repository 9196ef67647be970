"""From documents to sentences with token counts."""

from collections.abc import Sequence
from itertools import islice, pairwise

from ingest.sentences import SentenceOptions, sentence_bounds
from umg_search.model import Document, SplitDocument
from umg_search.ports import TokenCounter


def split_documents(
    documents: Sequence[Document], counter: TokenCounter, options: SentenceOptions
) -> list[SplitDocument]:
    """Return each document with its sentences and their tokens, in order; the counter is asked once for all.

    The language is the document's metadata `language`, where that is a string. A blank document has no sentences.
    """
    bounds = [_bounds(document, options) for document in documents]
    sentences = [
        document.text[start:end]
        for document, limits in zip(documents, bounds, strict=True)
        for start, end in pairwise(limits)
    ]
    # Emoji may have no token; a sentence that costs nothing would pass any budget without end.
    counts = iter([max(1, tokens) for tokens in counter.count(sentences)] if sentences else ())
    return [
        SplitDocument(document, limits, tuple(islice(counts, max(0, len(limits) - 1))))
        for document, limits in zip(documents, bounds, strict=True)
    ]


def _bounds(document: Document, options: SentenceOptions) -> tuple[int, ...]:
    language = document.metadata.get("language")
    return sentence_bounds(document.text, language=language if isinstance(language, str) else None, options=options)
