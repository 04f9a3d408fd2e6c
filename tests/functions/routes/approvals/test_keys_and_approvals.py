"""An API key in an approval (notes A1): people see whose it is, and it is no straw man for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from signet.engine.execution.worker import Worker
from tests.support.company import INVOICE, Company
from tests.support.database.unguarded import execute_unguarded
from tests.support.drained_waves import drain
from tests.support.fixtures.workers import worker, worker_database
from tests.support.http_client import Client
from tests.support.invoice_instances import publish_patch

__all__ = ["worker", "worker_database"]
Admin = psycopg.Connection[Any]


@pytest.fixture
def people(client: Client) -> Mapping[str, Client]:
    """Return root, who makes the key, olga, who takes it over, and anna, who has no part in it."""
    client.put("/v1/roles/approver", {"permissions": ["invoice:read", "invoice:approve"]})
    held = {"root": ["admin", "approver"], "olga": ["clerk", "approver"], "anna": ["approver"]}
    for name, roles in held.items():
        client.put(f"/v1/members/{name}", {"display_name": name.title(), "roles": roles})
    return {
        name: Client(client.application, client.tenant_id, name, tuple(roles)) for name, roles in held.items()
    }


@dataclass(frozen=True)
class Machine:
    """A key of root, that creates invoices and asks for their approval."""

    company: Company
    worker: Worker
    people: Mapping[str, Client]
    key: Mapping[str, str]

    def ask(self) -> dict[str, str]:
        """Create an invoice by the key and submit it; return the ids of the key, document and approval."""
        sent = Client(self.people["root"].application, self.company.tenant_id, key=self.key["token"])
        made = sent.post("/v1/documents", {"entity_type": "invoice", "data": INVOICE})
        assert made.status == 201, made.text
        document_id = made.body["document_id"]
        place = f"/v1/documents/{document_id}/requests"
        submitted = sent.post(place, {"transition": "submit"}, if_match='"1"')
        assert submitted.status in (200, 202), submitted.text
        drain(self.worker, [self.company.tenant_id])
        (item,) = self.people["anna"].get("/v1/approvals").body["items"]
        return {"key": self.key["id"], "document": document_id, "approval": item["request_id"]}

    def change_hands(self) -> None:
        """Let olga take the key over from root."""
        place = f"/v1/api_keys/{self.key['id']}/owner"
        assert self.people["root"].post(place, {"owner_id": "olga"}).status == 200
        assert self.people["olga"].post(f"{place}/accept").status == 200


@pytest.fixture
def machine(company: Company, worker: Worker, people: Mapping[str, Client]) -> Machine:
    config = {"approvers": [{"by": "role", "role": "approver"}]}
    publish_patch(
        company,
        {"submitted_to_approved": {"nodes": [{"id": "look", "type": "approval", "config": config}]}},
    )
    key = people["root"].post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]}).body
    return Machine(company, worker, people, key)


@pytest.fixture
def asked(machine: Machine) -> dict[str, str]:
    return machine.ask()


def test_people_who_are_asked_see_whose_key_asked_them(
    machine: Machine, people: Mapping[str, Client], asked: dict[str, str]
) -> None:
    subject, anna = f"key:{asked['key']}", people["anna"]
    (item,) = anna.get("/v1/approvals").body["items"]
    shown = anna.get(f"/v1/approvals/{asked['approval']}").body
    for view in (item, shown):
        assert view["requester_id"] == subject
        assert view["requester_label"] == 'the key "erp" (owned by root)'
    created = {"creator": [{"user_id": "root", "display_name": "Root"}]}
    assert shown["responsible"]["creator_label"] == 'the key "erp" (owned by root)'
    assert {"creator": shown["responsible"]["creator"]} == created
    machine.change_hands()
    shown = anna.get(f"/v1/approvals/{asked['approval']}").body
    assert shown["requester_label"] == 'the key "erp" (owned by olga)'


def test_a_key_of_an_older_release_is_named_by_its_label(
    machine: Machine, people: Mapping[str, Client], asked: dict[str, str], superuser: Admin
) -> None:
    """Such a document names the key alone: nobody was kept behind it."""
    execute_unguarded(
        superuser, "UPDATE documents SET creator_responsible = NULL WHERE id = %s", [asked["document"]]
    )
    shown = people["anna"].get(f"/v1/approvals/{asked['approval']}").body
    assert shown["responsible"]["creator"] == [
        {"user_id": f"key:{asked['key']}", "display_name": 'the key "erp" (owned by root)'}
    ]


def test_people_read_of_a_key_by_its_name_and_its_owner(
    people: Mapping[str, Client], asked: dict[str, str]
) -> None:
    subject, place = f"key:{asked['key']}", f"/v1/documents/{asked['document']}"
    entries = people["anna"].get(f"{place}/timeline").body["items"]
    labels: dict[str, Any] = {entry["actor_id"]: entry["actor_label"] for entry in entries}
    assert labels[subject] == 'the key "erp" (owned by root)'
    assert labels.get("signet:system") is None
    explained = "\n".join(people["anna"].get(f"{place}/explain").body["text"])
    assert 'the key "erp" (owned by root) asked for "Submit"' in explained
    assert subject not in explained


def test_a_person_without_a_part_in_the_key_decides(
    people: Mapping[str, Client], asked: dict[str, str]
) -> None:
    decided = people["anna"].post(f"/v1/approvals/{asked['approval']}/decision", {"vote": "approved"})
    assert (decided.status, decided.body["request_status"]) == (200, "approved")


def test_nobody_behind_the_key_decides_what_it_asked_for(
    machine: Machine, people: Mapping[str, Client]
) -> None:
    """Bar the owner, and the maker who owns it no more."""
    machine.change_hands()
    place = f"/v1/approvals/{machine.ask()['approval']}/decision"
    for name in ("root", "olga"):
        refused = people[name].post(place, {"vote": "approved"})
        assert (refused.status, refused.code) == (403, "SEPARATION_OF_DUTIES"), name
    assert people["anna"].post(place, {"vote": "approved"}).status == 200


def test_the_manager_of_a_key_is_that_of_its_owner(
    company: Company, worker: Worker, people: Mapping[str, Client]
) -> None:
    """Ask the manager of the owner of this moment, and not of the maker."""
    config = {"approvers": [{"by": "manager"}, {"by": "manager", "levels": 2}], "quorum": "any"}
    publish_patch(
        company,
        {"submitted_to_approved": {"nodes": [{"id": "look", "type": "approval", "config": config}]}},
    )
    olga, anna = people["olga"], people["anna"]
    boss = Client(olga.application, company.tenant_id, "boss", ("admin",))
    for user_id in ("rita", "vera"):
        hired = boss.put(f"/v1/members/{user_id}", {"display_name": user_id, "roles": ["approver"]})
        assert hired.status == 201, hired.text
    for below, above in (("root", "anna"), ("anna", "vera"), ("olga", "rita"), ("rita", "vera")):
        assert boss.put(f"/v1/org_chart/{below}", {"manager_id": above}).status in (200, 201)
    key = people["root"].post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]}).body
    machine = Machine(company, worker, people, key)
    asked = machine.ask()
    seats = anna.get(f"/v1/approvals/{asked['approval']}").body["seats"]
    assert [seat["holder_user_id"] for seat in seats] == ["anna", "vera"]
    decided = anna.post(f"/v1/approvals/{asked['approval']}/decision", {"vote": "approved"})
    assert (decided.status, decided.body["request_status"]) == (200, "approved")
    machine.change_hands()
    sent = Client(olga.application, company.tenant_id, key=key["token"])
    made = sent.post("/v1/documents", {"entity_type": "invoice", "data": {**INVOICE, "number": "R-2"}})
    place = f"/v1/documents/{made.body['document_id']}/requests"
    assert sent.post(place, {"transition": "submit"}, if_match='"1"').status in (200, 202)
    drain(worker, [company.tenant_id])
    assert anna.get("/v1/approvals").body["items"] == []
    rita = Client(olga.application, company.tenant_id, "rita", ())
    (item,) = rita.get("/v1/approvals").body["items"]
    assert item["document_id"] == made.body["document_id"]
