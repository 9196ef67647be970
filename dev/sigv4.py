"""Verification of AWS signatures, version 4, as a server does it: from the request as it arrived.

Written from "Signature Version 4 for API requests" in AWS's IAM documentation, and independent of what signs.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote

ALGORITHM = "AWS4-HMAC-SHA256"
SKEW = timedelta(minutes=5)
"""How far the time of a request may be from the server's."""

_HEADER = re.compile(rf"{ALGORITHM} Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{{64}})")
_UNRESERVED = "-_.~"


@dataclass(frozen=True, slots=True)
class Verifier:
    """Knows one access key with its secret, and what it may be used for."""

    access_key: str
    secret_key: str
    region: str
    service: str = "es"

    def fault(self, method: str, target: str, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
        """Return what is wrong with a request, or nothing; `headers` have names in lower case."""
        found = _HEADER.fullmatch(headers.get("authorization", ""))
        if found is None:
            return "no signature"
        credential, names, signature = found[1], found[2].split(";"), found[3]
        time = headers.get("x-amz-date", "")
        scope = f"{time[:8]}/{self.region}/{self.service}/aws4_request"
        if credential != f"{self.access_key}/{scope}":
            return "another key, day, region or service"
        if abs(now - datetime.strptime(time, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)) > SKEW:
            return "too old or too new"
        if not {"host", *(name for name in headers if name.startswith("x-amz-"))} <= set(names):
            return "a header that must be signed is not"
        if headers.get("x-amz-content-sha256", _hash(body)) != _hash(body):
            return "another body than the one that was signed"
        canonical = _canonical(method, target, headers, names, body)
        expected = _signature(self._key(time[:8]), "\n".join([ALGORITHM, time, scope, _hash(canonical.encode())]))
        return "" if hmac.compare_digest(expected, signature) else "another signature"

    def _key(self, day: str) -> bytes:
        key = f"AWS4{self.secret_key}".encode()
        for part in (day, self.region, self.service, "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        return key


def now() -> datetime:
    """Return the time that requests are measured by."""
    return datetime.now(tz=UTC)


def _canonical(method: str, target: str, headers: Mapping[str, str], names: list[str], body: bytes) -> str:
    path, _, query = target.partition("?")
    lines = [f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in names]
    # The path is encoded once more than on the wire: every service but S3 does so.
    encoded_path = quote(path, safe=f"/{_UNRESERVED}")
    return "\n".join([method, encoded_path, _query(query), "".join(lines), ";".join(names), _hash(body)])


def _query(query: str) -> str:
    pairs = [part.partition("=") for part in query.split("&") if part]
    encoded = sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded)


def _encoded(text: str) -> str:
    return quote(unquote(text), safe=_UNRESERVED)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _signature(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), "sha256").hexdigest()
