"""What to look at where nothing was found: names of collections and fields that were mistyped, perhaps."""

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches

from umg_search.model import SetSpec, fields_of
from umg_search.ports import Scope

MOST_COLLECTIONS = 10_000
"""Collections that are looked through; where there are more, none is said to be missing."""

_NAMED = 5


def hints(scope: Scope, spec: SetSpec, collections: Callable[[int], Sequence[str]]) -> Iterator[str]:
    """Yield what may be wrong with a scope that nothing was found in.

    With access control no collection is named and none said to be missing: that there is one may be a secret.
    """
    if scope.collections and spec.access_control:
        asked = ", ".join(map(repr, scope.collections))
        yield f"Nothing that may be read was found in {asked}: check the names of collections, and the principals."
    elif scope.collections:
        there = collections(MOST_COLLECTIONS)
        missing = [name for name in scope.collections if name not in there] if len(there) < MOST_COLLECTIONS else []
        for name in missing:
            yield f"There is no document in collection {name!r}: {_nearest(name, there, 'there are')}."
    declared = [name for name, _ in spec.fields]
    for name in [] if scope.filter is None else fields_of(scope.filter):
        if name not in declared:
            yield (
                f"The filter's field {name!r} is not declared, so it finds documents with exactly such metadata: "
                f"{_nearest(name, declared, 'declared are')}."
            )


def _nearest(name: str, names: Sequence[str], found: str) -> str:
    """Return the most similar names, else the first."""
    nearest = get_close_matches(name, names, _NAMED) or names[:_NAMED]
    if not nearest:
        return f"{found} none"
    more = f" and {len(names) - len(nearest)} more" if len(names) > len(nearest) else ""
    return f"{found} {', '.join(map(repr, nearest))}{more}"
