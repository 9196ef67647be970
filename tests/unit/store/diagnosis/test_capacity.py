"""Judges of clock, disk and clauses: every verdict."""

import pytest

from umg_search.model import Finding, Verdict
from umg_search.store.bodies import MOST_WORDS
from umg_search.store.diagnosis.capacity import CLOCK_SECONDS, ROOM, clauses, clock, disk, free_at, setting
from umg_search.store.diagnosis.facts import Probe
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH

GIB = 2**30
SILENT = Probe(why="this user may not ask GET /x (HTTP 403)")
WATERMARK = "cluster.routing.allocation.disk.watermark"
DEFAULTS = {f"{WATERMARK}.low": "85%", f"{WATERMARK}.high": "90%", f"{WATERMARK}.flood_stage": "95%"}


def stats(**stamps: float) -> Probe:
    return Probe({"nodes": {f"id-{n}": {"name": n, "roles": ["data"], "timestamp": t} for n, t in stamps.items()}})


def test_clocks_within_five_seconds_agree_and_the_way_of_the_answer_does_not_count() -> None:
    asked, answered = 1_000.0, 1_020.0
    assert clock(stats(a=1_010_000), asked, answered).verdict is Verdict.OK
    assert clock(stats(a=(answered + CLOCK_SECONDS) * 1000), asked, answered).verdict is Verdict.OK
    assert clock(stats(a=(asked - CLOCK_SECONDS) * 1000), asked, answered).verdict is Verdict.OK


def test_the_clock_that_is_furthest_off_is_named_with_its_side() -> None:
    ahead = clock(stats(a=1_000_000, b=1_000_000 + 90_000), 1_000.0, 1_000.0)
    behind = clock(stats(a=1_000_000 - 3_600_000, b=1_000_000), 1_000.0, 1_000.0)
    assert (ahead.verdict, ahead.found) == (Verdict.WARNING, "node b is 90 s ahead of this machine")
    assert (behind.verdict, behind.found) == (Verdict.WARNING, "node a is 3600 s behind this machine")


def test_a_server_that_does_not_tell_the_time_is_unknown() -> None:
    assert clock(SILENT, 0.0, 0.0).verdict is Verdict.UNKNOWN


def judged(free: float, total: float = 100.0, **settings: str) -> Finding:
    node = {"name": "n1", "roles": ["data"], "fs": {"total": {"total_in_bytes": total, "available_in_bytes": free}}}
    roomy = {"name": "n2", "roles": ["data"], "fs": {"total": {"total_in_bytes": 100, "available_in_bytes": 99}}}
    own = {f"cluster.routing.allocation.disk.{name}": value for name, value in settings.items()}
    return disk(Probe({"nodes": {"a": node, "b": roomy}}), Probe({"defaults": DEFAULTS, "persistent": own}))


@pytest.mark.parametrize(
    ("free", "verdict", "said"),
    [
        (15.1, Verdict.OK, "n1"),
        (14.9, Verdict.WARNING, "low"),
        (9.9, Verdict.WARNING, "high"),
        (4.9, Verdict.ERROR, "flood_stage"),
    ],
)
def test_the_fullest_node_is_judged_by_each_watermark(free: float, verdict: Verdict, said: str) -> None:
    found = judged(free)
    assert found.verdict is verdict
    assert said in found.found
    assert bool(found.remedy) is (verdict is not Verdict.OK)


def test_watermarks_in_bytes_and_headrooms_of_large_disks_count() -> None:
    assert judged(6 * GIB, 1000 * GIB, **{"watermark.flood_stage": "5gb"}).verdict is Verdict.WARNING
    assert judged(4 * GIB, 1000 * GIB, **{"watermark.flood_stage": "5gb"}).verdict is Verdict.ERROR
    assert judged(120 * GIB, 10_000 * GIB).verdict is Verdict.ERROR  # 5 % are 500 GiB
    heads = {f"watermark.{name}.max_headroom": "100GB" for name in ("low", "high", "flood_stage")}
    assert judged(120 * GIB, 10_000 * GIB, **heads).verdict is Verdict.OK


def test_where_the_server_does_not_watch_the_disk_a_full_one_warns() -> None:
    assert judged(50, threshold_enabled="false").verdict is Verdict.OK
    assert "switched off" in judged(50, threshold_enabled="false").found
    assert judged(1, threshold_enabled="false").verdict is Verdict.WARNING


def test_a_disk_without_its_watermarks_or_no_disk_at_all_is_unknown() -> None:
    node = {"name": "n1", "fs": {"total": {"total_in_bytes": 4 * GIB, "available_in_bytes": 2 * GIB}}}
    half = disk(Probe({"nodes": {"a": node}}), SILENT)
    assert half.verdict is Verdict.UNKNOWN
    assert "2.0 GiB free of 4.0" in half.found
    assert disk(SILENT, SILENT).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("85%", 1000 * (1 - 0.85)),
        ("0.85", 1000 * (1 - 0.85)),
        ("500b", 500),
        ("2kb", 2 * 1024),
        ("1.5MB", 1.5 * 1024**2),
        ("100GB", 100 * GIB),
        ("-1", None),
        ("None", None),
    ],
)
def test_watermarks_are_read_in_all_their_spellings(text: str, free: float | None) -> None:
    assert free_at(text, 1000) == (None if free is None else pytest.approx(free))


def limit(**levels: str) -> Probe:
    return Probe({level: {"indices.query.bool.max_clause_count": value} for level, value in levels.items()})


def test_opensearch_needs_clauses_for_the_largest_question_and_its_filters() -> None:
    needed = MOST_WORDS + ROOM
    assert clauses(OPENSEARCH, limit(defaults=str(needed))).verdict is Verdict.OK
    close = clauses(OPENSEARCH, limit(defaults="1024", persistent=str(needed - 1)))
    assert close.verdict is Verdict.WARNING
    assert f"allows {needed - 1} " in close.found
    found = clauses(OPENSEARCH, limit(defaults=str(MOST_WORDS)))
    assert found.verdict is Verdict.ERROR
    assert "indices.query.bool.max_clause_count" in found.remedy
    assert clauses(OPENSEARCH, SILENT).verdict is Verdict.UNKNOWN


def test_elasticsearch_sets_its_limit_itself_and_ignores_the_setting() -> None:
    assert clauses(ELASTICSEARCH, limit(persistent="10")).verdict is Verdict.OK


def test_a_transient_setting_counts_before_a_persistent_one() -> None:
    probe = Probe({"defaults": {"x": 1}, "persistent": {"x": 2}, "transient": {"x": 3}})
    assert setting(probe, "x") == 3
    assert setting(Probe(probe.body | {"transient": {}}), "x") == 2
    assert setting(probe, "y") is None
