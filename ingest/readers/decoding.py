"""From bytes to text."""

import codecs
import re

from ingest.readers.outcomes import NotReadable

_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_ABOVE_ASCII = re.compile(rb"[\x80-\xff]")

MOST_CONTROLS = 0.02
"""Share of control characters up to which bytes count as text."""

MOST_ABOVE_ASCII = 0.3
"""Share of other than ASCII bytes up to which a Western encoding is likely: Cyrillic or Chinese ones have more."""


def decoded(raw: bytes, *, declared: str = "") -> str:
    """Return bytes as text: by byte order mark, else as UTF-8, as `declared`, or as Windows-1252 if likely."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return _strictly(raw, encoding)
    if len(_CONTROLS.findall(raw)) > MOST_CONTROLS * len(raw):
        raise NotReadable("looks binary")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return _strictly(raw, declared) if declared else _western(raw)


def _western(raw: bytes) -> str:
    if b"\0" in raw or len(_ABOVE_ASCII.findall(raw)) > MOST_ABOVE_ASCII * len(raw):
        raise NotReadable("looks binary, or is in an encoding that is not known: save it as UTF-8")
    return _strictly(raw, "cp1252")


def _strictly(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except (UnicodeError, LookupError) as error:
        raise NotReadable(f"looks binary: it is neither UTF-8 nor {encoding}") from error
