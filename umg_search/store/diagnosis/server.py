"""All checks of Elasticsearch and OpenSearch, in the order of their report."""

from collections.abc import Iterator
from importlib.metadata import version
from time import time

from umg_search.errors import EngineError
from umg_search.model import Finding, SetSpec, Verdict
from umg_search.store.client import Connection
from umg_search.store.diagnosis import capacity, contents, layout, software
from umg_search.store.diagnosis.facts import ServerFacts, gather
from umg_search.store.diagnosis.layout import Layout
from umg_search.store.dialect import ELASTICSEARCH
from umg_search.store.names import Names


def diagnose(server: Connection, names: Names, wanted: SetSpec | None, analyzer: str) -> Iterator[Finding]:
    """Check a server and the indices under a prefix.

    `wanted` is the specification that a new set would have (None: not known), `analyzer` its analyser
    (empty: it has no lexical expert).
    """
    facts = gather(server, names, wanted, analyzer)
    yield from _server(server, facts, analyzer)
    if facts.indices.why:
        yield software.unknown("index set", facts.indices)
        return
    yield from _indices(server, facts, Layout(names, facts.indices.body))


def _server(server: Connection, facts: ServerFacts, analyzer: str) -> Iterator[Finding]:
    dialect = server.dialect
    yield software.client(dialect, server.version, version(dialect.client))
    if dialect is ELASTICSEARCH:
        yield software.licence(facts.licence, time())
    else:
        yield software.knn_plugin(facts.nodes)
    yield software.field_types(facts.creation)
    if facts.analyzer is not None:
        yield software.analyzer(analyzer, facts.analyzer)
    yield software.rights(dialect, facts.rights)
    yield capacity.clock(facts.stats, facts.asked, facts.answered)
    yield capacity.disk(facts.stats, facts.settings)
    yield capacity.clauses(dialect, facts.settings)


def _indices(server: Connection, facts: ServerFacts, found: Layout) -> Iterator[Finding]:
    try:
        index = found.active()
    except EngineError as error:
        yield Finding("index set", Verdict.ERROR, str(error).rstrip("."))
        return
    if index is None:
        yield layout.text_alias(found)
    else:
        yield Finding("index set", Verdict.OK, f"{index.label}: {', '.join(index.spec.experts)}")
        yield from layout.aliases(found, index)
        drift = contents.drifted(server.dialect, found, index)
        yield from contents.mapping(drift)
        yield from contents.vectors(server.dialect, found, index, drift)
    yield from layout.shards(facts.health, found)
    yield from layout.blocks(found)
    yield from layout.leftovers(found, index)
