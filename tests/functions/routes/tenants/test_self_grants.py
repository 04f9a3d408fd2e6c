"""People who would give themselves a vote: each scene ends in a refusal, with a lawful way beside it."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.store.database import Database
from tests.support.api_application import OPERATOR
from tests.support.company import Company, make_company
from tests.support.http_client import Client

Admin = psycopg.Connection[Any]
ROLES = {
    "accountant": ["invoice:read"],
    "hr": ["member:edit", "member:read", "invoice:read", "org_chart:edit"],
    "roles": ["role:edit", "role:read", "member:edit"],
    "broad": ["*:edit", "*:read"],
    "approver": ["invoice:approve", "invoice:read"],
}
PEOPLE = {
    "hank": ["hr"],
    "hana": ["hr"],
    "rosa": ["roles"],
    "bea": ["broad"],
    "anton": ["accountant"],
    "mia": [],
}


@pytest.fixture
def root(client: Client) -> Client:
    """Return an administrator with roles and people, who is a member themselves."""
    root = Client(client.application, client.tenant_id, "root", ("admin",))
    for role, permissions in ROLES.items():
        assert root.put(f"/v1/roles/{role}", {"permissions": permissions}).status in (200, 201)
    for user_id, roles in PEOPLE.items():
        assert save(root, user_id, roles).status in (200, 201)
    assert save(client, "root", ["admin"]).status in (200, 201)
    return root


def be(root: Client, user_id: str) -> Client:
    return Client(root.application, root.tenant_id, user_id, tuple(PEOPLE[user_id]))


def save(client: Client, user_id: str, roles: Sequence[str], **more: Any) -> Any:
    return client.put(f"/v1/members/{user_id}", {"display_name": user_id, "roles": list(roles), **more})


def make_key(client: Client, *roles: str) -> Client:
    made = client.post("/v1/api_keys", {"name": "erp", "roles": list(roles)})
    assert made.status == 201, made.text
    return Client(client.application, client.tenant_id, key=made.body["token"])


def refused(answered: Any) -> str:
    """Return the remedy of a refused grant to oneself."""
    assert (answered.status, answered.code) == (403, "SELF_GRANT_REFUSED"), answered.text
    return str(answered.body["remedy"])


def roles_of(root: Client, user_id: str) -> Any:
    return root.get(f"/v1/members/{user_id}").body["roles"]


# --- one's own roles ---


def test_hank_gives_himself_the_role_that_is_asked(root: Client) -> None:
    hank = be(root, "hank")
    assert refused(save(hank, "hank", ["hr", "accountant"])) == "Ask another administrator."
    refused(save(hank, "hank", []))
    refused(save(hank, "hank", ["hr"], status="disabled"))
    assert roles_of(root, "hank") == ["hr"]
    assert save(hank, "hank", ["hr"], email="hank@a.example").status == 200, "the rest is their own"
    assert save(be(root, "hana"), "hank", ["hr", "accountant"]).status == 200


def test_a_key_gives_nothing_to_the_people_behind_it(root: Client) -> None:
    key = make_key(root, "admin")
    refused(save(key, "root", ["admin", "accountant"]))
    refused(key.put("/v1/org_chart/root", {"manager_id": "mia"}))
    refused(key.put("/v1/roles/admin", {"permissions": ["*:*", "invoice:approve"]}))
    assert save(key, "mia", ["accountant"]).status == 200


def test_nobody_makes_themselves_a_member(root: Client) -> None:
    stranger = Client(root.application, root.tenant_id, "stan", ("hr",))
    refused(save(stranger, "stan", []))
    assert save(be(root, "hana"), "stan", []).status == 201


def test_a_single_administrator_is_told_what_to_do(root: Client, client: Client, admin: Admin) -> None:
    for user_id in ("carl", "hank", "hana", "rosa"):
        assert save(root, user_id, []).status == 200
    remedy = refused(save(root, "root", ["admin", "accountant"]))
    assert "no other administrator" in remedy
    assert f"PUT /v1/tenants/{client.tenant_id}" in remedy and "signet tenant install" in remedy
    operator = Client(root.application, uuid4(), "olga", (OPERATOR,))
    member = {"user_id": "root", "display_name": "root", "roles": ["admin", "accountant"]}
    content = {
        "name": "acme",
        "roles": [
            {"role": "admin", "permissions": ["*:*"]},
            {"role": "accountant", "permissions": ROLES["accountant"]},
        ],
        "members": [member],
    }
    assert operator.put(f"/v1/tenants/{client.tenant_id}", content).status == 200
    assert roles_of(root, "root") == ["accountant", "admin"]


# --- roles that a person holds ---


def test_strip_and_take(root: Client) -> None:
    rosa = be(root, "rosa")
    assert rosa.put("/v1/roles/approver", {"permissions": []}).code == "ROLE_BEYOND_OWN"
    assert rosa.delete("/v1/roles/approver").code == "ROLE_BEYOND_OWN"
    assert rosa.put("/v1/roles/approver", {"permissions": ["invoice:approve"]}).code == "ROLE_BEYOND_OWN"
    assert save(rosa, "rosa", ["roles", "approver"]).status == 403
    more = [*ROLES["approver"], "role:read"]
    assert rosa.put("/v1/roles/approver", {"permissions": more}).status in (200, 201), (
        "of their own they may add"
    )
    assert root.put("/v1/roles/approver", {"permissions": []}).status in (200, 201)
    assert root.delete("/v1/roles/approver").status == 204


def test_nobody_changes_a_role_that_they_hold(root: Client) -> None:
    rosa = be(root, "rosa")
    refused(rosa.put("/v1/roles/roles", {"permissions": [*ROLES["roles"], "invoice:read"]}))
    refused(rosa.delete("/v1/roles/roles"))
    # By the token alone, and as a member alone.
    stranger = Client(root.application, root.tenant_id, "stan", ("admin",))
    refused(stranger.put("/v1/roles/admin", {"permissions": ["*:*", "invoice:approve"]}))
    held = Client(root.application, root.tenant_id, "anton", ("admin",))
    refused(held.put("/v1/roles/accountant", {"permissions": []}))
    assert root.put("/v1/roles/roles", {"permissions": ROLES["roles"]}).status in (200, 201)


def test_the_reach_of_a_wildcard(root: Client) -> None:
    bea = be(root, "bea")
    for answered in (
        save(bea, "mia", ["approver"]),
        bea.put("/v1/roles/own", {"permissions": []}),
        bea.put("/v1/org_chart/mia", {"manager_id": "anton"}),
        bea.post("/v1/api_keys", {"name": "erp", "roles": ["broad"]}),
        bea.get("/v1/members"),
        bea.get("/v1/roles"),
    ):
        assert (answered.status, answered.code) == (403, "PERMISSION_DENIED")
    assert bea.call("GET", "/v1/documents", query={"entity_type": "invoice"}).status == 200


# --- the org chart ---


def test_otto_becomes_mias_manager(root: Client) -> None:
    hank = be(root, "hank")
    refused(hank.put("/v1/org_chart/mia", {"manager_id": "hank"}))
    refused(hank.put("/v1/org_chart/hank", {"manager_id": "mia"}))
    refused(hank.delete("/v1/org_chart/hank"))
    assert hank.put("/v1/org_chart/mia", {"manager_id": "anton"}).status in (200, 201)
    assert be(root, "hana").put("/v1/org_chart/mia", {"manager_id": "hank"}).status in (200, 201)
    assert be(root, "hana").put("/v1/org_chart/hank", {"manager_id": "anton"}).status in (200, 201)


# --- operators ---


def content_of(**member: Any) -> dict[str, Any]:
    return {
        "name": "acme",
        "roles": [{"role": "admin", "permissions": ["*:*"]}, {"role": "clerk", "permissions": []}],
        "members": [{"user_id": "mia", "display_name": "mia"}, {"display_name": "olga", **member}],
    }


def test_an_operator_gives_nothing_to_themselves(root: Client, database: Database) -> None:
    tenant_id = make_company(database).tenant_id
    olga, otis = (Client(root.application, uuid4(), name, (OPERATOR,)) for name in ("olga", "otis"))
    place = f"/v1/tenants/{tenant_id}"
    for member in ({"user_id": "olga", "roles": ["admin"]}, {"user_id": "olga"}):
        assert refused(olga.put(place, content_of(**member))) == "Ask another operator of this deployment."
    assert otis.put(place, content_of(user_id="olga", roles=["clerk"])).status == 200
    assert olga.put(place, content_of(user_id="olga", roles=["clerk"])).status == 200, "nothing changes"
    refused(olga.put(place, content_of(user_id="olga", roles=["clerk", "admin"])))
    refused(olga.put(place, content_of(user_id="olga", roles=["clerk"], manager="mia")))
    subordinate = content_of(user_id="olga", roles=["clerk"])
    subordinate["members"][0]["manager"] = "olga"
    refused(olga.put(place, subordinate))
    richer = content_of(user_id="olga", roles=["clerk"])
    richer["roles"][1]["permissions"] = ["invoice:approve"]
    refused(olga.put(place, richer))
    assert otis.put(place, richer).status == 200


# --- deciding roles ---


def test_a_role_that_a_published_policy_names_is_shown_as_deciding(
    root: Client, company: Company, admin: Admin
) -> None:
    chain = {"name": "large", "steps": [{"approvers": [{"by": "role", "role": "approver"}]}]}
    version = root.post("/v1/approval_chains", chain).body["version"]
    assert not any(role["deciding"] for role in root.get("/v1/roles").body["items"]), (
        "a draft decides nothing"
    )
    root.post(f"/v1/approval_chains/large/versions/{version}/publish")
    shown = {role["role"]: role for role in root.get("/v1/roles").body["items"]}
    assert shown["approver"]["deciding"] and not shown["clerk"]["deciding"]
    policy = {"kind": "chain", "name": "large", "version": version, "entity_type": None}
    assert shown["approver"]["policies"] == [policy]
    refused = root.delete("/v1/roles/approver")
    assert (refused.status, refused.code) == (409, "ROLE_IN_USE")
    assert "chain 'large' version 1" in refused.text
    assert save(root, "mia", ["approver", "accountant"]).status == 200
    (given,) = admin.execute(
        "SELECT content::jsonb -> 'detail' -> 'deciding_roles_given' FROM audit_log"
        " WHERE subject_id = 'mia' ORDER BY seq DESC LIMIT 1"
    ).fetchone() or (None,)
    assert given == ["approver"]


def test_so_are_roles_of_definitions_and_of_contracts(root: Client, company: Company) -> None:
    """Publish a patch that asks one role, and a contract that compares another; a later version asks none."""
    condition = {"invoice:cancel": "actor.roles contains 'anton_role' || actor.roles contains 'accountant'"}
    company.publish("invoice", version=2, conditions=condition)
    base = {"entity_type": "invoice", "envelope_version": 2}

    def publish(**approver: str) -> None:
        node = {"id": "look", "type": "approval", "config": {"approvers": [approver]}}
        patch = {"patch": "own", "base": base, "slots": {"submitted_to_approved": {"nodes": [node]}}}
        draft = company.definitions.create(company.caller(), "org_patch", patch)
        company.definitions.publish(company.caller(), draft.id)

    def deciding() -> dict[str, list[str]]:
        roles = root.get("/v1/roles").body["items"]
        return {one["role"]: [each["kind"] for each in one["policies"]] for one in roles if one["deciding"]}

    publish(by="role", role="approver")
    assert deciding() == {"accountant": ["contract"], "approver": ["definition"]}
    publish(by="user", user="mia")
    assert deciding() == {"accountant": ["contract"]}
