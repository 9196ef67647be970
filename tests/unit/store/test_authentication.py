"""Headers, AWS credentials, and the sentences for what a server refuses."""

import builtins
import logging
from pathlib import Path

import pytest

from umg_search.errors import ConfigurationError, MissingExtra
from umg_search.settings import Settings
from umg_search.store.authentication import authentication_of

WHERE = "https://host:443"


def settings(**values: object) -> Settings:
    return Settings(engine=WHERE, **values)  # type: ignore[arg-type] - forwarded keywords


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("values", "header"),
    [
        ({"user": "ü", "password": "a:b"}, "Basic w7w6YTpi"),  # base64 of the UTF-8 of `ü:a:b`
        ({"api_key": "abc="}, "ApiKey abc="),
        ({"bearer_token": "x.y"}, "Bearer x.y"),
        ({}, None),
    ],
)
def test_headers(values: dict[str, str], header: str | None) -> None:
    found = authentication_of(settings(**values))
    assert found.headers.get("authorization") == header
    assert header is None or header.split()[1] not in repr(found)


def test_signatures_without_botocore_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("botocore"):
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type] - forwarded as they are

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"UMG_AWS_REGION.*umg-search\[aws\]"):
        authentication_of(settings(aws_region="eu-west-1"))


@pytest.mark.usefixtures("no_credentials")
def test_signatures_without_credentials_say_where_they_come_from() -> None:
    with pytest.raises(ConfigurationError, match=r"there are no AWS credentials: set AWS_ACCESS_KEY_ID"):
        authentication_of(settings(aws_region="eu-west-1"))


@pytest.mark.usefixtures("no_credentials")
def test_a_profile_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(ConfigurationError, match=r"AWS credentials cannot be read.*nobody"):
        authentication_of(settings(aws_region="eu-west-1"))


@pytest.mark.usefixtures("no_credentials")
def test_a_session_token_does_not_reach_the_debug_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in (("ACCESS_KEY_ID", "AKID"), ("SECRET_ACCESS_KEY", "geheim"), ("SESSION_TOKEN", "kurzgeheim")):
        monkeypatch.setenv(f"AWS_{name}", value)
    logging.getLogger("botocore").setLevel(logging.NOTSET)
    with caplog.at_level(logging.DEBUG):
        signer = authentication_of(settings(aws_region="eu-west-1")).signer
        assert signer is not None
        headers = signer("GET", f"{WHERE}/", None)
    assert headers["X-Amz-Security-Token"] == "kurzgeheim"
    assert "eu-west-1/es/aws4_request" in headers["Authorization"]
    assert "geheim" not in caplog.text


def test_a_refusal_names_the_setting_that_was_used() -> None:
    key = authentication_of(settings(api_key="abc"))
    assert "check UMG_API_KEY" in str(key.refused(WHERE, 401, "why"))
    assert "why): give whom UMG_API_KEY stands for a role" in str(key.refused(WHERE, 403, "why"))
    assert "none is set" in str(authentication_of(settings()).refused(WHERE, 401, "why"))


@pytest.mark.usefixtures("no_credentials")
def test_aws_repeats_the_token_in_its_reason_so_that_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim")
    message = str(authentication_of(settings(aws_region="eu-west-1")).refused(WHERE, 403, "x-amz-security-token:kurz"))
    assert "kurz" not in message
    assert "clock" in message
