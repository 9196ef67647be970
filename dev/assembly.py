"""Putting a server together: fetched jars, modules and the compiled launcher."""

import hashlib
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dev.cache import cache_folder, exclusive
from dev.catalogue import JAVA, ServerSpec
from dev.errors import DevServerError
from dev.fetch import fetch
from dev.jdk import jdk_home

NETTY = "transport-netty4"
# What Elasticsearch wants in the class loader of its transport module, not on the class path.
NETTY_JARS = ("netty-*.jar", f"{NETTY}-*.jar", "elasticsearch-ssl-config-*.jar")
DESCRIPTOR = "plugin-descriptor.properties"


@dataclass(frozen=True, slots=True)
class Assembly:
    """A server that is ready to run: its jars and, compiled for them, our launcher and modules."""

    jars: Path
    launcher: Path

    @property
    def class_path(self) -> str:
        """The class path of a node."""
        return ":".join([str(self.launcher / "classes"), f"{self.jars}/lib/*", f"{self.jars}/plugin/*"])

    def modules(self) -> list[Path]:
        """Return the modules that Elasticsearch loads at start; OpenSearch has none."""
        return [*self.jars.glob("modules/*"), *self.launcher.glob("modules/*")]


def assemble(spec: ServerSpec) -> Assembly:
    """Fetch and compile what is not in the cache yet, and return where it lies."""
    with exclusive(f"assemble-{spec.name}"):
        jars = _once(spec, "jars", [spec.checksums], lambda folder: _bring(spec, folder))
        sources = [*spec.java_files(), *spec.module_files()]
        launcher = _once(spec, "launcher", sources, lambda folder: _build(spec, jars, folder))
    return Assembly(jars, launcher)


def _once(spec: ServerSpec, part: str, inputs: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """Make a folder unless one made from the same inputs is there; a half-made one is never seen under its name."""
    target = cache_folder() / spec.name / f"{part}-{_fingerprint(spec, inputs)}"
    if target.exists():
        return target
    partial = target.with_name(f"{part}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    make(partial)
    return partial.rename(target)


def _fingerprint(spec: ServerSpec, inputs: Iterable[Path]) -> str:
    digest = hashlib.sha256(repr(spec).encode())
    for path in inputs:
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()[:12]


def _bring(spec: ServerSpec, folder: Path) -> None:
    lib = folder / "lib"
    fetch(spec, lib)
    for archive in lib.glob("*.zip"):
        _unpack_plugin(archive, folder / "plugin")
    if spec.engine == "elasticsearch":
        _make_netty_module(lib, folder / "modules" / NETTY)


def _unpack_plugin(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder, [name for name in packed.namelist() if name.endswith(".jar")])
    archive.unlink()


def _make_netty_module(lib: Path, module: Path) -> None:
    module.mkdir(parents=True)
    for jar in [jar for pattern in NETTY_JARS for jar in lib.glob(pattern)]:
        jar.rename(module / jar.name)
    with zipfile.ZipFile(next(module.glob(f"{NETTY}-*.jar"))) as packed:
        descriptor = packed.read(f"META-INF/es-plugins/{NETTY}/{DESCRIPTOR}").decode()
    # A named module can't see the server, whose jars are on the class path here and therefore in the unnamed module.
    lines = ["modulename=" if line.startswith("modulename=") else line for line in descriptor.splitlines()]
    (module / DESCRIPTOR).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _build(spec: ServerSpec, jars: Path, folder: Path) -> None:
    class_path = f"{jars}/lib/*:{jars}/plugin/*"
    _compile(spec, class_path, spec.java_files(), folder / "classes")
    if spec.module:
        _make_own_module(spec, class_path, folder / "modules" / spec.module[0])


def _make_own_module(spec: ServerSpec, class_path: str, module: Path) -> None:
    classes = module.parent.parent / "module-classes"
    _compile(spec, class_path, spec.module_files(), classes)
    module.mkdir(parents=True)
    with zipfile.ZipFile(module / f"{module.name}.jar", "w") as jar:
        for file in sorted(classes.rglob("*.class")):
            jar.write(file, file.relative_to(classes))
    template = (JAVA / module.name / DESCRIPTOR).read_text(encoding="utf-8")
    filled = template.replace("@version@", spec.version).replace("@jdk@", str(spec.jdk))
    (module / DESCRIPTOR).write_text(filled, encoding="utf-8")


def _compile(spec: ServerSpec, class_path: str, files: list[Path], target: Path) -> None:
    javac = jdk_home(spec.jdk) / "bin" / "javac"
    command: list[str | Path] = [javac, "-nowarn", "-d", target, "-cp", class_path, *files]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise DevServerError(f"the launcher of {spec.name} does not compile:\n{run.stderr}")
