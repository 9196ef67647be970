"""Settings are put into a file without losing anything else of it, and none of it is ever shown."""

import tomllib
from pathlib import Path

import pytest

from umg_search.cli.config_file import ConfigFile
from umg_search.errors import ConfigurationError

TEXT = """# Ours
engine = "https://search.example.org"  # the cluster
password = "geheim"
alpha = 0.25  # an older choice

[fields]
year = "integer"
"""


def test_a_new_file_holds_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "umg.toml"
    ConfigFile.opened(path).write({"select": "chunks", "alpha": 0.0, "top_k": 0}, ("select", "alpha", "top_k"))
    assert tomllib.loads(path.read_text(encoding="utf-8")) == {"select": "chunks", "alpha": 0.0, "top_k": 0}


def test_comments_tables_and_other_settings_stay(tmp_path: Path) -> None:
    path = tmp_path / "umg.toml"
    path.write_text(TEXT, encoding="utf-8")
    path.chmod(0o640)
    ConfigFile.opened(path).write({"floor": 32}, ("alpha", "floor"))
    text = path.read_text(encoding="utf-8")
    kept = [line for line in TEXT.splitlines() if line and not line.startswith("alpha")]
    assert [line for line in kept if line not in text.splitlines()] == []
    before = tomllib.loads(TEXT)
    del before["alpha"]
    assert tomllib.loads(text) == {**before, "floor": 32}
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text(TEXT, encoding="utf-8")
    link = tmp_path / "umg.toml"
    link.symlink_to("real.toml")
    ConfigFile.opened(link).write({"floor": 8}, ("floor",))
    assert link.is_symlink()
    assert tomllib.loads((tmp_path / "real.toml").read_text(encoding="utf-8"))["floor"] == 8


def test_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "umg.toml"
    path.write_bytes(b'prefix = "a"\r\nshards = 2\r\n')
    ConfigFile.opened(path).write({"floor": 8}, ("floor",))
    assert path.read_bytes().startswith(b'prefix = "a"\r\nshards = 2\r\nfloor = 8')


@pytest.mark.parametrize("text", ['password = "geheim\n', "password = geheim", 'a = "geheim"\na = 1\n'])
def test_a_file_that_is_no_toml_is_refused_without_being_shown(tmp_path: Path, text: str) -> None:
    path = tmp_path / "umg.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"umg\.toml' is not valid TOML") as caught:
        ConfigFile.opened(path)
    assert "geheim" not in str(caught.value)


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "umg.toml"):
        with pytest.raises(ConfigurationError, match="Settings cannot be written to"):
            ConfigFile.opened(path)
    path = tmp_path / "umg.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="Settings cannot be written to"):
        ConfigFile.opened(path)
