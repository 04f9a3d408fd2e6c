"""A name in a definition, a chain or a contract must be there when it is published, and not before."""

import json
from copy import deepcopy
from typing import Any

import pytest

from signet.authoring.actions import ActionRegistry, ActionResult
from signet.core.documents.rules import Rule
from signet.core.errors import Rejected
from signet.core.validation.strict_model import parse_strictly
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.engine.definitions.designer.preview import DefinitionPreview
from signet.store.database import Database
from signet.store.definitions.rules import save_rule
from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.company import Company, make_company
from tests.support.named_things import publish_patch, supply_mentioned, supply_names

CLERK, NOBODY = {"by": "role", "role": "clerk"}, {"by": "role", "role": "nobody"}


def make_patch(*nodes: dict[str, Any], name: str = "own") -> dict[str, Any]:
    base = {"entity_type": "invoice", "envelope_version": 1}
    return {"patch": name, "base": base, "slots": {"submitted_to_approved": {"nodes": list(nodes)}}}


def ask(*approvers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "step", "type": "approval", "config": {"approvers": list(approvers), **more}}


def tell(*people: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "step",
        "type": "notification",
        "config": {"channel": "sms", "to": list(people), "text": "t"},
    }


def publish(company: Company, patch: dict[str, Any]) -> list[str]:
    """Publish the patch, and return the codes that it was refused for."""
    draft = company.definitions.create(company.caller(), "org_patch", patch)
    try:
        company.definitions.publish(company.caller(), draft.id)
    except Rejected as refused:
        assert refused.code == "DEFINITION_INVALID"
        return [field.code for field in refused.fields]
    return []


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (ask(NOBODY), "ROLE_UNKNOWN"),
        (ask(CLERK, escalate={"after": "P1D", "to": NOBODY}), "ROLE_UNKNOWN"),
        (ask({"by": "expression", "expression": "entity.vendor_id", "who": "nobody"}), "ROLE_UNKNOWN"),
        (tell(NOBODY), "ROLE_UNKNOWN"),
        (ask({"by": "user", "user": "nobody"}), "MEMBER_UNKNOWN"),
        (tell({"by": "user", "user": "nobody"}), "MEMBER_UNKNOWN"),
        ({"id": "step", "type": "approval", "config": {"chain": "nothing"}}, "CHAIN_UNKNOWN"),
        ({"id": "step", "type": "webhook_out", "config": {"endpoint": "nothing"}}, "ENDPOINT_UNKNOWN"),
        ({"id": "step", "type": "action", "config": {"action": "store.set"}}, "ACTION_NOWHERE"),
    ],
)
def test_a_name_that_is_nowhere_is_not_published(company: Company, node: dict[str, Any], code: str) -> None:
    patch = make_patch(node)
    assert publish(company, patch) == [code]
    supply_mentioned(company.database, company.tenant_id, patch)
    assert publish(company, patch) == ([] if code != "ACTION_NOWHERE" else [code])


@pytest.mark.parametrize(
    "node", [ask(CLERK), ask({"by": "user", "user": "carl"}), tell(CLERK), ask({"by": "manager"})]
)
def test_what_is_there_is_published(company: Company, node: dict[str, Any]) -> None:
    assert publish(company, make_patch(node)) == []


def test_a_draft_may_name_what_comes_later_and_the_report_says_so(company: Company) -> None:
    draft = company.definitions.create(company.caller(), "org_patch", make_patch(ask(NOBODY)))
    preview = DefinitionPreview(company.database)
    report = json.loads(preview.compile(company.principal(), draft.id))
    (finding,) = report["findings"]
    assert (report["hash"], report["finding_count"], finding["code"]) == (None, 1, "ROLE_UNKNOWN")
    assert finding["pointer"] == "/slots/submitted_to_approved/nodes/0"
    assert "nobody" in preview.explain(company.principal(), draft.id).text


def test_another_tenants_names_are_not_this_ones(company: Company, database: Database) -> None:
    other = make_company(database)
    supply_names(database, other.tenant_id, roles=["nobody"], members=["ann"])
    assert publish(company, make_patch(ask(NOBODY, {"by": "user", "user": "ann"}))) == [
        "MEMBER_UNKNOWN",
        "ROLE_UNKNOWN",
    ]


def test_a_chain_that_is_not_published_is_nowhere(company: Company) -> None:
    chains, caller = ApprovalChains(company.database), company.caller()
    made = chains.save(caller, {"name": "large", "steps": [{"approvers": [CLERK]}]})
    assert isinstance(made, ChainVersion)
    patch = make_patch({"id": "step", "type": "approval", "config": {"chain": "large"}})
    assert publish(company, patch) == ["CHAIN_UNKNOWN"]
    chains.publish(caller, "large", 1)
    assert publish(company, patch) == []


def test_a_chain_names_people_who_are_there(company: Company) -> None:
    chains, caller = ApprovalChains(company.database), company.caller()
    step = {"approvers": [CLERK, {"by": "user", "user": "ann"}], "escalate": {"after": "P1D", "to": NOBODY}}
    assert isinstance(chains.save(caller, {"name": "large", "steps": [step]}), ChainVersion)
    findings = chains.publish(caller, "large", 1)
    assert isinstance(findings, tuple)
    assert [(f.code, f.place) for f in findings] == [
        ("MEMBER_UNKNOWN", "/steps/0/approvers/1"),
        ("ROLE_UNKNOWN", "/steps/0/escalate/to"),
    ]
    supply_names(company.database, company.tenant_id, roles=["nobody"], members=["ann"])
    assert isinstance(chains.publish(caller, "large", 1), ChainVersion)


def test_a_chain_keeps_the_terms_of_its_voters(company: Company) -> None:
    chains, caller = ApprovalChains(company.database), company.caller()
    plain = chains.save(caller, {"name": "large", "steps": [{"approvers": [CLERK]}]})
    terms = {"same_person": "allowed", "permission": "invoice:approve"}
    made = chains.save(caller, {"name": "large", "steps": [{"approvers": [CLERK]}], **terms})
    assert isinstance(plain, ChainVersion) and isinstance(made, ChainVersion)
    assert (made.version, made.hash != plain.hash) == (2, True)
    chains.publish(caller, "large", 2)
    kept, first = chains.read(caller, "large"), chains.read(caller, "large", 1)
    assert (kept.same_person, kept.permission) == ("allowed", "invoice:approve")
    assert (first.same_person, first.permission) == (None, None)


def test_a_contract_requires_seats_of_a_role_that_is_there(company: Company) -> None:
    slots = deepcopy(read_example("invoice/contract.yaml")["slots"])
    slots["submitted_to_approved"]["requires"] = {"approvals": 1, "role": "nobody"}
    with pytest.raises(Rejected) as caught:
        company.publish("invoice", version=2, slots=slots)
    (field,) = caught.value.fields
    assert (field.code, field.pointer) == ("ROLE_UNKNOWN", "/slots/submitted_to_approved/requires/role")
    supply_names(company.database, company.tenant_id, roles=["nobody"])
    published = company.definitions.publish_contract(company.caller(), "invoice", 2)
    assert [finding.code for finding in published.findings] == ["REQUIRED_SLOT_WAITS"]


def test_a_contract_tells_a_role_that_is_there(company: Company) -> None:
    with pytest.raises(Rejected) as caught:
        company.publish("invoice", version=2, on_incident={"role": "nobody"})
    (field,) = caught.value.fields
    assert (field.code, field.pointer) == ("ROLE_UNKNOWN", "/on_incident/role")
    supply_names(company.database, company.tenant_id, roles=["nobody"])
    published = company.definitions.publish_contract(company.caller(), "invoice", 2)
    assert [finding.code for finding in published.findings] == ["NOBODY_ASKED_YET"]


def test_a_rule_that_is_not_there_is_a_warning(company: Company) -> None:
    check = {"id": "check", "type": "rule", "config": {"rules": ["credit"]}}
    warned = publish_patch(company, make_patch(check))
    assert [(one.code, one.severity) for one in warned.findings] == [("RULE_NOWHERE", "warning")]
    document = {
        "name": "credit",
        "entity_type": "invoice",
        "phase": "before",
        "operations": ["transition"],
        "condition": {"expression": "entity.grand_total > 1"},
        "actions": [{"kind": "reject", "message": "too much"}],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with company.database.transaction(company.tenant_id) as connection:
        save_rule(connection, company.tenant_id, rule, frozenset())
    assert publish_patch(company, make_patch(check)).findings == ()


def test_a_python_action_that_is_not_loaded_is_a_warning(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    actions = {"count": {"kind": "python", "output": {"total": {"type": "int"}}}}
    company.publish("invoice", version=2, actions=actions)
    run = {"id": "run", "type": "action", "config": {"action": "count"}}
    patch = {**make_patch(run), "base": {"entity_type": "invoice", "envelope_version": 2}}
    warned = publish_patch(company, patch)
    assert [(one.code, one.severity) for one in warned.findings] == [("ACTION_NOT_LOADED_HERE", "warning")]
    registry = ActionRegistry()
    registry.action("invoice", "count")(lambda given: ActionResult(output={"total": 1}))
    monkeypatch.setattr("signet.engine.definitions.compilation.REGISTRY", registry)
    again = {**patch, "patch": "other"}
    published = publish_patch(company, again, replaces="own")
    assert [one.code for one in published.findings] == ["PATCH_OUT_OF_FORCE"]


# --- the patch that goes out of force ---


def test_publishing_another_patch_names_the_one_that_goes_out_of_force(company: Company) -> None:
    first = publish_patch(company, make_patch(ask(CLERK), name="first"))
    again = publish_patch(company, make_patch(tell(CLERK), name="first"))
    assert (first.findings, [finding.code for finding in again.findings]) == ((), ["ASKS_NOBODY"])
    second = publish_patch(company, make_patch(ask(CLERK), name="second"), replaces="first")
    (finding,) = second.findings
    assert (finding.code, finding.severity) == ("PATCH_OUT_OF_FORCE", "warning")
    assert "'first', version 2" in finding.sentence
    assert publish_patch(company, make_patch(ask(CLERK), name="second")).findings == ()


def test_another_patch_wants_the_one_that_it_replaces_by_name(company: Company) -> None:
    publish_patch(company, make_patch(ask(CLERK), name="first"))
    for replaces in (None, "third"):
        with pytest.raises(Rejected) as caught:
            publish_patch(company, make_patch(tell(CLERK), name="second"), replaces=replaces)
        assert caught.value.code == "ANOTHER_WORKFLOW_ACTIVE"
        assert caught.value.details == {"active": "first", "version": 1}
        assert "replaces: first" in (caught.value.remedy or "")


def test_what_is_replaced_does_not_come_back(company: Company) -> None:
    first = publish_patch(company, make_patch(ask(CLERK), name="first"))
    publish_patch(company, make_patch(tell(CLERK), name="first"))
    second = publish_patch(company, make_patch(ask(CLERK), name="second"), replaces="first")
    with company.database.transaction(company.tenant_id) as connection:
        published = connection.execute(
            "SELECT id FROM workflow_definitions WHERE definition_kind = 'effective' AND status = 'published'"
        ).fetchall()
        noted: list[Any] = connection.execute(
            "SELECT action, content::jsonb -> 'detail' FROM audit_log"
            " WHERE action = 'replaced' OR content::jsonb -> 'detail' ? 'replaces' ORDER BY action"
        ).fetchall()
    assert published == [(second.definition_id,)]
    (publication, replaced) = noted
    assert publication[1]["replaces"] == "first" and publication[1]["replaced_version"] == 2
    assert replaced[1] == {"name": "first", "version": 2, "by": "second", "by_version": 1}
    with pytest.raises(Rejected) as caught:
        company.definitions.recompile(company.caller(), first.definition_id)
    assert caught.value.code == "ANOTHER_WORKFLOW_ACTIVE"


def test_a_roll_back_replaces_no_other_patch(company: Company) -> None:
    definitions, caller = company.definitions, company.caller()
    draft = definitions.create(caller, "org_patch", make_patch(ask(CLERK), name="first"))
    definitions.publish(caller, draft.id)
    publish_patch(company, make_patch(ask(CLERK), name="second"), replaces="first")
    with pytest.raises(Rejected) as caught:
        definitions.roll_back(caller, draft.id)
    assert caught.value.code == "ANOTHER_WORKFLOW_ACTIVE"


def test_an_archived_patch_was_not_in_force(company: Company) -> None:
    draft = company.definitions.create(company.caller(), "org_patch", make_patch(ask(CLERK), name="first"))
    company.definitions.publish(company.caller(), draft.id)
    company.definitions.archive(company.caller(), draft.id, accepted=("FALLS_BACK", "ASKS_NOBODY"))
    assert publish_patch(company, make_patch(ask(CLERK), name="second")).findings == ()
