"""Tokens of members for one machine: made by the database that runs here, and for nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import jwt
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.tenant_file import TenantFile
from signet.local.development_token import read_development_secret
from signet.local.member_token import read_member_token, write_operator_token
from signet.store.schema import server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a state folder in which Signet was started before."""
    read_development_secret(tmp_path)
    return tmp_path


def make(
    home: Path, tenant_id: UUID, url: str | None, person: str = "carl", environment: str = "local"
) -> str:
    return read_member_token(home, tenant_id, person, database_url=url, environment=environment)


def code_of(*arguments: Any, **more: Any) -> str:
    with pytest.raises(Rejected) as caught:
        make(*arguments, **more)
    return caught.value.code


def test_it_names_the_roles_of_now(home: Path, tenant: TenantFile, owner_url: str, admin: Any) -> None:
    def claims() -> dict[str, Any]:
        token = make(home, tenant.tenant_id, owner_url)
        read: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
        return read

    assert (claims()["sub"], claims()["tenant_id"]) == ("carl", str(tenant.tenant_id))
    assert claims()["roles"] == ["clerk"]
    admin.execute("DELETE FROM member_roles WHERE user_id = 'carl'")
    assert claims()["roles"] == []


def test_who_is_no_active_member_gets_none(
    home: Path, tenant: TenantFile, owner_url: str, admin: Any
) -> None:
    assert code_of(home, tenant.tenant_id, owner_url, "nobody") == "MEMBER_NOT_FOUND"
    admin.execute("UPDATE members SET status = 'disabled' WHERE user_id = 'carl'")
    assert code_of(home, tenant.tenant_id, owner_url) == "MEMBER_NOT_FOUND"


@pytest.mark.parametrize("environment", ["dev", "staging", "prod", ""])
def test_other_environments_get_none(
    home: Path, tenant: TenantFile, owner_url: str, environment: str
) -> None:
    assert code_of(home, tenant.tenant_id, owner_url, environment=environment) == "TOKEN_NOT_LOCAL"


def test_an_operator_is_held_to_the_same(home: Path, tenant: TenantFile, owner_url: str) -> None:
    token = write_operator_token(home, tenant.tenant_id, "otis", database_url=owner_url, environment="local")
    read = jwt.decode(token, options={"verify_signature": False})
    assert (read["sub"], read["roles"]) == ("otis", ["signet:operator"])
    for environment, url in (("prod", owner_url), ("local", None)):
        with pytest.raises(Rejected, match=r"nothing runs|for local environments only"):
            write_operator_token(home, tenant.tenant_id, "otis", database_url=url, environment=environment)


def test_where_nothing_was_started_there_is_none(tmp_path: Path, tenant: TenantFile, owner_url: str) -> None:
    assert code_of(tmp_path, tenant.tenant_id, owner_url) == "TOKEN_NOT_LOCAL"
    assert list(tmp_path.iterdir()) == []
    read_development_secret(tmp_path)
    assert code_of(tmp_path, tenant.tenant_id, None) == "TOKEN_NOT_LOCAL"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "", "10.1.2.3"])
def test_a_database_elsewhere_gets_none(
    home: Path, tenant: TenantFile, owner_url: str, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """Ask the connection, since a name in the URL may lead anywhere."""

    @contextmanager
    def connect(*_: Any, **__: Any) -> Iterator[Any]:
        yield SimpleNamespace(info=SimpleNamespace(hostaddr=address))

    monkeypatch.setattr(server, "connect", connect)
    assert server.is_on_loopback(owner_url) is (address != "10.1.2.3")
    if address == "10.1.2.3":
        assert code_of(home, tenant.tenant_id, owner_url) == "TOKEN_NOT_LOCAL"
