"""Restarts: a document without a live instance begins again where its last one stood."""

from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.document_restarts import RestartOutcome, Restarts
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.engine.instances.moves import MoveTarget
from tests.support.moved_instances import ASK, CALLING, codes_of, decide, olga, version_of
from tests.support.operated_instances import check, submitted
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

ASKING: dict[str, Any] = {"nodes": [ASK]}
WHY = "the ledger is back"
REVIEW, BEHIND = "sys:state:submitted", "sys:slot:posting:in"


@pytest.fixture(autouse=True)
def asked_person(anna: str) -> str:
    return anna


@pytest.fixture
def restarts(stage: WorkflowStage) -> Restarts:
    return Restarts(stage.standing.company.database, stage.caches(), CompiledCache())


def restart(stage: WorkflowStage, restarts: Restarts, made: Made, **more: Any) -> RestartOutcome:
    return restarts.restart(olga(stage), made.id, stage.version_of(made.id), WHY, **more)


def end(stage: WorkflowStage, operators: Instances, made: Made, act: str = "cancel", **more: Any) -> None:
    getattr(operators, act)(olga(stage), made.instance_id, version_of(stage, made), "not like this", **more)
    stage.drain()


def again(stage: WorkflowStage, made: Made) -> Made:
    return Made(made.id, stage.instance_of(made.id))


def incidents_of(stage: WorkflowStage, document_id: UUID) -> list[tuple[Any, ...]]:
    """Return (code, closing, closed_by), the oldest first."""
    return stage.standing.rows(
        "SELECT code, closing, closed_by FROM incidents WHERE entity_id = %s ORDER BY id", document_id
    )


def test_r2_what_a_person_cancelled_begins_again(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = submitted(stage, approval=ASKING)
    end(stage, operators, made, then="leave")
    assert incidents_of(stage, made.id) == [("DOCUMENT_WITHOUT_WORKFLOW", None, None)]
    report = restarts.report(olga(stage), made.id)
    assert (report.outcome, report.node, report.instance_id, report.repeats) == ("safe", REVIEW, None, [])
    done = restart(stage, restarts, made)
    assert (done.outcome, done.version) == ("restarted", stage.version_of(made.id))
    stage.drain()
    begun = again(stage, made)
    assert begun.instance_id == done.instance_id != made.instance_id
    row = stage.instance(begun.instance_id)
    # It acts for the person who asked, and not for the operator.
    assert (row["status"], row["current_nodes"], row["actor_id"]) == ("running", ["usr:approval:ask"], "carl")
    assert incidents_of(stage, made.id) == [("DOCUMENT_WITHOUT_WORKFLOW", "restarted", "olga")]
    check(stage, begun)


def test_the_trail_names_who_restarted_it(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = submitted(stage, approval=ASKING)
    end(stage, operators, made, "fail", then="leave")
    restart(stage, restarts, made)
    row = stage.standing.row(
        "SELECT actor_id, content::jsonb ->> 'reason', content::jsonb -> 'detail' ->> 'node',"
        " content::jsonb -> 'detail' ->> 'ended_instance' FROM audit_log"
        " WHERE subject_id = %s AND content::jsonb ->> 'action' = 'restart'",
        str(made.id),
    )
    assert row == ("olga", WHY, REVIEW, str(made.instance_id))


def test_r2_cancel_wants_to_know_what_follows(stage: WorkflowStage, operators: Instances) -> None:
    made = submitted(stage, approval=ASKING)
    with pytest.raises(Rejected) as refused:
        end(stage, operators, made)
    assert refused.value.code == "INSTANCE_SEQUEL_MISSING"
    assert "`restart`" in refused.value.remedy and "`leave`" in refused.value.remedy
    end(stage, operators, made, then="restart")
    begun = again(stage, made)
    assert stage.instance(made.instance_id)["status"] == "cancelled"
    assert stage.instance(begun.instance_id)["current_nodes"] == ["usr:approval:ask"]
    assert incidents_of(stage, made.id) == []
    check(stage, begun)


def test_where_people_can_ask_nothing_must_follow(stage: WorkflowStage, operators: Instances) -> None:
    made = stage.create(stage.publish())
    stage.drain()
    end(stage, operators, made, then="leave")
    assert incidents_of(stage, made.id) == []


def test_r8_a_refused_request_restarts_nothing(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    contract = {
        **CONTRACT,
        "transitions": {
            **CONTRACT["transitions"],
            "cancel": {**CONTRACT["transitions"]["cancel"], "condition": "entity.amount > 5"},
        },
    }
    made = submitted(stage, contract, approval=ASKING)
    end(stage, operators, made, then="leave")
    asked = stage.ask(made.id, "cancel")
    stage.drain()
    (status,) = stage.standing.row("SELECT status FROM transition_requests WHERE id = %s", asked.request_id)
    begun = again(stage, made)
    assert (status, stage.instance(begun.instance_id)["status"]) == ("refused", "cancelled")
    assert stage.standing.row("SELECT count(*) FROM approval_requests WHERE document_id = %s", made.id) == (
        1,
    )
    # The document is without a workflow again, and says so.
    code = "DOCUMENT_WITHOUT_WORKFLOW"
    assert incidents_of(stage, made.id) == [(code, "went_on", "carl"), (code, None, None)]
    check(stage, begun)
    assert restart(stage, restarts, made).outcome == "restarted"


def test_an_interrupt_that_is_performed_closes_the_incident(
    stage: WorkflowStage, operators: Instances
) -> None:
    made = submitted(stage, approval=ASKING)
    end(stage, operators, made, then="leave")
    stage.ask(made.id, "cancel")
    stage.drain()
    assert stage.status_of(made.id) == "cancelled"
    assert incidents_of(stage, made.id) == [("DOCUMENT_WITHOUT_WORKFLOW", "went_on", "carl")]


def test_r15_a_document_that_is_dead_at_birth_begins_again(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    transitions = {**CONTRACT["transitions"]}
    transitions["submit"] = {**transitions["submit"], "kind": "automatic"}
    transitions["approve"] = {**transitions["approve"], "rejected_to": None}
    made = stage.create(stage.publish({**CONTRACT, "transitions": transitions}, checks=CALLING))
    stage.drain()
    end(stage, operators, made, "fail", then="leave")
    done = restart(stage, restarts, made)
    stage.drain()
    assert (done.node, done.repeats) == ("sys:state:draft", [])
    begun = again(stage, made)
    assert stage.instance(begun.instance_id)["current_nodes"] == ["usr:checks:call"]
    stage.answer(begun.instance_id, body={})
    stage.drain()
    assert stage.status_of(made.id) == "active"


def test_behind_a_passed_gate_it_begins_at_the_slot(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = submitted(stage, posting=CALLING)
    assert stage.status_of(made.id) == "active"
    end(stage, operators, made, "fail")
    done = restart(stage, restarts, made)
    stage.drain()
    begun = again(stage, made)
    assert (done.node, done.repeats) == (BEHIND, [])
    assert stage.instance(begun.instance_id)["current_nodes"] == ["usr:posting:call"]
    stage.answer(begun.instance_id, body={})
    stage.drain()
    assert stage.instance(begun.instance_id)["status"] == "completed"
    check(stage, begun)


def test_r14_it_begins_under_a_newer_contract(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = submitted(stage, approval=ASKING)
    end(stage, operators, made, then="leave")
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", made.id)
    reopen = {"from": ["submitted"], "to": "draft", "kind": "interrupting"}
    stage.publish_contract(entity_type, 2, transitions={**CONTRACT["transitions"], "reopen": reopen})
    version = stage.publish_next(entity_type, 2, approval=ASKING)
    done = restart(stage, restarts, made, target=MoveTarget(version))
    assert (done.outcome, done.definition.version) == ("restarted", version)
    stage.drain()
    stage.ask(made.id, "reopen")
    stage.drain()
    assert stage.status_of(made.id) == "draft"
    (contract_version,) = stage.standing.row("SELECT contract_version FROM documents WHERE id = %s", made.id)
    assert contract_version == 2


def test_what_a_move_would_block_is_blocked(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = submitted(stage, approval=ASKING)
    end(stage, operators, made, then="leave")
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", made.id)
    fields = {**CONTRACT["fields"], "urgency": {"type": "string", "required": True}}
    stage.publish_contract(entity_type, 2, fields=fields)
    version = stage.publish_next(entity_type, 2, approval=ASKING)
    blocked = restart(stage, restarts, made, target=MoveTarget(version))
    assert (blocked.outcome, codes_of(blocked.report)) == ("blocked", ["FIELDS_CHANGED"])
    assert "its own definition" in blocked.report.obstacles[0].remedy
    assert stage.instance_of(made.id) == made.instance_id
    with pytest.raises(Rejected) as missing:
        restart(stage, restarts, made, target=MoveTarget(99))
    assert missing.value.code == "DEFINITION_NOT_FOUND"


def test_an_archived_definition_is_followed_by_the_newest(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = submitted(stage, approval=ASKING)
    end(stage, operators, made, then="leave")
    stage.standing.run(
        "UPDATE workflow_definitions SET status = 'archived' WHERE id ="
        " (SELECT definition_id FROM workflow_instances WHERE id = %s)",
        made.instance_id,
    )
    done = restart(stage, restarts, made)
    assert (done.outcome, done.definition.workflow.kind) == ("restarted", "envelope")


def test_it_is_refused_where_nothing_is_to_begin(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    running = submitted(stage, approval=ASKING)
    with pytest.raises(Rejected, match="has a workflow already"):
        restart(stage, restarts, running)
    settled = submitted(stage)
    assert stage.status_of(settled.id) == "active"
    with pytest.raises(Rejected, match="nothing is left to do"):
        restart(stage, restarts, settled)
    with pytest.raises(Rejected) as unknown:
        restarts.restart(olga(stage), running.instance_id, 1, WHY)
    assert unknown.value.code == "DOCUMENT_NOT_FOUND"
    end(stage, operators, running, then="leave")
    with pytest.raises(Rejected) as conflict:
        restarts.restart(olga(stage), running.id, 99, WHY)
    assert conflict.value.code == "DOCUMENT_VERSION_CONFLICT"


def test_it_wants_its_own_permission(stage: WorkflowStage, operators: Instances, restarts: Restarts) -> None:
    made = submitted(stage, approval=ASKING)
    clerk = stage.standing.company.caller("carl", "clerk")
    with pytest.raises(Rejected) as denied:
        restarts.report(clerk, made.id)
    assert denied.value.code == "PERMISSION_DENIED"
    with pytest.raises(Rejected) as denied:
        restarts.restart(clerk, made.id, 1, WHY)
    assert denied.value.code == "PERMISSION_DENIED"


def test_deleting_the_document_closes_its_incident(stage: WorkflowStage, operators: Instances) -> None:
    contract = {**CONTRACT, "deletable_in": ["submitted"]}
    made = submitted(stage, contract, approval=ASKING)
    end(stage, operators, made, then="leave")
    stage.delete(made.id)
    assert incidents_of(stage, made.id) == [("DOCUMENT_WITHOUT_WORKFLOW", "ended", "carl")]


# What people approved is booked before it is in force, and nobody can ask for that.
BOOKED: dict[str, Any] = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "approved": {"edit": "locked"}},
    "transitions": {
        **CONTRACT["transitions"],
        "approve": {**CONTRACT["transitions"]["approve"], "to": "approved"},
        "book": {"from": ["approved"], "to": "active", "kind": "automatic"},
    },
    "slots": {**CONTRACT["slots"], "booking": {"transition": "book"}},
}


def booking(stage: WorkflowStage) -> Made:
    made = submitted(stage, BOOKED, approval=ASKING, booking=CALLING)
    decide(stage, made, "anna")
    assert stage.instance(made.instance_id)["current_nodes"] == ["usr:booking:call"]
    return made


@pytest.mark.parametrize("act", ["cancel", "fail"])
@pytest.mark.parametrize("then", ["leave", "restart"])
def test_nobody_ends_what_could_not_begin_again(
    stage: WorkflowStage, operators: Instances, act: str, then: Any
) -> None:
    """The call may have arrived, and what was approved is done once: no restart would begin before it."""
    made = booking(stage)
    stage.answer(made.instance_id, error="refused: 400")
    stage.drain()
    wanted = IncidentFilter(instance_id=made.instance_id)
    (listed,) = list_open(stage.standing.company.database, stage.tenant_id, wanted, limit=9)
    assert [each.name for each in listed.acts] == ["retry", "skip"]
    with pytest.raises(Rejected) as caught:
        end(stage, operators, made, act, then=then)
    assert caught.value.code == "INSTANCE_TARGET_REPEATS"
    assert "usr:booking:call" in caught.value.message
    assert stage.instance(made.instance_id)["status"] == "paused"
    operators.retry(olga(stage), made.instance_id, version_of(stage, made), WHY)
    stage.drain()
    stage.answer(made.instance_id, body={})
    stage.drain()
    assert stage.status_of(made.id) == "active"


def test_what_was_not_called_yet_may_be_left(
    stage: WorkflowStage, operators: Instances, restarts: Restarts
) -> None:
    made = booking(stage)
    end(stage, operators, made, then="leave")
    assert restart(stage, restarts, made).node == "sys:state:approved"


def test_a_token_is_not_cancelled_where_its_gate_would_stay_shut(
    stage: WorkflowStage, operators: Instances
) -> None:
    """Refuse it, because the call is made once and no act sends the document back."""
    made = booking(stage)
    with pytest.raises(Rejected) as caught:
        operators.cancel_token(olga(stage), made.instance_id, version_of(stage, made), "T", WHY)
    assert caught.value.code == "INSTANCE_TOKEN_NOT_CANCELLABLE"
    assert "sys:gate:book" in caught.value.message


@pytest.mark.parametrize("reason", ["", "   "])
def test_a_restart_says_why(
    stage: WorkflowStage, operators: Instances, restarts: Restarts, reason: str
) -> None:
    made = submitted(stage, checks=ASKING)
    operators.cancel(olga(stage), made.instance_id, version_of(stage, made), WHY)
    with pytest.raises(Rejected) as refused:
        restarts.restart(olga(stage), made.id, stage.version_of(made.id), reason)
    assert refused.value.code == "FIELDS_INVALID"
