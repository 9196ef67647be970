"""Duplicates: selections with one and the same text, in one document or in several, are one passage."""

import unicodedata
from collections.abc import Mapping, Sequence

from umg_search.model import Selected, Shared


def identical(items: Sequence[Selected], texts: Mapping[Selected, str], known: Sequence[Shared]) -> tuple[Shared, ...]:
    """Return the passages that stand in several places: those known before, with new copies, and new ones.

    `items` come best first, and the best of equal ones stands for all, with its own score: without its copies in the
    lists all other masses would grow by one factor, so the order is that of a text that stands once. Their sum would
    lift what is repeated most. One without a text is equal to none.
    """
    copies = {shared.item: shared.copies for shared in known}
    places: dict[str, list[Selected]] = {}
    for item in items:
        if item in texts:
            places.setdefault(normal(texts[item]), []).extend((item, *copies.get(item, ())))
    return tuple(Shared(head, tuple(others)) for head, *others in places.values() if others)


def normal(text: str) -> str:
    """Return a text as it is compared: canonical composition (NFC), white space as single blanks.

    Compatibility forms and capitals stay different: under NFKC "10²" would be "102", and of two texts that differ in
    meaning only one would be shown.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())
