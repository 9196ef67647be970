"""Files and folders: ids, order, what is passed over, and what cannot be read."""

import os
from pathlib import Path

import pytest

from ingest.readers import Skipped, Unreadable, read_paths, total_bytes
from umg_search.model import Document


def read(*paths: Path) -> list[Document | Unreadable | Skipped]:
    return list(read_paths(paths, collection="c"))


def only(path: Path) -> Document:
    (document,) = read(path)
    assert isinstance(document, Document), document
    return document


def reason(path: Path) -> str:
    (found,) = read(path)
    assert isinstance(found, Unreadable), found
    return found.reason


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_a_files_id_is_its_path_in_the_folder_given_or_its_name(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a b/ü 😀.txt", "a.txt"):
        write(tmp_path / name, "text")
    documents = read(tmp_path)
    assert [d.id for d in documents if isinstance(d, Document)] == ["a/z.txt", "a b/ü 😀.txt", "a.txt", "b.txt"]
    assert only(tmp_path / "a" / "z.txt") == Document("z.txt", "text", collection="c")


def test_hidden_files_and_folders_are_passed_over_unless_given(tmp_path: Path) -> None:
    hidden = write(tmp_path / ".git" / "x.txt", "text")
    write(tmp_path / ".secret.txt", "text")
    assert read(tmp_path) == []
    assert [d.id for d in read(hidden.parent) if isinstance(d, Document)] == ["x.txt"]


def test_files_of_unknown_kind_are_counted_in_a_folder_and_named_when_given(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "text")
    picture = write(tmp_path / "b.PNG", b"\x89PNG")
    write(tmp_path / "Makefile", "all:")
    write(tmp_path / "c.png", "x")
    assert read(tmp_path)[1:] == [Skipped(str(tmp_path), 3, ("", ".png"))]
    assert reason(picture) == f"{picture} is of an unknown kind (.png)."
    assert "(no ending)" in reason(tmp_path / "Makefile")


def test_a_missing_path_is_named_and_reading_goes_on(tmp_path: Path) -> None:
    there = write(tmp_path / "a.txt", "text")
    missing, document = read(tmp_path / "nope", there)
    assert missing == Unreadable("nope", str(tmp_path / "nope"), f"{tmp_path / 'nope'} does not exist.")
    assert isinstance(document, Document)


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "a.txt", "text")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    names = [d.id for d in read(tmp_path)]  # type: ignore[union-attr]
    assert names == ["self", "sub/a.txt"]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert read(tmp_path) == [Skipped(str(tmp_path), 1, (".txt",))]
    assert reason(tmp_path / "pipe.txt").endswith("is neither a file nor a folder.")


def test_no_permission_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.txt", "text")
    write(tmp_path / "b.txt", "text")
    whole = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)  # the tests may run as root, who may read all
    refused, document = read(tmp_path)
    assert refused == Unreadable(
        "a.txt", str(tmp_path / "a.txt"), f"{tmp_path / 'a.txt'} cannot be read: Permission denied."
    )
    assert isinstance(document, Document)


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf"])
def test_an_empty_or_blank_file_is_unreadable(tmp_path: Path, content: bytes) -> None:
    assert reason(write(tmp_path / "a.txt", content)) == f"{tmp_path / 'a.txt'} is empty."


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("é\r\nü".encode(), "é\r\nü"),
        ("é\n".encode("utf-8-sig"), "é\n"),
        ("é 汉".encode("utf-16"), "é 汉"),
        (b"\xfe\xff" + "é 汉".encode("utf-16-be"), "é 汉"),
        ("é 汉".encode("utf-32"), "é 汉"),
        ("Un café à Orléans, très cher: 5 €".encode("cp1252"), "Un café à Orléans, très cher: 5 €"),
        (b"a long enough text, so that one control character is no sign \0 of a binary file", None),
    ],
)
def test_encodings_that_are_recognised(tmp_path: Path, content: bytes, text: str | None) -> None:
    expected = text if text is not None else content.decode().replace("\0", "\ufffd")
    assert only(write(tmp_path / "a.txt", content)).text == expected


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(256)) * 4,
        b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" * 20,
        "Это текст в другой кодировке".encode("cp1251"),
        "这是另一种编码的文本".encode("gb18030"),
        b"\xff\xfea",
    ],
)
def test_a_binary_file_or_unknown_encoding_is_no_text(tmp_path: Path, content: bytes) -> None:
    assert "looks binary" in reason(write(tmp_path / "a.txt", content))


@pytest.mark.parametrize("ending", ["txt", "text", "log", "rst", "TXT"])
def test_plain_text_is_kept_as_it_is_and_has_no_title(tmp_path: Path, ending: str) -> None:
    document = only(write(tmp_path / f"a.{ending}", "# One\n\ttwo\n"))
    assert (document.title, document.text, dict(document.metadata)) == ("", "# One\n\ttwo\n", {})


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The title #\n\ntext", "The title"),
        ("Intro\n\n## Later\n", "Later"),
        ("Underlined\n==========\n", "Underlined"),
        ("```\n# no title\n```\n\n# Title\n", "Title"),
        ('---\ntitle: "From the front: matter"\nx: y\n---\n# Heading\n', "From the front: matter"),
        ("---\nx: y\n---\n# Heading\n", "Heading"),
        ("no heading", ""),
    ],
)
def test_markdown_is_kept_as_it_is_and_gives_its_title(tmp_path: Path, text: str, title: str) -> None:
    document = only(write(tmp_path / "a.md", text))
    assert (document.title, document.text) == (title, text)


def test_bytes_of_a_name_that_are_no_utf8_are_replaced_in_the_id(tmp_path: Path) -> None:
    write(Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.txt")), "text")
    document = read(tmp_path)[0]
    assert isinstance(document, Document)
    assert document.id == "a\ufffd.txt"


def test_progress_adds_up_to_the_bytes_of_all_files(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "12345")
    write(tmp_path / "b.jsonl", '{"id": "1", "text": "x"}\n' * 3)
    write(tmp_path / "c.png", "not read")
    told: list[int] = []
    list(read_paths([tmp_path], collection="c", progress=told.append))
    assert sum(told) == total_bytes([tmp_path]) == 5 + 3 * 25
