"""Hard bounds by the look of the lines; `|` is in the text here, so sentences are listed."""

from itertools import pairwise
from textwrap import dedent

from ingest.sentences import SentenceOptions, sentence_bounds


def sentences(text: str, language: str | None = "en") -> list[str]:
    bounds = sentence_bounds(text, language=language, options=SentenceOptions())
    return [text[start:end].strip() for start, end in pairwise(bounds)]


def test_a_line_break_in_wrapped_text_is_no_bound() -> None:
    text = dedent("""\
        The committee reviewed the available information and decided
        that the rules of the market would stay in force. Nobody was
        against it, although two members of the board
        were absent (see section
        4.2). They met again.
        """)
    assert [s.split()[0] for s in sentences(text)] == ["The", "Nobody", "They"]


def test_wrapped_text_in_crlf_is_like_any_other() -> None:
    assert sentences("The first line of a wrapped text goes on\r\nin the second. Then it ends.\r\n") == [
        "The first line of a wrapped text goes on\r\nin the second.",
        "Then it ends.",
    ]


def test_blank_lines_are_bounds_even_in_the_middle_of_a_sentence() -> None:
    assert sentences("as defined in Section 6 of\n\nthis Agreement") == ["as defined in Section 6 of", "this Agreement"]


def test_a_short_line_before_a_long_one_is_a_heading() -> None:
    body = "The focus of this section is on the datasets that were published and on how they were used later."
    assert sentences(f"Related Work\n{body}\n") == ["Related Work", body]


def test_lines_too_long_to_be_wrapped_are_paragraphs() -> None:
    line = "This line has no mark at its end and is of a length that nobody wraps text at" * 3
    assert sentences(f"{line}\n{line}\n") == [line, line]


def test_headings_of_markdown_and_underlined_ones_stand_alone() -> None:
    assert sentences("Intro text\n# One\nText here\n\nTwo words\n=========\nMore text\n") == [
        "Intro text",
        "# One",
        "Text here",
        "Two words\n=========",
        "More text",
    ]


def test_list_items_are_bounds_with_their_own_sentences() -> None:
    text = dedent("""\
        You need:
        - bread. Buy it today.
        - butter
          and jam.
        1. Go out.
        2. Come back.
        • Eat
        """)
    assert sentences(text) == [
        "You need:",
        "- bread.",
        "Buy it today.",
        "- butter\n  and jam.",
        "1. Go out.",
        "2. Come back.",
        "• Eat",
    ]


def test_table_rows_stand_alone_and_the_ruler_joins_the_header() -> None:
    text = "| Name | Age |\n|------|-----|\n| Dr. A. Ann | 3.5 |\n| Bob | 4 |\n\nAfter it.\n"
    assert sentences(text) == ["| Name | Age |\n|------|-----|", "| Dr. A. Ann | 3.5 |", "| Bob | 4 |", "After it."]
    assert sentences("a\tb\tc\nd\te\tf\n") == ["a\tb\tc", "d\te\tf"]


def test_lines_of_fenced_code_stand_alone() -> None:
    text = "Run this:\n\n```python\nimport os\nprint(os.name)\n# a comment. With two.\n```\n\nThen stop.\n"
    assert sentences(text) == [
        "Run this:",
        "```python\nimport os",
        "print(os.name)",
        "# a comment. With two.\n```",
        "Then stop.",
    ]


def test_a_fence_that_is_never_closed_is_no_code() -> None:
    assert sentences("```\nThis is text that was wrapped at a width\nand goes on.\n")[-1].endswith("\nand goes on.")


def test_lines_that_are_clearly_code_stand_alone() -> None:
    assert sentences("int main() {\n  x = f(y);\n  return 0;\n}\n\nThat was C.\n") == [
        "int main() {",
        "x = f(y);",
        "return 0;\n}",
        "That was C.",
    ]


def test_lines_of_names_and_values_are_bounds_unless_they_are_short() -> None:
    assert sentences("Pulse: 80\nAge: 35\n") == ["Pulse: 80\nAge: 35"]
    long = "Family history: the father had diabetes for ten years"
    assert sentences(f"{long}\nAllergies: none\n") == [long, "Allergies: none"]


def test_articles_of_chinese_law_are_bounds() -> None:
    text = "第一章 总则\n第一条 为了保护民事主体的合法权益，制定本法。\n第二条 本法适用。\n"
    assert sentences(text, "zh") == text.strip().split("\n")


def test_line_and_paragraph_separators_of_unicode_are_line_breaks() -> None:
    assert sentences("One line\u2029two") == ["One line", "two"]
    assert sentences("This is a line of text that goes on\u2028in the next") == [
        "This is a line of text that goes on\u2028in the next"
    ]
