"""The processes of asynchronous ingestion: worker and sweeper."""

from typing import Annotated

import typer

from umg_search.settings import load_settings


def worker(
    *,
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, help="Children that work at once; each loads the models for itself.")
    ] = 1,
) -> int:
    """Work on what was submitted, until SIGTERM or Ctrl-C."""
    from tasks.worker import run_worker  # noqa: PLC0415 - other commands need no Celery

    return run_worker(load_settings(), concurrency=concurrency)


def sweeper(
    *,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    every: Annotated[
        float | None, typer.Option(min=1, help="Seconds from one look to the next.", show_default=False)
    ] = None,
) -> int:
    """Find what is stuck, again and again: documents of dead workers, and messages that Redis lost."""
    from tasks.sweeper import run_sweeper, sweep_once  # noqa: PLC0415 - as above

    settings = load_settings()
    if once:
        sweep_once(settings)
    else:
        run_sweeper(settings, every=settings.lease_s / 2 if every is None else every)
    return 0
