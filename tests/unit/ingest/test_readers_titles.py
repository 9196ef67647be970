from ingest.readers.formats import markdown_title


def test_a_heading_with_a_hundred_thousand_blanks_is_read_at_once() -> None:
    """A pattern with several runs of blanks took cubic time: this test would not end."""
    assert markdown_title("# Title" + " " * 100_000 + "x\n").startswith("Title")


def test_closing_marks_of_a_heading_are_no_part_of_the_title() -> None:
    assert markdown_title("# Title ##  \n\nText.") == "Title"
    assert markdown_title("## C#\n") == "C#"
