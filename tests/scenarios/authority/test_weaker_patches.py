"""A patch that asks nobody, where new documents ask people until now: that is accepted by name."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.definitions.definitions import Published
from tests.support.company import Company
from tests.support.core.approval_policies import role
from tests.support.named_things import supply_mentioned
from tests.support.workflow_stage import CONTRACT, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
SCRIPT = {"id": "sum", "type": "script", "config": {"set": {"total": "entity.amount"}}}


def patch(*nodes: Any) -> dict[str, Any]:
    base = {"entity_type": "bill", "envelope_version": 1}
    return {"patch": "own", "base": base, "slots": {"approval": {"nodes": list(nodes)}}}


@pytest.fixture
def bills(server_url: str) -> Iterator[Company]:
    with standing_stage(server_url) as stage:
        company = stage.standing.company
        definitions, caller = company.definitions, company.caller()
        definitions.create_contract(caller, {**CONTRACT, "contract": "bill"})
        definitions.publish_contract(caller, "bill", 1)
        supply_mentioned(company.database, company.tenant_id, patch(LOOK))
        yield company


def publish(company: Company, document: dict[str, Any], **terms: Any) -> list[str]:
    definitions, caller = company.definitions, company.caller()
    draft = definitions.create(caller, "org_patch", document)
    published = definitions.publish(caller, draft.id, **terms)
    return [finding.code for finding in published.findings if finding.code == "ASKS_NOBODY"]


def test_the_only_approval_is_dropped_by_name_alone(bills: Company) -> None:
    assert publish(bills, patch(LOOK)) == []
    with pytest.raises(Rejected) as refused:
        publish(bills, patch(SCRIPT))
    assert refused.value.code == "FINDINGS_NOT_ACCEPTED"
    assert publish(bills, patch(SCRIPT), accepted=("ASKS_NOBODY",)) == ["ASKS_NOBODY"]


def test_a_patch_that_asks_and_one_after_none_need_no_acceptance(bills: Company) -> None:
    assert publish(bills, patch(SCRIPT)) == []
    assert publish(bills, patch(SCRIPT)) == []
    assert publish(bills, patch(LOOK)) == []
    assert publish(bills, patch(LOOK)) == []


def test_an_older_version_that_asks_nobody_comes_back_with_the_finding(bills: Company) -> None:
    older = bills.definitions.create(bills.caller(), "org_patch", patch(SCRIPT))
    bills.definitions.publish(bills.caller(), older.id)
    assert publish(bills, patch(LOOK)) == []
    rolled = bills.definitions.roll_back(bills.caller(), older.id)
    assert isinstance(rolled, Published)
    assert "ASKS_NOBODY" in {finding.code for finding in rolled.findings}


CALL = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"to": "x"}}}


def acts(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {**patch(LOOK), "slots": {**patch(LOOK)["slots"], "posting": {"nodes": list(nodes)}}}


@pytest.mark.parametrize(
    ("nodes", "named"),
    [
        ([{**CALL, "id": "transfer"}], ["usr:posting:pay", "usr:posting:transfer"]),
        ([CALL], None),
        ([CALL, {**CALL, "id": "tell"}], None),
        ([SCRIPT], None),
    ],
    ids=["renamed", "the same", "one more", "gone"],
)
def test_an_acting_node_that_is_renamed_is_named(
    bills: Company, nodes: list[dict[str, Any]], named: list[str] | None
) -> None:
    supply_mentioned(bills.database, bills.tenant_id, acts(CALL))
    definitions, caller = bills.definitions, bills.caller()
    edges = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)]
    found: list[Any] = []
    for posting in ({"nodes": [CALL]}, {"nodes": nodes, "edges": edges}):
        document = {**acts(), "slots": {**acts()["slots"], "posting": posting}}
        published = definitions.publish(caller, definitions.create(caller, "org_patch", document).id)
        found = [finding for finding in published.findings if finding.code == "NODE_RENAMED"]
    said = [[finding.parameters["gone"], finding.parameters["added"]] for finding in found]
    assert said == ([] if named is None else [named])


def test_an_amount_of_another_scale_is_named_when_its_contract_is_published(bills: Company) -> None:
    definitions, caller = bills.definitions, bills.caller()
    fields = {**CONTRACT["fields"], "sum": {"type": "decimal", "scale": 4}}
    definitions.create_contract(caller, {**CONTRACT, "contract": "payment", "fields": fields})
    definitions.publish_contract(caller, "payment", 1)
    pay = {"kind": "create", "entity_type": "payment", "set": {"sum": {"$expr": "entity.amount"}}}
    for scale, named in ((2, True), (4, False)):
        fields = {"amount": {"type": "decimal", "scale": scale}, "is_posted": {"type": "bool"}}
        contract = {**CONTRACT, "contract": f"order_{scale}", "fields": fields, "actions": {"pay": pay}}
        definitions.create_contract(caller, contract)
        published = definitions.publish_contract(caller, f"order_{scale}", 1)
        assert ("SCALE_DIFFERS" in {finding.code for finding in published.findings}) == named
