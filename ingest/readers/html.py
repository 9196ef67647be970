"""HTML as readable text: paragraphs, `# ` headings, `- ` items, `| a | b |` rows, code as it stands."""

import codecs
import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.readers.decoding import decoded
from ingest.readers.outcomes import Content

_DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_DECLARED_WITHIN = 4096

_DROPPED = "script, style, nav, template, noscript, svg, iframe, object, head, select, button, [hidden]"
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "main", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "ul"),
    }
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu"})
_LAYOUT = "table, h1, h2, h3, h4, ul, ol, p + p, div + div"
"""A table row with one of these in it lays out a page; it is no row of data."""

_SPACE = re.compile(r"\s+")


def from_html(raw: bytes, _: str) -> Content:
    """Read a page's title (else its first heading) and what it shows."""
    tree = LexborHTMLParser(decoded(raw, declared=_declared(raw)))
    title = tree.css_first("title") or tree.css_first("h1")
    name = _collapsed(title.text()) if title else ""
    for node in tree.css(_DROPPED):
        node.decompose()
    return Content(name, _Page().read(tree.body) if tree.body else "")


def _declared(raw: bytes) -> str:
    """Return the encoding that a page names for itself, if Python knows it."""
    found = _DECLARED.search(raw[:_DECLARED_WITHIN])
    try:
        return codecs.lookup(found[1].decode("ascii")).name if found else ""
    except LookupError:
        return ""


class _Page:
    """Text that grows while nodes are entered and left; breaks and prefixes wait for the next text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0
        self._prefix = ""
        self._space = False
        self._depth = 0
        self._verbatim = 0

    def read(self, root: LexborNode) -> str:
        """Return the text under a node; a loop and no recursion, since pages nest without limit."""
        node: LexborNode | None = root
        while node is not None:
            child = node.child if self._enter(node) else None
            if child is not None:
                node = child
                continue
            while node is not None:
                self._leave(node)
                if node.mem_id == root.mem_id:
                    return "".join(self._parts).strip() + "\n"
                if node.next is not None:
                    node = node.next
                    break
                node = node.parent
        return "".join(self._parts).strip() + "\n"

    def _enter(self, node: LexborNode) -> bool:
        """Take what a node means by itself; return whether its children are to be read."""
        tag = node.tag or ""
        if tag == "-text":
            self._text(node.text_content or "")
            return False
        if tag == "tr" and not node.css_matches(f":has({_LAYOUT})") and self._row(node):
            return False
        self._open(tag)
        return True

    def _open(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._break(1 if tag in _LISTS and self._depth else 2)
        if tag in _HEADINGS:
            self._break(2)
            self._prefix = _HEADINGS[tag]
        elif tag == "li":
            self._break(1)
            self._prefix = "  " * max(0, self._depth - 1) + "- "
        elif tag in {"br", "tr", "option"}:
            self._break(1)
        elif tag in {"td", "th"}:
            self._space = True
        self._depth += tag in _LISTS
        self._verbatim += tag == "pre"

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        self._depth -= tag in _LISTS
        self._verbatim -= tag == "pre"
        if tag in _BLOCKS or tag in _HEADINGS:
            self._break(1 if tag in _LISTS and self._depth else 2)
        elif tag in {"li", "tr"}:
            self._break(1)

    def _row(self, row: LexborNode) -> bool:
        """Write a table row on a line of its own; False if it has fewer than two cells."""
        cells = [_collapsed(cell.text(separator=" ")) for cell in row.iter() if cell.tag in {"td", "th"}]
        if len(cells) > 1 and any(cells):
            self._break(1)
            self._write("| " + " | ".join(cells) + " |")
            self._break(1)
        return len(cells) > 1

    def _text(self, text: str) -> None:
        if self._verbatim:
            self._write(text)
            return
        words = _collapsed(text)
        if not words:
            self._space = self._space or bool(text)
            return
        self._space = self._space or text[0].isspace()
        self._write(words)
        self._space = text[-1].isspace()

    def _write(self, text: str) -> None:
        if self._breaks:
            self._parts.append("\n" * self._breaks + self._prefix)
        elif self._prefix or self._space:
            self._parts.append(self._prefix or " ")
        self._parts.append(text)
        self._breaks, self._prefix, self._space = 0, "", False

    def _break(self, lines: int) -> None:
        """Ask for a line break (1) or a blank line (2); an item's first paragraph stays on the item's line."""
        if not self._prefix:
            self._breaks = max(self._breaks, lines)
        self._space = False


def _collapsed(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
