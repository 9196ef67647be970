"""`umg evaluate` from end to end, with a real model, on the corpus of the examples."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.readers import read_paths
from tests.e2e.conftest import MODEL, Umg
from umg_search.model import Document

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"

SEALS = "6.2 The warranty for seals is 36 months from delivery."


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    questions = [
        {
            "question": "How long is the warranty on seals?",
            "passage": SEALS,
            "answer": "36 months",
            "topic": "contract",
        },
        {"question": "What does error H7 mean?", "answer": "H7"},
        {"question": "How long is the warranty for bearings?", "document": "contracts/bearing-supply.txt"},
    ]
    path.write_text("".join(f"{json.dumps(question)}\n" for question in questions), encoding="utf-8")
    return path


@pytest.fixture
def arguments(own: Path, tmp_path: Path, configured: Callable[..., None]) -> list[object]:
    configured(dense_model=MODEL, engine=f"embedded:{tmp_path / 'not-touched'}")
    return ["evaluate", own, "--documents", CORPUS, "--budgets", "100,none", "--cache", tmp_path / "cache"]


def test_own_questions_are_measured_and_a_second_run_says_the_same(
    umg: Umg, arguments: list[object], tmp_path: Path
) -> None:
    found = umg.json(*arguments)
    documents = [item for item in read_paths([CORPUS]) if isinstance(item, Document)]
    assert found["dataset"] == {"name": "own", "questions": 3, "unjudged": 0, "limit": 0, "seed": 0}
    assert found["index"]["written"]["stored"] == len(documents)
    assert found["methods"]["spans"]["100"]["recall"] == 1
    assert found["methods"]["lexical-g02"]["none"]["answer_recall"] == 1
    assert {"small-to-big", "longrag", "rrf-all", "linear-g08", "paper-parents"} < found["methods"].keys()
    assert found["command"][0] == "umg"
    assert found["versions"]["ir-measures"]
    assert not (tmp_path / "not-touched").exists()

    again = umg.json(*arguments)
    assert again["index"]["written"]["stored"] == 0
    for name, method in found["methods"].items():
        assert again["methods"][name]["100"].items() >= {"recall": method["100"]["recall"]}.items()


def test_a_table_is_printed_for_people(umg: Umg, arguments: list[object]) -> None:
    code, printed, _ = umg(*arguments, "--methods", "spans,rrf-*", "--limit", 2, "--against", "rrf-all")
    assert code == 0
    assert "2 questions, at most 100 tokens; difference in" in printed
    assert [line.split()[0] for line in printed.splitlines() if line.startswith("spans")] == ["spans"]
    assert "rrf-g02" in printed


def test_a_report_is_written_with_costs(
    umg: Umg, own: Path, corpus: Path, tmp_path: Path, configured: Callable[..., None]
) -> None:
    configured(dense_model=MODEL, engine=f"embedded:{tmp_path / 'not-touched'}")
    questions = [
        {"question": "When is the <script>alert(1)</script> east basin closed?", "document": "harbour.md"},
        {"question": "When does picking start?", "answer": "nothing that is | there"},
    ]
    own.write_text("".join(f"{json.dumps(question)}\n" for question in questions), encoding="utf-8")
    folder = tmp_path / "report"
    chosen = ["--methods", "spans,dense-g02,dense-g08,rrf-g08", "--budgets", "100,none"]
    measured = ["--report", folder, "--cost", 1, "--cache", tmp_path / "cache"]
    code, printed, said = umg("evaluate", own, "--documents", corpus, *chosen, *measured)
    assert code == 0, said
    assert "report.html" in "".join(said.split())
    assert "2 questions, at most 100 tokens" in printed
    assert [line for line in printed.splitlines() if line.startswith("plain index")]
    page, text = ((folder / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    assert "<script" not in page
    assert "<script" not in text
    assert "<svg" in page
    found = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    costs = found["costs"]
    assert costs["budget"] == "100"
    assert list(costs["methods"]) == ["spans", "dense-g02", "dense-g08", "rrf-g08"]
    assert costs["methods"]["spans"]["bytes"] == sum(costs["index_bytes"].values())
    assert costs["methods"]["dense-g08"]["bytes"] == costs["index_bytes"]["g08"] + costs["index_bytes"]["text"]
    assert costs["methods"]["spans"]["ratios"]["bytes"] > costs["methods"]["dense-g08"]["ratios"]["bytes"] > 1
    assert all(cost["ingest_s"] > 0 and cost["ms"]["retrieve"] > 0 for cost in costs["methods"].values())
    assert found["focus"]["method"] == "spans"


def test_a_report_needs_a_folder_that_can_be_made(umg: Umg, arguments: list[object], own: Path) -> None:
    code, _, said = umg(*arguments, "--report", own)
    assert (code, "choose another folder" in " ".join(said.split())) == (2, True)


def test_the_index_that_is_there_is_asked(
    umg: Umg, own: Path, corpus: Path, tmp_path: Path, configured: Callable[..., None]
) -> None:
    configured(dense_model=MODEL, engine=f"embedded:{tmp_path / 'index'}")
    umg.json("ingest", corpus)
    own.write_text('{"question": "When is the east basin closed?", "document": "harbour.md"}\n', encoding="utf-8")
    found = umg.json("evaluate", own, "--cache", tmp_path / "cache", "--details", "--budgets", 50)
    assert found["index"]["written"] is None
    assert found["methods"]["spans"]["50"]["document_recall"] == 1
    assert found["questions"][0]["methods"]["spans"]["50"]["returned"][0][1] == "harbour.md"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--budgets", "many"], "'many' is none"),
        (["--budgets", "0"], "'0' is none"),
        (["--methods", "magic"], "no method 'magic'"),
        (["--documents", "nowhere"], "no documents at 'nowhere'"),
    ],
)
def test_wrong_use_is_told(umg: Umg, arguments: list[object], more: list[str], reason: str) -> None:
    code, _, said = umg(*arguments, *more)
    assert code == 2
    assert reason in " ".join(said.split())


def test_wrong_lines_are_told_with_their_numbers(umg: Umg, own: Path, arguments: list[object]) -> None:
    own.write_text('{"question": "Who?", "document": "a.md"}\n{"question": "Who?"}\n', encoding="utf-8")
    code, _, said = umg(*arguments)
    assert (code, "line 2: it tells nothing that is expected" in " ".join(said.split())) == (2, True)
    own.write_text('{"question": "Who?", "passage": "Nobody wrote this."}\n', encoding="utf-8")
    code, _, said = umg(*arguments)
    assert (code, "line 1: the passage 'Nobody wrote this.'" in " ".join(said.split())) == (2, True)


def test_questions_without_expectations_are_nothing_to_measure(umg: Umg, own: Path, arguments: list[object]) -> None:
    own.write_text('{"question": "Who?", "evidence": [], "metadata": {"unanswerable": true}}\n', encoding="utf-8")
    code, _, said = umg(*arguments)
    assert (code, "nothing to measure" in " ".join(said.split())) == (2, True)
