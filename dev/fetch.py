"""Fetching the files of a server with Maven, and checking them."""

import hashlib
import os
import subprocess
from pathlib import Path
from xml.sax.saxutils import escape

from dev.catalogue import ServerSpec
from dev.errors import ChecksumError, DevServerError
from dev.jdk import jdk_home, maven

# Pinned, since Maven would otherwise take whichever version it finds newest.
DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


def fetch(spec: ServerSpec, folder: Path) -> None:
    """Put every jar and zip of the server into the folder and check them against the repository's checksums."""
    download(spec, folder)
    verify(spec, folder)


def download(spec: ServerSpec, folder: Path) -> None:
    """Put every jar and zip of the server into the folder, unchecked."""
    folder.mkdir(parents=True)
    pom = folder.parent / "pom.xml"
    pom.write_text(pom_of(spec), encoding="utf-8")
    goal = f"{DEPENDENCY_PLUGIN}:copy-dependencies"
    command = [maven(), "-q", "-B", "-f", str(pom), goal, f"-DoutputDirectory={folder}"]
    # Maven itself needs a Java, and where none is on the PATH it is told of the one that we found.
    environment = {"JAVA_HOME": str(jdk_home(spec.jdk)), **os.environ}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if run.returncode != 0:
        output = "\n".join((run.stdout + run.stderr).splitlines()[-15:])
        raise DevServerError(f"Maven could not fetch {spec.name}:\n{output}")


def pom_of(spec: ServerSpec) -> str:
    """Return a Maven project whose only purpose is its dependencies."""
    dependencies = "\n".join(f"    {_dependency(artifact)}" for artifact in spec.artifacts)
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>umg-search.dev</groupId>
  <artifactId>{escape(spec.name)}</artifactId>
  <version>{escape(spec.version)}</version>
  <packaging>pom</packaging>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""


def verify(spec: ServerSpec, folder: Path) -> None:
    """Compare the files of the folder with the repository's checksums; every difference is named."""
    known, found = _read_checksums(spec.checksums), digests(folder)
    problems = [
        *(f"{name} is missing" for name in sorted(known.keys() - found.keys())),
        *(f"{name} is not known" for name in sorted(found.keys() - known.keys())),
        *(f"{name} has another content" for name in sorted(known.keys() & found.keys()) if known[name] != found[name]),
    ]
    if problems:
        raise ChecksumError(f"{spec.name} differs from {spec.checksums.name}: {'; '.join(problems)}")


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in the folder by its name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def write_checksums(spec: ServerSpec, found: dict[str, str]) -> None:
    """Record the digests in the form that `sha256sum --check` reads."""
    spec.checksums.parent.mkdir(exist_ok=True)
    lines = [f"{digest}  {name}\n" for name, digest in sorted(found.items())]
    spec.checksums.write_text("".join(lines), encoding="utf-8")


def _read_checksums(path: Path) -> dict[str, str]:
    if not path.exists():
        raise ChecksumError(
            f"no checksums at {path.name}: write them with `python -m dev.servers checksums {path.stem}`"
        )
    pairs = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: digest for digest, name in pairs}


def _dependency(artifact: str) -> str:
    group, name, version, *rest = (escape(part) for part in artifact.split(":"))
    kind = f"<type>{rest[0]}</type>" if rest else ""
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version>{kind}</dependency>"
    )
