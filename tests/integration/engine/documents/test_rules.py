"""The tenant's rules, as mutate() runs them."""

from typing import Any

import pytest
from psycopg import Connection

from signet.authoring.files import read_document
from signet.core.errors import Rejected
from signet.engine.documents.commands import Applied, Create
from tests.support.company import EXAMPLES, INVOICE, Company

Admin = Connection[tuple[Any, ...]]
NO = {"kind": "reject", "message": "no"}


def test_a_rule_reads_the_tenants_settings(company: Company) -> None:
    known = "entity.vendor_id in org.trusted_vendors && org.name == 'acme' && org.currency == 'EUR'"
    company.add_rule("known", "before", f"!({known} && org.id == '{company.tenant_id}')", NO)
    company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    with pytest.raises(Rejected) as caught:
        company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "vendor_id": "V-9"}))
    assert (caught.value.code, caught.value.details["rule"]) == ("RULE_REJECTED", "known")


def test_what_a_rule_emits_carries_no_personal_value(company: Company, admin: Admin) -> None:
    fields = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["fields"]
    home = {"type": "object", "personal": True, "fields": {"city": {"type": "string"}}}
    company.publish("invoice", version=2, fields={**fields, "home": home})
    payload = {
        "text": "{entity.vendor_contact} of {entity.home.city} for {entity.number}",
        "contact": {"$expr": "entity.vendor_contact"},
        "home": {"$expr": "entity.home"},
        "is_erna": {"$expr": "entity.vendor_contact == 'Erna'"},
        "total": {"$expr": "entity.grand_total"},
    }
    emit = {"kind": "emit", "event_type": "seen", "payload": payload}
    company.add_rule("tells", "after", "entity.vendor_contact == 'Erna'", emit)
    data = {**INVOICE, "vendor_contact": "Erna", "home": {"city": "Ernastadt"}}
    company.documents.mutate(company.caller(), Create("invoice", data))
    found = admin.execute(
        "SELECT payload_json - 'cause_id' FROM workflow_events_outbox WHERE event_type = 'seen'"
    )
    assert found.fetchall() == [
        (
            {
                "text": "(personal) of (personal) for R-1",
                "contact": "(personal)",
                "home": {"city": "(personal)"},
                "is_erna": False,
                "total": 60000,
            },
        )
    ]


def test_a_rule_that_no_longer_fits_refuses_its_own_type_only(company: Company) -> None:
    company.publish("project_task")
    company.add_rule("old", "before", "entity.cost_center == 'x'", NO)
    fields = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["fields"]
    without = {name: field for name, field in fields.items() if not name.startswith("cost_center")}
    company.publish("invoice", version=2, fields=without, actions={}, conditions={})
    task = Create("project_task", {"title": "t", "project": "p"})
    outcomes = company.documents.mutate_many(company.caller(), [Create("invoice", INVOICE), task], "each")
    assert isinstance(outcomes[0], Rejected) and "'old' no longer fits" in outcomes[0].message
    assert outcomes[0].code == "RULE_UNFIT" and "PUT /v1/rules/" in outcomes[0].remedy
    assert isinstance(outcomes[1], Applied)


LONG = {**INVOICE, "note": "x" * 30_000}


def publish_with_note(company: Company) -> None:
    fields = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["fields"]
    company.publish("invoice", version=2, fields={**fields, "note": {"type": "string", "max_length": 40_000}})


MANY = "{entity.note}" * 9


@pytest.mark.parametrize(
    ("phase", "action"),
    [
        ("before", {"kind": "set", "values": {"note": MANY}}),
        ("after", {"kind": "emit", "event_type": "seen", "payload": {"note": MANY}}),
    ],
    ids=["set", "emit"],
)
def test_a_rule_that_gives_too_much_refuses_the_change(
    company: Company, phase: str, action: dict[str, Any]
) -> None:
    publish_with_note(company)
    company.add_rule("long", phase, "entity.note != null", action)
    with pytest.raises(Rejected) as caught:
        company.documents.mutate(company.caller(), Create("invoice", LONG))
    assert caught.value.code == "TEMPLATE_TOO_LARGE" and caught.value.message.startswith("the rule 'long': ")
    company.documents.mutate(company.caller(), Create("invoice", {**LONG, "note": "x" * 1_000}))


def test_all_events_of_a_change_are_bounded_together(company: Company, admin: Admin) -> None:
    publish_with_note(company)
    emit = {"kind": "emit", "event_type": "seen", "payload": {"note": "{entity.note}" * 8}}
    company.add_rule("tells", "after", "entity.note != null", *[emit] * 5)
    with pytest.raises(Rejected) as caught:
        company.documents.mutate(company.caller(), Create("invoice", LONG))
    assert caught.value.code == "TEMPLATE_TOO_LARGE" and "1048576 bytes of one change" in caught.value.message
    company.documents.mutate(company.caller(), Create("invoice", {**LONG, "note": "x" * 20_000}))
    found = admin.execute("SELECT count(*) FROM workflow_events_outbox WHERE event_type = 'seen'").fetchone()
    assert found == (5,)
