"""Results of expressions that are too large: an incident opens, and nothing of them is stored or sent."""

from typing import Any, LiteralString

import pytest

from signet.core.runtime import result_bounds
from signet.engine.cache import ContractCache
from signet.engine.instances.explain import explain
from tests.support.operated_instances import check, operating_on, version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

TEXT = {"type": "string", "max_length": 100_000}
FILL = {"kind": "update", "payload": {"text": TEXT, "more": TEXT}, "set": {"number": "{payload.text}"}}
GROW = {**FILL, "set": {"number": "{payload.text}" * 9}}
MAKE = {
    "kind": "create",
    "entity_type": "thing",
    "payload": {"text": TEXT},
    "set": {"number": "{payload.text}" * 9},
}
MANY = {f"p{n}": "{entity.number}" for n in range(750)}
NINE = "{entity.number}" * 9
NODES: dict[str, dict[str, Any]] = {
    "call": {"type": "webhook_out", "config": {"endpoint": "erp", "payload": MANY}},
    "event": {"type": "webhook_out", "config": {"event": "com.example.seen", "payload": MANY}},
    "text": {
        "type": "notification",
        "config": {"channel": "email", "to": [{"by": "user", "user": "carl"}], "text": NINE},
    },
    "subject": {
        "type": "notification",
        "config": {"channel": "in_app", "to": [{"by": "user", "user": "carl"}], "text": "t", "subject": NINE},
    },
    "payload": {"type": "action", "config": {"action": "fill", "payload": {"text": NINE}}},
    "item": {
        "type": "action",
        "config": {"action": "fill", "payload": {"text": NINE}, "for_each": "entity.lines"},
    },
    "set": {"type": "action", "config": {"action": "grow", "payload": {"text": "{entity.number}"}}},
    "make": {"type": "action", "config": {"action": "make", "payload": {"text": "{entity.number}"}}},
}
FIELDS = {
    **CONTRACT["fields"],
    "number": TEXT,
    "lines": {"type": "list", "max_items": 200, "of": {"type": "string"}},
}
ACTIONS = {**CONTRACT["actions"], "fill": FILL, "grow": GROW}
INCIDENT: LiteralString = (
    "SELECT code, kind, message FROM incidents WHERE instance_id = %s AND closed_at IS NULL"
)
# The largest row of a step, and what leaves or will leave.
STORED: LiteralString = (
    "SELECT (SELECT coalesce(max(octet_length(to_jsonb(s)::text)), 0) FROM workflow_step_executions s"
    "         WHERE instance_id = %s),"
    "       (SELECT count(*) FROM workflow_side_effects_outbox WHERE instance_id = %s)"
)


def make_contract(stage: WorkflowStage) -> dict[str, Any]:
    other = stage.publish({**CONTRACT, "fields": {**CONTRACT["fields"], "number": TEXT}})
    return {**CONTRACT, "fields": FIELDS, "actions": {**ACTIONS, "make": {**MAKE, "entity_type": other}}}


def begin(stage: WorkflowStage, entity_type: str, number: str, **data: Any) -> Made:
    made = stage.create(entity_type, **{"number": number, "lines": ["a", "b"], **data})
    stage.ask(made.id, "submit")
    return made


def stored(stage: WorkflowStage, made: Made) -> tuple[int, int]:
    largest, effects = stage.standing.row(STORED, made.instance_id, made.instance_id)
    return int(largest), int(effects)


def retry(stage: WorkflowStage, made: Made) -> None:
    instances, olga = operating_on(stage)
    instances.retry(olga, made.instance_id, version(stage, made), "it is short now")
    stage.drain()


def shorten(stage: WorkflowStage, made: Made) -> None:
    """Shorten the text in place, as a person with the right to correct would."""
    short: LiteralString = "UPDATE documents SET data = jsonb_set(data, '{number}', '\"n\"') WHERE id = %s"
    stage.standing.run_unguarded(short, made.id)


@pytest.mark.parametrize("name", sorted(NODES))
def test_a_template_that_gives_too_much_is_an_incident(stage: WorkflowStage, name: str) -> None:
    node = {"id": name, **NODES[name]}
    if node["type"] == "action":
        node["config"] = {**node["config"], "run_as": "system"}
    entity_type = stage.publish(make_contract(stage), checks={"nodes": [node]})
    made = begin(stage, entity_type, "x" * 30_000)
    stage.drain()
    code, kind, message = stage.standing.row(INCIDENT, made.instance_id)
    assert (code, kind) == ("TEMPLATE_TOO_LARGE", "business") and "more than 262144 bytes" in message
    largest, effects = stored(stage, made)
    assert (largest < 70_000, effects) == (True, 0)
    database = stage.standing.company.database
    (incident,) = explain(database, ContractCache(), stage.tenant_id, made.instance_id).incidents
    assert incident.remedy.startswith("Nothing was sent or written.")
    assert {"retry", "skip"} <= {act.name for act in incident.acts}
    assert stage.standing.row("SELECT version FROM documents WHERE id = %s", made.id) == (1,)
    check(stage, made)
    shorten(stage, made)
    retry(stage, made)
    assert stage.standing.rows(INCIDENT, made.instance_id) == []
    check(stage, made)


def test_many_documents_with_large_payloads_write_no_large_row(stage: WorkflowStage) -> None:
    slot = {"nodes": [{"id": "event", **NODES["event"]}]}
    entity_type = stage.publish(make_contract(stage), checks=slot)
    many = [begin(stage, entity_type, "x" * 30_000) for _ in range(6)]
    stage.drain()
    assert [stored(stage, made)[1] for made in many] == [0] * 6
    assert all(stored(stage, made)[0] < 4_000 for made in many)
    assert [stage.standing.row(INCIDENT, made.instance_id)[0] for made in many] == ["TEMPLATE_TOO_LARGE"] * 6


def test_a_template_that_gives_too_much_takes_the_edge_for_errors(stage: WorkflowStage) -> None:
    nodes = [
        {"id": "call", **NODES["call"]},
        {"id": "note", "type": "script", "config": {"set": {"seen": "1"}}},
        {"id": "last", "type": "condition"},
    ]
    edges = [
        {"source": "call", "target": "last"},
        {"source": "call", "target": "note", "on": "error"},
        {"source": "note", "target": "last"},
    ]
    entity_type = stage.publish(make_contract(stage), checks={"nodes": nodes, "edges": edges, "exit": "join"})
    made = begin(stage, entity_type, "x" * 30_000)
    stage.drain()
    assert "usr:checks:note" in stage.nodes(made.instance_id)
    assert stored(stage, made)[1] == 0


@pytest.mark.parametrize(("each", "done"), [("all", 0), ("keep", 3)])
def test_items_that_are_too_large_together(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch, each: str, done: int
) -> None:
    """Undo the whole list, or keep what was done; a retry then does only the others."""
    monkeypatch.setattr(result_bounds, "MAX_LIST_BYTES", 5_000)
    config = {"action": "fill", "run_as": "system", "for_each": "entity.lines"}
    payload = {"text": "{item}", "more": "x" * 1_500}
    more = {"each": "keep"} if each == "keep" else {}
    node = {"id": "each", "type": "action", "config": {**config, "payload": payload, **more}}
    entity_type = stage.publish(make_contract(stage), checks={"nodes": [node]})
    made = begin(stage, entity_type, "n", lines=["a", "b", "c", "d", "e"])
    stage.drain()
    code, _, message = stage.standing.row(INCIDENT, made.instance_id)
    assert code == "LIST_TOO_LARGE" and "more than 5000 bytes" in message
    assert stage.version_of(made.id) == 1 + done
    check(stage, made)
    monkeypatch.undo()
    retry(stage, made)
    assert stage.standing.rows(INCIDENT, made.instance_id) == []
    assert stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", made.id) == ("e",)
    check(stage, made)


def test_what_a_document_writes_for_each_item_counts(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Count the versions of a long document that short items make."""
    monkeypatch.setattr(result_bounds, "MAX_LIST_BYTES", 100_000)
    config = {"action": "post", "run_as": "system", "for_each": "entity.lines"}
    node = {"id": "each", "type": "action", "config": config}
    contract = make_contract(stage)
    contract["fields"] = {**FIELDS, "text": TEXT}
    made = begin(stage, stage.publish(contract, checks={"nodes": [node]}), "n", text="x" * 60_000)
    stage.drain()
    assert stage.standing.row(INCIDENT, made.instance_id)[0] == "LIST_TOO_LARGE"
    assert stage.version_of(made.id) == 1


def test_variables_are_bounded(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_bounds, "MAX_VARIABLES_BYTES", 50_000)
    nodes = [
        {"id": "once", "type": "script", "config": {"set": {"a": "entity.number"}}},
        {"id": "twice", "type": "script", "config": {"set": {"b": "entity.number"}}},
    ]
    slot = {"nodes": nodes, "edges": [{"source": "once", "target": "twice"}]}
    made = begin(stage, stage.publish(make_contract(stage), checks=slot), "x" * 30_000)
    stage.drain()
    code, kind, message = stage.standing.row(INCIDENT, made.instance_id)
    assert (code, kind) == ("VARIABLES_TOO_LARGE", "business") and "usr:checks:twice" in message
    kept = stage.instance(made.instance_id)["context_json"]
    assert kept == {"a": "x" * 30_000}
    check(stage, made)


def test_a_call_whose_answer_finds_no_room_is_not_sent(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take the answer of the call that was sent, and send no other whose answer could not be kept."""
    monkeypatch.setattr(result_bounds, "MAX_VARIABLES_BYTES", 30_100)
    nodes = [
        {"id": "fill", "type": "script", "config": {"set": {"a": "entity.number"}}},
        {"id": "one", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "one"}},
        {"id": "two", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "two"}},
    ]
    edges = [{"source": "fill", "target": "one"}, {"source": "one", "target": "two"}]
    entity_type = stage.publish(make_contract(stage), checks={"nodes": nodes, "edges": edges})
    made = begin(stage, entity_type, "x" * 30_000)
    stage.drain()
    stage.answer(made.instance_id, body="y" * 100)
    stage.drain()
    code, _, message = stage.standing.row(INCIDENT, made.instance_id)
    assert code == "VARIABLES_TOO_LARGE" and "usr:checks:two would keep its answer" in message
    assert stored(stage, made)[1] == 1
    check(stage, made)
