"""A real engine with something in between: what another process does just before one of its calls."""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from umg_search.ports import Engine


class Interposed:
    """Hands every call on to an engine; `before` runs something once, just before the next call of an operation."""

    def __init__(self, engine: Engine) -> None:
        self.calls: list[str] = []
        self._engine = engine
        self._waiting: defaultdict[str, deque[Callable[[], object]]] = defaultdict(deque)

    def before(self, operation: str, act: Callable[[], object]) -> None:
        self._waiting[operation].append(act)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._engine, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            if self._waiting[name]:
                self._waiting[name].popleft()()
            return method(*args, **kwargs)

        return call
