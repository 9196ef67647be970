from hypothesis import given
from hypothesis import strategies as st

from umg_search.headers import MOST_CHARACTERS, read_texts
from umg_search.model import Document, Headers, SplitDocument
from umg_search.windows import Window

LINES = ["# Kilns", "A kiln is hot. ", "It has a door.", "## Repair ##", "Mind the bricks. ", "They break."]


def split(*lines: str, title: str = "") -> SplitDocument:
    """One sentence a line."""
    sentences = [f"{line}\n" for line in lines]
    bounds = [0]
    for sentence in sentences:
        bounds.append(bounds[-1] + len(sentence))
    return SplitDocument(Document("a", "".join(sentences), title=title), tuple(bounds), (1,) * len(lines))


def read(document: SplitDocument, first: int, last: int, headers: Headers) -> str:
    (text,) = read_texts(document, [Window(first, last)], headers)
    return text


def test_without_headers_a_window_is_read_as_it_is() -> None:
    assert read(split(*LINES, title="Manual"), 4, 6, Headers.NONE) == "Mind the bricks. \nThey break."


def test_a_window_is_read_under_the_title_and_the_nearest_heading_above() -> None:
    document = split(*LINES, title="Manual")
    assert read(document, 4, 6, Headers.TITLE) == "Manual. Mind the bricks. \nThey break."
    assert read(document, 4, 6, Headers.HEADINGS) == "Manual. Repair. Mind the bricks. \nThey break."
    assert read(document, 1, 3, Headers.HEADINGS) == "Manual. Kilns. A kiln is hot. \nIt has a door."


def test_what_the_window_holds_itself_is_not_repeated() -> None:
    document = split(*LINES, title="Kilns")
    assert read(document, 0, 2, Headers.HEADINGS) == "# Kilns\nA kiln is hot."
    assert read(document, 2, 4, Headers.HEADINGS) == "Kilns. It has a door.\n## Repair ##"
    assert read(document, 3, 5, Headers.HEADINGS) == "Kilns. ## Repair ##\nMind the bricks."
    assert read(split("Hot.", title="x" * 300), 0, 1, Headers.TITLE) == "x" * MOST_CHARACTERS + ". Hot."


def test_closing_marks_are_no_part_of_a_heading_and_words_that_end_like_them_are() -> None:
    assert read(split("## C#", "x", "## Ruby ##", "y"), 1, 2, Headers.HEADINGS) == "C#. x"
    assert read(split("## C#", "x", "## Ruby ##", "y"), 3, 4, Headers.HEADINGS) == "Ruby. y"


def test_a_heading_above_is_that_of_the_windows_first_sentence() -> None:
    assert read(split(*LINES), 2, 5, Headers.HEADINGS).startswith("Kilns. It has")


def test_comments_in_code_are_no_headings() -> None:
    document = split("# Setup", "```", "# install", "make", "```", "Then run it.")
    assert read(document, 5, 6, Headers.HEADINGS) == "Setup. Then run it."
    assert read(document, 3, 4, Headers.HEADINGS) == "Setup. make"


@given(st.lists(st.text("ab#` \n.", min_size=1, max_size=9), min_size=1, max_size=12), st.text(max_size=9))
def test_every_header_comes_before_the_windows_own_text(lines: list[str], title: str) -> None:
    document = split(*lines, title=title)
    windows = [Window(i, i + 1) for i in range(len(lines))]
    plain = read_texts(document, windows, Headers.NONE)
    for headers in Headers:
        for text, own in zip(read_texts(document, windows, headers), plain, strict=True):
            assert text.endswith(own)


def test_a_line_of_many_blanks_takes_no_time() -> None:
    document = split("# a" + " " * 200_000 + "b", "x")
    assert read(document, 1, 2, Headers.HEADINGS) == "a. x"
