"""What is kept of results says nothing of texts or of the machine, and docs/results.md is made of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench import results
from tests.unit.evaluation.made import evaluation, figures, questions
from tests.unit.evaluation.test_report import HOSTILE, result_of
from umg_search.evaluation.compact import compacted

PLACE = "the-secret-place"


@pytest.fixture
def result() -> dict[str, Any]:
    asked = questions(*({"type": "ab"[i % 2], "corpus_id": "xy"[i % 2]} for i in range(10)))
    made = evaluation(*(figures(q, {"spans": 0.75, "rrf-all": 0.5 + row / 100}) for row, q in enumerate(asked)))
    found = result_of(made, command=["umg", "evaluate", f"/{PLACE}/set"])
    found["engine"]["where"] = f"/{PLACE}/index"
    found["index"] |= {"models": [f"/{PLACE}/minilm"], "tokenizer": f"C:\\{PLACE}\\words"}
    found["dataset"]["name"] = "set"
    found["questions"] = [{"id": PLACE, "question": PLACE}]
    found["losses"] = [{"id": PLACE, "question": PLACE, "expected": [{"document": PLACE, "text": PLACE}]}]
    found["methods"]["spans"]["about"] = PLACE
    return found


def test_texts_paths_and_commands_go(result: dict[str, Any]) -> None:
    found = json.dumps(compacted(result))
    assert PLACE not in found
    assert compacted(result)["index"]["models"] == ["minilm"]
    assert compacted(result)["index"]["tokenizer"] == "words"


def test_no_text_is_kept_where_a_name_should_be(result: dict[str, Any]) -> None:
    result["groups"][0]["value"] = HOSTILE
    assert "alert" not in json.dumps(compacted(result))
    assert compacted(result)["groups"][0]["value"] == "…"


def test_only_properties_that_say_nothing_of_texts_are_kept(result: dict[str, Any]) -> None:
    assert {group["dimension"] for group in result["groups"]} == {"type", "corpus_id"}
    assert {group["dimension"] for group in compacted(result)["groups"]} == {"type"}


def test_means_intervals_and_the_difference_stay(result: dict[str, Any]) -> None:
    found = compacted(result)["methods"]["spans"]["512"]
    whole = result["methods"]["spans"]["512"]
    assert found["recall"] == 0.75
    assert found["precision"] == round(0.75**2, 4)
    assert found["against"] == "rrf-all"
    assert found["intervals"] == {"recall": whole["intervals"]["recall"]}
    assert found["differences"]["recall"]["mean"] == pytest.approx(0.75 - 0.545)
    assert found["differences"].keys() == {"recall"}


def test_compacting_twice_is_compacting_once(result: dict[str, Any]) -> None:
    once = json.loads(json.dumps(compacted(result)))
    assert compacted(once) == once


def test_a_page_has_a_line_a_set_and_every_method(result: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result), encoding="utf-8")
    results.keep([path], folder=tmp_path / "kept")
    results.keep([path], "other_name", tmp_path / "kept")
    kept = results.kept(tmp_path / "kept")
    assert list(kept) == ["other_name", "set.dense"]
    page = results.page(kept)
    assert page == results.page(dict(reversed(kept.items())))
    shown = page.replace("\\", "")
    assert "| set.dense | recall | 10 | 0.750 [0.750, 0.750] | rrf-all | +0.205 " in shown
    assert shown.count("| **spans** | 0.750 [0.750, 0.750] |") == 2
    assert shown.count("| rrf-all | 0.545 [") == 2
    assert "Mean recall by type." in page


def test_means_over_sets_leave_out_what_a_set_lacks_and_what_has_headers(result: dict[str, Any]) -> None:
    other = compacted(result)
    other["dataset"]["name"] = "other"
    other["methods"]["spans"]["512"]["recall"] = 0.25
    other["methods"]["more"] = other["methods"]["spans"]
    headed = compacted(result)
    headed["index"]["headers"] = "title"
    kept = {results.kept_name(each): each for each in (compacted(result), other, headed)}
    assert list(kept) == ["set.dense", "other.dense", "set.dense.title"]

    means = {row.cells[0]: row.cells[1:] for row in results.overall([compacted(result), other]).rows}
    assert means == {"rrf-all": ("0.545",), "spans": ("0.500",)}
    shown = results.page(kept).replace("\\", "")
    assert "Means over 2 sets" in shown
    assert "| set.dense.title | 0.750 | rrf-all 0.545 | 0.750 | rrf-all 0.545 |" in shown
    assert "## Headers" not in results.page({"set.dense": compacted(result)})


def test_what_is_kept_in_the_repository_can_be_kept() -> None:
    for name, result in results.kept().items():
        assert compacted(result) == result, name


def test_the_page_of_results_is_what_the_kept_figures_make() -> None:
    assert results.PAGE.read_text(encoding="utf-8") == results.page(results.kept()), "run `python -m bench.results`"
