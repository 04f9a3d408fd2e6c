"""Instances that cannot be moved, and callers that may not move them: nothing changes."""

from itertools import product
from typing import LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.repair.move_check import Report
from signet.core.tenants.caller import Caller
from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.actions import Instances
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from signet.store.instances.moves import ExpectedInstance
from tests.support.company import make_company
from tests.support.database.runtime_roles import as_role
from tests.support.moved_instances import (
    ASK,
    CALLING,
    SAY,
    SAYING,
    WAITING,
    calling,
    codes,
    move,
    olga,
    pin_of,
    submit,
    version_of,
)
from tests.support.workflow_stage import CALL, CONTRACT, WorkflowStage

COUNTS: LiteralString = (
    "SELECT (SELECT count(*) FROM workflow_step_executions), (SELECT count(*) FROM workflow_event),"
    " (SELECT count(*) FROM audit_log), (SELECT count(*) FROM workflow_events_outbox)"
)


# --- blocked ---


def test_one_that_is_blocked_stays_as_it_is(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval={"nodes": [SAY]})
    before, counts = stage.instance(made.instance_id), stage.standing.row(COUNTS)
    outcome = move(moves, stage, made, 2)
    assert (outcome.outcome, outcome.version, codes(outcome)) == ("blocked", before["version"], ["NODE_GONE"])
    assert (stage.instance(made.instance_id), stage.standing.row(COUNTS)) == (before, counts)
    stage.answer(made.instance_id)
    stage.drain()
    assert stage.instance(made.instance_id)["status"] == "completed"


def test_a_report_changes_nothing(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    stage.publish_next(entity_type, approval={"nodes": [SAY]})
    before, counts = stage.instance(made.instance_id), stage.standing.row(COUNTS)
    safe = moves.report(olga(stage), made.instance_id, MoveTarget(2))
    blocked = moves.report(olga(stage), made.instance_id, MoveTarget(3))
    assert (safe.outcome, safe.version, blocked.outcome) == ("safe", before["version"], "blocked")
    assert isinstance(safe.report, Report) and safe.report.is_safe
    assert (stage.instance(made.instance_id), stage.standing.row(COUNTS)) == (before, counts)


def test_what_was_approved_under_one_definition_is_not_used_under_another(
    stage: WorkflowStage, moves: InstanceMoves, anna: str
) -> None:
    """Block the move while people are asked, and until the gate has used their approval (WF-03)."""
    asking = {"nodes": [ASK, CALL], "edges": [{"source": "ask", "target": "call"}]}
    entity_type = stage.publish(approval=asking)
    made = submit(stage, entity_type)
    asked = {**ASK, "config": {**ASK["config"], "quorum": "any"}}  # type: ignore[dict-item]
    stage.publish_next(entity_type, approval={**asking, "nodes": [asked, CALL]})
    assert codes(move(moves, stage, made, 2)) == ["APPROVAL_OPEN"]
    (request_id,) = stage.standing.row(
        "SELECT id FROM approval_requests WHERE instance_id = %s", made.instance_id
    )
    approvals = Approvals(stage.standing.company.database, stage.caches())
    approvals.decide(stage.standing.company.caller(anna, "clerk"), request_id, "approved", "seen")
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == [WAITING]
    assert codes(move(moves, stage, made, 2)) == ["APPROVAL_UNUSED"]
    stage.answer(made.instance_id)
    stage.drain()
    assert stage.status_of(made.id) == "active"
    assert stage.standing.row("SELECT status, applied FROM approval_requests WHERE id = %s", request_id) == (
        "approved",
        True,
    )


def test_an_edit_that_it_has_not_seen_goes_first(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type = stage.publish(checks=CALLING)
    made = stage.create(entity_type)
    stage.drain()
    stage.publish_next(entity_type, checks={"nodes": [SAY]})
    stage.edit(made.id, amount=5)
    assert codes(move(moves, stage, made, 2)) == ["EDIT_NOT_TAKEN"]
    stage.drain()
    assert move(moves, stage, made, 2).outcome == "moved"
    stage.check_rebuild(made.instance_id)


def test_a_document_that_another_contract_would_not_take_stays(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    entity_type, made = calling(stage)
    wanted = {"type": "string", "required": True}
    stage.publish_contract(entity_type, 2, fields={**CONTRACT["fields"], "wanted": wanted})
    assert stage.publish_next(entity_type, 2, approval=SAYING) == 2
    assert codes(move(moves, stage, made, 2)) == ["FIELDS_CHANGED"]
    assert stage.standing.row("SELECT contract_version FROM documents WHERE id = %s", made.id) == (1,)


def test_an_older_definition_is_not_moved_to(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type, _ = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    made = submit(stage, entity_type)
    for version in (1, 2):
        assert codes(move(moves, stage, made, version)) == ["DEFINITION_NOT_NEWER"]


def test_a_row_that_lags_is_made_anew_before_it_is_moved(stage: WorkflowStage, moves: InstanceMoves) -> None:
    """Report the lagging row, but rebuild it before the move."""
    entity_type, made = calling(stage)
    at_rest = stage.instance(made.instance_id)
    stage.publish_next(entity_type, approval=SAYING)
    stage.put_back({**at_rest, "version": at_rest["version"] - 1})
    assert codes(moves.report(olga(stage), made.instance_id, MoveTarget(2))) == ["ROW_LAGS"]
    outcome = moves.move(olga(stage), made.instance_id, at_rest["version"], MoveTarget(2))
    assert outcome.outcome == "moved"
    stage.check_rebuild(made.instance_id)


# --- refused ---


def test_who_may_not_move_learns_nothing(stage: WorkflowStage, moves: InstanceMoves) -> None:
    _, made = calling(stage)
    stage.standing.run(
        "INSERT INTO roles (tenant_id, role, permissions) VALUES"
        " (%s, 'mover', '{workflow:move}'), (%s, 'operator', '{workflow:operate,workflow:control}')",
        stage.tenant_id,
        stage.tenant_id,
    )
    try:
        for instance_id, role in product((made.instance_id, uuid4()), ("operator", "nobody")):
            for act in (
                lambda author, one: moves.move(author, one, 1, MoveTarget(2)),
                lambda author, one: moves.report(author, one, MoveTarget(2)),
                lambda author, _: moves.list_movable(author, "thing", "own", 2),
                lambda author, one: moves.move_many(author, [ExpectedInstance(one, 1)], MoveTarget(2)),
            ):
                with pytest.raises(Rejected) as caught:
                    act(olga(stage, role), instance_id)
                assert caught.value.code == "PERMISSION_DENIED"
        with pytest.raises(Rejected) as caught:
            moves.report(olga(stage, "mover"), made.instance_id, MoveTarget(2))
        assert caught.value.code == "DEFINITION_NOT_FOUND"
    finally:
        stage.standing.run("DELETE FROM roles WHERE role IN ('mover', 'operator')")


def test_who_saw_another_version_is_told_the_current_one(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    current = version_of(stage, made)
    with pytest.raises(Rejected) as caught:
        moves.move(olga(stage), made.instance_id, current - 1, MoveTarget(2))
    assert caught.value.code == "INSTANCE_VERSION_CONFLICT"
    assert caught.value.details == {"current_version": current}
    assert pin_of(stage, made) == ("effective", "own", 1)


def test_what_has_ended_is_not_there_or_is_not_published_cannot_be_moved(
    stage: WorkflowStage, moves: InstanceMoves, operators: Instances
) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    company = stage.standing.company
    found: list[str] = []

    def refused(instance_id: UUID, seen: int, caller: Caller, version: int, name: str | None = None) -> None:
        with pytest.raises(Rejected) as caught:
            moves.move(caller, instance_id, seen, MoveTarget(version, name))
        found.append(caught.value.code)

    refused(uuid4(), 1, olga(stage), version=2)
    refused(made.instance_id, version_of(stage, made), make_company(company.database).caller(), version=2)
    refused(made.instance_id, version_of(stage, made), olga(stage), version=3)
    refused(made.instance_id, version_of(stage, made), olga(stage), version=2, name="other")
    (newest,) = stage.standing.row(
        "SELECT id FROM workflow_definitions WHERE entity_type = %s AND version = 2"
        " AND definition_kind = 'effective'",
        entity_type,
    )
    company.definitions.archive(company.caller(), newest, accepted=("FALLS_BACK", "ASKS_NOBODY"))
    refused(made.instance_id, version_of(stage, made), olga(stage), version=2)
    operators.fail(olga(stage), made.instance_id, version_of(stage, made), "given up", "leave")
    refused(made.instance_id, version_of(stage, made), olga(stage), version=2)
    absent, unknown = "INSTANCE_NOT_FOUND", "DEFINITION_NOT_FOUND"
    assert found == [absent, absent, unknown, unknown, unknown, "INSTANCE_ENDED"]


def test_a_reason_can_be_kept(stage: WorkflowStage, moves: InstanceMoves) -> None:
    _, made = calling(stage)
    with pytest.raises(Rejected) as caught:
        moves.move(olga(stage), made.instance_id, 1, MoveTarget(2), "a\0b")
    assert caught.value.code == "FIELDS_INVALID"


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", "signet_owner"])
def test_no_other_statement_changes_what_an_instance_runs_under(
    stage: WorkflowStage, moves: InstanceMoves, role: str
) -> None:
    """Refuse any definition but that of the instance's last move, also the one before it."""
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    pins = dict(
        stage.standing.rows(
            "SELECT version, id FROM workflow_definitions WHERE entity_type = %s"
            " AND definition_kind = 'effective'",
            entity_type,
        )
    )
    update: LiteralString = (
        "UPDATE workflow_instances SET definition_id = %s, definition_version = %s WHERE id = %s"
    )

    def change(definition_id: UUID, version: int) -> None:
        with psycopg.connect(as_role(stage.standing.admin_url, role)) as connection:
            connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(stage.tenant_id)])
            cursor = connection.execute(update, [definition_id, version, made.instance_id])
            assert cursor.rowcount == 1

    with pytest.raises(psycopg.Error) as caught:
        change(pins[2], 2)
    assert caught.value.sqlstate == "SG003"
    move(moves, stage, made, 2)
    change(pins[2], 2)
    for definition_id, version in ((pins[1], 1), (pins[2], 1), (pins[1], 2)):
        with pytest.raises(psycopg.Error) as caught:
            change(definition_id, version)
        assert caught.value.sqlstate == "SG003"


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", "signet_owner"])
def test_no_other_statement_gives_a_document_another_contract(
    stage: WorkflowStage, moves: InstanceMoves, role: str
) -> None:
    entity_type, made = calling(stage)
    for version in (2, 3):
        stage.publish_contract(entity_type, version)
    stage.publish_next(entity_type, 3, approval=SAYING)

    def change(version: int) -> None:
        update: LiteralString = "UPDATE documents SET contract_version = %s WHERE id = %s"
        with psycopg.connect(as_role(stage.standing.admin_url, role)) as connection:
            connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(stage.tenant_id)])
            assert connection.execute(update, [version, made.id]).rowcount == 1

    def refuse(*versions: int) -> None:
        for version in versions:
            with pytest.raises(psycopg.Error) as caught:
                change(version)
            assert caught.value.sqlstate == "SG003"

    refuse(2, 3)
    assert move(moves, stage, made, 2).outcome == "moved"
    change(3)
    refuse(1, 2)
