"""Keys of a company as people make them by HTTP, and machines that use them."""

from typing import Any

from tests.support.http_client import Client, ClientAnswer


def hire(client: Client, user_id: str, *roles: str, **more: Any) -> Client:
    """Save a member as an administrator who has no part in anything."""
    boss = Client(client.application, client.tenant_id, "boss", ("admin",))
    saved = boss.put(
        f"/v1/members/{user_id}", {"display_name": user_id.title(), "roles": list(roles), **more}
    )
    assert saved.status in (200, 201), saved.text
    return Client(client.application, client.tenant_id, user_id, roles)


def make_key(client: Client, **more: Any) -> dict[str, Any]:
    made = client.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"], **more})
    assert made.status == 201, made.text
    body: dict[str, Any] = made.body
    return body


def use_key(client: Client, token: str) -> Client:
    return Client(client.application, client.tenant_id, key=token)


def create_invoice(client: Client, number: str = "R-1") -> ClientAnswer:
    data = {"number": number, "vendor_id": "V-100", "invoice_date": "2026-03-01", "grand_total": 600}
    return client.post("/v1/documents", {"entity_type": "invoice", "data": data})
