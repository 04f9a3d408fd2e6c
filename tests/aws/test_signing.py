"""Signatures that equal the SDK's to the byte."""

from datetime import UTC, datetime
from typing import Any

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as SdkCredentials
from botocore.session import Session
from hypothesis import given
from hypothesis import strategies as st

from signet.aws.database_tokens import make_database_token
from signet.aws.signing import Credentials, SignatureScope, sign
from tests.aws.speaking import CREDENTIALS, NOW

TEXT = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)


@pytest.fixture
def _same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: NOW.replace(tzinfo=None))


def sign_by_sdk(given: Credentials, region: str, headers: dict[str, str], body: bytes) -> Any:
    request = AWSRequest("POST", "https://sqs.eu-central-1.amazonaws.com/", headers, body)
    sdk = SdkCredentials(given.key_id, given.secret, given.token)
    botocore.auth.SigV4Auth(sdk, "sqs", region).add_auth(request)
    return request.headers["Authorization"]


def sign_here(given: Credentials, region: str, headers: dict[str, str], body: bytes) -> str:
    host = "sqs.eu-central-1.amazonaws.com"
    return sign(given, SignatureScope(region, "sqs", NOW), host, "/", headers, body)["authorization"]


@given(
    key_id=TEXT, secret=TEXT, token=st.none() | TEXT, region=TEXT, body=st.binary(max_size=200), value=TEXT
)
def test_a_request_is_signed_as_the_sdk_signs_it(
    key_id: str, secret: str, token: str | None, region: str, body: bytes, value: str
) -> None:
    headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": f"AmazonSQS.{value}"}
    credentials = Credentials(key_id, secret, token)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(botocore.auth, "get_current_datetime", lambda: NOW.replace(tzinfo=None))
        expected = sign_by_sdk(credentials, region, headers, body)
    assert sign_here(credentials, region, headers, body) == expected


@pytest.mark.usefixtures("_same_moment")
@pytest.mark.parametrize("token", [None, "a/session+token=="])
def test_a_database_token_is_the_one_that_the_sdk_makes(token: str | None) -> None:
    session = Session()
    session.set_credentials(CREDENTIALS.key_id, CREDENTIALS.secret, token)
    client = session.create_client("rds", "eu-central-1")
    expected = client.generate_db_auth_token("db.example.com", 5432, "signet_api", "eu-central-1")
    made = make_database_token(
        "postgresql://signet_api@db.example.com/signet?sslmode=verify-full",
        "eu-central-1",
        lambda: Credentials(CREDENTIALS.key_id, CREDENTIALS.secret, token),
        lambda: NOW,
    )
    # The SDK keeps the given order; the database accepts any.
    assert sorted(made.split("&")[:-1]) != []
    assert _read(made) == _read(expected)


def _read(token: str) -> tuple[str, list[str]]:
    host, _, query = token.partition("/?")
    return host, sorted(query.split("&"))


def test_no_secret_is_shown() -> None:
    shown = repr(CREDENTIALS)
    assert CREDENTIALS.secret not in shown
    assert str(CREDENTIALS.token) not in shown


def test_a_moment_is_written_in_utc() -> None:
    assert SignatureScope("r", "s", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).moment == "20260102T030405Z"
