"""What commands print: results on standard output, progress and complaints on standard error."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from umg_search.model import ChannelReport, Context, SearchResult, Source, TopHit
from umg_search.store.reader import Status

_WIDEST = 1_000
"""Columns that no table needs."""


class _Console(Console):
    """A console whose reader, such as `head`, may have seen enough."""

    def on_broken_pipe(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)

    def print_table(self, table: Table) -> None:
        """Print a table as wide as its cells are: a pipe counts as 80 columns, and names would be cut."""
        before = self._width
        self.width = max(self.width, self.measure(table, options=self.options.update(width=_WIDEST)).maximum)
        try:
            self.print(table, crop=False, no_wrap=True)
        finally:
            self._width = before


out = _Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def complain(message: str) -> None:
    """Print one sentence to standard error."""
    text = " ".join(message.split())
    err.print(f"umg: {text}" if text.endswith((".", "!", "?")) else f"umg: {text}.", markup=False)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    readable = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print_text(json.dumps(value, ensure_ascii=not readable, indent=2) + "\n")


def print_text(text: str) -> None:
    """Print a text exactly."""
    try:
        out.file.write(text)
        out.file.flush()
    except BrokenPipeError:
        out.on_broken_pipe()


def result_json(result: SearchResult, *, explain: bool) -> dict[str, Any]:
    """Return an answer as the JSON that `umg search --json` prints."""
    answer: dict[str, Any] = {
        "question": result.question,
        "answered": result.answered,
        "contexts": [_context_json(context, explain=explain) for context in result.contexts],
        "degraded": list(result.degraded),
        "warnings": list(result.warnings),
        "engine": asdict(result.engine),
        "timings_ms": {stage: round(value, 3) for stage, value in result.timings_ms.items()},
    }
    if result.cut:
        answer["cut"] = asdict(result.cut)
    if result.groups:
        answer["groups"] = [asdict(group) for group in result.groups]
    if explain:
        answer["channels"] = [_channel_json(report) for report in result.channels]
    return answer


def print_result(result: SearchResult) -> None:
    """Print an answer for a person."""
    for context in result.contexts:
        title = f"  {context.title}" if context.title else ""
        out.print(f"[bold]{escape(context.document_id)}[/bold]{escape(title)}")
        out.print(f"[dim]{_facts(context)}[/dim]")
        for source in context.sources[1:]:
            where = f"also in {source.document_id}, {_sentences(source)}"
            out.print(f"[dim]{escape(where)}[/dim]")
        out.print(escape(context.text))
        out.print()
    if not result.contexts:
        out.print("Nothing was found.")
    if result.answered is False:
        out.print("The documents do not seem to answer this question.")
    if result.cut:
        out.print(f"Cut by {result.cut.rule}: {result.cut.kept} of {result.cut.candidates} {result.cut.of} stay.")
    if result.channels:
        _print_channels(result)
    for name in result.degraded:
        complain(f"Channel {name} failed and the answer does without it.")
    for warning in result.warnings:
        complain(warning)


def print_status(status: Status) -> None:
    """Print counts and sizes for a person."""
    out.print(f"{status.engine.name} {status.engine.version} at {status.engine.where}", markup=False)
    counts = ", ".join(f"{count} {state.value}" for state, count in sorted(status.documents.items())) or "none"
    if status.index is None:
        out.print(f"No index set yet. Documents: {counts}")
        return
    spec = status.index.spec
    models = ", ".join(model.name for model in (spec.dense, spec.sparse) if model)
    out.print(f"Set {status.index.label}: {', '.join(spec.experts)}; {models or 'no model'}", markup=False)
    out.print(f"Documents: {counts}")
    table = Table("index", "entries", "MiB", box=None)
    for name, size in status.sizes.items():
        table.add_row(name, str(size.entries), f"{size.bytes / 2**20:.1f}")
    out.print(table)


def status_json(status: Status) -> dict[str, Any]:
    """Return counts and sizes as JSON."""
    return {
        "engine": asdict(status.engine),
        "set": status.index.label if status.index else None,
        "documents": {state.value: count for state, count in sorted(status.documents.items())},
        "indices": {name: asdict(size) for name, size in status.sizes.items()},
    }


def _context_json(context: Context, *, explain: bool) -> dict[str, Any]:
    values: dict[str, Any] = {field.name: getattr(context, field.name) for field in fields(context)}
    values["granularities"] = [int(granularity) for granularity in context.granularities]
    values["sources"] = [asdict(source) for source in context.sources]
    del values["channels"]
    return values | ({"channels": {str(c): mass for c, mass in context.channels.items()}} if explain else {})


def _channel_json(report: ChannelReport) -> dict[str, Any]:
    return {
        "expert": report.channel.expert.value,
        "granularity": int(report.channel.granularity),
        "derived": report.derived,
        "hits": report.hits,
        "entropy": report.entropy,
        "confidence": report.confidence,
        "weight": report.weight,
        "top": [asdict(hit) for hit in report.top],
    }


def _facts(context: Context) -> str:
    relevance = "" if context.relevance is None else f", relevance {context.relevance:.2f}"
    cut = ", cut to the budget" if context.truncated else ""
    return f"{_sentences(context)}, {context.tokens} tokens, score {context.score:.4f}{relevance}{cut}"


def _sentences(place: Context | Source | TopHit) -> str:
    """Return where something stands as people count: from 1, the last included; JSON counts from 0, as offsets do."""
    return f"sentences {place.first + 1} to {place.last}"


def _print_channels(result: SearchResult) -> None:
    table = Table("channel", "hits", "entropy", "confidence", "weight", "best hit", box=None)
    for report in result.channels:
        best = report.top[0] if report.top else None
        table.add_row(
            f"{report.channel}{', derived' if report.derived else ''}",
            str(report.hits),
            f"{report.entropy:.3f}",
            f"{report.confidence:.3f}",
            f"{report.weight:.3f}",
            escape(f"{best.document_id}, {_sentences(best)}: {best.score:.3f}") if best else "",
        )
    out.print(table)
