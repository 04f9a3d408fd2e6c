"""Owners of keys, by HTTP: what they have bounds the key, and who owned it stays behind it (notes A1)."""

from typing import Any

import psycopg
import pytest

from signet.api.auth import authentication
from signet.engine.tenants import api_keys
from signet.store.database import Database
from tests.support.api_keys import create_invoice, hire, make_key, use_key
from tests.support.company import make_company
from tests.support.http_client import Client

Admin = psycopg.Connection[Any]
CLERK = ("invoice:create", "invoice:edit", "invoice:submit")


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each call verify the key again."""
    monkeypatch.setattr(authentication, "KEEP_SECONDS", 0)


@pytest.fixture(autouse=True)
def owner(client: Client) -> None:
    """Give carl, who makes the keys, the roles of the token as a member too."""
    hire(client, "carl", "admin")


def test_the_key_of_a_disabled_owner_is_dead(client: Client, admin: Admin) -> None:
    kim = hire(client, "kim", "clerk", "admin")
    made = make_key(kim)
    machine = use_key(client, made["token"])
    assert machine.get("/v1/me").status == 200
    admin.execute("UPDATE members SET status = 'disabled' WHERE user_id = 'kim'")
    refused = machine.get("/v1/me")
    assert (refused.status, refused.code) == (401, "TOKEN_INVALID")
    shown = client.get(f"/v1/api_keys/{made['id']}").body
    assert (shown["owner_id"], shown["owner_is_active"], shown["counting_roles"]) == ("kim", False, [])
    hire(client, "kim", "clerk", "admin")
    assert machine.get("/v1/me").status == 200, "it comes back with its owner"
    admin.execute("ALTER TABLE members DISABLE TRIGGER ALL")
    admin.execute("DELETE FROM member_roles WHERE user_id = 'kim'")
    admin.execute("DELETE FROM members WHERE user_id = 'kim'")
    assert machine.get("/v1/me").code == "TOKEN_INVALID", "an owner who is no member is no better"


def test_a_role_of_a_key_counts_while_its_owner_covers_it(client: Client, admin: Admin) -> None:
    client.put("/v1/roles/maker", {"permissions": ["api_key:*"]})
    kim = hire(client, "kim", "clerk", "reader", "maker")
    made = make_key(kim, roles=["clerk", "reader"])
    machine = use_key(client, made["token"])
    assert machine.get("/v1/me").body["roles"] == ["clerk", "reader"]
    hire(client, "kim", "reader", "maker")
    me = machine.get("/v1/me").body
    assert (me["roles"], me["permissions"]) == (["reader"], ["invoice:read"])
    assert create_invoice(machine).code == "PERMISSION_DENIED"
    shown = kim.get("/v1/api_keys").body["items"][0]
    assert (shown["roles"], shown["counting_roles"]) == (["clerk", "reader"], ["reader"])
    client.put("/v1/roles/any_invoice", {"permissions": ["invoice:*"]})
    hire(client, "kim", "any_invoice", "maker")
    assert machine.get("/v1/me").body["roles"] == ["clerk", "reader"], "a wider permission covers more"
    client.put("/v1/roles/clerk", {"permissions": ["invoice:create", "member:read"]})
    assert machine.get("/v1/me").body["roles"] == ["reader"], "a role that grows may grow beyond its owner"


def test_a_key_gets_no_role_that_its_maker_has_by_a_token_alone(client: Client) -> None:
    kim = Client(client.application, client.tenant_id, "kim", ("admin",))
    refused = kim.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]})
    assert (refused.status, refused.code) == (409, "API_KEY_OWNER_INACTIVE")
    hire(client, "kim")
    refused = kim.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]})
    assert (refused.status, refused.code) == (403, "ROLE_BEYOND_OWN")
    hire(client, "kim", "clerk")
    assert kim.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]}).status == 201


def test_a_person_lists_the_keys_that_concern_them(client: Client) -> None:
    kim, olga = hire(client, "kim", "admin"), hire(client, "olga", "clerk")
    own, other = make_key(kim)["id"], make_key(kim)["id"]
    make_key(client)
    assert olga.get("/v1/api_keys").body["items"] == []
    for key_id in (own, other):
        assert kim.post(f"/v1/api_keys/{key_id}/owner", {"owner_id": "olga"}).status == 200
    assert olga.post(f"/v1/api_keys/{own}/owner/accept").status == 200
    first = olga.get("/v1/api_keys", query={"limit": "1"}).body
    second = olga.get("/v1/api_keys", query={"limit": "1", "cursor": first["next_cursor"]}).body
    listed = [(key["id"], key["owner_id"]) for page in (first, second) for key in page["items"]]
    assert listed == sorted([(own, "olga"), (other, "kim")])
    assert second["next_cursor"] is None


def test_a_key_changes_hands_when_the_new_owner_accepts(client: Client, admin: Admin) -> None:
    kim, olga = hire(client, "kim", "admin"), hire(client, "olga", "clerk")
    made = make_key(kim)
    place, machine = f"/v1/api_keys/{made['id']}", use_key(client, made["token"])
    assert olga.post(f"{place}/owner/accept").code == "API_KEY_NOT_FOUND", "nobody asked her"
    proposed = kim.post(f"{place}/owner", {"owner_id": "olga", "reason": "kim leaves"})
    assert proposed.status == 200, proposed.text
    assert (proposed.body["owner_id"], proposed.body["proposed_owner_id"]) == ("kim", "olga")
    assert machine.get("/v1/me").body["key"]["owner"] == "kim", "nothing changes until she accepts"
    assert olga.get(place).body["proposed_owner_id"] == "olga", "she may read what she is asked"
    (told,) = olga.get("/v1/notifications").body["items"]
    assert (told["kind"], told["data"]) == (
        "api_key_offered",
        {"key_id": made["id"], "name": "erp", "owner_id": "kim", "by": "kim"},
    )
    accepted = olga.post(f"{place}/owner/accept")
    assert accepted.status == 200, accepted.text
    assert (accepted.body["owner_id"], accepted.body["proposed_owner_id"]) == ("olga", None)
    assert machine.get("/v1/me").body["key"]["owner"] == "olga"
    assert olga.post(f"{place}/owner/accept").code == "PERMISSION_DENIED", "once is all"
    hire(client, "kim", "admin", status="disabled")
    assert machine.get("/v1/me").status == 200, "the key lives with its new owner"
    acts = admin.execute(
        "SELECT action, actor_id, content::jsonb -> 'detail', content::jsonb ->> 'reason' FROM audit_log"
        " WHERE subject_type = 'api_key' ORDER BY seq"
    ).fetchall()
    assert [(action, actor) for action, actor, _, _ in acts] == [
        ("create_api_key", "kim"),
        ("propose_api_key_owner", "kim"),
        ("accept_api_key", "olga"),
    ]
    assert acts[1][2:] == ({"name": "erp", "owner": "kim", "proposed_owner": "olga"}, "kim leaves")
    assert acts[2][2] == {"name": "erp", "owner_before": "kim", "owner": "olga", "by": "kim"}


def test_everybody_who_owned_a_key_stays_behind_it(client: Client, database: Database, admin: Admin) -> None:
    made = make_key(client)
    place, verify = f"/v1/api_keys/{made['id']}", api_keys.ApiKeys(database).verify
    assert verify(made["token"]).principal.responsible == {"carl"}
    for owner in ("kim", "olga", "carl"):
        taken = hire(client, owner, "admin")
        client.post(f"{place}/owner", {"owner_id": owner})
        assert taken.post(f"{place}/owner/accept").status == 200
    principal = verify(made["token"]).principal
    assert principal.behind == principal.responsible == {"carl", "kim", "olga"}
    kept = admin.execute("SELECT owner_id, by FROM api_key_owners ORDER BY since, owner_id").fetchall()
    assert kept == [("carl", "carl"), ("kim", "carl"), ("olga", "carl")]
    for statement in ("UPDATE api_key_owners SET owner_id = 'zoe'", "DELETE FROM api_key_owners"):
        with pytest.raises(psycopg.Error, match="written once"):
            admin.execute(statement)


def test_nobody_becomes_an_owner_without_being_asked(client: Client, admin: Admin) -> None:
    make_key(client)
    hire(client, "kim", "admin")
    with pytest.raises(psycopg.errors.RestrictViolation):
        admin.execute("UPDATE api_keys SET owner_id = 'kim'")
    with pytest.raises(psycopg.errors.RestrictViolation):
        admin.execute(
            "INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, owner_id, created_at)"
            " SELECT tenant_id, gen_random_uuid(), name, secret_hash, roles, 'carl', 'kim', now()"
            " FROM api_keys"
        )
    for machine in ("key:x", "service:x", "signet:system"):
        with pytest.raises(psycopg.errors.CheckViolation):
            admin.execute("UPDATE api_keys SET proposed_owner_id = %s, proposed_by = 'carl'", (machine,))


def test_who_may_give_a_key_away(client: Client, database: Database) -> None:
    client.put("/v1/roles/maker", {"permissions": ["api_key:*", *CLERK]})
    kim, olga = hire(client, "kim", "maker"), hire(client, "olga", "clerk")
    made = make_key(kim)
    place, ask = f"/v1/api_keys/{made['id']}", {"owner_id": "olga"}
    stranger = Client(client.application, make_company(database).tenant_id)
    for who in (olga, stranger):
        assert who.post(f"{place}/owner", ask).code == "API_KEY_NOT_FOUND"
        assert who.get(place).code == "API_KEY_NOT_FOUND"
        assert who.delete(f"{place}/owner").code == "API_KEY_NOT_FOUND"
    assert client.post(f"{place}/owner", ask).status == 200, "an administrator may"
    assert olga.post(f"{place}/owner", {"owner_id": "carl"}).code == "API_KEY_NOT_FOUND", "not hers yet"
    assert olga.delete(f"{place}/owner").status == 204, "she need not take it"
    assert olga.post(f"{place}/owner/accept").code == "API_KEY_NOT_FOUND"
    hire(client, "kim", "clerk")
    assert kim.post(f"{place}/owner", ask).status == 200, "an owner needs no permission for it"
    assert client.post(f"{place}/owner/accept").code == "PERMISSION_DENIED", "nobody accepts for another"


def test_a_key_neither_gives_nor_takes_a_key(client: Client) -> None:
    hire(client, "kim", "admin")
    made = make_key(client, roles=["admin"])
    machine, place = use_key(client, made["token"]), f"/v1/api_keys/{made['id']}"
    assert machine.get("/v1/api_keys").status == 200
    assert machine.post(f"{place}/owner", {"owner_id": "kim"}).code == "PERMISSION_DENIED"
    client.post(f"{place}/owner", {"owner_id": "kim"})
    assert machine.post(f"{place}/owner/accept").code == "PERMISSION_DENIED"
    assert machine.delete(f"{place}/owner").code == "PERMISSION_DENIED"


@pytest.mark.parametrize("owner_id", ["nobody", "carl", "key:erp", "service:erp", "", "gone"])
def test_an_owner_who_cannot_be_asked(client: Client, owner_id: str) -> None:
    hire(client, "gone", status="disabled")
    made = make_key(client)
    refused = client.post(f"/v1/api_keys/{made['id']}/owner", {"owner_id": owner_id})
    assert refused.status == 422, refused.text
    assert refused.places[0] == "/owner_id"


def test_a_key_that_has_ended_is_not_given_away(client: Client) -> None:
    hire(client, "kim", "admin")
    made = make_key(client)
    place = f"/v1/api_keys/{made['id']}"
    client.delete(place)
    refused = client.post(f"{place}/owner", {"owner_id": "kim"})
    assert (refused.status, refused.code) == (409, "API_KEY_ENDED")


def test_only_so_many_persons_ever_own_a_key(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_keys, "MAX_OWNERS", 2)
    made = make_key(client)
    place = f"/v1/api_keys/{made['id']}"
    kim = hire(client, "kim", "admin")
    client.post(f"{place}/owner", {"owner_id": "kim"})
    assert kim.post(f"{place}/owner/accept").status == 200
    hire(client, "olga", "admin")
    refused = kim.post(f"{place}/owner", {"owner_id": "olga"})
    assert (refused.status, refused.code) == (409, "API_KEY_OWNER_TOO_MANY")
    assert kim.post(f"{place}/owner", {"owner_id": "carl"}).status == 200, "carl is behind it anyway"
