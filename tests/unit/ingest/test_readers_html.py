"""HTML as readable text."""

from pathlib import Path

import pytest

from ingest.readers import Unreadable, read_paths
from umg_search.model import Document


def read(tmp_path: Path, content: str | bytes) -> Document:
    path = tmp_path / "a.html"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (document,) = read_paths([path], collection="c")
    assert isinstance(document, Document), document
    return document


def test_title_headings_paragraphs_and_line_breaks(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        """<html><head><title> A &amp;
        title </title><style>p {}</style></head><body><h1>One <b>bold</b></h1>
        <p>First   paragraph,
        with <i>italics</i>, caf&eacute;&nbsp;5&nbsp;&euro;.<br>New line</p>loose <b>te</b>xt<div>Block</div>
        <h3>Three</h3></body></html>""",
    )
    assert document.title == "A & title"
    assert document.text == (
        "# One bold\n\nFirst paragraph, with italics, café 5 €.\nNew line\n\nloose text\n\nBlock\n\n### Three\n"
    )


def test_what_is_not_shown_is_dropped(tmp_path: Path) -> None:
    hidden = "".join(f"<{tag}>no</{tag}>" for tag in ("script", "style", "nav", "template", "noscript", "svg"))
    assert read(tmp_path, f"<body>{hidden}<p>yes</p><p hidden>no</p><!-- no --></body>").text == "yes\n"


def test_lists_tables_and_code(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        "<p>Items:</p><ul><li>One</li><li><p>Two</p><ul><li>Inner</li></ul></li></ul>"
        "<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ann\n<b>B.</b></td><td>3</td></tr></table>"
        "<pre>def f():\n    return 1\n</pre><p>End.</p>",
    )
    assert document.text == (
        "Items:\n\n- One\n- Two\n\n  - Inner\n\n| Name | Age |\n| Ann B. | 3 |\n\ndef f():\n    return 1\n\n\nEnd.\n"
    )


def test_a_table_that_lays_out_a_page_gives_paragraphs(tmp_path: Path) -> None:
    document = read(tmp_path, "<table><tr><td><h2>Head</h2><p>Text.</p></td><td>Side</td></tr></table>")
    assert document.text == "## Head\n\nText.\n\nSide\n"


def test_the_first_heading_is_the_title_where_there_is_no_other(tmp_path: Path) -> None:
    assert read(tmp_path, "<h1>Head</h1><p>x").title == "Head"
    assert read(tmp_path, "<p>x").title == ""


def test_the_encoding_a_page_names_is_used(tmp_path: Path) -> None:
    page = '<meta charset="windows-1251"><p>Привет, это обычный русский текст</p>'
    assert read(tmp_path, page.encode("cp1251")).text == "Привет, это обычный русский текст\n"


def test_a_page_nested_without_limit_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, "<div>" * 5_000 + "deep" + "</div>" * 5_000).text == "deep\n"


@pytest.mark.parametrize("page", ["<html><body><script>x</script></body></html>", "<p> </p>", ""])
def test_a_page_without_text_is_empty(tmp_path: Path, page: str) -> None:
    path = tmp_path / "a.htm"
    path.write_text(page)
    (found,) = read_paths([path], collection="c")
    assert isinstance(found, Unreadable)
    assert found.reason == f"{path} is empty."
