"""API keys as text, and the roles of a key that count."""

from uuid import UUID

import pytest

from signet.core.tenants.api_key import hash_secret, list_counting_roles, parse_key_token, write_key_token

TENANT, KEY = UUID(int=1), UUID(int=2)
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
TOKEN = f"signet_{TENANT.hex}_{KEY.hex}_{SECRET}"


def test_a_key_is_written_and_read() -> None:
    assert write_key_token(TENANT, KEY, bytes(range(32))) == TOKEN
    read = parse_key_token(TOKEN)
    assert read is not None
    assert (read.tenant_id, read.key_id, read.secret_hash) == (TENANT, KEY, hash_secret(SECRET))
    assert len(read.secret_hash) == 32 and SECRET.encode() not in read.secret_hash


@pytest.mark.parametrize(
    "token",
    [
        "",
        "signet_",
        TOKEN[:-1],
        TOKEN + "A",
        TOKEN + "\n",
        TOKEN.upper(),
        TOKEN.replace("signet", "Signet"),
        TOKEN[:-1] + "+",
        TOKEN[:-1] + "\ud800",
        f"signet_{TENANT}_{KEY}_{SECRET}",
    ],
    ids=range(10),
)
def test_what_is_no_key(token: str) -> None:
    assert parse_key_token(token) is None


def test_another_spelling_of_the_same_bytes_is_another_secret() -> None:
    assert hash_secret(SECRET) != hash_secret(SECRET[:-1] + "9")


@pytest.mark.parametrize(
    ("of_owner", "counting"),
    [
        (["invoice:create", "invoice:edit"], ("clerk", "empty")),
        (["invoice:create"], ("empty",)),
        (["invoice:*"], ("clerk", "empty")),
        (["*:*"], ("clerk", "all", "empty")),
        ([], ("empty",)),
    ],
)
def test_a_role_counts_while_the_owner_has_every_permission_of_it(
    of_owner: list[str], counting: tuple[str, ...]
) -> None:
    permissions = {"clerk": ["invoice:create", "invoice:edit"], "all": ["invoice:*", "*:*"], "empty": []}
    roles = ["clerk", "all", "gone", "empty"]
    assert list_counting_roles(roles, permissions, of_owner) == counting
