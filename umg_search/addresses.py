"""Addresses of a cluster: one node or several, user and password in them, Elastic Cloud ids."""

import re
from base64 import b64decode
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

CLOUD = "cloud:"
"""What an Elastic Cloud id is marked with."""

_PORTS = {"http": 9200, "https": 443}
"""Ports where an address names none. The two clients differ in this, so they are always told."""


class Credentials(NamedTuple):
    """User and password, decoded."""

    user: str
    password: str


def is_server(engine: str) -> bool:
    """Tell whether an engine is named by addresses or a cloud id."""
    return engine.startswith((CLOUD, "http://", "https://"))


def nodes_of(engine: str) -> tuple[str, ...]:
    """Return the address of each node, with its port; ValueError where one cannot be read.

    Addresses are separated by commas, and each begins with its scheme, so that a comma in a password separates nothing.
    """
    if engine.startswith(CLOUD):
        return (_cloud_address(engine.removeprefix(CLOUD)),)
    nodes = tuple(_with_port(_checked(address)) for address in _addresses(engine))
    if len({urlsplit(node).scheme for node in nodes}) > 1:
        raise ValueError("the nodes of one cluster are all at http:// or all at https://")
    return nodes


def without_credentials(engine: str) -> tuple[str, Credentials | None]:
    """Return addresses without user and password, and these; ValueError where two addresses differ in them."""
    parts = [_checked(address) for address in _addresses(engine)]
    found = {Credentials(unquote(p.username or ""), unquote(p.password or "")) for p in parts if "@" in p.netloc}
    if len(found) > 1:
        raise ValueError("the addresses name different users or passwords, and one cluster is asked as one user")
    bare = [urlunsplit(p._replace(netloc=p.netloc.rpartition("@")[2])) for p in parts]
    return ",".join(bare), next(iter(found), None)


def check_broker(address: str) -> None:
    """Raise ValueError, which shows nothing of it, where an address is not one of a Redis."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in {"redis", "rediss"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known or not re.fullmatch(r"/?\d*", parts.path) or parts.fragment or "@" in parts.query:
        raise ValueError(
            "a broker is redis://[USER:PASSWORD@]HOST[:PORT][/NUMBER], or rediss:// with TLS; "
            "in user and password, write #, / and the like as %23, %2F"
        )


def hidden(text: str) -> str:
    """Return a text without what may be user and password of an address.

    Up to the last @, and without a scheme too: `elastic:secret@host` is what a mistyped engine looks like.
    """
    return re.sub(r"(//|^).*@", r"\1***@", text, count=1, flags=re.DOTALL)


def _addresses(engine: str) -> list[str]:
    return re.split(r"\s*,\s*(?=https?://)", engine)


def _checked(address: str) -> SplitResult:
    """Return the parts of an address; a password with `/`, `?` or `#` in it makes one that clients cannot read."""
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        sound = bool(parts.hostname) and parts.port != 0 and not host.startswith(".")
        sound = sound and not re.search(r"\s", address) and not re.search(r"[,@]", host + parts.path)
        sound = sound and not parts.query and not parts.fragment
    except ValueError:
        sound = False
    if not sound:
        raise ValueError(
            "the address is not like https://user:password@host:9200; "
            "write special characters of user and password in per cent encoding (/ as %2F)"
        )
    return parts


def _with_port(parts: SplitResult) -> str:
    if parts.port is not None:
        return urlunsplit(parts)
    return urlunsplit(parts._replace(netloc=f"{parts.netloc.rstrip(':')}:{_PORTS[parts.scheme]}"))


def _cloud_address(cloud_id: str) -> str:
    """Return the address in a cloud id: NAME:base64 of `host[:port]$elasticsearch$kibana`."""
    try:
        decoded = b64decode(cloud_id.rpartition(":")[2], validate=True).decode("ascii")
    except ValueError:
        decoded = ""
    found = re.match(r"(?P<host>[\w.-]+)(?P<port>:\d+)?\$(?P<cluster>[\w.-]+)(\$|$)", decoded)
    if found is None:
        raise ValueError(f"this is no Elastic Cloud id; copy it from the deployment's page, after `{CLOUD}`")
    return _with_port(_checked(f"https://{found['cluster']}.{found['host']}{found['port'] or ''}"))
