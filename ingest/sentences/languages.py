"""The language of a piece of text, from what is known of the document or else from the script."""

import regex

_SAMPLE = 400
"""Characters of a paragraph that are looked at to judge its script."""

_CODES = """
af am ar bg bn bo ca cs da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lo lt lv mk ml
mr ms my nb ne nl nn no pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi yue zh
"""
_KNOWN = frozenset(_CODES.split())

_LONG_CODES = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "por": "pt", "nld": "nl",
    "dut": "nl", "rus": "ru", "pol": "pl", "ces": "cs", "cze": "cs", "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja",
    "kor": "ko", "ara": "ar", "hin": "hi", "urd": "ur", "tha": "th", "mya": "my", "bur": "my", "khm": "km", "ell": "el",
    "gre": "el", "tur": "tr", "ukr": "uk", "heb": "he", "fas": "fa", "per": "fa", "yue": "zh",
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "russian": "ru", "chinese": "zh", "japanese": "ja", "korean": "ko", "arabic": "ar",
}  # fmt: skip

_SCRIPTS = {
    "ja": r"\p{Hiragana}\p{Katakana}", "zh": r"\p{Han}", "ko": r"\p{Hangul}", "th": r"\p{Thai}", "lo": r"\p{Lao}",
    "km": r"\p{Khmer}", "my": r"\p{Myanmar}", "bo": r"\p{Tibetan}", "hi": r"\p{Devanagari}", "bn": r"\p{Bengali}",
    "pa": r"\p{Gurmukhi}", "gu": r"\p{Gujarati}", "ta": r"\p{Tamil}", "te": r"\p{Telugu}", "kn": r"\p{Kannada}",
    "ml": r"\p{Malayalam}", "si": r"\p{Sinhala}", "ar": r"\p{Arabic}", "he": r"\p{Hebrew}", "el": r"\p{Greek}",
    "ru": r"\p{Cyrillic}", "hy": r"\p{Armenian}", "ka": r"\p{Georgian}", "am": r"\p{Ethiopic}",
}  # fmt: skip

_RUN = regex.compile("|".join(rf"(?P<{code}>[{letters}]+)" for code, letters in _SCRIPTS.items()) + r"|(\p{Latin}+)")
_URDU = regex.compile("[ٹڈڑںےۓہۂھ]")
_PERSIAN = regex.compile("[پچژگکی]")
_UKRAINIAN = regex.compile("[іїєґІЇЄҐ]")

_DENSE = regex.compile(
    "[" + "".join(_SCRIPTS[code] for code in ("ja", "zh", "ko", "th", "lo", "km", "my", "bo")) + "]+"
)
_LETTERS = regex.compile(r"\p{L}+")


def language_of(text: str, start: int, end: int, given: str | None, default: str) -> str:
    """Return the ISO 639-1 code by which text[start:end] is split: `given` if it is known, else by the script."""
    known = normalised(given)
    if known:
        return known
    sample = text[start : min(end, start + _SAMPLE)]
    return default if sample.isascii() else _by_script(sample) or default


def normalised(language: str | None) -> str | None:
    """Return the code of a language without its region (`en-US`: `en`), None if it is not known."""
    if not language:
        return None
    primary = language.strip().replace("_", "-").split("-")[0].lower()
    code = _LONG_CODES.get(primary, primary)
    return code if code in _KNOWN else None


def is_dense(text: str, start: int, end: int) -> bool:
    """Tell whether at least half of the letters belong to a script of syllables or words, or without spaces."""
    piece = text[start:end]
    if piece.isascii():
        return False
    dense = sum(len(run) for run in _DENSE.findall(piece))
    return dense > 0 and 2 * dense >= sum(len(run) for run in _LETTERS.findall(piece))


def _by_script(sample: str) -> str | None:
    """Return the language that stands for the most frequent script; None for Latin script or no letters."""
    found: dict[str, int] = {}
    for run in _RUN.finditer(sample):
        code = run.lastgroup or ""
        found[code] = found.get(code, 0) + run.end() - run.start()
    if not found:
        return None
    best = max(found, key=lambda code: (found[code], code))
    return _refined(best, found, sample)


def _refined(code: str, found: dict[str, int], sample: str) -> str | None:
    """Tell apart languages that share a script."""
    if code in {"zh", "ja"}:
        return "ja" if found.get("ja", 0) * 10 > found.get("zh", 0) else "zh"  # Chinese names a few words in kana
    if code == "ar" and _URDU.search(sample):
        return "ur"
    if code == "ar" and _PERSIAN.search(sample):
        return "fa"
    if code == "ru" and _UKRAINIAN.search(sample):
        return "uk"
    return code or None
