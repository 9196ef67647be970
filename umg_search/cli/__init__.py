"""The command line: `umg ingest`, `search`, `text`, `status`, `delete`, `purge`, `index`, `doctor`."""

from umg_search.cli.main import app, main

__all__ = ["app", "main"]
