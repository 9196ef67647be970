import os
import sys
import threading
from pathlib import Path

import pytest

from umg_search.encoding.models import Lazy, is_model_fault, locate
from umg_search.errors import ModelError


def folder_with_config(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    return path


def test_a_folder_is_itself_and_a_plain_name_is_the_hubs(tmp_path: Path) -> None:
    folder = folder_with_config(tmp_path / "model")
    assert locate(str(folder)).folder == folder
    assert locate("BAAI/bge-small-en-v1.5").folder is None
    assert locate("BAAI/bge-small-en-v1.5").target == "BAAI/bge-small-en-v1.5"


def test_a_model_in_a_package_is_found_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_with_config(tmp_path / "carrier_of_models" / "data" / "model")
    (tmp_path / "carrier_of_models" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert locate("package:carrier_of_models/data/model").folder == folder
    assert locate("package:carrier_of_models.data/model").folder == folder
    assert "carrier_of_models" not in sys.modules


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("package:no_such_package/model", "no Python package 'no_such_package' is installed"),
        ("package:json/model", "has no folder 'model'"),
        ("package:/model", "no Python package ''"),
        ("./nowhere", "no such folder"),
        ("/nowhere/at/all", "no such folder"),
        ("a/b/c", "no such folder"),
        ("", "no name"),
        (__file__, "is a file"),
        (str(Path(__file__).parent), "neither modules.json nor config.json"),
    ],
)
def test_names_that_lead_nowhere_are_refused_with_reason_and_name(name: str, reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        locate(name)
    assert reason in str(caught.value)
    assert repr(name) in str(caught.value)


def test_threads_that_ask_at_once_share_one_value() -> None:
    made: list[object] = []
    gate = threading.Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    lazy = Lazy("m", make)
    got: list[object] = []

    def ask() -> None:
        gate.wait()
        got.append(lazy.get())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert set(map(id, got)) == {id(made[0])}


def test_a_failure_to_load_is_not_kept() -> None:
    tries = iter([ModelError("not yet"), None])

    def make() -> str:
        if error := next(tries):
            raise error
        return "model"

    lazy = Lazy("m", make)
    with pytest.raises(ModelError):
        lazy.get()
    assert lazy.get() == "model"


def test_a_model_loaded_before_a_fork_is_refused_in_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = Lazy("m", lambda: "model")
    lazy.get()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(ModelError, match="before this process was forked"):
        lazy.get()


def test_time_limits_and_our_own_slips_are_no_faults_of_a_model() -> None:
    class SoftTimeLimitExceeded(Exception):
        pass

    assert is_model_fault(RuntimeError())
    assert not is_model_fault(SoftTimeLimitExceeded())
    assert not is_model_fault(NameError())
