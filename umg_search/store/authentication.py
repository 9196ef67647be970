"""How requests say who sends them: a header or a signature, and what to correct where a server refuses it."""

import logging
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import opensearchpy

from umg_search.errors import ConfigurationError, EngineError, MissingExtra
from umg_search.settings import Settings, plain

ROLES = "docs/security.md"
"""Where the privileges are written that readers and writers need."""

_UNKNOWN = 401


class Signer(Protocol):
    """What signs a request as it goes out, after compression."""

    def __call__(self, method: str, url: str, body: bytes | None) -> Mapping[str, str]:
        """Return the headers that the request needs besides its own."""
        ...


@dataclass(frozen=True, slots=True)
class Authentication:
    """One way to authenticate: the settings it comes from, and a header or a signer, or neither."""

    settings: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    signer: Signer | None = field(default=None, repr=False)

    def refused(self, where: str, status: int, reason: str) -> EngineError:
        """Return the error for an answer 401 or 403; a reason is told only where it cannot repeat what we sent."""
        if self.signer:
            return EngineError(
                f"{where} refuses the AWS signature or the identity behind it (HTTP {status}): check {self.settings}, "
                f"this machine's clock, and the domain's access policy ({ROLES})."
            )
        if status == _UNKNOWN:
            return EngineError(f"{where} refuses these credentials (HTTP {status}): check {self.settings}.")
        return EngineError(
            f"{where} forbids a request (HTTP {status}, {reason}): give whom {self.settings} stands for "
            f"a role of {ROLES}."
        )


def authentication_of(settings: Settings) -> Authentication:
    """Return the one way that the settings choose; MissingExtra or ConfigurationError where AWS is not at hand."""
    if settings.user:
        pair = f"{settings.user}:{plain(settings.password)}".encode()  # UTF-8; the clients disagree about that
        return _header("UMG_USER and UMG_PASSWORD (or those in UMG_ENGINE)", "Basic", b64encode(pair))
    if key := plain(settings.api_key):
        return _header("UMG_API_KEY", "ApiKey", key.encode())
    if token := plain(settings.bearer_token):
        return _header("UMG_BEARER_TOKEN", "Bearer", token.encode())
    if settings.aws_region:
        signer = _aws_signer(settings.aws_region, settings.aws_service)
        return Authentication("UMG_AWS_REGION and the AWS credentials", signer=signer)
    if settings.client_cert:
        return Authentication("UMG_CLIENT_CERT, or set UMG_USER, UMG_API_KEY, UMG_BEARER_TOKEN or UMG_AWS_REGION")
    return Authentication("UMG_USER, UMG_API_KEY, UMG_BEARER_TOKEN or UMG_AWS_REGION, of which none is set")


def _header(settings: str, scheme: str, value: bytes) -> Authentication:
    return Authentication(settings, {"authorization": f"{scheme} {value.decode('ascii')}"})


def _aws_signer(region: str, service: str) -> Signer:
    try:
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
        from botocore.session import Session  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra(
            "Signatures for UMG_AWS_REGION need botocore: install it with `pip install 'umg-search[aws]'`."
        ) from error
    _keep_quiet("botocore")
    try:
        credentials = Session().get_credentials()
    except BotoCoreError as error:
        raise ConfigurationError(f"The AWS credentials cannot be read ({error}): correct them.") from error
    if credentials is None:
        raise ConfigurationError(
            "UMG_AWS_REGION is set and there are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
            "or AWS_PROFILE, or give this machine a role."
        )
    sign = opensearchpy.Urllib3AWSV4SignerAuth(credentials, region, service)

    def signed(method: str, url: str, body: bytes | None) -> Mapping[str, str]:
        try:
            headers: dict[str, Any] = sign(method, url, body)
        except BotoCoreError as error:  # credentials that expire are fetched again here
            raise ConfigurationError(f"The AWS credentials cannot be renewed ({error}): correct them.") from error
        return headers

    return signed


def _keep_quiet(name: str) -> None:
    """Keep a library's DEBUG lines out of logs unless the application chose a level: they hold session tokens."""
    logger = logging.getLogger(name)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
