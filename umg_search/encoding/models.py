"""Models: where a name leads, which device, one load a process, and loading errors in one sentence.

Nothing here touches a model, a hub or the environment at import; torch comes with the first model.
"""

import importlib
import importlib.util
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from umg_search.errors import ModelError, UmgError

AUTO = "auto"
"""Device setting: the first of CUDA, MPS and CPU that is there."""

PACKAGE = "package:"
"""Prefix of a model that lies in an installed Python package: `package:MODULE/PATH`."""

_HUB_SECONDS = 5.0
"""How long the hub may take to answer at all; without this check, loading retries every file for 23 seconds."""

_MODEL_LIBRARIES = frozenset(
    (
        *("builtins", "numpy", "torch", "transformers", "tokenizers", "safetensors", "safetensors_rust"),
        *("sentence_transformers", "huggingface_hub", "httpx", "httpx2", "requests"),
    )
)

_REMEDIES = (
    ("out of memory", "it does not fit into memory; choose a smaller model or another device"),
    ("gated", "its owner grants access on the hub only; ask for it there and set HF_TOKEN"),
    ("RepositoryNotFound", "the hub has no such model; correct the name, or set HF_TOKEN for a private one"),
    ("not a valid model identifier", "the hub has no such model; correct the name, or set HF_TOKEN for a private one"),
    ("trust_remote_code", "it needs program code of its own, which umg-search does not run; choose another model"),
    ("SafetensorError", "its weights are damaged; download them again (Git LFS pointers are no weights)"),
    ("no file named", "its folder has no weights (model.safetensors); download it again"),
    ("tokenizer", "its tokenizer is missing or broken; add tokenizer.json to its folder"),
)
"""What the text or type of a loading error holds, and how to say it."""

_MISSING = re.compile(r"^([\w.{}, -]+)\|[^\w|]*(?:\[\d+m)?MISSING", re.MULTILINE)
"""A line of transformers' report on loading: a weight that the files lack. Colours may stand before the word."""

_LOADING = threading.Lock()
"""Transformers patches torch's initialisers while it loads, so that two loads in two threads break each other."""

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value made on first use, once a process, whichever thread asks first; a failure is not kept.

    A value made before a fork is refused in the child (ModelError): OpenMP and CUDA hang or fail there.
    """

    def __init__(self, name: str, make: Callable[[], T]) -> None:
        self._name = name
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[int, T] | None = None

    def get(self) -> T:
        """Return the value, made now if nobody asked before."""
        made = self._made
        if made is None:
            with self._lock:
                made = self._made = self._made or (os.getpid(), self._make())
        pid, value = made
        if pid != os.getpid():
            raise ModelError(
                f"model {self._name!r} was loaded before this process was forked and cannot be used in it; "
                "load models in the worker process itself"
            )
        return value


@dataclass(frozen=True, slots=True)
class Location:
    """Where a model is: a folder, or else a name on the model hub."""

    name: str
    folder: Path | None

    @property
    def target(self) -> str:
        """What model libraries call it."""
        return str(self.folder) if self.folder else self.name


def locate(name: str) -> Location:
    """Return where `name` leads: `package:MODULE/PATH`, a local folder, or a name on the hub (not asked here).

    Raises ModelError for a package or folder that does not exist and for a folder that holds no model.
    """
    if not name.strip():
        raise ModelError(f"model {name!r} is no name; give a folder, a hub name or package:MODULE/PATH")
    if name.startswith(PACKAGE):
        return Location(name, _with_config(name, _in_package(name)))
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Location(name, _with_config(name, folder))
    if folder.exists():
        raise ModelError(f"model {name!r} is a file; give the folder that holds the model")
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise ModelError(f"model {name!r}: there is no such folder; give a folder, a hub name or package:MODULE/PATH")
    return Location(name, None)


def _in_package(name: str) -> Path:
    module, _, path = name.removeprefix(PACKAGE).partition("/")
    top, *inner = module.split(".")
    # A name without dots is found without importing anything; what lies deeper is a path below it.
    spec = importlib.util.find_spec(top) if top.isidentifier() else None
    if spec is None:
        raise ModelError(f"model {name!r}: no Python package {top!r} is installed; install it or give a folder")
    for root in spec.submodule_search_locations or ():
        folder = Path(root, *inner, path)
        if folder.is_dir():
            return folder
    raise ModelError(
        f"model {name!r}: the package {top!r} has no folder {'/'.join([*inner, path])!r}; correct the path"
    )


def _with_config(name: str, folder: Path) -> Path:
    if not any((folder / file).is_file() for file in ("modules.json", "config.json")):
        raise ModelError(
            f"model {name!r}: the folder {str(folder)!r} holds neither modules.json nor config.json; "
            "give the folder of a sentence-transformers or transformers model"
        )
    return folder


def load(name: str, device: str, kind: str) -> Any:
    """Load sentence-transformers' class `kind` for inference: float32 on CPU, half precision on an accelerator.

    Raises ModelError: one sentence with the name, the reason and the remedy.
    """
    location = locate(name)
    try:
        # Not `from sentence_transformers import ...`: the class is an argument.
        library = importlib.import_module("sentence_transformers")
        with _LOADING, _quiet() as notes:
            place = choose_device(device)
            offline = bool(location.folder) or not hub_answers()
            model = getattr(library, kind)(location.target, device=place, local_files_only=offline)
        _refuse_random_weights(name, notes)
        return _for_inference(model)
    except Exception as error:
        if isinstance(error, UmgError) or not is_model_fault(error):
            raise
        raise ModelError(f"model {name!r} cannot be loaded: {_reason(location, error)}") from error


def is_model_fault(error: Exception) -> bool:
    """Say whether an exception comes out of a model: raised by Python or a model library.

    Others (a task queue's time limit, say) stop the work whatever model it is, and a NameError is a fault of ours.
    """
    return not isinstance(error, NameError) and type(error).__module__.partition(".")[0] in _MODEL_LIBRARIES


def choose_device(wanted: str) -> str:
    """Return a torch device name; `auto` is the first of cuda, mps and cpu that is there.

    Raises ModelError for a device that does not exist here.
    """
    import torch  # noqa: PLC0415 - seconds of import time, spent when a model is first needed

    available = [name for name, there in (("cuda", torch.cuda), ("mps", torch.mps)) if there.is_available()]
    available.append("cpu")
    if wanted == AUTO:
        return available[0]
    if wanted.partition(":")[0] not in available:
        raise ModelError(f"device {wanted!r} does not exist on this machine; choose auto or {' or '.join(available)}")
    return wanted


def hub_answers() -> bool:
    """Say whether the model hub can be reached; False at once where the hub libraries are set to offline."""
    from huggingface_hub import constants, get_session  # noqa: PLC0415 - comes with the model libraries

    try:
        get_session().head(constants.ENDPOINT, timeout=_HUB_SECONDS)
    except Exception:  # noqa: BLE001 - the HTTP library differs between versions; any failure means: not reachable
        return False
    return True


def _for_inference(model: Any) -> Any:
    import torch  # noqa: PLC0415

    if model.device.type == "cpu":
        model.float()  # weights stored in half precision are slow or unsupported on a CPU
    elif model.dtype == torch.float32:
        model.half()  # twice the speed; models stored as bfloat16 stay so, since float16 overflows in some of them
    return model.eval()


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Hold back progress bars and notes on standard error while a model is read; yield transformers' notes."""
    bars: Any = importlib.import_module("transformers.utils.logging")  # its functions have no types
    notes: list[str] = []
    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers")]
    before = [(logger, logger.handlers, logger.level, logger.propagate) for logger in loggers]
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()  # the hub's as well
    for logger in loggers:
        logger.handlers, logger.propagate = [_Collector(notes)], False
        logger.setLevel(logging.WARNING)
    try:
        yield notes
    finally:
        for logger, handlers, level, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)
        if shown:
            bars.enable_progress_bar()


class _Collector(logging.Handler):
    """Keeps messages in a list."""

    def __init__(self, notes: list[str]) -> None:
        super().__init__()
        self._notes = notes

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self._notes.append(record.getMessage())


def _refuse_random_weights(name: str, notes: list[str]) -> None:
    """Refuse a model of which transformers says, in a note only, that it filled in random weights.

    A pooler is the exception: sentence-transformers pools by itself, and many models leave it out.
    """
    missing = [found for note in notes for found in _MISSING.findall(note) if not found.startswith("pooler.")]
    if missing:
        raise ModelError(
            f"model {name!r} lacks weights ({missing[0].strip()}{' and others' if len(missing) > 1 else ''}), "
            "which would be random; download it again or choose another model"
        )


def _reason(location: Location, error: Exception) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, MemoryError):
        return _REMEDIES[0][1]
    if location.folder is None and isinstance(error, OSError) and not hub_answers():
        return (
            "it is not in this machine's cache and the model hub cannot be reached; "
            "give a local folder or package:MODULE/PATH, or download it first"
        )
    for sign, remedy in _REMEDIES:
        if sign in text:
            return remedy
    return f"{text.splitlines()[0].rstrip('.')}; check that its files are complete"
