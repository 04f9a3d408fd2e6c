"""The people of notes A11 with four eyes on: nobody makes alone the control that they act under.

Connie, cora, ed and carl stand in `test_four_eyes.py`. Here are pete, the operator, and connie to the end.
"""

from typing import Any
from uuid import uuid4

import pytest

from tests.functions.routes.control.test_four_eyes import CONTENT, member, publish, save_patch
from tests.support.api_application import OPERATOR
from tests.support.company import INVOICE
from tests.support.http_client import Client
from tests.support.two_people import CONTROL, TwoPeople, confirm, put_forward

PASSING = {"action": "post_to_ledger", "payload": {"ledger_entry": "AP-1", "posted_on": "2026-01-01"}}
RUN_AS_SYSTEM: dict[str, Any] = {
    "patch": "own",
    "base": {"entity_type": "invoice", "envelope_version": 1},
    "slots": {
        "approved_to_active": {
            "nodes": [{"id": "p", "type": "action", "config": {**PASSING, "run_as": "system"}}]
        }
    },
}


def save(person: Client) -> tuple[str, str]:
    saved = person.post("/v1/definitions", RUN_AS_SYSTEM)
    assert saved.status == 201, saved.text
    return put_forward(person, saved.headers["location"], saved.headers["etag"])


@pytest.mark.parametrize("held", [[], ["definition:run_as"], ["invoice:post"]], ids=str)
def test_pete_passes_on_no_right_that_he_lacks_also_for_another_author(
    two: TwoPeople, held: list[str]
) -> None:
    """Pete publishes what paul wrote: being the second person is no right to pass on."""
    pete = two.hire("pete", "definition:edit", "definition:publish", "definition:read", *held)
    draft = save(two.people["paul"])
    refused = publish(pete, draft)
    assert (refused.status, refused.code) == (403, "RUN_AS_BEYOND_OWN")
    may = two.hire("pia", "definition:publish", "definition:read", "definition:run_as", "invoice:post")
    assert publish(may, draft).status == 200


def test_pete_who_has_the_rights_does_not_publish_his_own(two: TwoPeople) -> None:
    pete = two.hire("pete", "definition:*", "invoice:post")
    refused = publish(pete, save(pete))
    assert (refused.status, refused.code) == (403, "FOUR_EYES_REQUIRED")


def test_the_operator_does_not_make_themselves_a_finance_manager(two: TwoPeople) -> None:
    operator = Client(two.admin.application, uuid4(), "olga", (OPERATOR,))
    other = Client(two.admin.application, uuid4(), "oskar", (OPERATOR,))
    place = f"/v1/tenants/{two.admin.tenant_id}"
    wanted = {**CONTENT, "members": [member("olga", roles=["finance_manager"])]}
    refused = operator.put(place, wanted)
    assert (refused.status, refused.code) == (403, "SELF_GRANT_REFUSED")
    assert two.admin.get("/v1/members/olga").status == 404
    assert two.admin.get("/v1/tenant").body["settings"]["four_eyes"] is True
    assert other.put(place, wanted).status == 200


def test_connies_patch_asks_nobody_until_another_person_publishes_it(two: TwoPeople) -> None:
    connie = two.hire("connie")
    draft = save_patch(connie, "Mine")
    assert publish(connie, draft).code == "FOUR_EYES_REQUIRED"
    two.hire("mia", "invoice:*")
    made = two.people["mia"].post("/v1/documents", {"entity_type": "invoice", "data": INVOICE})
    assert made.status == 201, made.text
    found = connie.get("/v1/definitions", query={"kind": "effective", "name": "mine"}).body["items"]
    assert found == [], "the document began under the definition that two people made"
    assert publish(two.people["paul"], draft).status == 200


# --- where it is off ---

ERP = {"name": "erp", "url": "https://erp.example.com/hook", "secrets": ["erp"]}
CEILING = {
    "phase": "before",
    "condition": {"expression": "entity.grand_total > 5"},
    "actions": [{"kind": "reject", "message": "no"}],
}
OFFICE = {
    "zone": "UTC",
    "years": {"first": 2026, "last": 2026},
    "hours": {"monday": ["09:00-17:00"]},
}
EVERYTHING = (*CONTROL, "calendar:*", "tenant:*", "service_account:*", "invoice:*")
FILING = {"run_as": "service_account", "service_account": "filing"}
CALLING: dict[str, Any] = {
    "patch": "calling",
    "base": {"entity_type": "invoice", "envelope_version": 1},
    "slots": {
        "approved_to_active": {
            "nodes": [
                {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}},
                {"id": "post", "type": "action", "config": {**PASSING, **FILING}},
                {
                    "id": "rest",
                    "type": "wait_timer",
                    "config": {"business": {"days": 1, "calendar": "office"}},
                },
                {"id": "wait", "type": "wait_timer", "config": {"business": {"days": 1}}},
            ],
            "edges": [
                {"source": "call", "target": "post"},
                {"source": "post", "target": "rest"},
                {"source": "rest", "target": "wait"},
            ],
        }
    },
}


def change_all(person: Client) -> None:
    assert person.post("/v1/endpoints", ERP).status == 201
    account = {"label": "Filing", "roles": ["filer"], "owner_id": "ed"}
    assert person.put("/v1/service_accounts/filing", account).status == 201
    assert person.put("/v1/rules/invoice/ceiling", CEILING).status == 201
    for name in ("office", "own", "unused"):
        assert person.put(f"/v1/calendars/{name}", OFFICE).status == 201
    etag = person.get("/v1/tenant").headers["etag"]
    change = {"name": "Acme", "calendar": "own"}
    assert person.patch("/v1/tenant", change, if_match=etag).status == 200


def test_who_changed_endpoints_rules_and_settings_alone_is_named(client: Client) -> None:
    two = TwoPeople(client)
    filer = {"permissions": ["invoice:post"]}
    assert two.admin.put("/v1/roles/filer", filer).status in (200, 201)
    ed, paul = two.hire("ed", *EVERYTHING), two.hire("paul", *EVERYTHING)
    change_all(ed)
    saved = paul.post("/v1/definitions", CALLING)
    published = publish(paul, (saved.headers["location"], saved.headers["etag"]))
    assert published.status == 200, published.text
    assert published.body["control"]["changed_alone"] == [
        {"kind": "calendar", "name": "office", "persons": ["ed"]},
        {"kind": "calendar", "name": "own", "persons": ["ed"]},
        {"kind": "endpoint", "name": "erp", "persons": ["ed"]},
        {"kind": "rule", "name": "invoice/ceiling", "persons": ["ed"]},
        {"kind": "service_account", "name": "filing", "persons": ["ed"]},
        {"kind": "settings", "name": "", "persons": ["ed"]},
    ]
    place = f"/v1/definitions/{published.body['definition_id']}/explanation"
    text = " ".join(paul.get(place).body["text"].split())
    for part in ('endpoint "erp"', 'service account "filing"'):
        assert f"ed changed the {part} last, and no other person confirmed it." in text
    two.switch_on()
    terms = {"url": ERP["url"], "secrets": ["erp_new"]}
    assert confirm(paul, ed.put("/v1/endpoints/erp", terms, if_match='"1"')).status == 200
    kinds = [each["kind"] for each in paul.get(place).body["control"]["changed_alone"]]
    assert kinds == ["calendar", "calendar", "rule", "service_account", "settings"], (
        "two people made the last change of the endpoint"
    )
