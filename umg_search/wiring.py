"""Settings to engine and encoders: the only place where adapters are chosen."""

from pathlib import Path

from umg_search.ports import Engine
from umg_search.settings import Settings


def open_engine(settings: Settings) -> Engine:
    """Return the engine that the settings name, connected or opened."""
    kind, _, folder = settings.engine.partition(":")
    if kind == "embedded":
        from umg_search.store.embedded import EmbeddedEngine  # noqa: PLC0415 - a server's user needs no Qdrant loaded

        return EmbeddedEngine(Path(folder))
    from umg_search.store.server import ServerEngine  # noqa: PLC0415 - nor does the embedded one need two clients

    return ServerEngine(settings)
