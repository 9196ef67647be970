import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from umg_search.errors import DatasetError
from umg_search.evaluation.datasets import read_dataset, read_questions
from umg_search.evaluation.questions import EvidenceMode, Span
from umg_search.model import DocumentKey, Equals


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def set_record(**changes: Any) -> dict[str, Any]:
    evidence = [{"doc_id": "d1", "start": 5, "end": 9, "text": "here"}]
    record = {"id": "q1", "question": "Where?", "answers": ["here"], "evidence": evidence, "evidence_mode": "any"}
    return {**record, "evidence_level": "span", "metadata": {"language": "de", "scope_doc_id": "d1"}, **changes}


def test_a_folder_is_read_with_its_documents(tmp_path: Path) -> None:
    written(tmp_path / "queries.jsonl", set_record())
    with gzip.open(tmp_path / "documents.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "d1", "text": "Over here."}))
    data = read_dataset(tmp_path)
    (question,) = data.questions
    assert (data.name, data.documents) == (tmp_path.name, (tmp_path / "documents.jsonl.gz",))
    assert question.evidence == (Span(DocumentKey("default", "d1"), 5, 9),)
    assert (question.mode, question.level, question.answers) == (EvidenceMode.ANY, "span", ("here",))
    assert (question.scope_document, question.language, question.documents) == (
        "d1",
        "de",
        (DocumentKey("default", "d1"),),
    )


def test_relevant_documents_are_named_by_metadata_where_they_are(tmp_path: Path) -> None:
    record = set_record(evidence=[], evidence_level="none", metadata={"relevant_doc_ids": ["d2", "d3"]})
    (question,) = read_questions(written(tmp_path / "q.jsonl", record))
    assert [key.id for key in question.documents] == ["d2", "d3"]
    assert question.judged


def test_a_question_that_nothing_answers_is_not_judged(tmp_path: Path) -> None:
    record = set_record(evidence=[], answers=["no answer"], metadata={"unanswerable": True})
    (question,) = read_questions(written(tmp_path / "q.jsonl", record))
    assert not question.judged


def test_own_questions_as_json_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "own.jsonl",
        {"question": "Who?", "document": "a.md", "team": "sales"},
        {
            "question": "What?",
            "passage": ["the\u2028text"],
            "answer": "text",
            "collection": "hr",
            "filter": "year = 2020",
        },
        {"id": "mine", "question": "Which?", "document": ["a", "b"], "collection": "hr"},
    )
    first, second, third = read_questions(path)
    assert (first.id, first.line, first.documents, first.metadata) == (
        "line-1",
        1,
        (DocumentKey("default", "a.md"),),
        {"team": "sales"},
    )
    assert (second.passages, second.answers, second.collection) == (("the\u2028text",), ("text",), "hr")
    assert isinstance(second.filter, Equals)
    assert third.documents == (DocumentKey("hr", "a"), DocumentKey("hr", "b"))


def test_own_questions_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "\ufeffquestion,document,passage,answer,team\nWho?,a.md | b.md,,,sales\n"
        '"What, then?",,"one\ntwo|three",6|six,\n',
        encoding="utf-8",
    )
    first, second = read_questions(path)
    assert ([key.id for key in first.documents], first.metadata) == (["a.md", "b.md"], {"team": "sales"})
    assert (second.text, second.passages, second.answers) == ("What, then?", ("one\ntwo|three",), ("6", "six"))
    assert second.line == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"question": "Who?"', "not JSON"),
        ("[1]", "not an object"),
        ('{"document": "a"}', "`question` is missing or empty"),
        ('{"question": " ", "document": "a"}', "`question` is missing or empty"),
        ('{"question": "Who?"}', "give `document`, `passage` or `answer`"),
        ('{"question": "Who?", "answer": " "}', "give `document`, `passage` or `answer`"),
        ('{"question": 5, "answer": "a"}', "`question` is no string"),
        ('{"question": "Who?", "answer": [5]}', "`answer` is neither"),
        ('{"question": "Who?", "answer": "a", "filter": "year >"}', "filter"),
        ('{"question": "Who?", "evidence": [{"doc_id": "d"}]}', "needs `doc_id`, `start` and `end`"),
        ('{"question": "Who?", "evidence": [{"doc_id": "d", "start": 5, "end": 5}]}', "5 to 5 is no range"),
        ('{"question": "Who?", "evidence": {}}', "`evidence` a list"),
        ('{"question": "Who?", "evidence": [], "evidence_mode": "some"}', "all or any"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(f'{{"question": "Fine?", "answer": "yes"}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(DatasetError) as raised:
        read_questions(path)
    assert "line 3: " in str(raised.value)
    assert reason in str(raised.value)
    assert "line 1" not in str(raised.value)


def test_many_wrong_lines_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", *({"question": "Who?"} for _ in range(7)))
    with pytest.raises(DatasetError, match="and 2 more"):
        read_questions(path)


def test_an_id_that_stands_twice_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", set_record(), set_record())
    with pytest.raises(DatasetError, match="'q1' stands on several lines"):
        read_questions(path)


def test_a_row_with_too_many_cells_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("question,answer\nWho, then?,me\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="line 2: it has more cells"):
        read_questions(path)


def test_files_that_are_not_there_or_are_empty(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(DatasetError, match="no question"):
        read_questions(tmp_path / "empty.jsonl")
    with pytest.raises(DatasetError, match="correct the path"):
        read_questions(tmp_path / "missing.jsonl")
    with pytest.raises(DatasetError, match=r"documents\.jsonl\.gz"):
        read_dataset(tmp_path)
    with pytest.raises(DatasetError, match="--documents"):
        read_dataset(tmp_path, tmp_path / "missing")
    (tmp_path / "latin.jsonl").write_bytes(b'{"question": "\xe9"}')
    with pytest.raises(DatasetError, match="UTF-8"):
        read_questions(tmp_path / "latin.jsonl")


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", *({"question": f"{i}?", "answer": "a"} for i in range(50)))
    data = read_dataset(path)
    one = data.sample(10, 1)
    assert one == data.sample(10, 1) != data.sample(10, 2)
    assert [q.line for q in one.questions] == sorted(q.line for q in one.questions)
    assert len(one.questions) == 10
    assert data.sample(0, 1) == data == data.sample(50, 1)
