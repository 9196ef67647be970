"""PDF, Word and PowerPoint by markitdown, which comes with the extra `files`."""

import io
import logging
import re
import warnings
from typing import Any

from ingest.readers.outcomes import NotReadable
from ingest.sentences.layout import blocks
from umg_search.errors import MissingExtra

EXTRA = "needs an optional package: pip install 'umg-search[files]'"

_CONVERTERS = {".pdf": "PdfConverter", ".docx": "DocxConverter", ".pptx": "PptxConverter"}

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)\s]*\)")
_ESCAPED = re.compile(r"\\([_*])")
_UNMAPPED_GLYPH = re.compile(r"\(cid:\d+\)")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_HYPHENATED = re.compile(r"(?<!\w)(\w*[^\W\d_])[-\u00ad\u2010][^\S\n]*+\n\s*+([^\W\d_]\w*)")
_PAGE_INSIDE_SENTENCE = re.compile(r"(?<=[^\W\d_A-Z,])\s*\f\s*(?=[^\W\d_A-Z])")
_LINE_BREAK = re.compile(r"(?<![^\S\n])[^\S\n]*+\n\s*+")
_WORDS = re.compile(r"[\w-]+")


def from_office(raw: bytes, ending: str) -> str:
    """Return the text of a PDF, or the Markdown of a Word or PowerPoint file."""
    converter, info = _converter(ending)
    try:
        with warnings.catch_warnings(action="ignore"):
            text: str = converter.convert(io.BytesIO(raw), info).markdown
    except Exception as error:
        raise NotReadable(_problem(error, ending)) from error
    text = unwrapped(text) if ending == ".pdf" else _plain(text)
    if not text.strip():
        raise NotReadable("has no text in it (scanned?)" if ending == ".pdf" else "is empty")
    return text


def _converter(ending: str) -> tuple[Any, Any]:
    """Return markitdown's converter for an ending; MissingExtra's message becomes the reason."""
    try:
        import markitdown  # noqa: PLC0415  two seconds to import, and an extra
        from markitdown import converters  # noqa: PLC0415  the same
    except ImportError as error:
        raise NotReadable(str(MissingExtra(EXTRA))) from error
    logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns of every colour it does not know
    return getattr(converters, _CONVERTERS[ending])(), markitdown.StreamInfo(extension=ending)


def _problem(error: Exception, ending: str) -> str:
    names = {type(cause).__name__ for cause in (error, error.__cause__, error.__context__) if cause}
    if "MissingDependencyException" in names:
        return EXTRA
    if any("Password" in name or "Encryption" in name for name in names):
        return "is protected by a password"
    return f"cannot be read as {ending[1:].upper()}: it is broken or of another kind ({type(error).__name__})"


def _plain(markdown: str) -> str:
    """Return Markdown without comments, pictures and the backslashes that markitdown puts into `snake_case`."""
    return _ESCAPED.sub(r"\1", _IMAGE.sub(r"\1", _COMMENT.sub("", markdown)))


def unwrapped(text: str) -> str:
    """Return text of a PDF with paragraphs in one line, and words put together that were hyphenated at a line's end."""
    text = _UNMAPPED_GLYPH.sub("\ufffd", text).translate(_LIGATURES)
    text = _PAGE_INSIDE_SENTENCE.sub(" ", text).replace("\f", "\n\n")
    text = _dehyphenated(text)
    parts: list[str] = []
    end = 0
    for block in blocks(text):
        parts.append(text[end : block.start])
        parts.append(
            _LINE_BREAK.sub(" ", text[block.start : block.end]) if block.splits else text[block.start : block.end]
        )
        end = block.end
    return "".join(parts)


def _dehyphenated(text: str) -> str:
    """Join hyphenated words, except where the text has the word with its hyphen elsewhere, and not without."""
    known = set(_WORDS.findall(text))

    def word(found: re.Match[str]) -> str:
        first, second = found.groups()
        compound = f"{first}-{second}"
        if not second[0].islower() or (compound in known and first + second not in known):
            return compound
        return first + second

    return _HYPHENATED.sub(word, text)
