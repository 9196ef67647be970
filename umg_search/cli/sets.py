"""The commands around index sets: list, rebuild, activate, rollback, drop, and purge."""

import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Annotated, Any

import typer

from ingest.rebuild import RebuildService
from ingest.services import sentence_options
from umg_search.cli.commands import AsJson, opened, progress_bar
from umg_search.cli.output import complain, out, print_json
from umg_search.model import IndexSet, IngestReport, Outcome, StoredSet
from umg_search.ports import Engine
from umg_search.settings import Settings, load_settings
from umg_search.store.admin import DAY, TOMBSTONE_DAYS, Coverage, Sets
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer
from umg_search.wiring import encoders_of, new_set

Version = Annotated[int, typer.Argument(help="Version of a set, as `umg index list` shows it.", show_default=False)]

index_app = typer.Typer(name="index", help="Build, activate, roll back and drop index sets.")


@index_app.command("list")
def list_sets(*, as_json: AsJson = False) -> int:
    """List the index sets, their roles and models, and what each has of the documents."""
    with opened(load_settings()) as engine:
        sets = Sets(engine)
        stored = sets.every()
        coverage = sets.coverage()
    rows = [(each, coverage[each.index.label]) for each in stored]
    if as_json:
        print_json({"sets": [_set_json(*row) for row in rows]})
    else:
        _print_sets(rows)
    return 0


@index_app.command()
def rebuild(*, as_json: AsJson = False) -> int:
    """Build a set with the present settings beside the active one, from the stored text; searches do not notice."""
    settings = load_settings()
    with opened(settings) as engine:
        active = Reader(engine).active_set()  # before any model is loaded
        spec, _ = new_set(settings)
        if spec == active.spec:
            complain(
                f"The settings are those of the active set {active.label}: the new set will differ from it in lengths "
                "of sentences, shards or mapping at most."
            )
        service = _service(engine, settings)
        index, coverage = service.begin(spec)
        tally = _Tally(index, "rebuild", documents=coverage.gap)
        tally.follow(service.fill(index))
        left = Sets(engine).coverage()[index.label]
    code = tally.conclude(as_json=as_json)
    if left.gap:
        complain(f"Index set {index.label} lacks {left.gap} of {left.current + left.gap} documents.")
    if not as_json:
        out.print(f"Next: umg index activate {index.version}")
    return code


@index_app.command()
def activate(version: Version, *, as_json: AsJson = False) -> int:
    """Build what a set still lacks, then let all searches use it, in one step; running services follow."""
    settings = load_settings()
    with opened(settings) as engine:
        index = Sets(engine).find(version).index
        tally = _Tally(index, "activate")
        tally.follow(_service(engine, settings).activate(index))
    return tally.conclude(as_json=as_json)


@index_app.command()
def rollback(*, as_json: AsJson = False) -> int:
    """Activate the set that was active before; what changed since is built in it first."""
    settings = load_settings()
    with opened(settings) as engine:
        index, reports = _service(engine, settings).rollback()
        tally = _Tally(index, "rollback")
        tally.follow(reports)
    return tally.conclude(as_json=as_json)


@index_app.command()
def drop(version: Version) -> int:
    """Delete a set that is not active, after 2 seconds, in which running services leave it; its disk is free then."""
    settings = load_settings()
    with opened(settings) as engine:
        _service(engine, settings).drop(version)
    out.print(f"Set v{version} is dropped.")
    return 0


def purge(
    *,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, help="Age in days from which tombstones of deleted documents go.")
    ] = TOMBSTONE_DAYS,
) -> int:
    """Delete replaced text whose grace is over, and what is remembered of deleted documents."""
    settings = load_settings()
    with opened(settings) as engine:
        index = Reader(engine).active_set()
        swept = Writer(engine, grace=settings.grace_s).sweep(index)
        purged = Sets(engine, grace=settings.grace_s).purge(days=older_than)
    out.print(f"{swept} documents swept, {purged} tombstones purged.")
    if older_than * DAY < settings.grace_s:
        out.print(f"Tombstones younger than the grace of {settings.grace_s:.0f} s (UMG_GRACE_S) are kept.")
    return 0


class _Tally:
    """Counts the reports of a build and names what failed, as it comes."""

    def __init__(self, index: IndexSet, what: str, *, documents: int | None = None) -> None:
        self._index = index
        self._what = what
        self._documents = documents
        self._counts: Counter[Outcome] = Counter()
        self._chunks = 0
        self._started = time.perf_counter()

    def follow(self, reports: Generator[IngestReport, None, None]) -> None:
        with progress_bar() as bar, closing(reports):  # whatever happens here, the lease is given back
            task = bar.add_task(self._what, total=self._documents)
            for report in reports:
                bar.advance(task)
                self._counts[report.outcome] += 1
                self._chunks += report.chunks
                if report.outcome is Outcome.FAILED:
                    complain(f"{report.document_id}: {report.reason}")

    def conclude(self, *, as_json: bool) -> int:
        """Print the summary and return the exit code."""
        seconds = time.perf_counter() - self._started
        failed = self._counts[Outcome.FAILED]
        built = self._counts.total() - failed
        if as_json:
            documents = {"built": built, "failed": failed}
            facts = {"chunks": self._chunks, "seconds": round(seconds, 1)}
            print_json({"set": self._index.label, "documents": documents, **facts})
        else:
            done = {"rebuild": "is built", "activate": "is active", "rollback": "is active again"}[self._what]
            out.print(
                f"Set {self._index.label} {done}: {built} documents built, {failed} failed; "
                f"{self._chunks} chunks, {seconds:.1f} s"
            )
        return 1 if failed else 0


def _service(engine: Engine, settings: Settings) -> RebuildService:
    return RebuildService(
        engine, encoders_of(settings), sentences=sentence_options(settings), batch_chars=settings.ingest_batch_chars
    )


def _set_json(stored: StoredSet, coverage: Coverage) -> dict[str, Any]:
    spec = stored.index.spec
    return {
        "set": stored.index.label,
        "version": stored.index.version,
        "role": stored.role.value,
        "experts": [expert.value for expert in spec.experts],
        "granularities": [int(granularity) for granularity in spec.granularities],
        "derived": [int(granularity) for granularity in spec.derived],
        "models": [model.name for model in (spec.dense, spec.sparse) if model],
        "headers": spec.headers.value,
        "prompts": {"query": spec.dense.query_prompt, "passage": spec.dense.passage_prompt} if spec.dense else {},
        "fields": {name: kind.value for name, kind in spec.fields},
        "access_control": spec.access_control,
        "documents": {"current": coverage.current, "outdated": coverage.outdated, "missing": coverage.missing},
    }


def _print_sets(rows: list[tuple[StoredSet, Coverage]]) -> None:
    for row in rows:
        facts = _set_json(*row)
        out.print(f"{facts['set']} {facts['role']}: {_named(facts['documents'])} documents", markup=False)
        lines = {
            "experts": _listed(facts["experts"]),
            "sentences": _listed(facts["granularities"]),
            **({"derived": _listed(facts["derived"])} if facts["derived"] else {}),
            "models": _listed(facts["models"]),
            "headers": facts["headers"],
            "prompts": _listed(f"{name} {prompt!r}" for name, prompt in facts["prompts"].items() if prompt),
            "fields": _listed(f"{name}:{kind}" for name, kind in facts["fields"].items()),
            "access control": "on" if facts["access_control"] else "off",
        }
        for name, value in lines.items():
            out.print(f"   {name}: {value}", markup=False)


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "none"


def _named(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
