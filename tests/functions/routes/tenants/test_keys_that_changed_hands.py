"""Keys just after they have changed hands: what they write is their new owner's too, at once."""

from typing import Any

import psycopg

from signet.api.auth import authentication
from tests.support.api_keys import create_invoice, hire, make_key, use_key
from tests.support.http_client import Client

Admin = psycopg.Connection[Any]


def test_a_key_that_was_used_a_moment_ago_writes_with_its_new_owner(client: Client, admin: Admin) -> None:
    """The key is in the memory of the process; its new owner must not approve what it creates now."""
    assert authentication.KEEP_SECONDS > 0
    hire(client, "carl", "admin")
    kim, olga = hire(client, "kim", "admin"), hire(client, "olga", "clerk")
    made = make_key(kim)
    place, machine = f"/v1/api_keys/{made['id']}", use_key(client, made["token"])
    assert machine.get("/v1/me").status == 200
    assert kim.post(f"{place}/owner", {"owner_id": "olga"}).status == 200
    assert olga.post(f"{place}/owner/accept").status == 200
    created = create_invoice(machine)
    assert created.status == 201, created.text
    query = "SELECT content::json -> 'responsible' FROM audit_log WHERE subject_type = 'document'"
    assert admin.execute(query).fetchall() == [(["kim", "olga"],)]


def test_a_revoked_key_writes_nothing(client: Client) -> None:
    hire(client, "carl", "admin")
    kim = hire(client, "kim", "admin")
    made = make_key(kim)
    machine = use_key(client, made["token"])
    assert create_invoice(machine).status == 201
    assert kim.delete(f"/v1/api_keys/{made['id']}").status == 204
    assert create_invoice(machine).code == "TOKEN_INVALID"
