"""The command line: `umg ingest`, `search`, `text`, `status`, `delete`, `purge`, `index`, `doctor`, `evaluate`."""

from umg_search.cli.main import app, main

__all__ = ["app", "main"]
