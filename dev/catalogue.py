"""The pinned servers, read from servers.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dev.errors import DevServerError

HERE = Path(__file__).parent
JAVA = HERE / "java"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server: what is fetched, how its launcher is compiled and what runs it."""

    name: str
    engine: str
    version: str
    jdk: int
    artifacts: tuple[str, ...]
    sources: tuple[str, ...]
    main: str
    jvm: tuple[str, ...]
    module: tuple[str, ...] = ()

    @property
    def checksums(self) -> Path:
        """The file with the SHA-256 of every file that Maven must bring."""
        return HERE / "checksums" / f"{self.name}.sha256"

    def java_files(self) -> list[Path]:
        """Return the Java sources of the launcher, sorted."""
        return _files_below(self.sources, "*.java")

    def module_files(self) -> list[Path]:
        """Return the Java sources of our own module, sorted; none where the server has none."""
        return _files_below(self.module, "*.java")


@cache
def catalogue() -> dict[str, ServerSpec]:
    """Return every pinned server by name, in the order of the file."""
    tables = tomllib.loads((HERE / "servers.toml").read_text(encoding="utf-8"))
    return {name: _spec(name, table) for name, table in tables.items()}


def spec_of(name: str) -> ServerSpec:
    """Return the pinned server of this name."""
    try:
        return catalogue()[name]
    except KeyError:
        raise DevServerError(f"no server named {name!r}: known are {', '.join(catalogue())}") from None


def _spec(name: str, table: dict[str, object]) -> ServerSpec:
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return ServerSpec(name=name, **fields)  # type: ignore[arg-type]  # the shape of the file is ours


def _files_below(folders: tuple[str, ...], pattern: str) -> list[Path]:
    return sorted(file for folder in folders for file in (JAVA / folder).rglob(pattern))
