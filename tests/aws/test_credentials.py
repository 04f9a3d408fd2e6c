"""Credentials of a container: read once, and again shortly before they end."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from signet.aws.credentials import FetchedCredentials
from signet.aws_settings import CredentialsPlace
from signet.core.errors import Transient
from tests.aws.speaking import NOW, Speaker, speaking


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with speaking() as made:
        yield made


def answer(key_id: str, ends_at: datetime) -> dict[str, str]:
    ends = ends_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"AccessKeyId": key_id, "SecretAccessKey": "secret", "Token": "token", "Expiration": ends}


def test_they_are_kept_until_shortly_before_they_end(speaker: Speaker) -> None:
    speaker.say(answer("ONE", NOW + timedelta(hours=1)), answer("TWO", NOW + timedelta(hours=2)))
    moment = [NOW]
    fetched = FetchedCredentials(CredentialsPlace(f"{speaker.url}/creds", "the token"), lambda: moment[0])
    assert fetched().key_id == "ONE"
    moment[0] = NOW + timedelta(minutes=54)
    assert fetched().key_id == "ONE"
    moment[0] = NOW + timedelta(minutes=55)
    assert fetched().key_id == "TWO"
    assert [(one.path, one.headers["authorization"]) for one in speaker.heard] == [
        ("/creds", "the token")
    ] * 2


@pytest.mark.parametrize(
    "said",
    [(500, b"{}"), (200, b"no"), (200, b"{}"), (200, b"[]"), None],
    ids=["500", "text", "empty", "list", "cut"],
)
def test_what_cannot_be_read_is_none(speaker: Speaker, said: tuple[int, bytes] | None) -> None:
    speaker.answers = [said]
    fetched = FetchedCredentials(CredentialsPlace(speaker.url, None), lambda: NOW)
    with pytest.raises(Transient) as caught:
        fetched()
    assert caught.value.code == "CREDENTIALS_UNAVAILABLE"


def test_new_ones_that_are_late_are_nobodys_trouble_while_the_old_ones_hold(speaker: Speaker) -> None:
    ends_at = NOW + timedelta(hours=1)
    speaker.answers = [(200, json.dumps(answer("ONE", ends_at)).encode()), (500, b"")]
    moment = [NOW]
    fetched = FetchedCredentials(CredentialsPlace(speaker.url, None), lambda: moment[0])
    assert fetched().key_id == "ONE"
    moment[0] = ends_at - timedelta(minutes=1)
    assert fetched().key_id == "ONE"
    moment[0] = ends_at
    with pytest.raises(Transient):
        fetched()
