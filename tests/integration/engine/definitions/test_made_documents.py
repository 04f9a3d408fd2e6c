"""A type that is made behind an approval, and may be edited unasked: who publishes either of both is told."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.scenarios.authority.payments import (
    GIVEN,
    LOOK,
    MAKE,
    PAY,
    STATES,
    fill,
    publish_payments,
    standing_payments,
)
from tests.support.named_things import publish_patch
from tests.support.workflow_stage import CONTRACT, WorkflowStage

CODE = "EDITABLE_WHEN_MADE"
ACCEPTED = {**STATES["new"], "after_approval": "editable"}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_payments(server_url) as made:
        yield made


def publish_orders(stage: WorkflowStage, payment: str, **slots: Any) -> list[str]:
    """Publish orders that make such payments, and return what is found."""
    make = {"kind": "create", "entity_type": payment, "set": GIVEN}
    order = stage.publish({**CONTRACT, "actions": {"make": make}})
    return publish_next(stage, order, **slots)


def publish_next(stage: WorkflowStage, entity_type: str, version: int = 1, **slots: Any) -> list[str]:
    base = {"entity_type": entity_type, "envelope_version": version}
    published = publish_patch(
        stage.standing.company, {"patch": "own", "base": base, "slots": dict(fill(slots))}
    )
    return [finding.sentence for finding in published.findings if finding.code == CODE]


@pytest.mark.parametrize("posting", [{"posting": [MAKE]}, {}], ids=["step", "hand"])
def test_who_publishes_what_makes_it_is_told(stage: WorkflowStage, posting: Mapping[str, Any]) -> None:
    payment = publish_payments(stage, before_go=[PAY])
    (sentence,) = publish_orders(stage, payment, approval=[LOOK], **posting)
    assert sentence.endswith("People may edit that in 'new', and a way from there asks nobody.")


def test_who_publishes_what_is_made_is_told(stage: WorkflowStage) -> None:
    payment = publish_payments(stage)
    assert len(publish_orders(stage, payment, approval=[LOOK], posting=[MAKE])) == 1
    assert len(publish_next(stage, payment, before_go=[PAY])) == 1
    assert publish_next(stage, payment, before_go=[LOOK, PAY]) == []


def test_who_publishes_a_contract_of_what_is_made_is_told(stage: WorkflowStage) -> None:
    """Its new documents run the bare lifecycle, as long as no patch is in force."""
    payment = publish_payments(stage)
    publish_orders(stage, payment, approval=[LOOK], posting=[MAKE])
    definitions, caller = stage.standing.company.definitions, stage.standing.company.caller()
    row = stage.standing.row("SELECT body::json FROM contracts WHERE entity_type = %s", payment)
    definitions.create_contract(caller, {**row[0], "version": 2})
    published = definitions.publish_contract(caller, payment, 2)
    assert [finding.code for finding in published.findings] == [CODE]
    publish_next(stage, payment, 2, before_go=[PAY])
    definitions.create_contract(caller, {**row[0], "version": 3})
    assert CODE not in {f.code for f in definitions.publish_contract(caller, payment, 3).findings}


@pytest.mark.parametrize(
    ("changes", "slots"),
    [
        ({"before_go": [LOOK]}, {"approval": [LOOK], "posting": [MAKE]}),
        ({"new": ACCEPTED}, {"approval": [LOOK], "posting": [MAKE]}),
        ({"new": {**STATES["new"], "edit": "locked"}}, {"approval": [LOOK], "posting": [MAKE]}),
        ({}, {"posting": [MAKE]}),
        ({}, {"checks": [MAKE], "approval": [LOOK]}),
    ],
    ids=["it asks", "it is accepted", "it is locked", "nobody approves", "it is made before"],
)
def test_where_nothing_is_held_nothing_is_found(
    stage: WorkflowStage, changes: Mapping[str, Any], slots: Mapping[str, Any]
) -> None:
    payment = publish_payments(stage, **changes)
    assert publish_orders(stage, payment, **slots) == []
