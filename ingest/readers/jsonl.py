"""Documents as JSON lines: `id` and `text`, and if wanted `title`, `metadata`, `acl` and `collection`."""

import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from ingest.readers.outcomes import NotReadable, Unreadable, printable
from ingest.sentences import stored_text
from umg_search.model import Document

MOST_NESTED = 100
"""Depth of metadata; orjson writes 254 levels at most, and other engines differ."""

_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")


def is_jsonl(path: Path) -> bool:
    """Tell whether a file holds JSON lines, by its name."""
    return path.name.lower().endswith(_ENDINGS)


def read_jsonl(path: Path, collection: str, tell: Callable[[int], None]) -> Iterator[Document | Unreadable]:
    """Yield a document a line, or why a line gives none; blank lines are passed over. The file is never held whole.

    Lines end with a line feed and with nothing else: a text may hold U+2028.
    """
    number = told = 0
    try:
        with path.open("rb") as file:
            lines = gzip.GzipFile(fileobj=file) if path.name.lower().endswith(".gz") else file
            for number, line in enumerate(cast("IO[bytes]", lines), start=1):
                position = file.tell()
                if position > told:
                    tell(position - told)
                    told = position
                if line.strip():
                    yield _document(line, path, number, collection)
        if not number:
            yield _unreadable(path, 1, "the file is empty")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        yield _unreadable(path, number + 1, "the compressed file is broken or cut off here")
    except OSError as error:
        yield _unreadable(path, number + 1, f"cannot be read ({error.strerror})")


def _document(line: bytes, path: Path, number: int, collection: str) -> Document | Unreadable:
    fields: Mapping[str, Any] = {}
    try:
        fields = _fields(line)
        return _checked(fields, collection)
    except NotReadable as error:
        name = fields.get("id")
        return _unreadable(path, number, str(error), name if isinstance(name, str) else "")


def _fields(line: bytes) -> Mapping[str, Any]:
    try:
        # json and not orjson, which refuses a whole line for one lone surrogate
        fields = json.loads(line.decode("utf-8-sig").rstrip("\r\n"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise NotReadable(f"byte {error.start + 1} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise NotReadable(f"not JSON ({error.msg} at character {error.pos + 1})") from error
    except (ValueError, RecursionError) as error:
        raise NotReadable(f"not JSON that can be kept ({error})") from error
    if not isinstance(fields, dict):
        raise NotReadable('not an object like {"id": ..., "text": ...}')
    return cast("Mapping[str, Any]", _sound(fields))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _sound(value: Any, depth: int = 0) -> Any:
    """Return a JSON value whose strings can be stored; NotReadable for what an engine cannot keep as it is."""
    if isinstance(value, str):
        return stored_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise NotReadable("a number is too large for a float")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise NotReadable("a whole number has more than 64 bits: write it as a string")
    if isinstance(value, list | dict) and depth >= MOST_NESTED:
        raise NotReadable(f"values are nested more than {MOST_NESTED} deep")
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {stored_text(key): _sound(item, depth + 1) for key, item in value.items()}
    return value


def _checked(fields: Mapping[str, Any], collection: str) -> Document:
    for name in ("id", "text"):
        if name not in fields:
            raise NotReadable(f"`{name}` is missing")
        if not isinstance(fields[name], str):
            raise NotReadable(f"`{name}` is not a string but {_kind(fields[name])}")
        if not fields[name].strip():
            raise NotReadable(f"`{name}` is empty")
    return Document(
        id=fields["id"],
        text=fields["text"],
        title=_optional(fields, "title", str) or "",
        collection=_optional(fields, "collection", str) or collection,
        metadata=_optional(fields, "metadata", dict) or {},
        acl=_acl(fields),
    )


def _optional(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    value = fields.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise NotReadable(f"`{name}` is not {_NAMES[kind]} but {_kind(value)}")


def _acl(fields: Mapping[str, Any]) -> tuple[str, ...]:
    principals = _optional(fields, "acl", list) or []
    wrong = next((value for value in principals if not isinstance(value, str) or not value), None)
    if wrong is not None:
        raise NotReadable(f"`acl` holds {wrong!r}, which is no principal (a string)")
    return tuple(principals)


_NAMES = {str: "a string", dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}


def _kind(value: Any) -> str:
    return _NAMES.get(type(value), "a number")


def _unreadable(path: Path, number: int, problem: str, id: str = "") -> Unreadable:
    where = f"{printable(path)}, line {number}"
    return Unreadable(id or f"{stored_text(path.name)}:{number}", printable(path), f"{where}: {problem}.")
