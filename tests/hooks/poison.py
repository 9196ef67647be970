"""An encoder that some texts are poison for: it raises, takes all memory, never ends, or dies.

Only processes that a test starts with POISON set are touched.
"""

import functools
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any


def _raise() -> None:
    raise ValueError("a shape that nobody expected")


def _memory() -> None:
    taken = []
    while True:
        taken.append(bytearray(64 * 2**20))


def _time() -> None:
    while True:
        time.sleep(0.1)


def _death() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


DOSES = {"poison of errors": _raise, "poison of memory": _memory, "poison of time": _time, "poison of death": _death}


def poisoned(encode: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method, with an effect where a text names one."""

    @functools.wraps(encode)
    def wrapped(self: Any, texts: Sequence[str]) -> Any:
        for words, effect in DOSES.items():
            if any(words in text for text in texts):
                effect()
        return encode(self, texts)

    return wrapped


def install() -> None:
    """Poison the dense encoder."""
    from umg_search.encoding.dense import SentenceTransformerDense  # noqa: PLC0415 - not in every Python process

    SentenceTransformerDense.encode_passages = poisoned(SentenceTransformerDense.encode_passages)  # type: ignore[method-assign]
