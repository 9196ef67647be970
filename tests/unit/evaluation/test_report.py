"""Pages of a report: what they tell, and that nothing in questions or documents becomes markup."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.unit.evaluation.made import evaluation, figures, questions
from umg_search.errors import ConfigurationError
from umg_search.evaluation.report import plots
from umg_search.evaluation.report.content import content, focus_of
from umg_search.evaluation.report.pages import as_text, html, markdown
from umg_search.evaluation.report.writing import make_folder, write_report
from umg_search.evaluation.results import as_json, summaries
from umg_search.evaluation.running import Evaluation

HOSTILE = '<script>alert("x")</script> | **bold** [link](javascript:alert) `code`\n# head ![pic](http://x.test/a.png)'


class _NoTexts:
    """No text of any document."""

    def of_documents(self, _: object) -> dict[str, Any]:
        return {}


def result_of(made: Evaluation, **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "dataset": {"name": "set <b>", "questions": len(made.figures), "unjudged": 0, "limit": 0, "seed": 0},
        "engine": {"name": "embedded", "version": "0.9", "where": "/home/somebody/data"},
        "index": {
            "models": ["minilm"],
            "experts": ["dense"],
            "granularities": [2, 8],
            "tokenizer": "words",
            "encoding": "direct",
            "vectors": "int8",
            "headers": "none",
            "analyzer": "standard",
        },
        "settings": {"budgets": ["512"], "cuts": [], "scope": "all", "against": "rrf-all", "resamples": 10_000},
        "versions": {"python": "3.11"},
        "command": ["umg", "evaluate", "my set", "--json"],
    }
    return {**facts, **as_json(made), **content(made, summaries(made), _NoTexts()), **changes}  # type: ignore[arg-type] - a fake


@pytest.fixture
def result() -> dict[str, Any]:
    """Of ten questions, spans win on the even ones, are equal on four of the others, and lose on the last."""
    asked = questions(*({"type": "ab"[i % 2]} for i in range(10)))
    made = evaluation(
        *(
            figures(q, {"spans": 1.0 if row % 2 == 0 else 0.5 if row < 9 else 0.0, "rrf-all": 0.5, "dense-g02": 0.25})
            for row, q in enumerate(asked)
        )
    )
    found = result_of(made)
    found["losses"][0] |= {
        "question": HOSTILE,
        "expected": [{"document": HOSTILE, "text": HOSTILE}],
        "returned": [{"document": "d", "text": "x" * 10_000}],
    }
    return found


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> _Tags:
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser


def test_a_page_needs_nothing_else(result: dict[str, Any]) -> None:
    found = parsed(html(result))
    assert not {"script", "img", "link", "iframe", "b"} & set(found.tags)
    assert [v for name, v in found.attributes if name in {"href", "src"} or name.startswith("on")] == []
    assert "default-src 'none'" in html(result)
    assert HOSTILE in found.text


def test_figures_stand_in_both_pages_with_their_intervals(result: dict[str, Any]) -> None:
    spans = result["methods"]["spans"]["512"]
    low, high = spans["intervals"]["recall"]
    estimate = f"{(5 * 1.0 + 4 * 0.5 + 0.0) / 10:.3f} [{low:.3f}, {high:.3f}]"
    assert low < spans["recall"] < high
    assert estimate in parsed(html(result)).text
    assert as_text(estimate) in markdown(result)
    for page in (parsed(html(result)).text, markdown(result).replace("\\", "")):
        assert "difference to rrf-all" in page
        assert "umg evaluate 'my set' --json" in page
        assert "Mean recall by type" in page
        assert "/home/somebody" not in page


def test_every_table_has_a_caption_and_heads(result: dict[str, Any]) -> None:
    found = parsed(html(result))
    count = found.tags.count("table")
    assert count == found.tags.count("caption") == found.tags.count("thead") > 3
    assert ("scope", "row") in found.attributes
    assert ("role", "img") in found.attributes


def test_nothing_of_a_question_is_markup_in_markdown(result: dict[str, Any]) -> None:
    page = markdown(result)
    assert "<" not in page
    assert not re.search(r"(?<!\\)\[", page)
    assert not re.search(r"(?<!\\)`", page)
    assert "\n# head" not in page
    (row,) = [line for line in page.splitlines() if line.startswith("| expected |")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 4


def test_long_texts_are_cut_and_said_to_be(result: dict[str, Any]) -> None:
    assert "(10000 characters)" in markdown(result)
    assert "x" * 3_001 not in html(result)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("a\n\n  b\t", "a b"),
        (r"\|", r"\\\|"),
        ("dense_g02 *x*", r"dense\_g02 \*x\*"),
        (0.5, "0.5"),
    ],
)
def test_text_is_text_in_markdown(text: object, shown: str) -> None:
    assert as_text(text) == shown


def test_the_focus_is_on_spans_beside_the_best_baseline(result: dict[str, Any]) -> None:
    assert result["focus"] == {
        "measure": "recall",
        "budget": "512",
        "method": "spans",
        "against": "rrf-all",
        "shown": ("spans", "rrf-all", "dense-g02"),
    }
    assert [(loss["own"], loss["other"]) for loss in result["losses"]] == [(0.0, 0.5)]


def test_the_best_length_of_each_question_is_a_line_and_a_row() -> None:
    one, other = questions({}, {})
    made = evaluation(
        figures(one, {"spans": 0.5, "dense-g02": 1.0, "dense-g08": 0.0}),
        figures(other, {"spans": 0.5, "dense-g02": 0.0, "dense-g08": 1.0}),
    )
    page = html(result_of(made))
    svg = page.partition("<svg")[2].partition("</svg>")[0]
    assert ">best length of dense per question</text>" in svg
    (row,) = [line for line in markdown(result_of(made)).splitlines() if line.startswith("| best length of dense")]
    assert row == r"| best length of dense per question | 1.000 \[1.000, 1.000\] |"
    assert "| dense | 1.000 | 50 % | 50 % |" in markdown(result_of(made))


def test_without_ours_the_best_of_all_is_looked_at() -> None:
    made = evaluation(figures(questions({})[0], {"one": 0.5, "other": 1.0}), ours=())
    focus = focus_of(made, summaries(made))
    assert (focus.method, focus.against) == ("other", "other")
    assert content(made, summaries(made), _NoTexts())["losses"] == []  # type: ignore[arg-type] - a fake


def test_costs_stand_beside_those_of_a_plain_index(result: dict[str, Any]) -> None:
    stages = {"encode": 1.0, "retrieve": 6.0, "rank": 1.0, "contexts": 2.0}
    figures_of = {"ms": stages, "total_ms": 10.0, "tokens": 500.0, "bytes": 3 * 2**20, "ingest_s": 4.0}
    result["costs"] = {
        "budget": "512",
        "questions": 5,
        "sample_characters": 1_000,
        "characters": 2_000,
        "reference": {"method": "dense-g08", **figures_of},
        "methods": {"spans": {**figures_of, "ratios": {"total_ms": 2.5, "bytes": 3.0, "ingest_s": None}}},
    }
    page = markdown(result)
    assert "| **spans** | 1.00 | 6.00 | 1.00 | 2.00 | 10.00 (2.50) | 500 | 3.00 (3.00) | 4.0 |" in page
    assert "| plain index | 1.00 | 6.00 |" in page
    assert "measured on 1,000 characters and scaled to all 2,000" in page


def test_a_plot_is_the_same_each_time_and_has_the_colours_of_its_page() -> None:
    points = [plots.Point(256, 0.5, 0.4, 0.6), plots.Point(512, 0.7, 0.6, 0.75)]
    series = {"spans <x> $y$": points, "b": points[:1]}
    first = plots.lines(series, x_label="tokens", y_label="recall")
    assert first == plots.lines(series, x_label="tokens", y_label="recall")
    assert first.startswith("<svg")
    assert "var(--series-1)" in first
    assert "var(--series-2)" in first
    assert "currentColor" in first
    colours = set(re.findall(r"#[0-9a-f]{6}\b", first))
    assert colours == set()
    assert "&lt;x&gt; $y$" in first
    assert ">tokens</text>" in first


def test_a_report_is_three_files(result: dict[str, Any], tmp_path: Path) -> None:
    make_folder(tmp_path / "new" / "report")
    paths = write_report(tmp_path / "new" / "report", result)
    assert [path.name for path in paths] == ["report.html", "report.md", "report.json"]
    assert paths[0].read_text(encoding="utf-8") == html(result)
    assert json.loads(paths[2].read_text(encoding="utf-8"))["losses"][0]["question"] == HOSTILE


def test_a_folder_that_cannot_be_made_is_named(result: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="choose another folder"):
        make_folder(tmp_path / "file" / "report")
    with pytest.raises(ConfigurationError, match="choose another folder"):
        write_report(tmp_path / "file", result)
