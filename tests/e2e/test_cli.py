"""The command line from end to end, with real models, on each engine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import urllib3

from tests.e2e.conftest import HARBOUR, MODEL, ORCHARD, SPLADE, Umg
from umg_search.settings import Settings


@pytest.mark.usefixtures("on_engine")
def test_a_corpus_is_ingested_searched_changed_and_deleted(umg: Umg, corpus: Path) -> None:
    assert umg.json("ingest", corpus)["documents"] == {"new": 2, "updated": 0, "unchanged": 0, "failed": 0}
    assert umg.json("ingest", corpus)["documents"] == {"new": 0, "updated": 0, "unchanged": 2, "failed": 0}

    answer = umg.json("search", "when is the east basin closed?", "--budget", 60, "--explain")
    best = answer["contexts"][0]
    assert best["document_id"] == "harbour.md"
    assert "22:00 to 05:00" in best["text"]
    assert answer["degraded"] == []
    assert set(answer["timings_ms"]) == {"encode", "retrieve", "rank", "fetch", "contexts"}
    assert set(best) == {
        *("document_id", "collection", "title", "metadata", "first", "last", "start", "end", "text", "tokens", "score"),
        *("relevance", "granularities", "truncated", "sources", "channels"),
    }
    assert sum(context["tokens"] for context in answer["contexts"]) <= 60
    assert len(answer["channels"]) == 10
    assert sum(channel["weight"] for channel in answer["channels"]) == pytest.approx(1)
    code, stored, _ = umg("text", "harbour.md")
    assert (code, stored) == (0, HARBOUR)
    assert all(
        c["text"] == stored[c["start"] : c["end"]] for c in answer["contexts"] if c["document_id"] == "harbour.md"
    )

    (corpus / "harbour.md").write_text(HARBOUR.replace("22:00", "23:30"), encoding="utf-8")
    assert umg.json("ingest", corpus)["documents"] == {"new": 0, "updated": 1, "unchanged": 1, "failed": 0}
    texts = [c["text"] for c in umg.json("search", "when is the east basin closed?")["contexts"]]
    assert any("23:30" in text for text in texts)
    assert not any("22:00" in text for text in texts)

    status = umg.json("status")
    assert status["documents"] == {"searchable": 2}
    assert umg("delete", "harbour.md", "no such thing")[0] == 1
    assert "harbour.md" not in [c["document_id"] for c in umg.json("search", "harbour")["contexts"]]
    assert umg("text", "harbour.md")[0] == 1
    code, out, _ = umg("doctor")
    assert code == 0, out


@pytest.mark.usefixtures("embedded")
def test_people_count_sentences_from_1_and_json_from_0(umg: Umg, corpus: Path) -> None:
    umg.json("ingest", corpus)
    question = ("search", "who decides about exceptions?", "--select", "chunks", "--top-k", 1, "--explain")
    (context,) = umg.json(*question)["contexts"]
    _, printed, _ = umg(*question)
    assert f"sentences {context['first'] + 1} to {context['last']}, " in printed
    best = umg.json(*question)["channels"][0]["top"][0]
    assert f"{best['document_id']}, sentences {best['first'] + 1} to {best['last']}: " in printed


@pytest.mark.usefixtures("embedded")
def test_a_cut_ends_an_answer_by_the_scores_and_is_told_of(umg: Umg, corpus: Path) -> None:
    umg.json("ingest", corpus)
    question = ("search", "when is the east basin closed?")
    assert "cut" not in umg.json(*question)
    answer = umg.json(*question, "--cut", "fixed:3")
    assert answer["cut"] == {"rule": "fixed:3", "of": "sentences", "candidates": answer["cut"]["candidates"], "kept": 3}
    assert sum(context["last"] - context["first"] for context in answer["contexts"]) == 3
    assert "22:00 to 05:00" in answer["contexts"][0]["text"]
    code, printed, _ = umg(*question, "--cut", "adaptive_k", "--cut-on", "runs")
    assert (code, "Cut by adaptive_k: " in printed, " runs stay." in printed) == (0, True, True)
    for wrong, why in (("knee", "'knee' is no cut"), ("gapr:0", "its number lies between 1 and 30")):
        code, _, said = umg(*question, "--cut", wrong)
        assert (code, why in said) == (2, True)


@pytest.mark.usefixtures("embedded")
def test_what_is_cut_without_a_rule_is_refused(umg: Umg, corpus: Path) -> None:
    for command, option in ((["search", "When is the east basin closed?"], "--cut"), (["evaluate", corpus], "--cuts")):
        code, _, said = umg(*command, "--cut-on", "runs")
        assert (code, f"there is none: give {option} as well" in " ".join(said.split())) == (2, True), said


@pytest.mark.usefixtures("embedded")
def test_settings_are_the_defaults_of_searches_and_options_win(
    umg: Umg, corpus: Path, configured: Callable[..., None]
) -> None:
    umg.json("ingest", corpus)
    question = ("search", "When is the east basin closed?")
    configured(budget=20, cut="fixed:2", search_experts="lexical")
    found = umg.json(*question, "--explain")
    assert sum(context["tokens"] for context in found["contexts"]) <= 20
    assert (found["cut"]["rule"], found["cut"]["kept"]) == ("fixed:2", 2)
    assert {channel["expert"] for channel in found["channels"]} == {"lexical"}
    assert umg.json(*question, "--cut-on", "runs")["cut"]["of"] == "runs"
    assert "cut" not in umg.json(*question, "--cut", "none")
    assert sum(context["tokens"] for context in umg.json(*question, "--budget", 200)["contexts"]) > 20

    configured(search_experts="sparse")
    code, _, said = umg(*question)
    assert (code, "has the experts dense, lexical, and sparse is to be asked" in " ".join(said.split())) == (2, True)
    configured(search_experts="", select="best")
    for command in (question, ("doctor",)):
        code, printed, said = umg(*command)
        assert code == 2
        assert "UMG_SELECT: it is one of spans, chunks, parents" in " ".join((printed + said).split())


@pytest.mark.parametrize("engine_settings", ["opensearch-3.5.0"], indirect=True)
@pytest.mark.usefixtures("on_engine")
def test_a_delete_that_the_engine_refuses_ends_with_1_and_says_so(
    umg: Umg, corpus: Path, engine_settings: Settings
) -> None:
    umg.json("ingest", corpus)
    block = f"{engine_settings.engine}/{engine_settings.prefix}-text-v1/_settings"
    with urllib3.PoolManager() as http:
        http.request("PUT", block, json={"index.blocks.write": True}).drain_conn()
        code, printed, said = umg("delete", "harbour.md")
        http.request("PUT", block, json={"index.blocks.write": None}).drain_conn()
    assert (code, printed) == (1, "1 deleted.\n")
    assert "'harbour.md' is deleted, and entries of it that no search shows are left" in said
    assert umg("purge")[:2] == (0, "1 documents swept, 0 tombstones purged.\n")


@pytest.mark.usefixtures("on_engine")
def test_a_sparse_model_takes_the_place_of_bm25(umg: Umg, corpus: Path, configured: Callable[..., None]) -> None:
    configured(sparse_model=SPLADE, index_preset="lean")
    umg.json("ingest", corpus)
    answer = umg.json("search", "Which tree was planted in 1911?", "--select", "chunks", "--top-k", 1, "--explain")
    assert "1911" in answer["contexts"][0]["text"]
    assert len(answer["contexts"]) == 1
    assert {(c["expert"], c["granularity"]) for c in answer["channels"]} == {
        (expert, granularity) for expert in ("dense", "sparse") for granularity in (2, 8)
    }


@pytest.mark.usefixtures("on_engine")
def test_access_control_and_collections_from_jsonl(umg: Umg, tmp_path: Path, configured: Callable[..., None]) -> None:
    configured(access_control="true", fields="year:integer")
    lines = [
        {"id": "a/1", "text": HARBOUR, "acl": ["ann"], "title": "Rules", "metadata": {"language": "en", "year": 2020}},
        {"id": "a/1", "text": ORCHARD, "acl": ["*"], "collection": "farm"},
        {"id": "a/2", "text": ORCHARD, "metadata": {"year": "soon"}},
    ]
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    code, _, err = umg("ingest", path)
    assert (code, "'year' is declared as integer, and its value 'soon' is none" in err) == (1, True)
    question = "where is fuel sold, and what does the orchard grow?"
    seen = umg.json("search", question, "--principal", "ann")["contexts"]
    assert {(c["collection"], c["title"]) for c in seen} == {("default", "Rules"), ("farm", "")}
    assert {c["collection"] for c in umg.json("search", question, "--principal", "bob")["contexts"]} == {"farm"}
    for filter_, found in (("year > 2019 and language = en", [2020]), ("not exists(year)", [None]), ("year = 7", [])):
        seen = umg.json("search", question, "--principal", "ann", "--filter", filter_)["contexts"]
        assert sorted({c["metadata"].get("year") for c in seen}) == found
    for wrong, why in (("", "at its end"), ("year >> 2", "character 7"), ("year = x", "'year' is integer")):
        code, _, err = umg("search", question, "--principal", "ann", "--filter", wrong)
        assert (code, why in err) == (2, True)
    assert umg("search", question)[0] == 2
    assert umg("text", "a/1", "--principal", "bob")[0] == 1
    assert umg("text", "a/1", "--collection", "farm", "--principal", "bob")[1] == ORCHARD


@pytest.mark.usefixtures("embedded")
def test_files_that_cannot_be_read_are_named_and_the_others_stored(umg: Umg, corpus: Path) -> None:
    (corpus / "empty.txt").write_text("", encoding="utf-8")
    (corpus / "blank.md").write_text(" \n\t\n", encoding="utf-8")
    (corpus / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    (corpus / "lines.jsonl").write_text('{"id": "x"}\nnot json\n', encoding="utf-8")
    code, out, err = umg("ingest", corpus)
    assert code == 1
    assert out.startswith("2 new, 0 updated, 0 unchanged, 6 failed")
    for name in ("empty.txt", "blank.md", "binary.txt", "broken.pdf"):
        assert name in err
    assert err.count("lines.jsonl") == 2
    assert "Traceback" not in err


@pytest.mark.usefixtures("embedded")
def test_nul_and_lone_surrogates_become_replacement_characters(umg: Umg, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"id": "odd", "text": "One \\u0000 and \\ud800 here. Two."}\n', encoding="utf-8")
    umg.json("ingest", path)
    assert umg("text", "odd")[1] == "One \ufffd and \ufffd here. Two."


@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_wrong_use(umg: Umg, corpus: Path, question: str) -> None:
    umg("ingest", corpus)
    code, _, err = umg("search", question)
    assert code == 2
    assert "empty" in err


@pytest.mark.usefixtures("on_engine")
def test_very_long_and_meaningless_questions_are_answered(umg: Umg, corpus: Path) -> None:
    umg("ingest", corpus)
    sure = umg.json("search", "when is the east basin closed?")["contexts"][0]["relevance"]
    lost = [c["relevance"] for c in umg.json("search", "xqzt wvvk pfft")["contexts"]]
    assert max(lost) < sure / 2
    long = umg.json("search", "harbour master channel " * 2_200)
    assert long["degraded"] == []
    assert long["contexts"][0]["document_id"] == "harbour.md"
    assert umg.json("search", "!?.,;")["degraded"] == []


@pytest.mark.usefixtures("embedded")
def test_searching_before_ingesting_says_what_to_do(umg: Umg) -> None:
    code, _, err = umg("search", "anything")
    assert code == 2
    assert "umg ingest" in err


@pytest.mark.usefixtures("on_engine")
@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["search", "x"], ["index", "list"]])
def test_where_nothing_is_indexed_every_engine_says_the_same(
    umg: Umg, engine_settings: Settings, command: list[str]
) -> None:
    code, printed, said = umg(*command)
    where = engine_settings.engine.removeprefix("embedded:")
    assert (code, printed) == (2, "")
    assert said == (
        f"umg: Nothing is indexed at {where} yet: run `umg ingest PATH` first, or correct UMG_ENGINE or UMG_PREFIX.\n"
    )


@pytest.mark.usefixtures("embedded")
def test_unknown_and_wrong_settings_are_reported_together(umg: Umg, configured: Callable[..., None]) -> None:
    configured(colour="red", retries="many", experts="dense,oracle")
    code, _, err = umg("status")
    assert code == 2
    assert all(name in err for name in ("UMG_COLOUR", "UMG_RETRIES", "UMG_EXPERTS"))


@pytest.mark.usefixtures("embedded")
def test_a_model_that_cannot_be_loaded_is_named(umg: Umg, corpus: Path, configured: Callable[..., None]) -> None:
    configured(dense_model="package:no_such_package/model")
    code, _, err = umg("ingest", corpus)
    assert code == 2
    assert "no_such_package" in err


@pytest.mark.usefixtures("on_engine")
def test_settings_that_differ_from_the_set_are_refused_with_both_values(
    umg: Umg, corpus: Path, configured: Callable[..., None]
) -> None:
    umg("ingest", corpus)
    configured(encoding="direct", index_preset="lean")
    code, _, err = umg("ingest", corpus)
    assert code == 2
    assert "composed" in err
    assert "direct" in err
    assert umg("search", "east basin")[0] == 0  # searches follow the set, not the settings


@pytest.mark.usefixtures("embedded")
def test_a_missing_path_is_wrong_use(umg: Umg, tmp_path: Path) -> None:
    code, _, err = umg("ingest", tmp_path / "nowhere")
    assert code == 2
    assert "nowhere" in err


def test_an_engine_that_is_down_ends_with_3_soon(umg: Umg, configured: Callable[..., None]) -> None:
    configured(engine="http://127.0.0.1:9", dense_model=MODEL, retries=1)
    for command in (["search", "x"], ["status"], ["delete", "x"], ["doctor"]):
        code, out, err = umg(*command)
        assert code == 3, command
        assert "127.0.0.1:9" in out + err


ELASTICSEARCH = {"number": "9.5.3", "build_flavor": "default"}


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (ELASTICSEARCH | {"number": "7.17.29"}, "8.19"),
        (ELASTICSEARCH | {"number": "10.0.0"}, "9.x"),
        (ELASTICSEARCH | {"number": "8.11.0", "build_flavor": "serverless"}, "Serverless"),
        ({"number": "1.3.20", "distribution": "opensearch"}, "2.19"),
        (None, "neither Elasticsearch nor OpenSearch"),
    ],
)
def test_an_engine_that_is_not_supported_is_refused_in_one_sentence(
    umg: Umg, configured: Callable[..., None], version: dict | None, said: str
) -> None:
    """The answers of servers that cannot run here, given by a server of our own."""
    body = json.dumps({"version": version} if version else {"hello": "world"}).encode()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        configured(engine=f"http://user:secret@127.0.0.1:{server.server_port}", dense_model=MODEL)
        code, _, err = umg("status")
        server.shutdown()
    assert code == 2
    assert said in err
    assert "secret" not in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("embedded")
def test_the_last_of_a_document_given_several_times_counts(
    umg: Umg, tmp_path: Path, configured: Callable[..., None]
) -> None:
    """A -> B -> A, in batches of one document: each must see what the one before it wrote."""
    configured(ingest_batch_chars=1_000)
    path = tmp_path / "same.jsonl"
    texts = [HARBOUR * 4, ORCHARD * 6, HARBOUR * 4]
    path.write_text("".join(json.dumps({"id": "d", "text": t}) + "\n" for t in texts), encoding="utf-8")
    assert umg.json("ingest", path)["documents"] == {"new": 1, "updated": 2, "unchanged": 0, "failed": 0}
    assert umg("text", "d")[1] == texts[-1]


def test_the_installed_command_shows_no_traceback_without_debug(tmp_path: Path) -> None:
    environment = {**os.environ, "UMG_ENGINE": f"embedded:{tmp_path / 'index'}", "UMG_DENSE_MODEL": "no/such-folder"}
    umg = [sys.executable, "-c", "from umg_search.cli import main; main()"]
    ended = subprocess.run([*umg, "ingest", __file__], env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "no/such-folder" in ended.stderr
    assert "no document" in ended.stderr.lower() or "model" in ended.stderr.lower()


@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize("path", ["", "x" * 300])
def test_a_path_that_is_empty_or_far_too_long_is_wrong_use(umg: Umg, path: str) -> None:
    assert umg("ingest", path)[0] == 2


@pytest.mark.usefixtures("embedded")
def test_one_line_of_jsonl_that_no_engine_can_hold_fails_alone(umg: Umg, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    deep = '{"a":' * 900 + "1" + "}" * 900
    bad = [
        f'{{"id": "deep", "text": "One. Two.", "metadata": {deep}}}',
        f'{{"id": "huge", "text": "One. Two.", "metadata": {{"n": {10**30}}}}}',
        '{"id": "inf", "text": "One. Two.", "metadata": {"n": 1e999}}',
    ]
    path.write_text("\n".join([*bad, json.dumps({"id": "good", "text": HARBOUR})]) + "\n", encoding="utf-8")
    code, out, err = umg("ingest", path)
    assert (code, out.split(";")[0]) == (1, "1 new, 0 updated, 0 unchanged, 3 failed")
    assert all(f"line {number}" in err for number in (1, 2, 3))


@pytest.mark.usefixtures("embedded")
def test_texts_are_printed_as_they_are(umg: Umg, tmp_path: Path) -> None:
    path = tmp_path / "a:book:.txt"
    path.write_text("The ratio is a:100:b and :warning: is a word. So is [bold].", encoding="utf-8")
    umg("ingest", path)
    _, out, _ = umg("search", "ratio")
    assert "a:book:.txt" in out
    assert "The ratio is a:100:b and :warning: is a word. So is [bold]." in out


@pytest.mark.usefixtures("embedded")
def test_collections_documents_titles_duplicates_and_relevance_from_the_command_line(umg: Umg, tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    lines = [
        {"id": "a", "text": HARBOUR, "collection": "north", "title": "Kestrel handbook"},
        {"id": "b", "text": HARBOUR, "collection": "south"},
        {"id": "c", "text": ORCHARD, "collection": "farm"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    umg.json("ingest", path)
    question = "where is fuel sold, and what does the orchard grow?"
    best = umg.json("search", question)["contexts"][0]
    assert {(s["document_id"], s["collection"]) for s in best["sources"]} in (
        {("a", "north"), ("b", "south")},
        {("c", "farm")},
    )
    _, shown, _ = umg("search", "when is the east basin closed?", "--budget", 60)
    assert "also in " in shown

    two = umg.json("search", question, "--collection", "north", "--collection", "farm")["contexts"]
    assert {context["collection"] for context in two} == {"north", "farm"}

    answer = umg.json("search", question, "--group-by", "document", "--max-per-document", 1)
    assert [g["document_id"] for g in answer["groups"]] == [c["document_id"] for c in answer["contexts"]]
    assert {group["contexts"] for group in answer["groups"]} == {1}
    assert "groups" not in umg.json("search", question)

    assert umg.json("search", "xqzt wvvk pfft", "--min-relevance", 0.5)["contexts"] == []
    assert umg("search", question, "--min-relevance", 2)[0] == 2
    assert "Nothing was found" in umg("search", "xqzt wvvk pfft", "--min-relevance", 0.5)[1]

    titled = umg.json("search", "kestrel", "--title-weight", 1, "--explain")["channels"]
    plain = umg.json("search", "kestrel", "--explain")["channels"]
    assert "lexical" in {channel["expert"] for channel in titled}
    assert "lexical" not in {channel["expert"] for channel in plain}


@pytest.mark.usefixtures("embedded")
def test_principals_on_a_set_without_access_control_are_not_ignored_silently(umg: Umg, corpus: Path) -> None:
    umg("ingest", corpus)
    assert "principals were ignored" in umg.json("search", "apple", "--principal", "ann")["warnings"][0]


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("A sentence of the long text. " * 20_000, encoding="utf-8")
    environment = {**os.environ, "UMG_ENGINE": f"embedded:{tmp_path / 'index'}", "UMG_EXPERTS": "lexical"}
    umg = f"{sys.executable} -c 'from umg_search.cli import main; main()'"
    script = f"set -o pipefail; {umg} ingest long.txt && {umg} text long.txt | head -c 20"
    ended = subprocess.run(  # noqa: S603 - our own program
        ["/bin/bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("A sentence of the lo")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_output_encoding_will_do(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_text("The café costs 3 €. It is open.", encoding="utf-8")
    environment = {
        **os.environ,
        "UMG_ENGINE": f"embedded:{tmp_path / 'index'}",
        "UMG_EXPERTS": "lexical",
        "PYTHONIOENCODING": encoding,
    }
    umg = f"{sys.executable} -c 'from umg_search.cli import main; main()'"
    script = f"{umg} ingest a.txt >/dev/null && {umg} search --json café"
    ended = subprocess.run(  # noqa: S603 - our own program
        ["/bin/bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["contexts"][0]["text"] == "The café costs 3 €. It is open."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--min-relevance", "3"], "Wrong ranking options: --min-relevance is 3.0, it lies between -1 and 1."),
        (
            ["--budget", "0", "--min-sentences", "0"],
            "--budget is 0, it lies between 1 and 10000000; --min-sentences is",
        ),
        (["--group-by", "x"], "'--group-by': 'x' is not one of 'document'"),
        (["--top-k", "x"], "'--top-k': it should be a valid integer: see"),
        (["--title-weight", "x"], "'--title-weight': it should be a valid number: see"),
    ],
)
def test_options_are_called_what_was_typed(umg: Umg, arguments: list[str], said: str) -> None:
    code, _, err = umg("search", *arguments, "x")
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    "arguments", [["serch", "x"], ["search"], ["search", "--budget", "x", "y"], ["search", "--nope"]]
)
def test_wrong_use_ends_with_2_and_one_sentence(umg: Umg, arguments: list[str]) -> None:
    code, _, err = umg(*arguments)
    assert code == 2
    assert err.startswith("umg: ")
    assert err.count("\n") == 1
