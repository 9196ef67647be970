"""A process that is killed before one of its calls to the outside: from then on none of its calls gets through."""

from typing import Any


class Killed(BaseException):
    """What ends the dead process's stack; no handler of errors stops it."""


class Life:
    """Calls that a process has left, None for no end; `calls` are those that it made, `end` is what all others meet."""

    def __init__(self, calls: int | None = None, *, end: type[BaseException] = Killed) -> None:
        self.left = calls
        self.end = end
        self.calls: list[str] = []

    def spend(self, name: str) -> None:
        if self.left is not None:
            if self.left <= 0:
                raise self.end(name)
            self.left -= 1
        self.calls.append(name)


class Mortal:
    """Hands calls on to a real thing while its process lives."""

    def __init__(self, thing: Any, life: Life) -> None:
        self._thing = thing
        self._life = life

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._thing, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self._life.spend(name)
            return method(*args, **kwargs)

        return call
