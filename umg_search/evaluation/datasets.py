"""Data sets: a folder with documents and questions, or a file of one's own questions (JSON lines or CSV)."""

import csv
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ingest.sentences import stored_text
from umg_search.errors import DatasetError, QueryError
from umg_search.evaluation.questions import EvidenceMode, Question, Span
from umg_search.model import DEFAULT_COLLECTION, DocumentKey, parse_filter

QUESTIONS = "queries.jsonl"
DOCUMENTS = ("documents.jsonl.gz", "documents.jsonl")

SEPARATOR = "|"
"""Between several documents or answers in one cell of a CSV file."""

_NAMED = 5
"""Wrong lines that an error names; of the others it gives the number."""

_OWN = frozenset({"id", "question", "document", "passage", "answer", "collection", "filter", "scope_doc_id"})


class WrongLine(Exception):
    """A line that gives no question; the message is what follows its number."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions of a file, and the files that hold their documents; none where these are in the index already."""

    name: str
    path: Path
    questions: tuple[Question, ...]
    documents: tuple[Path, ...] = ()

    def sample(self, limit: int, seed: int) -> "Dataset":
        """Return the set with `limit` questions drawn at random, in their order; all of them where limit is 0."""
        if not 0 < limit < len(self.questions):
            return self
        rows = sorted(random.Random(seed).sample(range(len(self.questions)), limit))  # noqa: S311 - nothing secret
        return replace(self, questions=tuple(self.questions[row] for row in rows))


def read_dataset(path: Path, documents: Path | None = None) -> Dataset:
    """Return the questions of a folder, or of a file of one's own, and where their documents are.

    A folder holds `documents.jsonl.gz` and `queries.jsonl`; `documents` takes the place of the former. DatasetError
    where something is not there, and for wrong lines, which are named.
    """
    if documents is not None and not documents.exists():
        raise DatasetError(f"There are no documents at {str(documents)!r}: correct --documents.")
    if not path.is_dir():
        return Dataset(path.stem, path, read_questions(path), () if documents is None else (documents,))
    own = [path / name for name in DOCUMENTS if (path / name).is_file()]
    if documents is None and not own:
        raise DatasetError(f"There is no {DOCUMENTS[0]} in {str(path)!r}: give the documents by --documents.")
    questions = path / QUESTIONS
    return Dataset(path.resolve().name, questions, read_questions(questions), (documents or own[0],))


def read_questions(path: Path) -> tuple[Question, ...]:
    """Return the questions of a file, `.csv` or JSON lines; DatasetError names the wrong lines.

    A line has `question` and at least one of `document` (its id), `passage` (a text in it) and `answer` (a string that
    a context must hold); each may be a list, in CSV documents and answers with `|` between them. `id`, `collection`,
    `filter` and `scope_doc_id` are optional; whatever else a line has is metadata. A line with `evidence` is in the
    format of evaluation sets: `answers`, `evidence`, `evidence_mode`, `evidence_level`, `metadata`.
    """
    questions: list[Question] = []
    wrong: list[str] = []
    for number, raw in _lines(path):
        try:
            questions.append(_question(_object(raw) if isinstance(raw, str) else _cells(raw), number))
        except (WrongLine, QueryError) as error:
            wrong.append(f"line {number}: {str(error).rstrip('.')}")
    counts = Counter(question.id for question in questions)
    wrong += [f"id {name!r} stands on several lines" for name, count in counts.items() if count > 1]
    if wrong:
        raise wrong_lines(path, wrong)
    if not questions:
        raise DatasetError(f"There is no question in {str(path)!r}: give one a line, with what is expected.")
    return tuple(questions)


def wrong_lines(path: Path, wrong: Sequence[str]) -> DatasetError:
    """Return the error for what is wrong with questions, the first ones named."""
    more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    return DatasetError(f"Wrong questions in {str(path)!r}: {'; '.join(wrong[:_NAMED])}{more}.")


def _lines(path: Path) -> Iterator[tuple[int, str | Mapping[str, Any]]]:
    """Yield each line that is not blank with its number: as text, or as the cells of a table."""
    try:
        with path.open(encoding="utf-8-sig", newline="" if _is_table(path) else "\n") as file:
            if _is_table(path):
                table = csv.DictReader(file, strict=True)
                yield from ((table.line_num, row) for row in table)
            else:  # lines end with a line feed and with nothing else: a text may hold U+2028
                yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    except OSError as error:
        raise DatasetError(
            f"Questions cannot be read from {str(path)!r} ({error.strerror}): correct the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{str(path)!r} is not UTF-8 (byte {error.start + 1}): save it as UTF-8.") from error
    except csv.Error as error:
        raise DatasetError(f"{str(path)!r} is not CSV ({error}): quote cells that hold commas or quotes.") from error


def _is_table(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _object(line: str) -> Mapping[str, Any]:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise WrongLine(f"not JSON ({error.msg} at character {error.pos + 1})") from error
    if not isinstance(fields, dict):
        raise WrongLine('not an object like {"question": ..., "answer": ...}')
    return fields


def _cells(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the filled cells of a row; None is the name of cells beyond the last column."""
    if None in row:
        raise WrongLine("it has more cells than there are columns")
    filled = {name: value.strip() for name, value in row.items() if value and value.strip()}
    several = {name: filled[name].split(SEPARATOR) for name in ("document", "answer") if name in filled}
    return {**filled, **{name: [part.strip() for part in parts] for name, parts in several.items()}}


def _question(fields: Mapping[str, Any], line: int) -> Question:
    text = _string(fields, "question")
    if not text.strip():
        raise WrongLine("`question` is missing or empty")
    common = Question(
        id=_string(fields, "id") or f"line-{line}",
        text=text,
        line=line,
        collection=_string(fields, "collection"),
        filter=parse_filter(_string(fields, "filter")) if fields.get("filter") else None,
    )
    question = _of_set(common, fields) if "evidence" in fields else _of_user(common, fields)
    if not question.judged and not question.unanswerable:
        raise WrongLine("it tells nothing that is expected: give `document`, `passage` or `answer`")
    return question


def _of_user(question: Question, fields: Mapping[str, Any]) -> Question:
    """Return a question of the user's own; what else is on its line is metadata."""
    return replace(
        question,
        answers=_strings(fields, "answer"),
        passages=_strings(fields, "passage"),
        documents=tuple(_key(question, name) for name in _strings(fields, "document")),
        scope_document=_string(fields, "scope_doc_id"),
        metadata={name: value for name, value in fields.items() if name not in _OWN},
    )


def _of_set(question: Question, fields: Mapping[str, Any]) -> Question:
    """Return a question in the format of evaluation sets."""
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, dict) or not isinstance(fields["evidence"], list):
        raise WrongLine("`metadata` is an object and `evidence` a list")
    evidence = tuple(_span(question, item) for item in fields["evidence"])
    named = metadata.get("relevant_doc_ids")
    keys = [_key(question, name) for name in named] if named else [span.document for span in evidence]
    return replace(
        question,
        answers=_strings(fields, "answers"),
        evidence=evidence,
        texts=tuple(_string(item, "text") for item in fields["evidence"]),
        mode=_mode(fields),
        level=_string(fields, "evidence_level"),
        documents=tuple(dict.fromkeys(keys)),
        scope_document=_string(metadata, "scope_doc_id"),
        metadata=metadata,
    )


def _key(question: Question, id: str) -> DocumentKey:
    return DocumentKey(question.collection or DEFAULT_COLLECTION, id)


def _span(question: Question, item: Any) -> Span:
    try:
        span = Span(_key(question, item["doc_id"]), item["start"], item["end"])
        sound = 0 <= span.start < span.end
    except (KeyError, TypeError) as error:
        raise WrongLine("evidence needs `doc_id`, `start` and `end`") from error
    if not sound:
        raise WrongLine(f"evidence from {span.start} to {span.end} is no range of a text")
    return span


def _mode(fields: Mapping[str, Any]) -> EvidenceMode:
    try:
        return EvidenceMode(fields.get("evidence_mode", EvidenceMode.ALL))
    except ValueError as error:
        raise WrongLine(f"`evidence_mode` is {' or '.join(EvidenceMode)}") from error


def _string(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return stored_text(value or "")
    raise WrongLine(f"`{name}` is no string")


def _strings(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a string or a list of them, empty ones left out."""
    value = fields.get(name)
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(item, str) for item in values):
        raise WrongLine(f"`{name}` is neither a string nor a list of strings")
    return tuple(stored_text(item) for item in values if item.strip())
