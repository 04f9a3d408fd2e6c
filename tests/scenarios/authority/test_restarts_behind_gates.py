"""Restarts behind a gate: what people approved goes on, and who has a part in it restarts nothing."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.dead_effects import DeadEffects
from signet.engine.instances.document_restarts import RestartOutcome, Restarts
from signet.engine.instances.explain import explain
from signet.engine.instances.moves import MoveTarget
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import edit, list_asked, newest, submit, vote
from tests.scenarios.authority.test_done_once import (
    APPROVED,
    BOOKED,
    LOOK,
    PAY,
    ask_reverse,
    linear,
    list_paid,
    operator,
    where,
)
from tests.support.core.approval_policies import role
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

DUTIES = "SEPARATION_OF_DUTIES"
RATE = {"id": "rate", "type": "script", "config": {"set": {"held": "entity.amount > 50"}}}
# Only what is held needs the second approval.
CHOICE = {"id": "choice", "type": "condition"}
SECOND = {"id": "second", "type": "approval", "config": {"approvers": [role("fin")]}}
HELD: Mapping[str, Any] = {
    "exit": "join",
    "nodes": [CHOICE, SECOND, PAY],
    "edges": [
        {"source": "choice", "target": "second", "condition": "context.held == true"},
        {"source": "choice", "target": "pay"},
        {"source": "second", "target": "pay"},
        {"source": "pay", "target": "out"},
    ],
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("bea", "ben", "carl", "max", "otto")
        ]
        members.append(Member(user_id="fiona", display_name="Fiona", roles=("fin", "admin")))
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            fin = Role(role="fin", permissions=("*:approve",))
            save_roles(connection, made.tenant_id, (fin,), COMMAND_LINE)
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def rated(stage: WorkflowStage) -> Made:
    """Let a document be approved as one that needs the second approval behind the gate."""
    slots = {"approval": linear(RATE, LOOK), "booking": HELD, "reversal": linear(LOOK)}
    document = stage.create(stage.publish(BOOKED, **slots), "carl", number="P1", amount=100)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    assert list_asked(stage, document) == ["@fin"]
    return document


def instances(stage: WorkflowStage) -> Instances:
    return Instances(stage.standing.company.database, stage.caches(), CompiledCache())


def cancel(stage: WorkflowStage, document: Made, person: str = "otto", then: Any = None) -> str:
    try:
        instances(stage).cancel(
            operator(stage, person), document.instance_id, version(stage, document), "x", then
        )
    except Rejected as refused:
        return refused.code
    stage.drain()
    return "done"


def restart(
    stage: WorkflowStage, document: Made, person: str = "otto", target: MoveTarget | None = None
) -> RestartOutcome:
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    seen = stage.version_of(document.id)
    outcome = restarts.restart(operator(stage, person), document.id, seen, "x", target)
    stage.drain()
    return outcome


def test_what_was_approved_survives_a_restart(stage: WorkflowStage) -> None:
    document = rated(stage)
    assert cancel(stage, document, then="restart") == "done"
    begun = stage.instance_of(document.id)
    assert begun != document.instance_id and stage.instance(begun)["context_json"]["held"] is True
    assert list_asked(stage, document) == ["@fin"] and list_paid(stage, document) == []
    stage.check_rebuild(begun)


def test_what_was_approved_survives_a_request(stage: WorkflowStage) -> None:
    """The next request begins the new instance; where it comes to nothing, the second approval is asked."""
    document = rated(stage)
    assert cancel(stage, document) == "done"
    ask_reverse(stage, document)
    assert vote(stage, document.id, "ben", "rejected") == "rejected"
    assert list_asked(stage, document) == ["@fin"] and list_paid(stage, document) == []
    stage.check_rebuild(stage.instance_of(document.id))


@pytest.mark.parametrize("person", ["carl", "bea"])
@pytest.mark.parametrize("then", [None, "leave", "restart"])
def test_people_with_a_part_end_nothing_behind_a_gate(
    stage: WorkflowStage, person: str, then: str | None
) -> None:
    document = rated(stage)
    assert cancel(stage, document, person, then) == DUTIES
    assert list_asked(stage, document) == ["@fin"]


@pytest.mark.parametrize("person", ["carl", "bea"])
def test_people_with_a_part_restart_nothing_behind_a_gate(stage: WorkflowStage, person: str) -> None:
    document = rated(stage)
    assert cancel(stage, document) == "done"
    with pytest.raises(Rejected) as refused:
        restart(stage, document, person)
    assert refused.value.code == DUTIES
    assert restart(stage, document).outcome == "restarted"


def test_before_the_gate_people_restart_as_before(stage: WorkflowStage) -> None:
    """The lawful way beside it: nothing is approved yet."""
    document = stage.create(stage.publish(BOOKED, approval=linear(LOOK)), "carl")
    submit(stage, document, "carl")
    assert cancel(stage, document, "carl") == "done"
    assert restart(stage, document, "carl").outcome == "restarted"


def test_a_restart_reads_nothing_that_no_approval_pinned(stage: WorkflowStage) -> None:
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    contract = {**BOOKED, "fields": {**CONTRACT["fields"], "vendor": ref}}
    supplier = stage.create(vendor, "carl", number="GOOD")
    entity_type = stage.publish(contract, approval=linear(LOOK), booking=linear(PAY))
    document = stage.create(entity_type, "carl", vendor=str(supplier.id))
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    config = {"endpoint": "erp", "payload": {"iban": {"$expr": "entity.vendor.number"}, "amount": 1}}
    other = {"id": "transfer", "type": "webhook_out", "config": config}
    newer = stage.publish_next(entity_type, approval=linear(LOOK), booking=linear(other))
    assert cancel(stage, document) == "done"
    edit(stage, supplier, "max", number="FRAUD")
    outcome = restart(stage, document, target=MoveTarget(newer))
    assert outcome.outcome == "blocked"
    assert [obstacle.code for obstacle in outcome.report.obstacles] == ["READS_UNPINNED"]
    assert restart(stage, document).outcome == "restarted", "its own reads what it read"


def test_without_four_eyes_who_restarts_under_other_approvals_is_named(stage: WorkflowStage) -> None:
    entity_type = stage.publish(approval=linear(LOOK, {**LOOK, "id": "again"}))
    document = stage.create(entity_type, "carl")
    submit(stage, document, "carl")
    newer = stage.publish_next(entity_type, approval=linear(LOOK))
    assert cancel(stage, document, then="leave") == "done"
    assert restart(stage, document, target=MoveTarget(newer)).report.changes_approvals
    for _ in range(2):
        company = stage.standing.company
        approvals = Approvals(company.database, stage.caches())
        shown = approvals.read_request(company.caller("bea"), newest(stage, document.id))
        assert shown.control.moved_by == ["otto"]
        begun = stage.instance_of(document.id)
        explained = explain(company.database, stage.caches().contracts, stage.tenant_id, begun)
        assert explained.control is not None and explained.control.moved_by == ["otto"]
        assert "otto" in "".join(write_instance(explained))
        # A later restart under the same definition changes nothing of that.
        assert cancel(stage, Made(document.id, begun), "max", "restart") == "done"


def test_a_call_of_a_way_that_was_rejected_is_not_sent(stage: WorkflowStage) -> None:
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"amount": 1}}}
    slot = {
        "exit": "join",
        "nodes": [call, LOOK],
        "edges": [
            {"source": "call", "target": "look"},
            {"source": "call", "target": "look", "on": "error"},
            {"source": "look", "target": "out"},
        ],
    }
    document = stage.create(stage.publish(BOOKED, approval=slot), "carl")
    submit(stage, document, "carl")
    stage.answer(document.instance_id, error="gone")
    stage.drain()
    (effect,) = stage.standing.row(
        "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s", document.instance_id
    )
    requeue = DeadEffects(stage.standing.company.database, stage.caches(), CompiledCache()).requeue
    strange = [UUID("ffffffff-ffff-4fff-bfff-ffffffffffff"), UUID("ffffffff-ffff-7fff-bfff-ffffffffffff")]
    assert requeue(operator(stage), [effect, *strange], "it is back") == {effect}, "it is still on its way"
    stage.answer(document.instance_id, error="gone")
    assert vote(stage, document.id, "bea", "rejected") == "rejected"
    assert where(stage, document) == ["sys:state:draft"]
    send = partial(requeue, operator(stage), [effect], "it is back")
    with pytest.raises(Rejected) as refused:
        send()
    assert refused.value.code == "EFFECT_LEFT_BEHIND"
