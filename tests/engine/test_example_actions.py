"""The actions of the example `sales_order`: one that creates a document, one written in Python."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.authoring.extensions import load_extensions
from signet.engine.documents.commands import Applied, Create, RunAction
from tests.engine.conftest import Company

Admin = Connection[tuple[Any, ...]]


@pytest.fixture
def company(company: Company) -> Company:
    for name in ("sales_order", "delivery", "project_task"):
        company.publish(name)
    # SIGNET_EXTENSIONS would load them too; a registry of its own keeps the names out of other tests.
    load_extensions(["examples.sales_order.actions"], ActionRegistry())
    return company


def order(company: Company, quantity: int) -> Applied:
    line = {"sku": "A-1", "quantity": quantity, "unit_price": 5}
    data = {"number": f"S-{quantity}", "customer": str(uuid4()), "grand_total": 100, "lines": [line]}
    return company.documents.mutate(company.caller(), Create("sales_order", data))


@pytest.mark.parametrize(
    ("quantity", "stock", "warehouse"), [(1_000, "reserved", "north"), (1_001, "backordered", "main")]
)
def test_reserve_inventory(company: Company, admin: Admin, quantity: int, stock: str, warehouse: str) -> None:
    assert REGISTRY.find("sales_order", "reserve_inventory") is not None
    run = RunAction(order(company, quantity).document_id, 1, "reserve_inventory", {"warehouse": "north"})
    applied = company.documents.mutate(company.caller(), run)
    assert (applied.version, applied.output) == (2, {"reserved": stock == "reserved"})
    found = admin.execute("SELECT data FROM documents WHERE entity_type = 'sales_order'").fetchall()
    assert [(data["stock"], data["warehouse"]) for (data,) in found] == [(stock, warehouse)]
    tasks = admin.execute("SELECT data FROM documents WHERE entity_type = 'project_task'").fetchall()
    wanted = [] if stock == "reserved" else [[{"text": "1001 of A-1", "done": False}]]
    assert [data["checklist"] for (data,) in tasks] == wanted


def test_create_delivery(company: Company, admin: Admin) -> None:
    made = order(company, 1)
    payload = {"shipment_id": "D-1", "carrier": "Bike"}
    applied = company.documents.mutate(
        company.caller(), RunAction(made.document_id, 1, "create_delivery", payload)
    )
    assert applied.output is not None
    ((delivery, data),) = admin.execute(
        "SELECT id, data FROM documents WHERE entity_type = 'delivery'"
    ).fetchall()
    assert applied.output == {"document_id": str(delivery), "version": 1}
    assert (data["shipment_id"], data["carrier"], data["sales_order"]) == (
        "D-1",
        "Bike",
        str(made.document_id),
    )
