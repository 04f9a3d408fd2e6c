"""Instances that are moved to a newer definition: the record of the move, and their further steps."""

from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.engine.approvals.inbox import Approvals
from signet.engine.audit.verify import verify_tenant
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.explain import explain
from signet.engine.instances.moves import InstanceMoves
from tests.support.moved_instances import (
    ASK,
    CALLING,
    NOTE,
    SAY,
    SAYING,
    WAITING,
    calling,
    move,
    olga,
    pin_of,
    submit,
    version_of,
)
from tests.support.workflow_stage import CALL, CONTRACT, WorkflowStage


def test_what_waits_goes_on_waiting_and_then_goes_the_new_way(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    entity_type, made = calling(stage)
    tokens = stage.instance(made.instance_id)["active_tokens"]
    assert stage.publish_next(entity_type, approval=SAYING) == 2
    outcome = move(moves, stage, made, 2)
    assert (outcome.outcome, outcome.version) == ("moved", version_of(stage, made))
    assert pin_of(stage, made) == ("effective", "own", 2)
    assert stage.instance(made.instance_id)["active_tokens"] == tokens
    stage.check_rebuild(made.instance_id)
    stage.answer(made.instance_id)
    stage.drain()
    assert stage.instance(made.instance_id)["status"] == "completed"
    assert stage.status_of(made.id) == "active"
    assert "usr:approval:say" in stage.nodes(made.instance_id)
    stage.check_rebuild(made.instance_id)
    assert verify_tenant(stage.standing.company.database, stage.tenant_id).is_sound


def test_it_is_on_record_as_a_step_a_line_and_an_audit_row(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    before = version_of(stage, made)
    outcome = move(moves, stage, made, 2, reason="they are to be told")
    (step,) = [one for one in stage.whole_steps(made.instance_id) if one["node_id"] == "sys:control:moved"]
    assert (step["seq"], step["end_seq"], step["status"]) == (before + 1, before + 1, "completed")
    said = step["output_json"]
    definitions = stage.standing.rows(
        "SELECT id::text, compiled_hash FROM workflow_definitions WHERE entity_type = %s"
        " AND definition_kind = 'effective' ORDER BY version",
        entity_type,
    )
    for name, number, (definition_id, compiled_hash) in zip(("from", "to"), (1, 2), definitions, strict=True):
        assert said[name] == {
            "id": definition_id,
            "name": "own",
            "version": number,
            "hash": compiled_hash,
            "contract_version": 1,
        }
    assert outcome.report is not None and said["report"] == outcome.report.to_json()
    assert (said["reason"], said["actor"]) == (
        "they are to be told",
        {"id": "olga", "roles": ["admin"], "responsible": ["olga"]},
    )
    entry = stage.standing.row(
        "SELECT entry, actor_id, data FROM workflow_event WHERE subject_id = %s ORDER BY id DESC LIMIT 1",
        made.instance_id,
    )
    told = {"reason": said["reason"], "from": said["from"], "to": said["to"]}
    assert entry == ("moved", "olga", told)
    (audited,) = stage.standing.row(
        "SELECT content::jsonb FROM audit_log WHERE subject_type = 'instance' AND subject_id = %s",
        str(made.instance_id),
    )
    assert (audited["action"], audited["reason"], audited["step_id"]) == (
        "move",
        "they are to be told",
        step["id"],
    )
    assert audited["detail"] == {"from": said["from"], "to": said["to"]}


def test_a_paused_one_stays_paused_and_goes_on_under_the_new_definition(
    stage: WorkflowStage, moves: InstanceMoves, operators: Instances
) -> None:
    """Correct a faulty definition by the next one."""
    rule = {"id": "checks", "type": "rule", "config": {"rules": ["never_written"]}}
    entity_type = stage.publish(approval={"nodes": [rule]})
    stage.standing.run("ALTER TABLE workflow_events_outbox ALTER max_attempts SET DEFAULT 1")
    made = submit(stage, entity_type)
    stage.standing.run("ALTER TABLE workflow_events_outbox ALTER max_attempts SET DEFAULT 5")
    row = stage.instance(made.instance_id)
    assert (row["status"], row["current_nodes"]) == ("paused", ["sys:state:draft"])
    stage.publish_next(entity_type, approval={"nodes": [NOTE]})
    assert move(moves, stage, made, 2).outcome == "moved"
    row = stage.instance(made.instance_id)
    assert (row["status"], row["reason"][:12]) == ("paused", "RULE_UNKNOWN")
    stage.check_rebuild(made.instance_id)
    operators.resume(olga(stage), made.instance_id, row["version"])
    stage.drain()
    assert stage.status_of(made.id) == "active"
    stage.check_rebuild(made.instance_id)


def test_a_block_joins_what_came_before_the_move_and_what_comes_after(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    def block(*after: dict[str, Any]) -> dict[str, Any]:
        calls = [{**CALL, "id": name} for name in ("left", "right")]
        fork, join = (
            {"id": "fork", "type": "parallel_split"},
            {"id": "join", "type": "parallel_join", "config": {"mode": "all"}},
        )
        edges = [
            *({"source": "fork", "target": name} for name in ("left", "right")),
            *({"source": name, "target": "join"} for name in ("left", "right")),
            *({"source": "join", "target": one["id"]} for one in after),
        ]
        return {"nodes": [fork, *calls, join, *after], "edges": edges}

    entity_type = stage.publish(approval=block())
    made = submit(stage, entity_type)
    stage.answer(made.instance_id)
    stage.drain()
    states = [token["state"] for token in stage.instance(made.instance_id)["active_tokens"]]
    assert sorted(states) == ["joined", "parted", "waiting"]
    stage.publish_next(entity_type, approval=block(SAY))
    outcome = move(moves, stage, made, 2)
    assert outcome.outcome == "moved"
    assert outcome.report is not None and len(outcome.report.assessments) == 3
    stage.check_rebuild(made.instance_id)
    stage.answer(made.instance_id)
    stage.drain()
    nodes = stage.nodes(made.instance_id)
    assert nodes.count("usr:approval:join") == nodes.count("usr:approval:say") == 1
    assert stage.status_of(made.id) == "active"
    stage.check_rebuild(made.instance_id)


def test_it_is_moved_more_than_once_and_rebuilt_from_nothing_but_its_steps(
    stage: WorkflowStage, moves: InstanceMoves, operators: Instances
) -> None:
    """Read each part of the history with the workflow it was made under."""
    entity_type, made = calling(stage)
    first = stage.instance(made.instance_id)
    # The second definition lacks the rule that the instance has passed; the third has the call alone.
    stage.publish_next(entity_type, checks={"nodes": [NOTE]}, approval=SAYING)
    stage.publish_next(entity_type, approval=CALLING)
    assert move(moves, stage, made, 2).outcome == "moved"
    assert move(moves, stage, made, 3).outcome == "moved"
    stage.answer(made.instance_id)
    stage.drain()
    last = stage.instance(made.instance_id)
    assert last["status"] == "completed"
    stage.check_rebuild(made.instance_id)
    stage.put_back(first)
    assert pin_of(stage, made) == ("effective", "own", 1)
    assert operators.rebuild(olga(stage), made.instance_id)
    assert stage.instance(made.instance_id) == last


def test_from_the_bare_envelope_to_what_the_tenant_made_of_it(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    entity_type = stage.publish()
    made = stage.create(entity_type)
    stage.drain()
    assert pin_of(stage, made) == ("envelope", entity_type, 1)
    stage.publish_next(entity_type, checks={"nodes": [NOTE]})
    assert move(moves, stage, made, 1, name="own").outcome == "moved"
    assert pin_of(stage, made) == ("effective", "own", 1)
    stage.ask(made.id, "submit")
    stage.drain()
    assert "usr:checks:note" in stage.nodes(made.instance_id)
    stage.check_rebuild(made.instance_id)


def test_its_document_goes_along_to_a_newer_version_of_the_contract(
    stage: WorkflowStage, moves: InstanceMoves
) -> None:
    """Keep content and version; check what people do next against the newer contract."""
    entity_type = stage.publish()
    made = stage.create(entity_type, number="R-1")
    stage.drain()
    remark = {"type": "string", "max_length": 5}
    stage.publish_contract(entity_type, 2, fields={**CONTRACT["fields"], "remark": remark})
    with pytest.raises(Rejected):
        stage.edit(made.id, remark="short")
    before = stage.standing.row(
        "SELECT to_jsonb(d) - 'contract_version' FROM documents d WHERE id = %s", made.id
    )
    assert move(moves, stage, made, 2, reason="remarks are wanted").outcome == "moved"
    assert pin_of(stage, made) == ("envelope", entity_type, 2)
    query: LiteralString = (
        "SELECT contract_version, to_jsonb(d) - 'contract_version' FROM documents d WHERE id = %s"
    )
    assert stage.standing.row(query, made.id) == (2, *before)
    (audited,) = stage.standing.row(
        "SELECT content::jsonb FROM audit_log WHERE subject_type = 'document' AND subject_id = %s"
        " ORDER BY seq DESC LIMIT 1",
        str(made.id),
    )
    assert (audited["action"], audited["reason"]) == ("adopt_contract", "remarks are wanted")
    assert audited["detail"]["contract_version"] == {"from": 1, "to": 2}
    stage.check_rebuild(made.instance_id)
    with pytest.raises(Rejected):
        stage.edit(made.id, remark="too long")
    stage.edit(made.id, remark="short")
    stage.ask(made.id, "submit")
    stage.drain()
    assert stage.status_of(made.id) == "active"
    stage.check_rebuild(made.instance_id)
    assert verify_tenant(stage.standing.company.database, stage.tenant_id).is_sound


def test_it_is_explained_in_the_words_of_then_and_of_now(stage: WorkflowStage, moves: InstanceMoves) -> None:
    """Explain also a step at a node that the newer definition does not have."""
    noted = {**NOTE, "label": "A note for later"}
    entity_type = stage.publish(checks={"nodes": [noted]}, approval=CALLING)
    made = submit(stage, entity_type)
    stage.publish_next(entity_type, approval=SAYING)
    move(moves, stage, made, 2, reason="less paper")
    explained = explain(
        stage.standing.company.database, stage.caches().contracts, stage.tenant_id, made.instance_id
    )
    said = [happened.text for happened in explained.happened]
    assert any(text.startswith('The script "A note for later"') for text in said)
    assert said[-1] == "It was moved from own version 1 to own version 2: less paper."
    assert [turn.text for turn in explained.turns][-1] == "moved (olga): less paper."


def test_what_was_approved_before_a_move_is_explained_in_the_words_of_then(
    stage: WorkflowStage, moves: InstanceMoves, anna: str
) -> None:
    """Move long after the approval was used, to a definition without the node that asked."""
    asking = {**ASK, "label": "The first look"}
    entity_type = stage.publish(checks={"nodes": [asking]}, approval=CALLING)
    made = submit(stage, entity_type)
    (request_id,) = stage.standing.row(
        "SELECT id FROM approval_requests WHERE instance_id = %s", made.instance_id
    )
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    approvals.decide(company.caller(anna, "clerk"), request_id, "approved", "seen")
    stage.drain()
    assert stage.instance(made.instance_id)["current_nodes"] == [WAITING]
    stage.publish_next(entity_type, approval=SAYING)
    assert move(moves, stage, made, 2).outcome == "moved"
    operators = Instances(company.database, stage.caches(), CompiledCache())
    for _ in range(60):
        operators.pause(olga(stage), made.instance_id, version_of(stage, made), "wait")
        operators.resume(olga(stage), made.instance_id, version_of(stage, made))
    explained = explain(company.database, stage.caches().contracts, stage.tenant_id, made.instance_id)
    (asked,) = explained.approvals
    assert asked.text[0].startswith('The approval "The first look", request')
