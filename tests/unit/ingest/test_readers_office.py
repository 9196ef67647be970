"""PDF, Word and PowerPoint; these tests need the extra `files`, and fail without it."""

import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pptx import Presentation  # type: ignore[import-untyped]  # it ships no types

from ingest.readers import Unreadable, read_paths
from ingest.readers.office import unwrapped
from umg_search.model import Document

MakePdf = Callable[[Sequence[Sequence[str]]], bytes]
MakeDocx = Callable[[str, Sequence[str], Sequence[Sequence[str]]], bytes]


def read(path: Path) -> Document | Unreadable:
    (found,) = read_paths([path], collection="c")
    assert isinstance(found, Document | Unreadable)
    return found


def text_of(path: Path) -> str:
    found = read(path)
    assert isinstance(found, Document), found
    return found.text.strip()


def reason(path: Path) -> str:
    found = read(path)
    assert isinstance(found, Unreadable), found
    return found.reason


def test_paragraphs_of_a_pdf_are_one_line_and_hyphenated_words_are_whole(tmp_path: Path, pdf: MakePdf) -> None:
    first = [
        "The committee reviewed the available infor-",
        "mation and decided that the well-known rules of",
        "the market (see 4.2) would stay in force for all.",
        "",
        "A second paragraph begins here and goes on to",
        "the following page, where all of it comes to an",
    ]
    (tmp_path / "a.pdf").write_bytes(pdf([first, ["end. It names a well-", "known author."]]))
    assert text_of(tmp_path / "a.pdf") == (
        "The committee reviewed the available information and decided that the well-known rules of the market "
        "(see 4.2) would stay in force for all.\n\n"
        "A second paragraph begins here and goes on to the following page, where all of it comes to an end. "
        "It names a well-known author."
    )


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("infor-\nmation", "information"),
        ("well-\nknown and well-known", "well-known and well-known"),
        ("Smith-\nJones", "Smith-Jones"),
        ("soft\u00ad\nware", "software"),
        ("ﬁnd the eﬃcient ﬂow", "find the efficient flow"),
        ("one (cid:12) two", "one \ufffd two"),
        (
            "Heading\n\nText that goes on for a while here\nand on.",
            "Heading\n\nText that goes on for a while here and on.",
        ),
        ("| a | b |\n| c | d |", "| a | b |\n| c | d |"),
    ],
)
def test_unwrapping_text_of_a_pdf(raw: str, text: str) -> None:
    assert unwrapped(raw) == text


def test_a_scanned_pdf_has_no_text_in_it(tmp_path: Path, pdf: MakePdf) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([[], []]))
    assert reason(tmp_path / "a.pdf") == f"{tmp_path / 'a.pdf'} has no text in it (scanned?)."


@pytest.mark.parametrize("ending", ["pdf", "docx", "pptx"])
def test_a_broken_file_is_named(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"%PDF-1.7 and then nothing of the kind")
    assert reason(path).startswith(f"{path} cannot be read as {ending.upper()}: it is broken or of another kind (")


def test_a_cut_off_word_file_is_named(tmp_path: Path, docx: MakeDocx) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(docx("Head", ["text"], [])[:300])
    assert "cannot be read as DOCX" in reason(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "no Word file")
    assert "cannot be read as DOCX" in reason(path)


def test_a_word_file_is_read_as_markdown(tmp_path: Path, docx: MakeDocx) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(docx("The title", ["A paragraph with snake_case & 2*3.", "Another."], [["a", "b"], ["1", "2"]]))
    found = read(path)
    assert isinstance(found, Document)
    assert found.title == "The title"
    assert found.text.startswith("# The title\n\nA paragraph with snake_case & 2*3.\n\nAnother.\n\n|")
    assert "| 1 | 2 |" in found.text


def test_a_presentation_is_read_slide_by_slide(tmp_path: Path) -> None:
    deck = Presentation()
    for number in (1, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = "First point\nSecond point"
    path = tmp_path / "a.pptx"
    deck.save(str(path))
    found = read(path)
    assert isinstance(found, Document)
    assert found.title == "Slide 1"
    slides = ["# Slide 1", "First point", "Second point", "# Slide 2", "First point", "Second point"]
    assert [line for line in found.text.split("\n") if line] == slides


def test_without_the_extra_the_reason_names_it(tmp_path: Path, pdf: MakePdf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markitdown", None)
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([["text"]]))
    assert reason(path) == f"{path} needs an optional package: pip install 'umg-search[files]'."
