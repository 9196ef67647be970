"""`umg tune` from end to end, with a real model, and searches that follow what it wrote."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import MODEL, Umg
from umg_search.evaluation.tuning import LEAST_QUESTIONS

PLACES = ("attic", "barn", "cellar", "garage", "kitchen", "library")
THINGS = ("kettle", "ladder", "lantern", "compass", "violin", "anchor", "saddle", "mirror", "candle", "hammer")


def sentence(number: int) -> str:
    return f"The {THINGS[number % 10]} {100 + number} stands in the {PLACES[number % 6]}, on shelf {number}."


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Twenty-four questions with the sentence that answers each."""
    path = tmp_path / "own.jsonl"
    lines = [
        {
            "question": f"Where does the {THINGS[number % 10]} {100 + number} stand?",
            "passage": sentence(number),
        }
        for number in range(LEAST_QUESTIONS + 4)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def arguments(own: Path, tmp_path: Path, configured: Callable[..., None]) -> list[object]:
    (tmp_path / "documents").mkdir()
    for part in range(4):
        text = " ".join(sentence(number) for number in range(part, 40, 4))
        (tmp_path / "documents" / f"{part}.txt").write_text(text, encoding="utf-8")
    configured(dense_model=MODEL, engine=f"embedded:{tmp_path / 'index'}")
    options = ["--budget", 25, "--folds", 3, "--cache", tmp_path / "cache"]
    return ["tune", own, "--documents", tmp_path / "documents", *options]


def test_bad_settings_are_left_and_what_is_written_is_what_searches_do(
    umg: Umg, arguments: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temperature of 1000 makes every list flat."""
    file = tmp_path / "umg.toml"
    file.write_text('# ours\nprefix = "own"  # kept\ntemperature = 1000.0\n', encoding="utf-8")
    monkeypatch.setenv("UMG_CONFIG", str(file))
    found = umg.json(*arguments, "--write", file)
    assert (found["claimed"], found["measure"], found["budget"]) == (True, "recall", 25)
    assert found["gain"]["low"] > 0
    assert found["current"] == {"temperature": 1000.0}
    assert found["dataset"]["questions"] == LEAST_QUESTIONS + 4
    assert [fold["questions"] for fold in found["folds"]] == [8, 8, 8]
    assert {"settings": found["chosen"]} in [{"settings": tried["settings"]} for tried in found["tried"]]
    text = file.read_text(encoding="utf-8")
    assert tomllib.loads(text) == {"prefix": "own", **found["chosen"]}
    assert "# ours\n" in text
    assert "# kept" in text

    code, printed, said = umg(*arguments, "--write", file)
    assert code == 1
    assert "No gain is claimed, and nothing is written" in " ".join(said.split())
    assert "current and chosen" in printed
    assert file.read_text(encoding="utf-8") == text


def test_without_a_file_the_settings_are_told(
    umg: Umg, arguments: list[object], tmp_path: Path, configured: Callable[..., None]
) -> None:
    configured(temperature=1000)
    code, printed, said = umg(*arguments)
    said = " ".join(said.split())
    assert code == 0, said
    assert printed.startswith("24 questions, at most 25 tokens; ")
    assert "Without fold 3 the choice is" in printed
    assert "on held-out questions over the current ones" in said
    assert "run this again with --write FILE" in said
    assert "UMG_TEMPERATURE is set in the environment and wins over the file: unset it." in said
    assert not (tmp_path / "umg.toml").exists()


def test_too_few_questions_are_refused_with_the_reason(umg: Umg, arguments: list[object], tmp_path: Path) -> None:
    code, _, said = umg(*arguments, "--limit", 19, "--write", tmp_path / "umg.toml")
    assert (code, "19 different ones can be measured by recall, and it takes 20" in " ".join(said.split())) == (2, True)
    code, _, said = umg(*arguments, "--measure", "answer_recall")
    assert (code, "0 different ones can be measured by answer_recall" in " ".join(said.split())) == (2, True)
    assert not (tmp_path / "umg.toml").exists()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--measure", "beauty"], "no measure 'beauty' to tune by: there are recall, answer_recall"),
        (["--write", "nowhere/umg.toml"], "cannot be written to 'nowhere/umg.toml' (its folder is not there)"),
        (["--budget", "0"], "budget"),
        (["--folds", "1"], "folds"),
    ],
)
def test_wrong_use_is_told(umg: Umg, arguments: list[object], more: list[str], reason: str) -> None:
    code, _, said = umg(*arguments, *more)
    assert (code, reason in " ".join(said.split())) == (2, True), said


def test_secrets_of_the_file_are_not_shown(umg: Umg, arguments: list[object], tmp_path: Path) -> None:
    file = tmp_path / "umg.toml"
    file.write_text('api_key = "geheim', encoding="utf-8")
    code, printed, said = umg(*arguments, "--write", file)
    assert (code, "is not valid TOML" in said) == (2, True)
    assert "geheim" not in printed + said
