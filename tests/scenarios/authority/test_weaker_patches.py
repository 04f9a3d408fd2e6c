"""A patch that asks nobody, where new documents ask people until now: that is accepted by name."""

from collections.abc import Iterator
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
