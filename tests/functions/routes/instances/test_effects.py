"""Effects by HTTP: listed, tried now, withdrawn, discarded."""

from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.ids import make_id
from tests.support.company import INVOICE, Company
from tests.support.database.queue_rows import put_one, read_one
from tests.support.http_client import Client

Admin = psycopg.Connection[tuple[Any, ...]]
DISCARD = "/v1/operations/dead_letters/discard"
WHY = {"reason": "ordered twice"}


@pytest.fixture
def clerk(client: Client, company: Company) -> Client:
    return Client(client.application, company.tenant_id, "anna", ("clerk",))


@pytest.fixture
def instance_id(client: Client) -> UUID:
    made = client.post("/v1/documents", {"entity_type": "invoice", "data": {**INVOICE, "number": "R-1"}})
    return UUID(made.body["instance_id"])


def put_effect(admin: Admin, client: Client, instance_id: UUID, status: str = "pending") -> str:
    admin.execute(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, 'erp', 'https://erp.example/', '{new}', 'carl') ON CONFLICT DO NOTHING",
        [client.tenant_id],
    )
    row_id = put_one(admin, "effects", client.tenant_id, status=status)
    admin.execute("ALTER TABLE workflow_side_effects_outbox DISABLE TRIGGER USER")
    admin.execute(
        "UPDATE workflow_side_effects_outbox SET instance_id = %s WHERE id = %s", [instance_id, row_id]
    )
    admin.execute("ALTER TABLE workflow_side_effects_outbox ENABLE TRIGGER USER")
    return str(row_id)


def test_what_an_instance_sends_is_listed(client: Client, admin: Admin, instance_id: UUID) -> None:
    made = [put_effect(admin, client, instance_id, status) for status in ("dead_letter", "pending", "failed")]
    place = f"/v1/instances/{instance_id}/effects"
    first = client.get(place, query={"limit": 2})
    assert first.status == 200, first.text
    assert [(one["id"], one["acts"]) for one in first.body["items"]] == [
        (made[2], ["try_now", "withdraw"]),
        (made[1], ["try_now", "withdraw"]),
    ]
    rest = client.get(place, query={"limit": 2, "cursor": first.body["next_cursor"]})
    assert [(one["id"], one["acts"]) for one in rest.body["items"]] == [(made[0], ["discard"])]
    missing = client.get(f"/v1/instances/{make_id()}/effects")
    assert (missing.status, missing.code) == (404, "INSTANCE_NOT_FOUND")


def test_an_effect_is_tried_now(client: Client, admin: Admin, instance_id: UUID) -> None:
    effect = put_effect(admin, client, instance_id, "failed")
    place = f"/v1/effects/{effect}/try_now"
    looked = client.post(place, {**WHY, "dry_run": True})
    assert (looked.status, looked.body["outcome"]) == (200, "possible"), looked.text
    acted = client.post(place, WHY)
    assert (acted.body["outcome"], acted.body["follows"]) == ("done", "nothing")
    assert read_one(admin, "effects", "status, due_at <= now()", UUID(effect)) == ("failed", True)


def test_an_effect_is_withdrawn_once(client: Client, admin: Admin, instance_id: UUID) -> None:
    effect = put_effect(admin, client, instance_id)
    place = f"/v1/effects/{effect}/withdraw"
    assert client.post(place, {**WHY, "dry_run": True}).body["outcome"] == "possible"
    acted = client.post(place, WHY)
    assert (acted.status, acted.body["effect"]["status"]) == (200, "withdrawn"), acted.text
    again = client.post(place, WHY)
    assert (again.status, again.code) == (409, "EFFECT_ACT_NOT_POSSIBLE")
    assert again.body["remedy"]


def test_dead_letters_are_discarded(client: Client, admin: Admin, instance_id: UUID) -> None:
    effect = put_effect(admin, client, instance_id, "dead_letter")
    orphan = put_one(admin, "events", client.tenant_id, status="dead_letter")
    ids = [effect, str(orphan), str(make_id())]
    looked = client.post(DISCARD, {"ids": ids, **WHY, "dry_run": True})
    assert [one["status"] for one in looked.body["items"]] == ["possible", "possible", "rejected"]
    done = client.post(DISCARD, {"ids": ids, **WHY})
    assert [one["status"] for one in done.body["items"]] == ["done", "done", "rejected"], done.text
    assert read_one(admin, "effects", "status, discard_reason", UUID(effect)) == ("discarded", WHY["reason"])
    assert read_one(admin, "events", "status, discard_reason", orphan) == ("discarded", WHY["reason"])
    audited = admin.execute(
        "SELECT subject_type, subject_id FROM audit_log WHERE action = 'discard' ORDER BY subject_type"
    ).fetchall()
    assert audited == [("dead_letter", str(orphan)), ("instance", str(instance_id))]
    assert client.get("/v1/operations/dead_letters").body["items"] == []


def test_each_act_has_a_permission_of_its_own(clerk: Client) -> None:
    some = str(make_id())
    for path in (f"/v1/effects/{some}/try_now", f"/v1/effects/{some}/withdraw"):
        for body in (WHY, {**WHY, "dry_run": True}):
            assert clerk.post(path, body).code == "PERMISSION_DENIED"
    assert clerk.post(DISCARD, {"ids": [some], **WHY}).code == "PERMISSION_DENIED"
    assert clerk.get(f"/v1/instances/{some}/effects").code == "PERMISSION_DENIED"


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "why", "force": True}])
def test_an_act_that_is_none(client: Client, body: Any) -> None:
    refused = client.post(f"/v1/effects/{make_id()}/withdraw", body)
    assert (refused.status, refused.code) == (422, "REQUEST_INVALID")
