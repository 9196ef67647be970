"""The kinds of files that are read, by ending, and what is read from each."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from ingest.readers.decoding import decoded
from ingest.readers.html import from_html
from ingest.readers.office import from_office
from ingest.readers.outcomes import Content, NotReadable
from ingest.sentences import stored_text
from umg_search.headers import FENCED, heading_name

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\r?\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)")
_FRONT_TITLE = re.compile(r"^title:[ \t]*(?P<quote>[\"']?)(.+?)(?P=quote)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$|^(\S.*)\n(?:=+|-{3,})[ \t]*\r?$", re.MULTILINE)


def is_known(path: Path) -> bool:
    """Tell whether there is a reader for a file, by its ending."""
    return path.suffix.lower() in _READERS


def read_file(path: Path) -> Content | str:
    """Return what a file of a known kind holds, or why nothing can be read from it; OSError is the caller's."""
    ending = path.suffix.lower()
    try:
        title, text = _READERS[ending](path.read_bytes(), ending)
    except NotReadable as error:
        return str(error)
    text = stored_text(text)
    return Content(stored_text(title), text) if text.strip() else "is empty"


def from_text(raw: bytes, _: str) -> Content:
    """Read a text file as it is; it has no title."""
    return Content("", decoded(raw))


def from_markdown(raw: bytes, _: str) -> Content:
    """Read Markdown as it is; the title is the one in its front matter, else the first heading."""
    text = decoded(raw)
    return Content(markdown_title(text), text)


def markdown_title(text: str) -> str:
    """Return the title of a Markdown text, empty if it has none."""
    front = _FRONT_MATTER.match(text)
    title = _FRONT_TITLE.search(front[0]) if front else None
    if title:
        return title[2]
    body = FENCED.sub("", text[front.end() :] if front else text)
    heading = _HEADING.search(body)
    if heading is None:
        return ""
    return heading_name(heading[1]) if heading[1] else str(heading[2]).rstrip()


def _from_office(raw: bytes, ending: str) -> Content:
    text = from_office(raw, ending)
    return Content(markdown_title(text) if ending != ".pdf" else "", text)


_READERS: Mapping[str, Callable[[bytes, str], Content]] = {
    **dict.fromkeys((".txt", ".text", ".log", ".rst"), from_text),
    **dict.fromkeys((".md", ".markdown"), from_markdown),
    **dict.fromkeys((".html", ".htm"), from_html),
    **dict.fromkeys((".pdf", ".docx", ".pptx"), _from_office),
}
