"""Finding a JDK of the right major version, and Maven."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dev.errors import MissingToolError


@cache
def jdk_home(major: int) -> Path:
    """Return the home of a JDK (with javac) of this major version."""
    for home in _candidates(major):
        if (home / "bin" / "javac").exists() and _major_of(home) == major:
            return home
    raise MissingToolError(
        f"no JDK {major} found: install one (for example Temurin {major}) or set JAVA{major}_HOME to its folder"
    )


def maven() -> str:
    """Return the path of the Maven command."""
    command = shutil.which("mvn")
    if command is None:
        raise MissingToolError(
            "Maven not found: install it (the package is usually called maven) so that mvn is on the PATH"
        )
    return command


def _candidates(major: int) -> Iterator[Path]:
    for variable in (f"JAVA{major}_HOME", "JAVA_HOME"):
        if home := os.environ.get(variable):
            yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    yield from sorted(Path("/usr/lib/jvm").glob("*"))
    # Where macOS keeps its JDKs.
    yield from sorted(Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home"))


def _major_of(home: Path) -> int | None:
    try:
        run = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r'version "(\d+)', run.stderr + run.stdout)
    return int(found[1]) if found else None
