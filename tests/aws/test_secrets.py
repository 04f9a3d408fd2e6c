"""Tenants' secrets in Secrets Manager: below the tenant's own path, and cached."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from signet.aws.calls import CallFailed
from signet.aws.secrets import KEPT_SECONDS, SecretsManager
from tests.aws.speaking import Speaker, speaking

TENANT = UUID(int=7)


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with speaking() as made:
        yield made


def test_a_secret_is_read_once_for_a_while(speaker: Speaker) -> None:
    speaker.say({"SecretString": " whsec_one\n"}, {"SecretString": "whsec_two"})
    now = [0.0]
    secrets = SecretsManager(speaker.calls("secretsmanager"), "signet/dev", lambda: now[0])
    assert [secrets(TENANT, "erp") for _ in range(2)] == ["whsec_one", "whsec_one"]
    now[0] = KEPT_SECONDS
    assert secrets(TENANT, "erp") == "whsec_two"
    assert [one.body for one in speaker.heard] == [{"SecretId": f"signet/dev/{TENANT}/erp"}] * 2
    assert speaker.heard[0].headers["x-amz-target"] == "secretsmanager.GetSecretValue"


@pytest.mark.parametrize("name", ["../other", "a/b", "", "A", "a" * 64, "a b"])
def test_a_name_leads_nowhere_else(speaker: Speaker, name: str) -> None:
    secrets = SecretsManager(speaker.calls("secretsmanager"), "signet/dev")
    assert secrets(TENANT, name) is None
    assert speaker.heard == []


@pytest.mark.parametrize("reason", ["ResourceNotFoundException", "InvalidRequestException"])
def test_none_is_an_answer_and_is_kept(speaker: Speaker, reason: str) -> None:
    speaker.say({"__type": reason}, status=400)
    secrets = SecretsManager(speaker.calls("secretsmanager"), "signet/dev")
    assert [secrets(TENANT, "erp") for _ in range(2)] == [None, None]
    assert len(speaker.heard) == 1


def test_a_failure_is_not_taken_for_none(speaker: Speaker) -> None:
    """Raise an error, so that the caller tries again: an unreadable secret is not a missing one."""
    speaker.say({"__type": "InternalServiceError"}, status=500)
    secrets = SecretsManager(speaker.calls("secretsmanager"), "signet/dev")
    with pytest.raises(CallFailed):
        secrets(TENANT, "erp")


def test_a_binary_secret_is_none(speaker: Speaker) -> None:
    speaker.say({"SecretBinary": "AAAA"})
    assert SecretsManager(speaker.calls("secretsmanager"), "signet/dev")(TENANT, "erp") is None
