"""Certificates: one context for both clients, and a sentence for each way in which a handshake fails."""

import ssl
from collections.abc import Iterator

import certifi

from umg_search.errors import EngineError, SettingsError
from umg_search.settings import Settings, plain

_NOT_YET_VALID, _EXPIRED = 9, 10
_OTHER_NAME = frozenset({62, 64})
"""OpenSSL's numbers: another host name, another address."""

_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL"})
"""OpenSSL's words for a server that speaks plain HTTP at this port."""

_CERTIFICATE_WANTED = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")
"""Ends of OpenSSL's words for a server that was shown no certificate; TLS 1.2 has no word of its own for that."""


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Return a context that checks certificate and host name, always; SettingsError for files that do not serve."""
    if settings.ca_certs:
        try:
            context = ssl.create_default_context(cafile=settings.ca_certs)
        except OSError as error:  # ssl.SSLError is one
            raise SettingsError(
                f"UMG_CA_CERTS names {str(settings.ca_certs)!r}, which holds no readable PEM certificate ({error})."
            ) from error
    else:
        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())  # some systems have no authorities of their own
    if settings.client_cert:
        _show_certificate(context, settings)
    return context


def tls_failure(error: BaseException, where: str) -> EngineError | None:
    """Return what a failed handshake means, or None where something else failed."""
    cause = next((each for each in _causes(error) if isinstance(each, ssl.SSLError)), None)
    if cause is None:
        return None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return EngineError(_untrusted(cause, where))
    reason = cause.reason or str(cause)
    if reason in _NO_TLS:
        return EngineError(
            f"{where} does not speak TLS at this port: write http:// in UMG_ENGINE, or correct the port."
        )
    if reason.endswith(_CERTIFICATE_WANTED):
        return EngineError(f"{where} wants a client certificate ({reason}): set UMG_CLIENT_CERT and UMG_CLIENT_KEY.")
    if "ALERT" in reason:
        return EngineError(
            f"{where} refuses the client certificate or the TLS version ({reason}): check UMG_CLIENT_CERT."
        )
    return EngineError(f"No TLS connection to {where} ({reason}): check UMG_ENGINE and what stands before the engine.")


def _show_certificate(context: ssl.SSLContext, settings: Settings) -> None:
    # A function, since without any password OpenSSL would ask for one at the terminal.
    password = lambda: plain(settings.client_key_password)  # noqa: E731 - see above
    try:
        context.load_cert_chain(str(settings.client_cert), settings.client_key, password)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"UMG_CLIENT_CERT ({str(settings.client_cert)!r}) and its key cannot be used ({error}): give PEM files "
            "that belong together, and UMG_CLIENT_KEY_PASSWORD where the key is encrypted."
        ) from error


def _untrusted(cause: ssl.SSLCertVerificationError, where: str) -> str:
    if cause.verify_code in _OTHER_NAME:
        return f"The certificate of {where} is for another name: write the name it is for in UMG_ENGINE."
    if cause.verify_code in {_NOT_YET_VALID, _EXPIRED}:
        return f"The certificate of {where} has expired or is not yet valid: renew it, or check this machine's clock."
    return (
        f"The certificate of {where} is not from a trusted authority ({cause.verify_message}): "
        "put the authority's certificate into the file that UMG_CA_CERTS names."
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, in the order of happening backwards."""
    each: BaseException | None = error
    while each is not None:
        yield each
        yield from (part for part in each.args if isinstance(part, ssl.SSLError))
        each = each.__cause__ or each.__context__
