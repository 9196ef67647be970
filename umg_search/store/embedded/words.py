"""Words of a text as BM25 counts them.

Qdrant's own tokenizers split "don't" and "3.14", and take a whole Chinese or Japanese phrase for one word, which then
no shorter query finds. So texts and queries are split here, and the text index splits at white space only.
"""

import regex

_WORD = regex.compile(r"\b\w.*?\b", regex.WORD | regex.DOTALL)


def words(text: str) -> str:
    """Return the lower-case words of a text by the word bounds of UAX 29, joined by blanks.

    These are the tokens of Elasticsearch's `standard` analyzer, but for runs of scripts that write no blanks: Thai,
    Lao, Khmer and Burmese come in clusters.
    """
    return " ".join(_WORD.findall(text.lower()))
