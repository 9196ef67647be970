"""The verifier against the signatures that AWS publishes in its test suite, and against changed requests."""

from datetime import UTC, datetime, timedelta

import pytest

from dev.sigv4 import Verifier

# "get-vanilla" and "get-vanilla-query-order-key-case" of the Signature Version 4 test suite.
SUITE = Verifier("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "service")
NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
VANILLA = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
QUERY = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"


def headers(
    signature: str, *, scope: str = "20150830/us-east-1/service", names: str = "host;x-amz-date"
) -> dict[str, str]:
    credential = f"AKIDEXAMPLE/{scope}/aws4_request"
    return {
        "host": "example.amazonaws.com",
        "x-amz-date": "20150830T123600Z",
        "authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}",
    }


def test_published_signatures_are_accepted() -> None:
    assert SUITE.fault("GET", "/", headers(VANILLA), b"", NOW) == ""
    assert SUITE.fault("GET", "/?Param2=value2&Param1=value1", headers(QUERY), b"", NOW) == ""


@pytest.mark.parametrize(
    ("method", "target", "body", "fault"),
    [
        ("POST", "/", b"", "another signature"),
        ("GET", "/x", b"", "another signature"),
        ("GET", "/?a=b", b"", "another signature"),
        ("GET", "/", b"x", "another signature"),
    ],
)
def test_a_changed_request_is_refused(method: str, target: str, body: bytes, fault: str) -> None:
    assert SUITE.fault(method, target, headers(VANILLA), body, NOW) == fault


def test_another_secret_scope_or_time_is_refused() -> None:
    stolen = Verifier("AKIDEXAMPLE", "guessed", "us-east-1", "service")
    assert stolen.fault("GET", "/", headers(VANILLA), b"", NOW) == "another signature"
    elsewhere = headers(VANILLA, scope="20150830/eu-west-1/service")
    assert SUITE.fault("GET", "/", elsewhere, b"", NOW) == "another key, day, region or service"
    for late in (timedelta(minutes=6), timedelta(minutes=-6)):
        assert SUITE.fault("GET", "/", headers(VANILLA), b"", NOW + late) == "too old or too new"


def test_what_must_be_signed_must_be_signed() -> None:
    fault = "a header that must be signed is not"
    assert SUITE.fault("GET", "/", headers(VANILLA, names="host"), b"", NOW) == fault
    assert SUITE.fault("GET", "/", {**headers(VANILLA), "x-amz-security-token": "t"}, b"", NOW) == fault
    assert SUITE.fault("GET", "/", {"host": "example.amazonaws.com"}, b"", NOW) == "no signature"


def test_the_hash_that_a_client_names_must_be_that_of_the_body() -> None:
    names = "host;x-amz-content-sha256;x-amz-date"
    lying = {**headers(VANILLA, names=names), "x-amz-content-sha256": "0" * 64}
    assert SUITE.fault("GET", "/", lying, b"x", NOW) == "another body than the one that was signed"
