"""JSON lines: what a line may hold, and what is said of one that gives no document."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ingest.readers import Skipped, Unreadable, read_paths
from umg_search.model import Document


def read(path: Path) -> list[Document | Unreadable | Skipped]:
    return list(read_paths([path], collection="c"))


def line(**fields: Any) -> str:
    return json.dumps({"id": "a", "text": "Text.", **fields}, ensure_ascii=False)


def test_all_fields_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(title="T", metadata={"language": "en"}, acl=["x", "*"], collection="other") + "\n", "utf-8")
    assert read(path) == [
        Document("a", "Text.", title="T", collection="other", metadata={"language": "en"}, acl=("x", "*"))
    ]


def test_optional_fields_may_be_null_and_others_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(title=None, metadata=None, acl=None, collection=None, more=1), "utf-8")
    assert read(path) == [Document("a", "Text.", collection="c")]


def test_lines_end_with_a_line_feed_only(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + line(text="one\u2028two\x85three").encode() + b"\r\n\n  \n" + line(id="b").encode()
    )
    first, second = read(path)
    assert isinstance(first, Document)
    assert first.text == "one\u2028two\x85three"
    assert isinstance(second, Document)


def test_what_cannot_be_stored_is_replaced_in_every_string(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        r'{"id": "a\u0000", "text": "\ufeffx\ud83d", "title": "\udfff", "metadata": {"k\ud800": ["\u0000"]}, "acl": []}'
    )
    assert read(path) == [
        Document("a\ufffd", "\ufeffx\ufffd", title="\ufffd", collection="c", metadata={"k\ufffd": ["\ufffd"]})
    ]


@pytest.mark.parametrize("id", ["a/b c.md", "x" * 600, "😀", " "])
def test_an_id_is_any_string_that_is_not_blank(tmp_path: Path, id: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(id=id), "utf-8")
    (found,) = read(path)
    assert isinstance(found, Document if id.strip() else Unreadable)


@pytest.mark.parametrize(
    ("content", "id", "problem"),
    [
        ("nope", "a.jsonl:2", "not JSON (Expecting value at character 1)"),
        ('{"id": "b", "text": ', "a.jsonl:2", "not JSON (Expecting value at character 21)"),
        ("[1]", "a.jsonl:2", 'not an object like {"id": ..., "text": ...}'),
        ('{"text": "x"}', "a.jsonl:2", "`id` is missing"),
        ('{"id": "b"}', "b", "`text` is missing"),
        ('{"id": 3, "text": "x"}', "a.jsonl:2", "`id` is not a string but a number"),
        ('{"id": "", "text": "x"}', "a.jsonl:2", "`id` is empty"),
        ('{"id": "b", "text": null}', "b", "`text` is not a string but null"),
        ('{"id": "b", "text": " \\n"}', "b", "`text` is empty"),
        ('{"id": "b", "text": "x", "title": 3}', "b", "`title` is not a string but a number"),
        ('{"id": "b", "text": "x", "metadata": []}', "b", "`metadata` is not an object but a list"),
        ('{"id": "b", "text": "x", "acl": "me"}', "b", "`acl` is not a list but a string"),
        ('{"id": "b", "text": "x", "acl": ["me", 1]}', "b", "`acl` holds 1, which is no principal (a string)"),
        ('{"id": "b", "text": "x", "metadata": {"n": NaN}}', "a.jsonl:2", "not JSON that can be kept (NaN"),
        ("[" * 100_000, "a.jsonl:2", "not JSON"),
        (b'{"id": "b", "text": "\xff"}', "a.jsonl:2", "byte 22 is not UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_reading_goes_on(tmp_path: Path, content: str | bytes, id: str, problem: str) -> None:
    path = tmp_path / "a.jsonl"
    bad = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(b"\n".join([line(id="first").encode(), bad, line(id="last").encode()]))
    first, unreadable, last = read(path)
    assert isinstance(first, Document)
    assert isinstance(last, Document)
    assert isinstance(unreadable, Unreadable)
    assert (unreadable.id, unreadable.path) == (id, str(path))
    assert unreadable.reason.startswith(f"{path}, line 2: {problem}")
    assert unreadable.reason.endswith(".")


def test_compressed_lines_are_read_up_to_where_the_file_is_cut_off(tmp_path: Path) -> None:
    lines = [line(id=str(i), text=f"Text {i * 7919 % 1000}.") for i in range(2_000)]
    whole = gzip.compress("\n".join(lines).encode())
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(whole)
    assert len(read(path)) == 2_000
    path.write_bytes(whole[: len(whole) // 2])
    *documents, last = read(path)
    assert 0 < len(documents) < 2_000
    assert isinstance(last, Unreadable)
    assert last.reason == f"{path}, line {len(documents) + 1}: the compressed file is broken or cut off here."


@pytest.mark.parametrize("content", [b"not gzip at all", gzip.compress(b"x")[:5]])
def test_what_is_not_gzip_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(content)
    (found,) = read(path)
    assert isinstance(found, Unreadable)
    assert "broken or cut off" in found.reason


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    (found,) = read(path)
    assert isinstance(found, Unreadable)
    assert found.reason == f"{path}, line 1: the file is empty."


def test_lines_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(line(id=str(i), text="x" * 1_000) for i in range(2_000)), "utf-8")
    told: list[int] = []
    documents = read_paths([path], collection="c", progress=told.append)
    next(documents)
    assert sum(told) < 200_000  # of 2 MB: a buffer, not the file
