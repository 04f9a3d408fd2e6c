"""Inputs of acting nodes go on record with their steps; other nodes keep none."""

from typing import Any, LiteralString

from signet.core.explain.instance import write_instance
from signet.engine.execution.rows import MAX_INPUT_BYTES
from signet.engine.instances.explain import explain
from tests.support.operated_instances import check, submitted
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

INPUTS: LiteralString = (
    "SELECT split_part(node_id, ':', 3), input_json FROM workflow_step_executions"
    " WHERE instance_id = %s AND token_id NOT LIKE '%%#%%' AND input_json IS NOT NULL ORDER BY seq"
)
READ = {"$expr": "entity.number"}
SENT = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"number": READ}}}
FILL = {
    "kind": "update",
    "payload": {"text": {"type": "string", "max_length": 3}},
    "set": {"number": "{payload.text}"},
}
FILLABLE = {**CONTRACT, "actions": {**CONTRACT["actions"], "fill": FILL}}


def inputs(stage: WorkflowStage, made: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(INPUTS, made.instance_id)


def act(text: str, **more: Any) -> dict[str, Any]:
    config = {"action": "fill", "run_as": "system", "payload": {"text": text}, **more}
    return {"id": "act", "type": "action", "config": config}


def test_a_call_and_a_message_say_what_they_were_given(stage: WorkflowStage) -> None:
    people = [{"by": "user", "user": "carl"}]
    tell = {
        "id": "tell",
        "type": "notification",
        "config": {"channel": "email", "to": people, "text": "Look"},
    }
    slot = {"nodes": [tell, SENT], "edges": [{"source": "tell", "target": "call"}]}
    made = submitted(stage, checks=slot)
    message, call = inputs(stage, made)
    assert message == (
        "tell",
        {"payload": {"to": [{"user": "carl"}], "subject": "", "text": "Look"}, "variables": {}},
    )
    sent = stage.standing.row(
        "SELECT payload_json -> 'payload' FROM workflow_side_effects_outbox"
        " WHERE instance_id = %s AND effect_type = 'webhook'",
        made.instance_id,
    )
    assert call[1]["payload"] == sent[0] and "entity.number" in call[1]["variables"]
    check(stage, made)


def test_an_action_that_fails_says_what_it_was_given(stage: WorkflowStage) -> None:
    made = submitted(stage, FILLABLE, approval={"nodes": [act("too long")]})
    assert inputs(stage, made) == [("act", {"payload": {"text": "too long"}, "variables": {}})]
    contracts = stage.caches().contracts
    explained = explain(stage.standing.company.database, contracts, stage.tenant_id, made.instance_id)
    assert any('It was given {"text": "too long"}' in line for line in write_instance(explained))


def test_a_list_says_its_items(stage: WorkflowStage) -> None:
    fields = {**CONTRACT["fields"], "lines": {"type": "list", "max_items": 3, "of": {"type": "string"}}}
    each = act("{item}", for_each="entity.lines", max_items=2)
    entity_type = stage.publish({**FILLABLE, "fields": fields}, approval={"nodes": [each]})
    made = stage.create(entity_type, lines=["a", "b"])
    stage.ask(made.id, "submit")
    stage.drain()
    assert inputs(stage, made) == [("act", {"items": ["a", "b"]})]


def test_nodes_that_do_not_act_keep_no_input(stage: WorkflowStage) -> None:
    note = {"id": "note", "type": "script", "config": {"set": {"noted": "entity.number"}}}
    made = submitted(stage, checks={"nodes": [note]})
    assert inputs(stage, made) == []


def test_an_input_repeats_no_personal_value(stage: WorkflowStage) -> None:
    payload = {"who": {"$expr": "entity.contact"}, "text": "Call {entity.contact}"}
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "payload": payload}}
    made = stage.create(stage.publish(checks={"nodes": [call]}), contact="Erna")
    stage.ask(made.id, "submit")
    stage.drain()
    ((_, given),) = inputs(stage, made)
    assert given == {
        "payload": {"who": "(personal)", "text": "Call (personal)"},
        "variables": {"entity.contact": "(personal)"},
    }


def test_a_large_input_leaves_its_size_and_its_hash(stage: WorkflowStage) -> None:
    payload = {f"part_{part}": READ for part in range(20)}
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "payload": payload}}
    made = stage.create(stage.publish(checks={"nodes": [call]}), number="n" * 900)
    stage.ask(made.id, "submit")
    stage.drain()
    ((_, given),) = inputs(stage, made)
    assert given["omitted"]["bytes"] > MAX_INPUT_BYTES and len(given["omitted"]["hash"]) == 64
