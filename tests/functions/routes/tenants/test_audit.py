"""The audit trail of the tenant itself over HTTP: paged, with a permission of its own, without documents."""

import hashlib
import json

from tests.support.company import INVOICE
from tests.support.http_client import Client


def test_the_trail_of_the_tenant_is_read_page_by_page(client: Client) -> None:
    for user_id in ("anna", "ben"):
        assert client.put(f"/v1/members/{user_id}", {"display_name": user_id, "roles": []}).status in (
            200,
            201,
        )
    assert client.put("/v1/org_chart/anna", {"manager_id": "ben"}).status in (200, 201)
    made = client.post("/v1/documents", {"entity_type": "invoice", "data": INVOICE})
    assert made.status == 201, made.text
    first = client.get("/v1/audit", query={"limit": 2}).body
    told = [(row["action"], row["subject_type"], row["subject_id"]) for row in first["items"]]
    assert told == [("set_manager", "member", "anna"), (told[1][0], "member", "ben")]
    content = json.loads(first["items"][0]["content"])
    assert content["detail"] == {"manager_before": None, "manager": "ben"}
    second = client.get("/v1/audit", query={"limit": 200, "cursor": first["next_cursor"]}).body
    everything = [*first["items"], *second["items"]]
    assert second["next_cursor"] is None
    assert len({row["id"] for row in everything}) == len(everything) > 2
    assert [row["id"] for row in everything] == sorted((row["id"] for row in everything), reverse=True)
    assert "document" not in {row["subject_type"] for row in everything}
    for row in everything:
        assert hashlib.sha256(row["content"].encode()).hexdigest() == row["hash"]


def test_it_wants_its_own_permission(client: Client) -> None:
    for permission, status in (("tenant:read", 403), ("*:audit", 403), ("tenant:audit", 200)):
        assert client.put("/v1/roles/auditor", {"permissions": [permission]}).status in (200, 201)
        auditor = Client(client.application, client.tenant_id, "ada", ("auditor",))
        assert auditor.get("/v1/audit").status == status, permission
