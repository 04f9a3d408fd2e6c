"""A step for each item of a list: all of them are done or none, unless the author keeps each (R5)."""

from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.engine.cache import ContractCache
from signet.engine.instances.explain import explain
from tests.support.operated_instances import check, operating_on, status_of, version
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage

CODE = {"type": "string", "required": True, "min_length": 2, "max_length": 20, "unique": True}
FIELDS = {
    **CONTRACT["fields"],
    "lines": {
        "type": "list",
        "max_items": 10,
        "of": {"type": "object", "fields": {"code": {"type": "string", "required": True}}},
    },
    "last": {"type": "string"},
}
STEPS: LiteralString = (
    "SELECT status FROM workflow_step_executions"
    " WHERE instance_id = %s AND token_id LIKE '%%#%%' ORDER BY seq"
)
KEYS: LiteralString = "SELECT count(*) FROM document_keys WHERE tenant_id = %s"


class Spawning:
    """A contract whose slot makes a document for each line, and notes the line on its own document."""

    def __init__(self, stage: WorkflowStage, *, action: str = "spawn", **more: Any) -> None:
        self.stage = stage
        self.item_type = stage.publish({**CONTRACT, "fields": {**CONTRACT["fields"], "code": CODE}})
        actions = {
            **CONTRACT["actions"],
            "spawn": {
                "kind": "create",
                "entity_type": self.item_type,
                "payload": {"code": {"type": "string", "required": True}},
                "set": {"code": "{payload.code}"},
            },
            "note": {
                "kind": "update",
                "payload": {"code": {"type": "string", "required": True, "min_length": 2}},
                "set": {"last": "{payload.code}"},
            },
        }
        config = {
            **{"action": action, "run_as": "system", "save_as": "made"},
            **{"for_each": "entity.lines", "payload": {"code": "{item.code}"}},
        }
        self.config = config
        node = {"id": "each", "type": "action", "config": {**config, **more}}
        self.contract = stage.publish(
            {**CONTRACT, "fields": FIELDS, "actions": actions},
            checks={"nodes": [CALL, node], "edges": [{"source": "call", "target": "each"}]},
        )

    def submit(self, *codes: str) -> Made:
        document = self.stage.create(self.contract, lines=[{"code": code} for code in codes])
        self.stage.ask(document.id, "submit")
        self.stage.drain()
        self.stage.answer(document.instance_id)
        self.stage.drain()
        return document

    def made(self) -> list[str]:
        rows = self.stage.standing.rows(
            "SELECT data ->> 'code' FROM documents WHERE entity_type = %s ORDER BY id", self.item_type
        )
        return [code for (code,) in rows]

    def correct(self, document: Made, *codes: str) -> None:
        """Correct the lines in place, as a person with the right to correct would."""
        self.stage.standing.run_unguarded(
            "UPDATE documents SET data = jsonb_set(data, '{lines}', %s::jsonb) WHERE id = %s",
            "[" + ", ".join(f'{{"code": "{code}"}}' for code in codes) + "]",
            document.id,
        )

    def retry(self, document: Made) -> None:
        instances, olga = operating_on(self.stage)
        instances.retry(olga, document.instance_id, version(self.stage, document), "it is right now")
        self.stage.drain()

    def steps(self, document: Made) -> list[str]:
        return [status for (status,) in self.stage.standing.rows(STEPS, document.instance_id)]


def sent(stage: WorkflowStage, instance_id: UUID) -> int:
    (count,) = stage.standing.row(
        "SELECT count(*)::int FROM workflow_side_effects_outbox WHERE instance_id = %s", instance_id
    )
    return int(count)


def test_r5_where_one_item_fails_none_is_done(stage: WorkflowStage) -> None:
    spawning = Spawning(stage)
    keys = stage.standing.row(KEYS, stage.tenant_id)
    document = spawning.submit("A1", "B2", "C", "D4")
    assert spawning.made() == []
    assert spawning.steps(document) == ["skipped", "skipped", "failed", "skipped"]
    assert stage.standing.row(KEYS, stage.tenant_id) == keys
    assert status_of(stage, document)[0] == "paused"
    check(stage, document)
    spawning.correct(document, "A1", "B2", "C3", "D4")
    spawning.retry(document)
    assert spawning.made() == ["A1", "B2", "C3", "D4"]
    assert stage.status_of(document.id) == "submitted" or stage.status_of(document.id) == "active"
    assert sent(stage, document.instance_id) == 1
    check(stage, document)


MESSAGE: LiteralString = "SELECT code, message FROM incidents WHERE instance_id = %s AND closed_at IS NULL"


@pytest.mark.parametrize("more", [{}, {"each": "keep"}], ids=["all", "keep"])
def test_a_list_that_is_longer_than_the_node_takes_is_held_as_a_whole(
    stage: WorkflowStage, more: dict[str, Any]
) -> None:
    spawning = Spawning(stage, max_items=2, **more)
    document = spawning.submit("A1", "B2", "C3")
    assert (spawning.made(), spawning.steps(document)) == ([], [])
    code, message = stage.standing.row(MESSAGE, document.instance_id)
    assert code == "LIST_TOO_LONG" and "has 3 items" in message and "at most 2" in message
    check(stage, document)
    spawning.correct(document, "A1", "B2")
    spawning.retry(document)
    assert spawning.made() == ["A1", "B2"]
    check(stage, document)


@pytest.mark.parametrize(("action", "is_held"), [("note", False), ("spawn", True)])
def test_a_list_that_is_too_long_takes_the_edge_for_errors_where_nobody_decides(
    stage: WorkflowStage, action: str, is_held: bool
) -> None:
    """People may decide about what it makes."""
    spawning = Spawning(stage, max_items=1, action=action)
    node = {"id": "each", "type": "action", "config": {**spawning.config, "max_items": 1}}
    note = {"id": "note", "type": "script", "config": {"set": {"seen": "1"}}}
    last = {"id": "last", "type": "condition"}
    edges = [
        {"source": "call", "target": "each"},
        {"source": "each", "target": "last"},
        {"source": "each", "target": "note", "on": "error"},
        {"source": "note", "target": "last"},
    ]
    stage.publish_next(spawning.contract, checks={"nodes": [CALL, node, note, last], "edges": edges})
    document = spawning.submit("A1", "B2")
    assert (spawning.made(), "usr:checks:note" in stage.nodes(document.instance_id)) == ([], not is_held)
    (reason,) = stage.standing.row(
        "SELECT reason FROM workflow_instances WHERE id = %s", document.instance_id
    )
    assert (reason is not None and reason.startswith("LIST_TOO_LONG")) == is_held


@pytest.mark.parametrize("more", [{}, {"each": "keep"}], ids=["all", "keep"])
def test_the_item_that_is_wrong_is_named(stage: WorkflowStage, more: dict[str, Any]) -> None:
    """Name it with its field in the incident, and in the explanation."""
    spawning = Spawning(stage, **more)
    document = spawning.submit("A1", "B2", "C")
    code, message = stage.standing.row(MESSAGE, document.instance_id)
    assert code == "FIELDS_INVALID" and "item 2 of the list: " in message and "/code has" in message
    found = explain(stage.standing.company.database, ContractCache(), stage.tenant_id, document.instance_id)
    (incident,) = found.incidents
    assert "item 2 of the list" in incident.text and "/code" in incident.text


def test_the_item_whose_key_is_taken_is_named(stage: WorkflowStage) -> None:
    spawning = Spawning(stage)
    document = spawning.submit("A1", "B2", "A1")
    code, message = stage.standing.row(MESSAGE, document.instance_id)
    assert code == "KEY_TAKEN" and "item 2 of the list: " in message
    assert "another document has this code: A1" in message


def test_r5_a_key_that_was_taken_on_the_way_is_free_again(stage: WorkflowStage) -> None:
    spawning = Spawning(stage)
    failed = spawning.submit("A1", "A1")
    assert spawning.made() == []
    spawning.submit("A1")
    assert spawning.made() == ["A1"]
    check(stage, failed)


def test_r5_a_document_that_changes_with_each_item_is_as_before(stage: WorkflowStage) -> None:
    noting = Spawning(stage, action="note")
    document = noting.submit("A1", "B2", "C")
    (data, number) = stage.standing.row(
        "SELECT data ->> 'last', version FROM documents WHERE id = %s", document.id
    )
    assert (data, number) == (None, 1)
    assert stage.standing.row(
        "SELECT count(*)::int FROM document_versions WHERE document_id = %s", document.id
    ) == (1,)
    check(stage, document)
    fine = noting.submit("A1", "B2")
    assert stage.standing.row("SELECT data ->> 'last' FROM documents WHERE id = %s", fine.id) == ("B2",)
    check(stage, fine)


def test_r5_what_is_kept_is_not_done_again(stage: WorkflowStage) -> None:
    spawning = Spawning(stage, each="keep")
    document = spawning.submit("A1", "B", "C3", "D")
    assert spawning.made() == ["A1", "C3"]
    assert spawning.steps(document) == ["completed", "failed", "completed", "failed"]
    check(stage, document)
    spawning.correct(document, "A1", "B2", "C3", "D")
    spawning.retry(document)
    assert spawning.made() == ["A1", "C3", "B2"]
    assert spawning.steps(document)[4:] == ["skipped", "completed", "skipped", "failed"]
    spawning.correct(document, "A1", "B2", "C3", "D4")
    spawning.retry(document)
    assert spawning.made() == ["A1", "C3", "B2", "D4"]
    context = stage.instance(document.instance_id)["context_json"]
    assert [len(one) for one in context["made"]] == [len(context["made"][0])] * 4
    check(stage, document)


def test_r5_another_pass_does_what_was_kept_before(stage: WorkflowStage) -> None:
    """Send the document back to its state: what comes by again is done again."""
    spawning = Spawning(stage, each="keep", action="note")
    document = spawning.submit("A1", "B")
    stage.edit(document.id, lines=[{"code": "A1"}, {"code": "B2"}])
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    assert spawning.steps(document) == ["completed", "failed", "completed", "completed"]
    check(stage, document)


@pytest.mark.parametrize("codes", [(), ("A1",), ("A",)])
def test_short_lists(stage: WorkflowStage, codes: tuple[str, ...]) -> None:
    spawning = Spawning(stage)
    document = spawning.submit(*codes)
    assert spawning.made() == [code for code in codes if len(code) > 1]
    check(stage, document)


def test_a_denial_takes_the_edge_for_errors_that_the_author_drew(stage: WorkflowStage) -> None:
    """R10: it is held only where the author has drawn none."""
    note = {"id": "note", "type": "action", "config": {"action": "note"}}
    told = {"id": "told", "type": "script", "config": {"set": {"told": "1"}}}
    edges = [
        {"source": "note", "target": "out"},
        {"source": "note", "target": "told", "on": "error"},
        {"source": "told", "target": "out"},
    ]
    actions = {**CONTRACT["actions"], "note": {"kind": "update", "payload": {}, "set": {"number": "N"}}}
    contract = {**CONTRACT, "actions": actions}
    entity_type = stage.publish(contract, checks={"nodes": [note, told], "edges": edges, "exit": "join"})
    document = stage.create(entity_type)
    stage.standing.run(
        "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, 'asker', '{*:submit}')", stage.tenant_id
    )
    stage.ask(document.id, "submit", "sam", "asker")
    stage.drain()
    assert "usr:checks:told" in stage.nodes(document.instance_id)
    assert stage.status_of(document.id) == "active"
    check(stage, document)
