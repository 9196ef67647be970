"""README and docs say what the code does: settings, commands, options, exit codes, JSON, links, examples."""

import ast
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import SecretStr

from ingest.readers import read_paths
from umg_search.cli.main import ExitCode, app
from umg_search.cli.output import result_json
from umg_search.granularity import Granularity
from umg_search.model import Context, CutPoint, Document, DocumentGroup, EngineInfo, SearchResult, Source
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search import CutOn, CutRule, RankingOptions, Selection
from umg_search.search_settings import SearchSettings
from umg_search.settings import PREFIX, Settings, plain

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

BEGIN, END = "<!-- settings: begin -->\n", "<!-- settings: end -->"


def settings_table() -> str:
    rows = [
        f"| `{PREFIX}{name.upper()}` | {_default(field.default)} | {field.description} |"
        for name, field in sorted(
            Settings.model_fields.items(), key=lambda item: item[0] in SearchSettings.model_fields
        )
    ]
    return "\n".join(["| name | default | what |", "|---|---|---|", *rows, ""])


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, SecretStr):
        value = plain(value)
    text = "" if value in (None, ()) else str(value.value if isinstance(value, Enum) else value)
    return f"`{text}`" if text else "empty"


def test_readme_lists_every_setting_as_the_code_has_it() -> None:
    found = README.partition(BEGIN)[2].partition(END)[0]
    assert found == settings_table(), f"Put this between the two markers in README.md:\n{settings_table()}"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("select", Selection),
        ("cut_on", CutOn),
        ("normalisation", Normalisation),
        ("weighting", Weighting),
        ("aggregation", Aggregation),
    ],
)
def test_the_table_names_every_value_and_the_default(name: str, kind: type[Enum]) -> None:
    about = str(Settings.model_fields[name].description)
    assert [value.value for value in kind if f"`{value.value}`" not in about] == []
    default = CutOn.SENTENCES if name == "cut_on" else getattr(RankingOptions(), name)
    assert about.endswith(f"empty: `{default.value}`")


@pytest.mark.parametrize("name", ["budget", "temperature", "alpha", "floor"])
def test_the_table_tells_the_default_number(name: str) -> None:
    assert str(Settings.model_fields[name].description).endswith(f"empty: {getattr(RankingOptions(), name):g}")


def commands() -> Iterator[tuple[str, Any]]:
    """Yield commands by name, those of a group with its name before theirs."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined] - it is a group
        members = getattr(command, "commands", None)
        if members is None:
            yield name, command
        else:
            yield from ((f"{name} {member}", each) for member, each in members.items())


def options() -> Iterator[tuple[str, str]]:
    for name, command in commands():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield from ((name, option) for option in parameter.opts)


@pytest.mark.parametrize(("command", "option"), sorted(options()))
def test_every_option_is_in_its_commands_section(command: str, option: str) -> None:
    section = re.search(rf"^## umg {command}\b.*?(?=^## |\Z)", CLI, re.MULTILINE | re.DOTALL)
    assert section, f"docs/cli.md has no section on umg {command}"
    assert f"`{option}`" in section[0]


def test_no_section_names_an_option_that_is_not_there() -> None:
    named = {
        (command, option)
        for command, section in re.findall(
            r"^## umg ([a-z]+(?: [a-z]+)?)(.*?)(?=^## |\Z)", CLI, re.MULTILINE | re.DOTALL
        )
        for option in re.findall(r"^\| `(--[\w-]+)`", section, re.MULTILINE)
    }
    assert named == set(options())


def test_readme_names_every_command() -> None:
    assert [name for name, _ in commands() if f"umg {name}" not in README] == []


def test_every_exit_code_is_documented() -> None:
    rows = re.findall(r"^\| (\d+) \|", CLI, re.MULTILINE)
    assert [int(row) for row in rows] == sorted(ExitCode)


def test_json_example_has_the_keys_that_search_prints() -> None:
    example = json.loads(re.findall(r"```json\n(.*?)```", README, re.DOTALL)[0])
    shown = {field.name: None for field in fields(Context)}
    source = Source("", "", "", 0, 1, 0, 1)
    context = Context(**{**shown, "granularities": (Granularity.G2,), "sources": (source,), "channels": {}})
    timings = {"encode": 1.0, "retrieve": 1.0, "rank": 1.0, "fetch": 1.0, "contexts": 1.0}
    printed = result_json(SearchResult("", (context,), (), (), EngineInfo("", "", ""), timings), explain=False)
    assert list(example) == list(printed)
    assert list(example["contexts"][0]) == list(printed["contexts"][0])
    assert list(example["contexts"][0]["sources"][0]) == list(printed["contexts"][0]["sources"][0])
    assert list(example["engine"]) == list(printed["engine"])
    assert list(example["timings_ms"]) == list(timings)


def test_readme_names_every_key_of_groups_and_the_key_itself() -> None:
    group = DocumentGroup("", "", "", 1.0, 1)
    printed = result_json(SearchResult("", (), (), (), EngineInfo("", "", ""), {}, groups=(group,)), explain=False)
    (entry,) = [line for line in re.split(r"^- ", README, flags=re.MULTILINE) if line.startswith("`--group-by")]
    assert [key for key in ("groups", *printed["groups"][0]) if f"`{key}`" not in entry] == []


def test_readme_names_every_key_of_a_cut_and_the_key_itself() -> None:
    printed = result_json(
        SearchResult("", (), (), (), EngineInfo("", "", ""), {}, cut=CutPoint("gapr", "units", 30, 7)), explain=False
    )
    (entry,) = [line for line in re.split(r"^- ", README, flags=re.MULTILINE) if line.startswith("`--cut`")]
    assert [key for key in ("cut", *printed["cut"]) if f"`{key}`" not in entry] == []


def test_every_cut_rule_has_a_row_and_is_named_in_the_options_help() -> None:
    (option,) = [
        option for name, command in commands() if name == "search" for option in command.params if option.name == "cut"
    ]
    table = CLI.partition("| rule | keeps | NUMBER |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(CutRule)
    assert [rule for rule in CutRule if rule not in option.help] == []


def test_the_example_of_a_cut_keeps_what_its_comment_says() -> None:
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "gapr(scores)" in block]
    values: dict[str, Any] = {}
    exec(example, values)  # noqa: S102 - our own README
    assert values["gapr"](values["scores"]) == int(re.findall(r"the first (\d+)", example)[0])


def test_python_example_imports_what_exists() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(str(node.module))
                assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith(("https://", "http://"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_make_targets_named_in_readme_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert [name for name in re.findall(r"\bmake ([a-z][\w-]*) +#", README) if name not in targets] == []


def test_demo_configuration_holds_settings_only() -> None:
    values = tomllib.loads((ROOT / "examples" / "umg.toml").read_text(encoding="utf-8"))
    assert set(values) <= set(Settings.model_fields)


def test_every_document_of_the_corpus_can_be_read() -> None:
    found = list(read_paths([ROOT / "examples" / "corpus"]))
    assert [item for item in found if not isinstance(item, Document)] == []
    assert len(found) == 11 + 3  # files, and lines of records.jsonl
