"""The inbox with filters, titles and amounts, and the list of what one has decided (A29)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from signet.engine.approvals.inbox import Approvals
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.approval_requests import REQUESTER, Asking
from tests.support.company import Company
from tests.support.http_client import Client

INBOX, DECIDED = "/v1/approvals", "/v1/approvals/decided"
SUMMARY = {"title": ["number", "vendor_id"], "amount": "grand_total"}


@pytest.fixture
def asking(company: Company, admin: psycopg.Connection[Any]) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    company.publish("invoice", version=2, summary=SUMMARY)
    made.hire()
    return made


@pytest.fixture
def anna(database: Database, company: Company, asking: Asking) -> Client:
    return Client(wire(database), company.tenant_id, "anna", ("approver",))


def list_ids(client: Client, path: str, **query: Any) -> list[str]:
    listed = client.get(path, query=query)
    assert listed.status == 200, listed.text
    return [item["request_id"] for item in listed.body["items"]]


def test_a29_an_item_says_what_it_is_about_and_how_much(anna: Client, asking: Asking) -> None:
    made = asking.create(number="R-7", grand_total=260005)
    asking.ask("anna", made=made)
    (item,) = anna.get(INBOX).body["items"]
    assert item["title"] == "R-7 · V-100"
    assert item["amount"] == {"field": "grand_total", "label": "Total", "value": 260005, "scale": 2}


def test_a29_a_contract_that_declares_nothing_shows_the_business_key(
    company: Company, anna: Client, asking: Asking
) -> None:
    company.publish("invoice", version=3)
    asking.ask("anna", made=asking.create(number="R-8"))
    (item,) = anna.get(INBOX).body["items"]
    assert (item["title"], item["amount"]) == ("R-8", None)


@pytest.mark.parametrize("path", [INBOX, DECIDED])
def test_a29_both_lists_are_filtered(anna: Client, asking: Asking, path: str) -> None:
    request_id = asking.ask("anna")
    if path == DECIDED:
        asking.decide(request_id, "anna")
    (item,) = anna.get(path).body["items"]
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    earlier = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    fits = {
        "entity_type": "invoice",
        "node_id": item["node_id"],
        "requester_id": REQUESTER,
        "since": earlier,
    }
    assert list_ids(anna, path, **fits) == [str(request_id)]
    for name, other in {
        "entity_type": "order",
        "node_id": "usr:other:node",
        "requester_id": "ben",
        "since": later,
    }.items():
        assert list_ids(anna, path, **{**fits, name: other}) == [], name
    no_zone = {"since": "2026-01-01T00:00:00"}
    for wrong in ({"since": "soon"}, {"since": "0.5"}, no_zone, {"entity_type": "A B"}, {"node_id": ""}):
        assert anna.get(path, query=wrong).code == "REQUEST_MALFORMED"


def test_a29_what_one_has_decided_is_there_the_newest_first(anna: Client, asking: Asking) -> None:
    first = asking.create(number="R-1", grand_total=100)
    decided = [asking.ask("anna", made=first), asking.ask("anna"), asking.ask("anna", "dora")]
    asking.decide(decided[0], "anna", reason="fine")
    asking.edit(first, 1, grand_total=900)
    asking.decide(decided[1], "anna", "rejected", "too late")
    asking.decide(decided[2], "anna")
    asking.ask("anna")
    assert list_ids(anna, DECIDED) == [str(one) for one in reversed(decided)]
    shown = anna.get(DECIDED).body["items"][-1]
    assert (shown["vote"], shown["reason"], shown["on_behalf_of"]) == ("approved", "fine", None)
    assert (shown["request_status"], shown["document_version"]) == ("approved", 1)
    # As it was when they decided.
    assert (shown["title"], shown["amount"]["value"]) == ("R-1 · V-100", 100)
    page = anna.get(DECIDED, query={"limit": 2}).body
    rest = anna.get(DECIDED, query={"limit": 2, "cursor": page["next_cursor"]}).body
    assert [one["request_id"] for one in page["items"] + rest["items"]] == list_ids(anna, DECIDED)
    other = anna.get(DECIDED, query={"cursor": page["next_cursor"], "entity_type": "invoice"})
    assert (other.status, other.code) == (400, "CURSOR_INVALID")


def test_a29_what_others_have_decided_is_not_there(
    database: Database, company: Company, anna: Client, asking: Asking
) -> None:
    asking.decide(asking.ask("anna", "dora"), "dora")
    assert list_ids(anna, DECIDED) == []
    stranger = Client(wire(database), company.tenant_id, "emil", ("approver",))
    assert list_ids(stranger, DECIDED) == []
